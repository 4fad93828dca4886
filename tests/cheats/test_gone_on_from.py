"""What is taken out in a made-up contest, and goes on counting in what rests on it: it is judged as if it stood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.folding.fold import plans_of
from memento_git.work.actions import dispatches, plans, settling, tasks
from tests.cheats.forging import MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

WHY = "It was a slip."
LATE = "2099-01-01T00:00:00.000Z"
APPROVERS = "  plan: {approvers: [Grace]}\n"


@pytest.fixture
def task(doors: Doors) -> str:
    """A task of a run that never had a plan, on both branches, where only Grace may approve one."""
    doors.policy(APPROVERS)
    run = doors.play.run("Another")
    task = doors.play.task(run=run)
    doors.landed()
    return task


def drafted(doors: Doors, task: str) -> str:
    return str(doors.play.do(plans.draft_plan, "Lax", "Do it.", run=doors.play.state(task).id))


def approved(doors: Doors, plan: str) -> str:
    """Write an approval as if nothing else of the run's plans had been seen; return the event."""
    return doors.forge(plan, "approved", sees=[], text=doors.ref(plan).digest)


def opened(doors: Doors, task: str, *sees: str, **told: str) -> tuple[str, str]:
    """Write a hand-out and a claim of it; return both events."""
    out = doors.forge(task, "dispatched", sees=sees, executor="agent", **told)
    dispatch = out.replace("event", "dispatch", 1)
    return out, doors.forge(task, "claimed", sees=[out], dispatch=dispatch, until=LATE)


def completed(doors: Doors, task: str, out: str, claim: str) -> str:
    dispatch = out.replace("event", "dispatch", 1)
    told = doors.completion(task, doors.play.evidence(task), dispatch=dispatch)
    return doors.forge(task, "completed", sees=[claim], **told)


def void(doors: Doors, record: str, target: str, *sees: str) -> str:
    return doors.forge(record, "voided", sees=sees, target=target, reason=WHY)


def others(doors: Doors, task: str) -> tuple[str, str]:
    """Write two more words on a task's state, none of which had seen anything."""
    return doors.forge(task, "blocked", sees=[], reason=WHY), doors.forge(task, "cancelled", sees=[], reason=WHY)


@pytest.mark.parametrize("how", ["void", "keep"])
def test_an_approval_that_is_taken_out_after_its_work(doors: Doors, task: str, how: str) -> None:
    """Way: the approval of one who may not is voided beside a rejection, and what was done on it stays done."""
    plan = drafted(doors, task)
    yes, no = approved(doors, plan), doors.forge(plan, "rejected", sees=[], reason=WHY)
    out, claim = opened(doors, task, yes, plan=plan)
    completed(doors, task, out, claim)
    if how == "void":
        void(doors, plan, yes, yes, no)
    else:
        doors.forge(plan, "settled", sees=[yes, no], keep=no, reason=WHY)
    said = doors.caught("P003", "P001")
    assert f"{plan} was approved by Ada" in said
    doors.unproven(task, "no plan is approved any more")
    doors.refused("task_unproven", "run complete", run=doors.play.state(task).id)


def test_a_plan_that_is_voided_so_that_nothing_is_asked(doors: Doors) -> None:
    """Way: who may approve voids the plan, and with it what it demands, after what was completed below that."""
    task = doors.play.task(run=doors.play.run("Another"))
    run = doors.play.state(task).id
    strict = doors.play.do(plans.draft_plan, "Strict", "Show it.", run=run, require=["approval"])
    yes, _ = approved(doors, strict), doors.forge(strict, "rejected", sees=[], reason=WHY)
    out, claim = opened(doors, task, yes, plan=strict)
    completed(doors, task, out, claim)
    doors.unproven(task, "it is contested which plan holds")
    for _ in doors.accepted("settle void", event=yes, reason=WHY):
        doors.unproven(task, "no plan is approved any more")
    assert "no plan is approved any more" in doors.caught("P001")


def test_approvals_that_hold_in_the_voids_of_one_another(doors: Doors, task: str) -> None:
    """Way: each void writes what is left without the event that it takes out, and the others take out just that."""
    plan = drafted(doors, task)
    yes = [approved(doors, plan) for _ in range(2)]
    every = [*yes, doors.forge(plan, "rejected", sees=[], reason=WHY)]
    for one in every:
        void(doors, plan, one, *every)
    assert doors.play.status(plan) == "canonical"
    assert plan in doors.caught("P003")


def test_an_approval_that_holds_by_what_a_second_pull_request_adds(doors: Doors, task: str) -> None:
    """Way: nobody rests on the approval that the first one voids, and the second one adds none of it."""
    plan = drafted(doors, task)
    yes, no = approved(doors, plan), doors.forge(plan, "rejected", sees=[], reason=WHY)
    void(doors, plan, yes, yes, no)
    doors.sound()
    doors.landed()
    again = approved(doors, plan)
    kept = [void(doors, plan, one, yes, again, no) for one in (again, no)][-1]
    doors.play.do(settling.settle_record, plan, kept, reason=WHY)
    assert doors.play.status(plan) == "canonical"
    assert plan in doors.caught("P003")


