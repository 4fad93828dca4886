"""A task is tried as often as its budget allows; by hand it is handed out as often as one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import dispatches, tasks
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

ONCE = "  budget: {attempts: 1}\n"


def tried(doors: Doors, **options: Any) -> str:
    """Return a task that somebody gave up once, and that waits again."""
    task = doors.play.task(**options)
    doors.play.do(dispatches.fail_dispatch, doors.play.claimed(task), reason="No idea.")
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    return task


def handed_out(doors: Doors, task: str, **told: Any) -> str:
    """Write a hand-out, and claim it; return its dispatch."""
    event = doors.forge(task, "dispatched", executor="agent", plan=doors.play.state(task).canonical, **told)
    return str(doors.play.do(dispatches.claim_dispatch, event.replace("event", "dispatch")))


@pytest.mark.parametrize(("policy", "options"), [(ONCE, {}), ("", {"attempts": 1})])
def test_a_hand_out_beyond_the_budget(doors: Doors, policy: str, options: dict[str, int]) -> None:
    doors.policy(policy or "  lease: 1h\n")
    task = tried(doors, **options)
    doors.refused("budget_exceeded", "dispatch create", task=task, executor="agent")
    claim = handed_out(doors, task)
    assert "1 of 1 attempts came to nothing" in doors.caught("P007")
    doors.play.complete(claim, doors.play.evidence(task))
    assert f"{task} was handed out beyond its budget" in doors.caught("P007")


def test_a_hand_out_beyond_the_budget_of_a_task_that_was_tried_at_the_base(doors: Doors) -> None:
    doors.policy(ONCE)
    task = tried(doors)
    doors.landed()
    doors.play.complete(handed_out(doors, task), doors.play.evidence(task))
    doors.caught("P007")


def test_a_hand_out_with_a_reason_within_the_budget_or_taken_back_is_no_cheat(doors: Doors) -> None:
    doors.policy(ONCE)
    within, beyond = doors.play.task(), tried(doors)
    handed_out(doors, within)
    claim = handed_out(doors, beyond)
    doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Beyond its budget.")
    dispatch = doors.play.dispatch(beyond, over_budget="It is nearly there.")
    doors.play.do(dispatches.claim_dispatch, dispatch)
    doors.play.complete(dispatch, doors.play.evidence(beyond))
    doors.sound()


def test_hand_outs_of_two_branches_that_had_not_seen_one_another_are_no_cheat(doors: Doors) -> None:
    """The honest way: each branch had an attempt left when it handed the task out, as a candidate."""
    doors.policy(ONCE)
    task = doors.play.task()
    doors.play.dispatch(task, candidate=True)
    doors.landed()
    git(doors.root, "switch", "-qc", "side")
    first = doors.play.dispatch(task, candidate=True)
    doors.play.do(dispatches.claim_dispatch, first)
    doors.play.do(dispatches.fail_dispatch, first, reason="No idea.")
    git(doors.root, "switch", "-q", "work")
    second = doors.play.dispatch(task, candidate=True)
    doors.play.do(dispatches.claim_dispatch, second)
    git(doors.root, "merge", "-q", "--no-edit", "side")
    doors.sound()
