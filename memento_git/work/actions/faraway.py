"""Claims on remotes that hold nobody's work any more: expired, or on a task that is settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import claims, remoteclaims
from memento_git.model.states import DONE
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.remoteclaims import Held
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View

ENDED = ("completed", "failed", "recovered")


def held_for_nothing(ledger: Ledger, view: View) -> Iterator[tuple[str, str]]:
    """Yield, with its remedy, each such claim of this clone's; no remote is asked."""
    for remote in remoteclaims.remotes_held(ledger.git):
        for one in remoteclaims.held(ledger.git, remote):
            if why := _why(view, one):
                yield f"this clone still holds {one.name} on {remote}: {why}", f"memento sync {remote} gives it back"


def left_on(ledger: Ledger, view: View, remote: str) -> Iterator[tuple[str, str]]:
    """Yield, with its remedy, each such claim that a remote holds and this clone does not; the remote is asked."""
    ours = {one.claim.blob for one in remoteclaims.held(ledger.git, remote)}
    for one in remoteclaims.listed(ledger.git, remote):
        if one.claim.blob not in ours and (why := _why(view, one)):
            ref = f"{claims.REFS}/{one.name}"
            remove = f"git push --force-with-lease={ref}:{one.claim.blob} {remote} :{ref}"
            yield f"{one.claim.by or 'nobody'} holds {one.name} on {remote}: {why}", remove


def _why(view: View, one: Held) -> str:
    """Return why a claim holds nothing any more, or nothing."""
    if one.claim.until < view.now:
        return f"it expired {one.claim.until or 'long ago'}"
    for run in view.runs():
        if view.holds(run, one.claim.dispatch, "dispatch"):
            state = RunState(view, run)
            opened = state.event(one.claim.dispatch.replace("dispatch", "event", 1))
            task = opened.of if opened is not None else one.name
            row = state.dispatches(task).get(one.claim.dispatch, {})
            status = state.task_status(task)
            if row.get("status") in ENDED:
                return f"{one.claim.dispatch} is {row['status']}"
            return f"{task} is {status}" if status in (*DONE, "cancelled") else _of_run(state)
    return ""


def _of_run(state: RunState) -> str:
    return f"{state.id} is {state.status}" if state.is_final else ""
