"""settle and redact, of notes: what puts a contested, illegal, incomplete or secret thing right."""

from __future__ import annotations

from memento_git.knowledge import handoffs, tombstones
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.ledger import codec, corrections
from memento_git.ledger.transaction import Transaction
from memento_git.model.ids import kind_of
from memento_git.texts.typed import Reason


def settle_note(tx: Transaction, note: str, keep: str, *, reason: Reason = "") -> str:
    """Settle a contested note: the outcome of one of its heads holds."""
    writer = NoteWriter.of(tx)
    return corrections.settle(writer, writer.note_set, writer.find(note).id, keep, reason)


def void_note_event(tx: Transaction, event: str, *, reason: Reason = "") -> str:
    """Void an illegal, incomplete or contested event of a note; a legal one never."""
    writer = NoteWriter.of(tx)
    identity = writer.view.find(event, "event")[0]
    return corrections.void(writer, writer.note_set, identity, reason)


def redact_note(tx: Transaction, target: str, *, reason: Reason = "") -> str:
    """Remove a note, or the free texts of what happened to one, from the ledger; links to it stay valid."""
    writer = NoteWriter.of(tx)
    words = writer.reason("redacting", reason)
    gone = target.strip()
    if kind_of(gone) == "event":
        identity = writer.view.find(gone, "event")[0]
        tx.put(corrections.redact(writer, writer.note_set, identity, words).path, None)
        return identity
    identity = writer.view.find(gone, "note")[0]
    if writer.note_set.is_redacted(identity):
        raise corrections.AlreadyRedacted(target=identity)
    note = writer.note_set.note(identity)
    _tell_copies(tx, writer, identity)
    path = note.path
    digest = codec.digest_of(tx.view.read(path) or b"")
    writer.append(
        writer.note_set, identity, "redacted", target=f"{identity}@{digest}", reason=words, **tombstones.marks(note)
    )
    tx.put(path, None)
    return identity


def _tell_copies(tx: Transaction, writer: NoteWriter, note: str) -> None:
    """Warn of the handoffs that go on saying what a note said."""
    tx.ledger.warn(*(
        f"the handoff {one} has its title in its own text: take it out, too: memento note redact {one} --reason TEXT"
        for one in handoffs.copies(writer.note_set, [note])
    ))  # fmt: skip
