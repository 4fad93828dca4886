"""Claims, here and on remotes, that hold nobody's work any more: expired, or on a task that is settled."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from memento_git.ledger import claims, remoteclaims
from memento_git.ledger.remoteclaims import HeldClaim
from memento_git.ledger.view import View
from memento_git.model.states import ENDED_DISPATCH, FINAL_TASK
from memento_git.work.state import Dispatch, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.model.objection import Objection

TRUNKS: Final = ("main", "master")


def default_branch(git: Git, remote: str) -> str:
    """Return the branch that others start from, as git knows it, else main or master; nothing for neither."""
    start = f"refs/remotes/{remote}/"
    told = git.answer("symbolic-ref", "--quiet", f"{start}HEAD")
    if told is None:
        there = git.lines("for-each-ref", "--format=%(refname)", *(start + name for name in TRUNKS))
        told = there[0] if there else ""
    return told.removeprefix(start)


def is_open_on(ledger: Ledger, remote: str, dispatch: str) -> bool:
    """Tell whether a dispatch that ended here is open on a remote's default branch, as far as that is known here.

    Where that branch has not heard of it, or is not known, any branch of the remote counts.
    """
    git = ledger.git
    told = git.lines("for-each-ref", "--format=%(objectname) %(refname)", f"refs/remotes/{remote}/")
    tips = {ref: tip for tip, _, ref in (line.partition(" ") for line in told)}
    first = f"refs/remotes/{remote}/{default_branch(git, remote)}"
    for ref in sorted(tips, key=lambda ref: ref != first):
        status = dispatch_in(View(git, (tips[ref],), ledger.now()), dispatch).status
        if status and (status not in ENDED_DISPATCH or ref == first):
            return status not in ENDED_DISPATCH
    return False


def dispatch_in(view: View, dispatch: str) -> Dispatch:
    """Return what a dispatch has come to in a view; nothing where the view does not know it."""
    state = run_of(view, dispatch, "dispatch")
    return state.dispatch(dispatch) if state is not None else Dispatch()


def run_of(view: View, record: str, kind: str) -> RunState | None:
    """Return the run of a record in a view; None where the view does not know it."""
    found = (run for run in view.runs() if view.holds(run, record, kind))
    return next((RunState(view, run) for run in found), None)


def left_here(ledger: Ledger, view: View) -> Iterator[tuple[HeldClaim, str]]:
    """Yield each such claim that a ref of this clone holds, and why it holds nothing."""
    for name, claim in claims.listed(ledger.git).items():
        if why := _why(ledger, view, HeldClaim(name, claim)):
            yield HeldClaim(name, claim), why


def held_for_nothing(ledger: Ledger, view: View) -> Iterator[tuple[str, str]]:
    """Yield, with its remedy, each such claim of this clone's; no remote is asked."""
    for remote in remoteclaims.remotes_held(ledger.git):
        for one in remoteclaims.held(ledger.git, remote):
            if why := _why(ledger, view, one, remote):
                yield f"this clone still holds {one.name} on {remote}: {why}", f"give it back: memento sync {remote}"


def left_on(ledger: Ledger, view: View, remote: str) -> Iterator[tuple[str, str]]:
    """Yield, with its remedy, each such claim that a remote holds and this clone does not; the remote is asked."""
    ours = {one.claim.blob for one in remoteclaims.held(ledger.git, remote)}
    for one in remoteclaims.listed(ledger.git, remote):
        if one.claim.blob not in ours and (why := _why(ledger, view, one, remote)):
            ref = f"{claims.REFS}/{one.name}"
            remove = shlex.join(["git", "push", f"--force-with-lease={ref}:{one.claim.blob}", remote, f":{ref}"])
            yield f"{one.claim.by or 'nobody'} holds {one.name} on {remote}: {why}", remove


def behind(git: Git, dispatch: str, until: str) -> Iterator[str]:
    """Yield what to know of each remote on which this clone's claim of a dispatch ends before that moment."""
    for remote in remoteclaims.remotes_held(git):
        for one in remoteclaims.held(git, remote):
            if one.claim.dispatch == dispatch and one.claim.until < until:
                told = f"{remote}, and so other clones, know this claim until {one.claim.until}"
                yield f"{told}; to tell them: memento sync {remote}"


def _why(ledger: Ledger, view: View, one: HeldClaim, remote: str = "") -> Objection:
    """Return why a claim, of a remote's where one is named, holds nothing any more, or nothing."""
    if one.claim.until < view.now:
        return f"it expired {one.claim.until or 'long ago'}"
    if (state := run_of(view, one.claim.dispatch, "dispatch")) is None:
        return ""
    found = state.dispatch(one.claim.dispatch)
    if found.status in ENDED_DISPATCH:
        is_open = remote and is_open_on(ledger, remote, one.claim.dispatch)
        return "" if is_open else f"{one.claim.dispatch} is {found.status}"
    task = found.opened.of if found.opened is not None else one.name
    if (status := state.task_status(task)) in FINAL_TASK:
        return f"{task} is {status}"
    return f"{state.id} is {state.status}" if state.is_final else ""
