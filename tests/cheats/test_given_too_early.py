"""What a reviewer gave counts although the base asked for something after that, which a branch takes out or hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.work.actions import tasks
from tests.cheats.doors import run_of
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.cheats.test_given_before import BY_GRACE, EXCEPTION, FINAL, excepted, worked
from tests.play import git, merge_into

if TYPE_CHECKING:
    import pytest

    from tests.cheats.doors import Doors

HEIDI = "Heidi <heidi@example.invalid>"
LATER, LONG_AGO = "@4000000000 +0000", "@1000000000 +0000"
HASHED = "\nAll of them are hashed.\n"


def test_an_acceptance_from_before_words_that_a_request_in_between_dates_back(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Way: a first request adds harmless words in a commit of long ago, so that the base's text looks as old."""
    run = worked(doors, BY_GRACE)
    doors.landed()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    git(doors.root, "switch", "-q", MAIN)
    for date, edited in ((LATER, (EXCEPTION, "")), (LONG_AGO, ("\n---\n", f"\n---\n{HASHED}"))):
        monkeypatch.setenv("GIT_COMMITTER_DATE", date)
        doors.edit(run, *edited)
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    merge_into(doors.root, WORK, MAIN)
    excepted(doors, run)
    doors.edit(run, HASHED, "")
    assert f"gate {FINAL} of {run} holds again" in doors.caught("P009")


def asks_more(doors: Doors, task: str) -> None:
    """Let main ask more of a task, and the branch take main in and put its own words back."""
    words = doors.file(task).read_text()
    git(doors.root, "switch", "-q", MAIN)
    doors.play.as_(HEIDI).do(tasks.revise_task, task, criteria=["Short ones are refused."])
    merge_into(doors.root, WORK, MAIN)
    doors.write(doors.path(task), words)
    assert doors.play.is_proven(task)


def test_an_acceptance_from_before_a_task_asked_more(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Way: what a task asks more at the base goes again with the branch on which it was done and accepted."""
    doors.policy(BY_GRACE)
    run, task = run_of(doors), doors.play.task()
    doors.landed()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    with monkeypatch.context() as later:
        later.setenv("GIT_COMMITTER_DATE", LATER)
        asks_more(doors, task)
    told = doors.caught("P009")
    assert f"gate {FINAL} of {run} holds again" in told
    assert f"the branch puts back the words of {task}" in told


# No way: it is given after that.


def test_an_acceptance_from_after_a_task_asked_more(doors: Doors) -> None:
    doors.policy(BY_GRACE)
    run, task = run_of(doors), doors.play.task()
    doors.landed()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    asks_more(doors, task)
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    doors.sound("D007")
