"""Notes, and what happened to them, as plain rows, for JSON and for lines alike."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from memento_git.folding.event_rows import audit, event_row, troubles
from memento_git.knowledge import handoffs
from memento_git.knowledge.injection import orders
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.transitions import LIVE, LIVING
from memento_git.ledger import codec, layout
from memento_git.model.enumeration import many
from memento_git.model.ids import NoSuchRecord, kind_of
from memento_git.model.knowledge import key_start, under, validity
from memento_git.model.states import MADE

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.note_rows import Link, NoteRow
    from memento_git.model.rows import EventRow, Row, TroubleRow
    from memento_git.model.work import Prose


def note_row(note_set: NoteSet, note: Prose) -> NoteRow:
    """Return a note with its state and all that links to it; how its places in the code are is not told here."""
    data, text, progress = note.data, handoffs.told(note_set, note), note_set.progress(note.id)
    at, by, before = note_set.confirmed(note)
    return {
        "id": note.id,
        "kind": data["kind"],
        "domain": layout.domain_of(note.path),
        "title": data["title"],
        "key": data.get("key"),
        "status": note_set.status(note.id),
        "expired": note_set.is_expired(note), "incomplete": note_set.is_incomplete(note.id),
        "origin": data["origin"],
        "actor": data["by"],
        "created_at": data["at"],
        "confirmed_at": at or None, "confirmed_by": by or None, "confirmed_before": before or None,
        "tags": note.list("tags"), "aliases": note.list("aliases"),
        "importance": data.get("importance"),
        "confidence": data.get("confidence"),
        "tier": note_set.tier(note),
        "expires": note_set.expires(note) or None,
        "valid_from": data.get("valid_from"),
        "valid_to": data.get("valid_to"),
        "thread": data.get("thread"),
        "to": data.get("to"),
        "validity": validity(data, note_set.view.now) or None,
        "pinned": bool(data.get("pinned")),
        "about": [*map(str, note_set.anchors(note))],
        "links": [_leading(note_set, link.rel, link.to) for link in note_set.links(note)],
        "linked_from": [{"rel": rel, "from": other} for rel, other in note_set.backlinks(note.id)],
        "evidence": [str(ref).partition("@")[0] for ref in note.list("evidence")],
        "sources": note.list("sources"),
        "supersedes": note.list("supersedes"),
        "successor": note_set.successor(note.id) or None,
        "contradicted_by": note_set.contradictions(note),
        "progress": progress,
        "orders": orders(data, "\n\n".join([text, *(one for one in (progress or {}).values() if one)])),
        "text": text,
    }  # fmt: skip


def draft_row(draft: Prose) -> Row:
    """Return a draft: what it would be, and what a reader should be told of it."""
    keys = ("title", "key", "origin", "tags", "thread", "expires", "supersedes")
    return {
        "id": draft.id,
        "kind": draft.data["kind"],
        "domain": layout.domain_of(draft.path),
        "status": "draft",
        **{key: draft.data.get(key) for key in keys},
        "actor": draft.data["by"],
        "created_at": draft.data["at"],
        "orders": orders(draft.data, draft.body),
        "text": draft.body,
    }


def as_note(view: View, draft: Prose) -> NoteRow:
    """Return the row of the note that a draft would be."""
    view.put(draft.path, codec.encode_prose(draft.data, draft.body))
    note_set = NoteSet(view, {draft.id})
    return {**note_row(note_set, note_set.note(draft.id)), "status": "draft"}


def _leading(note_set: NoteSet, rel: str, to: str) -> Link:
    """Return a link, with the note that took its end's place, or what else became of that."""
    current = note_set.current(to)
    status = note_set.status(to) if kind_of(to) == "note" and current == to else "active"
    if current != to:
        return {"rel": rel, "to": to, "successor": current}
    return {"rel": rel, "to": to, "status": status} if status != "active" else {"rel": rel, "to": to}


def redacted_row(note_set: NoteSet, note: str) -> Row:
    """Return what is known of a note whose text was taken out."""
    domain = layout.domain_of(note_set.event_folder(note))
    return {"id": note, "kind": None, "domain": domain, "title": None, "status": note_set.status(note)}


