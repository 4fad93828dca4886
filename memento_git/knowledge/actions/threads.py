"""Threads of notes: which there are, and setting a whole one aside."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

from memento_git.errors import Refused
from memento_git.knowledge.desk import Desk
from memento_git.ledger import layout
from memento_git.ledger.store import NothingToCommit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.knowledge.shelf import Shelf
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose


class NoSuchThread(Refused):
    token = "thread_not_found"
    sentence = "no note is of the thread {thread!r}{near}"
    hint_ = "see all threads: memento note threads"


def near(thread: str, known: Iterable[str]) -> str:
    """Return what to say of the thread that may have been meant."""
    found = get_close_matches(thread, sorted(known), 1)
    return f"; there is {found[0]!r}" if found else ""


def list_threads(shelf: Shelf, *, domain: str = "", author: str = "", live: bool = False) -> list[Row]:
    """Return a row for each thread, the one with the latest note first; `author` is a part of a name."""
    held: dict[str, list[Prose]] = {}
    for note in shelf.readable():
        if thread := note.data.get("thread"):
            held.setdefault(thread, []).append(note)
    rows = []
    for thread, notes in held.items():
        if domain and not any(layout.domain_of(note.path) == domain for note in notes):
            continue
        if author and not any(author.casefold() in note.data["by"].casefold() for note in notes):
            continue
        states = Counter(shelf.status(note.id) for note in notes)
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
    return _moved(tx, thread, "parked", "active", reason)


def resume_thread(tx: Transaction, thread: str, *, reason: str = "") -> list[str]:
    """Take all parked notes of a thread up again, in one commit."""
    return _moved(tx, thread, "resumed", "parked", reason)


def _moved(tx: Transaction, thread: str, do: str, status: str, reason: str) -> list[str]:
    desk = Desk.of(tx)
    why = desk.optional("reason", reason)
    members = [note for note in desk.shelf.readable() if note.data.get("thread") == thread]
    if not members:
        known = {str(note.data["thread"]) for note in desk.shelf.readable() if note.data.get("thread")}
        raise NoSuchThread(thread=thread, near=near(thread, known))
    found = [note.id for note in members if desk.shelf.status(note.id) == status]
    if not found:
        raise NothingToCommit
    for note in found:
        desk.happen(desk.shelf, note, do, reason=why)
    return found
