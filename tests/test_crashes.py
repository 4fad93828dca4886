"""A process that dies at any instruction leaves the old ledger or the new one, and the next command mends the rest."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest

from memento_git.ledger import journal, publish, userindex, worktree
from memento_git.ledger.process_groups import end_group
from memento_git.ledger.store import Ledger
from memento_git.verbs import doctor
from memento_git.work.actions import dispatches
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memento_git.ledger.transaction import Transaction
    from tests.play import Play

BEFORE: Final = ("locked", "decided", "index_held", "commit_built", "journal_written")
AFTER: Final = ("ref_moved", "file_written", "files_written", "index_refreshed", "done")
OLD, NEW, EDITED = ".memento/extra/old.md", ".memento/extra/deep/new.md", ".memento/README.md"
CRASH: Final = """
import os, signal, sys
from memento_git.ledger import worktree
from memento_git.ledger.store import Ledger

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it

def reached(step):
    if step == sys.argv[2]:
        os.kill(int(sys.argv[4]) and os.getpid(), int(sys.argv[3]))  # 0 is all of our group

def act(tx):
    tx.put(".memento/README.md", b"new words\\n")
    tx.put(".memento/extra/deep/new.md", b"new\\n")
    tx.put(".memento/extra/old.md", None)

worktree.reached = reached
with Ledger.open(sys.argv[1]) as ledger:
    ledger.change("crash", act)
"""
CRASH_OF_ALL: Final = """
import os, signal, sys
import psutil
from memento_git.ledger import worktree
from memento_git.ledger.store import Ledger

def reached(step):
    if step == sys.argv[2]:
        children = psutil.Process().children(recursive=True)
        for child in children:
            if sys.argv[3] == "all" or "update-index" in child.cmdline():
                child.kill()
        if sys.argv[3] == "all":
            psutil.wait_procs(children)
            os.kill(os.getpid(), signal.SIGKILL)

worktree.reached = reached
with Ledger.open(sys.argv[1]) as ledger:
    ledger.change("crash", lambda tx: tx.put(".memento/extra.md", b"new"))
    print(*ledger.warnings)
"""
WRITER: Final = """
import sys
from memento_git.ledger.store import Ledger
from memento_git.work.actions.runs import start_run

with Ledger.open(sys.argv[1]) as ledger:
    for number in range(int(sys.argv[2])):
        print(ledger.change("start_run", lambda tx: start_run(tx, f"Goal {number}")), flush=True)
