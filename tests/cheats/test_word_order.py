"""The words of a text stay, and say the opposite in another order: what is asked and what is not change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import dispatches, plans, tasks
from tests.cheats.doors import run_of
from tests.cheats.test_wording import GRACE, SEEN, at, brought, of_grace, told_of

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

NESTED = "- Not part of this:\n  - old accounts\n- Refuse empty passwords.\n- Log each refusal.\n"
IN_IT = NESTED.replace("- Ref", "  - Ref").replace("- Log", "  - Log")
APART = "## Not part of this\n\nOld accounts.\n## To be done\nRefuse empty passwords.\n"
JOINED = APART.replace("accounts.\n", "accounts. ")
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
    run = run_of(doors)
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


def moved(doors: Doors, record: str, old: str, new: str) -> None:
    """Change nothing of a text but its white space."""
    assert old.split() == new.split()
    doors.edit(record, old, new)


@pytest.mark.parametrize(("old", "new"), [(NESTED, IN_IT), (APART, JOINED)])
def test_a_run_whose_work_is_moved_below_what_is_no_part_of_it(doors: Doors, old: str, new: str) -> None:
    """Way: by indentation, or wrapped so that a heading is none any more; all words stay, and in their order."""
    run = doors.play.run("Ship the login", body=old)
    doors.landed()
    moved(doors, run, old, new)
    assert f"{run} was active when its text changed" in doors.warned("D007")
    _, shown, _ = doors.cli("diff", "-C", str(doors.root), "main..work", "--format", "markdown")
    assert "<ins>␣" in shown


@pytest.mark.parametrize(("old", "new"), [(NESTED, IN_IT), (APART, JOINED)])
def test_a_task_of_somebody_elses_whose_work_is_moved_so(doors: Doors, old: str, new: str) -> None:
    task = brought(doors, body=old)
    moved(doors, task, old, new)
    assert told_of(doors, task) == at(SEEN, "text")


def test_a_task_whose_work_is_moved_so_after_its_hand_out(doors: Doors) -> None:
    task = doors.play.task(body=NESTED)
    claim = doors.play.claimed(task)
    moved(doors, task, NESTED, IN_IT)
    evidence = doors.play.evidence(task)
    doors.refused("terms_changed", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, "it was handed out on other terms")
    doors.caught("P001")


def test_a_task_whose_work_is_moved_so_after_its_review(doors: Doors) -> None:
    doors.policy(f"  gates: {{verdicts: {{implementation_review: ['{GRACE}']}}}}\n")
    task = doors.play.task(body=NESTED)
    claim = doors.play.claimed(task)
    doors.play.as_(GRACE).gate("implementation_review", "passed", task=task)
    doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Stuck.")
    moved(doors, task, NESTED, IN_IT)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.unfinished("gate_fallen", run_of(doors), f"it had not seen that {task} asks something else")


def test_a_text_that_is_wrapped_or_indented_otherwise_and_says_the_same(doors: Doors) -> None:
    """No way: as many items lie in one another as before, and each heading stands alone."""
    old = f"{NESTED}\n{APART}"
    task, run = brought(doors, body=old), doors.play.run("Ship the login", body=old)
    doors.landed()
    for record in (task, run):
        moved(doors, record, "  - old", "     - old")
        moved(doors, record, "accounts.\n## To", "accounts.\n\n## To")
        moved(doors, record, "Refuse empty passwords.\n- Log", "Refuse empty\n  passwords.\n- Log")
    claim = doors.play.claimed(task)
    moved(doors, task, "     - old", "  - old")
    doors.play.complete(claim, doors.play.evidence(task))
    assert doors.play.is_proven(task)
    doors.sound("D007")
