"""A repair is held against the task that it repairs, so that this one's own text is weakened as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import tasks, verifying

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

HARD = "The password is hashed."


@pytest.fixture
def rejected(doors: Doors) -> str:
    """A task of the main branch that was done, and rejected."""
    task = doors.play.task(criteria=[HARD], require=["test", "lint"])
    claim = doors.play.claimed(task)
    doors.play.complete(claim, doors.play.evidence(task), doors.play.evidence(task, kind="lint"))
    doors.forge(task, "rejected", unmet=[f"criterion: {HARD}"])
    doors.landed()
    return task


def weakened(doors: Doors, *names: str, old: str = f"- {HARD}\n", new: str = "- It runs.\n") -> None:
    for name in names:
        doors.edit(name, old, new)


@pytest.mark.parametrize(("old", "new"), [(f"- {HARD}\n", "- It runs.\n"), ("  - lint\n", "")])
def test_a_task_that_is_weakened_with_its_repair(doors: Doors, rejected: str, old: str, new: str) -> None:
    repair = doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    weakened(doors, rejected, repair, old=old, new=new)
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair))
    assert f"{repair}, which repairs it, could ask less by it" in doors.caught("D007")


def test_a_task_that_is_weakened_before_its_repair_is(doors: Doors, rejected: str) -> None:
    """Way: in the first request only the cancelled task, in the second its repair, which then asks the same."""
    repair = doors.play.do(verifying.repair_task, rejected)
    doors.landed()
    weakened(doors, rejected)
    assert f"{repair}, which repairs it, could ask less by it" in doors.caught("D007")


def test_a_task_that_is_weakened_repaired_and_done_in_one_go(doors: Doors, rejected: str) -> None:
    weakened(doors, rejected)
    repair = doors.play.do(verifying.repair_task, rejected)
    assert repair in doors.warned("D007")
    lint = doors.play.evidence(repair, kind="lint")
    doors.play.complete(doors.play.claimed(repair), doors.play.evidence(repair), lint)
    assert repair in doors.caught("D007")


def test_a_task_that_asks_more_or_is_called_otherwise_may_be_repaired(doors: Doors, rejected: str) -> None:
    """The honest way: what its repair is held against only grows, and a task that nobody repairs is its author's."""
    doors.play.do(verifying.repair_task, rejected)
    other = doors.play.task(criteria=[HARD])
    doors.landed()
    doors.play.do(tasks.revise_task, rejected, title="Another", criteria=[HARD, "It is fast."])
    weakened(doors, other)
    doors.sound("P005")
