"""Which of many texts are near to one another, without comparing each with each. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from memento_git.knowledge.similarity import NEAR, OPPOSED, opposed, plain, reading, share, stems

SAME_TEXT: Final = "same text"
NEAR_TEXT: Final = "near text"
MAY_CONTRADICT: Final = "may contradict"
MOST: Final = 100  # others that a text is compared with: texts made from one template share their words with all of it


class Pair(NamedTuple):
    """Two texts, why they are shown together, and by what share of words they are near."""

    one: str
    other: str
    why: str
    share: float


def duplicates(texts: Mapping[str, str], new: Collection[str] | None = None) -> list[Pair]:
    """Return pairs that say the same or nearly so, and do not contradict; the nearest first. `new` asks for theirs."""
    same = {name: plain(text) for name, text in texts.items()}
    read = {name: reading(text) for name, text in texts.items()}

    def judged(one: str, other: str, common: float) -> str:
        if same[one] == same[other]:
            return SAME_TEXT
        return NEAR_TEXT if common >= NEAR and not opposed(read[one], read[other]) else ""

    return _judged({name: stems(text) for name, text in texts.items()}, NEAR, judged, new)


def conflicts(texts: Mapping[str, str], new: Collection[str] | None = None) -> list[Pair]:
    """Return pairs that share many words and may contradict: by a negation, an opposite, a number; `new` as above."""
    read = {name: reading(text) for name, text in texts.items()}

    def judged(one: str, other: str, _common: float) -> str:
        return MAY_CONTRADICT if opposed(read[one], read[other]) else ""

    return _judged({name: one.words for name, one in read.items()}, OPPOSED, judged, new)


def disputes(texts: Mapping[str, str], known: Mapping[str, Collection[str]], most: int) -> dict[str, list[str]]:
    """Return text -> those that may contradict it, the nearest `most` of them, but for what is `known` to do so."""
    found: dict[str, list[str]] = {}
    for pair in conflicts(texts):
        for one, other in ((pair.one, pair.other), (pair.other, pair.one)):
            if other not in known.get(one, ()) and len(found.get(one, ())) < most:
                found.setdefault(one, []).append(other)
    return found


def _judged(
    held: Mapping[str, frozenset[str]], least: float, judge: Callable[[str, str, float], str],
    new: Collection[str] | None,
) -> list[Pair]:  # fmt: skip
    found = [
        Pair(one, other, why, round(common, 2))
        for one, other, common in _near(held, least, new) if (why := judge(one, other, common))
    ]  # fmt: skip
    return sorted(found, key=lambda pair: (-pair.share, pair.one, pair.other))


def _near(
    held: Mapping[str, frozenset[str]], least: float, new: Collection[str] | None = None
) -> Iterator[tuple[str, str, float]]:
    """Yield the pairs with one of the `new` that have at least this share of their words in common.

    Two such texts have one of their rarest words in common: of n words, one of the first n - ceil(n * least) + 1.
    Of very many that have, the first are compared, those that share the rarest word before all others.
    """
    asked = held if new is None else new
    doc_frequency = Counter(word for found in held.values() for word in found)
    having: dict[str, list[str]] = {}
    for name, found in sorted(held.items(), key=lambda one: one[0] in asked):
        count = len(found) - math.ceil(len(found) * least) + 1
        rare = sorted(found, key=lambda word: (doc_frequency[word], word))[:count]
        sharing = (other for word in rare for other in having.get(word, ())) if name in asked else ()
        for other in _first(sharing):
            if (common := share(found, held[other])) >= least:
                yield other, name, common
        for word in rare:
            having.setdefault(word, []).append(name)


def _first(names: Iterable[str]) -> Iterable[str]:
    """Return the first names, each once."""
    found: dict[str, None] = {}
    for name in names:
        found[name] = None
        if len(found) == MOST:
            break
    return found
