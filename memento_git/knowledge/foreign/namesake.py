"""The records of the local memory server that this product's namesake is: its SQLite file, and its JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from memento_git.knowledge.foreign import databases, entries, files
from memento_git.knowledge.foreign.entries import Entry, Found, SourceUnreadable
from memento_git.knowledge.foreign.values import Values
from memento_git.model.exchange import LeftOut

TABLE: Final = "memories"
LARGEST: Final = 256 * 1024 * 1024
MADE: Final = ("created_at", "created", "timestamp")
GONE: Final = ("archived", "is_archived", "archived_at", "deleted_at")
UNSET: Final = (None, "", 0, "0", False, "false")


def read(path: Path) -> Found:
    """Return the notes of a database, or of an export of it: what the file is, its first bytes say."""
    is_database = files.is_database(files.existing(path))
    skipped: list[LeftOut] = []
    rows = [*(_rows(path) if is_database else _lines(path, skipped))]
    if skipped and not rows:
        raise SourceUnreadable(where=path.name, problem="none of its lines is a JSON object")
    made = [entry for where, row in rows if (entry := _entry(where, row, skipped)) is not None]
    return entries.unique(made, skipped)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of the table."""
    for number, row in enumerate(databases.rows(path, TABLE, "content"), 1):
        yield f"{TABLE} row {number}", row


def _lines(path: Path, skipped: list[LeftOut]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of an export."""
    for number, line in enumerate(files.whole(path, LARGEST).split("\n"), 1):
        where = f"{path.name}:{number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            skipped.append(LeftOut(where, f"it is no JSON: {error}"))
            continue
        if isinstance(row, dict):
            yield where, row
        else:
            skipped.append(LeftOut(where, "it is no object"))


def _entry(where: str, row: Mapping[str, Any], skipped: list[LeftOut]) -> Entry | None:
    content = row.get("content")
    if not isinstance(content, str) or not content.strip():
        skipped.append(LeftOut(where, "it has no content"))
        return None
    name = str(row.get("id") or where)
    values = Values(row)
    beside = _metadata(values)
    told = values.line("source")
    options = entries.given(
        kind=values.kind("kind"),
        key=values.key("subject_key"),
        importance=values.share("importance"),
        confidence=entries.share(beside.get("confidence")),
        tags=_tags(beside),
        sources=(f"memento-sqlite:{name}", *((f"its source was {told}",) if told else ())),
    )
    is_gone = any(row.get(column) not in UNSET for column in GONE)
    place = f"{where} ({name})" if row.get("id") else where
    entry = Entry(
        place, name, content, options, at=values.moment(*MADE), state="retired" if is_gone else "",
        reason="it was archived where it came from" if is_gone else "",
    )  # fmt: skip
    values.rest("id", "content", "updated_at", *GONE)
    return entry._replace(told=tuple(values.told))


def _metadata(values: Values) -> dict[str, Any]:
    _, told = values.first("metadata")
    held = entries.members(told)
    if told is not None and not held and str(told).strip() not in ("{}", "null"):
        values.lacks("metadata", told, "no JSON object")
    return held


def _tags(held: Mapping[str, Any]) -> tuple[str, ...]:
    """Return tags as they were, and what else metadata say as tags of the form name=JSON, as `Memory` writes them."""
    tags = held.get("tags")
    plain = entries.words(tags) if isinstance(tags, (str, list)) else ()
    known = {"tags"} if plain else set[str]()
    known |= {"confidence"} if entries.share(held.get("confidence")) else set()
    rest = {" ".join(name.split()): value for name, value in held.items() if name not in known}
    return (*plain, *(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in rest.items()))
