"""What came with the branch goes and comes again with other words: a deletion, a link or a second side in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import evidences
from tests.cheats.doors import run_of
from tests.cheats.forging import GATE, MAIN, WORK
from tests.play import git, take_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors


def removed(doors: Doors, path: str) -> None:
    take_out(doors.root, path, message="tidy")


def by_deletion(doors: Doors, path: str, other: bytes) -> None:
    removed(doors, path)
    doors.write(path, other)


def by_link(doors: Doors, path: str, other: bytes) -> None:
    there = doors.root / path
    there.unlink()
    there.symlink_to("nowhere")
    doors.play.commit_all("a link")
    there.unlink()
    doors.write(path, other)


def by_second_side(doors: Doors, path: str, other: bytes) -> None:
    """Add the file on a side that never had it, and merge so that this side's bytes are the ones that stay."""
    git(doors.root, "switch", "-q", "--detach", MAIN)
    doors.write(path, other)
    side = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "switch", "-q", WORK)
    git(doors.root, "merge", "-q", "-X", "theirs", "-m", "merge", side)


def by_dates(doors: Doors, path: str, other: bytes) -> None:
    """Edit it to and fro, dated so that git would tell the last edit first and the first one in between."""
    words = (doors.root / path).read_bytes()
    doors.write(path, other)
    edit = git(doors.root, "rev-parse", "HEAD^{tree}")
    first = _dated(doors, "2037", edit, f"{WORK}^")
    doors.adopt(_dated(doors, "1999", edit, first))
    git(doors.root, "reset", "-q", "--hard")
    doors.write(path, words)
    second = _dated(doors, "1999", f"{WORK}^{{tree}}", f"{WORK}^")
    doors.adopt(_dated(doors, "2036", edit, first, second))
    git(doors.root, "reset", "-q", "--hard")
    assert (doors.root / path).read_bytes() == other


def _dated(doors: Doors, year: str, tree: str, *parents: str) -> str:
    """Return a commit of a tree that was made in some year."""
    commit = git(doors.root, "cat-file", "commit", doors.commit_tree(tree, *parents))
    head, _, words = commit.partition("\n\n")
    when = {"1999": 9 * 10**8, "2036": 21 * 10**8, "2037": 214 * 10**7}[year]
    lines = [f"{line.rpartition('> ')[0]}> {when} +0000" if "> " in line else line for line in head.split("\n")]
    data = "\n".join([*lines, "", words, ""]).encode()
    return git(doors.root, "hash-object", "-t", "commit", "-w", "--stdin", data=data)


WAYS = [by_deletion, by_link, by_second_side, by_dates]


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_test_that_comes_again_as_a_pass(doors: Doors, way: Callable[[Doors, str, bytes], None]) -> None:
    task = doors.play.task()
    bad = doors.play.as_("Grace").evidence(task, code=1)
    said = doors.file(bad).read_bytes()
    way(doors, doors.path(bad), said.replace(b"exit: 1", b"exit: 0").replace(b"failed", b"passed"))
    assert doors.play.state(task).evidence(bad).data["outcome"] == "passed"  # type: ignore[union-attr]
    assert f"{bad} came with other words" in doors.caught("D010")


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_failed_gate_that_comes_again_as_one_of_another_gate(
    doors: Doors, way: Callable[[Doors, str, bytes], None]
) -> None:
    run = run_of(doors)
    doors.play.as_("Grace").gate(GATE, "failed", reason="No.")
    failed = doors.last(run, "failed")
    way(doors, doors.path(failed), doors.file(failed).read_bytes().replace(GATE.encode(), b"plan_review"))
    assert doors.gate(GATE) == "none"
    assert f"{failed} came with other words" in doors.caught("D010")


def test_a_no_that_comes_again_as_a_yes_and_is_redacted(doors: Doors) -> None:
    """Way: what the redaction keeps is what the file said last."""
    run = run_of(doors)
    no = doors.play.as_("Grace").do(evidences.approve, run, response="no")
    said = doors.file(no).read_bytes()
    by_deletion(doors, doors.path(no), said.replace(b"'no'", b"'yes'").replace(b"failed", b"passed"))
    for _ in doors.accepted("evidence redact", target=no, reason="It was a slip."):
        assert doors.check("--base", MAIN)[0] == 5
    assert "its redaction keeps other words" in doors.caught("D010")


def test_what_went_and_came_again_as_it_was(doors: Doors) -> None:
    """The honest way: a commit that took something away is reverted, or its file restored."""
    bad = doors.play.as_("Grace").evidence(doors.play.task(), code=1)
    path, said = doors.path(bad), doors.file(bad).read_bytes()
    removed(doors, path)
    git(doors.root, "revert", "--no-edit", "HEAD")
    doors.sound()
    by_deletion(doors, path, said.replace(b"exit: 1", b"exit: 0"))
    doors.write(path, said)
    doors.sound()
