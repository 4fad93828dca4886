"""What takes from the state of a record: the words that stand beside it wherever it is shown in short. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.model.rows import PlanRow, RunRow, TaskRow
    from memento_git.model.run_rows import RunRows

CANCELLED: Final = "in a cancelled run"


def aged(row: Mapping[str, Any]) -> str:
    """Return how evidence, or what proves a task, stands to the code of this commit, where that is other code."""
    if not row.get("stale"):
        return ""
    if row.get("passed_since"):
        return "passed on this code since"
    return "of code that is not committed here" if row.get("uncommitted") else "stale"


def of_task(row: TaskRow) -> list[str]:
    """Return what takes from the state of a task, and from that it is proven."""
    told = (
        "cannot be read" if row["broken"] else "",
        "incomplete" if row["incomplete"] else "",
        "unsigned" if row["unsigned"] else "",
        "failed since" if row.get("failed_since") else "",
        aged(row),
        "late" if row["late"] else "",
        "a spike" if row["spike"] else "",
        CANCELLED if row["run_status"] == "cancelled" else "",
    )
    return [word for word in told if word]


def with_gates(row: TaskRow) -> list[str]:
    """Return the same, and the gates of the task that failed, where nothing else tells of them."""
    return [*of_task(row), *(f"gate {gate} failed" for gate in row["blocked_by"])]


def of_run(held: RunRows) -> list[str]:
    """Return what takes from that a run is completed, by what holds of its tasks and gates now."""
    if held["run"]["status"] != "completed":
        return []
    counting = [row for row in held["tasks"] if row["status"] != "cancelled"]
    left = sum(not row["proven"] or bool(row.get("unproven_by_older")) for row in counting)
    gates = [row for row in held["gates"] if row["scope_kind"] == "run" and not row["late"]]
    told = [f"{many(left, 'task is', 'tasks are')} not proven"] if left else []
    told += [f"gate {row['kind']} failed" for row in gates if row["status"] == "failed"]
    told += [f"gate {row['kind']} has fallen" for row in gates if row["fallen"]]
    return told + [f"gate {row['kind']} has not passed" for row in gates if row["status"] == "pending"]


def of_plan(row: PlanRow) -> list[str]:
    """Return what takes from that a plan is approved."""
    told = {
        "changed since its approval": row["changed"],
        "not approved by who may": row["unapproved"],
        "unsigned": row["unsigned"],
    }
    return [word for word, holds in told.items() if holds]


def spike_note(run: RunRow) -> str:
    """Return that a run is a spike, and whether it has no plan; nothing of any other run."""
    return ("a spike" if run["current_plan_id"] else "a spike without a plan") if run["spike"] else ""
