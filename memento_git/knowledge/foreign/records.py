"""The records of the local memory server that this product's namesake is: its SQLite file, and its JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.knowledge.foreign import databases, entries, files
from memento_git.knowledge.foreign.entries import Entry, Found, SourceUnreadable
from memento_git.model.exchange import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MAGIC: Final = b"SQLite format 3\x00"
TABLE: Final = "memories"
LARGEST: Final = 256 * 1024 * 1024
MADE: Final = ("created_at", "created", "timestamp")
GONE: Final = ("archived", "is_archived", "archived_at", "deleted_at")


def read(path: Path) -> Found:
    """Return the notes of a database, or of an export of it: what the file is, its first bytes say."""
    if not path.is_file():
        raise SourceUnreadable(where=path.name, problem="it is no file")
    with path.open("rb") as stream:
        is_database = stream.read(len(MAGIC)) == MAGIC
    skipped: list[LeftOut] = []
    rows = _rows(path) if is_database else _lines(path, skipped)
    made = [entry for where, row in rows if (entry := _entry(where, row, skipped)) is not None]
    found = entries.unique(made)
    return Found(found.entries, [*skipped, *found.skipped])


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
    place = f"{where} ({name})" if row.get("id") else where
    held = entries.members(row.get("metadata"))
    subject = entries.key(row.get("subject_key"))
    if row.get("subject_key") and not subject:
        skipped.append(LeftOut(place, f"its key {str(row['subject_key'])!r:.60} is none here: the note comes without"))
    told = str(row.get("source") or "")
    options = entries.given(
        kind=entries.kind(row.get("kind"), "fact"),
        key=subject,
        importance=entries.share(row.get("importance")),
        confidence=entries.share(held.get("confidence")),
        tags=entries.words(held.get("tags")),
        sources=(f"memento-sqlite:{name}", *((f"its source was {told}",) if told else ())),
    )
    is_gone = any(_is_set(row.get(column)) for column in GONE)
    return Entry(
        place, name, content, options, at=_made(row), state="retired" if is_gone else "",
        reason="it was archived where it came from" if is_gone else "",
    )  # fmt: skip


def _made(row: Mapping[str, Any]) -> str:
    return next((entries.moment(row[column]) for column in MADE if row.get(column)), "")


def _is_set(value: Any) -> bool:
    return value not in (None, "", 0, "0", False, "false")
