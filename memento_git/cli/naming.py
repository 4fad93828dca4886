"""Which record is meant: a unique prefix is enough, also without the kind where several kinds could be."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import terminal
from memento_git.ledger import layout
from memento_git.model.anchors import edits, elsewhere, parse
from memento_git.model.enumeration import some
from memento_git.model.ids import ALPHABET, KINDS, LENGTH, AmbiguousId, IdInvalid, NoSuchRecord, kind_of, opening_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

SHOWN: Final = 5


class RecordInvalid(IdInvalid):
    """A text that cannot begin the id of any record."""

    sentence = "{given!r} is not the id of a record, nor the beginning of one"


class PlaceGiven(RecordInvalid):
    """A place in the code, where the id of a record is asked for."""

    hint_ = "the place in the code: memento code read {given!q}; notes about it: memento recall --about {given!q}"


class FileGiven(RecordInvalid):
    """A file of the ledger, where the id of its record is asked for."""

    hint_ = "what that file is about: memento show {record}"


def whose() -> str:
    """Return the options that told the running command whose notes it is about, for another command to take."""
    given = click.get_current_context().params
    project = given.get("project_path")
    return f" --project {shlex.quote(project)}" if project else " --scope user" if given.get("scope") == "user" else ""


def full_id(view: View, given: str) -> str:
    """Return the id of the one record of any kind that is meant, by its id or, of a note, by its key."""
    try:
        found = any_of(view, given, KINDS)
    except RecordInvalid:
        if (place := layout.place_of(given)) is not None and place.id:
            raise FileGiven(given=given, record=place.id) from None
        if "/" in given or ":" in given or "." in given:
            raise PlaceGiven(given=given) from None
        raise
    return view.find(found, kind_of(found))[0]


def any_of(view: View, given: str, kinds: Sequence[str]) -> str:
    """Return the one id of these kinds that begins as given, or of the note that has this key.

    What names its kind is left to the verb to look up.
    """
    if "note" in kinds and (keyed := _keyed(view, given)):
        return keyed
    return _begun(view, given, kinds)


def _keyed(view: View, given: str) -> str:
    """Return the note that a text names as its key, the live one where there are several."""
    from memento_git.knowledge.shelf import Shelf

    found = Shelf(view).named(given)
    return found.id if found is not None else ""


def _begun(view: View, given: str, kinds: Sequence[str]) -> str:
    prefix = given.strip().lower()
    if kind_of(prefix) in KINDS:
        return prefix
    if not prefix or len(prefix) > LENGTH or not set(prefix) <= set(ALPHABET):
        raise RecordInvalid(given=given)
    found = {kind: [name for name in view.known(kind) if name.startswith(f"{kind}_{prefix}")] for kind in kinds}
    opened = {opening_of(name) for name in found.get("dispatch", ())}
    names = sorted({name for listed in found.values() for name in listed} - opened)
    if not names:
        raise NoSuchRecord(kind="record", given=given)
    if len(names) > 1:
        raise AmbiguousId(given=given, candidates=some(names, SHOWN))
    return names[0]


def place(row: Row) -> str:
    """Return what a note is about, where that is now if it is elsewhere, and which lines there differ."""
    now = elsewhere(row)
    told = "; ".join(filter(None, (row.get("why", ""), edits(row))))
    return terminal.clean(f"{row['anchor']}{f' → {now}' if now else ''}{f' ({told})' if told else ''}")


def spot(row: Row, whole: str) -> str:
    """Return what a place in a file is called where nobody sees its lines: what was meant, or the whole of the file."""
    meant = parse(row["anchor"])
    return str(row["anchor"]) if meant.lines or meant.symbol else whole
