"""Imported notes whose text was taken out of the ledger: known by digests, so that the next import leaves them out.

Only digests are kept. Of what was purged there is none of the text, for a short text could be guessed from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from memento_git.folding.settling import takes_out
from memento_git.knowledge import similarity
from memento_git.ledger import codec

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.work import Prose

IMPORT: Final = "import"
SOURCE, TEXT = "came_from", "came_as"


def marks(note: Prose) -> dict[str, Any]:
    """Return by what an imported note is known again: digests of where it came from and of what it says."""
    if note.data["origin"] != IMPORT:
        return {}
    sources = note.list("sources")[:1]
    return {**({SOURCE: _digest(str(sources[0]))} if sources else {}), TEXT: _digest(similarity.plain(note.body))}


def why_out(note: str) -> str:
    """Return why something that would come in stays out."""
    return f"{note}, which said this or came from there, was redacted in this ledger: tell the rest with note add"


def sources(note_set: NoteSet, notes: Iterable[str]) -> list[str]:
    """Return where notes were imported from, of those whose text is there."""
    found = (note_set.note(note) for note in notes if note_set.path(note))
    return [str(source) for note in found if note.data["origin"] == IMPORT for source in note.list("sources")[:1]]


def source_mark(note_set: NoteSet, note: str) -> dict[str, Any]:
    """Return by what a note that leaves history is known again: by where it came from alone."""
    path = note_set.path(note)
    held = [marks(note_set.note(note))] if path else _events(note_set, note)
    return next(({SOURCE: one[SOURCE]} for one in held if one.get(SOURCE)), {})


class Tombstones:
    """The imported notes that were taken out of a ledger."""

    def __init__(self, note_set: NoteSet) -> None:
        gone = (note for note in sorted(note_set.index.events_of) if note_set.is_redacted(note))
        held = [(note, one) for note in gone for one in _events(note_set, note)]
        self._sources = {one[SOURCE]: note for note, one in held if one[SOURCE]}
        self._texts = {one[TEXT]: note for note, one in held if one[TEXT]}
        self._read = {*self._texts.values()}

    def said(self, origin: str, text: str, sources: Sequence[str]) -> str:
        """Return the note that said what an imported text says, or came from its place as a text that nobody knows."""
        return self.find(text, next(iter(sources), ""), lasting=False) if origin == IMPORT else ""

    def find(self, text: str, source: str, *, lasting: bool = True) -> str:
        """Return the note that said a text, or came from a source; nothing where there is none.

        A source that is not `lasting`, such as a line of a file, tells it only where the text is not known.
        """
        if not (self._sources or self._texts):
            return ""
        if note := self._texts.get(_digest(similarity.plain(text))):
            return note
        came = self._sources.get(_digest(source), "") if source else ""
        return came if lasting or came not in self._read else ""


def _events(note_set: NoteSet, note: str) -> Iterator[Mapping[str, str]]:
    """Yield what the events say that took a note out."""
    for seen in note_set.folded(note).events:
        if takes_out(seen.event):
            yield {key: seen.event.get(key) for key in (SOURCE, TEXT)}


def _digest(text: str) -> str:
    return codec.digest_of(text.encode())
