"""Hand-outs and completions that rest on what lacks the signature that policy demands, and was there before them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import dispatches, evidences, plans
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.play import git, merge_into
from tests.test_signatures import Office

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

UNSIGNED = "was approved without the signature it needs: it is not signed"
REQUIRE = "policy: {require: [approval], signatures: {allowed_signers: .memento/allowed_signers, ledger: ada/shop, \
revoked: .memento/revoked, require: {approvals: []}}}\n"


@pytest.fixture
def office(doors: Doors, tmp_path: Path) -> Office:
    """A policy that demands signatures of what was approved without any, on both branches."""
    git(doors.root, "switch", "-q", MAIN)
    office = Office(doors.play, tmp_path)
    back(doors)
    return office


def back(doors: Doors) -> None:
    """Let the branch have all that is on `main`."""
    merge_into(doors.root, WORK, MAIN)


def handed_out(doors: Doors, task: str) -> str:
    """Write by hand that a task is handed out on the canonical plan; return the dispatch."""
    event = doors.forge(task, "dispatched", executor="agent", plan=doors.play.state(task).canonical)
    return event.replace("event", "dispatch", 1)


@pytest.mark.usefixtures("office")
def test_a_hand_out_on_a_plan_whose_approval_must_be_signed_by_now(doors: Doors) -> None:
    """Way: nothing that the branch adds must be signed, and the completion is on a hand-out that nobody made."""
    task = doors.play.task()
    doors.landed()
    assert UNSIGNED in doors.refused("signature_required", "dispatch create", task=task, executor="agent")
    dispatch = handed_out(doors, task)
    assert UNSIGNED in doors.caught("K001")
    doors.play.do(dispatches.claim_dispatch, dispatch)
    doors.play.complete(dispatch, doors.play.evidence(task))
    assert UNSIGNED in doors.caught("K001")


def test_a_hand_out_on_a_gate_whose_waiver_must_be_signed_by_now(doors: Doors, office: Office) -> None:
    task = doors.play.task()
    plan = doors.play.state(task).canonical
    doors.play.do(plans.approve_plan, plan, key=str(office.ada))
    doors.forge(task, "waived", gate="quality_review", reason="No time.")
    fell = "without the signature that policy demands: it is not signed"
    assert [row["fallen"] for row in doors.answer("gate", "list")["gates"]] == [fell]
    assert fell in json.dumps(doors.answer("diff", f"{MAIN}..{WORK}"))
    doors.landed()
    handed_out(doors, task)
    why = f"gate quality_review of {task} has been waived without the signature it needs"
    assert why in doors.caught("K001")


def lifted(doors: Doors, office: Office, task: str, verdict: str, gate: str, key: str = "") -> str:
    """Fail a gate of the run, lift that by hand or with a key, and ask for the gate once more; return the run."""
    state = doors.play.state(task)
    doors.play.do(plans.approve_plan, state.canonical, key=str(office.ada))
    doors.play.gate(gate, "failed", reason="Unsafe.")
    told = {"reason": "Never mind."} if verdict == "waived" else {}
    if key:
        doors.play.gate(gate, verdict, run=state.id, key=key, **told)
    else:
        doors.forge(state.id, verdict, gate=gate, **told)
    doors.landed()
    return state.id


@pytest.mark.parametrize(("verdict", "gate"), [("waived", "plan_review"), ("passed", "final_acceptance")])
def test_a_failed_gate_that_is_asked_for_again_in_the_place_of_what_must_be_signed(
    doors: Doors, office: Office, verdict: str, gate: str
) -> None:
    """Way: what lifted the failure is not looked at once the gate is open, and an open gate stops nobody."""
    task = doors.play.task()
    run = lifted(doors, office, task, verdict, gate)
    why = "without the signature it needs"
    assert why in doors.refused("signature_required", "dispatch create", task=task, executor="agent")
    for _ in doors.accepted("gate record", gate=gate, verdict="requested", run=run):
        assert why in doors.refused("signature_required", "dispatch create", task=task, executor="agent")
    handed_out(doors, task)
    assert why in doors.caught("K001")


@pytest.mark.parametrize(("verdict", "gate"), [("waived", "plan_review"), ("passed", "final_acceptance")])
def test_a_hand_out_on_what_must_be_signed_before_the_gate_fails_once_more(
    doors: Doors, office: Office, verdict: str, gate: str
) -> None:
    """Way: what lifted the failure is over once the gate has failed again, and the work goes on from it."""
    task = doors.play.task()
    run = lifted(doors, office, task, verdict, gate)
    dispatch = handed_out(doors, task)
    doors.play.do(dispatches.claim_dispatch, dispatch)
    doors.play.complete(dispatch, doors.play.evidence(task))
    doors.play.gate(gate, "failed", run=run, reason="Unsafe.")
    assert "without the signature it needs" in doors.caught("K001")


def test_a_hand_out_on_what_was_signed_before_the_gate_fails_once_more(doors: Doors, office: Office) -> None:
    """The honest way: what the work rests on was signed, and the gate fails again, or the plan goes."""
    task, other = doors.play.task("One"), doors.play.task("Two")
    run = lifted(doors, office, task, "waived", "plan_review", key=str(office.ada))
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.play.claimed(other)
    doors.play.gate("plan_review", "failed", run=run, reason="Unsafe.")
    doors.sound()
    doors.play.do(plans.reject_plan, doors.play.state(task).canonical, reason="Another one comes.")
    assert "K001" not in {row["code"] for row in doors.check("--base", MAIN)[1]}


@pytest.mark.usefixtures("office")
def test_a_hand_out_on_a_plan_that_must_be_signed_and_is_rejected_then(doors: Doors) -> None:
    """Way: no plan holds any more, so that nothing is asked of one, until another takes its place."""
    task = doors.play.task()
    doors.landed()
    handed_out(doors, task)
    doors.play.do(plans.reject_plan, doors.play.state(task).canonical, reason="Another one comes.")
    assert UNSIGNED in doors.caught("K001")


def test_a_failed_gate_that_is_asked_for_again_after_a_signed_waiver(doors: Doors, office: Office) -> None:
    """The honest way; and where nothing failed, a gate that is open asks for nothing."""
    task = doors.play.task()
    run = lifted(doors, office, task, "waived", "plan_review", key=str(office.ada))
    doors.forge(run, "waived", gate="quality_review", reason="No time.")
    doors.landed()
    for gate in ("plan_review", "quality_review"):
        doors.play.gate(gate, "requested", run=run)
    doors.play.claimed(task)
    doors.sound()


def test_a_hand_out_whose_plan_is_gone(doors: Doors, office: Office) -> None:
    task = doors.play.task()
    plan = doors.play.state(task).canonical
    doors.play.do(plans.approve_plan, plan, key=str(office.ada))
    doors.landed()
    handed_out(doors, task)
    doors.remove(doors.path(plan))
    doors.caught("D006")


def test_work_that_was_handed_out_before_policy_demanded_signatures(doors: Doors, tmp_path: Path) -> None:
    """The honest way: it is completed; what is handed out afterwards waits for a signature, or is taken back."""
    task, other = doors.play.task("One"), doors.play.task("Two")
    claim = doors.play.claimed(task)
    doors.landed()
    git(doors.root, "switch", "-q", MAIN)
    office = Office(doors.play, tmp_path)
    back(doors)
    doors.play.complete(claim, doors.play.evidence(task))
    doors.sound()
    handed = handed_out(doors, other)
    doors.caught("K001")
    doors.play.do(dispatches.recover_dispatch, handed, force=True, reason="It was not signed.")
    doors.sound()
    doors.play.do(plans.approve_plan, doors.play.state(task).canonical, key=str(office.ada))
    doors.play.complete(doors.play.claimed(other), doors.play.evidence(other))
    doors.sound()


def approved(doors: Doors, office: Office) -> tuple[str, str]:
    """Let a task be approved on the main branch, with a signature, as policy asks; return it and the approval."""
    office.write(f"version: 1\n{REQUIRE}")
    task = doors.play.task()
    yes = str(doors.play.as_(GRACE).do(evidences.approve, task, key=str(office.grace)))
    doors.landed()
    return task, yes


def revoked(doors: Doors, office: Office) -> None:
    git(doors.root, "switch", "-q", MAIN)
    office.revoke(office.grace)
    back(doors)


def test_a_task_on_an_approval_whose_key_is_revoked(doors: Doors, office: Office) -> None:
    task, yes = approved(doors, office)
    revoked(doors, office)
    claim, test = doors.play.claimed(task), doors.play.evidence(task)
    why = f"task {task} rests on {yes} without the signature it needs: its key is revoked"
    assert why in doors.refused("signature_required", "dispatch complete", dispatch=claim, evidence=[yes, test])
    doors.completed(task, yes, test, dispatch=claim)
    assert doors.play.is_proven(task)
    assert why in doors.caught("K001")
    assert [one.startswith(why) for one in doors.task(task)["unsigned"]] == [True]
    for shown in (["task", "show", task], ["diff", f"{MAIN}..{WORK}"], ["report"]):
        assert why in json.dumps(doors.answer(*shown)), shown
    assert why in doors.denied("evidence_not_attestable", "evidence", "export", "--task", task)


def test_a_task_that_is_accepted_on_an_approval_whose_key_is_revoked(doors: Doors, office: Office) -> None:
    task, yes = approved(doors, office)
    doors.play.complete(doors.play.claimed(task), yes, doors.play.evidence(task))
    doors.landed()
    revoked(doors, office)
    why = f"task {task} rests on {yes} without the signature it needs: its key is revoked"
    assert why in doors.refused("signature_required", "task verify", task=task)
    doors.forge(task, "accepted", text=doors.ref(task).digest, evidence=[str(doors.ref(yes))])
    assert why in doors.caught("K001")


def test_a_task_on_such_an_approval_that_has_a_failed_gate_meanwhile(doors: Doors, office: Office) -> None:
    """Way: anybody fails a gate of the task after it was completed, and passes it in the next request."""
    task, yes = approved(doors, office)
    revoked(doors, office)
    doors.completed(task, yes, doors.play.evidence(task), dispatch=doors.play.claimed(task))
    doors.play.gate("quality_review", "failed", task=task, reason="Never mind.")
    assert f"task {task} rests on {yes} without the signature it needs: its key is revoked" in doors.caught("K001")


def test_a_task_on_an_approval_whose_key_counts(doors: Doors, office: Office) -> None:
    """The honest way."""
    task, yes = approved(doors, office)
    doors.play.complete(doors.play.claimed(task), yes, doors.play.evidence(task))
    doors.sound()
    assert doors.task(task)["unsigned"] == []
    assert doors.answer("evidence", "export", "--task", task)
