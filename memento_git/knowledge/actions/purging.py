"""Purging notes: what must leave history, for a person only, and never by itself."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from memento_git.errors import MementoError, Moved, Refused
from memento_git.knowledge import handoffs, index, tombstones
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.ledger import layout, purging
from memento_git.ledger.corrections import AlreadyRedacted
from memento_git.ledger.events import NOTHING, is_purge
from memento_git.ledger.git import Git
from memento_git.ledger.publish import LedgerMoved
from memento_git.ledger.purging import Reach, Rewritten
from memento_git.ledger.store import Ledger
from memento_git.ledger.transaction import Transaction
from memento_git.ledger.view import View
from memento_git.model.clock import file_stamp
from memento_git.model.enumeration import grouped
from memento_git.model.ids import resolve
from memento_git.model.work import is_agent

REASON: Final = "taken out, to be purged from the branch's history"
TRIES: Final = 10


class PurgeByAgent(Refused):
    token = "purge_needs_person"
    sentence = "{actor} cannot purge: only a person rewrites history"
    hint_ = "retire the note instead: memento note retire NOTE --reason TEXT; ask a person to purge it"


class PurgeUnfinished(Moved):
    token = "purge_unfinished"
    sentence = "{notes} left the ledger, and the branch's history still has them: {why}"
    hint_ = "go on: memento purge {ids} --yes"


class Purge(NamedTuple):
    """What a purge comes to: the notes, what git has of them, who names them, whence they came, what was done.

    `copies` are the handoffs that have their titles in their own text.
    """

    notes: list[str]
    reach: Reach
    named_by: list[str]
    copies: list[str]
    sources: list[str]
    done: Rewritten | None


def purge_notes(ledger: Ledger, given: Sequence[str], *, yes: bool = False) -> Purge:
    """Say what it would take to have notes leave the branch's history; with `yes` do it.

    What stays of each is one event, which says that it was taken out and by whom: what names the note leads there, and
    a merge does not bring it back unnoticed. It is committed first, so that a purge that was broken off can be done
    again.
    """
    if yes and is_agent(ledger.actor):
        raise PurgeByAgent(actor=ledger.actor)
    ledger.refuse_while_busy()
    note_set = NoteSet(ledger.view())
    held = _held(ledger.git)
    notes = list(dict.fromkeys(_named(note_set, one, held) for one in given))
    left = {note: _left(note_set, note) for note in notes}
    paths = [path for note in notes for path in held[note] if path != left[note]]
    if not paths:
        purging.finish(ledger.git, notes)
        raise AlreadyRedacted(target=notes[0])
    reach = purging.survey(ledger.git, paths)
    done = None
    if yes:
        if fresh := {note: held[note] for note in notes if not left[note]}:
            ledger.change("purge", lambda tx: _take_out(tx, fresh))
        done = _rewritten(ledger, notes)
        purging.finish(ledger.git, notes)
        _forget(ledger)
    copies = handoffs.copies(note_set, notes)
    named_by = [one for one in _naming(note_set, notes) if one not in copies]
    return Purge(notes, reach, named_by, copies, tombstones.sources(note_set, notes), done)


def _rewritten(ledger: Ledger, notes: Sequence[str]) -> Rewritten:
    """Make history anew, again where somebody else committed meanwhile; say what is left to do where that fails."""

    def paths() -> list[str]:
        note_set, held = NoteSet(ledger.view()), _held(ledger.git)
        found = [path for note in notes for path in held.get(note, ()) if path != _left(note_set, note)]
        if not found:  # another purge was quicker
            raise AlreadyRedacted(target=notes[0])
        return found

    try:
        for _ in range(TRIES - 1):
            with suppress(LedgerMoved):
                return purging.rewrite(ledger.git, paths, file_stamp(ledger.now()))
        return purging.rewrite(ledger.git, paths, file_stamp(ledger.now()))
    except AlreadyRedacted:
        raise
    except MementoError as error:
        raise PurgeUnfinished(notes=", ".join(notes), ids=" ".join(notes), why=error.message) from error


class _Emptied(NoteSet):
    """The notes without some that were taken out, whose places it knows."""

    def __init__(self, view: View, places: Mapping[str, str]) -> None:
        super().__init__(view)
        self._places = places

    def event_folder(self, of: str) -> str:
        return self._places[of]


def _left(note_set: NoteSet, note: str) -> str:
    """Return the file that says of a note that it was taken out and that names nothing of it, if there is one."""
    happened = (note_set.event(name) for name in note_set.index.events_of.get(note, ()))
    return next((event.path for event in happened if event is not None and is_purge(event)), "")


def _take_out(tx: Transaction, held: Mapping[str, Sequence[str]]) -> None:
    """Take the files of notes out of the ledger, and leave an event of each that says so."""
    writer = NoteWriter.of(tx)
    came = {note: tombstones.source_mark(writer.note_set, note) for note in held}
    for note, paths in held.items():
        events = (writer.note_set.index.events[one] for one in writer.note_set.index.events_of.get(note, ()))
        for path in {*paths, *events}:
            if path in tx.view.files:
                tx.put(path, None)
    places = {
        note: layout.note_path(layout.domain_of(paths[0]), note).removesuffix(".md") for note, paths in held.items()
    }
    emptied = _Emptied(tx.view, places)
    for note in held:
        event = writer.append(emptied, note, "redacted", target=f"{note}@{NOTHING}", reason=REASON, **came[note])
        purging.begin(tx.ledger.git, note, event.path)


def _held(git: Git) -> dict[str, list[str]]:
    """Return for each note all files that it ever had: its text, and its events."""
    paths = sorted(purging.history_of_notes(git))
    return grouped((place.of, path) for path in paths if (place := layout.place_of(path)) is not None)


def _named(note_set: NoteSet, given: str, held: dict[str, list[str]]) -> str:
    """Return the note that an id, a key or the beginning of an id names, also one that only history has."""
    if (keyed := note_set.named(given)) is not None and keyed.id in held:
        return keyed.id
    try:
        return resolve(given, "note", held)
    except Refused:
        keyed = note_set.find(given)
        if keyed.id not in held:
            raise
        return keyed.id


def _naming(note_set: NoteSet, notes: Sequence[str]) -> list[str]:
    """Return the other notes that name these: their links, sources and successions lead to what is redacted then."""
    gone = set(notes)
    return [
        other.id
        for other in note_set.readable()
        if other.id not in gone
        and gone
        & {
            *(link.to for link in note_set.links(other)),
            *other.list("supersedes"),
            *other.list("sources"),
            note_set.successor(other.id),
        }
    ]


def _forget(ledger: Ledger) -> None:
    """Remove what was derived from the ledger, for it has the texts too; it is made anew when it is asked for."""
    folder: Path = ledger.git.common_dir / "memento"
    for place in (index.place(ledger.git), folder / "cache"):
        shutil.rmtree(place, ignore_errors=True)
