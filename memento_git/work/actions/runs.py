"""run: start pause resume cancel complete archive."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from memento_git.folding.fold import plans_of
from memento_git.folding.lanes import STATUS
from memento_git.ledger import archive, claims, codec, layout
from memento_git.ledger.desk import RecordIncomplete
from memento_git.ledger.redress import take_out
from memento_git.model.ids import option
from memento_git.model.states import FINAL_TASK
from memento_git.work import branches, task_steps
from memento_git.work import refusals as no
from memento_git.work.desk import Desk, refuse_ended
from memento_git.work.dispatch import preflight
from memento_git.work.gates import approvals, gatehold
from memento_git.work.proof import proofs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.texts.typed import Reason
    from memento_git.work.state import RunState


MOST: Final = 20


def start_run(
    tx: Transaction, goal: str, *, constraints: Sequence[str] = (), spike: bool = False, body: str = ""
) -> str:
    """Start a run for one goal; return its id."""
    desk = Desk.of(tx)
    preflight.refuse_unfit(tx, desk.policy, act="start")
    run = tx.new_id("run")
    data = {
        "id": run,
        "goal": desk.text("goal", goal, lines=False),
        "at": tx.now,
        "by": tx.actor,
        "spike": spike or None,
        "constraints": desk.texts("constraint", constraints),
    }
    desk.write(layout.prose_path(run, run), data, desk.optional("body", body))
    tx.touch(run, run)
    return run


def pause_run(tx: Transaction, run: str = "", *, reason: str = "") -> str:
    """Pause a run: no dispatch, claim or completion until it is resumed."""
    return _happen(tx, run, "paused", reason)


def resume_run(tx: Transaction, run: str = "", *, reason: str = "") -> str:
    """Let a paused run go on."""
    return _happen(tx, run, "resumed", reason)


def _happen(tx: Transaction, run: str, do: str, reason: str) -> str:
    desk = Desk.of(tx)
    state = desk.run(run)
    desk.happen(state, state.id, do, reason=desk.optional("reason", reason))
    return state.id


def cancel_run(tx: Transaction, run: str = "", *, reason: Reason = "") -> str:
    """End a run that will not be finished; this is final."""
    desk = Desk.of(tx)
    state = desk.run(run)
    desk.happen(state, state.id, "cancelled", reason=desk.reason("cancelling a run", reason))
    _free_claims(tx, state)
    return state.id


def _free_claims(tx: Transaction, state: RunState) -> None:
    """Have the claims go that hold nothing any more in a run that has ended."""
    for task in state.ids("task"):
        for dispatch in state.folded(task).lanes.open_dispatches():
            claims.release_later(tx, task, dispatch)


def complete_run(tx: Transaction, run: str = "", *, note: str = "") -> str:
    """End a run whose every task is done and proven, or cancelled, and whose required gates have passed."""
    desk = Desk.of(tx)
    state = desk.run(run)
    refuse_ended(state)
    tasks = state.tasks()
    if all(state.task_status(task) == "cancelled" for task in tasks):
        raise no.NothingToComplete(run=state.id)
    _none_open(state, tasks)
    for task in tasks:
        _settled(state, task)
    _gates_passed(desk, state)
    if why := approvals.unfit(state):
        raise no.PlanUnapproved(plan=state.canonical, why=why)
    desk.refuse_unsigned(state, (state.id, *state.counting()), f"completing {state.id}")
    left = list(islice(branches.unmerged(tx.ledger.git, state, state.counting()), MOST))
    tx.ledger.warn(*(f"{step['why']}: {step['command']}" for step in left))
    desk.happen(state, state.id, "completed", reads=(*tasks, plans_of(state.id)), note=desk.optional("note", note))
    _free_claims(tx, state)
    return state.id


def _none_open(state: RunState, tasks: Sequence[str]) -> None:
    """Refuse where tasks are open, all of them named, so that nobody takes what is under way for nothing."""
    found = [(task, status) for task in tasks if (status := state.task_status(task)) not in FINAL_TASK]
    if not found:
        return
    if all(status == "contested" for _, status in found):
        raise no.RecordContested(record=found[0][0])
    told = [f"{task} is {status.replace('_', ' ')}" for task, status in found]
    if len(told) == 1:
        raise no.TaskUnsettled(task=found[0][0], status=found[0][1].replace("_", " "))
    more = [f"and {len(told) - MOST} more"] if len(told) > MOST else []
    raise no.TasksUnsettled(count=len(told), tasks="; ".join([*told[:MOST], *more]))


def _settled(state: RunState, task: str) -> None:
    if state.task_status(task) == "cancelled":
        return
    if not (found := state.proof(task)).proven:
        why, how = "; ".join(found.why), proofs.not_agreed(state)[1]
        if how:
            raise no.TaskUnagreed(task=task, why=why, how=how)
        how = ", then ".join(task_steps.mending(task, found.after, state.id))
        raise no.TaskUnproven(task=task, why=why, how=how)
    for other in proofs.gone(state, task):
        raise no.DependencyGone(task=task, dependency=other, status="cancelled", command=proofs.freeing(state, task))
    for scope, gate in state.failed_gates(task):
        raise no.GateBlocks(gate=gate, scope=scope, on=option(scope))
    for old, gate in gatehold.left_failed(state, task):
        raise no.GateBlocks(gate=gate, scope=f"{old}, which {task} repairs,", on=option(task))


def _gates_passed(desk: Desk, state: RunState) -> None:
    for scope, gate in state.failed_gates(state.id):
        raise no.GateBlocks(gate=gate, scope=scope, on=option(scope))
    missing, git = gatehold.unmet(state), desk.tx.ledger.git
    absent = [one.gate for one in missing if one.why == gatehold.NOT_PASSED]
    if absent:
        raise no.GatesMissing(gates=", ".join(absent), run=state.id)
    for one in missing:
        raise no.GateFallen(gate=one.gate, why=one.why, how=gatehold.mending(git, state, [one[:2]])[0])
    desk.tx.ledger.warn(*(f"gate {one.gate} {one.why}: the run has ended with that" for one in gatehold.falls(state)))


def archive_run(tx: Transaction, run: str = "") -> str:
    """Put a final run's files into one compressed file (several where it is huge); return its path."""
    desk = Desk.of(tx)
    state = desk.run_to_archive(run)
    if STATUS in state.folded(state.id).lanes.contested:
        raise no.RecordContested(record=state.id)
    if not state.is_final:
        raise no.NotSettled(run=state.id, status=state.status)
    for seen in (one for key in state.groups() for one in state.folded(key).dangling):
        raise RecordIncomplete(record=seen.event.of, why=seen.why)
    loose = state.loose()
    tx.view.fetch(loose)
    held = {path: data for path in loose if (data := tx.view.read(path)) is not None}
    take_out(tx, state.id, [path for path in held if path.endswith(".md")])  # a text that came late is the one to keep
    targets = []
    for portion in archive.parts(held):
        packed = archive.pack(portion)
        targets.append(layout.archive_path(state.id, codec.digest_of(packed)))
        tx.put(targets[-1], packed)
        for path in portion:
            tx.put(path, None)
    if not targets:
        raise no.AlreadyArchived(run=state.id)
    tx.touch(state.id, state.id)
    return ", ".join(targets)
