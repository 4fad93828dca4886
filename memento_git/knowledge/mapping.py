"""The code from afar: its files, their parts, who imports whom, and where notes are and are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memento_git.code.grammars import is_readable, language_of
from memento_git.knowledge.grepping import fits
from memento_git.knowledge.outlines import counted, named, noted, outlines
from memento_git.ledger import imports
from memento_git.model.anchors import spell

if TYPE_CHECKING:
    from memento_git.code.symbols import Symbols
    from memento_git.knowledge.overlay import Overlay
    from memento_git.ledger.imports import Imports
    from memento_git.model.rows import Row


WILD = frozenset("*?[")


def listed(overlay: Overlay, glob: str = "") -> list[Row]:
    """Return a row for each file that a pattern names, or that lies below a folder: its size and its notes."""
    paths = _below(overlay, glob)
    sizes = overlay.follower.reader.sizes(overlay.now.blob(path) for path in paths)
    return [
        {
            "path": path, "bytes": sizes.get(overlay.now.blob(path)), "language": language_of(path) or None,
            "notes": len(overlay.notes_at(path)), "stale": _stale(overlay, path),
        }
        for path in paths
    ]  # fmt: skip


def _below(overlay: Overlay, given: str) -> list[str]:
    if not WILD & set(given) or given in overlay.now.entries:
        return overlay.below(overlay.folder(given))
    return [path for path in overlay.files() if fits(given, path)]


def _stale(overlay: Overlay, path: str) -> int:
    return len({one.note for one in overlay.at(path) if one.is_stale})


def mapped(overlay: Overlay, path: str = "") -> Row:
    """Return the files below a path that have named parts: the parts with their notes, and the imports both ways."""
    paths = [one for one in overlay.below(overlay.folder(path)) if named(one) or overlay.at(one)]
    found = outlines(overlay, paths)
    graph = _graph(overlay)
    back, nodes = graph.importers, graph.nodes
    rows = []
    for one in paths:
        node = nodes.get(one, "")
        rows.append({
            "path": one, "language": language_of(one) or None,
            "parts": [
                {"name": part.name, "lines": spell(part.lines), "notes": list(part.notes)}
                for part in noted(overlay, one, found[one])
            ],
            "notes": overlay.notes_at(one), "stale": _stale(overlay, one),
            "imports": sorted(graph.edges.get(node, ())), "imported_by": back.get(node, []),
            "problem": found[one].problem or None,
        })  # fmt: skip
    return {"code": overlay.code(), "files": rows}


def coverage(overlay: Overlay, path: str = "") -> Row:
    """Return how many of the code's symbols a note is about, by file, the darkest first: most symbols, most used.

    Markdown is no code; a file whose language is not known here is counted beside.
    """
    paths = [one for one in overlay.below(overlay.folder(path)) if language_of(one)]
    found = outlines(overlay, paths)
    used = _used(overlay)
    rows = [_covered(overlay, one, found[one], used.get(one, 0)) for one in paths]
    told = [row for row in rows if row["symbols"]]
    told.sort(key=lambda row: (row["share"], bool(row["notes"]), -row["symbols"] - row["imported_by"], row["path"]))
    symbols, with_notes = (sum(row[key] for row in told) for key in ("symbols", "noted"))
    return {
        "code": overlay.code(), "symbols": symbols, "noted": with_notes,
        "share": round(with_notes / symbols, 3) if symbols else None,
        "files_dark": sum(1 for row in told if not row["noted"] and not row["notes"]),
        "files": told, "not_read": _not_read(paths, found),
    }  # fmt: skip


def _graph(overlay: Overlay) -> Imports:
    """Return who imports whom, of the files that are here."""
    reader = overlay.follower.reader
    return imports.imports(reader.git, reader.here(overlay.now)[0])


def _used(overlay: Overlay) -> dict[str, int]:
    """Return path -> how many files import it."""
    graph = _graph(overlay)
    back = graph.importers
    return {path: len(back.get(node, ())) for path, node in graph.nodes.items()}


def _covered(overlay: Overlay, path: str, outline: Symbols, used: int) -> Row:
    parts = noted(overlay, path, outline)
    return {
        "path": path, **counted(parts),
        "notes": len(overlay.notes_at(path)), "stale": _stale(overlay, path), "imported_by": used,
        "dark": [part.name for part in parts if not part.notes],
    }  # fmt: skip


def _not_read(paths: Sequence[str], found: dict[str, Symbols]) -> dict[str, int]:
    """Return why files were not looked into, and how many."""
    told = Counter(
        "not readable" if is_readable(path) else f"no grammar for {language_of(path)}"
        for path in paths if found[path].problem
    )  # fmt: skip
    return dict(sorted(told.items()))
