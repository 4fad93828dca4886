"""The events of PMB, a memory that keeps them in one SQLite file for each workspace (`events.sqlite`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from memento_git.knowledge.foreign import databases, entries, files
from memento_git.knowledge.foreign.entries import Entry, Found
from memento_git.knowledge.foreign.values import Values
from memento_git.model.enumeration import grouped
from memento_git.model.exchange import LeftOut

TABLE: Final = "events"
COLUMNS: Final = ("ulid", "event_type", "content", "metadata_json", "timestamp", "importance", "archived_at")
KINDS: Final = {"failure": "lesson", "milestone": "event", "activity": "event", "git": "event", "file": "event",
                "test": "event", "goal_update": "event"}  # fmt: skip
NOT_NOTES: Final = {
    "fact_atom": "it is a sentence of another record, which comes in whole",
    "reflection": "it is what PMB made of another record",
    "image": "it is the place of an image",
}
LINKS: Final = {"triggered_by_ulid": "caused_by", "previous_milestone_ulid": "relates_to",
                "parent_goal_ulid": "relates_to"}  # fmt: skip
FINISHED: Final = ("done", "cancelled")
GOAL: Final = (*FINISHED, "pending", "active")
TOLD: Final = ("superseded_by", "supersedes", "parent_ulid")
ANSWER: Final = "qa"
PINNED: Final = 1.0


def read(path: Path) -> Found:
    """Return the notes of a workspace: of its file, or of the folder that holds it."""
    path = files.existing(path / "events.sqlite" if path.is_dir() else path)
    skipped: list[LeftOut] = []
    events = [{**row, "meta": entries.members(row["metadata_json"])} for row in databases.rows(path, TABLE, *COLUMNS)]
    known = {row["ulid"] for row in events}
    after = grouped(
        (new, str(row["ulid"])) for row in events if (new := _named(row["meta"], "superseded_by", known))
    )  # fmt: skip
    made = [entry for row in events if (entry := _entry(row, after, known, skipped)) is not None]
    return entries.unique(made, skipped)


def _entry(
    row: Mapping[str, Any], after: Mapping[str, list[str]], known: set[str], skipped: list[LeftOut]
) -> Entry | None:
    name, sort, meta = str(row["ulid"]), str(row["event_type"]), row["meta"]
    where = f"event {name}"
    content = row["content"].strip() if isinstance(row["content"], str) else ""
    if why := NOT_NOTES.get(sort, "" if content else "it has no content"):
        skipped.append(LeftOut(where, why))
        return None
    values, beside = Values(row), Values(meta)
    if row["metadata_json"] and not meta and str(row["metadata_json"]).strip() not in ("{}", "null"):
        values.tell("its metadata are no JSON object: the note comes without")
    told = str(beside.first("kind", "activity_kind")[1] or sort)
    kind = entries.kind(KINDS.get(told, told)) or entries.kind(KINDS.get(sort, sort))
    if not kind and sort != ANSWER:
        values.lacks("type", sort, "unknown here", "it comes in as a fact")
    options = entries.given(
        kind=kind or "fact",
        key=_key(beside),
        importance=values.share("importance"),
        pinned=row["importance"] == PINNED,
        expires=beside.moment("expires_at"),
        thread=beside.line("chain_name"),
        tags=tuple(dict.fromkeys((*(("failure",) if told == "failure" else ()), *beside.words("tags")))),
        sources=(f"pmb:{name}", *((f"its source was {told_of}",) if (told_of := beside.line("source")) else ())),
    )
    asked = str(beside.first("query")[1] or "").strip() if sort == ANSWER else ""
    state, reason = _state(row, known)
    entry = Entry(
        where, name, f"{asked}\n\n{content}" if asked else content, options,
        at=values.moment("timestamp"), links=_links(meta, known), supersedes=tuple(after.get(name, ())),
        state=state, reason=reason,
    )  # fmt: skip
    beside.rest(*TOLD, *LINKS, *(("goal_status",) if meta.get("goal_status") in GOAL else ()))
    return entry._replace(told=(*values.told, *beside.told))


def _key(beside: Values) -> str:
    """Return the key of a fact about one property of one thing, `thing::property` there."""
    text = re.sub(r"\s+", "_", str(beside.first("keyed_fact_key")[1] or "").strip().replace("::", "."))
    if text and not entries.key(text):
        beside.lacks("key", text, "not valid here")
    return entries.key(text)


def _named(meta: Mapping[str, Any], member: str, known: set[str]) -> str:
    """Return the event that a member names; nothing where there is none such."""
    value = meta.get(member)
    return value if isinstance(value, str) and value in known else ""


def _links(meta: Mapping[str, Any], known: set[str]) -> tuple[tuple[str, str], ...]:
    named = ((relation, _named(meta, member, known)) for member, relation in LINKS.items())
    return tuple((relation, to) for relation, to in named if to)


def _state(row: Mapping[str, Any], known: set[str]) -> tuple[str, str]:
    """Return what had happened to an event, and why; nothing where another one took its place."""
    meta = row["meta"]
    if _named(meta, "superseded_by", known):
        return "", ""
    if row["archived_at"] is not None:
        return "retired", "it was archived where it came from"
    if meta.get("goal_status") in FINISHED:
        return "retired", f"the goal was {meta['goal_status']} where it came from"
    return "", ""
