"""The table: what each verb does in each state, and the token of each refusal."""

from __future__ import annotations

from typing import Any

import pytest

from memento_git.folding.fold import Fold
from memento_git.folding.lanes import task_status
from memento_git.work.transitions import judge
from tests.tale import BOB, OTHER, PLAN, PLAN2, PROOF, RUN, TASK, Tale, handoff, planned

LEGAL = ("legal", "")

TASK_STATES = ("pending", "dispatched", "in_progress", "completed", "accepted", "rejected", "blocked", "cancelled")
TASK_VERBS = {
    "blocked": ("pending", "dispatched", "in_progress"),
    "reopened": ("completed", "accepted", "rejected", "cancelled", "blocked"),
    "cancelled": ("pending", "dispatched", "in_progress", "blocked", "rejected"),
    "accepted": ("completed", "accepted"),
    "rejected": ("completed", "accepted"),
}
BECOMES = {"reopened": "pending"}


def task_in(state: str) -> tuple[Tale, str]:
    """Return a tale whose task has come to a state, and the event that handed it out."""
    tale = planned()
    if state == "pending":
        return tale, ""
    opened = tale.dispatch()
    if state == "dispatched":
        return tale, opened
    tale.claim(opened)
    if state in ("completed", "accepted", "rejected"):
        tale.complete(opened)
    if state in ("blocked", "cancelled", "accepted"):
        tale.tell(state, reason="why", reads=(RUN,))
    if state == "rejected":
        tale.tell(state, unmet=["it"], reads=(RUN,))
    return tale, opened


@pytest.mark.parametrize("state", TASK_STATES)
@pytest.mark.parametrize("verb", TASK_VERBS)
def test_a_verb_moves_a_task_only_from_the_states_in_the_table(verb: str, state: str) -> None:
    tale, _ = task_in(state)
    assert tale.status() == state
    event = tale.tell(verb, reason="why", unmet=["x"], reads=(RUN,))
    if state in TASK_VERBS[verb]:
        assert tale.verdict(event) == LEGAL
        assert tale.status() == BECOMES.get(verb, verb)
    else:
        assert tale.verdict(event) == ("illegal", "task_transition")
        assert tale.status() == state


@pytest.mark.parametrize("state", TASK_STATES)
def test_only_a_pending_task_is_handed_out(state: str) -> None:
    tale, _ = task_in(state)
    verdict = tale.verdict(tale.dispatch())
    assert verdict == (LEGAL if state == "pending" else ("illegal", "task_not_ready"))


@pytest.mark.parametrize("verb", ["claimed", "renewed", "completed", "failed", "recovered"])
@pytest.mark.parametrize("state", TASK_STATES)
def test_a_dispatch_moves_only_as_the_table_says(verb: str, state: str) -> None:
    tale, opened = task_in(state)
    event = tale.tell(
        verb, dispatch=handoff(opened or "event_zzzzzzzzzzzz"), until="2026-01-01T02:00:00.000Z", reason="why",
        reads=(RUN,), code={"tree": "1" * 40}, text="", evidence=[],
    )  # fmt: skip
    expected = {
        "pending": "dispatch_not_found",
        "dispatched": "" if verb in ("claimed", "failed", "recovered") else "dispatch_not_claimed",
        "in_progress": "",
    }.get(state, "dispatch_terminal")
    assert tale.verdict(event)[1] == expected


@pytest.mark.parametrize("verb", ["renewed", "completed", "failed", "claimed"])
def test_only_the_claimant_moves_a_claimed_dispatch(verb: str) -> None:
    tale, opened = task_in("in_progress")
    event = tale.tell(verb, by=BOB, dispatch=handoff(opened), until="2026-01-01T02:00:00.000Z", reads=(RUN,))
    token = "dispatch_already_claimed" if verb == "claimed" else "not_claimant"
    assert tale.verdict(event) == ("illegal", token)


def test_anybody_may_recover_a_claimed_dispatch_since_expiry_is_never_folded() -> None:
    tale, opened = task_in("in_progress")
    assert tale.verdict(tale.tell("recovered", by=BOB, dispatch=handoff(opened), reads=(RUN,))) == LEGAL
    assert tale.status() == "pending"


def test_the_same_actor_claims_again_and_the_lease_moves_on() -> None:
    tale, opened = task_in("in_progress")
    assert tale.verdict(tale.claim(opened, until="2026-01-01T09:00:00.000Z")) == LEGAL
    assert tale.folded().lanes.word(f"lease:{handoff(opened)}", "") == "2026-01-01T09:00:00.000Z"


