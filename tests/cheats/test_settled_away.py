"""A disagreement that is made up, and settled, so that what really happened has no effect any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import evidences, gates, plans, runs, settling, tasks
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

GATE = "quality_review"
WHY = "It was a slip."


def made_up(doors: Doors, run: str) -> str:
    """Forge a pause and a cancellation that have not seen each other; return the pause."""
    pause = doors.forge(run, "paused", sees=[])
    doors.forge(run, "cancelled", sees=[], reason=WHY)
    return pause


@pytest.mark.parametrize("verdict", ["waived", "passed"])
def test_a_verdict_of_a_gate_before_a_contest_of_the_run_is_judged_as_ever(doors: Doors, verdict: str) -> None:
    """Way: settling which of two states a run has would also take the gate's verdict out of what is looked at."""
    doors.policy(f"  gates: {{required: [{GATE}], waivers: [Grace], verdicts: {{{GATE}: [Grace]}}}}\n")
    doors.play.proven()
    run = next(iter(doors.play.ledger.view().runs()))
    doors.landed()
    doors.forge(run, verdict, gate=GATE, sees=[], **({"reason": WHY} if verdict == "waived" else {}))
    pause = made_up(doors, run)
    doors.play.do(settling.settle_record, run, pause, reason=WHY)
    doors.play.do(runs.resume_run, run)
    assert GATE in doors.caught("G002")


def test_a_gate_holds_on_what_it_rests_on_after_a_contest_of_the_run(doors: Doors) -> None:
    """Way: after an honest contest and its settling, evidence that is retracted would let the gate stand."""
    doors.policy(f"  gates: {{required: [{GATE}]}}\n")
    doors.play.proven()
    run = next(iter(doors.play.ledger.view().runs()))
    shown = doors.play.do(evidences.record_draft, evidences.witness(doors.play.ledger, ["true"], quiet=True), run=run)
    doors.play.do(gates.record_gate, GATE, "passed", run=run, evidence=[shown])
    pause = made_up(doors, run)
    doors.play.do(settling.settle_record, run, pause, reason=WHY)
    doors.play.do(runs.resume_run, run)
    doors.play.do(evidences.retract, shown, reason="It tested nothing.")
    assert GATE in doors.refused("gate_fallen", "run complete", run=run)
    assert GATE in doors.caught("G001")


@pytest.mark.parametrize("how", ["keep", "void"])
def test_a_reopening_that_an_acceptance_says_it_had_not_seen(doors: Doors, how: str) -> None:
    task = doors.play.proven()
    doors.play.do(tasks.reopen_task, task, reason="The test was wrong.")
    opened = doors.last(task, "reopened")
    doors.landed()
    seen = [doors.last(task, "completed")]
    yes = doors.forge(task, "accepted", sees=seen, text=doors.ref(task).digest)
    if how == "keep":
        doors.play.do(settling.settle_record, task, yes, reason=WHY)
    else:
        doors.play.do(settling.void_event, opened, reason=WHY)
    assert opened in doors.caught("D009")


def test_a_plan_that_is_rolled_back_by_a_rejection_of_the_one_after_it(doors: Doors) -> None:
    run = next(iter(doors.play.ledger.view().runs()))
    first = doors.last(next(iter(doors.play.state(run).ids("plan"))), "approved")
    strict = doors.play.do(plans.draft_plan, "Strict", "Show more.", run=run)
    doors.play.do(plans.approve_plan, strict)
    yes = doors.last(strict, "approved")
    doors.landed()
    no = doors.forge(strict, "rejected", sees=[first], reason=WHY)
    doors.play.do(settling.settle_record, strict, no, reason=WHY)
    assert yes in doors.caught("D009")


def test_what_the_base_holds_is_kept_and_acted_on_again(doors: Doors) -> None:
    """The honest way: two branches disagree, the base's side is kept, and what the branch wants is done after it."""
    task = doors.play.proven()
    doors.landed()
    git(doors.root, "switch", "-q", "main")
    doors.play.do(tasks.reopen_task, task, reason="The test was wrong.")
    opened = doors.last(task, "reopened")
    git(doors.root, "switch", "-q", "work")
    doors.forge(task, "accepted", text=doors.ref(task).digest)
    git(doors.root, "merge", "-q", "--no-edit", "main")
    assert task in doors.caught("T001")
    doors.play.do(settling.settle_record, task, opened, reason=WHY)
    doors.sound()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound()
    assert doors.task(task)["proven"]
