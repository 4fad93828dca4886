"""Which live notes claim the same: one key, or the place of one note while nobody has decided between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.knowledge.alike import plain
from memento_git.knowledge.transitions import LIVE, STATE

if TYPE_CHECKING:
    from memento_git.knowledge.shelf import Shelf
    from memento_git.model.work import Prose


def are_rivals(shelf: Shelf, note: Prose, other: Prose) -> bool:
    """Tell whether two notes that hold now claim the same and do not say the same."""
    if note.id == other.id or plain(note.body) == plain(other.body):
        return False
    if not (_holds(shelf, note) and _holds(shelf, other)):
        return False
    return "" != note.data.get("key", "") == other.data.get("key") or other.id in beside(shelf, note)


def _holds(shelf: Shelf, note: Prose) -> bool:
    return note.id not in shelf.drafts and shelf.status(note.id) in (*LIVE, "contested") and not shelf.is_expired(note)


def beside(shelf: Shelf, note: Prose) -> set[str]:
    """Return the notes that took the place of a note as this one did, by events that had not seen one another."""
    found, seen, waiting = set[str](), {note.id}, [note]
    while waiting:
        own = waiting.pop()
        before = {name for key in ("supersedes", "sources") for name in own.list(key) if name in shelf.index.events_of}
        for name in before - seen:
            ends = {shelf.current(one) for one in _successors(shelf, name)}
            found |= ends if note.id in ends else set()
            waiting += filter(None, [shelf.prose(name)])
        seen |= before
    return found - {note.id}


def _successors(shelf: Shelf, note: str) -> set[str]:
    """Return the notes that stand in a note's place, each by the word of another of the events that disagree."""
    folded = shelf.folded(note)
    rivals = folded.lanes.contested.get(STATE, ())
    moved = [seen.writes[STATE] for seen in folded.events if seen.event.id in rivals]
    return {to for state, to in moved if state in ("superseded", "merged")}
