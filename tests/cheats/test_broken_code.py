"""All work of a run was proven at the base, and the branch breaks the code and ends the run on that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import runs, tasks

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

TOLD = "is of other code than this commit's"


@pytest.fixture
def task(doors: Doors) -> str:
    """A task that is proven on the main branch."""
    found = doors.play.proven()
    doors.landed()
    return found


def run_of(doors: Doors) -> str:
    return next(iter(doors.play.ledger.view().runs()))


def broken(doors: Doors) -> None:
    (doors.root / "app.py").write_text("bad\n")
    doors.play.commit_all("faster")


def test_a_run_is_completed_on_code_that_the_branch_broke(doors: Doors, task: str) -> None:
    broken(doors)
    doors.sound()
    assert doors.check("--base", "main")[1] == []
    doors.play.do(runs.complete_run, run_of(doors))
    assert f"which proves {task}, {TOLD}" in doors.warned("C001")


def test_a_run_is_released_on_code_that_the_branch_broke(doors: Doors, task: str) -> None:
    broken(doors)
    doors.forge(run_of(doors), "passed", gate="release")
    assert f"which proves {task}, {TOLD}" in doors.caught("G003", told="C001")


def test_a_task_that_was_called_off_is_not_asked_for(doors: Doors, task: str) -> None:
    """No way: what does not count is not stale, nor is what was proven of the code as it is."""
    doors.play.do(tasks.reopen_task, task, reason="Not needed.")
    doors.play.do(tasks.cancel_task, task, reason="Not needed.")
    broken(doors)
    doors.play.proven("Another")
    doors.play.do(runs.complete_run, run_of(doors))
    assert [row for row in doors.check("--base", "main")[1] if row["code"] == "C001"] == []
    doors.sound()
