"""What each word of a question gives each document, and how much of the question a word tells."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.knowledge.typos import Typos
from memento_git.knowledge.words import alike, as_written, is_everyday, is_pair

if TYPE_CHECKING:
    from memento_git.knowledge.corpus import Corpus

K1: Final = 0.6  # how soon a word's repetition stops to count
B: Final = 0.75  # how far a document's length is held against it
UNIT: Final = 10.0  # the weight of a word that stands once in a text
LIKE: Final = 0.6  # what a word counts that is often said for one that is asked for; by it answers are weak, not firm
SLIP: Final = 0.8  # what a word counts that is one slip away from one that nobody wrote
CHANCE: Final = 0.5  # what a pair of characters counts that nothing has and that may be of two words
ELSEWHERE: Final = 200  # documents of other projects that a small ledger is judged beside
GENERIC: Final = 0.15  # share of those that have an everyday word


class Part(NamedTuple):
    """One thing that a score is made of: a word, or a boost; for words, where they stand."""

    name: str
    value: float
    of: str = "text"


class Scores:
    """What each word of a question gives each document."""

    def __init__(self, corpus: Corpus, question: str, words: Mapping[str, bool]) -> None:
        self.worth: dict[str, float] = {}
        self.most: dict[str, float] = {}
        self.size = 0.0
        self.given: dict[str, dict[int, float]] = {}
        self.meant: dict[str, str] = {}
        self.like: dict[str, dict[int, Part]] = {}
        self.total: dict[int, float] = {}
        count = max(corpus.documents, 1)
        average = max(corpus.length / count, 1.0)
        slips = Typos(corpus)
        crossing = _crossing([word for word, is_name in words.items() if is_pair(word) and not is_name])
        for (word, is_name), typed in zip(words.items(), as_written(question, words), strict=True):
            postings = corpus.postings(word)
            if is_name and not postings:
                continue  # its parts are asked for too
            if not postings and (other := slips.meant(typed)):
                postings = corpus.postings(other)
                self.meant.update({word: other} if postings else {})
            worth = _rarity(len(postings), count)
            counts = CHANCE if not postings and word in crossing else 1.0
            self.size += counts
            self.worth[word] = counts * _worth(word, len(postings), count)
            self.most[word] = worth * (K1 + 1)
            given = self.given[word] = _given(postings, SLIP * worth if word in self.meant else worth, average)
            like = self.like[word] = {}
            for other in sorted(alike(word)):
                held, of = corpus.postings(other), f"like {other}"
                for number, value in _given(held, LIKE * min(worth, _rarity(len(held), count)), average).items():
                    if number not in given and (number not in like or like[number].value < value):
                        like[number] = Part(word, value, of)
            for number, value in (*given.items(), *((number, part.value) for number, part in like.items())):
                self.total[number] = self.total.get(number, 0.0) + value
        self.all = sum(self.worth.values()) or 1.0

    def part(self, word: str, number: int) -> Part:
        """Return what a word gives a document that has it, or the one that it is a slip of."""
        of = f"slip of {self.meant[word]}" if word in self.meant else "text"
        return Part(word, self.given[word][number], of)

    def share(self, words: Iterable[str]) -> float:
        """Return how much of what is asked for these words tell: 0 to 1."""
        return sum(self.worth[word] for word in words) / self.all

    def strength(self, parts: Iterable[Part]) -> float:
        """Return the share of what is asked for that these words give, by their scores, times the root of all words."""
        shares = (self.worth[part.name] * part.value / self.most[part.name] for part in parts)
        return sum(shares) / self.all * math.sqrt(self.size)


def _rarity(having: int, count: int) -> float:
    return math.log1p((count - having + 0.5) / (having + 0.5))


def _given(postings: Iterable[tuple[int, float, int]], worth: float, average: float) -> dict[int, float]:
    """Return what a word gives each document that has it: the longer and the more often, the less each time."""
    fixed, slope = K1 * (1 - B) * UNIT, K1 * B * UNIT / average
    most = worth * (K1 + 1)
    return {number: most * weight / (weight + fixed + slope * length) for number, weight, length in postings}


def _crossing(pairs: Collection[str]) -> set[str]:
    """Return the pairs of neighbours that share a character with another one, so that either may be no word."""
    starts, ends = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return {pair for pair in pairs if pair[0] in ends or pair[1] in starts}


def _worth(word: str, having: int, count: int) -> float:
    """Return how much a word tells: the less documents have it, here and in the projects that are taken for granted."""
    common = having + ELSEWHERE * (GENERIC if is_everyday(word) else 0.0)
    return math.log1p((count + ELSEWHERE - common + 0.5) / (common + 0.5))