def test_a_failed_dispatch_blocks_its_task() -> None:
    tale, opened = task_in("in_progress")
    tale.tell("failed", dispatch=handoff(opened), reason="no", reads=(RUN,))
    assert (tale.status(), tale.dispatch_state(opened)[0]) == ("blocked", "failed")


@pytest.mark.parametrize(
    ("state", "verb", "token"),
    [
        ("active", "paused", ""), ("active", "resumed", "run_transition"), ("active", "cancelled", ""),
        ("paused", "paused", "run_transition"), ("paused", "resumed", ""), ("paused", "cancelled", ""),
        ("cancelled", "paused", "run_final"), ("cancelled", "resumed", "run_final"),
        ("cancelled", "cancelled", "run_final"), ("cancelled", "completed", "run_final"),
        ("completed", "paused", "run_final"), ("completed", "resumed", "run_final"),
        ("completed", "cancelled", "run_final"), ("completed", "completed", "run_final"),
        ("active", "completed", ""), ("paused", "completed", "run_not_active"),
    ],
)  # fmt: skip
def test_a_run_moves_only_as_the_table_says(state: str, verb: str, token: str) -> None:
    tale = Tale()
    if state != "active":
        tale.tell(state, RUN, reason="why")
    assert tale.verdict(tale.tell(verb, RUN, reason="why"))[1] == token


@pytest.mark.parametrize("state", ["paused", "cancelled", "completed"])
def test_a_run_that_does_not_go_on_lets_nothing_be_handed_out_claimed_or_completed(state: str) -> None:
    token = "run_not_active" if state == "paused" else "run_final"
    for stage, verb in (("pending", "dispatch"), ("dispatched", "claim"), ("in_progress", "complete")):
        tale, opened = task_in(stage)
        tale.tell(state, RUN, reason="why")
        event = tale.dispatch() if verb == "dispatch" else getattr(tale, verb)(opened)
        assert tale.verdict(event) == ("illegal", token)


@pytest.mark.parametrize("state", ["cancelled", "completed"])
@pytest.mark.parametrize(
    ("verb", "of", "data"),
    [
        ("blocked", TASK, {}), ("reopened", TASK, {}), ("cancelled", TASK, {}), ("rejected", PLAN, {}),
        ("approved", PLAN2, {"text": "b" * 32}), ("failed", RUN, {"gate": "release"}),
        ("passed", TASK, {"gate": "release"}),
    ],
)  # fmt: skip
def test_in_a_final_run_nothing_moves(state: str, verb: str, of: str, data: dict[str, Any]) -> None:
    tale = planned()
    tale.tell(state, RUN, reason="why")
    assert tale.verdict(tale.tell(verb, of, reason="why", reads=(RUN,), **data)) == ("illegal", "run_final")


@pytest.mark.parametrize("verb", ["retracted", "superseded", "redacted"])
def test_in_a_final_run_evidence_can_still_be_withdrawn(verb: str) -> None:
    tale = Tale()
    tale.tell("cancelled", RUN, reason="why")
    event = tale.tell(verb, PROOF, reads=(RUN,), target=f"{PROOF}@{'0' * 32}")
    assert tale.verdict(event) == LEGAL
    assert tale.status(PROOF) == verb


@pytest.mark.parametrize("first", ["retracted", "superseded", "redacted"])
@pytest.mark.parametrize("second", ["retracted", "superseded"])
def test_withdrawn_evidence_is_not_withdrawn_again(first: str, second: str) -> None:
    tale = Tale()
    tale.tell(first, PROOF, target=f"{PROOF}@{'0' * 32}")
    assert tale.verdict(tale.tell(second, PROOF)) == ("illegal", "evidence_withdrawn")


@pytest.mark.parametrize(
    ("target", "verdict", "status"),
    [
        (PROOF, LEGAL, "redacted"), ("event_000000000009", LEGAL, "recorded"),
        ("evidence_000000000002", ("illegal", "target_foreign"), "recorded"),
    ],
)  # fmt: skip
def test_a_redaction_is_of_its_own_record_or_of_an_event(target: str, verdict: tuple[str, str], status: str) -> None:
    tale = Tale()
    assert tale.verdict(tale.tell("redacted", PROOF, target=f"{target}@{'0' * 32}", reason="why")) == verdict
    assert tale.status(PROOF) == status


