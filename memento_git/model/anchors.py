"""What of the code a note is about: a file, lines of it, a symbol, a text that occurs, or a dependency."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from memento_git.errors import Misused
from memento_git.model import types as t
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import Field, Shape

OK: Final = "ok"
MOVED: Final = "moved"
CHANGED: Final = "changed"
GONE: Final = "gone"
UNPINNED: Final = "unpinned"
UNKNOWN: Final = "unknown"
MOST_SPANS: Final = 5
STATES: Final = (OK, MOVED, CHANGED, GONE, UNPINNED, UNKNOWN)

MANIFESTS: Final = (
    "pyproject.toml", "setup.cfg", "Pipfile", "package.json", "Cargo.toml", "go.mod", "Gemfile", "composer.json",
)  # fmt: skip
REQUIREMENTS: Final = r"(?:.*[-_.])?requirements(?:[-_.].*)?\.(?:txt|in)|requirements/[^/]+\.(?:txt|in)"

RANGE: Final = re.compile(r"\d{1,9}(?:-\d{1,9})?", re.ASCII)
LINES: Final = t.Pattern("a line or a range of lines such as 12-40", r"[1-9]\d{0,8}(?:-[1-9]\d{0,8})?")
SYMBOL: Final = t.Pattern("the name of a symbol such as Class.method", r"[^\s:\x00-\x1f]{1,400}")
SHAPE: Final = Shape({
    "path": Field(t.PLACE, doc="file or folder; beside `pattern` or `dependency`, where to look for them"),
    "lines": Field(LINES, doc="first and last line in the pinned blob"),
    "symbol": Field(SYMBOL, doc="function, class, method or constant in the file"),
    "pattern": Field(t.Text(lines=False), doc="text that occurs in a file; `path` may then be a pattern of names"),
    "dependency": Field(t.Pattern("the name of a package", r"[^\s\x00-\x1f]{1,214}"), doc="package that is required"),
    "blob": Field(t.OBJECT, doc="git id of the file then; absent until the file is committed as it was"),
    "commit": Field(t.OBJECT, doc="commit then; a hint only, a squash removes it"),
    "quote": Field(t.Text(), doc="first lines of the place, or the requirement, as they were then"),
})  # fmt: skip


class AnchorUnclear(Misused):
    token = "anchor_unclear"
    sentence = "{given!r} names no place in the code: {problem}"
    hint_ = "write PATH, PATH:12-40, PATH::symbol, pattern:GLOB:TEXT or dep:NAME"


class Anchor(NamedTuple):
    """One place that a note is about, with what it was when the note was written."""

    path: str = ""
    lines: tuple[int, int] | None = None
    symbol: str = ""
    pattern: str = ""
    dependency: str = ""
    blob: str = ""
    commit: str = ""
    quote: str = ""

    def __str__(self) -> str:
        if self.pattern:
            return f"pattern:{self.path or '**'}:{self.pattern}"
        if self.dependency:
            return f"dep:{self.path}:{self.dependency}" if self.path else f"dep:{self.dependency}"
        path = f"./{self.path}" if self.path.startswith(("pattern:", "dep:")) else self.path
        if self.symbol:
            return f"{path}::{self.symbol}"
        return f"{path}:{spell(self.lines)}" if self.lines else path

    @property
    def is_place(self) -> bool:
        """Tell whether it is a file, a folder, or a part of a file."""
        return not self.pattern and not self.dependency

    def data(self) -> dict[str, str]:
        """Return it as the front matter of a note holds it."""
        told = {**self._asdict(), "lines": spell(self.lines) if self.lines else ""}
        return {key: value for key, value in told.items() if value}


class AnchorType(NamedTuple):
    """A mapping that names exactly one place in the code."""

    def read(self, raw: Any, at: t.Path, problems: list[t.Problem]) -> Any:
        before = len(problems)
        data = SHAPE.read(raw, at, problems)
        if len(problems) == before:
            problems += [(at, problem) for problem in faults(data)]
        return data


ABOUT: Final = t.ListOf(AnchorType())


def spell(lines: tuple[int, int]) -> str:
    """Return a range of lines as people write it."""
    return f"{lines[0]}" if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def elsewhere(row: Mapping[str, Any]) -> str:
    """Return where a place is now, where its anchor does not say so: what became of it is a row of JSON."""
    path, anchor = str(row.get("path", "")), str(row["anchor"])
    there = path + (f":{row['lines']}" if row.get("lines") else "")
    if row["state"] == CHANGED and (anchor in (there, path) or anchor.startswith(f"{path}::")):
        return ""
    if row["state"] in (UNPINNED, UNKNOWN) and f"{anchor}:".startswith(f"{path}:"):
        return ""
    return there if path and row["state"] not in (OK, GONE) else ""


def edits(row: Mapping[str, Any]) -> str:
    """Return which lines of a place differ, where it is now; where lines were only taken out, after which."""
    if row["state"] != CHANGED:
        return ""
    told = "edited" if row.get("edited") else "taken out after"
    spans = row.get("edited") or row.get("taken_out", ())
    more = [f"{len(spans) - MOST_SPANS} more"] if len(spans) > MOST_SPANS else []
    return f"{told}: {', '.join([*spans[:MOST_SPANS], *more])}" if spans else ""


def lines_of(text: str) -> tuple[int, int]:
    """Return the range of lines that a text of the right form names."""
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def from_data(data: Mapping[str, Any]) -> Anchor:
    """Return the anchor that checked front matter holds."""
    told = dict(data)
    return Anchor(**{**told, "lines": lines_of(told["lines"]) if told.get("lines") else None})


def faults(data: Mapping[str, Any]) -> list[str]:
    """Return why a mapping with the right keys names no one place."""
    found = []
    if data.get("pattern") and data.get("dependency"):
        found.append("it has both a pattern and a dependency")
    if not any(data.get(key) for key in ("path", "pattern", "dependency")):
        found.append("it has no path, no pattern and no dependency")
    if data.get("symbol") and (data.get("pattern") or data.get("dependency")):
        found.append("a symbol is in a file, not in a pattern or a dependency")
    if data.get("lines"):
        first, last = lines_of(data["lines"])
        if first > last:
            found.append(f"its lines end at {last}, before they begin at {first}")
    return found


def parse(given: str) -> Anchor:
    """Return the anchor that a user's text names.

    `PATH`, `PATH:12`, `PATH:12-40`, `PATH::symbol`, `pattern:GLOB:TEXT` (a name with `*` and `**`, no colon in it),
    `dep:NAME`, `dep:MANIFEST:NAME`; a leading `./` says that what follows is neither of the last two.
    """
    text = given.strip()
    word, colon, rest = text.partition(":")
    if word == "pattern" and colon:
        where, colon, what = rest.partition(":")
        found = Anchor(path=_clean(where), pattern=what if colon else "")
        if not colon or not what.strip():
            raise AnchorUnclear(given=given, problem="a pattern is a name of files, a colon, and the text")
    elif word == "dep" and colon:
        where, colon, what = rest.partition(":")
        named = colon and (where.rpartition("/")[2] in MANIFESTS or re.search(REQUIREMENTS, where))
        found = Anchor(path=_clean(where), dependency=what) if named else Anchor(dependency=rest)
    else:
        found = _place(text)
    if problem := t.problem_of(AnchorType(), found.data()):
        told = f"; {by_lines(found.path)}" if " " in found.symbol.strip() else ""
        raise AnchorUnclear(given=given, problem=f"{problem}{told}")
    return found


def by_lines(path: str) -> str:
    """Say how a part of a file is named that is no symbol."""
    return f"a heading, or what else is no symbol, is named by its lines: {path}:12-40"


def _place(text: str) -> Anchor:
    path, colons, symbol = text.partition("::")
    if colons:
        return Anchor(path=_clean(path), symbol=dotted(symbol) or " ")
    path, colon, lines = text.rpartition(":")
    if colon and RANGE.fullmatch(lines):
        return Anchor(path=_clean(path), lines=lines_of(lines))
    return Anchor(path=_clean(text))


def dotted(symbol: str) -> str:
    """Return the name of a symbol with dots, in whatever language's way it was typed."""
    return re.sub(r"::|#", ".", symbol)


def _clean(path: str) -> str:
    return path.removeprefix("./").rstrip("/")
