"""Which notes say the same, nearly the same, or the opposite; how much of its sources a summary keeps. Pure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from memento_git.model.knowledge import ORIGINS

NEAR: Final = 0.6
OPPOSED: Final = 0.4
NEAREST: Final = 5
WORD: Final = re.compile(r"[^\W_]+(?:[._:/-][^\W_]+)*")
SENTENCE: Final = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n(?=\s*(?:[-*+#|>]|\d+[.)])\s)")
NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*%?")
EMPTY_WORDS: Final = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "these", "those", "of",
    "to", "in", "for", "with", "by", "as", "at", "from", "and", "or", "so", "we", "our", "you", "your", "they",
    "their", "will", "would", "can", "could", "should", "must", "has", "have", "had", "do", "does", "did",
))  # fmt: skip
NEGATIONS: Final = frozenset((
    "not", "no", "never", "none", "without", "cannot", "can't", "don't", "doesn't", "isn't", "aren't", "wasn't",
    "won't", "mustn't", "shouldn't", "neither", "nor", "nicht", "kein", "keine", "nie", "ohne", "pas", "jamais", "sans",
))  # fmt: skip
SAYING_NOTHING: Final = EMPTY_WORDS | NEGATIONS
OPPOSITES: Final = (
    ("enable", "disable"), ("enabled", "disabled"), ("on", "off"), ("true", "false"), ("allow", "forbid"),
    ("allowed", "forbidden"), ("required", "optional"), ("required", "forbidden"), ("use", "avoid"),
    ("before", "after"), ("sync", "async"), ("synchronous", "asynchronous"), ("more", "less"),
    ("increase", "decrease"), ("public", "private"),
)  # fmt: skip


class Similarity(NamedTuple):
    """Another note that is near: by what share of words, and whether the two may contradict one another."""

    note: str
    share: float
    opposed: bool

    def told(self) -> str:
        """Return in words how near it is."""
        return f"{'may contradict' if self.opposed else 'is near to'} {self.note} ({self.share:.0%} of words shared)"


def plain(text: str) -> str:
    """Return a text as it is compared for being the same: case, space and forms of letters do not count."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split())


def said(title: str, body: str) -> str:
    """Return all that a note says; a title that was taken from its text says nothing more."""
    return body if title.rstrip("\u2026") in body else f"{title}\n{body}"


def _lowered(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")


def words(text: str) -> frozenset[str]:
    """Return the words of a text that tell something, negations left out."""
    pieces = set(_lowered(text).split())
    found = set(filter(str.isalnum, pieces))
    found.update(WORD.findall(" ".join(pieces - found)))
    return frozenset(found - SAYING_NOTHING)


def stems(text: str) -> frozenset[str]:
    """Return the words of a text that tell something, by the stems that recall knows them by."""
    return frozenset(map(_stem, words(text)))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    from memento_git.knowledge.words import ENGLISH, stem

    return stem(word) if ENGLISH.fullmatch(word) else word


def negated(text: str) -> bool:
    """Tell whether a text denies something: an odd number of negations."""
    found = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", _lowered(text))
    return sum(word in NEGATIONS for word in found) % 2 == 1


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how many of the words of two texts both have: 0 to 1."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


class Reading(NamedTuple):
    """What of a text is held against another: its words, its numbers, whether it denies something."""

    words: frozenset[str]
    numbers: frozenset[str]
    denies: bool


def reading(text: str) -> Reading:
    return Reading(words(text), frozenset(NUMBER.findall(text)), negated(text))


def opposed(one: Reading, other: Reading) -> bool:
    """Tell whether two texts speak of the same and may contradict one another: a negation, an opposite, a number."""
    left, right = one.words, other.words
    smaller, both = min(len(left), len(right)), len(left & right)
    if not smaller or both / smaller < OPPOSED:
        return False
    if one.denies != other.denies and both >= min(smaller, 2):
        return True
    mine, theirs = left - right, right - left
    if any((a in mine and b in theirs) or (b in mine and a in theirs) for a, b in OPPOSITES):
        return True
    differ = bool(one.numbers and other.numbers) and not one.numbers & other.numbers
    return differ and share(left - one.numbers, right - other.numbers) >= NEAR


def dispute(one: Reading, other: Reading) -> float:
    """Return the share of words, numbers left out, of two texts that may contradict one another; 0 if they do not."""
    numbers = one.numbers | other.numbers
    common = share(one.words - numbers, other.words - numbers)
    return common if common >= OPPOSED and opposed(one, other) else 0.0


def against(text: str, other: str) -> float:
    """Return the same of the texts, or of the shorter one and a sentence of the other, where that is more."""
    short, long = sorted((text, other), key=len)
    own = reading(short)
    return max(dispute(own, reading(part)) for part in (long, *SENTENCE.split(long)))


def near(text: str, others: Mapping[str, str]) -> list[Similarity]:
    """Return the notes (id -> text) that say nearly the same, or the opposite if only in a sentence; nearest first."""
    own = stems(text)
    found = []
    for note, other in others.items():
        theirs = stems(other)
        common = len(own & theirs)
        if not common or common < OPPOSED * min(len(own), len(theirs)):
            continue  # texts that have less in common are neither near nor opposed
        both, disputed = share(own, theirs), against(text, other)
        if both >= NEAR or disputed:
            found.append(Similarity(note, round(max(both, disputed), 2), disputed > 0))
    return sorted(found, key=lambda one: (-one.share, one.note))[:NEAREST]


class Coverage(NamedTuple):
    """How much of its sources a summary keeps: share of their words, rare ones weighing more; numbers left out."""

    share: float
    lost_numbers: list[str]


def coverage(summary: str, sources: Sequence[str]) -> Coverage:
    """Return what a summary keeps of the notes that it takes the place of."""
    doc_frequency = Counter(word for source in sources for word in words(source))
    weight = {word: math.log(1 + len(sources) / count) for word, count in doc_frequency.items()}
    total = sum(weight.values())
    told = words(summary)
    kept = sum(value for word, value in weight.items() if word in told)
    numbers = list(dict.fromkeys(number for source in sources for number in NUMBER.findall(source)))
    lost = [number for number in numbers if number not in NUMBER.findall(summary)]
    return Coverage(round(kept / total, 2) if total else 1.0, lost)


def lowest(origins: Iterable[str]) -> str:
    """Return the least trusted of some origins."""
    return max(origins, key=ORIGINS.index)
