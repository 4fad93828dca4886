"""A file with its notes at their lines."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from memento_git.code.grammars import language_of
from memento_git.errors import Refused
from memento_git.knowledge.code_paths import chosen
from memento_git.knowledge.outlines import counted, noted, outlines
from memento_git.knowledge.overlay import Overlay, note_row
from memento_git.model import anchors
from memento_git.model.anchors import spell
from memento_git.model.enumeration import grouped, many

if TYPE_CHECKING:
    from memento_git.knowledge.anchors import Placed
    from memento_git.model.rows import Row

MOST_NAMED: Final = 5


class NoSuchLines(Refused):
    token = "lines_missing"
    sentence = "{path} has {count}, not {lines}"
    hint_ = "memento code read {path!q} shows it from its beginning"


class NoSuchSymbol(Refused):
    token = "symbol_missing"
    sentence = "{where} has no one symbol {symbol}{near}"
    hint_ = "memento code map lists the symbols of a file"


def parse(overlay: Overlay, given: str) -> tuple[str, tuple[int, int] | None]:
    """Return the path and the lines that a typed place names; a file of that very name comes first."""
    if chosen(overlay.note_set.view.git, given, overlay.now.entries) in overlay.now.entries:
        return given, None
    path, colons, symbol = given.partition("::")
    if colons:
        return _symbol(overlay, overlay.file(path) if path else "", anchors.dotted(symbol))
    path, _, lines = given.rpartition(":")
    return (path, anchors.lines_of(lines)) if path and anchors.RANGE.fullmatch(lines) else (given, None)


def _symbol(overlay: Overlay, file: str, symbol: str) -> tuple[str, tuple[int, int]]:
    """Return where the one symbol of a name is: in a file, without one in all the code."""
    told = outlines(overlay, [path for path in overlay.below(file) if language_of(path)])
    found = [(path, name) for path, outline in told.items() for name in outline.names_of(symbol)]
    if len(found) == 1:
        [(path, name)] = found
        return path, told[path].span(name)
    names = [f"{path}::{name}" for path, name in found]
    parts = ((path, name) for path, outline in told.items() for name in outline.ranges)
    short = grouped((name.rpartition(".")[2], f"{path}::{name}") for path, name in parts)
    close = get_close_matches(symbol.rpartition(".")[2], short, 1)
    near = (names or [one for last in close for one in short[last]])[:MOST_NAMED]
    problems = sorted({outline.problem for outline in told.values() if outline.problem})[:MOST_NAMED]
    why = f"; there is {', '.join(near)}" if near else f": {', '.join(problems)}" if problems else ""
    raise NoSuchSymbol(where=file or "the code", symbol=symbol, near=why)


def path_of(given: str) -> str:
    """Return the path within a typed place, for a file that git does not track."""
    path, colon, lines = given.partition("::")[0].rpartition(":")
    return path if colon and anchors.RANGE.fullmatch(lines) else given.partition("::")[0]


def read(overlay: Overlay, given: str, *, limit: int = 0) -> Row:
    """Return a file's text, or some lines of it, with the notes that are there and how far it is covered."""
    typed, wanted = parse(overlay, given)
    path = overlay.file(typed)
    lines = overlay.text(path).replace("\r\n", "\n").split("\n")
    lines = lines[:-1] if lines and not lines[-1] else lines
    first, last = wanted or (1, max(1, len(lines)))
    if not 0 < first <= last or (wanted and last > len(lines)):
        raise NoSuchLines(path=path, count=many(len(lines), "line"), lines=spell((first, last)))
    shown = min(last, first + limit - 1) if limit else last
    placed = overlay.at(path)
    here = [one for one in placed if _touches(one, (first, shown))]
    return {
        "path": path, "code": {**overlay.code(), "blob": overlay.now.blob(path), "changed": _is_changed(overlay, path)},
        "lines": {"first": first, "last": min(shown, len(lines)), "wanted": min(last, len(lines)), "total": len(lines)},
        "text": "\n".join(lines[first - 1 : shown]),
        "notes": sorted((note_row(overlay.note_set, one) for one in (*overlay.above(path), *here)), key=_order),
        "elsewhere": len({one.note for one in placed} - {one.note for one in here}),
        "stale": list(dict.fromkeys(one.note for one in placed if one.is_stale)),
        "coverage": covered(overlay, path),
    }  # fmt: skip


def blame(overlay: Overlay, given: str) -> Row:
    """Return who wrote the notes that are about lines of a file, when, and how sure it was."""
    told = read(overlay, given)
    wanted = ("id", "kind", "title", "status", "origin", "actor", "created_at", "anchor", "state", "path", "lines")
    notes = [
        {**{key: row[key] for key in wanted}, "confidence": overlay.note_set.note(row["id"]).data.get("confidence")}
        for row in told["notes"]
    ]
    first, last = told["lines"]["first"], told["lines"]["last"]
    return {"place": f"{told['path']}:{spell((first, last))}", "blame": notes}


def _touches(placed: Placed, shown: tuple[int, int]) -> bool:
    """Tell whether a note belongs to the lines that are shown: those of the whole file do, wherever it is opened."""
    lines = placed.found.lines
    return lines is None or (lines[0] <= shown[1] and shown[0] <= lines[1])


def _order(row: Row) -> tuple[int, str, str]:
    return anchors.lines_of(row["lines"])[0] if row["lines"] else 0, row["path"], row["id"]


def _is_changed(overlay: Overlay, path: str) -> bool | None:
    """Tell whether the work tree's file differs from HEAD's; nothing is said of a commit's."""
    if overlay.now.commit:
        return None
    head = overlay.follower.head()
    return head is None or head.blob(path) != overlay.now.blob(path)


def covered(overlay: Overlay, path: str) -> dict[str, Any]:
    """Return how many named parts a file has, and how many of them a note is about."""
    outline = outlines(overlay, [path])[path]
    return {**counted(noted(overlay, path, outline)), "problem": outline.problem or None}
