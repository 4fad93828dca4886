"""What became of a place that a note is about: the rules, given two contents and git's hunks between them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from memento_git.knowledge import passages
from memento_git.knowledge.passages import Match, Text
from memento_git.model.anchors import CHANGED, GONE, MOVED, OK, UNKNOWN, UNPINNED, Anchor, spell

Elsewhere = Callable[[Sequence[str]], tuple[str, Match] | None]
Range = tuple[int, int]
FEW_KEPT: Final = 0.3
ALIKE: Final = 0.5
ALIKE_IF_SMALL: Final = 0.2
ALIKE_ELSEWHERE: Final = 0.65
SMALL: Final = 5
WHITE: Final = "only white space differs"
STALE: Final = (CHANGED, GONE, UNKNOWN)


class Hunk(NamedTuple):
    """What `@@ -start,length +new_start,new_length @@` says; an empty side stands after its line."""

    start: int
    length: int
    new_start: int
    new_length: int

    @property
    def shift(self) -> int:
        return self.new_length - self.length

    @property
    def old(self) -> range:
        return range(self.start, self.start + self.length)

    @property
    def new(self) -> range:
        return range(self.new_start, self.new_start + self.new_length)


class Traced(NamedTuple):
    """A range of old lines: where its untouched lines are now, and the hunks that touch it."""

    kept: dict[int, int]
    touching: tuple[Hunk, ...]
    place: Range | None
    edited: tuple[Range, ...]


class Found(NamedTuple):
    """What became of an anchor: its state, where it is now, which lines there differ, and why if not plain.

    `edited` holds ranges of new lines; one that ends before it begins stands where lines were taken away.
    `old` and `new` are the blobs that were compared.
    """

    state: str
    path: str = ""
    lines: Range | None = None
    edited: tuple[Range, ...] = ()
    symbol: str = ""
    why: str = ""
    old: str = ""
    new: str = ""

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told: dict[str, Any] = {"state": self.state, "path": self.path}
        told["lines"] = spell(self.lines) if self.lines else ""
        told["edited"] = [spell(span) for span in self.edited if span[0] <= span[1]]
        told["taken_out"] = [str(span[1]) for span in self.edited if span[0] > span[1]]
        told |= {"symbol": self.symbol, "why": self.why, "old": self.old, "new": self.new}
        return {key: value for key, value in told.items() if value}


class Placed(NamedTuple):
    """A note, one of the places that it is about, and what became of that."""

    note: str
    anchor: Anchor
    found: Found

    @property
    def path(self) -> str:
        """Return where the place is now, else where it was."""
        return self.found.path or self.anchor.path

    @property
    def is_stale(self) -> bool:
        return self.found.state in STALE

    def data(self) -> dict[str, Any]:
        """Return the place as JSON has it."""
        return {"anchor": str(self.anchor), **self.found.data()}


class Sides(NamedTuple):
    """A file then and now: the path of both, the lines of both, the hunks between them in order."""

    was: str
    now: str
    old: Text
    new: Text
    hunks: Sequence[Hunk]


def whole_file(anchor: Anchor, now: str, new_blob: str) -> Found:
    """Say what became of a file or folder as a whole."""
    if anchor.blob != new_blob:
        return Found(CHANGED, now, old=anchor.blob, new=new_blob)
    return Found(OK if now == anchor.path else MOVED, now, anchor.lines, symbol=anchor.symbol)


def trace(hunks: Sequence[Hunk], lines: Range) -> Traced:
    """Follow a range of lines through the hunks of one diff without context, which are in order."""
    first, last = lines
    shift = 0
    touching: list[Hunk] = []
    kept: dict[int, int] = {}
    at = first
    for hunk in hunks:
        end = hunk.start + hunk.length - 1 if hunk.length else hunk.start
        if end < first:
            shift += hunk.shift
        elif hunk.start > last or (not hunk.length and hunk.start == last):
            break
        else:
            untouched_to = hunk.start if not hunk.length else hunk.start - 1
            kept.update({line: line + shift for line in range(at, untouched_to + 1)})
            at = end + 1
            touching.append(hunk)
            shift += hunk.shift
    kept.update({line: line + shift for line in range(at, last + 1)})
    edited = tuple(_share(hunk, lines) for hunk in touching)
    ends = [*kept.values(), *(line for span in edited for line in span if span[0] <= span[1])]
    return Traced(kept, tuple(touching), (min(ends), max(ends)) if kept else None, edited)


def _share(hunk: Hunk, lines: Range) -> Range:
    """Return the new lines of a hunk that stand for its share of a range of old lines; empty after a deletion.

    Where a hunk reaches beyond the range, as many lines belong to the range as it had there.
    """
    first, last = hunk.new_start, hunk.new_start + hunk.new_length - 1
    before = max(0, lines[0] - hunk.start)
    after = max(0, hunk.start + hunk.length - 1 - lines[1])
    inside = hunk.length - before - after
    if not hunk.new_length:
        return hunk.new_start + 1, hunk.new_start
    if before and after:
        first = min(first + before, last)
        return first, min(last, first + inside - 1)
    if before:
        return max(first, last - inside + 1), last
    return (first, min(last, first + inside - 1)) if after else (first, last)


def lines(sides: Sides, wanted: Range, elsewhere: Elsewhere) -> Found:
    """Say what became of a range of lines; empty ones at its ends do not count."""
    wanted = sides.old.trimmed(sides.old.within(wanted))
    traced = trace(sides.hunks, wanted)
    if not traced.touching:
        same = traced.place == wanted and sides.now == sides.was
        return Found(OK if same else MOVED, sides.now, traced.place)
    passage = sides.old.part(wanted)
    whole = passages.weigh(passage)
    kept = sum(passages.weight(sides.old.plain[line - 1]) for line in traced.kept)
    if not kept or kept < FEW_KEPT * whole:
        moved = _moved(sides, wanted, traced, passage, elsewhere, kept / whole if whole else 0.0)
        if moved is not None:
            return moved
    if kept or (traced.place and not whole):
        return _edited(sides, wanted, *_narrowed(sides, wanted, traced))
    return _replaced(sides, wanted, traced, passage)


def _narrowed(sides: Sides, wanted: Range, traced: Traced) -> tuple[Range, tuple[Range, ...]]:
    """Return the place and its edited lines; where a hunk at an end grew much, only what resembles its old lines."""
    spans = []
    for hunk, span in zip(traced.touching, traced.edited, strict=True):
        old = [line for line in hunk.old if wanted[0] <= line <= wanted[1]]
        at_end = wanted[0] in hunk.old or wanted[1] in hunk.old
        if at_end and span[1] - span[0] >= len(old) + SMALL:
            match = passages.resembling(sides.old.part((old[0], old[-1])), sides.new, range(span[0], span[1] + 1))
            spans += [match.lines] if match is not None and match.share >= ALIKE_IF_SMALL else []
        else:
            spans.append(span)
    ends = [*traced.kept.values(), *(line for span in spans for line in span if span[0] <= span[1])]
    return (min(ends), max(ends)) if ends else traced.place or wanted, tuple(spans)


def _moved(
    sides: Sides, wanted: Range, traced: Traced, passage: Sequence[str], elsewhere: Elsewhere, kept: float
) -> Found | None:
    """Return where lines went that the diff shows as taken away: to another place of the file, or to another file."""
    added = {line for hunk in sides.hunks for line in hunk.new}
    here = passages.find(passage, sides.new, added, enough=passages.ENOUGH_HERE)
    alike = _resembling(sides, traced, passage)
    if here is None or here.share < 1:
        there = elsewhere(passage)
        if there is not None and there[1].share > max(kept, here.share if here else 0.0, alike.share if alike else 0.0):
            path, match = there
            return Found(MOVED if match.is_same else CHANGED, path, match.lines, why=f"it was in {sides.was}")
    if here is None or here.share <= max(kept, alike.share if alike and here.share < 1 else 0.0):
        return None
    if here.share < 1:
        return _edited(sides, wanted, here.lines, (here.lines,))
    return _same_text(sides, wanted, here.lines)


def _same_text(sides: Sides, wanted: Range, place: Range) -> Found:
    """Say of lines that are the same, white space aside, whether white space differs that matters: an indentation."""
    old, new = (
        [line.rstrip() for line in text.lines[span[0] - 1 : span[1]] if line.strip()]
        for text, span in ((sides.old, wanted), (sides.new, place))
    )
    if old != new:
        return Found(CHANGED, sides.now, place, (place,), why=WHITE)
    return Found(OK if (sides.now, place) == (sides.was, wanted) else MOVED, sides.now, place)


def _edited(sides: Sides, wanted: Range, place: Range, edited: tuple[Range, ...]) -> Found:
    """Say of lines that the diff shows as edited whether it is more than white space."""
    old, new = ([line for line in text.part(span) if line] for text, span in ((sides.old, wanted), (sides.new, place)))
    return _same_text(sides, wanted, place) if old == new else Found(CHANGED, sides.now, place, edited)


def _resembling(sides: Sides, traced: Traced, passage: Sequence[str]) -> Match | None:
    places = [line for hunk in traced.touching for line in hunk.new]
    return passages.resembling(passage, sides.new, places)


def _replaced(sides: Sides, wanted: Range, traced: Traced, passage: Sequence[str]) -> Found:
    """Tell lines that were rewritten from lines that gave way to something else."""
    match = _resembling(sides, traced, passage)
    further = passages.near_seed(passage, sides.new, [line for hunk in sides.hunks for line in hunk.new])
    if further is not None and further.share >= max(ALIKE_ELSEWHERE, match.share if match else 0.0):
        return _edited(sides, wanted, further.lines, (further.lines,))
    small = all(hunk.length <= SMALL and hunk.new_length <= 2 * SMALL for hunk in traced.touching)
    if match is not None and match.share >= (ALIKE_IF_SMALL if small else ALIKE):
        return _edited(sides, wanted, match.lines, (match.lines,))
    return Found(GONE, sides.now, why="its lines were taken away" if match is None else "its lines gave way to others")


def by_quote(anchor: Anchor, path: str, text: Text | None, state: str, why: str) -> Found:
    """Say where in a file the quote of an anchor is, which alone never proves that all is as it was."""
    if text is None:
        return Found(state, path, why=why)
    places = passages.find_quote(anchor.quote, text)
    if not places:
        told = "its quote is not there" if anchor.quote else ""
        return Found(state, path, why=f"{why}; {told}" if told else why)
    start = min(places, key=lambda place: abs(place[0] - (anchor.lines or place)[0]))[0]
    length = anchor.lines[1] - anchor.lines[0] if anchor.lines else 0
    place = text.within((start, start + length)) if anchor.lines else None
    told = "its quote is there" + (f" {len(places)} times" if len(places) > 1 else "")
    return Found(state, path, place, symbol=anchor.symbol, why=f"{why}; {told}")


def unpinned(anchor: Anchor, path: str, text: Text | None, *, there: bool) -> Found:
    """Say of a place that was not committed as it was when the note was written."""
    return by_quote(
        anchor, path, text, UNPINNED, "it was not committed as it was" if there else "there is no such file"
    )


def unknown(anchor: Anchor, path: str, text: Text | None, *, there: bool) -> Found:
    """Say of a place whose pinned content this clone does not have."""
    why = f"this clone does not have {anchor.blob[:12]}"
    if not there:
        return Found(UNKNOWN, why=f"{why}, and {anchor.path} is not there")
    return by_quote(anchor, path, text, UNKNOWN, why)
