"""Another project with a ledger of its own, in a folder of this one; and what somebody would hide in such a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.verbs import notes
from memento_git.work.actions import tasks
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.play import git, take_out

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors
    from tests.play import Play


def put_below(doors: Doors, folder: str, commit: str) -> None:
    """Merge a history into a folder, as `git subtree add` does."""
    git(doors.root, "merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", commit)
    git(doors.root, "read-tree", f"--prefix={folder}/", "-u", commit)
    git(doors.root, "commit", "-qm", f"{folder}: from elsewhere")


def emptied(doors: Doors, run: str) -> str:
    """Delete a run with all that is in it; return the tree that had it alone, below the ledger's folder."""
    git(doors.root, "read-tree", "--empty")
    git(doors.root, "add", "--force", f"{layout.RUNS}/{run}")
    alone = git(doors.root, "write-tree")
    git(doors.root, "read-tree", WORK)
    take_out(doors.root, f"{layout.RUNS}/{run}", message="tidy")
    return alone


def said_elsewhere(doors: Doors) -> tuple[str, str, str]:
    """Have a no said to a proven task of the base in a history of one's own; return task, event and that history."""
    task = doors.play.proven()
    doors.landed()
    fork = git(doors.root, "rev-parse", "HEAD")
    doors.play.as_(GRACE).do(tasks.reopen_task, task, reason="No.")
    opened = doors.last(task, "reopened")
    own = doors.commit_tree(f"{WORK}^{{tree}}")
    git(doors.root, "reset", "-q", "--hard", fork)
    return task, opened, own


@pytest.fixture
def theirs(doors: Doors, tmp_path: Path) -> Play:
    """Another project with a ledger."""
    lib = tmp_path / "lib"
    git(tmp_path, "init", "-q", "-b", "main", str(lib))
    assert doors.cli("init", "-C", str(lib))[0] == 0
    play = doors.play.beside(lib)
    play.planned()
    return play


def test_another_project_in_a_folder_is_no_loss(doors: Doors, theirs: Play) -> None:
    """No cheat: its history has records where this one's would be, and also takes some of them away."""
    lib = theirs.root
    task, gone = theirs.proven(), theirs.task("Not needed")
    take_out(lib, theirs.state(gone).index.prose[gone], message="tidy")
    git(doors.root, "fetch", "-q", str(lib), "main")
    put_below(doors, "lib", "FETCH_HEAD")
    doors.sound()
    doors.landed()
    theirs.do(tasks.reopen_task, task, reason="It is slow.")
    git(doors.root, "fetch", "-q", str(lib), "main")
    git(doors.root, "merge", "-q", "-Xsubtree=lib", "-m", "lib: newer", "FETCH_HEAD")
    assert "reopened" in git(doors.root, "ls-files", "lib")
    doors.sound()


def test_another_project_that_both_sides_merged_is_not_compared_with(doors: Doors, theirs: Play) -> None:
    """No cheat: a commit of it is where git says that the two parted."""
    theirs.proven()
    git(doors.root, "fetch", "-q", str(theirs.root), "main")
    git(doors.root, "switch", "-q", MAIN)
    put_below(doors, "lib", "FETCH_HEAD")
    git(doors.root, "switch", "-q", WORK)
    theirs.proven()
    git(doors.root, "fetch", "-q", str(theirs.root), "main")
    put_below(doors, "lib", git(doors.root, "rev-parse", "FETCH_HEAD"))
    doors.play.proven()
    assert git(doors.root, "merge-base", "--all", MAIN, WORK).count("\n") == 1
    assert doors.check("--base", MAIN) == (0, [])
    assert doors.check("--at", WORK, "--base", f"{WORK}~5") == (0, [])


def test_another_project_that_is_merged_into_a_folder_is_no_side_of_the_ledger(doors: Doors, theirs: Play) -> None:
    """No cheat: the hooks compare a merge with all its sides."""
    theirs.proven()
    git(doors.root, "fetch", "-q", str(theirs.root), "main")
    other = git(doors.root, "rev-parse", "FETCH_HEAD")
    git(doors.root, "merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", other)
    git(doors.root, "read-tree", "--prefix=lib/", "-u", other)
    assert doors.check("--staged") == (0, [])
    git(doors.root, "commit", "-qm", "lib: from elsewhere")
    assert doors.check("--base", "HEAD^@") == (0, [])


def test_a_history_of_ones_own_is_a_side_of_the_ledger(doors: Doors) -> None:
    """Way: the hooks take a history that began elsewhere, with a verdict on this ledger's task, for another project."""
    _, opened, own = said_elsewhere(doors)
    git(doors.root, "merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", own)
    assert opened in str(doors.check("--staged"))
    git(doors.root, "commit", "-qm", "merge")
    assert opened in str(doors.check("--base", "HEAD^@"))


@pytest.mark.parametrize("empty", [True, False])
def test_a_run_of_the_branch_that_is_put_into_a_folder(doors: Doors, *, empty: bool) -> None:
    """Way: the merge takes the branch for another project, and with it what somebody asked for there."""
    fork = git(doors.root, "rev-parse", "HEAD")
    if empty:  # the base's ledger has no record yet
        fork = git(doors.root, "log", "--diff-filter=A", "--format=%H", "--", layout.CONFIG)
        git(doors.root, "branch", "-qf", MAIN, fork)
    task = doors.play.as_(GRACE).task("Close the hole", run=doors.play.run("Another"))
    side = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "reset", "-q", "--hard", fork)
    put_below(doors, "old", side)
    assert f"{task} was on the branch" in doors.caught("D010")


def test_a_run_that_is_deleted_beside_a_history_which_has_it_too(doors: Doors) -> None:
    """Way: the last merge that drops it is one of a history that began elsewhere, with a copy of that run alone."""
    task = doors.play.as_(GRACE).task("Close the hole", run=(run := doors.play.run("Another")))
    put_below(doors, "old", doors.commit_tree(emptied(doors, run)))
    assert f"{task} was on the branch" in doors.caught("D010")


def test_a_note_in_a_history_of_ones_own_that_has_this_ledger(doors: Doors) -> None:
    """Way: the same with a note, which is of no run."""
    fork = git(doors.root, "rev-parse", "HEAD")
    told = doors.play.as_(GRACE).do(notes.add_note, "Tokens never expire, which is a hole.")
    own = doors.commit_tree(f"{WORK}^{{tree}}")
    git(doors.root, "reset", "-q", "--hard", fork)
    put_below(doors, "old", own)
    assert f"{told} was on the branch" in doors.caught("D010")


@pytest.mark.parametrize("below", [True, False])
def test_a_verdict_in_a_history_of_ones_own_that_has_this_ledger(doors: Doors, *, below: bool) -> None:
    """Way: the work goes on in a history that began elsewhere, with a copy of the ledger, and the no stays there."""
    task, opened, own = said_elsewhere(doors)
    if below:
        put_below(doors, "old", own)
    else:
        git(doors.root, "merge", "-q", "-s", "ours", "--allow-unrelated-histories", "-m", "merge", own)
        doors.write("more.py", "more\n")
    assert doors.play.is_proven(task)
    assert f"{opened} was on the branch" in doors.caught("D010")
