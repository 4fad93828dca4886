"""State is a fold: what concurrent, absent, altered and forged events come to."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest

from memento_git.folding import settling
from memento_git.folding.fold import Fold
from memento_git.folding.lanes import Lanes, merge
from memento_git.model.ids import Ref
from memento_git.work.transitions import judge
from tests.tale import BOB, OTHER, PLAN, PLAN2, PROOF, RUN, TASK, Tale, contested, handoff, planned

if TYPE_CHECKING:
    from memento_git.folding.fold import Seen
    from memento_git.folding.lanes import Writes
    from memento_git.model.work import Event

LEGAL = ("legal", "")


def fork(tale: Tale, *records: str) -> list[str]:
    """Return what both sides of a fork have seen."""
    return tale.heads(*(records or (TASK, RUN, PLAN)))


def said(event: Event, seen: Seen) -> Writes:
    """Return what an event of the tale says itself that it writes."""
    return settling.kept(event, seen) if event.do == "settled" else event.data["writes"]


# Agreement and disagreement.


def test_two_completions_by_the_claimant_agree() -> None:
    tale = planned()
    opened = tale.dispatch()
    tale.claim(opened)
    before = fork(tale, TASK, RUN)
    tale.complete(opened, after=before)
    tale.complete(opened, after=before)
    assert tale.status() == "completed"
    assert len(tale.folded().heads) == 2


def test_two_approvals_of_one_text_agree_and_of_two_texts_contest() -> None:
    tale = Tale()
    tale.tell("approved", PLAN, text="a" * 32, after=())
    tale.tell("approved", PLAN, text="a" * 32, after=())
    assert not tale.folded(PLAN).lanes.contested
    tale.tell("approved", PLAN, text="b" * 32, after=())
    assert set(tale.folded(PLAN).lanes.contested) == {"canonical"}


def test_approvals_of_two_plans_contest_until_one_is_kept() -> None:
    tale = Tale()
    tale.tell("approved", PLAN, text="a" * 32, after=())
    second = tale.tell("approved", PLAN2, text="b" * 32, after=())
    assert "canonical" in tale.folded(PLAN).lanes.contested
    tale.tell("settled", PLAN, keep=second, reason="why")
    assert tale.folded(PLAN).lanes.word("canonical", "") == PLAN2
    assert not tale.folded(PLAN).lanes.contested


def test_a_side_is_kept_with_what_was_gone_on_to_from_it() -> None:
    """On the lanes that only that wrote, too."""
    tale = Tale()
    one = tale.tell("said", after=(), writes={"a": ("one",)})
    on = tale.tell("said", after=[one], writes={"b": ("on",)})
    other = tale.tell("said", after=(), writes={"a": ("other",), "b": ("other",)})
    tale.tell("settled", after=[on, other], keep=one)
    assert Fold(tale, said).group(TASK).lanes == Lanes({"a": ("one",), "b": ("on",)}, {})


def test_what_is_contested_has_one_order_whatever_the_seed_of_hashes() -> None:
    tale = Tale()
    for lane, word in itertools.product("abcdefgh", ("one", "other")):
        tale.tell("said", after=(), writes={lane: (word,)})
    found = Fold(tale, said).group(TASK).lanes.contested
    assert len(found) == 8
    assert [*found] == sorted(found, key=lambda lane: min(found[lane]))


def test_keeping_a_rejection_against_an_approval_leaves_no_canonical_plan() -> None:
    tale = Tale()
    rejected = tale.tell("rejected", PLAN, reason="no", after=())
    tale.tell("approved", PLAN, text="a" * 32, after=())
    tale.tell("settled", PLAN, keep=rejected, reason="why")
    assert tale.folded(PLAN).lanes.word("canonical", "") == ""
    assert tale.status(PLAN) == "rejected"


def test_keeping_an_approval_against_a_rejection_keeps_the_plan_canonical() -> None:
    tale = Tale()
    tale.tell("rejected", PLAN, reason="no", after=())
    approved = tale.tell("approved", PLAN, text="a" * 32, after=())
    tale.tell("settled", PLAN, keep=approved, reason="why")
    assert tale.folded(PLAN).lanes.word("canonical", "") == PLAN


def test_claims_of_two_actors_contest_and_of_one_actor_agree() -> None:
    for second, expected in ((BOB, "contested"), ("Ada", "in_progress")):
        tale = planned()
        opened = tale.dispatch()
        before = fork(tale, TASK, RUN)
        tale.claim(opened, after=before)
        tale.claim(opened, after=before, by=second)
        assert tale.status() == expected


def test_two_plain_dispatches_contest_and_settling_withdraws_the_other() -> None:
    tale = planned()
    before = fork(tale)
    first = tale.dispatch(after=before)
    second = tale.dispatch(after=before)
    assert tale.status() == "contested"
    tale.tell("settled", keep=second, reason="why")
    assert tale.status() == "dispatched"
    assert tale.dispatch_state(first)[0] == "recovered"
    assert tale.dispatch_state(second)[0] == "queued"


def test_two_candidates_made_apart_agree() -> None:
    tale = planned()
    before = fork(tale)
    for _ in range(2):
        tale.dispatch(after=before, candidate=True)
    assert tale.status() == "dispatched"
    assert len(tale.folded().lanes.open_dispatches()) == 2


def test_a_candidate_claimed_on_one_side_and_made_on_the_other_is_in_progress() -> None:
    tale = planned()
    opened = tale.dispatch(candidate=True)
    before = fork(tale)
    tale.claim(opened, after=before)
    tale.dispatch(after=before, candidate=True)
    assert tale.status() == "in_progress"


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [(("passed", "failed"), "failed"), (("passed", "waived"), "waived"), (("passed", "requested"), "requested")],
)
def test_concurrent_verdicts_of_a_gate_count_as_the_worst(verdicts: tuple[str, ...], worst: str) -> None:
    for order in itertools.permutations(verdicts):
        tale = Tale()
        for verdict in order:
            tale.tell(verdict, RUN, gate="release", reason="w", after=())
        assert tale.folded(RUN).lanes.word("gate:release", "") == worst
        assert not tale.folded(RUN).lanes.contested


def test_a_verdict_that_saw_both_sides_counts_alone() -> None:
    tale = Tale()
    tale.tell("passed", RUN, gate="release", after=())
    tale.tell("failed", RUN, gate="release", after=())
    tale.tell("passed", RUN, gate="release")
    assert tale.folded(RUN).lanes.word("gate:release", "") == "passed"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (["paused"], ["paused"], "paused"), (["paused"], ["paused", "resumed"], "contested"),
        (["cancelled"], ["completed"], "contested"), (["cancelled"], ["cancelled"], "cancelled"),
        (["completed"], ["completed"], "completed"), (["paused"], ["cancelled"], "contested"),
        (["paused", "cancelled"], ["cancelled"], "cancelled"),
    ],
)  # fmt: skip
def test_what_two_sides_do_to_a_run(left: list[str], right: list[str], expected: str) -> None:
    tale = Tale()
    for side in (left, right):
        seen: list[str] = []
        for verb in side:
            seen = [tale.tell(verb, RUN, reason="why", after=seen)]
    assert tale.status(RUN) == expected


def test_work_that_had_not_seen_a_cancel_stays() -> None:
    tale = planned()
    opened = tale.dispatch()
    before = fork(tale, TASK, RUN)
    tale.tell("cancelled", RUN, reason="x", after=())
    claimed = tale.claim(opened, after=before)
    done = tale.complete(opened, after=[claimed])
    assert tale.verdict(done) == LEGAL
    assert (tale.status(RUN), tale.status()) == ("cancelled", "completed")


def test_work_that_had_seen_the_cancel_is_illegal_and_has_no_effect() -> None:
    tale = planned()
    opened = tale.dispatch()
    tale.tell("cancelled", RUN, reason="x")
    claimed = tale.claim(opened)
    assert tale.verdict(claimed) == ("illegal", "run_final")
    assert tale.status() == "dispatched"
    assert [seen.event.id for seen in tale.folded().illegal] == [claimed]


def test_criss_cross_knowledge_of_both_sides_settles_nothing_by_itself() -> None:
    tale = planned()
    opened = tale.dispatch()
    before = fork(tale, TASK, RUN)
    one = tale.claim(opened, after=before)
    two = tale.claim(opened, after=before, by=BOB)
    three = tale.tell("passed", gate="approval", after=[one, two])
    four = tale.tell("failed", gate="approval", after=[one, two])
    assert set(tale.folded().heads) == {three, four}
    assert tale.status() == "contested"
    assert tale.folded().lanes.word("gate:approval", "") == "failed"


# Settling.


def test_settling_names_both_heads_and_one_claim_holds() -> None:
    tale, opened, _, bob = contested()
    settled = tale.tell("settled", keep=bob, reason="why")
    assert {ref.id for ref in tale.events[settled].after} >= {bob}
    assert tale.dispatch_state(opened) == ("claimed", BOB)
    assert tale.status() == "in_progress"


def test_settling_what_is_not_contested_or_by_a_stranger_is_refused() -> None:
    tale, opened, _, bob = contested()
    assert tale.verdict(tale.tell("settled", keep=opened, reason="why")) == ("illegal", "not_a_head")
    tale.tell("settled", keep=bob, reason="why")
    assert tale.verdict(tale.tell("settled", keep=bob, reason="why")) == ("illegal", "not_contested")


def test_settling_on_both_branches_alike_agrees_and_differently_is_contested_again() -> None:
    for keeps_same in (True, False):
        tale, _, ada, bob = contested()
        before = tale.heads(TASK)
        one = tale.tell("settled", keep=bob, reason="why", after=before)
        tale.tell("settled", keep=bob if keeps_same else ada, reason="why", after=before)
        assert tale.status() == ("in_progress" if keeps_same else "contested")
        if not keeps_same:
            assert tale.verdict(tale.tell("settled", keep=one, reason="why")) == LEGAL
            assert tale.status() == "in_progress"


def test_voiding_opposite_sides_on_two_branches_is_contested_again() -> None:
    tale, _, ada, bob = contested()
    before = tale.heads(TASK)
    tale.tell("voided", target=ada, reason="why", after=before)
    kept = tale.tell("voided", target=bob, reason="why", after=before)
    assert tale.status() == "contested"
    tale.tell("settled", keep=kept, reason="why")
    assert tale.status() == "in_progress"


def test_settling_is_possible_in_a_final_run() -> None:
    tale, _, ada, bob = contested()
    tale.tell("cancelled", RUN, reason="x")
    assert tale.verdict(tale.tell("settled", keep=ada, reason="why", reads=(RUN,))) == LEGAL
    tale, _, ada, bob = contested()
    tale.tell("cancelled", RUN, reason="x")
    assert tale.verdict(tale.tell("voided", target=bob, reason="why", reads=(RUN,))) == LEGAL
    assert tale.status() == "in_progress"


def test_settling_keeps_what_came_after_the_kept_event_on_its_side() -> None:
    tale, opened, ada, bob = contested()
    done = tale.complete(opened, after=[ada, *tale.heads(RUN)])
    tale.tell("settled", keep=done, reason="why")
    assert tale.status() == "completed"
    assert tale.dispatch_state(opened) == ("completed", "Ada")
    assert bob in tale.folded().undone
    assert not {ada, done} & tale.folded().undone.keys()


def test_a_completion_that_was_overruled_counts_no_more() -> None:
    tale, opened, ada, bob = contested()
    done = tale.complete(opened, after=[ada])
    tale.tell("settled", keep=bob, reason="why")
    again = tale.complete(opened, by=BOB)
    assert tale.verdict(again) == LEGAL
    undone = tale.folded().undone
    assert done in undone
    assert again not in undone


def test_an_illegal_event_is_voided_and_is_trouble_no_more() -> None:
    tale = planned()
    bad = tale.tell("accepted", text="", reads=(RUN,))
    assert tale.folded().illegal
    assert tale.verdict(tale.tell("voided", target=bad, reason="why")) == LEGAL
    assert not tale.folded().illegal


def test_a_dangling_event_is_voided_and_is_trouble_no_more() -> None:
    tale = planned()
    bad = tale.tell("blocked", reason="x", after=["event_zzzzzzzzzzzz"])
    assert tale.verdict(bad) == ("dangling", "E002")
    absent = [str(ref) for ref in Fold(tale, judge).absent(bad)]
    tale.tell("voided", target=bad, absent=absent, reason="why")
    assert not tale.folded().dangling
    assert tale.status() == "pending"


def test_an_event_after_an_edited_one_is_voided_and_is_trouble_no_more() -> None:
    tale = planned()
    opened = tale.dispatch()
    claimed = tale.claim(opened)
    bad = tale.complete(opened)
    tale.events[claimed] = tale.events[claimed]._replace(digest="0" * 32)
    absent = [str(ref) for ref in Fold(tale, judge).absent(bad)]
    assert [seen.token for seen in tale.folded().dangling] == ["E003"]
    tale.tell("voided", target=bad, absent=absent, reason="why")
    assert not tale.folded().dangling


@pytest.mark.parametrize("absent", [[], [f"event_zzzzzzzzzzzz@{'0' * 32}"], ["seen"]])
def test_a_void_that_would_not_hold_leaves_a_dangling_event_on_the_list(absent: list[str]) -> None:
    tale = planned()
    opened = tale.dispatch()
    bad = tale.complete(opened, after=[opened, "event_zzzzzzzzzzzz"])
    refs = [str(tale.events[opened].ref)] if absent == ["seen"] else absent
    assert tale.verdict(tale.tell("voided", target=bad, absent=refs, reason="why")) == LEGAL
    assert [seen.event.id for seen in tale.folded().dangling] == [bad]


def test_a_legal_event_is_never_voided() -> None:
    tale = planned()
    opened = tale.dispatch()
    assert tale.verdict(tale.tell("voided", target=opened, reason="why")) == ("illegal", "event_is_legal")
    assert tale.status() == "dispatched"


def test_a_forged_void_that_did_not_see_its_target_has_no_effect() -> None:
    tale = planned()
    opened = tale.dispatch()
    before = tale.heads(TASK)
    tale.tell("voided", target=opened, reason="why", after=())
    assert tale.status() == "dispatched"
    assert before[0] in tale.folded().heads
    tale.claim(opened)
    assert tale.status() == "in_progress"


def arriving(tale: Tale) -> tuple[str, str]:
    """Return a claim that is not there yet, and a completion that rests on it."""
    opened = tale.dispatch()
    claim = tale.claim(opened)
    return claim, tale.complete(opened)


def test_a_void_of_a_dangling_event_stays_in_force_when_the_past_arrives() -> None:
    tale = planned()
    claim, completion = arriving(tale)
    arrived = tale.events.pop(claim)
    absent = [str(ref) for ref in Fold(tale, judge).absent(completion)]
    assert absent == [str(arrived.ref)]
    tale.listed = list(tale.events)
    tale.events[claim] = arrived
    tale.listed.append(tale.tell("voided", target=completion, absent=absent, reason="why", after=tale.heads(PLAN)))
    tale.listed.append(claim)
    assert tale.verdict(completion) == LEGAL
    assert tale.status() == "in_progress"
    assert completion in tale.folded().undone
    tale.listed = []
    tale.tell("cancelled", reason="x", reads=(RUN,))
    assert tale.status() == "cancelled"


@pytest.mark.parametrize("absent", [[], [f"event_zzzzzzzzzzzz@{'0' * 32}"], ["seen"]])
def test_a_void_that_names_as_absent_what_was_not_has_no_effect(absent: list[str]) -> None:
    tale = planned()
    claim, completion = arriving(tale)
    refs = [str(tale.events[claim].ref)] if absent == ["seen"] else absent
    tale.tell("voided", target=completion, absent=refs, reason="why", after=[claim])
    assert tale.status() == "completed"
    assert completion not in tale.folded().undone


def test_a_void_of_another_records_event_has_no_effect() -> None:
    tale = planned()
    opened = tale.dispatch()
    tale.tell("voided", OTHER, target=opened, reason="why", reads=(TASK,))
    assert tale.status() == "dispatched"


# Absence and tampering.


def test_an_event_whose_past_is_absent_is_not_folded_until_it_is_restored() -> None:
    tale = planned()
    opened = tale.dispatch()
    claimed = tale.claim(opened)
    done = tale.complete(opened)
    lost = tale.events.pop(claimed)
    assert tale.verdict(done) == ("dangling", "E002")
    assert tale.status() == "dispatched"
    tale.events[claimed] = lost
    assert tale.status() == "completed"


def test_an_altered_event_leaves_all_that_rests_on_it_out() -> None:
    tale = planned()
    opened = tale.dispatch()
    claimed = tale.claim(opened)
    done = tale.complete(opened)
    later = tale.tell("accepted", text="", reads=(RUN,))
    tale.events[claimed] = tale.events[claimed]._replace(by=BOB, digest="0" * 32)
    assert tale.verdict(done) == ("dangling", "E003")
    assert tale.verdict(later) == ("dangling", "E002")
    assert tale.status() == "in_progress"


def test_events_that_name_each_other_in_a_circle_are_left_out() -> None:
    tale = planned()
    names = [tale.tell("blocked", reason="x", after=[]) for _ in range(3)]
    for index, name in enumerate(names):
        before = names[index - 1]
        tale.events[name] = tale.events[name]._replace(after=(Ref(before, tale.events[before].digest),))
    assert {tale.verdict(name)[0] for name in names} == {"dangling"}
    for name in names:
        assert Fold(tale, judge).judged(name) is not None
    assert tale.status() == "pending"


def test_an_event_that_names_itself_is_left_out() -> None:
    tale = planned()
    name = tale.tell("blocked", reason="x", after=[])
    tale.events[name] = tale.events[name]._replace(after=(Ref(name, tale.events[name].digest),))
    assert tale.verdict(name)[0] == "dangling"


def test_an_event_slipped_in_before_others_is_concurrent_with_them_and_is_seen() -> None:
    tale = planned()
    opened = tale.dispatch()
    before = tale.heads(TASK, RUN)
    tale.claim(opened)
    tale.claim(opened, by=BOB, after=before, at="2025-01-01T00:00:00.000Z")
    assert tale.status() == "contested"


@pytest.mark.parametrize("at", ["1999-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"])
def test_the_clock_orders_nothing(at: str) -> None:
    tale = planned()
    opened = tale.dispatch(at=at)
    tale.claim(opened)
    tale.complete(opened, at="1998-01-01T00:00:00.000Z")
    assert tale.status() == "completed"
    assert [seen.event.do for seen in tale.folded().events] == ["dispatched", "claimed", "completed"]


def test_a_file_that_cannot_be_read_makes_its_record_incomplete_and_can_be_voided() -> None:
    tale = planned()
    tale.done()
    retracted = tale.tell("reopened", reason="x", reads=(RUN,))
    tale.broken[retracted] = tale.events.pop(retracted)._replace(by="", after=(), data={}, digest="")
    assert [seen.token for seen in tale.folded().dangling] == ["E001"]
    tale.tell("voided", target=retracted, reason="why")
    assert not tale.folded().dangling
    assert tale.status() == "completed"


def test_an_event_of_another_record_is_no_parent() -> None:
    tale = planned()
    tale.dispatch()
    assert tale.folded().events[0].parents == ()
    assert tale.folded().events[0].verdict == "legal"


def test_an_empty_group_is_pending_and_has_no_heads() -> None:
    tale = Tale()
    assert tale.status() == "pending"
    assert tale.folded().heads == ()


@pytest.mark.parametrize(
    ("one", "two", "worst"),
    [("superseded", "retracted", "retracted"), ("retracted", "redacted", "redacted"),
     ("retracted", "retracted", "retracted")],
)  # fmt: skip
def test_concurrent_withdrawals_of_evidence_count_as_the_worst(one: str, two: str, worst: str) -> None:
    for order in ((one, two), (two, one)):
        tale = Tale()
        for verb in order:
            tale.tell(verb, PROOF, target=f"{PROOF}@{'0' * 32}", reason="x", after=())
        assert tale.status(PROOF) == worst


# The order of reading, and the incremental fold against the one from scratch.

VERBS = (
    "dispatched", "candidate", "claimed", "renewed", "completed", "failed", "recovered", "blocked", "reopened",
    "cancelled", "accepted", "rejected", "gate", "settled", "voided",
)  # fmt: skip


def random_tale(seed: int) -> Tale:
    """Return a tale in which two sides do what they like, often nonsense, and now and then see each other."""
    dice = random.Random(seed)
    tale = planned()
    base = tale.heads(RUN, PLAN)
    sides: list[list[str]] = [[], []]
    opened = ["event_zzzzzzzzzzzz"]
    for _ in range(14):
        mine = sides[dice.randrange(2)]
        if dice.random() < 0.15:
            mine[:] = sorted({*sides[0], *sides[1]})
        seen = [*base, *mine]
        verb = dice.choice(VERBS)
        who = dice.choice(("Ada", BOB))
        if verb in ("dispatched", "candidate"):
            event = tale.dispatch(after=seen, by=who, candidate=verb == "candidate")
            opened.append(event)
        elif verb == "gate":
            event = tale.tell(dice.choice(("passed", "failed")), gate="release", after=seen)
        else:
            known = [name for name in tale.events if tale.events[name].of == TASK] or opened
            event = tale.tell(
                verb, after=seen, by=who, dispatch=handoff(dice.choice(opened[-2:])), until="2026-01-01", text="",
                keep=dice.choice(known), target=dice.choice(known), reason="x",
            )  # fmt: skip
        mine[:] = [event]
    return tale


@pytest.mark.parametrize("seed", range(60))
def test_the_fold_is_the_same_in_whatever_order_files_are_listed(seed: int) -> None:
    tale = random_tale(seed)
    expected = tale.folded()
    names = list(tale.events)
    for _ in range(4):
        random.Random(seed).shuffle(names)
        tale.listed = names
        assert tale.folded() == expected


@pytest.mark.parametrize("seed", range(60))
def test_the_incremental_state_is_the_one_computed_from_scratch(seed: int) -> None:
    tale = random_tale(seed)
    fold = Fold(tale, judge)
    fold.group(TASK)
    for name in tale.events:
        if tale.events[name].of == TASK:
            quick = fold.lanes([name])
            slow = merge(fold._writers(fold._past([name])))
            assert dict(quick.values) == dict(slow.values)
            assert dict(quick.contested) == dict(slow.contested)


@pytest.mark.parametrize("seed", range(30))
def test_a_later_arrival_never_changes_the_verdict_on_an_earlier_event(seed: int) -> None:
    tale = random_tale(seed)
    names = list(tale.events)
    before: dict[str, tuple[str, str]] = {}
    kept = dict(tale.events)
    tale.events.clear()
    for name in names:
        tale.events[name] = kept[name]
        for other, verdict in before.items():
            assert tale.verdict(other) == verdict
        before[name] = tale.verdict(name)
