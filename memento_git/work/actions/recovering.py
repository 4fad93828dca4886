"""dispatch recover --all, stop: what died or expired is taken back, and what it left put aside; the living stay.

doctor looks at what dispatches left on this machine: work trees, branches of ours, dead workers.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger import checkouts, claims, dispatch_branches, handovers, layout, processes
from memento_git.model.ids import NoSuchRecord
from memento_git.model.states import OPEN_DISPATCH
from memento_git.work import branches
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, worktrees
from memento_git.work.actions.handover import patiently
from memento_git.work.loading import load
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.claims import Claim
    from memento_git.ledger.git import Git
    from memento_git.ledger.handovers import Handover
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.work.running.children import Stop

DIED: Final = "its worker process is gone"
EXPIRED: Final = "its lease expired"
RECOVER: Final = "memento dispatch recover --all"
GONE_BY_ITSELF: Final = (
    no.DispatchTerminal, no.NotExpired, no.ClaimedElsewhere, no.RunFinal, no.DispatchUnknown, NoSuchRecord,
)  # fmt: skip
TIMEOUT: Final = 15.0
PAUSE: Final = 0.05


class NotRunning(Refused):
    token = "worker_not_found"
    sentence = "no process of this machine works on dispatch {dispatch}"
    hint_ = (
        "memento status --json lists the living ones under `live`; take dead ones back: memento dispatch recover --all"
    )


class Job(NamedTuple):
    """One dispatch that was taken back, or only cleaned up after."""

    dispatch: str
    task: str
    run: str
    why: str
    partial: str = ""
    successor: str = ""


def recover_all(
    ledger: Ledger, *, run: str = "", requeue: bool = False, executor: str = "", bundle: bool = False,
    stop: Stop | None = None,
) -> list[Job]:  # fmt: skip
    """Take back every dispatch whose worker died here or whose lease expired, and clean up after ended ones.

    With `bundle`, what the next worker of each task needs is recorded also where the task is not handed out again.
    """
    view = ledger.view()
    runs = [view.find(run, "run")[0]] if run else view.runs()
    known = {one.dispatch: one for one in handovers.listed(ledger.git)}
    jobs = []
    for one in runs:
        state = RunState(view, one)
        load(state)
        for name, why in _lost(state, known):
            jobs += recover_one(
                ledger, name, why, stop, requeue=requeue and not state.is_final, executor=executor, bundle=bundle
            )
    jobs += [job for one in known.values() if not run or one.run in runs for job in clean(ledger, view, one)]
    return jobs


def _lost(state: RunState, known: dict[str, Handover]) -> Iterator[tuple[str, str]]:
    """Yield each claimed dispatch that nobody works on any more, and why that is known."""
    for task in state.ids("task"):
        for name, found in state.dispatches(task).items():
            here = known.get(name)
            if not found.is_open:
                continue
            if here is not None and here.is_dead:
                yield name, DIED
            elif found.expired and not (here is not None and here.is_ours and here.is_live):
                yield name, EXPIRED


def recover_one(
    ledger: Ledger, dispatch: str, why: str, stop: Stop | None = None, *, requeue: bool = False, executor: str = "",
    bundle: bool = False,
) -> list[Job]:  # fmt: skip
    """Take one dispatch back; nothing where another process did so first, or where its worker is alive after all.

    Of a worker of another machine nothing but its lease tells.
    """
    with handovers.held(ledger.git):
        here = handovers.read(ledger.git, dispatch)
        if here is not None and here.is_ours:
            if here.is_live:
                return []
            processes.end(dispatch, here.worker, here.child)

        def act(tx: Transaction) -> Job:
            name, successor = dispatches.recover_dispatch(
                tx, dispatch, force=why != EXPIRED, reason=why, requeue=requeue, executor=executor, bundle=bundle
            )
            state, task, partial = dispatches.ending(tx, name)
            return Job(name, task, state.id, why, partial, successor)

        try:
            return [patiently(ledger, "dispatch recover", act, stop)]
        except GONE_BY_ITSELF:
            return []


def clean(ledger: Ledger, view: View, handover: Handover, *, only_empty: bool = False) -> list[Job]:
    """Put aside what an ended or unknown dispatch left on this machine; with `only_empty`, only what holds no work.

    One that another branch knows, or that somebody holds by a claim of this clone, is left to that branch or holder.
    """
    status = status_of(view, handover.dispatch)
    if status in OPEN_DISPATCH or not handover.is_ours or _is_elsewhere(ledger.git, view, handover, status):
        return []
    if _completed_elsewhere(ledger, view, handover, status):
        return []
    with handovers.held(ledger.git):
        here = handovers.read(ledger.git, handover.dispatch)
        if here is None or here.is_live or (only_empty and _holds_work(ledger.git, here, status)):
            return []
        processes.end(here.dispatch, here.worker, here.child)
        done = status == "completed"
        partial = "" if done else worktrees.kept_aside(ledger.git, here)
        if not status:  # it never came to be
            for name, claim in _claims(ledger.git, here):
                claims.release(ledger.git, name, claim)
        is_gone = worktrees.try_to_clear(ledger, here, completed=done)
    told = f"{status or 'unknown to the ledger'}: " + ("cleaned up after" if is_gone else "its worktree was left")
    return [Job(here.dispatch, here.task, here.run, told, partial)]


def _is_elsewhere(git: Git, view: View, handover: Handover, status: str) -> bool:
    """Tell whether a dispatch that has ended here, or is unknown, may be somebody's by another branch or a claim."""
    if handover.is_dead and status:
        return False
    if not handover.is_dead and any(claim.until >= view.now for _, claim in _claims(git, handover)):
        return True
    return not status and bool(_knowing(git, handover))


