"""gate: record waive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.model.ids import kind_of
from memento_git.model.states import PASSING
from memento_git.model.work import GATE_KINDS, VERDICTS
from memento_git.texts.typed import lists
from memento_git.work import refusals as no
from memento_git.work.dispatch import terms
from memento_git.work.gates import gate_staleness, gate_validity, gates
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.work.state import RunState


@lists
def record_gate(
    tx: Transaction, gate: str, verdict: str, *, run: str = "", task: str = "", evidence: Sequence[str] = (),
    note: str = "", reason: str = "", sign: bool = False, key: str = "",
) -> tuple[str, str]:  # fmt: skip
    """Record a verdict on a run or one of its tasks; return the scope and the event's id.

    `pending`, as a gate that is asked for is shown, asks for it like `requested`. A release passes only where policy's
    own release gate would let it, and of a run as a whole. A verdict is signed with an SSH key where `sign`, a `key` or
    policy asks for it.
    """
    writer = RunWriter.of(tx)
    verdict = "requested" if verdict == "pending" else verdict
    if gate == "release" and verdict == "passed":
        from memento_git.work.actions.releases import refuse_by_hand

        refuse_by_hand(tx.ledger, writer.home(run, [task] if task else [])[0], task)
    return record_verdict(
        tx, gate, verdict, run=run, task=task, evidence=evidence, note=note, reason=reason, sign=sign, key=key
    )


def record_verdict(
    tx: Transaction, gate: str, verdict: str, *, run: str = "", task: str = "", evidence: Sequence[str] = (),
    note: str = "", reason: str = "", sign: bool = False, key: str = "",
) -> tuple[str, str]:  # fmt: skip
    """Write a verdict; return the scope and the event's id."""
    writer = RunWriter.of(tx)
    if verdict in GATE_KINDS and gate in VERDICTS:
        raise no.GateTurned(given=gate, gate=verdict)
    if gate not in GATE_KINDS:
        raise no.GateInvalid(given=gate, what="a kind of gate", allowed=", ".join(GATE_KINDS))
    if verdict not in VERDICTS:
        raise no.GateInvalid(given=verdict, what="a verdict", allowed=", ".join(VERDICTS))
    state, tasks = writer.home(run, [task] if task else [])
    scope = tasks[0] if tasks else state.id
    state.prose(scope)
    if (judges := writer.policy.judges(gate, verdict)) and tx.actor not in judges:
        verb = "waive gates" if verdict == "waived" else f"judge {gate}"
        raise no.ApproverRefused(actor=tx.actor, verb=verb, asked=", ".join(judges))
    refs = [_cite(writer, state, scope, given) for given in evidence]
    if verdict == "passed" and gate in writer.policy.gates_fresh:
        if why := gate_validity.not_fresh(state, scope, refs, gate_validity.here(tx.ledger.git, state, refs)):
            raise no.GateNotFresh(gate=gate, why=why)
    elif verdict == "passed" and (why := gates.first_fault(state, scope, refs)):
        raise no.GateUnfounded(gate=gate, why=why)
    had_passed = state.gates(scope).get(gate) == "passed"
    words = writer.reason("waiving a gate", reason) if verdict == "waived" else writer.optional("reason", reason)
    event = writer.append(
        state, scope, verdict, reads=gate_staleness.reads(state, scope, gate, verdict),
        seal=writer.sealer(sign=sign, key=key),
        gate=gate, evidence=refs, reason=words, note=writer.optional("note", note),
        terms=terms.digest(state.prose(scope)) if verdict in PASSING else "",
        open=gate_staleness.left_open(state, scope, gate) if verdict in PASSING else (),
    )  # fmt: skip
    if verdict == "waived" and had_passed:
        tx.ledger.warn(f"gate {gate} of {scope} had passed: from now on it is shown as waived")
    if gate == "plan_review" and verdict in PASSING and scope == state.id and not state.canonical:
        told = f"no plan of {scope} is approved: the review falls when one is, and is given again then"
        tx.ledger.warn(told)
    return scope, event.id


def _cite(writer: RunWriter, state: RunState, scope: str, given: str) -> str:
    identity = writer.evidence(state, given, scope)
    found = state.evidence_named(identity)
    if kind_of(scope) == "task" and found.tasks and scope not in found.tasks:
        raise no.EvidenceForeign(evidence=identity, tasks=", ".join(found.tasks), task=scope)
    return str(found.ref)
