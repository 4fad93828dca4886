"""What became of a symbol: found by its name first, by its lines where the name is not there. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from memento_git.code.symbols import Symbols
from memento_git.knowledge import anchors, passages
from memento_git.knowledge.anchors import Elsewhere, Found, Range, Sides
from memento_git.knowledge.passages import Text
from memento_git.model.anchors import CHANGED, GONE, MOVED, OK, UNKNOWN, Anchor

ALIKE: Final = 0.4
NOTHING: Final = Symbols({})


class Named(NamedTuple):
    """The symbols of a file then and now."""

    old: Symbols
    new: Symbols


class Others(NamedTuple):
    """What is asked of other files: which has a passage, in which a name is new, the symbols and text of one."""

    passage: Elsewhere
    named: Callable[[str], Sequence[tuple[str, Symbols, Text]]]
    at: Callable[[str], tuple[Symbols, Text | None]]


class Candidate(NamedTuple):
    """A symbol with the same last name: whether its text is the same, whether its whole name is, and where it is."""

    is_same: bool
    is_name: bool
    path: str
    name: str
    place: Range


def symbol(anchor: Anchor, sides: Sides, named: Named, others: Others) -> Found:
    """Say what became of a symbol."""
    name = named.old.name_of(anchor.symbol)
    if not name:
        if anchor.lines:
            found = anchors.lines(sides, anchor.lines, others.passage)
            return found._replace(symbol=anchor.symbol, why=named.old.problem)
        return anchors.Found(UNKNOWN, sides.now, why=named.old.problem or f"{anchor.symbol} is not in the pinned file")
    if named.new.problem:
        found = anchors.lines(sides, named.old.span(name), others.passage)
        return found._replace(symbol=name, why=found.why or named.new.problem)
    if name in named.new.ranges:
        return _same_name(sides, name, named)
    return _elsewhere(sides, name, named, others)


def _same_name(sides: Sides, name: str, named: Named) -> Found:
    was, now, place = named.old.ranges[name], named.new.ranges[name], named.new.span(name)
    if _body(sides.old, was) == _body(sides.new, now):
        return anchors.Found(OK if sides.now == sides.was else MOVED, sides.now, place, symbol=name)
    edited = anchors.trace(sides.hunks, named.old.span(name)).edited
    inside = ((one, (max(one[0], place[0]), min(one[1], place[1]))) for one in edited)
    spans = tuple(span for one, span in inside if span[0] <= span[1] or span == one)
    why = anchors.WHITE if _plain(sides.old, was) == _plain(sides.new, now) else ""
    return anchors.Found(CHANGED, sides.now, place, spans or (place,), name, why)


def _elsewhere(sides: Sides, name: str, named: Named, others: Others) -> Found:
    """Look for a symbol of that name in other files, then for its lines."""
    new, body = named.new, _body(sides.old, named.old.ranges[name])
    short = name.rpartition(".")[2]
    candidates = [
        Candidate(_body(text, ranges) == body, other == name, path, other, symbols.span(other))
        for path, symbols, text in [(sides.now, new, sides.new), *others.named(short)]
        for other, ranges in symbols.ranges.items()
        if other.rpartition(".")[2] == short
    ]
    same = [one for one in candidates if one.is_same]
    if len(same) == 1:
        path, other = same[0].path, same[0].name
        why = f"it was in {sides.was}" if path != sides.now else f"{name} is now {other}"
        return anchors.Found(MOVED, path, same[0].place, symbol=other, why=why)
    found = anchors.lines(sides, named.old.span(name), others.passage)
    if found.path != sides.now:
        return _left(sides, name, body, found, candidates, others)
    now = new.around(found.lines) if found.lines else ""
    if now and passages.overlap(body, _body(sides.new, new.ranges[now])) < ALIKE:
        found = found._replace(state=GONE)
    if found.state != GONE:
        why = f"{name} is not there; now in {now}" if now else found.why or f"{name} is not there"
        return found._replace(state=found.state if found.state == MOVED else CHANGED, symbol=now, why=why)
    called = [one for one in candidates if one.is_name and one.path != sides.now]
    if len(called) == 1:
        path, place = called[0].path, called[0].place
        return anchors.Found(CHANGED, path, place, symbol=name, why=f"it was in {sides.was}")
    return anchors.Found(GONE, sides.now, why=f"{name} is not there")


def _left(sides: Sides, name: str, body: str, found: Found, candidates: Sequence[Candidate], others: Others) -> Found:
    """Say which symbol of another file has the lines that left: the one of that name, else the one around them."""
    lines = found.lines or (0, 0)
    there = [
        (common, one.is_name, one) for one in candidates
        if one.path == found.path and ((common := _common(one.place, lines)) or one.is_name)
    ]  # fmt: skip
    if there:
        _, _, one = max(there)
        state = MOVED if one.is_same else CHANGED
        return anchors.Found(state, one.path, one.place, symbol=one.name, why=found.why)
    symbols, text = others.at(found.path)
    now = symbols.around(lines)
    if text is None or not now or passages.overlap(body, _body(text, symbols.ranges[now])) < ALIKE:
        return found
    return anchors.Found(CHANGED, found.path, symbols.span(now), symbol=now, why=f"it was {name} in {sides.was}")


def _common(one: Range, other: Range) -> int:
    """Return how many lines two ranges have in common."""
    return max(0, min(one[1], other[1]) - max(one[0], other[0]) + 1)


def _body(text: Text, ranges: Sequence[Range]) -> str:
    """Return what a symbol says, without the indentation of where it stands, blank lines and blanks at line ends."""
    parts = ["\n".join(line.rstrip() for line in text.lines[one - 1 : last] if line.strip()) for one, last in ranges]
    return "\n".join(textwrap.dedent(part) for part in parts)


def _plain(text: Text, ranges: Sequence[Range]) -> list[str]:
    return [line for one in ranges for line in text.part(one) if line]
