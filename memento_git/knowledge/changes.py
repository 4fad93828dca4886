"""What happened to notes between two views of a ledger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from memento_git.folding.event_rows import audit
from memento_git.knowledge.transitions import REDACTED
from memento_git.ledger import history, layout
from memento_git.model.ids import parse_ref, verb_of

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.rows import EventRow, Row
    from memento_git.model.work import Prose

ADDED: Final = "added"
REVISED: Final = "revised"
REMOVED: Final = "removed"
ELSEWHERE: Final = "not on this branch"
EVENT_REDACTED: Final = "event redacted"
NOT_COUNTED: Final = "not counted"


def between(before: NoteSet, after: NoteSet) -> list[Row]:
    """Return a row for each note that differs, the latest change last: what happened, its state before and after."""
    old, new = before.index.prose, after.index.prose
    taken = {note for note in after.index.events_of if after.is_redacted(note)}
    rows = [_row(before, after, note) for note in new if note not in taken and _differs(before, after, note)]
    rows += [_redacted(before, after, note) for note in taken]
    if gone := [note for note in old if note not in new and note not in taken]:
        word = REMOVED if _is_later(before, after) else ELSEWHERE
        rows += [_gone(before, note, word) for note in gone]
    told = _with_revisers(before, after, [row for row in rows if row is not None])
    return sorted(told, key=lambda row: (row["at"], row["id"]))


def _with_revisers(before: NoteSet, after: NoteSet, rows: list[Row]) -> list[Row]:
    """Return rows with when a note's text was revised, and by whom before whoever else: no event says so, git does."""
    if not after.view.commits or not any(REVISED in row["happened"] for row in rows):
        return rows
    found = history.revised(after.view.git, before.view.commits, after.view.commits)
    return [
        {**row, "actors": _actors([*one.actors, *row["actors"]]), "at": max(one.at, row["at"])}
        if REVISED in row["happened"] and (one := found.get(after.path(row["id"]))) else row for row in rows
    ]  # fmt: skip


def _differs(before: NoteSet, after: NoteSet, note: str) -> bool:
    if note not in before.index.prose:
        return True
    same = before.view.files[before.path(note)] == after.view.files[after.path(note)]
    return not same or set(after.index.events_of.get(note, ())) != set(before.index.events_of.get(note, ()))


def _row(before: NoteSet, after: NoteSet, note: str) -> Row | None:
    held = after.written(note)
    if held is None:
        return None
    known = note in before.index.prose
    events = since(before, after, note)
    revised = known and before.view.files[before.path(note)] != after.view.files[held.path]
    happened = [] if known else [ADDED]
    happened += [REVISED] if revised else []
    happened += _verbs(events, note)
    return {
        **_named(held),
        "happened": happened,
        "status_before": before.status(note) if known else None,
        "status": after.status(note),
        "actors": _actors([*([] if known else [held.data["by"]]), *(row["actor"] for row in events)]),
        "at": max([*([] if known else [held.data["at"]]), *(row["created_at"] for row in events)], default=""),
        "reason": why(events),
    }


def _named(note: Prose) -> Row:
    return {
        "id": note.id, "kind": note.data["kind"], "domain": layout.domain_of(note.path), "title": note.title,
        "thread": note.data.get("thread"),
    }  # fmt: skip


def _redacted(before: NoteSet, after: NoteSet, note: str) -> Row | None:
    """Return what happened to a note that is redacted by now, with nothing of what it said."""
    events = since(before, after, note)
    if not events:
        return None
    held = before.written(note)
    known = held is not None or before.is_redacted(note)
    return {
        "id": note,
        "kind": held.data["kind"] if held is not None else None,
        "domain": layout.domain_of(after.event_folder(note)),
        "title": None,
        "thread": None,
        "happened": _verbs(events, note),
        "status_before": before.status(note) if known else None,
        "status": after.status(note),
        "actors": _actors(row["actor"] for row in events),
        "at": max(row["created_at"] for row in events),
        "reason": why(taking(events, note) or events),
    }


def _actors(names: Iterable[str]) -> list[str]:
    """Return who did something, each once; of what nobody can read nobody knows."""
    return list(dict.fromkeys(filter(None, names)))


def since(before: NoteSet, after: NoteSet, note: str) -> list[EventRow]:
    """Return what happened to a note that an older side does not know."""
    known = set(before.index.events_of.get(note, ()))
    return [row for row in audit(after.folded(note).events) if row["id"] not in known]


def _is_later(before: NoteSet, after: NoteSet) -> bool:
    """Tell whether one view came of the other; of two branches, what one lacks nobody removed."""
    git, there = after.view.git, after.view.commits
    return not there or all(any(git.is_before(one, other) for other in there) for one in before.view.commits)


def _gone(before: NoteSet, note: str, word: str) -> Row | None:
    held = before.written(note)
    if held is None:
        return None
    return {
        **_named(held), "happened": [word], "status_before": before.status(note), "status": None, "actors": [],
        "at": "", "reason": None,
    }  # fmt: skip


def taking(events: Iterable[EventRow], note: str) -> list[EventRow]:
    """Return those of a note's events that took its text out; others took out what was said of one of its events."""
    return [
        row for row in events
        if row["action"] == "note.redacted" and row["legal"] and row["payload"]["target"].startswith(f"{note}@")
    ]  # fmt: skip


def _verbs(events: Iterable[EventRow], note: str) -> list[str]:
    """Return what happened to a note, event by event; that one of its events was redacted leaves the note as it is."""
    return [_verb(row, note) if row["legal"] else NOT_COUNTED for row in events]


def _verb(row: EventRow, note: str) -> str:
    verb = verb_of(row["action"])
    is_of_event = verb == REDACTED and parse_ref(row["payload"]["target"]).id != note
    return EVENT_REDACTED if is_of_event else verb


def why(events: Iterable[EventRow]) -> str | None:
    """Return why the last thing happened that anybody gave a reason or a word for."""
    told = [row["summary"] for row in events if row["legal"] and row["summary"]]
    return told[-1] if told else None


def wanted(
    rows: Iterable[Row], *, kind: str = "", domain: str = "", author: str = "", topic: str = ""
) -> list[Row]:  # fmt: skip
    """Return the rows that are asked for; `author` and `topic` are parts of words, their case does not count."""
    return [
        row for row in rows
        if kind in ("", row["kind"]) and domain in ("", row["domain"])
        and (not author or any(author.lower() in actor.lower() for actor in row["actors"]))
        and topic.lower() in f"{row['title'] or ''} {row['thread'] or ''}".lower()
    ]  # fmt: skip
