"""Main asks for more while a branch is under way: who may gives it again, and what others gave before that is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import dispatches, evidences, plans, runs, tasks
from tests.cheats.forging import ADA, GATE, GRACE, MAIN
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

APPROVERS = f"  plan: {{approvers: ['{GRACE}']}}\n"
JUDGES = f"  gates: {{verdicts: {{{GATE}: ['{GRACE}']}}, waivers: ['{GRACE}']}}\n"
NO_SPIKE = "  spike: {dispatches: 0}\n"


def planned(doors: Doors, title: str = "P") -> tuple[str, str]:
    """Start a run on the branch with a plan that Ada approves; return both."""
    run = doors.play.run("Hash all passwords")
    plan = str(doors.play.do(plans.draft_plan, title, "Do it.", run=run))
    doors.play.do(plans.approve_plan, plan)
    return run, plan


def fixes(doors: Doors, code: str) -> list[str]:
    return [row["fix"] for row in doors.check("--base", MAIN)[1] if row["code"] == code]


def again(doors: Doors, task: str) -> None:
    doors.play.do(tasks.reopen_task, task, reason="On another plan.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))


def test_a_plan_is_approved_again_by_who_may_now(doors: Doors) -> None:
    run, plan = planned(doors)
    doors.play.proven(run=run)
    doors.policy(APPROVERS)
    assert f"{plan} was approved by {ADA}" in doors.caught("P003")
    assert fixes(doors, "P003") == [f"let {GRACE} approve it: memento plan approve {plan}"]
    assert [*doors.accepted("plan approve", plan=plan, actor=GRACE)]
    doors.refused("plan_already_canonical", "plan approve", plan=plan, actor=GRACE)
    doors.sound()


def test_work_on_a_plan_that_main_had_from_who_may_not(doors: Doors) -> None:
    """Ada approved it on main before policy there named Grace: nothing more rests on her word alone."""
    [run] = doors.play.ledger.view().runs()
    plan = doors.play.state(run).canonical
    task = doors.play.task(run=run)
    doors.policy(APPROVERS)
    why = f"plan {plan} was approved by {ADA}: policy names {GRACE}"
    assert why in doors.refused("plan_unapproved", "dispatch create", task=task, executor="agent")
    row = doors.task(task)
    assert (row["ready"], row["held_back"]["error"]) == (False, "plan_unapproved")
    steps = doors.answer("status", "--run", run)["next"]
    assert {"why": why, "command": f"memento plan approve {plan}"} in steps
    doors.forge(task, "dispatched", plan=plan, executor="agent")
    assert why in doors.caught("P003")
    assert fixes(doors, "P003") == [f"let {GRACE} approve it: memento plan approve {plan}"]
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    assert doors.answer("status", "--run", run)["plans"][0]["unapproved"] is None
    doors.sound()


@pytest.mark.parametrize("release", ["", "  release: {approvals: 1}\n"])
def test_the_end_of_a_run_whose_plan_who_may_not_had_approved(doors: Doors, release: str) -> None:
    """Its work was done before policy named who approves: the run ends, or is released, by the word of who may."""
    [run] = doors.play.ledger.view().runs()
    plan = doors.play.state(run).canonical
    git(doors.root, "switch", "-q", MAIN)
    doors.play.proven(run=run)
    git(doors.root, "switch", "-q", "work")
    git(doors.root, "merge", "-q", MAIN)
    doors.policy(APPROVERS + release)
    doors.play.do(evidences.approve, run)
    why = f"plan {plan} was approved by {ADA}: policy names {GRACE}"
    steps = [row["command"] for row in doors.answer("status", "--run", run)["next"]]
    assert (f"memento plan approve {plan}" in steps, f"memento run complete {run}" in steps) == (True, False)
    if not release:
        doors.unfinished("plan_unapproved", run, why)
        return
    doors.unreleased(run, why)
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    doors.sound()


def test_another_plan_takes_the_place_of_one_that_who_may_not_approved(doors: Doors) -> None:
    """Way: what was handed out on that stays; no way: it is taken back, and done anew."""
    run, plan = planned(doors)
    task = doors.play.proven(run=run)
    doors.policy(APPROVERS)
    other = str(doors.play.do(plans.draft_plan, "Another", "Do it.", run=run))
    doors.play.as_(GRACE).do(plans.approve_plan, other)
    assert f"{plan} was approved by {ADA}" in doors.caught("P003")
    assert "memento task reopen" in fixes(doors, "P003")[0]
    again(doors, task)
    assert f"{plan} was approved by {ADA}" in doors.warned("P003")
    assert fixes(doors, "P003") == [f"{plan} does not hold any more"]


def test_a_gate_is_judged_again_by_who_may_now(doors: Doors) -> None:
    run, _ = planned(doors)
    doors.play.proven(run=run)
    doors.play.gate(GATE, "failed", run=run, reason="Slow.")
    doors.play.gate(GATE, "waived", run=run, reason="Fast enough.")
    doors.policy(JUDGES)
    told = doors.caught("G002")
    assert f"waived by {ADA}" in told
    assert f"let {GRACE} do so: memento gate waive {GATE} --run {run} --reason WHY" in fixes(doors, "G002")
    doors.play.as_(GRACE).gate(GATE, "waived", run=run, reason="Fast enough.")
    doors.sound()


def test_a_failure_by_who_may_not_now_is_judged_by_who_may(doors: Doors) -> None:
    run, _ = planned(doors)
    doors.play.gate(GATE, "failed", run=run, reason="Slow.")
    doors.policy(JUDGES)
    doors.caught("G002")
    assert fixes(doors, "G002") == [f"let {GRACE} judge it: memento gate record {GATE} VERDICT --run {run}"]
    doors.play.as_(GRACE).gate(GATE, "failed", run=run, reason="It is slow.")
    doors.warned("G002")
    doors.play.as_(GRACE).gate(GATE, "passed", run=run)
    doors.sound()


def test_work_goes_on_from_a_waiver_by_who_may_not(doors: Doors) -> None:
    """Way: it lifted a failure, so that work could be handed out; that the gate fails once more comes too late."""
    doors.policy(JUDGES)
    run, _ = planned(doors)
    task = doors.play.task(run=run)
    doors.play.as_(GRACE).gate(GATE, "failed", run=run, reason="Slow.")
    doors.forge(run, "waived", gate=GATE, reason="Fast enough.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.as_(GRACE).gate(GATE, "failed", run=run, reason="Still slow.")
    assert f"gate {GATE} of {run} was waived by {ADA}" in doors.caught("G002")
    doors.play.do(tasks.reopen_task, task, reason="The gate has failed.")
    doors.warned("G002")


def test_work_that_no_verdict_held_up_does_not_rest_on_a_waiver_by_who_may_not(doors: Doors) -> None:
    """No way: nothing had failed when it was handed out, so the waiver lifted nothing, and a later failure counts."""
    doors.policy(JUDGES)
    run, _ = planned(doors)
    task = doors.play.task(run=run)
    doors.forge(run, "waived", gate=GATE, reason="Fast enough.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.as_(GRACE).gate(GATE, "failed", run=run, reason="Slow.")
    doors.warned("G002")


def test_a_run_is_completed_on_a_pass_by_who_may_not(doors: Doors) -> None:
    """Way: the one who may passes it beside the completion, as if that had not been seen."""
    doors.policy(JUDGES)
    run, _ = planned(doors)
    doors.play.proven(run=run)
    own = doors.forge(run, "passed", gate=GATE)
    doors.refused("gate_fallen", "run complete", run=run)
    doors.forge(run, "completed")
    doors.forge(run, "passed", gate=GATE, by=GRACE, sees=[own])
    assert f"gate {GATE} of {run} was passed by {ADA}" in doors.caught("G002")


@pytest.mark.parametrize("verdict", ["passed", "waived"])
def test_a_run_is_completed_on_a_verdict_from_before_policy_named_anybody(doors: Doors, verdict: str) -> None:
    """Way: the gate was passed, or waived, in a request before main asked who does so; no way: who may does so."""
    run, _ = planned(doors)
    task = doors.play.proven(run=run)
    options: dict[str, Any] = {"passed": {"evidence": [doors.play.evidence(task)]}, "waived": {"reason": "Looked at."}}
    doors.play.gate(GATE, verdict, run=run, **options[verdict])
    doors.landed()
    doors.policy(JUDGES)
    doors.sound("G002")
    told = [row["command"] for row in doors.answer("status", "--run", run)["next"]]
    assert any(command.startswith(f"memento gate record {GATE}") for command in told), told
    doors.unfinished("gate_fallen", run, f"it is by {ADA}, and policy names {GRACE}")
    git(doors.root, "reset", "-q", "--hard", MAIN)
    doors.play.as_(GRACE).gate(GATE, "passed", run=run)
    doors.play.do(runs.complete_run, run)
    doors.sound()


@pytest.mark.parametrize("is_done", [False, True])
def test_a_hand_out_without_a_plan_is_taken_back(doors: Doors, *, is_done: bool) -> None:
    options: dict[str, Any] = {"spike": True}
    run = doors.play.run("Try argon2", **options)
    task = doors.play.task(run=run)
    claim = doors.play.claimed(task)
    if is_done:
        doors.play.complete(claim, doors.play.evidence(task))
    doors.policy(NO_SPIKE)
    doors.caught("P006")
    plan = str(doors.play.do(plans.draft_plan, "P", "Do it.", run=run))
    doors.play.do(plans.approve_plan, plan)
    if is_done:
        doors.play.do(tasks.reopen_task, task, reason="It had no plan.")
    else:
        doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="It had no plan.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound()
