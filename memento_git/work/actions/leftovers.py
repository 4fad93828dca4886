"""doctor's look at what dispatches left on this machine: work trees, branches of ours, dead workers."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING

from memento_git.ledger import checkouts, handovers, workbranches
from memento_git.model.ids import NoSuchRecord
from memento_git.model.states import OPEN_DISPATCH
from memento_git.work import branches
from memento_git.work.actions import recovering, worktrees
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.handovers import Handover
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View

RECOVER = "memento dispatch recover --all"


def mend(ledger: Ledger, view: View) -> Iterator[str]:
    """Clean up after dispatches that ended or never came to be, where nothing is lost by it."""
    for one in handovers.listed(ledger.git):
        for job in recovering.clean(ledger, view, one, only_empty=True):
            yield f"{job.dispatch}, {job.why}"


def found(ledger: Ledger, view: View) -> Iterator[tuple[str, str]]:
    """Yield what was left behind, each with its remedy."""
    known = handovers.listed(ledger.git)
    for one in known:
        if told := _left(ledger, view, one):
            yield told
    paths = {one.path for one in known}
    for path, branch in checkouts.listed(ledger.git).items():
        if branch.startswith("memento/") and str(path) not in paths:
            yield (
                f"the worktree {path} on {branch} belongs to no dispatch that this machine knows of",
                f"keep what it holds, then git worktree remove {shlex.quote(str(path))}",
            )
    yield from _unmerged(ledger, view)


def _unmerged(ledger: Ledger, view: View) -> Iterator[tuple[str, str]]:
    """Yield the work of completed runs that lies on branches alone: while a run goes on, status tells of it."""
    runs = set()
    for branch in workbranches.off_head(ledger.git):
        with contextlib.suppress(NoSuchRecord):
            runs.add(view.find(f"dispatch_{branch.rpartition('/')[2]}", "dispatch")[1])
    for run in sorted(runs):
        state = RunState(view, run)
        if state.status == "completed":
            for step in branches.unmerged(ledger.git, state, state.counting()):
                yield f"{run} is completed, but {step['why']}", step["command"]


def _left(ledger: Ledger, view: View, one: Handover) -> tuple[str, str] | None:
    """Return what is wrong with what one dispatch has here, or None."""
    if one.is_live or not one.is_ours:
        return None
    status = recovering.status_of(view, one.dispatch)
    where = f" in {one.path}" if one.path else ""
    if status in OPEN_DISPATCH:
        if one.is_dead:
            return f"the worker of {one.dispatch}{where} is gone", RECOVER
        if one.path and checkouts.opened(ledger.git, worktrees.checkout_of(one)) is None:
            fix = f"memento dispatch recover {one.dispatch} --force --reason WHY"
            return f"{one.dispatch} has no worktree{where}", fix
        return None
    if recovering.is_elsewhere(ledger.git, view, one, status):
        return None if status else _stranded(ledger, one, where)
    holds = ", and holds work" if recovering.holds_work(ledger.git, one, status) else ""
    fix = RECOVER if holds else "memento doctor --fix"
    told = f"{one.dispatch} is {status or 'unknown to the ledger'}, but its worktree was left{where}{holds}"
    if branch := recovering.completed_elsewhere(ledger, view, one, status):
        told, fix = f"{one.dispatch} is {status} here, and completed on {branch}", f"git merge {branch}"
    return told, fix


def _stranded(ledger: Ledger, one: Handover, where: str) -> tuple[str, str] | None:
    """Return what is wrong with a dispatch that only other branches know, or None where that is as it should be."""
    branches = recovering.knowing(ledger.git, one)
    others = [name for name in branches if name != one.branch]
    if one.is_dead and branches:
        told = (
            f"the worker of {one.dispatch}{where} is gone, and {(others or branches)[0]} knows of it, not this branch"
        )
        return told, f"in a checkout of that branch: {RECOVER}"
    if branches and not others:
        told = f"only its own branch knows of {one.dispatch}{where}"
        return told, f"git merge {one.branch}"
    return None
