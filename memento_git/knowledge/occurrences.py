"""Anchors that need no pinned content: a text that occurs in files, and a package that is required."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.knowledge import manifests
from memento_git.knowledge.anchors import Found
from memento_git.ledger.grep import GrepIncomplete
from memento_git.model.anchors import CHANGED, GONE, OK, UNKNOWN, Anchor
from memento_git.model.patterns import matches

if TYPE_CHECKING:
    from memento_git.ledger.snapshots import Reader, Snapshot


def found(anchor: Anchor, now: Snapshot, reader: Reader) -> Found:
    """Say whether a text still occurs, or a package is still required, and where first."""
    return _pattern(anchor, now, reader) if anchor.pattern else _dependency(anchor, now, reader)


def _pattern(anchor: Anchor, now: Snapshot, reader: Reader) -> Found:
    pattern = anchor.path or "**"
    try:
        paths = [path for path in reader.holding(now.tree, anchor.pattern) if matches(pattern, path)]
    except GrepIncomplete:
        return Found(UNKNOWN, why=f"this clone does not have all files of {pattern}")
    paths = [path for path in paths if not path.startswith(".memento/")]
    if not paths:
        return Found(GONE, why=f"no file of {pattern} has this text")
    blob = now.blob(paths[0])
    before = reader.contents([blob]).get(blob, b"").partition(anchor.pattern.encode())[0]
    line = before.count(b"\n") + 1
    why = f"also in {len(paths) - 1} more" if len(paths) > 1 else ""
    return Found(OK, paths[0], (line, line), why=why)


def _dependency(anchor: Anchor, now: Snapshot, reader: Reader) -> Found:
    for path, told in requirements(anchor, now, reader):
        if anchor.quote and told != anchor.quote:
            return Found(CHANGED, path, why=f"{anchor.quote} is now {told}")
        return Found(OK, path)
    if not anchor.path:
        return Found(GONE, why=f"{anchor.dependency} is not in any file that names what is required")
    others = [path for path, _ in requirements(anchor._replace(path=""), now, reader)]
    elsewhere = f"; {others[0]} requires it" if others else ""
    return Found(GONE, anchor.path, why=f"{anchor.dependency} is not in {anchor.path}{elsewhere}")


def requirements(anchor: Anchor, now: Snapshot, reader: Reader) -> list[tuple[str, str]]:
    """Return path and requirement of each manifest that names a package, the ones nearest to the top first."""
    paths = [
        path for path, entry in now.entries.items()
        if entry.type == "blob" and manifests.is_manifest(path) and anchor.path in ("", path)
    ]  # fmt: skip
    paths.sort(key=lambda path: (path.count("/"), path))
    held = reader.contents(now.blob(path) for path in paths)
    told = []
    for path in paths:
        named = manifests.required(path, held.get(now.blob(path), b""))
        name = manifests.canonical(path, anchor.dependency)
        if name in named:
            told.append((path, named[name]))
    return told
