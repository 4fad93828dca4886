"""What is named on the command line, and how it is shown: a record of any kind, a place in the code."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from memento_git.cli import terminal
from memento_git.ledger import layout
from memento_git.ledger.naming import RecordInvalid
from memento_git.model.anchors import edits, elsewhere, parse
from memento_git.model.ids import KINDS, IdInvalid, kind_of
from memento_git.verbs.naming import any_of

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row


class PlaceGiven(RecordInvalid):
    hint_ = "the place in the code: memento code read {given!q}; notes about it: memento recall --about {given!q}"


class FileGiven(RecordInvalid):
    hint_ = "what that file is about: memento show {record}"

    def __init__(self, *, given: str, record: str) -> None:
        super(IdInvalid, self).__init__(given=given, record=record)


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


def place(row: Row) -> str:
    """Return what a note is about, where that is now if it is elsewhere, and which lines there differ."""
    now = elsewhere(row)
    told = "; ".join(filter(None, (row.get("why", ""), edits(row))))
    return terminal.clean(f"{row['anchor']}{f' → {now}' if now else ''}{f' ({told})' if told else ''}")


def spot(row: Row, whole: str) -> str:
    """Return what a place in a file is called where nobody sees its lines: what was meant, or the whole of the file."""
    meant = parse(row["anchor"])
    return str(row["anchor"]) if meant.lines or meant.symbol else whole