@pytest.mark.parametrize("scope", [RUN, TASK])
@pytest.mark.parametrize("lifted", ["passed", "waived"])
def test_a_failed_gate_blocks_hand_off_and_claim_until_passed_or_waived(scope: str, lifted: str) -> None:
    tale = planned()
    tale.tell("failed", scope, gate="quality_review")
    assert tale.verdict(tale.dispatch()) == ("illegal", "review_gate_blocking")
    tale.tell(lifted, scope, gate="quality_review", reason="why")
    opened = tale.dispatch()
    assert tale.verdict(opened) == LEGAL
    tale.tell("failed", scope, gate="quality_review")
    assert tale.verdict(tale.claim(opened)) == ("illegal", "review_gate_blocking")
    tale.tell(lifted, scope, gate="quality_review", reason="why")
    assert tale.verdict(tale.claim(opened)) == LEGAL


@pytest.mark.parametrize("scope", [RUN, TASK])
def test_asking_for_another_review_does_not_lift_a_failed_gate(scope: str) -> None:
    tale = planned()
    tale.tell("failed", scope, gate="quality_review")
    assert tale.verdict(tale.tell("requested", scope, gate="quality_review")) == LEGAL
    assert tale.verdict(tale.dispatch()) == ("illegal", "review_gate_blocking")


def test_a_pass_of_another_gate_lifts_nothing() -> None:
    tale = planned()
    tale.tell("failed", RUN, gate="quality_review")
    tale.tell("passed", RUN, gate="release")
    assert tale.verdict(tale.dispatch()) == ("illegal", "review_gate_blocking")


def test_nothing_is_handed_out_without_the_canonical_plan() -> None:
    tale = Tale()
    assert tale.verdict(tale.dispatch()) == ("illegal", "canonical_plan_required")
    tale.approve(PLAN)
    assert tale.verdict(tale.dispatch(plan=PLAN2)) == ("illegal", "canonical_plan_required")
    assert tale.verdict(tale.dispatch(plan="")) == ("illegal", "canonical_plan_required")
    assert tale.verdict(tale.dispatch(spike=True, plan="", task=OTHER)) == LEGAL


def test_approving_another_plan_supersedes_and_rejecting_it_leaves_none() -> None:
    tale = planned()
    tale.approve(PLAN2)
    lanes = tale.folded(PLAN).lanes
    assert lanes.word("canonical", "") == PLAN2
    tale.tell("rejected", PLAN2, reason="no", reads=(RUN,))
    assert tale.folded(PLAN).lanes.word("canonical", "") == ""
    assert tale.verdict(tale.approve(PLAN2)) == ("illegal", "plan_rejected")


def test_rejecting_another_plan_leaves_the_canonical_one() -> None:
    tale = planned()
    assert tale.verdict(tale.tell("rejected", PLAN2, reason="no", reads=(RUN,))) == LEGAL
    assert tale.folded(PLAN).lanes.word("canonical", "") == PLAN


def test_a_settled_plan_that_was_rejected_is_not_the_canonical_one() -> None:
    tale = planned()
    before = tale.heads(f"plans:{RUN}", RUN)
    no = tale.tell("rejected", PLAN, reason="no", after=before)
    tale.tell("approved", PLAN, text="b" * 32, after=before)
    assert tale.verdict(tale.tell("settled", PLAN, keep=no, reason="why")) == LEGAL
    lanes = tale.folded(PLAN).lanes
    assert (lanes.word(f"plan:{PLAN}", ""), lanes.word("canonical", "")) == ("rejected", "")


@pytest.mark.parametrize("keeps_rejection", [True, False])
def test_settling_a_plan_settles_which_one_is_canonical(*, keeps_rejection: bool) -> None:
    tale = planned()
    before = tale.heads(f"plans:{RUN}", RUN)
    no = tale.tell("rejected", PLAN2, reason="no", after=before)
    yes = tale.tell("approved", PLAN2, text="b" * 32, after=before)
    assert tale.folded(PLAN).lanes.word(f"plan:{PLAN2}", "") == "contested"
    assert tale.verdict(tale.tell("settled", PLAN2, keep=no if keeps_rejection else yes, reason="why")) == LEGAL
    assert tale.folded(PLAN).lanes.word("canonical", "") == (PLAN if keeps_rejection else PLAN2)


