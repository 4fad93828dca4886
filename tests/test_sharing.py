"""One ledger, or one memory, in the hands of several threads, and of a process that forks."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from memento_git import Ledger, Memory
from memento_git.ledger import reader
from memento_git.ledger.git import Git
from memento_git.work.actions import tasks
from tests.play import Play, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

THREADS = 4
EACH = 4
FORKING = """
import os, sys, threading
from memento_git import Ledger, Memory
from memento_git.knowledge.actions import notes

memory = Memory(sys.argv[1])
memory.store("The first.")
ledger = Ledger.open(sys.argv[1])
ledger.view()
inside, forked = threading.Event(), threading.Event()

def change():
    with ledger.transaction("note add") as tx:
        notes.add_note(tx, "Begun before the fork.")
        inside.set()
        forked.wait()

writer = threading.Thread(target=change)
writer.start()
inside.wait()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.read(reading, 1)  # the parent has written meanwhile, so this one holds no lock of its
    memory.store("The child's.")
    ledger.change("note add", lambda tx: notes.add_note(tx, "The child's other."))
    assert [one.content for one in memory.recall("first")] == ["The first."]
    sys.exit(7)
forked.set()
writer.join()
memory.store("The parent's.")
os.write(writing, b"x")
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
memory.store("After the child.")
assert [one.content for one in memory.recall("first")] == ["The first."]
print(", ".join(sorted(one.content for one in memory.recent())), ledger.warnings)
"""


def together(act: Callable[[int], None]) -> list[BaseException]:
    """Let threads do the same at once; return what they raised."""
    raised: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            start.wait()
            act(number)
        except BaseException as error:  # noqa: BLE001 (a thread's own would only be printed)
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    return raised


def test_threads_that_share_a_memory_lose_nothing_and_get_their_own_answers(tmp_path: Path) -> None:
    with Memory(tmp_path / "mem") as memory:
        memory.store("What lay there first.")

        def act(number: int) -> None:
            for one in range(EACH):
                memory.store(f"Thread {number} learned this as its {one}th.")
                assert [found.content for found in memory.recall("lay there first")] == ["What lay there first."]

        assert together(act) == []
        assert len(memory.recent()) == THREADS * EACH + 1
    assert git(tmp_path / "mem", "status", "--porcelain") == ""
    git(tmp_path / "mem", "fsck", "--strict")


def test_threads_that_share_a_ledger_make_their_commits_one_after_the_other(play: Play) -> None:
    run = play.run(spike=True)
    with Ledger.open(play.root) as ledger:
        before = int(git(play.root, "rev-list", "--count", "HEAD"))

        def act(number: int) -> None:
            for one in range(EACH):
                add = functools.partial(tasks.add_task, title=f"{number} {one}", run=run)
                ledger.change("task add", add)
                view = ledger.view()
                assert [view.read(path) is None for path in view.files] == [False] * len(view.files)
                assert ledger.uncommitted == []

        assert together(act) == []
        assert ledger.warnings == []
    assert int(git(play.root, "rev-list", "--count", "HEAD")) == before + THREADS * EACH
    assert git(play.root, "status", "--porcelain") == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_fork_and_its_parent_each_go_on_with_what_was_open(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING, str(tmp_path / "mem")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    told = "After the child., Begun before the fork., The child's other., The child's., The first., The parent's."
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{told} []\n")


def test_an_answer_that_nobody_waited_for_is_not_the_next_ones(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Git(repo)
    head = opened.commit("HEAD")
    with monkeypatch.context() as patch:
        patch.setattr(reader, "Stored", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            opened.stored(["HEAD:app.py", "HEAD:app.py", "HEAD"])
    assert (opened.commit("HEAD"), opened.objects(["HEAD:app.py"])) == (head, [b"answer = 42\n"])
    opened.close()
