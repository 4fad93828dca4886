"""What redactions leave of evidence: its tasks; of answers and checks whose they were, and how they ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.folding.settling import takes_out

if TYPE_CHECKING:
    from memento_git.work.state import RunState

    Left = tuple[str, dict[str, Any]]


def said(state: RunState) -> list[Left]:
    """Return each thing that redacted evidence of a run still says, with the id that it is left of."""
    return [(name, kept) for name in state.redacted() for kept in left_of(state, name)]


def left_of(state: RunState, evidence: str) -> list[dict[str, Any]]:
    """Return what redactions of evidence say that it was, each differing one."""
    found: list[dict[str, Any]] = []
    for kept in _kept(state, evidence):
        if kept and kept not in found:
            found.append(kept)
    return found


def tasks_of(state: RunState, evidence: str) -> list[str]:
    """Return the tasks that redacted evidence was for; none where one of its redactions does not say."""
    told = [kept.get("for") for kept in _kept(state, evidence)]
    known = [tasks for tasks in told if isinstance(tasks, list) and tasks]
    return sorted({str(task) for tasks in known for task in tasks}) if len(known) == len(told) else []


def _kept(state: RunState, evidence: str) -> list[dict[str, Any]]:
    """Return what each redaction of evidence keeps of it."""
    kept = [one.data.get("kept") for one in state.folded(evidence).legal() if takes_out(one)]
    return [one if isinstance(one, dict) else {} for one in kept]
