"""changes --follow: what is committed is shown as it comes, and it ends when it shall."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memento_git.knowledge.actions import notes, sessions
from tests.play import Play, add, git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.play import Call


@contextmanager
def following(play: Play, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Start the command as a user would, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memento_git", "changes", "--follow", "-C", str(play.root), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_what_is_committed_is_shown_as_it_comes_until_interrupted(play: Play) -> None:
    first = add(play, "Tokens live an hour.")
    with following(play) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[:2] == [first, "added"]
        second = add(play, "Tokens live a day.", supersedes=[first], reason="comfort")
        lines = {process.stdout.readline().split()[0] for _ in range(2)}
        assert lines == {first, second}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out.strip(), err) == (0, "", "")


def test_it_ends_when_its_reader_is_gone_although_nothing_happens(play: Play) -> None:
    first = add(play, "Tokens live an hour.")
    with following(play) as process:
        assert process.stdout is not None
        assert first in process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0
        process.stdout = None


def test_json_is_one_object_for_each_note_and_a_time_ends_it(play: Play) -> None:
    first = add(play, "Tokens live an hour.")
    add(play, "Cookies crumble.", kind="lesson")
    start = time.monotonic()
    with following(play, "--json", "--for", "1s", "--kind", "fact") as process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert [json.loads(line)["change"]["id"] for line in out.splitlines()] == [first]
    assert time.monotonic() - start >= 1


def test_commits_of_code_and_branches_without_notes_tell_nothing(play: Play) -> None:
    first = add(play, "Tokens live an hour.")
    head = play.ledger.git.head()[0] or ""
    steps: list[Callable[[], Any]] = [
        lambda: None,
        lambda: git(play.root, "commit", "-q", "--allow-empty", "-m", "code"),
        lambda: play.do(notes.confirm_note, first),
        lambda: git(play.root, "switch", "-q", "--orphan", "empty"),
        lambda: git(play.root, "switch", "-q", "main"),
    ]

    def wait() -> bool:
        if steps:
            steps.pop(0)()
            return True
        return False

    rows = list(sessions.follow_changes(play.ledger, head, wait))
    assert [(row["id"], row["happened"]) for row in rows] == [(first, ["confirmed"])]


def test_what_does_not_go_with_following_is_a_mistake(play: Play, cli: Call) -> None:
    at = ("-C", str(play.root))
    for wrong in (("--for", "1s"), ("--follow", "--until", "HEAD"), ("--follow", "--at", "HEAD")):
        assert cli("changes", *wrong, *at)[0] == 2
    assert cli("changes", "--follow", "--for", "soon", *at)[0] == 2
    assert cli("changes", "--follow", "--for", "1s", *at)[0] == 0
