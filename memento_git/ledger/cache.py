"""What can be computed again, kept in the git directory under the ids that it was computed from."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memento_git import __version__
from memento_git.ledger import atomic_file

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

VERSION: Final = f"{__version__}.69"  # raised with every change of what is kept or how it is computed

ANYONES: Final = rb'(?:\{"key": ")?([0-9][\w.+-]*):'  # how a file begins, whichever version kept it
UNUSED: Final = 7 * 24 * 3600  # seconds after which no other version is at work here any more


class Ready(str):
    """What was kept as JSON, to be shown without being read."""

    __slots__ = ()


def _path(git: Git, name: str, ending: str = ".json") -> Path:
    return git.common_dir / "memento" / "cache" / f"{name}{ending}"


def read(git: Git, name: str, key: str) -> Any:
    """Return what was kept under a name if it was computed from the same key, else None."""
    kept = latest(git, name)
    return kept[1] if kept is not None and kept[0] == key else None


def latest(git: Git, name: str) -> tuple[str, Any] | None:
    """Return what was kept last under a name, after the key that it was computed from; None where nothing was.

    What is judged is not taken from files that others may have written: only what this process has kept is.
    """
    if git.trees.anew:
        return git.trees.kept.get(name)
    try:
        held: Any = json.loads(_path(git, name).read_bytes())
    except (OSError, ValueError):
        return None
    version, _, key = str(held.get("key")).partition(":") if isinstance(held, dict) else ("", "", "")
    return (key, held["value"]) if version == VERSION else None


def ready(git: Git, name: str, key: str) -> Ready | None:
    """Return the JSON of what was kept under a name if it was computed from the same key, else None."""
    start, end = _frame(key)
    try:
        held = _path(git, name).read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    return Ready(held[len(start) : -len(end)]) if held.startswith(start) and held.endswith(end) else None


def _frame(key: str) -> tuple[str, str]:
    """Return what stands before and after a value; the newline at the end is missing where a file was cut short."""
    return f'{{"key": {json.dumps(f"{VERSION}:{key}")}, "value": ', "}\n"


def write(git: Git, name: str, key: str, value: object) -> None:
    """Keep a value, for this process alone while a branch is judged; where it cannot be, it is computed again."""
    if git.trees.anew:
        git.trees.kept[name] = key, value
        return
    path = _path(git, name)
    start, end = _frame(key)
    with contextlib.suppress(OSError):
        atomic_file.write(path, f"{start}{json.dumps(value)}{end}".encode())


def of_others(git: Git, now: float) -> list[Path]:
    """Return the files that other versions kept, and none has renewed for long, by now in seconds since 1970."""
    found = []
    for path in sorted(_path(git, "", "").glob("*")):
        with contextlib.suppress(OSError), path.open("rb") as stream:
            told = re.match(ANYONES, stream.read(80))
            if told and told[1] != VERSION.encode() and path.lstat().st_mtime < now - UNUSED:
                found.append(path)
    return found


def latest_text(git: Git, name: str) -> tuple[str, str] | None:
    """Return the text that was kept last under a name, after the key that it was computed from; None if none was."""
    try:
        held = _path(git, name, ".txt").read_bytes()
    except OSError:
        return None
    head, _, text = os.fsdecode(held).partition("\n")
    version, _, key = head.partition(":")
    return (key, text[:-1]) if version == VERSION and text.endswith("\n") else None  # else it was cut short


def write_text(git: Git, name: str, key: str, text: str) -> None:
    """Keep a text; where the file system refuses, it is computed again next time."""
    with contextlib.suppress(OSError):
        atomic_file.write(_path(git, name, ".txt"), os.fsencode(f"{VERSION}:{key}\n{text}\n"))


def thrifty(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows as they are kept where there are many: what one in their middle has is told once for all.

    That is told of words, yes, no and nothing alone, so that no list is shared by the rows which `spelled` returns.
    """
    everywhere: set[str] = set(rows[0]).intersection(*rows) if rows else set()
    middle = rows[len(rows) // 2] if rows else {}
    plain = (str, bool, type(None))
    usual = {key: value if isinstance(value, plain) else None for key, value in middle.items() if key in everywhere}
    unlike = [
        {
            key: value for key, value in row.items()
            if key not in usual or not (value is usual[key] or (isinstance(value, str) and value == usual[key]))
        }
        for row in rows
    ]  # fmt: skip
    return {"usual": usual, "unlike": unlike}


def spelled(kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that `thrifty` was given."""
    usual = kept["usual"]
    return [{**usual, **row} for row in kept["unlike"]]
