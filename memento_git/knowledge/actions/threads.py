"""Threads of notes: which there are, and setting a whole one aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.knowledge.actions.notes import park_note, resume_note
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.ledger import layout
from memento_git.ledger.store import NothingToCommit
from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row

STAYS: Final = "set aside before, and still so: {notes}; take it up: memento note resume NOTE"


class NoSuchThread(Refused):
    token = "thread_not_found"
    sentence = "no note is of the thread {thread!r}{near}"
    hint_ = "see all threads: memento note threads"


def near(thread: str, known: Iterable[str]) -> str:
    """Return what to say of the thread that may have been meant."""
    found = get_close_matches(thread, sorted(known), 1)
    return f"; there is {found[0]!r}" if found else ""


def list_threads(note_set: NoteSet, *, domain: str = "", author: str = "", live: bool = False) -> list[Row]:
    """Return a row for each thread, the one with the latest note first; `author` is a part of a name."""
    held = grouped((thread, note) for note in note_set.readable() if (thread := note.data.get("thread")))
    rows = []
    for thread, notes in held.items():
        if domain and not any(layout.domain_of(note.path) == domain for note in notes):
            continue
        if author and not any(author.casefold() in note.data["by"].casefold() for note in notes):
            continue
        states = Counter(note_set.status(note.id) for note in notes)
        if live and not states.get("active"):
            continue
        rows.append({
            "thread": thread, "notes": len(notes), "states": dict(sorted(states.items())),
            "domains": sorted({layout.domain_of(note.path) for note in notes}),
            "actors": list(dict.fromkeys(note.data["by"] for note in notes)),
            "began": min(note.data["at"] for note in notes), "latest": max(note.data["at"] for note in notes),
        })  # fmt: skip
    return sorted(rows, key=lambda row: (row["latest"], row["thread"]), reverse=True)


def park_thread(tx: Transaction, thread: str, *, reason: str = "") -> list[str]:
    """Set all active notes of a thread aside, in one commit."""
    found = _members(tx, thread, "active")
    return [park_note(tx, note, reason=reason) for note in found]


def resume_thread(tx: Transaction, thread: str, *, reason: str = "") -> list[str]:
    """Take up again, in one commit, what of a thread was last set aside; what was before stays and is told."""
    note_set = NoteWriter.of(tx).note_set
    parked = {
        note: max((event.at for event in note_set.folded(note).legal("parked")), default="")
        for note in _members(tx, thread, "parked")
    }
    last = max(parked.values())
    if stay := [note for note, at in parked.items() if at != last]:
        tx.ledger.warn(STAYS.format(notes=", ".join(stay)))
    return [resume_note(tx, note, reason=reason) for note, at in parked.items() if at == last]


def _members(tx: Transaction, thread: str, status: str) -> list[str]:
    """Return the notes of a thread that are in a state; that none is, is told as a refusal."""
    note_set = NoteWriter.of(tx).note_set
    members = [note for note in note_set.readable() if note.data.get("thread") == thread]
    if not members:
        known = {str(note.data["thread"]) for note in note_set.readable() if note.data.get("thread")}
        raise NoSuchThread(thread=thread, near=near(thread, known))
    found = [note.id for note in members if note_set.status(note.id) == status]
    if not found:
        raise NothingToCommit
    return found