def history(note_set: NoteSet, note: str) -> list[EventRow]:
    """Return what happened to a note, in the order in which it was seen."""
    return audit(note_set.folded(note).events)


def histories(view: View, note: str = "") -> list[list[EventRow]]:
    """Return for each note, or for one, that it was added and what happened to it, in the order that was seen.

    What was redacted is told by its events alone: who added it, and when, stood in its text.
    """
    note_set = NoteSet(view)
    if note:
        is_told = note_set.path(note) and not note_set.is_redacted(note)
        return [_with_addition(note_set, note_set.note(note)) if is_told else history(note_set, note)]
    told = note_set.readable()
    known = {one.id for one in told}
    left = [one for one in note_set.index.events_of if one not in known]
    return [*(_with_addition(note_set, one) for one in told), *(history(note_set, one) for one in left)]


def _with_addition(note_set: NoteSet, note: Prose) -> list[EventRow]:
    added: EventRow = {
        "id": note.id, "run_id": "", "record": note.id, "actor": note.data["by"], "action": f"note.{MADE['note']}",
        "created_at": note.data["at"], "summary": note.title, "legal": True, "problem": None, "payload": {},
    }  # fmt: skip
    return [added, *history(note_set, note.id)]


def after(tx: Transaction, note: str) -> NoteRow:
    """Return a note's row as it is at the end of a transaction."""
    from memento_git.knowledge.note_writer import NoteWriter

    note_set = NoteWriter.of(tx).note_set
    with tx.view.aside():
        return note_row(note_set, note_set.note(note))


def listed(
    note_set: NoteSet, *, kind: str = "", domain: str = "", status: str = "", key_prefix: str = "", thread: str = "",
    tag: str = "",
) -> list[Prose]:  # fmt: skip
    """Return the notes that are asked for, the latest first; without a status those that live."""
    found = []
    start = key_start(key_prefix) if key_prefix else ""
    for note in reversed(list(note_set.readable())):
        wanted = (
            kind in ("", note.data["kind"])
            and domain in ("", layout.domain_of(note.path))
            and thread in ("", note.data.get("thread"))
            and (not tag or tag in note.list("tags"))
            and (not start or under(str(note.data.get("key", "")), start))
        )
        state = note_set.status(note.id)
        if wanted and (status in ("all", state) or (not status and state in LIVING)):
            found.append(note)
    return found


def linked(view: View, records: Collection[str]) -> list[Row]:
    """Return the notes that a link, or the evidence that they rest on, leads from to one of the records."""
    note_set = NoteSet(view)
    note_set.load()
    rows = []
    for note in note_set.readable():
        links = [(link.rel, link.to) for link in note_set.links(note) if link.to in records]
        rests = [("rests_on", name) for ref in note.list("evidence") if (name := ref.partition("@")[0]) in records]
        if links or rests:
            status = note_set.status(note.id)
            rows.append({
                "id": note.id, "kind": note.data["kind"], "title": note.title, "status": status,
                "live": status in LIVE, "expired": note_set.is_expired(note), "origin": note.data["origin"],
                "links": [{"rel": rel, "to": to} for rel, to in (*links, *rests)],
            })  # fmt: skip
    return rows


def remarks(note_set: NoteSet, note: str = "") -> list[str]:
    """Return what to say beside notes, or one: that some are worded otherwise at another revision."""
    other = [one for one in note_set.differing() if note in ("", one)]
    verb = "differs" if len(other) == 1 else "differ"
    alone = "what is shown and searched is that of the first; name each --at alone"
    return [f"{note or many(len(other), 'note')} {verb} between these revisions: {alone}"] if other else []


def happened(note_set: NoteSet, event: str) -> EventRow:
    """Return one event of a note."""
    seen = note_set.fold.judged(event)
    if seen is None:
        raise NoSuchRecord(kind="event", given=event)
    return event_row(seen)


def trouble_rows(note_set: NoteSet) -> list[TroubleRow]:
    """Return what of the notes is contested, illegal or incomplete, with the events concerned."""
    return [
        row
        for note in sorted(note_set.index.events_of)
        for row in troubles(note_set.folded(note), note, note_set.event)
    ]
