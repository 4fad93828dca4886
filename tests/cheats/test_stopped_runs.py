"""A run that was paused, or whose gate has failed, and work in it that names what was there before that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.folding.fold import plans_of
from memento_git.verbs import settling
from memento_git.work.actions import dispatches, runs
from tests.cheats.doors import run_of
from tests.cheats.forging import MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cheats.doors import Doors

GATE = "plan_review"
LATE = "2099-01-01T00:00:00.000Z"


def pause(doors: Doors) -> None:
    doors.play.do(runs.pause_run, run_of(doors), reason="Stop.")


def disagree(doors: Doors) -> str:
    """Pause the run beside a cancellation; return the pause."""
    paused = doors.forge(run_of(doors), "paused", sees=[], reason="Stop.")
    doors.forge(run_of(doors), "cancelled", sees=[], reason="Enough.")
    return paused


def keep_paused(doors: Doors) -> None:
    """Do the same, and settle that it is the pause that holds."""
    doors.play.do(settling.settle_record, run_of(doors), keep=disagree(doors), reason="It goes on later.")


def fail(doors: Doors) -> None:
    doors.play.gate(GATE, "failed", reason="Unsafe.")


STOPS = [
    (pause, "run_not_active", "is paused"),
    (keep_paused, "run_not_active", "is paused"),
    (disagree, "record_contested", "is contested"),
    (fail, "review_gate_blocking", f"has failed its gate {GATE}"),
]


def before(doors: Doors, task: str) -> list[str]:
    """Return what somebody names who has seen nothing that comes after this."""
    state = doors.play.state(task)
    return [head for group in (task, state.id, plans_of(state.id)) for head in state.folded(group).heads]


@pytest.mark.parametrize(("stop", "token", "told"), STOPS)
def test_work_that_begins_as_if_its_run_had_not_been_stopped(
    doors: Doors, stop: Callable[[Doors], object], token: str, told: str
) -> None:
    task, run = doors.play.task(), run_of(doors)
    sees = before(doors, task)
    stop(doors)
    doors.landed()
    doors.refused(token, "dispatch create", task=task, executor="agent")
    handed = doors.forge(task, "dispatched", sees=sees, executor="agent", plan=doors.play.state(task).canonical)
    assert f"{task} was handed out, as if it were not known that {run} {told}" in doors.caught("T006")
    dispatch = handed.replace("event", "dispatch", 1)
    claimed = doors.forge(task, "claimed", sees=[handed, *sees], dispatch=dispatch, until=LATE)
    completion = doors.completion(task, doors.play.evidence(task), dispatch=dispatch)
    doors.forge(task, "completed", sees=[claimed, *sees], **completion)
    said = doors.caught("T006")
    assert f"{task} was claimed, as if it were not known that {run} {told}" in said
    assert (f"{task} was completed, as if" in said) == (stop is not fail)


def test_work_that_begins_past_a_failed_gate_which_the_branch_fails_once_more(doors: Doors) -> None:
    """Way: the last failure is the branch's own, and what it had not seen is the one before that."""
    task, run = doors.play.task(), run_of(doors)
    sees = before(doors, task)
    fail(doors)
    doors.landed()
    doors.forge(run, "failed", gate=GATE, reason="Unsafe.")
    handed = doors.forge(task, "dispatched", sees=sees, executor="agent", plan=doors.play.state(task).canonical)
    assert f"{task} was handed out, as if it were not known that {run} has failed its gate {GATE}" in doors.caught(
        "T006"
    )
    dispatch = handed.replace("event", "dispatch", 1)
    claimed = doors.forge(task, "claimed", sees=[handed, *sees], dispatch=dispatch, until=LATE)
    completion = doors.completion(task, doors.play.evidence(task), dispatch=dispatch)
    doors.forge(task, "completed", sees=[claimed, *sees], **completion)
    assert doors.play.is_proven(task)
    doors.caught("T006")


def test_work_that_is_completed_as_if_its_run_were_not_paused(doors: Doors) -> None:
    task = doors.play.task()
    claim = doors.play.claimed(task)
    sees = before(doors, task)
    pause(doors)
    doors.landed()
    evidence = doors.play.evidence(task)
    doors.refused("run_not_active", "dispatch complete", dispatch=claim, evidence=[evidence])
    doors.forge(task, "completed", sees=sees, **doors.completion(task, evidence, dispatch=claim))
    assert f"{task} was completed, as if" in doors.caught("T006")
    doors.play.do(runs.resume_run, run_of(doors))
    doors.sound()


def test_work_that_was_under_way_when_its_run_was_stopped(doors: Doors) -> None:
    """The honest way: what was claimed is completed after a gate failed; a pause of the branch comes after its work."""
    task, other = doors.play.task("One"), doors.play.task("Two")
    claim = doors.play.claimed(task)
    fail(doors)
    doors.landed()
    doors.play.complete(claim, doors.play.evidence(task))
    doors.sound()
    doors.play.gate(GATE, "passed")
    doors.play.complete(doors.play.claimed(other), doors.play.evidence(other))
    fail(doors)
    pause(doors)
    doors.sound()


def test_work_on_a_branch_beside_a_pause_waits_for_the_end_of_it(doors: Doors) -> None:
    """The honest way: the branch is sound by itself; what it is merged into takes nothing until it goes on."""
    task, other = doors.play.task("One"), doors.play.task("Two")
    doors.landed()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    taken_back = doors.play.dispatch(other)
    git(doors.root, "switch", "-q", MAIN)
    pause(doors)
    git(doors.root, "switch", "-q", WORK)
    assert doors.check("--base", MAIN) == (0, [])
    git(doors.root, "merge", "-q", "--no-edit", MAIN)
    assert f"{other} was handed out, as if" in doors.caught("T006")
    doors.play.do(dispatches.recover_dispatch, taken_back, force=True, reason="Not now.")
    assert other not in doors.caught("T006")
    doors.play.do(runs.resume_run, run_of(doors))
    doors.sound()
