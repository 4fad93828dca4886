"""What really happened is made to have no effect: a made-up disagreement, a crossing, a plan or text that goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import dispatches, evidences, gates, plans, releases, runs, settling, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import GATE
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

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
    run = run_of(doors)
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
    run = run_of(doors)
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
    assert opened in doors.caught("D011")


def test_a_plan_that_is_rolled_back_by_a_rejection_of_the_one_after_it(doors: Doors) -> None:
    run = run_of(doors)
    first = doors.last(next(iter(doors.play.state(run).ids("plan"))), "approved")
    strict = doors.play.do(plans.draft_plan, "Strict", "Show more.", run=run)
    doors.play.do(plans.approve_plan, strict)
    yes = doors.last(strict, "approved")
    doors.landed()
    no = doors.forge(strict, "rejected", sees=[first], reason=WHY)
    doors.play.do(settling.settle_record, strict, no, reason=WHY)
    assert yes in doors.caught("D011")


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


def test_verdicts_that_cross_so_that_none_is_the_latest(doors: Doors) -> None:
    """Way: a request that has no effect had seen each pass, so that no pass would be looked at."""
    doors.policy("  gates: {required: [release]}\n  release: {approvals: 2}\n")
    doors.play.proven()
    run = run_of(doors)
    doors.landed()
    failed = [doors.forge(run, "failed", gate="release", sees=[], reason=WHY) for _ in range(2)]
    passed = [doors.forge(run, "passed", gate="release", sees=[seen]) for seen in reversed(failed)]
    for seen in zip(failed, passed, strict=True):
        doors.forge(run, "requested", gate="release", sees=seen)
    assert doors.gate("release") == "passed"
    assert "approvals: 0 of 2" in doors.caught("G004")
    assert "it had not seen" in doors.refused("gate_fallen", "run complete", run=run)


def test_a_plan_that_is_rejected_so_that_nothing_is_asked(doors: Doors) -> None:
    """Way: the plan's own demands would go with it, and what was completed below them would be proven."""
    run = run_of(doors)
    strict = doors.play.do(plans.draft_plan, "Strict", "Show it.", run=run, require=["approval"])
    doors.play.do(plans.approve_plan, strict)
    task = doors.play.task()
    dispatch, shown = doors.play.claimed(task), doors.play.evidence(task)
    doors.landed()
    doors.completed(task, shown, dispatch=dispatch)
    doors.unproven(task, "approval")
    for _ in doors.accepted("plan reject", plan=strict, reason=WHY):
        doors.unproven(task, "no plan is approved any more")
    assert "no plan is approved any more" in doors.caught("P001")
    doors.refused("task_unproven", "run complete", run=run)


def test_an_archive_that_brings_an_easier_text(doors: Doors) -> None:
    """Way: the text is removed, and an archive that says it holds it holds another one."""
    task = doors.play.task(criteria=["The password is hashed."])
    dispatch, shown = doors.play.claimed(task), doors.play.evidence(task)
    run = doors.play.state(task).id
    doors.landed()
    path = doors.path(task)
    easier = (doors.root / path).read_bytes().replace(b"The password is hashed.", b"It runs.")
    doors.remove(path)
    doors.packed(run, {path: easier})
    doors.refused("terms_changed", "dispatch complete", dispatch=dispatch, evidence=[shown])
    doors.completed(task, shown, dispatch=dispatch)
    assert "criteria" in doors.caught("D007")


@pytest.mark.parametrize("of", ["run", "task"])
def test_a_redaction_of_evidence_that_is_written_on_another_record(doors: Doors, of: str) -> None:
    """Way: the state of a task, or of a run, would be that of the evidence."""
    task = doors.play.proven()
    run = doors.play.state(task).id
    (shown,) = doors.play.state(run).ids("evidence")
    doors.play.do(tasks.reopen_task, task, reason="The test was wrong.")
    doors.landed()
    doors.forge({"run": run, "task": task}[of], "redacted", target=str(doors.ref(shown)), reason=WHY)
    assert doors.play.status(task) == "pending"
    assert shown in doors.caught("T002")


def test_the_spike_of_a_run_that_an_archive_brings(doors: Doors) -> None:
    """Way: the text of the run is removed, and an archive says that it may do without a plan."""
    run = run_of(doors)
    doors.landed()
    path = doors.path(run)
    other = (doors.root / path).read_bytes().replace(b"\n---\n", b"\nspike: true\n---\n", 1)
    doors.remove(path)
    doors.packed(run, {path: other})
    assert "spike" in doors.caught("D005")


def test_approvals_that_two_settlings_keep_crosswise(doors: Doors) -> None:
    """Way: each of two settlings would leave the approval that the other keeps without effect, unjudged."""
    doors.policy("  plan: {approvers: [Grace]}\n")
    run = run_of(doors)
    plan = doors.play.do(plans.draft_plan, "Lax", "Do it.", run=run)
    doors.landed()
    text = doors.ref(plan).digest
    yes = [doors.forge(plan, "approved", sees=[], text=text) for _ in range(2)]
    seen = [*yes, doors.forge(plan, "rejected", sees=[], reason=WHY)]
    for kept in yes:
        doors.forge(plan, "settled", sees=seen, keep=kept, reason=WHY)
    assert plan in doors.caught("P003")


