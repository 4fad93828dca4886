"""A board as a SQLite file, for whoever asks with SQL: the same columns and cards, at one commit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from memento_git.ledger import scratch

OURS: Final = 0x4D454D4F  # PRAGMA application_id: "MEMO"
LISTS: Final = ("claimants", "dispatch_ids", "blocked_by", "unsigned", "doubts")
FLAGS: Final = ("expired", "ready", "proven", "stale", "late")
TEXTS: Final = ("id", "title", "column", "executor", "reason", "kind", "risk", "size", "role")

TABLES: Final = f"""
PRAGMA application_id = {OURS};
CREATE TABLE board (format INTEGER, run_id TEXT, goal TEXT, run_status TEXT);
CREATE TABLE columns (position INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, title TEXT);
CREATE TABLE cards (
  position INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, title TEXT, "column" TEXT NOT NULL REFERENCES columns (name),
  executor TEXT, reason TEXT, kind TEXT, risk TEXT, size TEXT, role TEXT,
  expired INTEGER, ready INTEGER, proven INTEGER, stale INTEGER, late INTEGER,
  claimants TEXT, dispatch_ids TEXT, blocked_by TEXT, unsigned TEXT, doubts TEXT
);
"""


def as_sqlite(told: Mapping[str, Any]) -> bytes:
    """Return a board as the bytes of a SQLite file."""
    with scratch.folder() as folder:
        path = Path(folder) / "board"
        with closing(sqlite3.connect(path)) as file, file:
            file.executescript(TABLES)
            _fill(file, told)
        return path.read_bytes()


def _fill(file: sqlite3.Connection, told: Mapping[str, Any]) -> None:
    head = [told[key] for key in ("format", "run_id", "goal", "run_status")]
    file.execute("INSERT INTO board VALUES (?, ?, ?, ?)", head)
    named = [(position, column["name"], column["title"]) for position, column in enumerate(told["columns"])]
    file.executemany("INSERT INTO columns VALUES (?, ?, ?)", named)
    names = (*TEXTS, *FLAGS, *LISTS)
    quoted = ", ".join(f'"{name}"' for name in names)
    places = ", ".join("?" for _ in names)
    cards = [card for column in told["columns"] for card in column["cards"]]
    rows = [[json.dumps(card[name]) if name in LISTS else card[name] for name in names] for card in cards]
    file.executemany(f"INSERT INTO cards ({quoted}) VALUES ({places})", rows)  # noqa: S608 (our own column names)
