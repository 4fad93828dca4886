"""Where a range of lines is after an edit, by the hunks of git's own diff. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Range = tuple[int, int]


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

    @property
    def is_untouched(self) -> bool:
        return not self.touching


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
