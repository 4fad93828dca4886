"""run: start pause resume cancel complete archive."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, NoReturn

from memento_git.folding.fold import plans_of
from memento_git.ledger import archive, claims, codec, layout
from memento_git.ledger.corrections import take_out
from memento_git.ledger.event_writer import RecordIncomplete
from memento_git.ledger.view import LedgerUnreadable
from memento_git.model.enumeration import some
from memento_git.model.ids import option
from memento_git.texts.typed import Reason, lists
from memento_git.work import branches
from memento_git.work import refusals as no
from memento_git.work.dispatch import preflight
from memento_git.work.gates import gate_validity
from memento_git.work.gates.blockers import Blocker, blockers
from memento_git.work.proof import proofs
from memento_git.work.run_writer import RunWriter, refuse_ended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.transaction import Transaction
    from memento_git.work.state import RunState


MOST: Final = 20


@lists
def start_run(
    tx: Transaction, goal: str, *, constraints: Sequence[str] = (), spike: bool = False, body: str = ""
) -> str:
    """Start a run for one goal; return its id."""
    writer = RunWriter.of(tx)
    preflight.refuse_unfit(tx, writer.policy, act="start")
    run = tx.new_id("run")
    data = {
        "id": run,
        "goal": writer.text("goal", goal, lines=False),
        "at": tx.now,
        "by": tx.actor,
        "spike": spike or None,
        "constraints": writer.texts("constraint", constraints),
    }
    writer.write(layout.prose_path(run, run), data, writer.optional("body", body))
    tx.touch(run, run)
    return run


def pause_run(tx: Transaction, run: str = "", *, reason: str = "") -> str:
    """Pause a run: no dispatch, claim or completion until it is resumed."""
    return _happen(tx, run, "paused", reason)


def resume_run(tx: Transaction, run: str = "", *, reason: str = "") -> str:
    """Let a paused run go on."""
    return _happen(tx, run, "resumed", reason)


def _happen(tx: Transaction, run: str, do: str, reason: str) -> str:
    writer = RunWriter.of(tx)
    state = writer.run(run)
    writer.append(state, state.id, do, reason=writer.optional("reason", reason))
    return state.id


def cancel_run(tx: Transaction, run: str = "", *, reason: Reason = "") -> str:
    """End a run that will not be finished; this is final."""
    writer = RunWriter.of(tx)
    state = writer.run(run)
    writer.append(state, state.id, "cancelled", reason=writer.reason("cancelling a run", reason))
    _free_claims(tx, state)
    return state.id


def _free_claims(tx: Transaction, state: RunState) -> None:
    """Have the claims go that hold nothing any more in a run that has ended."""
    for task in state.ids("task"):
        for dispatch in state.folded(task).lanes.open_dispatches():
            claims.release_later(tx, task, dispatch)


def complete_run(tx: Transaction, run: str = "", *, note: str = "") -> str:
    """End a run whose every task is done and proven, or cancelled, and whose required gates have passed."""
    writer = RunWriter.of(tx)
    state = writer.run(run)
    refuse_ended(state)
    _refuse_hindered(tx.ledger.git, state)
    tx.ledger.warn(*(f"gate {one.gate} {one.why}: the run has ended with that" for one in gate_validity.falls(state)))
    left = list(islice(branches.unmerged(tx.ledger.git, state, state.counting()), MOST))
    tx.ledger.warn(*(f"{step['why']}: {step['command']}" for step in left))
    reads = (*state.tasks(), plans_of(state.id))
    writer.append(state, state.id, "completed", reads=reads, note=writer.optional("note", note))
    _free_claims(tx, state)
    return state.id


def _refuse_hindered(git: Git, state: RunState) -> None:
    """Refuse to end a run for the first thing that hinders that, with all that are of its kind.

    What the table of transitions refuses, it refuses in its own words.
    """
    found = (one for one in blockers(state) if one.kind not in ("run", "incomplete"))
    if (first := next(found, None)) is None:
        return
    kind, record, why, gate, other = first
    alike = [first, *takewhile(lambda one: one.kind == kind, found)]
    if kind in ("failed", "left"):
        scope = record if kind == "failed" else f"{other}, which {record} repairs,"
        raise no.GateBlocks(gate=gate, scope=scope, on=option(record))
    if kind == "absent":
        raise no.GatesMissing(gates=", ".join(one.gate for one in alike), run=state.id)
    if kind == "fallen":
        raise no.GateFallen(why=why, how=gate_validity.mending(git, state, [(record, gate)])[0])
    if kind == "unapproved":
        raise no.PlanUnapproved(plan=record, why=why)
    if kind == "unsigned":
        from memento_git.work.attest.signatures import SignatureRequired

        raise SignatureRequired(what=f"completing {state.id}", why="; ".join(one.why for one in alike))
    if kind == "broken":
        raise LedgerUnreadable(finding=next(one for one in state.faults() if one.severity == "error"))
    _refuse_unfinished(state, alike)


def _refuse_unfinished(state: RunState, found: Sequence[Blocker]) -> NoReturn:
    """Refuse to end a run whose work is not all there; open tasks are all named, so that none is taken for nothing."""
    kind, task, *_, other = found[0]
    if kind == "empty":
        raise no.NothingToComplete(run=state.id)
    if kind == "gone":
        raise no.DependencyGone(
            task=task, dependency=other, status="cancelled", command=proofs.freeing(state, task)
        )  # fmt: skip
    if kind == "unproven":
        proofs.refuse_unproven(state, task)
    told = {one.record: state.task_status(one.record).replace("_", " ") for one in found}
    if {*told.values()} == {"contested"}:
        raise no.RecordContested(record=task)
    if len(told) == 1:
        raise no.TaskUnsettled(task=task, status=told[task])
    named = some([f"{name} is {status}" for name, status in told.items()], MOST, "; ")
    raise no.TasksUnsettled(count=len(told), tasks=named)


def archive_run(tx: Transaction, run: str = "") -> str:
    """Put a final run's files into one compressed file (several where it is huge); return its path."""
    writer = RunWriter.of(tx)
    state = writer.run_to_archive(run)
    if state.shown_status == "contested":
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
