"""The short tier: what is remembered for now, in a ring below the common git directory; never committed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.ledger import lock, wholefile
from memento_git.model.work import is_agent

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.git import Git

SLACK: Final = 2


class Item(NamedTuple):
    """One thing that is remembered for now, and where it comes from."""

    id: str
    at: str
    by: str
    text: str
    origin: str = ""

    @property
    def whence(self) -> str:
        """Return the origin; of one that tells none, what follows from who wrote it."""
        return self.origin or ("agent" if is_agent(self.by) else "person")


class ShortTerm:
    """A ring of the latest items of a clone; each is on the disk when `add` returns."""

    def __init__(self, git: Git, size: int) -> None:
        self.path: Path = git.common_dir / "memento" / "short.jsonl"
        self.size = size

    def add(self, item: Item) -> None:
        """Append an item, fsynced; the file is cut to the ring's size when it is twice as long."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock.held(self.path.with_suffix(".lock")):
            with self.path.open("ab") as stream:
                stream.write(self._gap() + json.dumps(item._asdict(), ensure_ascii=False).encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            lines = self.path.read_bytes().splitlines(keepends=True)
            if len(lines) > SLACK * self.size:
                self._replace(lines[-self.size :])

    def _gap(self) -> bytes:
        """Return what ends a line that a crash cut short."""
        try:
            with self.path.open("rb") as stream:
                stream.seek(-1, os.SEEK_END)
                return b"" if stream.read(1) == b"\n" else b"\n"
        except OSError:
            return b""

    def _replace(self, lines: list[bytes]) -> None:
        wholefile.write(self.path, b"".join(lines), durable=True)

    def items(self) -> list[Item]:
        """Return the items of the ring, the oldest first; a line that a crash cut short is passed over."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = [_item(line) for line in lines]
        return [one for one in found if one is not None][-self.size :]

    def drop(self, ids: set[str]) -> None:
        """Take items out of the ring; what had left it before stays out."""
        if not ids or not self.path.exists():
            return
        with lock.held(self.path.with_suffix(".lock")):
            lines = self.path.read_bytes().splitlines(keepends=True)
            held = [(line, found) for line in lines if (found := _item(line)) is not None][-self.size :]
            self._replace([line for line, found in held if found.id not in ids])


def _item(line: bytes) -> Item | None:
    try:
        held: Any = {**Item._field_defaults, **json.loads(line)}
        return Item(**{key: str(held[key]) for key in Item._fields})
    except (ValueError, KeyError, TypeError):
        return None
