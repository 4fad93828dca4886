"""The short tier: what is remembered for now, in a ring below the common git directory; never committed.

It is searched as what is kept is: shown in a view as if its items were notes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import reason_of
from memento_git.knowledge.injection import instructive
from memento_git.ledger import atomic_file, codec, layout, lock
from memento_git.model.knowledge import DOMAIN_OF
from memento_git.model.work import is_agent

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

SLACK: Final = 2
KIND: Final = "event"  # what an agent saw or said; a text is not found by the word for its kind alone


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

    def row(self) -> Row:
        """Return the item, and what a reader should be told of it."""
        return {**self._asdict(), "origin": self.whence, "orders": instructive(self.text)}


class ShortTerm:
    """A ring of the latest items of a clone; each is on the disk when `add` returns."""

    def __init__(self, git: Git, size: int) -> None:
        self.path: Path = git.common_dir / "memento" / "short.jsonl"
        self.size = size

    def add(self, item: Item) -> bool:
        """Append an item, fsynced, or nothing of it; tell whether the oldest had to go for it.

        A file that is twice as long as the ring is cut first.
        """
        line = json.dumps(item._asdict(), ensure_ascii=False).encode() + b"\n"
        with lock.held(self.path.with_suffix(".lock")):
            try:
                if len(self._lines()) >= SLACK * self.size:
                    self._keep_all_but(set())
                is_full = len(self._held()) >= self.size
                self._append(line)
            except OSError as error:
                raise lock.NotWritable(reason=f"{self.path}: {reason_of(error)}") from error
        return is_full

    def _append(self, line: bytes) -> None:
        """Write a line at the end; where it does not fit the file is left as it was."""
        with self.path.open("a+b", buffering=0) as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(end - 1, 0))
            whole = stream.read(1) in (b"", b"\n")  # else a crash cut a line short, which ends here
            data = line if whole else b"\n" + line
            try:
                while data:
                    data = data[stream.write(data) :]
                os.fsync(stream.fileno())
            except OSError:
                stream.truncate(end)
                raise

    def _lines(self) -> list[bytes]:
        try:
            return self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []

    def _held(self) -> list[tuple[bytes, Item]]:
        """Return the lines of the ring and their items, the oldest first; one that a crash cut short is passed over."""
        held = ((line, _item(line)) for line in self._lines())
        return [(line, found) for line, found in held if found is not None][-self.size :]

    def items(self) -> list[Item]:
        """Return the items of the ring, the oldest first."""
        return [item for _, item in self._held()]

    def drop(self, ids: set[str]) -> None:
        """Take items out of the ring; what had left it before stays out."""
        if not ids or not self.path.exists():
            return
        with lock.held(self.path.with_suffix(".lock")):
            self._keep_all_but(ids)

    def _keep_all_but(self, ids: set[str]) -> None:
        kept = [line for line, item in self._held() if item.id not in ids]
        atomic_file.write(self.path, b"".join(kept), durable=True)


def _item(line: bytes) -> Item | None:
    try:
        held: Any = {**Item._field_defaults, **json.loads(line)}
        return Item(**{key: str(held[key]) for key in Item._fields})
    except (ValueError, KeyError, TypeError):
        return None


def shown(view: View) -> dict[str, str]:
    """Show the items of the short tier in a view as if they were notes; return their texts."""
    found = ShortTerm(view.git, view.policy().short).items()
    if not found:
        return {}
    from memento_git.knowledge.note_input import titled

    for item in found:
        front = {"id": item.id, "kind": KIND, "title": titled(item.text), "at": item.at, "by": item.by}
        view.put(
            layout.note_path(DOMAIN_OF[KIND], item.id), codec.encode_prose({**front, "origin": item.whence}, item.text)
        )
    return {item.id: item.text for item in found}
