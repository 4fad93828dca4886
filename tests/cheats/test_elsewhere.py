"""Another project with a ledger of its own, in a folder of this one; and what somebody would hide in such a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.verbs import notes
from memento_git.work.actions import tasks
from tests.cheats.forging import MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

GRACE = "Grace <grace@example.invalid>"


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
    git(doors.root, "rm", "-rq", f"{layout.RUNS}/{run}")
    git(doors.root, "commit", "-qm", "tidy")
    return alone


def test_another_project_in_a_folder_is_no_loss(doors: Doors, tmp_path: Path) -> None:
    """No cheat: its history has records where this one's would be, and also takes some of them away."""
    lib = tmp_path / "lib"
    git(tmp_path, "init", "-q", "-b", "main", str(lib))
    assert doors.cli("init", "-C", str(lib))[0] == 0
    theirs = doors.play.beside(lib)
    theirs.planned()
    task, gone = theirs.proven(), theirs.task("Not needed")
    git(lib, "rm", "-q", theirs.state(gone).index.prose[gone])
    git(lib, "commit", "-qm", "tidy")
    git(doors.root, "fetch", "-q", str(lib), "main")
    put_below(doors, "lib", "FETCH_HEAD")
    doors.sound()
    doors.landed()
    theirs.do(tasks.reopen_task, task, reason="It is slow.")
    git(doors.root, "fetch", "-q", str(lib), "main")
    git(doors.root, "merge", "-q", "-Xsubtree=lib", "-m", "lib: newer", "FETCH_HEAD")
    assert "reopened" in git(doors.root, "ls-files", "lib")
    doors.sound()


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
    task = doors.play.proven()
    doors.landed()
    fork = git(doors.root, "rev-parse", "HEAD")
    doors.play.as_(GRACE).do(tasks.reopen_task, task, reason="No.")
    opened = doors.last(task, "reopened")
    own = doors.commit_tree(f"{WORK}^{{tree}}")
    git(doors.root, "reset", "-q", "--hard", fork)
    if below:
        put_below(doors, "old", own)
    else:
        git(doors.root, "merge", "-q", "-s", "ours", "--allow-unrelated-histories", "-m", "merge", own)
        doors.write("more.py", "more\n")
    assert doors.play.is_proven(task)
    assert f"{opened} was on the branch" in doors.caught("D010")
