"""Texts that came with the branch and went again on it: a task that somebody asked for, a plan, a run, a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import layout
from memento_git.work.actions import plans, runs, verifying
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

ASKED = "Close the hole in login"


@pytest.fixture
def run(doors: Doors) -> str:
    """A run whose work is done on the branch."""
    return doors.play.state(doors.play.proven()).id


def asked(doors: Doors, run: str) -> str:
    """Let a reviewer ask for one more task on the branch, without which the run is not complete."""
    task = doors.play.as_(GRACE).task(ASKED)
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", GRACE)
    doors.refused("task_unsettled", "run complete", run=run)
    return task


def test_a_task_that_the_reviewer_asked_for_is_deleted(doors: Doors, run: str) -> None:
    """Way: a pending task has no event, so that nothing else remembers it."""
    task = asked(doors, run)
    doors.remove(task)
    taker = git(doors.root, "rev-parse", "--short=12", "HEAD")
    assert doors.play.do(runs.complete_run, run)
    assert f"{task} was on the branch, and {taker} took it away" in doors.caught("D010")
    _, found = doors.check("--base", MAIN)
    for path, fix in ((row["path"], row["fix"]) for row in found if row["code"] == "D010"):
        assert fix == f"git checkout {taker}^1 -- {path}"
        git(doors.root, *fix.split()[1:])
    doors.play.commit_all("restored")
    _, found = doors.check("--base", MAIN)
    assert [(row["code"], task in row["message"]) for row in found if row["severity"] == "error"] == [("P004", True)]


@pytest.mark.parametrize("ours", [True, False])
def test_a_task_that_the_reviewer_asked_for_is_dropped_by_a_merge(doors: Doors, run: str, *, ours: bool) -> None:
    """Way: git takes the reviewer's branch for merged, with `-s ours`, or from its own side, and its task is gone."""
    git(doors.root, "switch", "-qc", "review")
    path = doors.path(task := asked(doors, run))
    git(doors.root, "switch", "-q", WORK)
    doors.play.do(runs.complete_run, run)
    sides = (WORK, "review") if ours else ("review", WORK)
    doors.adopt(doors.commit_tree(f"{WORK}^{{tree}}", *sides))
    assert f"{task} was on the branch" in doors.caught("D010")
    _, found = doors.check("--base", MAIN)
    fix = next(row["fix"] for row in found if row["code"] == "D010")
    assert fix.split()[2].endswith("^2" if ours else "^1")
    git(doors.root, *fix.split()[1:])
    assert ASKED in (doors.root / path).read_text()


def test_a_task_that_is_deleted_beside_the_run_that_is_archived(doors: Doors, run: str) -> None:
    """Way: the archive holds all of the run but that."""
    task = asked(doors, run)
    doors.remove(task)
    doors.play.do(runs.complete_run, run)
    doors.play.do(runs.archive_run, run)
    assert task in doors.caught("D010")


def test_a_task_that_is_deleted_and_comes_as_another_runs(doors: Doors, run: str) -> None:
    task = asked(doors, run)
    text = doors.file(task).read_bytes()
    doors.remove(task)
    doors.write(layout.prose_path(doors.play.run("Later"), task), text)
    assert f"{task} was on the branch" in doors.caught("D010")


def test_a_revert_of_a_commit_that_added_a_task(doors: Doors, run: str) -> None:
    """As of an event: what was added by mistake is cancelled, not taken out of the ledger."""
    task = asked(doors, run)
    git(doors.root, "revert", "--no-edit", "HEAD")
    assert task in doors.caught("D010")
    git(doors.root, "revert", "--no-edit", "HEAD")
    doors.sound()


@pytest.mark.parametrize("what", ["plan", "run", "note"])
def test_another_text_that_is_deleted(doors: Doors, what: str) -> None:
    other = doors.play.run("Later")
    if what == "plan":
        other = doors.play.do(plans.draft_plan, "Strict", "Test all of it.", run=other)
    name, path = (other, doors.path(other)) if what != "note" else noted(doors, other)
    doors.remove(path)
    assert f"{name} was on the branch" in doors.caught("D010")


def noted(doors: Doors, about: str = "") -> tuple[str, str]:
    """Write a note, as somebody does; return it and the path of its file."""
    from memento_git.verbs import notes

    note = str(doors.play.do(notes.add_note, f"The parser of {about} needs a database."))
    return note, next(doors.root.rglob(f"{note}.md")).relative_to(doors.root).as_posix()


def test_texts_that_are_still_there(doors: Doors, run: str) -> None:
    """No way: reworded, archived, redacted, retired, moved to another domain; or taken back without a commit."""
    from memento_git.knowledge.actions import notes, settling

    _, path = noted(doors, "one")
    moved = path.replace(f"/{layout.domain_of(path)}/", "/patterns/")
    (doors.root / moved).parent.mkdir(parents=True, exist_ok=True)
    git(doors.root, "mv", path, moved)
    git(doors.root, "commit", "-qm", "another domain")
    doors.play.do(notes.retire_note, noted(doors, "two")[0], reason="It is another one.")
    gone, _ = noted(doors, "three")
    doors.play.do(settling.redact_note, gone, reason="It names a customer.")
    task = asked(doors, run)
    doors.edit(task, ASKED, "Close it")
    git(doors.root, "commit", "-q", "--amend", "--no-edit", "--author", GRACE)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.do(runs.complete_run, run)
    doors.play.do(runs.archive_run, run)
    doors.play.task("A mistake", run=doors.play.planned("Later"))
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    doors.sound()


def test_a_repair_that_is_made_no_repair(doors: Doors) -> None:
    """Way: all that a repair is held against goes from its text before it is handed out; status calls it one still."""
    run = doors.play.state(task := doors.play.task("Hash all passwords", criteria=["argon2"])).id
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task, code=0))
    doors.forge(task, "rejected", unmet=["criterion: argon2"])
    repair = doors.play.do(verifying.repair_task, task)
    doors.edit(repair, f"repairs: {task}\n", "")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    doors.play.do(runs.complete_run, run)
    assert f"repairs of {repair} came as '{task}' on the branch, and is None" in doors.caught("D010")
