"""Cheats with trees that git would not make, and of which it tells less than differs, or what was there as new."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cheats.forging import rewritten
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

    Entry = tuple[str, str, str]

OF_THE_BRANCH = "what came on the branch"


def _remade(doors: Doors, tree: str, make: Callable[[list[Entry]], list[Entry]]) -> str:
    """Return a tree of which, and of all folders in which, the entries are made into others."""
    held = doors.entries(tree)
    return doors.raw_tree(make([(mode, name, _remade(doors, oid, make) if mode == "40000" else oid)
                                for mode, name, oid in held]))  # fmt: skip


def _by_paths(doors: Doors, entries: list[Entry]) -> list[Entry]:
    """Return entries with the files of folders in their place, by paths, and first in each what is nobody's.

    Of the first one git tells that the folder became it.
    """
    folders = {name: doors.entries(oid) for mode, name, oid in entries if mode == "40000"}
    inside = [(mode, f"{name}/{one}", oid) for name, held in folders.items() for mode, one, oid in held]
    inside += [("100644", f"{name}/!", doors.blob(b"")) for name in folders]
    return sorted([*inside, *(entry for entry in entries if entry[1] not in folders)], key=lambda entry: entry[1])


@pytest.mark.parametrize("hides", ["an edit", "a removal", OF_THE_BRANCH])
@pytest.mark.parametrize("how", ["out of order", "by paths"])
def test_a_tree_by_which_git_tells_less_than_differs(doors: Doors, how: str, hides: str) -> None:
    """Way: folders of the ledger out of order, or files in them by paths, so that what is told of them is all new."""
    task = doors.play.task("One")
    bad = doors.play.evidence(task, code=1)
    verdict = doors.forge(task, "failed", gate="quality_review")
    if hides != OF_THE_BRANCH:
        doors.landed()
    if hides == "an edit":
        better = {
            doors.path(bad): lambda data: data.replace(b"exit: 1", b"exit: 0").replace(
                b"outcome: failed", b"outcome: passed"
            )
        }
        rewritten(doors.root, doors.play.state(task).id, better)
    else:
        (doors.root / doors.path(verdict)).unlink()
    whole = doors.play.commit_all("as it shall be")
    ledger = git(doors.root, "rev-parse", "HEAD:.memento")
    odd = _remade(doors, ledger, lambda held: held[::-1] if how == "out of order" else _by_paths(doors, held))
    top = [(mode, name, odd if oid == ledger else oid) for mode, name, oid in doors.entries("HEAD^{tree}")]
    doors.adopt(doors.commit_tree(doors.raw_tree(top), "HEAD^"))
    if hides == OF_THE_BRANCH:
        doors.adopt(doors.commit_tree(f"{whole}^{{tree}}", "HEAD"))
    for door, options, root in doors.arrivals():
        code, out, _ = doors.cli("check", "-C", str(root), *options, "--json")
        is_blind = hides == OF_THE_BRANCH and door in ("staged", "squash")
        told = json.loads(out).get("error", "")
        assert (code, told in ("tree_odd", "git_failed")) == ((0, False) if is_blind else (4, True)), (door, out)


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_ledger_a_second_time_where_git_does_not_look(doors: Doors, form: str) -> None:
    """Way: at the top, behind what git stops at, another ledger: a checkout and a merge take that one."""
    bad = doors.play.evidence(doors.play.task("One"), code=1)
    doors.landed()
    doors.edit(bad, "outcome: failed", "outcome: passed")
    held = [*doors.entries("main^{tree}"), ("40000", ".memento", git(doors.root, "rev-parse", "HEAD:.memento"))]
    doors.adopt(doors.commit_tree(doors.raw_tree(held), "main"))
    assert git(doors.root, "diff", "--name-only", "main", "work", "--", ".memento") == ""
    for door, options, root in doors.arrivals():
        code, out, err = doors.cli("check", "-C", str(root), *options, "--format", form)
        assert (code, "tree_odd" in out + err) == (4, True), (door, out, err)
    for asked in (["check", "--no-base"], ["diff", "main..work"]):
        assert "tree_odd" in doors.cli(*asked, "-C", str(doors.root), "--json")[1]


def test_words_that_a_merge_takes_from_where_git_does_not_look(doors: Doors) -> None:
    """Way: other words of a task in a second ledger, which whoever merges then seems to have written."""
    task = doors.play.task("One")
    doors.landed()
    doors.edit(task, "One", "None")
    held = [*doors.entries("main^{tree}"), ("40000", ".memento", git(doors.root, "rev-parse", "HEAD:.memento"))]
    odd = doors.commit_tree(doors.raw_tree(held), "main")
    doors.adopt(doors.commit_tree("HEAD^{tree}", odd, "main"))
    for door, options, root in doors.arrivals():
        code, out, _ = doors.cli("check", "-C", str(root), *options, "--json")
        is_blind = door in ("staged", "squash")
        assert (code, json.loads(out).get("error", "")) == ((0, "") if is_blind else (4, "tree_odd")), (door, out)


def test_a_file_of_keys_that_is_there_twice(doors: Doors) -> None:
    """Way: the key that git finds stands before the one of the base, so that the file seems to be as it was."""
    doors.config("policy: {signatures: {allowed_signers: keys/allowed}}")
    doors.write("keys/allowed", "ada@example.invalid ssh-ed25519 AAAA\n")
    doors.landed()
    (kept,) = doors.entries("HEAD:keys")
    folder = doors.raw_tree([("100644", "allowed", doors.blob(b"eve@example.invalid ssh-ed25519 EEEE\n")), kept])
    top = [(mode, name, folder if name == "keys" else oid) for mode, name, oid in doors.entries("HEAD^{tree}")]
    doors.adopt(doors.commit_tree(doors.raw_tree(top), "main"))
    doors.warned("C003")
