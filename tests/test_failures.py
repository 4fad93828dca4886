"""What proves a task, and failed since: the latest run of each command, and verdict of each check, counts; no disk."""

from __future__ import annotations

from typing import Any

import pytest

from memento_git.work.proof.failures import mark_failed

TASK, OTHER = "task_000000000001", "task_000000000002"
CHECK = {"provider": "github", "name": "unit"}


def row(number: int, outcome: str = "failed", **data: Any) -> dict[str, Any]:
    """Return evidence of a command as a row; the number is its time, too."""
    return {
        "id": f"evidence_{number:012d}", "kind": "test", "outcome": outcome, "status": "recorded", "covers": [],
        "created_at": at(number), "task_ids": [TASK], "command": ["make", "test"], "folder": ".", "check": None, **data,
    }  # fmt: skip


def at(number: int) -> str:
    return f"2026-01-01T00:00:{number:02d}.000Z"


def verdict(number: int, outcome: str = "failed", **check: Any) -> dict[str, Any]:
    return row(number, outcome, kind="ci", command=None, folder=None, check={**CHECK, **check})


def failed_since(*rows: dict[str, Any]) -> list[int]:
    """Return what failed since, where the first of some rows proves the task."""
    task: dict[str, Any] = {"id": TASK, "proven_by": [rows[0]["id"]]}
    open_: dict[str, Any] = {"id": OTHER, "proven_by": []}
    mark_failed([open_, task], rows, at(9))
    assert "failed_since" not in open_
    return [int(name[-3:]) for name in task["failed_since"]]


PASS = row(2, "passed")
AHEAD = "2026-01-01T00:06:00.000Z"


@pytest.mark.parametrize(("later", "told"), [
    ((), []), ((row(3),), [3]), ((row(3), row(4)), [4]), ((row(4), row(3)), [4]), ((row(1),), []),
    ((row(3), row(4, "passed")), []), ((row(3), row(4, "observed")), [3]), ((row(3, status="retracted"),), []),
    ((row(3, task_ids=[]),), [3]), ((row(3, task_ids=[]), row(4, "passed")), []), ((row(3, task_ids=[OTHER]),), []),
    ((row(3, task_ids=[OTHER, TASK]),), [3]), ((row(3, kind="lint"),), []), ((row(3, folder="docs"),), []),
    ((row(3, command=["make"]),), []), ((row(3, command=None),), []),
    ((row(3, covers=["a"]),), [3]), ((row(3), row(4, "passed", covers=["a"])), [3]),
    ((row(3, covers=["a"]), row(4, "passed", covers=["a"])), []),
    ((row(3), row(4, "passed", created_at=AHEAD)), [3]), ((row(3, created_at=AHEAD),), [3]),
])  # fmt: skip
def test_the_latest_run_of_a_command_counts(later: tuple[dict[str, Any], ...], told: list[int]) -> None:
    assert failed_since(PASS, *later) == told


@pytest.mark.parametrize(("later", "told"), [
    (verdict(3), [3]), (verdict(3, name="lint"), []), (verdict(3, provider="gitlab"), []),
    (verdict(3, finished=at(1)), []), (verdict(3, finished=at(4)), [3]), (row(3, kind="ci"), []),
])  # fmt: skip
def test_the_latest_verdict_of_a_check_counts_by_when_it_ended(later: dict[str, Any], told: list[int]) -> None:
    assert failed_since(verdict(2, "passed"), later) == told


def test_what_failed_before_a_pass_about_less_code_has_not_failed_since() -> None:
    assert failed_since(row(5, "passed", covers=["a"]), row(3), row(4, task_ids=[])) == []


def test_of_what_no_command_or_check_shows_nothing_has_failed_since() -> None:
    rows = [row(2, "passed", kind="artifact", command=None), row(3, kind="artifact", command=None)]
    assert failed_since(*rows) == []
