"""Tables of a foreign SQLite file, which is opened to be read only: nothing is made beside it."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memento_git.knowledge.foreign import entries
from memento_git.knowledge.foreign.entries import SourceUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def rows(path: Path, table: str, *needed: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in their order; refuse a file that has no such table with the needed columns."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    address = f"file:{quote(str(path.absolute()))}?mode=ro{'' if has_log else '&immutable=1'}"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as base:
            base.row_factory = sqlite3.Row
            columns = {one["name"] for one in base.execute(f"PRAGMA table_info({table})")}
            if missing := [one for one in needed if one not in columns]:
                problem = f"it has no table {table} with a column {missing[0]}"
                raise SourceUnreadable(where=path.name, problem=problem)
            for row in base.execute(f"SELECT * FROM {table} LIMIT {entries.MOST}"):  # noqa: S608
                yield dict(row)
    except sqlite3.Error as error:
        raise SourceUnreadable(where=path.name, problem=f"SQLite says: {error}") from None
