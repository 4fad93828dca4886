"""Finding lines of a text again in another text: the same ones, most of them, or ones that resemble them. Pure."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, NamedTuple

from memento_git.model.enumeration import grouped
from memento_git.model.types import FORBIDDEN

Range = tuple[int, int]
TELLING: Final = 3
ENOUGH: Final = 20
ENOUGH_HERE: Final = 10
MOST: Final = 0.6
TRIED: Final = 3
COMPARED: Final = 20_000
QUOTED_LINES: Final = 12
QUOTED_LENGTH: Final = 1000
WORDS: Final = re.compile(r"\w+")


class Text:
    """The lines of a file, and where each of them stands, white space and a byte order mark aside."""

    def __init__(self, data: bytes) -> None:
        parts = data.removeprefix(BOM_UTF8).split(b"\n")
        self.lines = [part.decode(errors="replace") for part in (parts if parts[-1] else parts[:-1])]
        self.plain = [" ".join(line.split()) for line in self.lines]
        self.places = grouped((line, number) for number, line in enumerate(self.plain, 1))

    def __len__(self) -> int:
        return len(self.lines)

    def part(self, lines: Range) -> list[str]:
        """Return lines with white space made plain."""
        return self.plain[lines[0] - 1 : lines[1]]

    def within(self, lines: Range) -> Range:
        """Return as much of a range of lines as there is."""
        return min(lines[0], max(1, len(self))), min(lines[1], max(1, len(self)))

    def trimmed(self, lines: Range) -> Range:
        """Return a range without the empty lines at its ends, unless all of it is empty."""
        filled = [number for number in range(lines[0], lines[1] + 1) if number <= len(self) and self.plain[number - 1]]
        return (filled[0], filled[-1]) if filled else lines


class Match(NamedTuple):
    """Where a passage was found, how much of it (1.0 is all), and whether it is all and nothing was put in."""

    share: float
    lines: Range
    is_same: bool = False


def weight(line: str) -> int:
    """Return how much a line tells: its letters and digits; nothing for a bracket or an `else`."""
    count = sum(map(str.isalnum, line))
    return count if count >= TELLING else 0


def weigh(passage: Iterable[str]) -> int:
    return sum(map(weight, passage))


def find(
    passage: Sequence[str], text: Text, eligible: Collection[int] | None = None, *, enough: int = ENOUGH
) -> Match | None:
    """Return where most lines of a passage stand in a text, in their order; None where they do not.

    A passage that tells too little is not looked for: it could be anywhere.
    """
    whole = weigh(passage)
    if whole < enough:
        return None
    shifts: Counter[int] = Counter()
    for number, line in enumerate(passage):
        if tells := weight(line):
            for place in text.places.get(line, ())[:50]:
                if eligible is None or place in eligible:
                    shifts[place - number] += tells
    best = _best(_around(passage, text, shift, eligible, whole) for shift, _ in shifts.most_common(TRIED))
    return best if best is not None and best.share >= MOST else None


def _best(matches: Iterable[Match | None]) -> Match | None:
    """Return the first of the matches that have the greatest share."""
    return max(filter(None, matches), key=lambda match: match.share, default=None)


def _around(
    passage: Sequence[str], text: Text, shift: int, eligible: Collection[int] | None, whole: int
) -> Match | None:
    slack = len(passage) // 2 + 5
    start = max(1, shift - slack)
    window = text.plain[start - 1 : shift + len(passage) + slack]
    if eligible is not None:
        window = [line if start + number in eligible else "\0" for number, line in enumerate(window)]
    found: list[tuple[int, int]] = []
    for block in SequenceMatcher(None, passage, window, autojunk=False).get_matching_blocks():
        found += [(block.a + step, start + block.b + step) for step in range(block.size)]
    telling = [(old, new) for old, new in found if weight(passage[old])]
    if not telling:
        return None
    share = sum(weight(passage[old]) for old, _ in telling) / whole
    least, most = telling[0], telling[-1]
    inside = [new for old, new in found if least[0] - 2 <= old <= most[0] + 2] or [least[1]]
    old_lines, new_lines = passage[least[0] : most[0] + 1], text.part((least[1], most[1]))
    is_same = share >= 1 and list(filter(None, old_lines)) == list(filter(None, new_lines))
    return Match(share, (min(inside), max(inside)), is_same)


def resembling(passage: Sequence[str], text: Text, where: Sequence[int], *, close: bool = True) -> Match | None:
    """Return which of some lines resemble a passage, and how much: the mean over its lines, each with its weight."""
    old = [line for line in passage if weight(line)]
    new = [number for number in where if 0 < number <= len(text) and text.plain[number - 1]]
    if not old or not new:
        return None
    close = close and len(old) * len(new) <= COMPARED
    total, places = 0.0, []
    for line in old:
        best, place = max((likeness(line, text.plain[number - 1], close=close), -number) for number in new)
        total += best * weight(line)
        if best >= 0.4:
            places.append(-place)
    share = total / weigh(old)
    return Match(share, (min(places), max(places))) if places else Match(share, (new[0], new[-1]))


def near_seed(passage: Sequence[str], text: Text, where: Sequence[int]) -> Match | None:
    """Return the place among some lines that resembles a passage most: around lines like its longest one."""
    seed = max(range(len(passage)), key=lambda number: weight(passage[number]))
    if weight(passage[seed]) < ENOUGH or len(where) > COMPARED:
        return None
    words = set(WORDS.findall(passage[seed]))
    shared = [(len(words & set(WORDS.findall(text.plain[number - 1]))), number) for number in where]
    allowed = set(where)
    starts = [number - seed - 1 for _, number in sorted(shared, reverse=True)[:TRIED]]
    windows = ([line for line in range(one, one + len(passage) + 3) if line in allowed] for one in starts)
    return _best(resembling(passage, text, window, close=False) for window in windows)


def overlap(one: str, other: str) -> float:
    """Return the share of words that two texts have in common."""
    return _shares(one, other)[0]


def _shares(one: str, other: str) -> tuple[float, float]:
    """Return the share of words that two texts have in common, and the share of the first's that the second has."""
    left, right = Counter(WORDS.findall(one)), Counter(WORDS.findall(other))
    shared, both = (left & right).total(), left.total() + right.total()
    return 2 * shared / both if both else 0.0, shared / left.total() if left else 0.0


