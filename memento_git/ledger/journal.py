"""What a ledger commit is about to change in the work tree, written down so that a crash can be mended."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import layout
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

OBJECT_ID: Final = "[0-9a-f]{40}([0-9a-f]{24})?"
UNFINISHED: Final = "next.tmp"


class Path3(NamedTuple):
    """One path that a ledger commit changed: blob before (None: absent) and after (None: removed)."""

    path: str
    old: str | None
    new: str | None


def folder_of(git: Git) -> Path:
    return git.git_dir / "memento" / "journal"


def pending(git: Git) -> list[Path]:
    """Return the journals of commits whose work tree or index was not finished."""
    folder = folder_of(git)
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(".json"))  # noqa: PTH208 (no stat)
    except FileNotFoundError:
        return []


def write(git: Git, commit: str, changes: list[Path3]) -> Path:
    """Write down, durably, what a commit that no ref names yet will change."""
    import json

    folder = folder_of(git)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{commit}.json"
    temporary = folder / UNFINISHED
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump({"paths": changes}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    return path


def read(path: Path) -> list[Path3]:
    """Return the paths of a journal: none where it is cut short, and never one outside the ledger's folder."""
    import json

    try:
        held: Any = json.loads(path.read_bytes())
        entries = [Path3(*entry) for entry in held["paths"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [entry for entry in entries if _is_ours(entry)]


def _is_ours(entry: Path3) -> bool:
    if not isinstance(entry.path, str) or not all(_is_object(blob) for blob in (entry.old, entry.new)):
        return False
    first, *rest = entry.path.split("/")
    return first == layout.FOLDER and bool(rest) and not {"", ".", "..", ".git"} & set(rest) and "\0" not in entry.path


def _is_object(blob: object) -> bool:
    return blob is None or (isinstance(blob, str) and re.fullmatch(OBJECT_ID, blob) is not None)
