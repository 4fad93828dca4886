"""Handing a task over for real: a dispatch with its brief, its work tree, and the process that will work on it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memento_git.errors import MementoError, Moved, Refused
from memento_git.ledger import checkouts, codec, dispatch_branches, handovers, processes
from memento_git.ledger.handovers import Handover
from memento_git.model.ids import parse_ref, random_part
from memento_git.work import brief as briefs
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, worktrees
from memento_git.work.dispatch import handout, preflight
from memento_git.work.proof import proofs
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row
    from memento_git.work.running.children import Stop
    from memento_git.work.state import RunState

T = TypeVar("T")
TIMEOUT: Final = 600.0
PAUSE: Final = 0.25


class DependencyUnmerged(Refused):
    token = "dependency_unmerged"
    sentence = "task {task} waits for the merge of {branch}, which holds the work of {dependency}"
    hint_ = "review it, then merge it: git merge {branch!q}"


class DependencyUnchosen(DependencyUnmerged):
    sentence = "task {task} waits for the work of {dependency}, which was done {times} times and is not merged"
    hint_ = "choose one of the tries, then merge its branch: memento dispatch select {dependency}"


class HandoverOptions(NamedTuple):
    """How a task is to be handed over; `notes` are rows of those that its brief names."""

    executor: str
    run: str = ""
    candidate: bool = False
    note: str = ""
    over_budget: str = ""
    destructive: tuple[str, ...] = ()
    dirty: bool = False
    works: bool = False
    notes: Sequence[Row] = ()


def patiently(
    ledger: Ledger, action: str, act: Callable[[Transaction], T], stop: Stop | None = None, *, paused: bool = False
) -> T:
    """Make a change although somebody is busy in the checkout: wait for the end of it, or until it shall stop.

    With `paused`, that the run goes on is waited for as well, however long that takes.
    """
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return ledger.change(action, act)
        except Moved:
            if time.monotonic() > deadline or stop:
                raise
        except no.RunNotActive:
            if not paused or stop:
                raise
        time.sleep(PAUSE)


def hand_over(ledger: Ledger, given: str, options: HandoverOptions) -> Handover:
    """Hand a task, or an open dispatch, over with a work tree of its own; with `works`, claim it for this process."""
    folder = checkouts.foresee(ledger.git, ledger.settings)
    handover = ledger.change(
        "dispatch run" if options.works else "dispatch create", lambda tx: _decide(tx, given, options, folder)
    )
    if checkouts.opened(ledger.git, worktrees.checkout_of(handover)) is not None:
        return handover
    return _with_worktree(ledger, handover)


def _with_worktree(ledger: Ledger, handover: Handover) -> Handover:
    """Make the work tree of a dispatch that is committed; where that fails, take the dispatch back."""
    try:
        made = checkouts.add(ledger.git, handover.dispatch, Path(handover.path).parent)
    except MementoError as error:
        handovers.forget(ledger.git, handover.dispatch)
        reason = "its worktree could not be made"
        patiently(
            ledger,
            "dispatch recover",
            lambda tx: dispatches.recover_dispatch(tx, handover.dispatch, force=True, reason=reason, bundle=False),
        )
        error.hint = f"{error.hint}; the dispatch was taken back"
        raise
    found = handover._replace(base=made.base)
    handovers.write(ledger.git, found)
    return found


def _decide(tx: Transaction, given: str, options: HandoverOptions, folder: Path) -> Handover:
    """Write the events of a hand-over, and before they are committed what this machine must know of it."""
    writer = RunWriter.of(tx)
    insist = () if options.dirty else ("dirty",)
    preflight.refuse_unfit(tx, writer.policy, act="run" if options.works else "dispatch", insist=insist)
    made = given.startswith("task_")
    task, state = writer.find(given, "task") if made else _open(writer, given)
    refuse_unmerged(tx.ledger.git, state, task)
    tx.ledger.warn(*unseen(tx.ledger.git, state, task))
    text = briefs.as_markdown(briefs.brief(tx.view, task, notes=options.notes))
    if made:
        dispatch = dispatches.hand_out(
            tx, task, options.executor, run=options.run, candidate=options.candidate, note=options.note,
            over_budget=options.over_budget, allow_destructive=options.destructive,
            brief=codec.digest_of(text.encode()), apart=True,
        )  # fmt: skip
    else:
        dispatch = writer.find(given, "dispatch")[0]
        refuse_taken(tx.ledger.git, dispatch)
        tx.ledger.warn(*_of_another(state, dispatch, options.executor))
    if options.works:
        dispatches.take(tx, dispatch, invoked=True, fresh=made)
    before = worktrees.known(tx.ledger.git, dispatch)
    if before and before.base and checkouts.opened(tx.ledger.git, worktrees.checkout_of(before)) is None:
        raise checkouts.WorktreeFailed(path=before.path, what="found", reason="it is gone")
    place = str(folder / random_part(dispatch))
    branch = checkouts.branch_of(dispatch)
    found = before or Handover(dispatch, task, state.id, options.executor, tx.now, place, branch)
    worker = processes.this() if options.works else None
    git = tx.ledger.git
    tx.after_failure.append(lambda: handovers.write(git, before) if before else handovers.forget(git, dispatch))
    handovers.write_brief(tx.ledger.git, dispatch, text)
    handovers.write(tx.ledger.git, found._replace(worker=worker, executor=options.executor, since=tx.now))
    return handovers.read(tx.ledger.git, dispatch) or found


def _of_another(state: RunState, dispatch: str, executor: str) -> list[str]:
    """Return what is to be known where another is started on a dispatch than it was handed to."""
    meant = handout.handed_to(state, dispatch)
    if meant in ("", executor):
        return []
    return [f"{dispatch} was handed to {meant}: what comes of it counts for {meant}, and not for {executor}"]


def _open(writer: RunWriter, given: str) -> tuple[str, RunState]:
    """Return the task of a dispatch that is still open, and the state of its run."""
    name, state = writer.find(given, "dispatch")
    found = state.dispatch(name)
    if found.opened is None or not found.is_open:
        raise no.DispatchTerminal(dispatch=name, state=found.status or "unknown")
    return found.opened.of, state


def refuse_taken(git: Git, dispatch: str) -> None:
    """Refuse a dispatch that another process works on, or worked on until it was ended."""
    found = worktrees.known(git, dispatch)
    if found is None or found.worker is None:
        return
    if found.is_live:
        raise worktrees.WorkerAlive(pid=found.worker.pid, dispatch=dispatch, since=found.since)
    raise worktrees.LeftBehind(dispatch=dispatch)


def refuse_unmerged(git: Git, state: RunState, task: str) -> None:
    """Refuse a task that rests on work that this branch does not have yet."""
    for other, branches in waits_for(git, state, task):
        if len(branches) > 1:
            raise DependencyUnchosen(task=task, dependency=other, times=len(branches))
        raise DependencyUnmerged(task=task, branch=branches[0], dependency=other)


def waits_for(git: Git, state: RunState, task: str) -> list[tuple[str, list[str]]]:
    """Return (dependency, branches) of each dependency whose proven work lies only on branches that HEAD lacks."""
    found = [
        (other, dispatch_branches.lacking(git, proofs.proving(state, other)))
        for other in state.prose(task).list("depends_on")
    ]
    return [(other, branches) for other, branches in found if branches]


def unseen(git: Git, state: RunState, task: str) -> list[str]:
    """Return, in sentences, what a task rests on and nobody here can tell to be merged: its branch is elsewhere."""
    told = []
    for other in state.prose(task).list("depends_on"):
        tips = {name: _tip(state, other, name) for name in proofs.proving(state, other)}
        if tips and not any(not tip or dispatch_branches.ref_of(git, name) or git.is_before(tip, "HEAD")
                            for name, tip in tips.items()):  # fmt: skip
            name, tip = next(iter(tips.items()))
            told.append(
                f"{other} was done as commit {tip[:12]} on {checkouts.branch_of(name)}, a branch that is not in this "
                "clone: see that it was merged, or fetch it and merge it"
            )
    return told


def _tip(state: RunState, task: str, dispatch: str) -> str:
    """Return the commit that a completed dispatch's diff ends at, or nothing where it cites no diff of its own."""
    for event in state.completions(task):
        for ref in event.evidence if event.dispatch == dispatch else ():
            found = state.evidence(parse_ref(ref).id)
            if found is not None and found.data.get("dispatch") == dispatch and "diff" in found.data:
                return str(found.data["diff"]["tip"])
    return ""
