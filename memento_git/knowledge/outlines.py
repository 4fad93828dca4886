"""The named parts of many files, read once for each content, and which of them a note is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.code import grammars
from memento_git.code.grammars import language_of
from memento_git.code.symbols import MARKDOWN, Symbols, parts
from memento_git.ledger import cache, snapshots
from memento_git.model.anchors import GONE
from memento_git.model.enumeration import grouped
from memento_git.model.progress import CODE, portions

if TYPE_CHECKING:
    from memento_git.knowledge.overlay import Overlay

KEPT: Final = "code.outlines"
FORMAT: Final = 2
LARGEST: Final = 1024 * 1024
LARGE: Final = f"it has more than {LARGEST} bytes"
AWAY: Final = "git does not have this object"
AT_ONCE: Final = 200
FEW: Final = 50
MOST_KEPT: Final = 40_000


class Noted(NamedTuple):
    """A named part of a file: its lines, and the notes that are about lines of its own."""

    name: str
    lines: tuple[int, int]
    notes: tuple[str, ...]


def named(path: str) -> bool:
    """Tell whether a file may have named parts: source code, or Markdown."""
    return bool(language_of(path)) or path.lower().endswith(MARKDOWN)


def outlines(overlay: Overlay, paths: Sequence[str]) -> dict[str, Symbols]:
    """Return the named parts of files; why there are none where a file is too large or no text."""
    reader, git = overlay.follower.reader, overlay.note_set.view.git
    key = f"{FORMAT}:{','.join(grammars.available())}"
    held: dict[str, list[object]] = cache.read(git, KEPT, key) or {}
    blobs = {path: overlay.now.blob(path) for path in paths}
    sizes = reader.sizes(blobs.values())
    fit = [path for path, blob in blobs.items() if sizes.get(blob, LARGEST + 1) <= LARGEST]
    fresh = [path for path in fit if _key(path, blobs[path]) not in held]
    for some in portions(git.progress, fresh, AT_ONCE, few=AT_ONCE, what=CODE):
        for path, data in zip(some, reader.git.objects(blobs[path] for path in some), strict=True):
            held[_key(path, blobs[path])] = _read(path, data)
    if len(fresh) > FEW:
        used = {_key(path, blobs[path]) for path in fit}
        cache.write(git, KEPT, key, held if len(held) <= MOST_KEPT else {one: held[one] for one in used})
    return {
        path: _symbols(held[_key(path, blobs[path])] if path in fit else [{}, LARGE if blobs[path] in sizes else AWAY])
        for path in paths
    }


def _key(path: str, blob: str) -> str:
    return f"{path.rpartition('.')[2]}:{blob}"


def _read(path: str, data: bytes | None) -> list[object]:
    if data is None or snapshots.is_binary(data):
        return [{}, "it is no text" if data is not None else AWAY]
    found = parts(path, data)
    return [found.ranges, found.problem]


def _symbols(kept: Sequence[object]) -> Symbols:
    ranges, problem = kept
    items = ranges.items() if isinstance(ranges, dict) else ()
    return Symbols({name: tuple((one[0], one[1]) for one in spans) for name, spans in items}, str(problem))


def noted(overlay: Overlay, path: str, outline: Symbols) -> list[Noted]:
    """Return the named parts of a file in the order of their lines, each with the notes about its own lines.

    Lines of a method are its own, not its class's: a note about one method says nothing of the others. A note about
    the whole file is about no part of it.
    """
    inner = outline.innermost()
    parts = (
        (one.note, one.found.lines) for one in overlay.at(path)
        if one.found.lines and one.found.state != GONE and (one.anchor.lines or one.anchor.symbol)
    )  # fmt: skip
    owners = grouped((inner.get(line, ""), note) for note, (first, last) in parts for line in range(first, last + 1))
    rows = [Noted(name, outline.span(name), tuple(dict.fromkeys(owners.get(name, ())))) for name in outline.ranges]
    return sorted(rows, key=lambda row: (row.lines[0], -row.lines[1], row.name))


def counted(parts: Sequence[Noted]) -> dict[str, Any]:
    """Return how many named parts there are, how many of them a note is about, and which share that is."""
    with_notes = sum(bool(part.notes) for part in parts)
    return {"symbols": len(parts), "noted": with_notes, "share": round(with_notes / len(parts), 3) if parts else None}
