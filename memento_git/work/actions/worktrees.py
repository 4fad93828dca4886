"""The work tree of a dispatch within a transaction: made with it, read by its completion, left when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memento_git.errors import MementoError, Refused
from memento_git.ledger import checkouts, dispatch_branches, layout
from memento_git.ledger.checkouts import Checkout
from memento_git.work import other_branches
from memento_git.work import refusals as no
from memento_git.work.dispatch.live import has_handovers
from memento_git.work.state import Dispatch, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.git import Git
    from memento_git.ledger.handovers import Handover
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection


class WorkerAlive(Refused):
    token = "worker_alive"
    sentence = "process {pid} works on dispatch {dispatch} since {since}"
    hint_ = "stop it: memento dispatch stop {dispatch}"


class LeftBehind(Refused):
    token = "dispatch_left_behind"
    sentence = "the process that worked on dispatch {dispatch} is gone"
    hint_ = "take it back: memento dispatch recover --all"


def known(git: Git, dispatch: str) -> Handover | None:
    """Return what this machine knows of a dispatch."""
    if not has_handovers(git):
        return None
    from memento_git.ledger import handovers

    return handovers.read(git, dispatch)


def checkout_of(handover: Handover) -> Checkout:
    return Checkout(Path(handover.path), handover.branch, handover.base)


def place_of(git: Git, dispatch: str) -> Git:
    """Return git where the code of a dispatch is: in its worktree if it has one here, else as it is."""
    found = known(git, dispatch)
    if found is None:
        return git
    return checkouts.opened(git, checkout_of(found)) or git


def refuse_elsewhere(
    tx: Transaction, state: RunState, task: str, dispatch: str, *, but: str = "", is_ours: bool = False
) -> None:
    """Refuse where a branch tells that somebody took or completed a dispatch, and this one does not know.

    Of a claim that `is_ours` by its ref, each branch of the clone is asked where it was made.
    """
    for branch, status, holder in elsewhere(tx.ledger, tx.view, state, task, dispatch, everywhere=is_ours):
        if status in ("claimed", "completed") and status != but:
            raise no.ClaimedElsewhere(dispatch=dispatch, status=status, holder=holder, branch=branch)


def refuse_taken(tx: Transaction, state: RunState, task: str) -> None:
    """Refuse to hand out what somebody claimed on another branch of this clone, which this one has not seen."""
    taken = other_branches.claimed_on(tx.ledger.git, state.id, task, state.dispatches(task), tx.now)
    if taken is not None:
        holder, branch, dispatch = taken
        raise no.TaskClaimedElsewhere(task=task, dispatch=dispatch, holder=holder, branch=branch)


def elsewhere(
    ledger: Ledger, view: View, state: RunState, task: str, dispatch: str, *, everywhere: bool = False
) -> Iterator[tuple[str, str, str]]:
    """Yield (branch, status, holder) of a dispatch for each branch that knows it otherwise than this one.

    Looked at are the dispatch's own branch, those that are checked out in other work trees, and with `everywhere` all.
    """
    git, folder = ledger.git, layout.folder_of(state.id, task)
    here = state.dispatch(dispatch)
    more = dispatch_branches.knowing(git, dispatch, folder) if everywhere else ()
    for branch in dict.fromkeys([checkouts.branch_of(dispatch), *filter(None, checkouts.listed(git).values()), *more]):
        if all(view.blob(path) is not None for path in dispatch_branches.files_in(git, f"refs/heads/{branch}", folder)):
            continue
        there = ledger.held([f"refs/heads/{branch}"])
        found = RunState(there, state.id).dispatch(dispatch) if there is not None else Dispatch()
        if found[:2] != here[:2]:
            yield branch, found.status, found.holder


def refuse_live(tx: Transaction, dispatch: str) -> None:
    """Refuse while a process of this machine works on a dispatch, unless that is ours."""
    found = known(tx.ledger.git, dispatch)
    if found is not None and found.worker and found.is_ours and found.is_others:
        raise WorkerAlive(pid=found.worker.pid, dispatch=dispatch, since=found.since)


def refuse_dead(tx: Transaction, dispatch: str) -> None:
    """Refuse where a process of this machine worked on a dispatch and is gone: all that it left is to be cleared up."""
    found = known(tx.ledger.git, dispatch)
    if found is not None and found.is_dead:
        raise LeftBehind(dispatch=dispatch)


def _ours(tx: Transaction, dispatch: str) -> Handover | None:
    """Return a handover whose work tree may go: one that no other process works in, nor we stand in."""
    found = known(tx.ledger.git, dispatch)
    return None if found is None or found.is_others else found


def leave(tx: Transaction, dispatch: str) -> None:
    """Have the worktree of a completed dispatch removed once the commit is there; its branch stays."""
    found = _ours(tx, dispatch)
    if found is not None:
        tx.after_commit.append(lambda: try_to_clear(tx.ledger, found, completed=True))


def give_up(tx: Transaction, dispatch: str) -> str:
    """Keep what the worktree of a dispatch holds in a commit aside, and have it removed once the event is there."""
    found = _ours(tx, dispatch)
    if found is None:
        return ""
    partial = kept_aside(tx.ledger.git, found)
    tx.after_commit.append(lambda: try_to_clear(tx.ledger, found, completed=False))
    return partial


def kept_aside(git: Git, handover: Handover) -> str:
    """Return the commit that keeps the work of a dispatch, or nothing where there is none.

    Where the work tree is gone, what was committed on its branch is kept.
    """
    if not handover.base:
        return ""
    checkout = checkout_of(handover)
    inside = checkouts.opened(git, checkout)
    if inside is None:
        return checkouts.keep_branch(git, checkout, handover.dispatch)
    return checkouts.quarantine(inside, checkout, handover.dispatch)


def clear(ledger: Ledger, handover: Handover, *, completed: bool) -> Objection:
    """Remove the worktree of a dispatch that has ended; return why it was left, or nothing.

    A failed one's work is kept aside already, so its branch goes too. A completed one's branch holds its work, and
    what a worker process left beside it is what the commands of verification wrote.
    """
    from memento_git.ledger import handovers

    git = ledger.git
    checkout = checkout_of(handover)
    if git.top is not None and git.top.resolve() == checkout.path.resolve():
        return "you are in it"
    if not handover.base:
        problem = checkouts.discard(git, checkout)
    else:
        problem = _remove(git, handover, completed=completed)
    if problem:
        return problem
    handovers.forget(git, handover.dispatch)
    return ""


def _remove(git: Git, handover: Handover, *, completed: bool) -> Objection:
    """Remove a work tree whose work is kept elsewhere; return why it was left, or nothing."""
    checkout = checkout_of(handover)
    inside = checkouts.opened(git, checkout)
    if inside is not None and not (completed and handover.worker):
        work = checkouts.look(inside, checkout.base)
        if work.inner:
            return f"it holds what its branch cannot: {work.inner[0]}"
        if completed and work.changed:
            return "it holds changes that are not committed"
    tip = git.object_id(f"refs/heads/{checkout.branch}")
    return checkouts.remove(git, checkout, branch=not completed or tip == checkout.base)


def try_to_clear(ledger: Ledger, handover: Handover, *, completed: bool) -> bool:
    """Remove a work tree if that can be done, else say where it was left; what was committed stays so."""
    try:
        problem = clear(ledger, handover, completed=completed)
    except (MementoError, OSError) as error:
        problem = error.message if isinstance(error, MementoError) else str(error)
    if problem:
        ledger.warn(f"the worktree of {handover.dispatch} was left at {handover.path}: {problem}")
    return not problem
