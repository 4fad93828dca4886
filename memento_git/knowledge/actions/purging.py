"""Purging notes: what must leave history, for a person only, and never by itself."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

from memento_git.errors import Refused
from memento_git.knowledge import index
from memento_git.knowledge.shelf import Shelf
from memento_git.ledger import layout, purging
from memento_git.model.clock import file_stamp
from memento_git.model.ids import resolve
from memento_git.model.work import is_agent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memento_git.ledger.purging import Reach, Rewritten
    from memento_git.ledger.store import Ledger


class PurgeByAgent(Refused):
    token = "purge_needs_person"
    sentence = "{actor} cannot purge: only a person rewrites history"
    hint_ = "retire the note instead: memento note retire NOTE --reason TEXT; ask a person to purge it"


class Purge(NamedTuple):
    """What a purge comes to: the notes, what git has of them, who names them, and what was done."""

    notes: list[str]
    reach: Reach
    named_by: list[str]
    done: Rewritten | None


def purge_notes(ledger: Ledger, given: Sequence[str], *, yes: bool = False) -> Purge:
    """Say what it would take to have notes leave the branch's history; with `yes` do it."""
    if yes and is_agent(ledger.actor):
        raise PurgeByAgent(actor=ledger.actor)
    ledger.refuse_while_busy()
    shelf = Shelf(ledger.view())
    held = _held(purging.history_of(ledger.git, layout.KNOWLEDGE))
    notes = list(dict.fromkeys(_named(shelf, one, held) for one in given))
    reach = purging.survey(ledger.git, [path for note in notes for path in held[note]])
    done = None
    if yes:
        done = purging.rewrite(ledger.git, reach, file_stamp(ledger.now()))
        _forget(ledger)
    return Purge(notes, reach, _naming(shelf, notes), done)


def _held(paths: set[str]) -> dict[str, list[str]]:
    """Return for each note all files that it ever had: its text, and its events."""
    held: dict[str, list[str]] = {}
    for path in sorted(paths):
        place = layout.place_of(path)
        if place is not None:
            held.setdefault(place.of, []).append(path)
    return held


def _named(shelf: Shelf, given: str, held: dict[str, list[str]]) -> str:
    """Return the note that an id, a prefix of one or a key names, also one that only history has."""
    try:
        return resolve(given, "note", held)
    except Refused:
        keyed = shelf.find(given)
        if keyed.id not in held:
            raise
        return keyed.id


def _naming(shelf: Shelf, notes: Sequence[str]) -> list[str]:
    """Return the other notes that name these: their links, sources and successions will lead nowhere."""
    gone = set(notes)
    return [
        other.id
        for other in shelf.readable()
        if other.id not in gone
        and gone
        & {
            *(link.to for link in shelf.links(other)),
            *other.list("supersedes"),
            *other.list("sources"),
            shelf.successor(other.id),
        }
    ]


def _forget(ledger: Ledger) -> None:
    """Remove what was derived from the ledger, for it has the texts too; it is made anew when it is asked for."""
    folder: Path = ledger.git.common_dir / "memento"
    for place in (index.place(ledger.git), folder / "cache"):
        shutil.rmtree(place, ignore_errors=True)
