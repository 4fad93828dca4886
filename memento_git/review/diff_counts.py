"""How much of what a headline names there is in a diff. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.model.states import DONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.model.rows import Row


def is_proven(task: Row) -> bool | None:
    """Tell whether a task is proven by both policies; None where it is not done."""
    return None if task["proven"] is None else task["proven"] and not task["unproven_by_older"]


def counts(runs: Sequence[Row], forbidden: Sequence[Row], weakened: Sequence[str]) -> dict[str, int]:
    """Return how much of what a headline names there is."""
    tasks = [task for run in runs for task in run["tasks"]]
    done = [task for task in tasks if task["to"] in DONE]
    return {
        "runs": len(runs),
        "tasks": len(tasks),
        "added": sum(1 for task in tasks if task["change"] == "added"),
        "completed": sum(1 for task in done if task["from"] not in DONE),
        "proven": sum(1 for task in done if is_proven(task)),
        "unproven": sum(1 for task in done if is_proven(task) is False),
        "contested": sum(1 for run in runs for row in run["trouble"] if row["problem"] == "contested"),
        "stale": sum(1 for task in tasks if "stale" in task["became"]),
        "late": sum(1 for task in tasks if "late" in task["became"]),
        "plans": sum(len(run["plans"]) for run in runs),
        "gates": sum(len(run["gates"]) for run in runs),
        "evidence": sum(len(run["evidence"]) for run in runs),
        "signatures": sum(len(run["signatures"]) for run in runs),
        "reproductions": sum(len(run["reproductions"]) for run in runs),
        "forbidden": len(forbidden),
        "weakened": len(weakened),
    }