def test_a_canonical_plan_is_approved_again_by_somebody_else_or_for_another_text() -> None:
    tale = planned()
    assert tale.verdict(tale.approve()) == LEGAL
    assert tale.verdict(tale.tell("approved", PLAN, text="b" * 32, reads=(RUN,))) == LEGAL


def test_a_canonical_plan_is_approved_again_with_a_signature() -> None:
    tale = planned()
    text = tale.folded(PLAN).lanes.detail("canonical")
    assert tale.verdict(tale.tell("approved", PLAN, text=text, reads=(RUN,), signature="signed")) == LEGAL


@pytest.mark.parametrize("state", ["pending", "in_progress", "blocked", "rejected", "cancelled", "contested"])
def test_a_dependency_that_is_not_done_keeps_a_task_back(state: str) -> None:
    tale, opened = task_in(state if state != "contested" else "dispatched")
    if state == "contested":
        before = tale.heads(TASK, RUN)
        tale.claim(opened, after=before)
        tale.claim(opened, after=before, by=BOB)
    if not tale.heads(TASK):
        tale.tell("passed", TASK, gate="approval")
    assert tale.verdict(tale.dispatch(OTHER, depends=(TASK,))) == ("illegal", "dependency_open")


@pytest.mark.parametrize("state", ["completed", "accepted"])
def test_a_done_dependency_lets_a_task_go_unless_its_gate_failed(state: str) -> None:
    tale, _ = task_in(state)
    tale.tell("failed", TASK, gate="quality_review")
    assert tale.verdict(tale.dispatch(OTHER, depends=(TASK,))) == ("illegal", "review_gate_blocking")
    tale.tell("passed", TASK, gate="quality_review")
    assert tale.verdict(tale.dispatch(OTHER, depends=(TASK,))) == LEGAL


@pytest.mark.parametrize("state", TASK_STATES)
def test_a_run_completes_only_on_settled_tasks(state: str) -> None:
    tale, _ = task_in(state)
    event = tale.tell("completed", RUN, reads=(TASK,))
    settled = state in ("completed", "accepted", "cancelled") or not tale.heads(TASK)
    assert tale.verdict(event) == (LEGAL if settled else ("illegal", "task_unsettled"))


@pytest.mark.parametrize("scope", [RUN, TASK])
def test_a_run_does_not_complete_over_a_failed_gate(scope: str) -> None:
    tale, _ = task_in("completed")
    tale.tell("failed", scope, gate="release")
    assert tale.verdict(tale.tell("completed", RUN, reads=(TASK,))) == ("illegal", "review_gate_blocking")


def test_the_failed_gate_of_a_cancelled_task_does_not_hold_the_run() -> None:
    tale, _ = task_in("cancelled")
    tale.tell("failed", TASK, gate="release")
    assert tale.verdict(tale.tell("completed", RUN, reads=(TASK,))) == LEGAL


def test_blocking_a_task_takes_back_what_was_handed_out() -> None:
    tale, opened = task_in("in_progress")
    tale.tell("blocked", reason="why", reads=(RUN,))
    assert tale.dispatch_state(opened)[0] == "recovered"


# Candidates: several tries at one task.


def candidates(count: int = 2) -> tuple[Tale, list[str]]:
    tale = planned()
    return tale, [tale.dispatch(candidate=True) for _ in range(count)]


def test_candidates_run_beside_each_other_and_a_plain_dispatch_does_not() -> None:
    tale, opened = candidates(3)
    assert all(tale.verdict(name) == LEGAL for name in opened)
    assert tale.verdict(tale.dispatch()) == ("illegal", "task_not_ready")
    tale = planned()
    tale.dispatch()
    assert tale.verdict(tale.dispatch(candidate=True)) == ("illegal", "task_not_ready")


def test_a_candidate_added_to_work_under_way_leaves_it_in_progress() -> None:
    tale, opened = candidates(1)
    tale.claim(opened[0])
    tale.dispatch(candidate=True)
    assert tale.status() == "in_progress"


def test_the_first_candidate_completes_the_task_and_the_second_adds_its_completion() -> None:
    tale, opened = candidates()
    tale.claim(opened[0])
    tale.claim(opened[1], by=BOB)
    tale.complete(opened[0])
    assert tale.status() == "completed"
    assert tale.verdict(tale.complete(opened[1], by=BOB)) == LEGAL
    assert tale.status() == "completed"


