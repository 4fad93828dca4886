"""diff of notes: what happened to each between two commits, and which the change of the code touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from memento_git.knowledge import changes
from memento_git.knowledge.actions.note_checks import between
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.transitions import REDACTED
from memento_git.ledger import layout
from memento_git.model.ids import parse_ref, verb_of
from memento_git.review import diff
from memento_git.review.changed_files import TwoSides, forbidden

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.model.rows import EventRow, Row
    from memento_git.model.work import Prose

FIELDS: Final = (
    "title", "key", "text", "tags", "aliases", "thread", "to", "importance", "confidence", "tier", "expires",
    "valid_from", "valid_to", "about", "sources",
)  # fmt: skip


def with_notes(ledger: Ledger, told: Row) -> Row:
    """Return a diff of the ledger with what happened to notes beside what happened to runs."""
    old, new = ledger.side(told["bases"]), ledger.side(told["tips"])
    same = len((*old.commits, *new.commits)) == 2 and old.folders.get(layout.KNOWLEDGE) == new.folders.get(
        layout.KNOWLEDGE
    )
    rows = [] if same else list(_rows(NoteSet(old), NoteSet(new)))
    files = [] if same else list(_forbidden(NoteSet(old), NoteSet(new)))
    touched = between(ledger, told["base"], told["tips"][0])["touched"] if layout.KNOWLEDGE in new.folders else []
    taken = [*told["forbidden"], *files]
    counts = {
        **told["counts"], "forbidden": len(taken), "notes": len(rows),
        "contested": told["counts"]["contested"] + sum(1 for row in rows if row["contested"]),
        "touched": len({row["note"] for row in touched}),
    }  # fmt: skip
    return {**told, "counts": counts, "forbidden": taken, "knowledge": rows, "touched": touched}


def _rows(old: NoteSet, new: NoteSet) -> Iterator[Row]:
    for row in changes.between(old, new):
        identity = row["id"]
        if row["status"] == REDACTED:
            yield _redacted_row(old, new, row)
            continue
        before = old.note(identity) if row["status_before"] else None
        after = new.note(identity) if row["status"] else None
        events = changes.since(old, new, identity)
        shown = after or before
        if shown is None:
            continue
        yield {
            **{key: row[key] for key in ("id", "kind", "domain", "title", "happened", "at")},
            "key": shown.data.get("key"), "change": _change(row), "from": row["status_before"], "to": row["status"],
            "by": row["actors"], "reason": changes.why(events), "successor": new.successor(identity) or None,
            "contested": row["status"] == "contested" != row["status_before"],
            "origin": shown.data["origin"], "about": _about(new if after else old, shown),
            "supersedes": shown.list("supersedes") if before is None else [],
            "links": [{"change": verb_of(one["action"]), **one["payload"]} for one in events if _links(one)],
            "text": shown.body if before is None or after is None else None,
            "texts": diff.texts(before and _texts(old, before), after and _texts(new, after), FIELDS),
            "illegal": _illegal(events),
        }  # fmt: skip


def _redacted_row(old: NoteSet, new: NoteSet, row: Row) -> Row:
    """Return the row of a note that is redacted by now: by whom and why, and nothing of what it said."""
    events = changes.since(old, new, row["id"])
    taken = changes.taking(events, row["id"]) or events
    return {
        **{key: row[key] for key in ("id", "kind", "domain", "title", "happened", "at")},
        **dict.fromkeys(("key", "successor", "origin", "text")), "contested": False,
        **{key: [] for key in ("about", "supersedes", "links", "texts")}, "illegal": _illegal(events),
        "change": _change(row), "from": row["status_before"], "to": row["status"],
        "by": list(dict.fromkeys(one["actor"] for one in taken)), "reason": changes.why(taken),
    }  # fmt: skip


def _change(row: Row) -> str:
    if row["status"] is None:
        return "removed"
    return "added" if row["status_before"] is None else "changed"


def _illegal(events: list[EventRow]) -> list[Row]:
    return [
        {key: row[key] for key in ("id", "action", "actor", "problem")} for row in map(dict, events) if not row["legal"]
    ]


def _links(event: EventRow) -> bool:
    return event["legal"] and event["action"] in ("note.linked", "note.unlinked")


def _about(note_set: NoteSet, note: Prose) -> list[str]:
    return [*map(str, note_set.anchors(note))]


def _texts(note_set: NoteSet, note: Prose) -> Row:
    """Return what a note says, key by key, as it is compared."""
    return {**note.data, "text": note.body, "about": _about(note_set, note)}


def _forbidden(old: NoteSet, new: NoteSet) -> Iterator[Row]:
    """Yield the files of notes that were removed, and those of their events that were changed or removed."""
    held = {}
    for path, blob in old.view.files.items():
        place = layout.place_of(path) if path.startswith(f"{layout.KNOWLEDGE}/") else None
        if place is not None and new.view.files.get(path) != blob:
            held[path] = TwoSides(place.kind, place.id, blob, new.view.files.get(path, ""))
    gone = set(_redacted(new, held)) if held else set()
    yield from forbidden(held, gone, lambda path: old.view.read(path) == new.view.read(path))


def _redacted(note_set: NoteSet, held: dict[str, TwoSides]) -> Iterator[str]:
    """Yield the records that redactions took away."""
    owners = {owner for path in held if (place := layout.place_of(path)) and (owner := place.of)}
    for owner in owners:
        yield from (parse_ref(event.data["target"]).id for event in note_set.folded(owner).legal("redacted"))
