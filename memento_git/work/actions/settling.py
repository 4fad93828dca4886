"""settle and redact: what puts a contested, illegal, dangling or secret thing right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.ledger import codec, corrections, missing_ledger
from memento_git.model.ids import kind_of
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction
    from memento_git.texts.typed import Reason

RECORDS = ("run", "plan", "task", "evidence")


def settle_record(tx: Transaction, record: str, keep: str, *, reason: Reason = "") -> str:
    """Settle a contested record: the outcome of one of its heads holds."""
    writer = RunWriter.of(tx)
    identity, state = writer.find(record, kind_of(record))
    return corrections.settle(writer, state, identity, keep, reason)


def void_event(tx: Transaction, event: str, *, reason: Reason = "") -> str:
    """Void an illegal, dangling or contested event; a legal one never."""
    writer = RunWriter.of(tx)
    identity, state = writer.find(event, "event")
    return corrections.void(writer, state, identity, reason)


def redact_record(tx: Transaction, target: str, *, reason: Reason = "") -> str:
    """Remove evidence, or an event's free texts, from the ledger; links to it stay valid, it proves nothing more."""
    writer = RunWriter.of(tx)
    words = writer.reason("redacting", reason)
    return _event(writer, target, words) if kind_of(target) == "event" else _evidence(writer, target, words)


def _evidence(writer: RunWriter, target: str, reason: str) -> str:
    identity, state = writer.find(target, "evidence")
    found, path = state.evidence(identity), state.index.evidence.get(identity)
    if path is None or state.is_redacted(identity):
        raise corrections.AlreadyRedacted(target=identity)
    missing_ledger.refuse_away(writer.view, path)
    kept = codec.redact_evidence(found.data) if found is not None else {}  # of what cannot be read nothing is left
    told: dict[str, Any] = {"kept": kept} if kept else {}
    digest = codec.digest_of(writer.view.read(path) or b"")
    writer.append(state, identity, "redacted", target=f"{identity}@{digest}", reason=reason, **told)
    corrections.remove(writer.tx, [path, *state.index.attachments.get(identity, [])])
    return identity


def _event(writer: RunWriter, target: str, reason: str) -> str:
    identity, state = writer.find(target, "event")
    found = corrections.redact(writer, state, identity, reason)
    corrections.remove(writer.tx, [found.path])
    return identity
