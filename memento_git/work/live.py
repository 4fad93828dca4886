"""What works on a run at this moment: its worker processes on this machine, and the tasks that are not done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memento_git.folding.rows import Row
    from memento_git.ledger.git import Git
    from memento_git.work.state import RunState


def live_rows(git: Git, run: str) -> list[Row]:
    """Return the worker processes of this machine that work on a run; without any, nothing is imported."""
    if not (git.common_dir / "memento" / "handovers").is_dir():
        return []
    from memento_git.ledger import handovers

    return [
        {
            "dispatch_id": one.dispatch, "task_id": one.task, "run_id": one.run, "executor": one.executor,
            "pid": one.worker.pid, "child_pid": one.child.pid if one.child else None, "since": one.since,
        }
        for one in handovers.listed(git)
        if one.run == run and one.worker is not None and one.is_ours and one.is_live
    ]  # fmt: skip


def incomplete_rows(state: RunState) -> list[Row]:
    """Return the tasks of a run that are neither done nor cancelled."""
    from memento_git.model.states import DONE

    return [
        {"task_id": task, "title": state.told(task).title, "status": status}
        for task in state.ids("task")
        if (status := state.task_status(task)) not in (*DONE, "cancelled")
    ]
