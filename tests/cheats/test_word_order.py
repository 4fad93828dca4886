"""The words of a text stay, and say the opposite in another order: what is asked and what is not change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.work.actions import plans, tasks
from tests.cheats.test_wording import GRACE, SEEN, at, brought, of_grace, told_of

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

ASKED, LEFT = "- argon2 for all passwords", "- prettier colours"
BODY = f"To be done:\n\n{ASKED}\n\nOut of scope:\n\n{LEFT}\n"


def flipped(doors: Doors, record: str) -> None:
    """Let what a text asks and what is out of its scope change places."""
    text = doors.file(record).read_text()
    assert text.index(ASKED) < text.index(LEFT)
    doors.write(doors.path(record), text.replace(ASKED, "- X").replace(LEFT, ASKED).replace("- X", LEFT))


def test_a_task_that_somebody_else_brought(doors: Doors) -> None:
    task = brought(doors, body=BODY)
    flipped(doors, task)
    assert told_of(doors, task) == at(SEEN, "text")


def test_a_plan_that_somebody_else_approved(doors: Doors) -> None:
    run = next(iter(doors.play.ledger.view().runs()))
    plan = str(doors.play.as_(GRACE).do(plans.draft_plan, "P", BODY, run=run))
    of_grace(doors)
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    doors.landed()
    flipped(doors, plan)
    doors.play.do(plans.approve_plan, plan)
    assert told_of(doors, plan) == at((*SEEN, "squash"), "text")


def test_a_run_under_way(doors: Doors) -> None:
    run = doors.play.run("Ship the login", body=BODY)
    doors.landed()
    flipped(doors, run)
    assert f"{run} was active when its text changed" in doors.warned("D007")


def test_a_task_that_was_rejected_and_is_done_anew(doors: Doors) -> None:
    task = doors.play.proven(body=BODY)
    doors.forge(task, "rejected", unmet=["It has no argon2."])
    doors.play.do(tasks.reopen_task, task, reason="Again.")
    flipped(doors, task)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    told = f"{task} is done, and says no more what it did when it was handed out: text"
    assert told in doors.warned("P005")


def test_a_text_that_says_more_between_its_lines(doors: Doors) -> None:
    """No way: all that was said is there in its order, wrapped otherwise or not."""
    task, run = brought(doors, body=BODY), doors.play.run("Ship the login", body=BODY)
    doors.landed()
    for record in (task, run):
        doors.edit(record, ASKED, f"- one salt for each\n{ASKED},\n  with no exception")
    doors.edit(task, ",\n  with no exception", "")
    doors.edit(run, ",\n  with no exception", "")
    assert told_of(doors, task) == set()
    doors.sound()
