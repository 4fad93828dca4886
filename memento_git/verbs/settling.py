"""settle and redact: one verb for records of work and for notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.folding.event_rows import action
from memento_git.knowledge.actions import settling as notes
from memento_git.knowledge.note_rows import trouble_rows
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger import codec, layout
from memento_git.model.ids import action_of, kind_of
from memento_git.verbs.naming import any_of
from memento_git.work.actions import settling
from memento_git.work.row_cache import base
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row, TroubleRow
    from memento_git.texts.typed import Reason

RECORDS: Final = (*settling.RECORDS, "note")


def settle_record(tx: Transaction, record: str, keep: str, *, reason: Reason = "") -> str:
    """Settle a contested record: the outcome of one of its heads holds."""
    named = any_of(tx.view, record, RECORDS)
    act = notes.settle_note if kind_of(named) == "note" else settling.settle_record
    return act(tx, named, keep, reason=reason)


def void_event(tx: Transaction, event: str, *, reason: Reason = "") -> str:
    """Void an illegal, dangling or contested event; a legal one never."""
    act = notes.void_note_event if tx.view.find(event, "event")[1] == "" else settling.void_event
    return act(tx, event, reason=reason)


def redact_record(
    tx: Transaction, target: str, *, reason: Reason = "", kinds: Sequence[str] = ("evidence", "note", "event")
) -> str:
    """Remove evidence, a note, or an event's free texts, from the ledger; links to it stay valid."""
    named = any_of(tx.view, target, kinds)
    act = settling.redact_record if tx.view.find(named, kind_of(named))[1] else notes.redact_note
    return act(tx, named, reason=reason)


def redact_evidence(tx: Transaction, target: str, *, reason: Reason = "") -> str:
    """Remove evidence, or the free texts of an event, from the ledger; links to it stay valid."""
    return redact_record(tx, target, reason=reason, kinds=("evidence", "event"))


def redact_note(tx: Transaction, target: str, *, reason: Reason = "") -> str:
    """Remove a note, or the free texts of an event, from the ledger; links to it stay valid."""
    return redact_record(tx, target, reason=reason, kinds=("note", "event"))


def troubles(view: View) -> tuple[list[TroubleRow], list[Row]]:
    """Return what needs settling, and what came after its run was archived."""
    found = [row for run in view.runs() for row in base(view, run)["trouble"]]
    late = [row for run in view.runs() for row in _late(view, run)]
    return [*found, *trouble_rows(NoteSet(view))], late


def _late(view: View, run: str) -> list[Row]:
    """Return the events of an archived run that no archive of it holds, oldest first."""
    state = RunState(view, run)
    index = state.index
    packed = view.archived.get(run)
    if not packed:
        return []
    rows = []
    for name, path in index.events.items():
        place = layout.place_of(path) if path not in packed else None
        if place is not None:
            event = state.event(name)
            rows.append({
                "run_id": run, "record": place.of, "event": name,
                "action": action(event) if event is not None else action_of(place.of, place.do),
                "actor": event.by if event is not None else None, "at": codec.time_of(place.stamp),
            })  # fmt: skip
    return sorted(rows, key=lambda row: (str(row["at"]), str(row["event"])))
