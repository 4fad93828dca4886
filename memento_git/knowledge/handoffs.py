"""A handoff names notes by their ids alone: what they say is looked up when it is read, as it is by then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.transitions import REDACTED

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.work import Prose

HANDOFF: Final = "handoff"
NAMED: Final = re.compile(r"^- (note_[0-9a-z]{12}) \([a-z][^\n]*\)$", re.MULTILINE)


def is_handoff(note: Prose) -> bool:
    return HANDOFF in note.list("tags")


def line(note: str, labels: Sequence[str]) -> str:
    """Return what a handoff says of a note: its id, and what it was then; none of its text."""
    return f"{note} ({', '.join(labels)})"


def told(note_set: NoteSet, note: Prose) -> str:
    """Return a note's text; in a handoff the notes that it names have their titles with them."""
    return NAMED.sub(lambda found: _titled(note_set, found), note.body) if is_handoff(note) else note.body


def _titled(note_set: NoteSet, found: re.Match[str]) -> str:
    """Return the line of a note with its title, and its state where that is another by now.

    One that is not on this branch, or cannot be read, has none.
    """
    note, status = found[1], note_set.status(found[1])
    if status == REDACTED:
        return f"{found[0]}: redacted"
    held = note_set.written(note)
    now = f" [now {status}]" if status != "active" and status not in found[0] else ""
    return f"{found[0]}: {held.title}{now}" if held is not None else found[0]


def copies(note_set: NoteSet, notes: Sequence[str]) -> list[str]:
    """Return the handoffs whose own text has the titles of notes, because somebody wrote them there."""
    titles = {note: held.title if (held := note_set.written(note)) is not None else "" for note in notes}
    return [
        one.id
        for one in note_set.readable()
        if is_handoff(one)
        and one.id not in titles
        and any(_tells(one, note, title.rstrip("\u2026")) for note, title in titles.items())
    ]


def _tells(handoff: Prose, note: str, title: str) -> bool:
    """Tell whether a handoff has a title, or a line that has a text, a kind and the id of a note."""
    said = f"{handoff.title}\n{handoff.body}"
    return bool(title and title in said) or re.search(rf"^- .* \([a-z]+, {note}[,)]", said, re.MULTILINE) is not None