@pytest.mark.parametrize("landed", [False, True])
def test_a_spikes_hand_out_that_is_voided(doors: Doors, task: str, *, landed: bool) -> None:
    """Way: the hand-out is undone in a contest of three, and its claim and completion had not seen that."""
    out = doors.forge(task, "dispatched", sees=[], executor="agent", spike="true")
    every = [out, *others(doors, task)]
    for one in every:
        void(doors, task, one, *every)
    if landed:
        doors.sound()
        doors.landed()
    dispatch = out.replace("event", "dispatch", 1)
    claim = doors.forge(task, "claimed", sees=[out], dispatch=dispatch, until=LATE)
    completed(doors, task, out, claim)
    assert "which is no spike" in doors.caught("P006")


def test_work_beside_a_failed_gate_whose_hand_out_and_claim_are_voided(doors: Doors) -> None:
    """Way: neither stands, so neither is asked whether it had seen that the run was stopped."""
    task = doors.play.task()
    plan = doors.play.state(task).canonical
    (yes,) = doors.play.state(task).folded(plans_of(doors.play.state(task).id)).heads
    doors.play.gate("plan_review", "failed", reason="Unsafe.")
    doors.landed()
    out, claim = opened(doors, task, yes, plan=plan)
    every = [out, *others(doors, task)]
    voids = [void(doors, task, one, *every) for one in every]
    void(doors, task, claim, claim, *every[1:], voids[0])
    completed(doors, task, out, claim)
    said = doors.caught("T006")
    assert f"{task} was handed out, as if it were not known" in said
    assert f"{task} was claimed, as if it were not known" in said


def rivals(doors: Doors, task: str) -> tuple[str, str]:
    """Work on Ada's plan, and settle for Grace's, which was approved beside it; return that and the dispatch."""
    plan, own = (doors.play.do(plans.draft_plan, title, "Do it.", run=doors.play.state(task).id) for title in "AB")
    yes = approved(doors, own)
    out, claim = opened(doors, task, yes, plan=own)
    completed(doors, task, out, claim)
    grace = doors.forge(plan, "approved", sees=[], by="Grace", text=doors.ref(plan).digest)
    doors.play.do(settling.settle_record, plan, grace, reason=WHY)
    return plan, out.replace("event", "dispatch", 1)


def test_an_approval_that_was_settled_away_and_nothing_rests_on(doors: Doors, task: str) -> None:
    """The honest way: what was done on a plan that did not hold is done anew on the one that does."""
    plan, dispatch = rivals(doors, task)
    assert "was approved by Ada" in doors.caught("P003")
    doors.play.do(tasks.reopen_task, task, reason=WHY)
    assert doors.play.state(task).dispatch(dispatch).status == "completed"
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound()
    assert doors.task(task)["proven"]
    assert doors.play.status(plan) == "canonical"


def test_an_approval_whose_work_was_reopened_for_show(doors: Doors, task: str) -> None:
    """Way: the reopening of a candidate's task is settled away for what the task is, and keeps the candidate's lane."""
    run = doors.play.state(task).id
    own = drafted(doors, task)
    yes, no = approved(doors, own), doors.forge(own, "rejected", sees=[], reason=WHY)
    out, claim = opened(doors, task, yes, plan=own, candidate="true")
    done = completed(doors, task, out, claim)
    doors.forge(task, "reopened", sees=[done], reason=WHY)
    kept = doors.forge(task, "accepted", sees=[done], text=doors.ref(task).digest)
    doors.play.do(settling.settle_record, task, kept, reason=WHY)
    void(doors, own, yes, yes, no)
    plan = doors.play.do(plans.draft_plan, "Real", "The rest.", run=run)
    doors.play.as_("Grace").do(plans.approve_plan, plan)
    assert doors.play.status(task) == "accepted"
    assert f"{own} was approved by Ada" in doors.caught("P003")


def test_hand_outs_of_two_branches_of_which_one_is_kept(doors: Doors) -> None:
    """The honest way: two hand out and claim one task, and one of them goes on."""
    task = doors.play.task()
    doors.landed()
    git(doors.root, "switch", "-q", MAIN)
    theirs = doors.play.as_("Bob")
    other = str(theirs.do(dispatches.create_dispatch, task, "bob"))
    git(doors.root, "switch", "-q", WORK)
    own = doors.play.claimed(task)
    doors.play.do(dispatches.renew_dispatch, own, lease=7300)
    git(doors.root, "merge", "-q", "--no-edit", MAIN)
    doors.play.do(settling.settle_record, task, other.replace("dispatch", "event", 1), reason=WHY)
    doors.play.do(dispatches.claim_dispatch, other)
    doors.play.complete(other, doors.play.evidence(task))
    doors.sound()
