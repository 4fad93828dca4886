"""The commands that lead on from what holds a task or a gate up, as refusals, findings and steps name them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from memento_git.model.ids import option
from memento_git.model.states import DONE, FINAL_TASK

OF_PLANS: Final = ("plan_changed", "plan_unapproved")


def creating(task: str) -> str:
    """Return the command that hands a task out."""
    return f"memento dispatch create {task} --executor WHO"


def resuming(task: str, status: str) -> str:
    """Return the command by which a task that nobody has is taken up again; nothing while it is open."""
    if status == "rejected":
        return f"memento task repair {task}"
    return f"memento task reopen {task} --reason WHY" if status in (*FINAL_TASK, *DONE, "blocked") else ""


def redoing(task: str) -> str:
    """Return the commands by which work that a gate refused is done again: a pending task is held back."""
    return f"memento task verify {task}, then memento task repair {task}"


def leaving_out(task: str, dependencies: Sequence[str], gone: Sequence[str], repairs: Mapping[str, str]) -> str:
    """Return the command that leaves dependencies of a task out, or puts what repairs them in their place."""
    left = dict.fromkeys(repairs.get(other, "") if other in gone else other for other in dependencies)
    options = " ".join(f"--depends-on {other}" for other in left if other) or "--no-dependencies"
    return f"memento task revise {task} {options}"


def mending(task: str, after: str, run: str) -> list[str]:
    """Return the commands by which a done task of a run becomes proven, by what would prove it as it was done."""
    verify = f"memento task verify {task}"
    ways = {
        "verify": [verify],
        "approve": [f"memento evidence approve {task}", verify],
        "reproduce": [f"memento evidence reproduce --run {run} --record --sign"],
    }
    return ways.get(after) or [resuming(task, "completed")]


def passing(fresh: Collection[str], gate: str, scope: str, *, shown: bool = False) -> str:
    """Return the command by which a gate passes, with evidence if that is shown or the gate is to be fresh."""
    return (
        f"memento gate record {gate} passed {option(scope)}{' --evidence EVIDENCE' if shown or gate in fresh else ''}"
    )
