"""Which live notes claim the same: one key, or the place of one note while nobody has decided between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memento_git.knowledge.similarity import plain
from memento_git.knowledge.transitions import STATE

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.work import Prose


def competing(note_set: NoteSet, note: Prose, others: Iterable[Prose]) -> set[str]:
    """Return which of some notes, and of those beside a note, claim the same as that and do not say the same.

    All of them hold now, and so does the note.
    """
    if not _holds(note_set, note):
        return set()
    key, place, text = note.data.get("key", ""), _beside(note_set, note), plain(note.body)
    keyed = [one for one in others if "" != key == one.data.get("key") and one.id != note.id]
    found = {one.id: one for one in (*keyed, *filter(None, map(note_set.prose, place)))}
    return {name for name, one in found.items() if plain(one.body) != text and _holds(note_set, one)}


def _holds(note_set: NoteSet, note: Prose) -> bool:
    return note.id not in note_set.drafts and note_set.lives(note.id) and not note_set.is_expired(note)


def _beside(note_set: NoteSet, note: Prose) -> set[str]:
    """Return the notes that took the place of a note as this one did, by events that had not seen one another."""
    found, seen, waiting = set[str](), {note.id}, [note]
    while waiting:
        own = waiting.pop()
        before = {
            name for key in ("supersedes", "sources") for name in own.list(key) if note_set.names.events_about(name)
        }
        for name in before - seen:
            ends = {note_set.current(one) for one in _successors(note_set, name)}
            found |= ends if note.id in ends else set()
            waiting += filter(None, [note_set.prose(name)])
        seen |= before
    return found - {note.id}


def _successors(note_set: NoteSet, note: str) -> set[str]:
    """Return the notes that stand in a note's place, each by the word of another of the events that disagree."""
    folded = note_set.folded(note)
    competing = folded.lanes.contested.get(STATE, ())
    moved = [seen.writes[STATE] for seen in folded.events if seen.event.id in competing]
    return {to for state, to in moved if state in ("superseded", "merged")}
