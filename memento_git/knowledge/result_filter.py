"""Which notes and records recall may show, and which it leaves out and says so."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.index_entries import Header
from memento_git.knowledge.search_request import LED_ON, UNSAID, SearchRequest
from memento_git.knowledge.transitions import REDACTED
from memento_git.ledger import layout

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.work import Prose

FEEDBACK: Final = "feedback"  # what was said of a session is parked as it is made, not set aside by anybody
SEVERAL: Final = 50  # notes whose events are read one by one; of more, all are read at once


class ResultFilter:
    """Judges documents by a request; what only its state keeps out is remembered."""

    def __init__(
        self, note_set: NoteSet, request: SearchRequest, drafts: Collection[str], places: Collection[str] | None
    ) -> None:
        self.note_set = note_set
        self.request = request
        self.drafts = drafts
        self.places = places
        self.held_back: dict[str, str] = {}
        self.instead: dict[str, list[str]] = {}  # note -> those that were meant, and that it took the place of
        self._known: dict[str, bool] = {}
        self._with_events = 0

    def keeps(self, header: Header) -> bool:
        """Tell whether a document may be shown, itself or what took its place."""
        if header.path not in self._known:
            admitted = self.request.admits(header)
            self._known[header.path] = admitted and (header.kind != "note" or self._keeps_note(header))
        return self._known[header.path]

    def _keeps_note(self, header: Header) -> bool:
        """Tell whether a note may be shown by what its header and its events say: its file is not read for it."""
        if not self._is_meant(header):
            return False
        if header.id in self.drafts:
            return not self.request.states or bool({"all", "draft"} & set(self.request.states))
        self._with_events += bool(self.note_set.names.events_about(header.id))
        if self._with_events == SEVERAL:
            self.note_set.load()
        status = self.note_set.status(header.id)
        is_led = not self.request.states and status in LED_ON
        after = self.note_set.prose(self.note_set.current(header.id)) if is_led else None
        if after is not None:
            return self._in_time(header.id, after.id, str(after.data.get("expires", "")))
        return self._in_time(header.id, header.id, header.expires)

    def _is_meant(self, header: Header) -> bool:
        """Tell whether a note passes the filters that only its whole text answers."""
        if self.places is not None and header.id not in self.places:
            return False
        least, anchored = self.request.min_confidence, self.request.has_anchor
        if least is None and anchored is None:
            return True
        note = self.note_set.prose(header.id)
        return note is not None and (
            (least is None or float(note.data.get("confidence", UNSAID)) >= least)
            and anchored in (None, bool(self.note_set.about(note)))
        )

    def _in_time(self, meant: str, shown: str, expires: str) -> bool:
        """Tell whether what a note is shown as holds; where it does not, the note is kept back by its own state."""
        status, expired = self.note_set.status(shown), self.note_set.has_expired(shown, expires)
        admitted = status != REDACTED and self.request.admits_state(status, expired=expired)
        if not admitted:
            own = self.note_set.status(meant)
            is_feedback = own == "parked" and self.note_set.path(meant).startswith(f"{layout.KNOWLEDGE}/{FEEDBACK}/")
            self.held_back[meant] = FEEDBACK if is_feedback else "expired" if expired and own == "active" else own
        return admitted

    def all(self) -> list[Prose]:
        """Return all notes that may be shown, the latest first; one stands for those that it took the place of."""
        kept = [note for note in self.note_set.readable() if self.keeps(header_of(note))]
        led = [note for note in kept if not self.request.states and self.note_set.status(note.id) in LED_ON]
        found = {note.id: note for note in kept if note not in led}
        passed = {*found}
        for note in led:
            after = self.note_set.prose(self.note_set.current(note.id))
            if after is not None and after.id not in passed:
                found[after.id] = after
                self.instead.setdefault(after.id, []).append(note.id)
        return sorted(found.values(), key=lambda note: (note.data["at"], note.id), reverse=True)


def header_of(note: Prose) -> Header:
    """Return what filters judge of a note."""
    data = note.data
    return Header(
        path=note.path, kind="note", id=note.id, title=note.title, sort=data["kind"],
        domain=layout.domain_of(note.path), key=data.get("key", ""), tags=tuple(note.list("tags")), time=data["at"],
        by=data["by"], thread=data.get("thread", ""), importance=data.get("importance", UNSAID),
        expires=data.get("expires", ""),
    )  # fmt: skip