def test_a_candidate_that_fails_leaves_the_task_to_the_others() -> None:
    tale, opened = candidates()
    for name in opened:
        tale.claim(name)
    tale.tell("failed", dispatch=handoff(opened[0]), reason="no", reads=(RUN,))
    assert tale.status() == "in_progress"
    tale.tell("failed", dispatch=handoff(opened[1]), reason="no", reads=(RUN,))
    assert tale.status() == "blocked"


def test_a_candidate_that_fails_after_another_completed_changes_nothing() -> None:
    tale, opened = candidates()
    for name in opened:
        tale.claim(name)
    tale.complete(opened[0])
    tale.tell("failed", dispatch=handoff(opened[1]), reason="no", reads=(RUN,))
    assert tale.status() == "completed"


def test_after_a_completion_no_further_candidate_is_handed_out_and_one_that_was_may_be_claimed() -> None:
    tale, opened = candidates()
    tale.claim(opened[0])
    tale.complete(opened[0])
    assert tale.verdict(tale.dispatch(candidate=True)) == ("illegal", "task_not_ready")
    assert tale.verdict(tale.claim(opened[1])) == ("legal", "")
    assert tale.status() == "completed"


@pytest.mark.parametrize("verb", ["accepted", "rejected"])
def test_a_verdict_on_the_task_closes_the_candidates_that_are_still_open(verb: str) -> None:
    tale, opened = candidates()
    for name in opened:
        tale.claim(name)
    tale.complete(opened[0])
    tale.tell(verb, text="", unmet=["x"], reads=(RUN,))
    assert tale.dispatch_state(opened[1])[0] == "recovered"
    assert tale.verdict(tale.complete(opened[1])) == ("illegal", "dispatch_terminal")


@pytest.mark.parametrize(("verb", "status"), [("failed", "blocked"), ("recovered", "pending")])
def test_two_last_candidates_that_end_unseen_by_each_other_leave_the_task_in_nobodys_hands(
    verb: str, status: str
) -> None:
    tale, opened = candidates()
    before = tale.heads(TASK, RUN)
    for name in opened:
        tale.tell(verb, dispatch=handoff(name), reason="no", after=before)
    assert tale.status() == status
    if status == "pending":
        assert tale.verdict(tale.dispatch()) == LEGAL
    else:
        assert tale.verdict(tale.tell("reopened", reason="again", reads=(RUN,))) == LEGAL


def test_blocking_against_an_unseen_candidate_is_contested_not_lost() -> None:
    tale, _ = candidates(1)
    before = tale.heads(TASK, RUN, PLAN)
    tale.tell("blocked", reason="why", after=before)
    tale.dispatch(candidate=True, after=before)
    assert tale.status() == "contested"


# Disagreement.


def test_a_contested_record_takes_no_further_event_but_gates_and_settling() -> None:
    tale, opened = task_in("dispatched")
    before = tale.heads(TASK, RUN)
    mine = tale.claim(opened, after=before)
    tale.claim(opened, after=before, by=BOB)
    assert tale.status() == "contested"
    assert tale.verdict(tale.complete(opened)) == ("illegal", "record_contested")
    assert tale.verdict(tale.tell("blocked", reason="x", reads=(RUN,))) == ("illegal", "record_contested")
    assert tale.verdict(tale.tell("passed", gate="approval")) == LEGAL
    assert tale.verdict(tale.tell("settled", keep=mine, reason="why")) == LEGAL
    assert tale.verdict(tale.complete(opened)) == LEGAL


def test_a_contested_run_lets_nothing_be_handed_out() -> None:
    tale = planned()
    tale.tell("paused", RUN)
    before = tale.heads(RUN)
    tale.tell("resumed", RUN, after=before)
    tale.tell("cancelled", RUN, reason="x", after=before)
    assert tale.verdict(tale.dispatch()) == ("illegal", "record_contested")


def test_a_contested_plan_lets_nothing_be_handed_out() -> None:
    tale = Tale()
    tale.tell("approved", PLAN, text="a" * 32, after=())
    tale.tell("approved", PLAN2, text="b" * 32, after=())
    assert tale.verdict(tale.dispatch()) == ("illegal", "record_contested")
    assert tale.verdict(tale.approve(PLAN)) == ("illegal", "record_contested")


def test_the_state_of_a_task_is_the_word_of_its_lane_while_a_try_is_open() -> None:
    tale, _ = candidates()
    assert task_status(Fold(tale, judge).group(TASK).lanes) == "dispatched"
