"""What changed between two texts, word by word. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Final

Step = tuple[str, int, int, int, int]
Piece = tuple[str, str]
WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")
SAME: Final = "same"
ADDED: Final = "added"
REMOVED: Final = "removed"
LEFT_OUT: Final = "left_out"
CONTEXT: Final = 8
MOST_PAIRS: Final = 1_000_000
MOST_ALIKE: Final = 20_000


def words(old: str, new: str) -> list[Piece]:
    """Return the pieces that lead from one text to another; of what stayed, only what lies near a change.

    Lines are compared first, and the words of those that differ, so that a long text takes no long time.
    """
    return _near(_joined(_lines(old.splitlines(keepends=True), new.splitlines(keepends=True))))


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, at, to, other_at, other_to in _steps(old, new):
        before, after = "".join(old[at:to]), "".join(new[other_at:other_to])
        if tag == "equal":
            yield SAME, before
        else:
            yield from _words(WORD.findall(before), WORD.findall(after))


def _words(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    if len(old) * len(new) > MOST_PAIRS:
        yield REMOVED, "".join(old)
        yield ADDED, "".join(new)
        return
    for tag, at, to, other_at, other_to in _steps(old, new):
        if tag == "equal":
            yield SAME, "".join(old[at:to])
        else:
            yield REMOVED, "".join(old[at:to])
            yield ADDED, "".join(new[other_at:other_to])


def _steps(old: Sequence[str], new: Sequence[str]) -> Sequence[Step]:
    """Return the steps from one list to another.

    Where more pairs are alike than can be looked at soon, what comes again and again is nothing to go by.
    """
    counts = Counter(new)
    pairs = {one: count * counts[one] for one, count in Counter(old).items()}
    rarest = sorted(pairs, key=pairs.__getitem__)
    sums = accumulate(map(pairs.__getitem__, rarest))
    often = {one for one, alike in zip(rarest, sums, strict=True) if alike > MOST_ALIKE}
    return SequenceMatcher(often.__contains__, old, new, autojunk=False).get_opcodes()


def _joined(pieces: Iterator[Piece]) -> list[Piece]:
    """Return pieces without empty ones; a blank between two changes belongs to both."""
    alike = groupby((piece for piece in pieces if piece[1]), key=itemgetter(0))
    held = [(kind, "".join(text for _, text in same)) for kind, same in alike]
    told: list[Piece] = []
    gone, come = "", ""
    for number, (kind, text) in enumerate(held):
        bridge = kind == SAME and text.isspace() and (gone or come) and number + 1 < len(held)
        if kind == REMOVED or bridge:
            gone += text
        if kind == ADDED or bridge:
            come += text
        if kind == SAME and not bridge:
            told += [(name, part) for name, part in ((REMOVED, gone), (ADDED, come)) if part]
            gone = come = ""
            told.append((kind, text))
    return told + [(name, part) for name, part in ((REMOVED, gone), (ADDED, come)) if part]


def _near(pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces with what stayed cut to a few words beside each change."""
    told: list[Piece] = []
    for number, (kind, text) in enumerate(pieces):
        if kind != SAME:
            told.append((kind, text))
            continue
        parts = WORD.findall(text)
        before = CONTEXT * 2 if number else 0
        after = CONTEXT * 2 if number + 1 < len(pieces) else 0
        if len(parts) <= before + after:
            told.append((SAME, text))
            continue
        told += [(SAME, "".join(parts[:before]))] if before else []
        told.append((LEFT_OUT, ""))
        told += [(SAME, "".join(parts[-after:]))] if after else []
    return told if any(kind in (ADDED, REMOVED) for kind, _ in pieces) else []
