"""What a branch completes a run without: work that the base had asked for, and that it calls off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.model.finding import Finding
from memento_git.model.states import DONE
from memento_git.work.proof import proofs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.review.against import Comparison
    from memento_git.work.state import RunState


def lacks(comparison: Comparison) -> Iterator[Finding]:
    """Yield the tasks that were to be done at the base and that a branch cancels, if it completes their run as well."""
    for run in comparison.touched():
        state = comparison.state(run)
        ends = [event for event in state.folded(run).legal("completed") if event.id in comparison.added]
        if not ends or state.status != "completed":
            continue
        for task in _left(state, comparison.before(run)):
            reasons = [event.get("reason") for event in state.folded(task).legal("cancelled")]
            why = f": {reasons[-1]}" if any(reasons[-1:]) else ""
            told = f"{run} is completed without {task} (“{state.told(task).title}”), which the branch cancelled{why}"
            fix = f"agree that it is not needed, or do it in a further run: memento task show {task}"
            yield Finding("P004", ends[-1].path, 0, told, fix, "warning")


def _left(state: RunState, before: RunState) -> Iterator[str]:
    """Yield the tasks that were to be done, and are cancelled; not those whose place a repair takes."""
    replaced = proofs.replaced(state)
    for task in before.ids("task"):
        was_open = before.task_status(task) not in (*DONE, "cancelled", "contested")
        if was_open and task not in replaced and state.task_status(task) == "cancelled":
            yield task
