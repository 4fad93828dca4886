"""settle: what puts a contested, illegal or dangling thing right, through the actions, on a real repository."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from memento_git.folding.settling import EventIsLegal, NotAHead, NotContested
from memento_git.ledger import claims, layout
from memento_git.model.ids import NoSuchRecord, WrongKind
from memento_git.texts.typed import ReasonRequired
from memento_git.verbs import settling as of_any
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, runs, settling, tasks, verifying
from memento_git.work.row_cache import base
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play

PASSES = (sys.executable, "-c", "")


def contested(play: Play) -> tuple[str, str, list[str]]:
    """Return a run, its contested task, and the ids of the two events that disagree."""
    run = play.planned()
    task = play.task()
    git(play.root, "branch", "other")
    play.do(tasks.block_task, task, reason="stuck")
    git(play.root, "switch", "-q", "other")
    play.dispatch(task)
    git(play.root, "merge", "-q", "--no-edit", "main")
    heads = list(play.state(task).folded(task).heads)
    return run, task, sorted(heads, key=lambda name: str(getattr(play.state(task).event(name), "do", "")))


def test_settling_names_both_heads_and_one_holds(play: Play) -> None:
    _, task, (blocked, dispatched) = contested(play)
    play.do(settling.settle_record, task, dispatched, reason="go on")
    state = play.state(task)
    settled = state.event(state.folded(task).heads[0])
    assert settled is not None
    assert {ref.id for ref in settled.after} == {blocked, dispatched}
    assert play.status(task) == "dispatched"


def test_events_that_disagree_on_a_task_and_its_dispatch_are_one_entry_and_settled_together(
    play: Play, cli: Call
) -> None:
    where = ("-C", str(play.root))
    run = play.planned()
    task = play.task()
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    git(play.root, "branch", "other")
    play.complete(dispatch, evidence)
    git(play.root, "switch", "-q", "other")
    play.do(dispatches.fail_dispatch, dispatch, reason="no compiler")
    git(play.root, "merge", "-q", "--no-edit", "main")
    (row,) = base(play.ledger.view(), run)["trouble"]
    assert (row["record"], set(row["about"].split(", "))) == (task, {"its state", dispatch})
    assert cli("status", *where)[1].count("contested  ") == 2, "in the list of tasks, and once below"
    assert dispatch not in cli("status", *where)[1], "its id is shortened, as settle has it"
    assert "none: the task is contested: memento settle\n" in cli("task", "show", task, *where)[1]
    listed = json.loads(cli("settle", *where, "--json")[1])
    assert listed["late"] == [], "no archive of this run, which they could have come after"
    (told,) = listed["trouble"]
    keep = [f"memento settle {task} --keep {event['event']} --reason WHY" for event in row["events"]]
    assert [event.pop("command") for event in told["events"]] == keep
    assert told == row
    assert cli("check", "--no-base", *where)[1].count(": T001 ") == 1
    done = next(event["event"] for event in row["events"] if event["action"] == "task.completed")
    assert cli("settle", task, "--keep", done, "--reason", "It was done.", *where)[0] == 0
    assert base(play.ledger.view(), run)["trouble"] == []
    assert play.status(task) == "completed"


def test_what_is_settled_is_followed_by_what_the_run_waits_for(play: Play, cli: Call) -> None:
    run, task, (_, dispatched) = contested(play)
    (held,) = (row["dispatch_id"] for row in base(play.ledger.view(), run)["dispatches"])
    where = ("-C", str(play.root))

    def after(*words: str) -> list[str]:
        answer = json.loads(cli(words[0], *where, "--json", *words[1:])[1])
        return [step["command"] for step in answer["next"]]

    assert after("evidence", "run", "--task", task, "--", *PASSES) == ["memento settle"]
    told = after("settle", task, "--keep", dispatched, "--reason", "go on")
    assert told == [f"memento dispatch claim {held}"]


def test_what_is_voided_is_followed_by_what_the_run_waits_for(play: Play, cli: Call) -> None:
    _, task, (_, dispatched) = contested(play)
    answer = json.loads(cli("settle", "-C", str(play.root), "--void", dispatched, "--reason", "late", "--json")[1])
    assert [step["command"] for step in answer["next"]] == [f"memento task reopen {task} --reason WHY"]


def test_settling_needs_a_reason_a_head_and_a_disagreement(play: Play) -> None:
    run, task, (blocked, _) = contested(play)
    with pytest.raises(ReasonRequired):
        play.do(settling.settle_record, task, blocked)
    with pytest.raises(NotContested):
        play.do(settling.settle_record, run, blocked, reason="x")
    with pytest.raises(NoSuchRecord):
        play.do(settling.settle_record, task, "zzzz", reason="x")
    with pytest.raises(WrongKind):
        play.do(of_any.settle_record, "dispatch_000000000000", blocked, reason="x")


def test_an_event_of_another_record_is_no_head(play: Play) -> None:
    run, task, _ = contested(play)
    plan = play.state(run).folded(f"plans:{run}").heads[0]
    with pytest.raises(NotAHead):
        play.do(settling.settle_record, task, plan, reason="x")


def test_voiding_one_of_two_contested_events_leaves_the_other(play: Play) -> None:
    run, task, (blocked, dispatched) = contested(play)
    play.do(settling.void_event, dispatched, reason="never happened")
    assert play.status(task) == "blocked"
    assert not base(play.ledger.view(), run)["trouble"]
    with pytest.raises(EventIsLegal):
        play.do(settling.void_event, blocked, reason="this too")


def test_a_legal_event_is_never_voided(play: Play, run: str) -> None:
    task = play.proven()
    for seen in play.state(task).folded(task).events:
        with pytest.raises(EventIsLegal):
            play.do(settling.void_event, seen.event.id, reason="I do not like it")


def test_an_illegal_event_written_by_hand_has_no_effect_is_named_and_can_be_voided(play: Play, run: str) -> None:
    task = play.task()
    folder = play.root / layout.folder_of(run, task)
    (folder / "20260101T000000000Z-accepted-000000000009.yaml").write_text(
        f"do: accepted\nof: {task}\nat: 2026-01-01T00:00:00.000Z\nby: Eve\nafter: []\ntext: {'0' * 32}\n"
    )
    play.commit_all("by hand")
    assert play.status(task) == "pending"
    assert [row["problem"] for row in base(play.ledger.view(), run)["trouble"]] == ["illegal"]
    play.do(settling.void_event, "event_000000000009", reason="not ours")
    assert not base(play.ledger.view(), run)["trouble"]


def test_settling_in_a_final_run_is_possible_and_working_is_not(play: Play) -> None:
    run, task, (blocked, _) = contested(play)
    play.do(runs.cancel_run, run, reason="enough")
    with pytest.raises(no.RunFinal):
        play.do(tasks.cancel_task, task, reason="x")
    with pytest.raises(no.RunFinal):
        play.task("More", run=run)
    play.do(settling.settle_record, task, blocked, reason="it was stuck")
    assert play.status(task) == "blocked"


def test_a_contested_task_takes_no_work(play: Play) -> None:
    run, task, _ = contested(play)
    with pytest.raises(no.RecordContested):
        play.dispatch(task)
    with pytest.raises(no.RecordContested):
        play.do(tasks.cancel_task, task, reason="x")
    other = play.task("Other", run=run, depends_on=[task])
    with pytest.raises(no.DependencyOpen):
        play.dispatch(other)


# Refusals of the actions, beside the table.


def test_recover_only_takes_an_expired_claim_unless_forced_with_a_reason(play: Play, run: str) -> None:
    task = play.task()
    claim = play.claimed(task)
    with pytest.raises(no.NotExpired):
        play.do(dispatches.recover_dispatch, claim)
    with pytest.raises(ReasonRequired):
        play.do(dispatches.recover_dispatch, claim, force=True)
    _, successor = play.do(dispatches.recover_dispatch, claim, force=True, reason="gone", requeue=True)
    opened = play.state(task).opened(successor)
    assert opened
    assert opened.data["recovery_of"] == claim


def test_a_candidate_is_recovered_and_handed_out_again_beside_the_others(play: Play, run: str) -> None:
    task = play.task()
    first = play.dispatch(task, candidate=True)
    play.dispatch(task, candidate=True)
    _, successor = play.do(dispatches.recover_dispatch, first, requeue=True)
    assert play.state(task).dispatch(successor).status == "queued"


def test_a_renewal_is_the_claimants_and_committed_only_past_half_the_lease(play: Play, run: str) -> None:
    claim = play.claimed(play.task(), lease=3600)
    head = git(play.root, "rev-parse", "HEAD")
    assert play.do(dispatches.renew_dispatch, claim)[2] is False
    assert git(play.root, "rev-parse", "HEAD") == head
    bob = play.as_("Bob")
    with pytest.raises(no.NotClaimant):
        bob.do(dispatches.renew_dispatch, claim)
    bob.ledger.close()
    assert play.do(dispatches.renew_dispatch, claim, lease=7300)[2] is True


def test_who_claims_again_what_is_held_renews_it(play: Play, run: str) -> None:
    task = play.task()
    claim = play.claimed(task)
    head, before = git(play.root, "rev-parse", "HEAD"), claims.read(play.ledger.git, task)

    assert play.do(dispatches.claim_dispatch, claim) == claim

    assert git(play.root, "rev-parse", "HEAD") == head
    after = claims.read(play.ledger.git, task)
    assert before is not None
    assert after is not None
    assert after.until > before.until
    play.do(dispatches.claim_dispatch, claim, lease=7300)
    play.do(dispatches.claim_dispatch, claim, note="Begun.")
    assert git(play.root, "rev-list", "--count", f"{head}..") == "2"
    play.do(dispatches.claim_dispatch, claim, lease=1000)
    play.do(dispatches.claim_dispatch, claim)
    assert git(play.root, "rev-list", "--count", f"{head}..") == "4"
    play.do(runs.pause_run)
    with pytest.raises(no.RunNotActive):
        play.do(dispatches.claim_dispatch, claim)


def test_what_other_worktrees_see_of_a_claim_ends_no_sooner_than_the_claim(play: Play) -> None:
    def seen() -> str:
        told = claims.read(play.ledger.git, task)
        assert told is not None
        return told.until

    task = play.planned_task()
    claim = play.claimed(task)
    for length in (7300, 7200):
        play.do(dispatches.claim_dispatch, claim, lease=length)
        until = play.state(task).dispatch(claim).until
        assert seen() == until
        play.do(dispatches.claim_dispatch, claim)
        assert seen() == until
        play.do(dispatches.renew_dispatch, claim)
        assert seen() == until


@pytest.mark.parametrize("lease", [-1, 10**12])
def test_a_lease_that_is_no_length_of_time_is_refused(play: Play, lease: int) -> None:
    from memento_git.model.clock import DurationInvalid

    play.planned()
    with pytest.raises(DurationInvalid):
        play.claimed(play.task(), lease=lease)


def test_dependencies_may_not_lead_back_and_a_circle_elsewhere_is_not_in_the_way(play: Play, run: str) -> None:
    one, two, three = (play.task(title, run=run) for title in ("One", "Two", "Three"))
    play.do(tasks.revise_task, two, depends_on=[one])
    for back in ([two], [one]):
        with pytest.raises(no.DependencyCycle):
            play.do(tasks.revise_task, one, depends_on=back)
    path = play.root / layout.prose_path(run, one)
    play.commit(path, path.read_text().replace("\n---\n", f"\ndepends_on:\n- {two}\n---\n"), "by hand")
    play.do(tasks.revise_task, three, depends_on=[one])
    assert not play.state(three).is_ready(three)


def test_a_changed_plan_lets_nothing_be_handed_out_until_it_is_approved_again(play: Play) -> None:
    from memento_git.work.actions import plans

    run = play.planned()
    task = play.task()
    plan = play.state(run).canonical
    path = play.root / layout.prose_path(run, plan)
    play.commit(path, path.read_text() + "\nAnd more.\n", "changed")
    with pytest.raises(no.PlanChanged):
        play.dispatch(task)
    assert base(play.ledger.view(), run)["plans"][0]["changed"] is True
    play.do(plans.approve_plan, plan)
    play.dispatch(task)


def test_a_task_whose_text_changed_after_completion_is_unproven_and_verify_rejects_it(play: Play, run: str) -> None:
    task = play.proven()
    play.do(tasks.revise_task, task, title="Something easier")
    assert not play.is_proven(task)
    with pytest.raises(no.TaskUnproven):
        play.do(runs.complete_run, run)
    found = play.do(verifying.verify_task, task)
    assert found.unmet == ("the task's text changed after it was completed",)
    assert play.status(task) == "rejected"


def test_a_spike_run_hands_out_without_a_plan_up_to_the_limit(play: Play) -> None:
    run = play.run(spike=True)
    for number in range(3):
        play.dispatch(play.task(str(number), run=run))
    with pytest.raises(no.SpikeLimit):
        play.dispatch(play.task("One more", run=run))