"""


@pytest.fixture
def busy(play: Play) -> Play:
    """A repository whose user has staged, unstaged and untracked work, and a ledger file that can be removed."""
    play.ledger.change("old", lambda tx: tx.put(OLD, b"old\n"))
    (play.root / "staged.py").write_text("half = 1\n")
    git(play.root, "add", "staged.py")
    (play.root / "app.py").write_text("answer = 43\n")
    (play.root / "scratch.txt").write_text("notes\n")
    return play


def crash(root: Path, step: str, how: int = signal.SIGKILL, *, alone: bool = True) -> int:
    """Run a change in a process of its own that gets a signal at a step, or its group; return its exit code.

    The git process that waited for it with the index sees its input end, and lets go a moment later.
    """
    command = [sys.executable, "-c", CRASH, str(root), step, str(int(how)), str(int(alone))]
    code = subprocess.run(command, check=False, capture_output=True, start_new_session=True).returncode
    wait_while((root / ".git" / "index.lock").exists)
    return code


def wait_while(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while holds() and time.monotonic() < deadline:
        time.sleep(0.01)


def users_work(root: Path) -> str:
    return git(root, "status", "--short") + git(root, "diff") + git(root, "diff", "--cached")


def ledger_at_head(root: Path) -> str:
    """Return 'old' or 'new'; fail on anything between."""
    there = [path in git(root, "ls-tree", "-r", "--name-only", "HEAD").split() for path in (OLD, NEW)]
    edited = git(root, "show", f"HEAD:{EDITED}") == "new words"
    found = {(True, False, False): "old", (False, True, True): "new"}
    return found[there[0], there[1], edited]


def litter(root: Path) -> list[str]:
    """Return what a crash left behind in the git directory and beside ledger files."""
    inside = root / ".git"
    left = [*inside.rglob("*.lock"), *inside.glob("fast_import_crash_*"), *root.glob(".memento/**/.*-tmp")]
    left += [*journal.folder_of(Ledger.open(root).git).glob("*"), *(inside / "memento" / "tmp").glob("*")]
    return sorted(str(path.relative_to(root)) for path in left if path.name != "worktree.lock")


def sound(root: Path) -> bool:
    done = subprocess.run(["git", "fsck", "--strict"], cwd=root, capture_output=True, text=True, check=False)
    return done.returncode == 0 and "error" not in done.stderr and "missing" not in done.stdout


@pytest.mark.parametrize("step", [*BEFORE, *AFTER])
def test_a_kill_at_a_step_leaves_the_old_ledger_or_the_new_and_the_next_command_mends(
    busy: Play, step: str, tmp_path: Path
) -> None:
    before = users_work(busy.root)

    assert crash(busy.root, step) == -signal.SIGKILL

    assert ledger_at_head(busy.root) == ("old" if step in BEFORE else "new")
    assert not [path for path in (busy.root / ".git").rglob("*.lock") if path.name != "worktree.lock"]
    interrupted = step not in {"locked", "decided", "index_held", "commit_built", "done"}
    copy = tmp_path / "copy"
    shutil.copytree(busy.root, copy, symlinks=True)
    git(copy, "update-index", "-q", "--refresh", check=False)
    with Ledger.open(busy.root) as reader, Ledger.open(copy) as writer:
        reader.view()
        writer.change("next", lambda tx: tx.put(".memento/extra/next.md", b"next\n"))
        assert any("interrupted" in warning for warning in reader.warnings) == interrupted
        assert any("interrupted" in warning for warning in writer.warnings) == interrupted
    for root in (busy.root, copy):
        assert users_work(root) == before
        assert litter(root) == []
        assert sound(root)
    assert (busy.root / NEW).exists() == (step in AFTER)


@pytest.mark.parametrize("step", ["index_held", "journal_written", "ref_moved", "file_written"])
def test_a_kill_of_all_processes_of_a_change_leaves_no_lock(busy: Play, step: str) -> None:
    before = users_work(busy.root)

    assert crash(busy.root, step, alone=False) == -signal.SIGKILL

    assert not (busy.root / ".git" / "index.lock").exists()
    busy.ledger.change("next", lambda tx: tx.put(".memento/extra/next.md", b"next\n"))
    assert users_work(busy.root) == before
    assert litter(busy.root) == []


def test_a_git_that_holds_a_lock_is_in_a_group_of_its_own(
    busy: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim, told = tmp_path / "bin" / "git", tmp_path / "told"
    shim.parent.mkdir()
    shim.write_text(f"""#!/bin/sh
for word; do
    case "$word" in update-ref | update-index | -d) echo "$word $(ps -o pgid= -p $$)" >> {told};; esac
done
exec {shutil.which("git")} "$@"
""")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")

    busy.planned()
    busy.do(dispatches.fail_dispatch, busy.claimed(busy.task()), reason="No time.")

    groups = [line.split() for line in told.read_text().splitlines()]
    assert {command for command, _ in groups} == {"update-index", "update-ref", "-d"}
    assert str(os.getpgrp()) not in {group for _, group in groups}


@pytest.mark.parametrize("step", ["decided", "journal_written", "index_held", "ref_moved", "file_written", "done"])
def test_an_interrupt_at_a_step_leaves_the_old_ledger_or_the_new(busy: Play, step: str) -> None:
    before = users_work(busy.root)

    assert crash(busy.root, step, signal.SIGINT) not in {0, -signal.SIGKILL}

    assert ledger_at_head(busy.root) == ("old" if step in BEFORE else "new")
    busy.ledger.view()
    assert users_work(busy.root) == before
    assert litter(busy.root) == []


def test_a_branch_that_a_git_moves_after_an_interrupt_is_followed(
    busy: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt that met its start forgot the commit: the next one of the user's would have taken it back."""
    before, head, real = users_work(busy.root), git(busy.root, "rev-parse", "HEAD"), shutil.which("git")
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f"""#!/bin/sh
case " $* " in *" update-ref "*refs/heads/main*)
    setsid sh -c 'sleep 1; exec {real} "$@"' x "$@" < /dev/null > /dev/null 2>&1 &
    kill -INT $PPID; sleep 9;;
esac
exec {real} "$@"
""")
    shim.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
        assert crash(busy.root, "none") != 0
    wait_while(lambda: git(busy.root, "rev-parse", "HEAD") == head)

    busy.ledger.view()

    assert ledger_at_head(busy.root) == "new"
    assert users_work(busy.root) == before
    assert litter(busy.root) == []


def test_the_users_edit_after_a_crash_is_not_overwritten_by_mending(busy: Play) -> None:
    crash(busy.root, "ref_moved")
    (busy.root / EDITED).write_text("my own words\n")
    (busy.root / NEW).parent.mkdir(parents=True)
    (busy.root / NEW).write_text("mine\n")
    git(busy.root, "add", NEW)
    staged = git(busy.root, "rev-parse", f":{NEW}")
    (busy.root / NEW).write_text("mine again\n")

    busy.ledger.view()

    assert (busy.root / EDITED).read_text() == "my own words\n"
    assert (busy.root / NEW).read_text() == "mine again\n"
    assert git(busy.root, "rev-parse", f":{NEW}") == staged