@lru_cache(maxsize=200_000)
def likeness(one: str, other: str, *, close: bool) -> float:
    """Return how much two lines resemble each other, by their words or, looked at closely, by their letters."""
    if one == other:
        return 1.0
    by_words = sum(_shares(one, other)) / 2
    if not close or len(one) + len(other) > 400:
        return by_words
    return max(by_words, SequenceMatcher(None, one, other, autojunk=False).ratio())


def quote(text: Text, lines: Range) -> str:
    """Return the first lines of a place, as a ledger can hold them."""
    kept, size = [], 0
    for line in text.lines[lines[0] - 1 : min(lines[1], lines[0] - 1 + QUOTED_LINES)]:
        clean = FORBIDDEN.sub("", line).rstrip()
        size += len(clean) + 1
        if size > QUOTED_LENGTH:
            break
        kept.append(clean)
    return "\n".join(kept).strip("\n")


def find_quote(quoted: str, text: Text) -> list[Range]:
    """Return all places where a quote's lines follow one another, white space and empty lines aside."""
    wanted = [plain for line in quoted.split("\n") if (plain := " ".join(line.split()))]
    if not wanted:
        return []
    clean = (" ".join(FORBIDDEN.sub("", line).split()) for line in text.plain)
    filled = [(number, line) for number, line in enumerate(clean, 1) if line]
    found = []
    for start in range(len(filled) - len(wanted) + 1):
        if all(filled[start + step][1] == line for step, line in enumerate(wanted)):
            found.append((filled[start][0], filled[start + len(wanted) - 1][0]))
    return found
