"""Tasks that are done by another's hand, on easier terms than they were given out, or on a verdict of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import dispatches, evidences, plans, runs, selections, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import MAIN
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

BOB = "Bob"
HARD = ["It refuses empty passwords.", "It says why."]
ASKED: dict[str, Any] = {"commands": ["python3 check.py"]}


def test_completing_what_another_claimed(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    doors.refused("not_claimant", "dispatch complete", actor=BOB, dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim, by=BOB)
    assert doors.task(task)["status"] == "in_progress"
    doors.caught("T002")


def test_completing_what_nobody_claimed(doors: Doors) -> None:
    task = doors.play.task()
    handed, evidence = doors.play.dispatch(task), doors.play.evidence(task)
    doors.refused("dispatch_not_claimed", "dispatch complete", dispatch=handed, evidence=[evidence])
    doors.completed(task, evidence, dispatch=handed)
    assert doors.task(task)["status"] == "dispatched"
    doors.caught("T002")


def test_completing_a_hand_off_that_never_was(doors: Doors) -> None:
    task = doors.play.task()
    evidence = doors.play.evidence(task)
    nobody = "dispatch_000000000000"
    doors.refused("dispatch_not_found", "dispatch complete", dispatch=nobody, evidence=[evidence])
    doors.completed(task, evidence, dispatch=nobody)
    assert doors.task(task)["status"] == "pending"
    doors.caught("T002")


def test_claiming_what_another_holds(doors: Doors) -> None:
    task = doors.play.task()
    claim = doors.play.claimed(task)
    doors.refused("dispatch_already_claimed", "dispatch claim", actor=BOB, dispatch=claim)
    doors.forge(task, "claimed", by=BOB, dispatch=claim, until="2099-01-01T00:00:00.000Z")
    assert doors.answer("status")["dispatches"][0]["claimed_by"] != BOB
    doors.caught("T002")


def test_claiming_as_if_the_others_claim_had_not_been_seen(doors: Doors) -> None:
    task = doors.play.task()
    claim = doors.play.claimed(task)
    doors.landed()
    doors.refused("dispatch_already_claimed", "dispatch claim", actor=BOB, dispatch=claim)
    handed = doors.last(task, "dispatched")
    mine = doors.forge(
        task, "claimed", sees=[handed], by=BOB, dispatch=claim, until="2099-01-01T00:00:00.000Z",
    )  # fmt: skip
    doors.completed(task, doors.play.evidence(task), dispatch=claim, by=BOB, sees=[mine])
    assert doors.task(task)["status"] == "contested"
    assert doors.missing() == [f"task {task} is contested"]
    doors.caught("T001")


def test_claiming_an_expired_claim(doors: Doors) -> None:
    """Who wants an expired claim recovers it, which anybody sees; nobody simply takes it."""
    task = doors.play.task()
    handed = doors.play.dispatch(task)
    doors.forge(task, "claimed", dispatch=handed, until="2020-01-01T00:00:00.000Z")
    doors.refused("dispatch_already_claimed", "dispatch claim", actor=BOB, dispatch=handed)
    doors.forge(task, "claimed", by=BOB, dispatch=handed, until="2099-01-01T00:00:00.000Z")
    doors.caught("T002")


def test_completing_what_was_recovered(doors: Doors) -> None:
    task = doors.play.task()
    claim, evidence = doors.play.claimed(task), doors.play.evidence(task)
    before = doors.last(task, "claimed")
    doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Gone.")
    doors.landed()
    doors.refused("dispatch_terminal", "dispatch complete", dispatch=claim, evidence=[evidence])
    late = doors.completed(task, evidence, dispatch=claim)
    assert doors.task(task)["status"] == "pending"
    doors.caught("T002")
    git(doors.root, "rm", "-q", doors.path(late))
    doors.completed(task, evidence, dispatch=claim, sees=[before])
    assert doors.task(task)["status"] == "contested"
    doors.caught("T001")


@pytest.mark.parametrize("status", ["pending", "rejected"])
def test_accepting_by_hand_what_is_not_completed(doors: Doors, status: str) -> None:
    task = doors.play.task(**ASKED)
    if status == "rejected":
        doors.completed(task, doors.play.evidence(task))
        doors.play.do(verifying.verify_task, task)
    doors.refused("task_transition", "task verify", task=task)
    doors.forge(task, "accepted", text=doors.ref(task).digest)
    assert doors.task(task)["status"] == status
    doors.caught("T002")


def test_accepting_by_hand_what_is_not_proven(doors: Doors) -> None:
    task = doors.play.task(**ASKED)
    doors.completed(task, doors.play.evidence(task))
    doors.forge(task, "accepted", text=doors.ref(task).digest)
    assert doors.task(task)["status"] == "accepted"
    doors.unproven(task, "`python3 check.py`, which has no witnessed pass for this code")
    doors.caught("P001")


def test_accepting_by_hand_as_if_the_rejection_had_not_been_seen(doors: Doors) -> None:
    task = doors.play.task(**ASKED)
    done = doors.completed(task, doors.play.evidence(task))
    doors.play.do(verifying.verify_task, task)
    doors.landed()
    doors.forge(task, "accepted", sees=[done], text=doors.ref(task).digest)
    assert doors.task(task)["status"] == "contested"
    doors.caught("T001")


def test_reopening_without_a_reason(doors: Doors) -> None:
    task = doors.play.proven()
    doors.refused("reason_required", "task reopen", task=task)
    doors.forge(task, "reopened")
    doors.caught("F002")


def test_reopening_does_not_bring_an_old_completion_back(doors: Doors) -> None:
    """Criteria are made harder, the task is reopened, and the completion of before is to count for them."""
    play = doors.play
    task = play.proven()
    done, evidence = doors.last(task, "completed"), play.state(task).ids("evidence")[0]
    play.do(tasks.reopen_task, task, reason="More is asked.")
    play.do(tasks.revise_task, task, criteria=HARD)
    doors.landed()
    doors.forge(task, "accepted", text=doors.ref(task).digest, evidence=[str(doors.ref(evidence))])
    assert doors.task(task)["status"] == "pending"
    doors.caught("T002")
    doors.remove(doors.last(task, "accepted"))
    doors.forge(task, "accepted", sees=[done], text=doors.ref(task).digest, evidence=[str(doors.ref(evidence))])
    assert doors.task(task)["status"] == "contested"
    doors.caught("T001")


def test_criteria_that_are_weakened_after_the_task_was_done(doors: Doors) -> None:
    task = doors.play.proven(criteria=HARD)
    doors.landed()
    doors.edit(task, HARD[1], "It runs.")
    doors.unproven(task, "the task's text changed after it was completed")
    assert "unproven by it" in doors.warned("D007")


def test_criteria_that_are_weakened_between_hand_out_and_completion(doors: Doors) -> None:
    task = doors.play.task(criteria=HARD)
    claim = doors.play.claimed(task)
    doors.landed()
    doors.edit(task, HARD[1], "It runs.")
    evidence = doors.play.evidence(task)
    doors.refused("terms_changed", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim)
    assert f"{task} was in_progress when its criteria changed" in doors.caught("D007")


def test_verification_that_is_taken_out_of_a_task_after_it_was_handed_out(doors: Doors) -> None:
    task = doors.play.task(**ASKED)
    claim = doors.play.claimed(task)
    doors.landed()
    text = doors.file(task).read_text()
    start, end = text.index("verify:"), text.index("\n---\n")
    doors.write(doors.path(task), text[:start].rstrip("\n") + text[end:])
    evidence = doors.play.evidence(task)
    doors.refused("terms_changed", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.completed(task, evidence, dispatch=claim)
    assert f"{task} was in_progress when its verify changed" in doors.caught("D007")


def handed_out_anew(doors: Doors, old: str, new: str) -> None:
    """Complete a task that is under way at the base, handed out anew on another text."""
    task = doors.play.task(criteria=HARD, require=["test"])
    claim = doors.play.claimed(task)
    doors.landed()
    doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Other terms.")
    doors.edit(task, old, new)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))


def test_a_task_that_is_handed_out_anew_on_its_new_text_is_no_cheat(doors: Doors) -> None:
    handed_out_anew(doors, HARD[1], "It runs.")
    assert f"less is asked by it: criterion {HARD[1]!r}" in doors.warned("D007")


def test_a_task_that_is_handed_out_anew_on_a_text_that_asks_less_proof(doors: Doors) -> None:
    handed_out_anew(doors, "verify:\n  evidence:\n  - test\n", "")
    assert "less is asked by it: the task asks for test evidence" in doors.caught("D007")


def test_a_plan_whose_demands_are_edited_away_after_its_approval(doors: Doors) -> None:
    play = doors.play
    task = play.task()
    plan = play.do(plans.draft_plan, "Careful", "Check it.", run=play.state(task).id, **ASKED)
    play.do(plans.approve_plan, plan)
    doors.landed()
    claim, evidence = play.claimed(task), play.evidence(task)
    doors.completed(task, evidence, dispatch=claim)
    doors.unproven(task, "`python3 check.py`, which has no witnessed pass for this code")
    text = doors.file(plan).read_text()
    start, end = text.index("verify:"), text.index("\n---\n")
    doors.write(doors.path(plan), text[:start].rstrip("\n") + text[end:])
    doors.unproven(task, f"{plan} was changed after its approval")
    doors.caught("P002", "P001")
    doors.refused("plan_changed", "dispatch create", task=play.task("Two"), executor="agent")


@pytest.mark.parametrize("what", ["criteria", "verify"])
def test_a_repair_that_asks_less_than_what_it_repairs(doors: Doors, what: str) -> None:
    play = doors.play
    task = play.task(criteria=HARD, **ASKED)
    doors.completed(task, play.evidence(task))
    play.do(verifying.verify_task, task)
    doors.landed()
    repair = play.do(verifying.repair_task, task)
    if what == "criteria":
        doors.edit(repair, f"- {HARD[1]}\n", "")
    else:
        text = doors.file(repair).read_text()
        start, end = text.index("verify:"), text.index("repairs:")
        doors.write(doors.path(repair), text[:start] + text[end:])
    good = doors.witness(repair)
    play.complete(play.claimed(repair), good)
    assert f"{repair} repairs {task}, and asks less" in doors.caught("P005")


def test_a_rejected_task_that_is_cancelled_by_hand_with_nothing_in_its_place(doors: Doors) -> None:
    """A run may go without a task, and shows it as cancelled; what depended on it still waits."""
    play = doors.play
    task = play.task(**ASKED)
    after = play.task("After", depends_on=[task])
    doors.completed(task, play.evidence(task))
    play.do(verifying.verify_task, task)
    doors.forge(task, "cancelled", reason="Not needed.")
    assert doors.task(task)["status"] == "cancelled"
    doors.refused("dependency_open", "dispatch create", task=after, executor="agent")
    doors.sound()
    doors.unfinished("task_unsettled", play.state(task).id, f"{after} is pending")


def test_evidence_of_one_candidate_for_another(doors: Doors) -> None:
    play = doors.play
    task = play.task()
    first, second = play.dispatch(task, candidate=True), play.dispatch(task, candidate=True)
    play.do(dispatches.claim_dispatch, first)
    play.as_(BOB).do(dispatches.claim_dispatch, second)
    draft = evidences.witness(play.ledger, ["python3", "check.py"], kind="test", quiet=True)
    evidence = str(play.do(evidences.record_draft, draft, dispatch=first))
    doors.refused("evidence_required", "dispatch complete", actor=BOB, dispatch=second, evidence=[evidence])
    doors.completed(task, evidence, dispatch=second, by=BOB)
    doors.unproven(task, f"{evidence} came from another dispatch")
    doors.caught("P001")
    assert all(one.reasons for one in selections.rank_candidates(play.ledger.view(), task).ranked)
    doors.refused("no_candidate", "dispatch select", task=task)


def test_choosing_a_candidate_that_was_not_completed(doors: Doors) -> None:
    play = doors.play
    task = play.task()
    first, second = play.dispatch(task, candidate=True), play.dispatch(task, candidate=True)
    for claim, actor in ((first, "Ann"), (second, BOB)):
        play.as_(actor).do(dispatches.claim_dispatch, claim)
    play.as_("Ann").complete(first, play.evidence(task))
    doors.refused("candidate_refused", "dispatch select", task=task, dispatch=second, reason="Mine.")
    doors.forge(task, "selected", dispatch=second, reason="Mine.", scores={second: 100})
    doors.caught("T002")
    assert doors.task(task)["selected_dispatch_id"] is None


def test_work_that_is_done_before_what_it_depends_on(doors: Doors) -> None:
    play = doors.play
    first = play.task("First")
    after = play.task("After", depends_on=[first])
    doors.refused("dependency_open", "dispatch create", task=after, executor="agent")
    plan = play.state(after).canonical
    state = play.state(after)
    sees = list(state.folded(f"plans:{state.id}").heads)
    handed = doors.forge(after, "dispatched", sees=sees, executor="agent", plan=plan).replace("event", "dispatch")
    doors.forge(after, "claimed", dispatch=handed, until="2099-01-01T00:00:00.000Z")
    doors.completed(after, play.evidence(after), dispatch=handed)
    assert f"{first}, which it depends on, is not done and proven" in doors.caught("T006")
    assert any(f"task {first} is pending" in one for one in doors.missing())


def test_work_without_a_plan_that_anybody_approved(doors: Doors) -> None:
    play = doors.play
    run = play.run("Without a plan")
    task = play.task(run=run)
    doors.refused("canonical_plan_required", "dispatch create", task=task, executor="agent")
    doors.forge(task, "dispatched", sees=[], executor="agent")
    assert doors.task(task)["status"] == "pending"
    doors.caught("T002")


def test_a_candidate_that_is_chosen_as_if_the_acceptance_had_not_been_seen(doors: Doors) -> None:
    """Way: the acceptance judged the other one, and lends its evidence to whichever is chosen."""
    doors.policy("  verify: [{commands: [{run: [python3, check.py]}]}]\n")
    task = doors.play.task()
    good, bad = (doors.play.dispatch(task, f"agent-{number}", candidate=True) for number in (1, 2))
    for dispatch in (good, bad):
        doors.play.do(dispatches.claim_dispatch, dispatch)
    proof = doors.witness(task)
    doors.play.complete(good, proof)
    doors.play.complete(bad, doors.play.evidence(task))
    done = doors.last(task, "completed")
    doors.forge(task, "accepted", text=doors.ref(task).digest, evidence=[str(doors.ref(proof))])
    assert doors.play.is_proven(task)
    doors.landed()
    doors.forge(task, "selected", sees=[done], dispatch=bad, reason="better", scores={bad: 1})
    doors.unproven(task, "policy asks for `python3 check.py`")
    doors.caught("P001")


def test_a_plan_that_asks_less_than_the_one_that_a_task_was_handed_out_on(doors: Doors) -> None:
    run = run_of(doors)
    strict = doors.play.do(plans.draft_plan, "Strict", "Do it.", run=run, require=["lint"])
    doors.play.do(plans.approve_plan, strict)
    doors.play.claimed(doors.play.task())
    doors.landed()
    lax = doors.play.do(plans.draft_plan, "Lax", "Do it.", run=run)
    doors.play.do(plans.approve_plan, lax)
    assert f"{lax} took the place of {strict}, and asks less: " in doors.warned("D007")


@pytest.mark.parametrize("was", ["pending", "rejected"])
def test_work_that_is_called_off_before_its_run_is_completed(doors: Doors, was: str) -> None:
    """Anybody may call it off; who reviews that is told, and so is told by the diff."""
    doors.play.proven()
    task = doors.play.task("The hard part")
    if was == "rejected":
        doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
        doors.forge(task, "rejected", unmet=["It is slow."])
    doors.landed()

    doors.play.do(tasks.cancel_task, task, reason="Not now.")
    [run] = doors.play.ledger.view().runs()
    assert doors.play.do(runs.complete_run) == run

    why = f"{run} is completed without {task} (“The hard part”), which the branch cancelled: Not now."
    assert why in doors.warned("P004")
    shown = doors.cli("diff", MAIN, "-C", str(doors.root))[1]
    assert f"task {task} The hard part\n    {was} → cancelled by Ada: Not now." in shown