def _completed_elsewhere(ledger: Ledger, view: View, handover: Handover, status: str) -> str:
    """Return the branch on which a dispatch that was taken back here is completed, or nothing."""
    if status not in ("failed", "recovered"):
        return ""
    state = RunState(view, handover.run)
    told = worktrees.elsewhere(ledger, view, state, handover.task, handover.dispatch)
    return next((branch for branch, there, _ in told if there == "completed"), "")


def _knowing(git: Git, handover: Handover) -> list[str]:
    """Return the branches of this clone that know a dispatch."""
    return dispatch_branches.knowing(git, handover.dispatch, layout.folder_of(handover.run, handover.task))


def _claims(git: Git, handover: Handover) -> list[tuple[str, Claim]]:
    """Return the claims of this clone on a dispatch, each with its name: the task's, or a candidate's own."""
    found = ((name, claims.read(git, name)) for name in (handover.task, handover.dispatch))
    return [(name, claim) for name, claim in found if claim is not None and claim.dispatch == handover.dispatch]


def status_of(view: View, dispatch: str) -> str:
    """Return what a dispatch has come to in this view; nothing where the view does not know it.

    One that was open when its run ended has ended with that.
    """
    try:
        name, state = RunState.find(view, dispatch, "dispatch")
    except NoSuchRecord:
        return ""
    status = state.dispatch(name).status
    return f"of a {state.status} run" if status in OPEN_DISPATCH and state.is_final else status


def _holds_work(git: Git, handover: Handover, status: str) -> bool:
    """Tell whether a work tree or its branch holds what is nowhere else."""
    if not handover.base:
        return False
    checkout = worktrees.checkout_of(handover)
    inside = checkouts.opened(git, checkout)
    if inside is None:
        tip = git.object_id(f"refs/heads/{checkout.branch}")
        return status != "completed" and tip not in (None, checkout.base)
    work = checkouts.look(inside, checkout.base)
    done = status == "completed"
    return (
        bool(work.inner)
        or (work.changed and not (done and handover.worker))
        or (work.head != checkout.base and not done)
    )


def stop_dispatch(ledger: Ledger, given: str) -> Job:
    """End the process that works on a dispatch, and all that it started; return what became of the dispatch."""
    name, run = ledger.view().find(given, "dispatch")
    here = handovers.read(ledger.git, name)
    if here is None or here.worker is None or not here.is_ours:
        raise NotRunning(dispatch=name)
    if here.is_live:
        _ask(here, here.worker.pid)
    if here.is_live:
        processes.end(name, here.worker, here.child)
    found = recover_one(ledger, name, "it was stopped")
    if found:
        return found[0]
    status = status_of(ledger.view(), name)
    if here.is_dead and not status:
        raise NotRunning(dispatch=name)
    return Job(name, here.task, run, status)


def _ask(handover: Handover, worker: int) -> None:
    """Ask a worker to stop, and give it the time to put its work aside."""
    try:
        os.kill(worker, signal.SIGTERM)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + TIMEOUT
    while handover.is_live and time.monotonic() < deadline:
        time.sleep(PAUSE)


def mend(ledger: Ledger, view: View) -> Iterator[str]:
    """Clean up after dispatches that ended or never came to be, where nothing is lost by it."""
    for one in handovers.listed(ledger.git):
        for job in clean(ledger, view, one, only_empty=True):
            yield f"{job.dispatch}, {job.why}"


def left_behind(ledger: Ledger, view: View) -> Iterator[tuple[str, str]]:
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
    for branch in dispatch_branches.off_head(ledger.git):
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
    status = status_of(view, one.dispatch)
    where = f" in {one.path}"
    if status in OPEN_DISPATCH:
        if one.is_dead:
            return f"the worker of {one.dispatch}{where} is gone", RECOVER
        if checkouts.opened(ledger.git, worktrees.checkout_of(one)) is None:
            fix = f"memento dispatch recover {one.dispatch} --force --reason WHY"
            return f"{one.dispatch} has no worktree{where}", fix
        return None
    if _is_elsewhere(ledger.git, view, one, status):
        return None if status else _stranded(ledger, one, where)
    holds = ", and holds work" if _holds_work(ledger.git, one, status) else ""
    fix = RECOVER if holds else "memento doctor --fix"
    told = f"{one.dispatch} is {status or 'unknown to the ledger'}, but its worktree was left{where}{holds}"
    if branch := _completed_elsewhere(ledger, view, one, status):
        told, fix = f"{one.dispatch} is {status} here, and completed on {branch}", f"git merge {branch}"
    return told, fix


def _stranded(ledger: Ledger, one: Handover, where: str) -> tuple[str, str] | None:
    """Return what is wrong with a dispatch that only other branches know, or None where that is as it should be."""
    known = _knowing(ledger.git, one)
    others = [name for name in known if name != one.branch]
    if one.is_dead and known:
        told = f"the worker of {one.dispatch}{where} is gone, and {(others or known)[0]} knows of it, not this branch"
        return told, f"in a checkout of that branch: {RECOVER}"
    if known and not others:
        told = f"only its own branch knows of {one.dispatch}{where}"
        return told, f"git merge {one.branch}"
    return None