def test_a_repair_that_asks_less_and_is_completed_in_a_second_pull_request(doors: Doors) -> None:
    """Way: what was a warning while the repair was open would be taken for wrong at the base already."""
    task = doors.play.task(criteria=["The password is hashed."])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.forge(task, "rejected", unmet=["criterion: The password is hashed."])
    repair = doors.play.do(verifying.repair_task, task)
    doors.edit(repair, "- The password is hashed.\n", "")
    assert "asks less" in doors.warned("P005")
    doors.landed()
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert "asks less" in doors.caught("P005")


def test_a_reopening_on_the_branch_itself_that_is_settled_away(doors: Doors) -> None:
    """Way: nothing of the base is touched; whoever looks at the branch is told whose word has no effect."""
    task = doors.play.proven()
    doors.landed()
    doors.play.as_("Bob").do(tasks.reopen_task, task, reason="The test was wrong.")
    opened = doors.last(task, "reopened")
    yes = doors.forge(task, "accepted", sees=[doors.last(task, "completed")], text=doors.ref(task).digest)
    doors.play.do(settling.settle_record, task, yes, reason=WHY)
    assert f"{opened} (reopened by Bob)" in doors.warned("D011")


def test_work_that_does_not_name_the_release_before_it(doors: Doors) -> None:
    """Way: whoever completes work after a release says that he had not seen it."""
    doors.policy("  gates: {required: [release]}\n")
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(releases.release_run, run=run)
    doors.landed()
    task = doors.play.task()
    plan = doors.play.state(run).canonical
    yes = next(seen.event.id for seen in doors.play.state(run).folded(f"plans:{run}").events if seen.event.of == plan)
    opened = doors.forge(task, "dispatched", sees=[yes], executor="agent", plan=plan)
    dispatch = opened.replace("event", "dispatch", 1)
    claim = doors.forge(task, "claimed", sees=[opened], dispatch=dispatch, until="2099-01-01T00:00:00.000Z")
    told = doors.completion(task, doors.play.evidence(task), dispatch=dispatch)
    doors.forge(task, "completed", sees=[claim], **told)
    assert f"it had not seen that {task} was completed" in doors.refused("gate_fallen", "run complete", run=run)


def test_a_repair_that_does_not_say_any_more_what_it_repairs(doors: Doors) -> None:
    task = doors.play.task(criteria=["The password is hashed."])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.forge(task, "rejected", unmet=["criterion: The password is hashed."])
    repair = doors.play.do(verifying.repair_task, task)
    doors.landed()
    doors.edit(repair, f"repairs: {task}\n", "")
    assert f"repairs of {repair}" in doors.caught("D005")


def test_a_settling_against_the_base_that_a_second_contest_keeps(doors: Doors) -> None:
    """Way: what a settling had taken out lies in its past, and a further one that keeps it would bring that back."""
    run = run_of(doors)
    doors.play.do(runs.cancel_run, run, reason="The customer left.")
    gone = doors.last(run, "cancelled")
    doors.landed()
    pause = doors.forge(run, "paused", sees=[])
    doors.play.do(settling.settle_record, run, pause, reason=WHY)
    first = doors.last(run, "settled")
    assert gone in doors.caught("D011")
    other = doors.forge(run, "cancelled", sees=[], reason=WHY)
    doors.forge(run, "settled", sees=[first, other], keep=first, reason=WHY)
    assert doors.play.status(run) == "paused"
    assert gone in doors.caught("D011")


def test_a_rejection_that_a_second_settling_keeps_for_the_other_candidate_alone(doors: Doors) -> None:
    """Way: what a settling takes out would count as kept, because another one keeps it for what else it wrote."""
    task = doors.play.task(criteria=["It works."])
    one, two = (doors.play.dispatch(task, f"agent-{number}", candidate=True) for number in (1, 2))
    for dispatch in (one, two):
        doors.play.do(dispatches.claim_dispatch, dispatch)
    doors.play.complete(one, doors.play.evidence(task))
    done = doors.last(task, "completed")
    no = doors.forge(task, "rejected", unmet=["criterion: It works."])
    doors.landed()
    yes = doors.forge(task, "accepted", sees=[done], text=doors.ref(task).digest)
    doors.play.do(settling.settle_record, task, yes, reason=WHY)
    first = doors.last(task, "settled")
    assert no in doors.caught("D011")
    told = doors.completion(task, doors.play.evidence(task), dispatch=two)
    again = doors.forge(task, "completed", sees=[done], **told)
    doors.forge(task, "settled", sees=[first, again], keep=no, reason=WHY)
    assert doors.play.status(task) == "accepted"
    assert no in doors.caught("D011")


def test_an_approval_that_is_settled_away_for_the_plan_and_kept_as_what_holds(doors: Doors) -> None:
    """Way: on one of its lanes the approval is undone, and on the other the run goes by it, unjudged."""
    doors.policy("  plan: {approvers: [Grace]}\n")
    run = run_of(doors)
    holds = doors.last(next(iter(doors.play.state(run).ids("plan"))), "approved")
    doors.landed()
    lax, other = (doors.play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("Lax", "Other"))
    yes, again = (
        doors.forge(plan, "approved", sees=[holds], text=doors.ref(plan).digest) for plan in (lax, other)
    )  # fmt: skip
    no = doors.forge(lax, "rejected", sees=[holds], reason=WHY)
    first = doors.forge(lax, "settled", sees=[yes, again], keep=yes, reason=WHY)
    second = doors.forge(lax, "settled", sees=[yes, no], keep=no, reason=WHY)
    doors.forge(lax, "settled", sees=[first, second], keep=first, reason=WHY)
    assert doors.play.state(run).canonical == lax
    assert lax in doors.caught("P003")
