"""What the base holds is voided, and the void is voided in turn, so that neither seems to have had an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import gates, plans

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

BOB = "Bob <bob@example.invalid>"
WHY = "It was a slip."
DONE = "The customer left."


def void(doors: Doors, record: str, target: str, *others: str) -> str:
    return doors.forge(record, "voided", sees=[target, *others], target=target, reason=WHY)


def cancelled(doors: Doors, run: str) -> tuple[str, str]:
    """Let Bob cancel a run on both branches, and pause it as if that were not known; return both events."""
    before = doors.play.state(run).folded(run).heads
    gone = doors.forge(run, "cancelled", by=BOB, sees=before, reason=DONE)
    doors.landed()
    return gone, doors.forge(run, "paused", sees=before)


def rejected(doors: Doors) -> tuple[str, str, str]:
    """Let Bob reject a task on both branches; return the task, its completion and the rejection."""
    task = doors.play.proven("It works.")
    done = doors.last(task, "completed")
    no = doors.forge(task, "rejected", by=BOB, unmet=["criterion: It works."])
    doors.landed()
    return task, done, no


def approval(doors: Doors, run: str) -> str:
    """Return the latest approval of a plan of a run."""
    (yes,) = doors.play.state(run).folded(f"plans:{run}").heads
    return yes


def test_a_cancellation_whose_void_is_voided(doors: Doors, run: str) -> None:
    """Way: the first void takes the cancellation out of the state, and the second one takes out only the first."""
    gone, pause = cancelled(doors, run)
    first = void(doors, run, gone, pause)
    on = doors.forge(run, "resumed", sees=[pause])
    void(doors, run, first, on)
    assert gone in doors.caught("T001")
    doors.refused("record_contested", "run pause", run=run)


def test_a_rejection_whose_void_is_voided(doors: Doors) -> None:
    task, done, no = rejected(doors)
    yes = doors.forge(task, "accepted", sees=[done], text=doors.ref(task).digest)
    first = void(doors, task, no, yes)
    other = doors.forge(task, "rejected", sees=[done], unmet=["criterion: It works."])
    second = void(doors, task, first, other)
    void(doors, task, other, second)
    assert no in doors.caught("T001")
    assert not doors.task(task)["proven"]


def test_a_plan_whose_approval_is_voided_by_what_is_voided(doors: Doors, run: str) -> None:
    """Way: the plan before it would be canonical again, and ask less."""
    before = doors.play.state(run).folded(f"plans:{run}").heads
    strict = doors.play.do(plans.draft_plan, "Strict", "Show each step.", run=run, require=["approval"])
    doors.play.do(plans.approve_plan, strict)
    yes = approval(doors, run)
    doors.landed()
    no = doors.forge(strict, "rejected", sees=before, reason=WHY)
    first = void(doors, strict, yes, no)
    other = doors.forge(strict, "settled", sees=[yes, no], keep=yes, reason=WHY)
    void(doors, strict, first, other)
    assert doors.play.state(run).canonical == strict
    doors.sound()


@pytest.mark.parametrize("how", ["void", "keep"])
def test_what_goes_on_from_what_took_out_the_bases_word_and_is_voided(doors: Doors, run: str, how: str) -> None:
    """Way: another branch goes on before the void is voided; its word agrees with the rest."""
    gone, pause = cancelled(doors, run)
    if how == "void":
        first = void(doors, run, gone, pause)
    else:
        first = doors.forge(run, "settled", sees=[gone, pause], keep=pause, reason=WHY)
    doors.forge(run, "resumed", sees=[first])
    void(doors, run, first, doors.forge(run, "resumed", sees=[pause]))
    assert doors.play.status(run) == "active"
    assert gone in doors.caught("D011")


def test_what_went_on_is_kept_after_a_void_was_voided(doors: Doors, run: str) -> None:
    """Way: a settling takes out nothing that lies behind what it keeps."""
    gone, pause = cancelled(doors, run)
    first = void(doors, run, gone, pause)
    on, other = doors.forge(run, "resumed", sees=[first]), doors.forge(run, "resumed", sees=[pause])
    second = void(doors, run, first, other)
    end = doors.forge(run, "cancelled", sees=[other], reason=WHY)
    doors.forge(run, "settled", sees=[on, second, end], keep=on, reason=WHY)
    assert doors.play.status(run) == "active"
    assert gone in doors.caught("D011")


@pytest.mark.parametrize("seen", [True, False])
def test_a_rejection_that_a_settling_is_said_to_keep(doors: Doors, *, seen: bool) -> None:
    """Way: what is kept is before the rejection, as if that were on its side; but it was out by then, or not seen."""
    task, done, no = rejected(doors)
    claim = doors.last(task, "claimed")
    block = doors.forge(task, "blocked", sees=[claim], reason=WHY)
    if seen:
        first = void(doors, task, no, done, block)
        doors.forge(task, "settled", sees=[first], keep=done, reason=WHY)
    else:
        first = void(doors, task, block, done)
        doors.forge(task, "settled", sees=[done, block], keep=done, reason=WHY)
        void(doors, task, no, first)
    assert doors.play.status(task) == "completed"
    assert no in doors.caught("D011")


def test_an_approval_that_is_kept_for_its_plan_and_not_as_what_holds(doors: Doors, run: str) -> None:
    """Way: a second settling keeps the approval by name, beside the settling that took it out for what holds."""
    before = doors.play.state(run).folded(f"plans:{run}").heads
    strict, lax, other = (doors.play.do(plans.draft_plan, title, "Do it.", run=run) for title in ("A", "B", "C"))
    doors.play.do(plans.approve_plan, strict)
    yes = approval(doors, run)
    doors.landed()
    easy, third = (
        doors.forge(plan, "approved", sees=before, text=doors.ref(plan).digest) for plan in (lax, other)
    )  # fmt: skip
    first = doors.forge(lax, "settled", sees=[yes, easy], keep=easy, reason=WHY)
    no = doors.forge(strict, "rejected", sees=before, reason=WHY)
    doors.forge(strict, "settled", sees=[first, third, no], keep=yes, reason=WHY)
    assert doors.play.state(run).canonical == lax
    assert yes in doors.caught("D011")


def test_a_void_of_a_verdict_of_a_gate_is_none(doors: Doors, run: str) -> None:
    """Way: as with what a run is; but verdicts do not disagree, so there is nothing that a void could take out."""
    doors.play.do(gates.record_gate, "quality_review", "failed", run=run, reason=WHY)
    failed = doors.last(run, "failed")
    doors.landed()
    passed = doors.forge(run, "passed", gate="quality_review", sees=[])
    first = void(doors, run, failed, passed)
    assert run in doors.caught("T002")
    void(doors, run, first)
    assert doors.gate("quality_review") == "failed"
    doors.sound()


def test_a_void_by_mistake_that_is_voided(doors: Doors, run: str) -> None:
    """The honest way: who voided the wrong side takes that back, and keeps the base's."""
    gone, pause = cancelled(doors, run)
    first = void(doors, run, gone, pause)
    doors.forge(run, "settled", sees=[gone, pause], keep=gone, reason=DONE)
    void(doors, run, first, doors.last(run, "settled"))
    assert doors.play.status(run) == "cancelled"
    doors.sound()