def test_a_crash_is_forgotten_when_the_user_went_to_a_branch_without_it(busy: Play) -> None:
    git(busy.root, "branch", "other")
    crash(busy.root, "ref_moved")
    git(busy.root, "switch", "-q", "other")
    before = users_work(busy.root)

    busy.ledger.view()

    assert users_work(busy.root) == before
    assert (busy.root / OLD).exists()
    assert litter(busy.root) == []


def _journal(root: Path, text: str) -> Path:
    folder = root / ".git" / "memento" / "journal"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("a" * 40 + ".json")
    path.write_text(text)
    return path


@pytest.mark.parametrize("text", ["", '{"paths": [["', "[]", '{"paths": 7}', '{"paths": [[1, 2, 3], ["a"]]}', "\x00"])
def test_a_journal_that_is_cut_short_is_forgotten(busy: Play, text: str) -> None:
    before = users_work(busy.root)
    path = _journal(busy.root, text)

    busy.ledger.view()

    assert not path.exists()
    assert users_work(busy.root) == before


def test_a_hostile_journal_writes_and_deletes_nothing_outside_the_ledgers_folder(busy: Play, tmp_path: Path) -> None:
    victims = [busy.root / "app.py", tmp_path / "outside.txt", busy.root / ".git" / "config", busy.root / "staged.py"]
    victims[1].write_text("precious\n")
    before = [(path, path.read_bytes()) for path in victims]
    names = [
        "app.py", str(victims[1]), "../outside.txt", ".memento/../app.py", ".memento/../../outside.txt",
        ".memento/../.git/config", "/", "", ".memento", ".memento//x", "staged.py", ".memento/.git/config",
    ]  # fmt: skip
    blobs = [git(busy.root, "hash-object", str(path)) for path in victims]
    paths = [[name, old, new] for name in names for old in (None, *blobs) for new in (None, blobs[0])]
    _journal(busy.root, json.dumps({"paths": paths}))
    work = users_work(busy.root)

    busy.ledger.view()

    assert [(path, path.read_bytes()) for path in victims] == before
    assert users_work(busy.root) == work
    assert journal.pending(busy.ledger.git) == []


def test_a_journal_never_writes_through_a_link(busy: Play, tmp_path: Path) -> None:
    crash(busy.root, "ref_moved")
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(busy.root / ".memento" / "extra")
    (busy.root / ".memento" / "extra").symlink_to(outside)

    busy.ledger.view()

    assert list(outside.iterdir()) == []
    assert "symbolic link" in "".join(busy.ledger.warnings)


