"""A run that was released where it was worked on, and lands where other code is by then."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.review import actions
from memento_git.work import refusals
from memento_git.work.actions import releases, runs
from tests.play import Play, git
from tests.test_buttons import press

if TYPE_CHECKING:
    from pathlib import Path

LINES: Final = [f"line {number}\n" for number in range(30)]
ERRORS: Final = [("G003", "error"), ("P004", "error")]


@pytest.fixture
def shop(play: Play) -> Play:
    """A ledger that asks for a fresh release, and code."""
    (play.root / ".memento" / "config.yaml").write_text(
        "version: 1\npolicy:\n  gates: {required: [release], fresh: [release]}\n"
    )
    edit(play, "app.py", "".join(LINES))
    return play


def edit(play: Play, path: str, text: str) -> None:
    play.commit(path, text, f"edit {path}")


def line(play: Play, number: int, text: str) -> None:
    """Edit one line of the code."""
    lines = (play.root / "app.py").read_text().splitlines(keepends=True)
    edit(play, "app.py", "".join([*lines[:number], f"{text}\n", *lines[number + 1 :]]))


def released(play: Play, goal: str = "Release it", *, complete: bool = True) -> str:
    run = play.planned(goal)
    play.proven(f"Work of {goal}", run=run)
    play.do(releases.release_run, run=run)
    if complete:
        play.do(runs.complete_run, run)
    return run


def amiss(play: Play, **options: Any) -> list[tuple[str, str]]:
    """Return what `check` says of gates and ends: stale proofs are told as ever."""
    told = actions.check(play.ledger, **options).findings
    return [(one.code, one.severity) for one in told if one.code[0] != "C"]


def on(play: Play, branch: str, *made: str) -> None:
    git(play.root, "switch", "-q", *(["-c"] if made else []), branch, *made)


def moved_on(shop: Play, *, complete: bool = True) -> str:
    """Release a run of a branch, and have the base move on; return the run."""
    on(shop, "work", "main")
    line(shop, 0, "released")
    run = released(shop, complete=complete)
    on(shop, "main")
    edit(shop, "other.py", "moved = 1\n")
    return run


@pytest.mark.parametrize("where", ["other file", "same file"])
def test_a_released_run_is_merged_after_the_base_has_moved_on(shop: Play, where: str) -> None:
    on(shop, "work", "main")
    line(shop, 0, "released")
    run = released(shop)
    on(shop, "main")
    line(shop, 29, "moved on") if where == "same file" else edit(shop, "other.py", "moved = 1\n")
    press(shop.root, "merge", "main", "work")
    assert [amiss(shop), amiss(shop, base="HEAD^"), amiss(shop, base="HEAD^@"), amiss(shop, no_base=True)] == [[]] * 4
    shop.do(runs.start_run, "Another")
    line(shop, 12, "later")
    assert (amiss(shop, base="HEAD^"), amiss(shop, no_base=True)) == ([], [])
    assert shop.status(run) == "completed"


def test_a_hotfix_from_a_tag_is_merged(shop: Play, tmp_path: Path) -> None:
    git(shop.root, "tag", "v1")
    line(shop, 20, "moved on")
    on(shop, "hotfix", "v1")
    line(shop, 0, "mended")
    released(shop, "Mend it")
    assert amiss(shop, base="main") == []
    press(shop.root, "merge", "main", "hotfix")
    assert amiss(shop) == []
    bare = tmp_path / "bare.git"
    git(shop.root, "clone", "-q", "--bare", str(shop.root), str(bare))
    server = shop.beside(bare)
    assert amiss(server, at="main", base="main^1") == []


def test_the_base_is_merged_into_the_branch_after_the_end_of_its_run(shop: Play) -> None:
    on(shop, "work", "main")
    line(shop, 0, "released")
    released(shop)
    on(shop, "main")
    line(shop, 29, "moved on")
    on(shop, "work")
    git(shop.root, "merge", "-q", "--no-edit", "main")
    assert amiss(shop, base="main") == []
    on(shop, "main")
    edit(shop, "other.py", "moved = 1\n")
    press(shop.root, "merge", "main", "work")
    assert amiss(shop) == []


def test_two_released_runs_are_merged_to_a_third_branch_and_that_is(shop: Play) -> None:
    on(shop, "one", "main")
    line(shop, 0, "one")
    released(shop, "One")
    on(shop, "two", "main")
    line(shop, 20, "two")
    released(shop, "Two")
    on(shop, "third", "main")
    press(shop.root, "merge", "third", "one")
    press(shop.root, "merge", "third", "two")
    assert amiss(shop, base="main") == []
    press(shop.root, "merge", "main", "third")
    assert amiss(shop) == []


def gone_on(shop: Play) -> str:
    """Release a run of a branch, and have code follow there and on main; return the run."""
    on(shop, "release/1", "main")
    line(shop, 0, "released")
    run = released(shop, "1.0")
    on(shop, "main")
    edit(shop, "other.py", "moved = 1\n")
    on(shop, "release/1")
    line(shop, 1, "after the release")
    return run


def test_a_release_branch_that_went_on_is_told_until_a_further_release_has_seen_that(shop: Play) -> None:
    run = gone_on(shop)
    later = git(shop.root, "rev-parse", "HEAD")[:12]
    press(shop.root, "merge", "main", "release/1")
    found = [one for one in actions.check(shop.ledger).findings if one.code[0] != "C"]
    assert [(one.code, one.severity) for one in found] == ERRORS
    assert all(one.message.endswith(f": {later} changed code after the end of {run}") for one in found)
    assert found[1].fix.startswith("have it judged by the same gate in a further run of the branch: memento run start")
    assert amiss(shop, base="HEAD^@") == [], "where the release branch is a base of its own"
    git(shop.root, "reset", "-q", "--hard", "HEAD^")
    on(shop, "release/1")
    released(shop, "1.1")
    press(shop.root, "merge", "main", "release/1")
    assert amiss(shop) == []


def test_code_that_the_release_of_a_cancelled_run_has_seen_is_told_as_code_after_the_end(shop: Play) -> None:
    run = gone_on(shop)
    shop.do(runs.cancel_run, released(shop, "1.1", complete=False), reason="Not now.")
    press(shop.root, "merge", "main", "release/1")
    found = [one for one in actions.check(shop.ledger).findings if one.code[0] != "C"]
    assert [(one.code, one.severity) for one in found] == ERRORS
    assert all(one.message.endswith(f" changed code after the end of {run}") for one in found)


def test_a_conflict_that_is_settled_by_hand_is_code_that_no_gate_has_seen(shop: Play) -> None:
    on(shop, "work", "main")
    line(shop, 0, "released")
    run = released(shop)
    on(shop, "main")
    line(shop, 0, "moved on")
    git(shop.root, "merge", "-q", "--no-edit", "work", check=False)
    line(shop, 0, "settled")
    (shop.root / "app.py").write_text("".join(["settled\n", *LINES[1:]]))
    git(shop.root, "commit", "-qa", "--amend", "--no-edit")
    found = [one for one in actions.check(shop.ledger).findings if one.code[0] != "C"]
    assert [(one.code, one.severity) for one in found] == ERRORS
    assert all(f"changed code after the end of {run}" in one.message for one in found)


def pressed(shop: Play, button: str) -> list[tuple[str, str]]:
    """Squash or rebase the branch onto main; return what the check of the push says."""
    before = git(shop.root, "rev-parse", "main")
    press(shop.root, button, "main", "work")
    return amiss(shop, base=before)


@pytest.mark.parametrize("button", ["squash", "rebase"])
@pytest.mark.parametrize("moved", ["", "other file", "same file", "same line, and back"])
def test_a_squash_or_rebase_lands_where_the_base_has_moved_on(shop: Play, button: str, moved: str) -> None:
    """What it changes, laid on earlier code, is what the gate saw, and git merges that to what is there."""
    on(shop, "work", "main")
    line(shop, 20, "released")
    released(shop)
    on(shop, "main")
    if moved == "same file":
        edit(shop, "app.py", "".join([*LINES[:10], "new\n", "new\n", *LINES[10:]]))
    if moved:
        edit(shop, "other.py", "moved = 1\n")
    if moved == "same line, and back":
        line(shop, 20, "moved on")
        edit(shop, "app.py", "".join(LINES))
    if moved:
        edit(shop, "other.py", "moved = 2\n")
    assert pressed(shop, button) == []
    assert amiss(shop, no_base=True) == ([("G003", "warning")] if moved else []), "the next look knows no base"


def test_a_squash_that_brings_no_code_lands_where_the_base_has_moved_on(shop: Play) -> None:
    on(shop, "work", "main")
    released(shop)
    on(shop, "main")
    edit(shop, "other.py", "moved = 1\n")
    assert pressed(shop, "squash") == []


def test_a_merge_that_completes_a_run_itself_is_no_squash_of_what_the_gate_saw(shop: Play) -> None:
    """What else it merges need not be what was seen."""
    on(shop, "work", "main")
    line(shop, 0, "released")
    run = released(shop, complete=False)
    on(shop, "end", "work")
    shop.do(runs.complete_run, run)
    on(shop, "main")
    edit(shop, "other.py", "moved = 1\n")
    git(shop.root, "merge", "-q", "--no-commit", "work")
    git(shop.root, "checkout", "-q", "end", "--", ".memento")
    git(shop.root, "commit", "-q", "--no-edit")
    assert amiss(shop, base="HEAD^") == ERRORS


def test_a_squash_whose_change_a_partial_clone_lacks_is_told(shop: Play, tmp_path: Path) -> None:
    moved_on(shop)
    press(shop.root, "squash", "main", "work")
    git(shop.root, "config", "uploadpack.allowFilter", "true")
    there = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--single-branch", shop.root.as_uri(), str(there))
    git(there, "log", "-p", "--", ".memento")
    git(there, "remote", "set-url", "origin", str(tmp_path / "away"))
    clone = shop.beside(there)
    assert amiss(clone, base="HEAD^") == ERRORS
    git(there, "remote", "set-url", "origin", shop.root.as_uri())
    assert amiss(clone, base="HEAD^") == []


@pytest.mark.parametrize("button", ["squash", "rebase"])
def test_a_squash_or_rebase_that_brings_code_of_after_the_end_is_told(shop: Play, button: str) -> None:
    on(shop, "work", "main")
    line(shop, 0, "released")
    released(shop)
    line(shop, 10, "after the release")
    on(shop, "main")
    edit(shop, "other.py", "moved = 1\n")
    assert pressed(shop, button) == ERRORS


@pytest.mark.parametrize("path", ["app.py", "more.py"])
def test_a_squash_that_is_other_than_a_merge_is_told(shop: Play, path: str) -> None:
    run = moved_on(shop)
    git(shop.root, "merge", "-q", "--squash", "work")
    (shop.root / path).write_text("and more\n")
    shop.commit_all("squashed")
    found = [one for one in actions.check(shop.ledger, base="HEAD^").findings if one.code[0] != "C"]
    assert [(one.code, one.severity) for one in found] == ERRORS
    assert f": the end of {run} came with " in found[1].message


def test_code_that_a_branch_puts_below_a_squash_of_its_released_work_is_told(shop: Play) -> None:
    """That is no base: nobody judged it."""
    on(shop, "work", "main")
    line(shop, 0, "released")
    released(shop)
    on(shop, "another", "main")
    edit(shop, "other.py", "unseen = 1\n")
    press(shop.root, "squash", "another", "work")
    assert amiss(shop, base="main") == ERRORS
    edit(shop, "other.py", "unseen = 2\n")
    assert amiss(shop, base="main") == ERRORS


def test_what_a_squash_is_laid_on_leaves_nothing_in_the_git_directory(shop: Play) -> None:
    """A split index has a file beside the one that is named, one for each commit that the change was laid on."""
    on(shop, "work", "main")
    line(shop, 0, "released")
    released(shop)
    line(shop, 10, "after the release")
    on(shop, "main")
    for number in range(4):
        edit(shop, "other.py", f"moved = {number}\n")
    press(shop.root, "squash", "main", "work")
    git(shop.root, "config", "core.splitIndex", "true")
    assert amiss(shop, base="HEAD^") == ERRORS
    assert [*(shop.root / ".git").glob("sharedindex.*")] == []


def test_a_run_that_is_completed_after_the_base_went_on_from_its_gate_is_told(shop: Play) -> None:
    """There was no branch, and `run complete` refuses it: the completion was written by hand."""
    run = released(shop, complete=False)
    on(shop, "end", "main")
    shop.do(runs.complete_run, run)
    on(shop, "main")
    line(shop, 0, "after the gate")
    with pytest.raises(refusals.GateFallen):
        shop.do(runs.complete_run, run)
    git(shop.root, "checkout", "-q", "end", "--", ".memento")
    shop.commit_all("completed")
    assert amiss(shop, base="HEAD^") == [("P004", "error")]


def test_lines_that_fit_at_two_places_are_not_taken_for_what_was_seen(shop: Play) -> None:
    """Laid on the earlier code, the change comes to what the gate saw; but git merges that to another place."""
    same = ["same\n"] * 12
    edit(shop, "app.py", "".join(["top\n", *same]))
    on(shop, "work", "main")
    edit(shop, "app.py", "".join(["top\n", *same[:6], "here\n", *same[6:]]))
    released(shop)
    on(shop, "main")
    edit(shop, "app.py", "".join(["top\n", "new\n", "new\n", "new\n", *same]))
    git(shop.root, "merge", "-q", "--squash", "work")
    shop.commit("app.py", "".join(["top\n", "new\n", "new\n", "new\n", *same[:3], "here\n", *same[3:]]), "squashed")
    assert amiss(shop, base="HEAD^") == ERRORS


def test_a_server_takes_a_squash_onto_a_base_that_moved_on(shop: Play, tmp_path: Path) -> None:
    """Its hook looks at objects that are not in the repository yet."""
    moved_on(shop)
    bare = tmp_path / "bare.git"
    git(shop.root, "clone", "-q", "--bare", "--single-branch", "--branch=main", f"file://{shop.root}", str(bare))
    hook = bare / "hooks" / "pre-receive"
    check = f'exec "{sys.executable}" -m memento_git check --at "$new" --base "$old"'
    hook.write_text(f"#!/bin/sh\nread old new ref\n{check}\n")
    hook.chmod(0o755)
    press(shop.root, "squash", "main", "work")
    line(shop, 5, "and more")
    git(shop.root, "reset", "-q", "--soft", "HEAD~2")
    git(shop.root, "commit", "-qm", "squashed, and more")
    with pytest.raises(AssertionError, match="P004 error"):
        git(shop.root, "push", "-q", str(bare), "main")
    git(shop.root, "reset", "-q", "--hard", "HEAD^")
    press(shop.root, "squash", "main", "work")
    git(shop.root, "push", "-q", str(bare), "main")
    assert git(bare, "rev-parse", "main") == git(shop.root, "rev-parse", "main")


def test_a_run_that_is_not_complete_is_asked_for_the_code_of_the_merge(shop: Play) -> None:
    moved_on(shop, complete=False)
    press(shop.root, "merge", "main", "work")
    assert amiss(shop) == [("G003", "error")]
    assert amiss(shop, no_base=True) == [("G003", "error")]


def test_a_git_that_cannot_tell_what_a_merge_changed_is_taken_for_a_change(
    shop: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As one before 2.35, which knows no `--remerge-diff`."""
    moved_on(shop)
    press(shop.root, "merge", "main", "work")
    assert amiss(shop) == []
    old = tmp_path / "git"
    old.write_text('#!/bin/sh\ncase " $* " in *" --remerge-diff "*) exit 128 ;; esac\nPATH="$KEPT" exec git "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("KEPT", os.environ["PATH"])
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert amiss(shop) == ERRORS
