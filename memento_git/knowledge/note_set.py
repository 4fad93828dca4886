"""All notes at one view: their texts, what happened to them, and what is derived from that and the clock."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memento_git.folding.fold import Fold
from memento_git.knowledge import inverted_index, transitions
from memento_git.knowledge.competing_notes import competing
from memento_git.knowledge.refusals import KeyAmbiguous, KeyContested, KeyUnknown, NoteRedacted
from memento_git.knowledge.similarity import plain, said
from memento_git.knowledge.transitions import (
    ABOUT,
    CONFIRMED,
    LIVING,
    PROGRESS,
    PROMOTED,
    REDACTED,
    STATE,
    anchoring,
    confirming,
)
from memento_git.ledger import cache, codec, decoding, layout
from memento_git.ledger.events import EventLog
from memento_git.ledger.view import LedgerUnreadable, View
from memento_git.model.anchors import Anchor, from_data
from memento_git.model.enumeration import grouped
from memento_git.model.finding import WHOLE, Finding
from memento_git.model.ids import IdInvalid, NoSuchRecord, WrongKind, begins_an_id, kind_of
from memento_git.model.knowledge import KEY
from memento_git.model.work import Event, Prose

WORTH_KEEPING: Final = 50
KEPT: Final = "knowledge"


def digest_of_places(about: Sequence[Mapping[str, Any]]) -> str:
    """Return by what the places that a text names are known again, without what they quote: that may be taken out."""
    plain = [{key: value for key, value in place.items() if key != "quote"} for place in about]
    return codec.digest_of(json.dumps(plain, sort_keys=True).encode())


def digest_of_text(title: str, body: str) -> str:
    """Return by what a wording is known again; where its lines break does not count, nor a title taken from it."""
    return codec.digest_of(" ".join(said(title, body).split()).encode())


class Link(NamedTuple):
    """A link from a note to another record."""

    rel: str
    to: str


class NoteSet(EventLog):
    """The notes of one ledger at one view; it is also the fold's source of events. `drafts` are among them as asked."""

    def __init__(self, view: View, drafts: Collection[str] = ()) -> None:
        super().__init__(view, "")
        self.drafts = drafts
        self.fold = Fold(self, transitions.judge)
        self._backlinks: dict[str, list[tuple[str, str]]] | None = None
        self._marks: dict[str, dict[str, None]] = {}
        self._marked = -1
        self._loaded = False

    def event_folder(self, of: str) -> str:
        """Return where a note's events lie: beside its text, or where those are that it has."""
        if path := self.path(of):
            return path.removesuffix(".md")
        names = self.names
        return next((names.event_at(name).rpartition("/")[0] for name in names.events_about(of)), "")

    def added(self, event: Event, group: str) -> None:
        super().added(event, group)
        self._backlinks = None

    # Notes.

    def path(self, note: str) -> str:
        return self.names.text_of(note)

    def note(self, identity: str) -> Prose:
        """Return a note; refuse where its file is wrong or missing."""
        path = self.path(identity) or f"{self.event_folder(identity)}.md"
        found = self.view.record(path)
        if isinstance(found, Prose):
            return found
        missing = Finding("F007", path, 0, f"{identity} has events, but its text is missing", WHOLE)
        raise LedgerUnreadable(finding=next((one for one in self.view.findings if one.path == path), missing))

    def prose(self, identity: str) -> Prose | None:
        """Return a note that can be read and is not redacted; what is wrong with another is a finding of the view."""
        return None if self.is_redacted(identity) else self.written(identity)

    def written(self, identity: str) -> Prose | None:
        """Return a note that can be read, also a redacted one whose file a merge has brought back."""
        path = self.path(identity)
        found = self.view.record(path) if path else None
        return found if isinstance(found, Prose) else None

    def find(self, given: str) -> Prose:
        """Return the note that its id, its key or the beginning of its id names; refuse a key that several live have.

        The beginning of an id is random: it never stands before a key, which somebody chose.
        """
        if (keyed := self.named(given)) is not None:
            return keyed
        key = given.strip()
        try:
            identity = self.view.find(given, "note")[0]
        except (NoSuchRecord, IdInvalid, WrongKind) as unknown:
            keyed = self.keyed(key)
            if keyed is None and isinstance(unknown, IdInvalid) and KEY.fits(key):
                raise KeyUnknown(key=key) from None
            if keyed is None:
                raise
            return keyed
        if self.is_redacted(identity):
            raise NoteRedacted(note=identity)
        return self.note(identity)

    def named(self, given: str) -> Prose | None:
        """Return the note that a text names as its key; a text that is written like an id names none here."""
        key = given.strip()
        if not KEY.fits(key) or begins_an_id(key) or self.names.holds(f"note_{key}", "note"):
            return None
        return self.keyed(key)

    def keyed(self, key: str) -> Prose | None:
        """Return the live note of a key, else the latest one that had it; of several that live none is chosen."""
        live = self.holders(key)
        if len(live) > 1:
            contested = [note.id for note in live if self.status(note.id) == "contested"]
            notes = " ".join(note.id for note in live)
            if contested:
                raise KeyContested(key=key, notes=notes, contested=" and ".join(contested))
            raise KeyAmbiguous(key=key, notes=notes)
        return next(reversed(live or self._with_key(key)), None)

    def holders(self, key: str) -> list[Prose]:
        """Return the live notes that have a key; there is more than one where branches each added theirs.

        Where none has it and a note that cannot be read seems to, that is refused: nobody knows whether it lives.
        """
        found = self._live_with(key)
        line = re.compile(rf"^key:[ \t]*(['\"]?){re.escape(key)}\1[ \t]*$".encode(errors="surrogatepass"), re.MULTILINE)
        for wrong in () if found else self.unread():
            if line.search(self.view.read(wrong.path) or b""):
                raise LedgerUnreadable(finding=wrong)
        return found

    def lives(self, note: str) -> bool:
        """Tell whether a note is active, parked or contested."""
        return self.status(note) in LIVING

    def differing(self) -> list[str]:
        """Return the notes whose text is not the same at all revisions of a union."""
        differ = {one.path for one in self.view.findings if one.code == "F006"} if len(self.view.commits) > 1 else ()
        return [note for note, path in self.index.prose.items() if path in differ] if differ else []

    def unread(self) -> list[Finding]:
        """Return what is wrong with each note that was asked for and whose file cannot be read."""
        told = reversed(self.view.findings)
        wrong = {one.path: one for one in told if (name := layout.note_of(one.path)) and self.path(name) == one.path}
        return [one for path, one in sorted(wrong.items()) if self.view.record(path) is None]

    def _with_key(self, key: str) -> list[Prose]:
        return [note for note in self.readable(self._bearing(inverted_index.keyed(key))) if note.data.get("key") == key]

    def _bearing(self, mark: str) -> Collection[str] | None:
        """Return the notes that may have a text or a key; None where all must be looked at."""
        if len(self.view.puts) > inverted_index.FEW:  # each of which the inverted index would have looked at
            self.load()
        return self._marks_at_hand().get(mark, ()) if self._loaded else inverted_index.bearing(self.view, mark)

    def _marks_at_hand(self) -> dict[str, dict[str, None]]:
        """Return mark -> the notes that bear it, or did before; each note is read once, and again when it is put."""
        puts = self.view.puts
        names = [*self.index.prose] if self._marked < 0 else map(layout.note_of, puts[self._marked :])
        self._marked = len(puts)
        for note in filter(None, map(self.written, names)):
            for mark in (inverted_index.said(note.body), inverted_index.keyed(str(note.data.get("key", "")))):
                self._marks.setdefault(mark, {})[note.id] = None
        return self._marks

    def readable(self, among: Collection[str] | None = None) -> list[Prose]:
        """Return the notes, or some of them, whose files can be read, the latest last; others are findings.

        What was redacted stays so where a merge has brought its file back.
        """
        if among is None:
            self.load()
        found = [self.view.record(self.path(name)) for name in (self.index.prose if among is None else sorted(among))]
        told = [one for one in found if isinstance(one, Prose) and not self.is_redacted(one.id)]
        return sorted(told, key=lambda note: (note.data["at"], note.id))

    def live(self, among: Collection[str] | None = None) -> list[Prose]:
        """Return the notes, or some of them, that are active or parked."""
        return [note for note in self.readable(among) if self.lives(note.id)]

    def in_force(self) -> list[Prose]:
        """Return the live notes that are neither set aside nor expired."""
        return [note for note in self.live() if self.status(note.id) != "parked" and not self.is_expired(note)]

    def saying(self, body: str) -> list[Prose]:
        """Return the live notes that say the very same; one that has expired does not stand for a new one."""
        text = plain(body)
        found = self.live(self._bearing(inverted_index.said(body)))
        return [note for note in found if plain(note.body) == text and not self.is_expired(note)]

    def near(self, text: str) -> list[Prose]:
        """Return the live notes that a text must be compared with."""
        return self.live(inverted_index.near(self.view, text))

    def load(self) -> None:
        """Decode all notes and events at once, with the help of what was decoded before; only the first call does."""
        if self._loaded:
            return
        self._loaded = True
        view, index = self.view, self.index
        paths = (*index.prose.values(), *index.events.values())
        decoded, fresh = decoding.bring(view, paths, cache.read(view.git, KEPT, "2") or {})
        if fresh > WORTH_KEEPING:
            cache.write(view.git, KEPT, "2", decoded)

    # State.

    def status(self, note: str) -> str:
        if not self.names.events_about(note):
            return "active"
        lanes = self.folded(note).lanes
        if REDACTED in lanes.values:
            return REDACTED
        return "contested" if STATE in lanes.contested else lanes.word(STATE, "active")

    def is_redacted(self, note: str) -> bool:
        return bool(self.names.redacting(note)) and REDACTED in self.folded(note).lanes.values

    def knows(self, identity: str) -> bool:
        """Tell whether a record that a note names is in this ledger, or was."""
        kind, view = kind_of(identity), self.view
        if kind == "note":
            return bool(self.path(identity)) or self.is_redacted(identity)
        return identity in view.runs() if kind == "run" else any(view.holds(run, identity, kind) for run in view.runs())

    def is_incomplete(self, note: str) -> bool:
        """Tell whether files of a note's events are missing or cannot be read, so that nobody knows its state."""
        return bool(self.names.events_about(note) and self.folded(note).dangling)

    def successor(self, note: str) -> str:
        """Return the note that took a note's place, or nothing."""
        return self.folded(note).lanes.detail(STATE)

    def current(self, note: str) -> str:
        """Return the note that stands for a note today: its successor's successor, to the last one."""
        seen = {note}
        while self.status(note) in ("superseded", "merged") and (after := self.successor(note)) not in seen | {""}:
            seen.add(after)
            note = after
        return note

    def confirmed(self, note: Prose) -> tuple[str, str, str]:
        """Return when what a note says was last confirmed, and by whom; else when, worded otherwise."""
        values = self.folded(note.id).lanes.values
        lanes = (CONFIRMED, confirming(digest_of_text(note.title, note.body)))
        at, by = max(values.get(lane, ("", "")) for lane in lanes)
        return at, by, "" if at else self.looked_at(note.id)

    def looked_at(self, note: str) -> str:
        """Return when a note was last confirmed, whatever it said then."""
        lanes = self.folded(note).lanes
        return max(value[0] for value in (lanes.values.get(CONFIRMED, ("",)), *lanes.named(CONFIRMED).values()))

    def progress(self, note: str) -> dict[str, str | None] | None:
        """Return when a goal last progressed, how, and what comes next; nothing where it never did."""
        value = self.folded(note).lanes.values.get(PROGRESS)
        return {"at": value[0], "note": value[1], "next": value[2] or None} if value else None

    def about(self, note: Prose) -> list[dict[str, Any]]:
        """Return the places in the code that a note is about, as they were last anchored since its text names them."""
        named: list[dict[str, Any]] = note.data.get("about") or []
        if not self.names.events_about(note.id):
            return named
        lanes = self.folded(note.id).lanes.values
        value = lanes.get(anchoring(digest_of_places(named))) or lanes.get(ABOUT)
        return json.loads(value[1]) if value else named

    def anchors(self, note: Prose) -> list[Anchor]:
        """Return the places that a note is about."""
        return [from_data(place) for place in self.about(note)]

    def places(self, notes: Iterable[Prose]) -> list[tuple[str, Anchor]]:
        """Return each place that notes are about, with the note's id."""
        return [(note.id, anchor) for note in notes for anchor in self.anchors(note)]

    def is_promoted(self, note: str) -> bool:
        return PROMOTED in self.folded(note).lanes.values

    def tier(self, note: Prose) -> str:
        return "long" if self.is_promoted(note.id) else str(note.data.get("tier", "long"))

    def expires(self, note: Prose) -> str:
        return "" if self.is_promoted(note.id) else str(note.data.get("expires", ""))

    def is_expired(self, note: Prose) -> bool:
        return self.has_expired(note.id, str(note.data.get("expires", "")))

    def has_expired(self, note: str, expires: str) -> bool:
        """Tell whether a note whose text names this moment has expired by now; one that was promoted has none."""
        return "" < expires <= self.view.now and not self.is_promoted(note)

    def links(self, note: Prose) -> list[Link]:
        """Return a note's own links, and those that events added."""
        if not note.data.get("links") and not self.names.events_about(note.id):
            return []
        found = {Link(one["rel"], one["to"]): True for one in note.data.get("links") or ()}
        for name, value in self.folded(note.id).lanes.named("link").items():
            rel, _, to = name.partition(":")
            found[Link(rel, to)] = value[0] == "linked"
        return sorted(link for link, stands in found.items() if stands)

    def contradictions(self, note: Prose) -> list[str]:
        """Return the live notes that contradict a note: by a link, in either direction, or as competing ones."""
        return sorted({*self.competing(note), *self._opposed(note)})

    def competing(self, note: Prose) -> list[str]:
        """Return the live notes that claim the same key as a note, or the same place."""
        key = note.data.get("key")
        return sorted(competing(self, note, self._live_with(key) if key else ()))

    def _live_with(self, key: str) -> list[Prose]:
        return [note for note in self._with_key(key) if self.lives(note.id)]

    def _opposed(self, note: Prose) -> set[str]:
        """Return what a note that stands for itself contradicts by a link, be it of one whose place it took."""
        if self.current(note.id) != note.id:
            return set()
        links = [link for one in self._stands_for(note) for link in self.links(one)]
        own = [self.current(link.to) for link in links if link.rel == "contradicts" and self.path(link.to)]
        back = [self.current(other) for rel, other in self.backlinks(note.id) if rel == "contradicts"]
        others = {other for other in (*own, *back) if self.lives(other)}
        return others - {note.id}

    def _stands_for(self, note: Prose) -> list[Prose]:
        """Return a note and those whose place it took, step by step."""
        found, waiting = {note.id: note}, [note]
        while waiting:
            one = waiting.pop()
            before = (self.prose(name) for key in ("supersedes", "sources") for name in one.list(key))
            new = [old for old in before if old and old.id not in found and self.current(old.id) == note.id]
            found.update((old.id, old) for old in new)
            waiting += new
        return list(found.values())

    def backlinks(self, note: str) -> list[tuple[str, str]]:
        """Return (relation, note) of each link that leads to a note, also through one that it superseded."""
        if self._backlinks is not None:
            return self._backlinks.get(note, [])
        among = self._leading_to(note)
        found = grouped(
            (end, (rel, other.id))
            for other in self.readable(among)
            for rel, to in self.links(other)
            if (end := self.current(to) if self.path(to) else to) != other.id
        )
        self._backlinks = found if among is None else None
        return found.get(note, [])

    def _leading_to(self, note: str) -> Collection[str] | None:
        """Return the notes that name a note, or one that it stands for today; None where all must be looked at."""
        found, seen, waiting = set[str](), {note}, [note]
        while waiting:
            name = waiting.pop()
            among = None if self._loaded else inverted_index.bearing(self.view, inverted_index.naming(name))
            if among is None:
                return None
            found.update(among)
            before = {one for one in among if self.successor(one) == name} - seen
            seen |= before
            waiting += before
        return found