def test_a_reader_beside_a_writer_is_not_told_of_a_crash(busy: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def read_beside(step: str) -> None:
        if step == "ref_moved":
            with Ledger.open(busy.root) as reader:
                reader.view()
                told.extend(reader.warnings)

    monkeypatch.setattr(worktree, "reached", read_beside)
    monkeypatch.setattr("memento_git.ledger.lock.MENDING_TIMEOUT", 0.1)

    busy.ledger.change("beside", lambda tx: tx.put(NEW, b"new\n"))

    assert told == []


def _writer(root: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(root), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _finished(writers: list[subprocess.Popen[str]]) -> Iterator[str]:
    for writer in writers:
        yield from writer.communicate(timeout=300)[0].split()


def test_writers_killed_at_random_moments_lose_nothing_that_they_reported(busy: Play) -> None:
    before = users_work(busy.root)
    chance = random.Random(7)
    end = time.monotonic() + 10
    reported: set[str] = set()
    rounds = 0
    while time.monotonic() < end or (not reported and rounds < 30):
        writers = [_writer(busy.root, 1000) for _ in range(3)]
        time.sleep(chance.uniform(0.5, 1.6) * (1 + rounds / 10))  # longer where the machine has other work
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        reported |= set(_finished(writers))
        rounds += 1

    view = busy.ledger.view()

    assert rounds
    assert reported
    assert reported <= set(view.runs())
    assert users_work(busy.root) == before
    assert sound(busy.root)
    assert busy.run() in busy.ledger.view().runs()
    assert litter(busy.root) == []


def test_eight_processes_on_one_branch_lose_no_change(busy: Play) -> None:
    before = users_work(busy.root)

    made = list(_finished([_writer(busy.root, 10) for _ in range(8)]))

    assert len(set(made)) == 80
    assert set(made) == set(busy.ledger.view().runs())
    assert users_work(busy.root) == before
    assert sound(busy.root)
    assert litter(busy.root) == []


def test_a_change_is_made_again_when_the_branch_moved_meanwhile(play: Play) -> None:
    calls = []

    def act(tx: Transaction) -> None:
        calls.append(tx.view.commits)
        if len(calls) == 1:
            git(play.root, "commit", "-q", "--allow-empty", "-m", "theirs")
        tx.put(NEW, b"new\n")

    play.ledger.change("retry", act)

    assert len(set(calls)) == 2
    assert git(play.root, "log", "-2", "--format=%s").split("\n") == ["memento: retry", "theirs"]
    assert git(play.root, "status", "--short") == ""


def test_who_interrupts_the_end_of_a_process_ends_it_and_its_group_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo on; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"

    def interrupted(timeout: float) -> int:
        del timeout
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(process, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            end_group(process)

    process.communicate()
    assert process.returncode == -signal.SIGKILL


def crash_of_all(root: Path, step: str, *, whole: bool) -> str:
    """Run a change whose git that holds the index is killed at a step, or all that runs; return what it said."""
    command = [sys.executable, "-c", CRASH_OF_ALL, str(root), step, "all" if whole else "git"]
    return subprocess.run(command, check=False, capture_output=True, text=True, start_new_session=True).stdout


def held_names(root: Path) -> list[str]:
    return [path.name for path in (root / ".git" / "memento").glob(f"{userindex.HELD}*")]


@pytest.mark.parametrize("step", ["index_held", "journal_written", "ref_moved", "files_written"])
def test_a_lock_that_a_kill_of_all_that_runs_left_goes_with_the_next_change(busy: Play, step: str) -> None:
    work = users_work(busy.root)
    crash_of_all(busy.root, step, whole=True)
    assert (busy.root / ".git" / "index.lock").exists(), "the git that was killed left it"
    begun = time.monotonic()
    with Ledger.open(busy.root) as ledger:
        ledger.change("next", lambda tx: tx.put(".memento/next.md", b"next"))
    assert time.monotonic() - begun < publish.INDEX_TIMEOUT
    assert not litter(busy.root)
    assert not held_names(busy.root)
    assert users_work(busy.root) == work
    assert sound(busy.root)


def test_doctor_takes_away_a_lock_that_a_kill_of_all_that_runs_left(busy: Play) -> None:
    crash_of_all(busy.root, "index_held", whole=True)
    answers = doctor.examine(busy.ledger, fix=True)
    assert not [answer.message for answer in answers if "index.lock" in answer.message]
    assert not litter(busy.root)


def test_a_git_that_alone_is_killed_leaves_no_lock_and_the_change_is_shown(busy: Play) -> None:
    work = users_work(busy.root)
    assert "could not follow" not in crash_of_all(busy.root, "ref_moved", whole=False)
    assert git(busy.root, "show", "HEAD:.memento/extra.md") == "new"
    assert not litter(busy.root)
    assert not held_names(busy.root)
    assert users_work(busy.root) == work


def test_a_lock_that_somebody_else_made_after_a_kill_of_all_stays(busy: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    crash_of_all(busy.root, "index_held", whole=True)
    theirs = busy.root / ".git" / "index.lock"
    theirs.unlink()
    theirs.write_text("")
    monkeypatch.setattr(publish, "INDEX_TIMEOUT", 0.1)
    with pytest.raises(userindex.IndexLocked):
        busy.ledger.change("next", lambda tx: tx.put(".memento/next.md", b"next"))
    assert theirs.exists()
    assert not held_names(busy.root)


def test_a_lock_of_a_git_on_another_machine_stays(busy: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    crash_of_all(busy.root, "index_held", whole=True)
    name = busy.root / ".git" / "memento" / held_names(busy.root)[0]
    theirs = busy.root / ".git" / "index.lock"
    number = name.name.removeprefix(userindex.HELD).partition("-")[0]
    other = name.rename(name.with_name(f"{userindex.HELD}{number}-another"))
    monkeypatch.setattr(publish, "INDEX_TIMEOUT", 0.1)
    with pytest.raises(userindex.IndexLocked):
        busy.ledger.change("next", lambda tx: tx.put(".memento/next.md", b"next"))
    assert theirs.samefile(other)
    theirs.unlink()
    busy.ledger.change("next", lambda tx: tx.put(".memento/next.md", b"next"))
    assert not held_names(busy.root)


def test_a_lock_whose_git_still_lives_stays(busy: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "INDEX_TIMEOUT", 0.1)
    with userindex.held(busy.ledger.git, 1), pytest.raises(userindex.IndexLocked):
        busy.ledger.change("next", lambda tx: tx.put(".memento/next.md", b"next"))
    assert not held_names(busy.root)
