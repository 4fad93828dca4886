"""Tables of a foreign SQLite file, as they were last committed; nothing is changed in it or made beside it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from memento_git.knowledge.foreign import entries
from memento_git.knowledge.foreign.entries import SourceBusy, SourceUnreadable
from memento_git.ledger import scratch

TIMEOUT: Final = 5.0  # seconds that a server which writes is waited for
WITH_LOG: Final = b"\x02"
COLUMNS: Final = (  # of a table: what a view comes to may have no end
    "SELECT info.name FROM sqlite_master AS held JOIN pragma_table_info(held.name) AS info "
    "WHERE held.type = 'table' AND lower(held.name) = ?"
)


def rows(path: Path, table: str, *needed: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in their order; refuse a file that has no such table with the needed columns."""
    try:
        with _opened(path.resolve()) as base:
            base.row_factory = sqlite3.Row
            columns = {one["name"] for one in base.execute(COLUMNS, (table,))}
            if missing := [one for one in needed if one not in columns]:
                problem = f"it has no table {table} with a column {missing[0]}"
                raise SourceUnreadable(where=path.name, problem=problem)
            for row in base.execute(f"SELECT * FROM {table} LIMIT {entries.MOST}"):  # noqa: S608
                yield dict(row)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        problem = f"SQLite says: {error}"
        if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise SourceBusy(where=path.name, problem=problem) from None
        raise SourceUnreadable(where=path.name, problem=problem) from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a database; where its server broke off, a copy, in which SQLite puts right what was left."""
    log, shared = (path.with_name(f"{path.name}-{end}").exists() for end in ("wal", "shm"))
    if shared or not log:
        option = "mode=ro" if log or not _keeps_log(path) else "immutable=1"
        with contextlib.closing(_connected(path, option)) as base:
            if not _broke_off(base):
                yield base
                return
    with scratch.folder() as folder:
        for end in ("", "-journal", "-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{end}", Path(folder) / f"base{end}")
        with contextlib.closing(_connected(Path(folder) / "base", "mode=rw")) as base:
            yield base


def _connected(path: Path, option: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?{option}", uri=True, timeout=TIMEOUT)


def _keeps_log(path: Path) -> bool:
    """Tell by its header whether a database is written with a log beside it, without which nobody has it open."""
    with path.open("rb") as file:
        return file.read(20)[18:19] == WITH_LOG


def _broke_off(base: sqlite3.Connection) -> bool:
    """Tell whether a journal of a transaction lies there that nobody will end."""
    try:
        base.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:
            return True
        raise
    return False
