"""What works on a run at this moment: its worker processes on this machine, and the tasks that are not done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.handovers import Handover
    from memento_git.model.rows import LiveRow, Row
    from memento_git.model.run_rows import RunRows
    from memento_git.work.state import RunState


def live_rows(git: Git, run: str) -> list[LiveRow]:
    """Return the worker processes of this machine that work on a run."""
    return _rows(_workers(git, run))


def working(git: Git, held: RunRows) -> tuple[list[LiveRow], dict[str, Row]]:
    """Return the rows of processes that work on a run, and the step of each dispatch that one works, or worked, on."""
    found = _workers(git, held["run"]["id"])
    titles = {row["id"]: row["title"] for row in held["tasks"]} if found else {}
    return _rows(found), {one.dispatch: _step(one, titles.get(one.task, one.task)) for one in found}


def has_handovers(git: Git) -> bool:
    """Tell whether this machine ever worked on a dispatch; where it did not, nothing is imported to look."""
    return (git.common_dir / "memento" / "handovers").is_dir()


def _workers(git: Git, run: str) -> list[Handover]:
    """Return what processes of this machine work, or worked, on in a run."""
    if not has_handovers(git):
        return []
    from memento_git.ledger import handovers

    return [one for one in handovers.listed(git) if one.run == run and one.worker is not None and one.is_ours]


def _rows(found: Sequence[Handover]) -> list[LiveRow]:
    return [
        {
            "dispatch_id": one.dispatch, "task_id": one.task, "run_id": one.run, "executor": one.executor,
            "pid": one.worker.pid, "child_pid": one.child.pid if one.child else None, "since": one.since,
        }
        for one in found if one.worker is not None and one.is_live
    ]  # fmt: skip


def _step(one: Handover, title: str) -> Row:
    if one.is_live:
        return {"why": f"{one.executor} works on “{title}”", "command": f"memento dispatch show {one.dispatch}"}
    return {"why": f"the process that worked on “{title}” is gone", "command": "memento dispatch recover --all"}


def incomplete_rows(state: RunState) -> list[Row]:
    """Return the tasks of a run that are neither done nor cancelled."""
    from memento_git.model.states import FINAL_TASK

    return [
        {"task_id": task, "title": state.told(task).title, "status": status}
        for task in state.ids("task")
        if (status := state.task_status(task)) not in FINAL_TASK
    ]
