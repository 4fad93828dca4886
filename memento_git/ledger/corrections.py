"""What puts a contested, illegal, incomplete or secret event right, in a run as among the notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

from memento_git.errors import Refused
from memento_git.folding.fold import group_in
from memento_git.folding.settling import NotAHead
from memento_git.ledger import archive, codec, layout, missing_ledger
from memento_git.ledger.event_writer import EventWriter, event_data
from memento_git.ledger.store import NothingToCommit

if TYPE_CHECKING:
    from memento_git.ledger.events import EventLog
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.work import Event


class AlreadyRedacted(Refused):
    token = "already_redacted"
    sentence = "{target} is redacted already"
    hint_ = "memento log shows when and why"


def settle(writer: EventWriter, log: EventLog, record: str, keep: str, reason: str) -> str:
    """Settle a contested record: the outcome of one of its heads holds."""
    head, where = writer.view.find(keep, "event")
    if where != log.id:
        raise NotAHead(event=head, record=record)
    writer.append(log, record, "settled", keep=head, reason=writer.reason("settling", reason))
    return record


def void(writer: EventWriter, log: EventLog, event: str, reason: str) -> str:
    """Void an illegal, incomplete or contested event; a legal one never."""
    found, of = log.event(event), _owner(log, event)
    if event in log.folded(group_in(log.id, of)).put_aside:
        raise NothingToCommit
    missing_ledger.refuse_away(writer.view, *_wanted(log, event))
    words = writer.reason("voiding an event", reason)
    absent = [str(ref) for ref in log.fold.absent(event)]
    writer.append(log, of, "voided", target=event, absent=absent, reason=words)
    return found.id if found else event


def _wanted(log: EventLog, event: str) -> list[str]:
    """Return the files for want of which an event is incomplete, its own first, as far as they are in the ledger."""
    names = [event]
    for name in names:
        names += [ref.id for ref in log.fold.absent(name) if ref.id not in names]
    return [log.index.events[name] for name in names if name in log.index.events]


def _owner(log: EventLog, event: str) -> str:
    """Return the record that an event is of, also where its file cannot be read."""
    found = log.event(event)
    if found is not None:
        return found.of
    place = layout.place_of(log.index.events[event])
    if place is None:
        raise NotAHead(event=event, record=log.id or "a note")
    return place.of


def redact(writer: EventWriter, log: EventLog, event: str, reason: str) -> Event:
    """Say what is left of an event without its free texts; its file is to be taken away with it.

    Of one that cannot be read nothing is left.
    """
    found = None if event in log.tombstones else log.event(event) or log.unreadable(event)
    if found is None:
        raise AlreadyRedacted(target=event)
    missing_ledger.refuse_away(writer.view, found.path)
    digest = codec.digest_of(writer.view.read(found.path) or b"")
    told: dict[str, Any] = {"kept": codec.redact_event(event_data(found))} if found.digest else {}
    writer.append(log, found.of, "redacted", target=f"{event}@{digest}", reason=reason, **told)
    return found


def remove(tx: Transaction, paths: Iterable[str]) -> list[str]:
    """Take redacted files away, also out of the archives that hold them; return those that were there."""
    gone = []
    for run, own in groupby(sorted(paths), layout.run_of_path):
        tx.view.index(run)
        held = [path for path in own if path in tx.view.files]
        take_out(tx, run, held)
        for path in held:
            if not tx.view.only_archived(run, path):
                tx.put(path, None)
        gone += held
    return gone


def take_out(tx: Transaction, run: str, paths: Collection[str]) -> None:
    """Pack a run's archives again without these files."""
    archived = tx.view.archived.get(run, {})
    for packed in sorted({name for path in paths for name in archived.get(path, ())}):
        files, _ = archive.unpack(packed, run, tx.view.read(packed) or b"")
        kept = {path: data for path, data in files.items() if path not in paths}
        tx.put(packed, None)
        if kept:
            rest = archive.pack(kept)
            tx.put(layout.archive_path(run, codec.digest_of(rest)), rest)
