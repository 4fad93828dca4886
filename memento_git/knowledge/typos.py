"""Slips of the hand: a letter too many or too few, or two that changed places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.words import as_written, stem

if TYPE_CHECKING:
    from memento_git.knowledge.corpus import Corpus
    from memento_git.knowledge.ranking import Question
    from memento_git.model.note_rows import HitRow

SAME: Final = 2  # letters at the beginning that are hardly ever mistaken
SHORTEST: Final = 6  # of shorter words too many are one letter apart
LOOKED_UP: Final = 12  # words of a question: more that nothing has are of a log that was pasted, and each takes time


class Typos:
    """Says of words of a question that nothing has what they are slips of; of many, the first are looked up."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._left = LOOKED_UP

    def meant(self, typed: str) -> str:
        """Return what a word that was typed is a slip of: of such words that which most documents have; or nothing.

        One letter for another is no slip: that makes other words. Neither is one more or less that takes an ending
        away (*printer*, *print*).
        """
        word = typed.lower()
        if not self._left or len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
            return ""
        self._left -= 1
        long = len(stem(word))
        counted = {other for other in map(stem, _one_more_or_less(word)) if abs(len(other) - long) <= 1}
        found = sorted(counted.union(map(stem, _changed(word))))
        best = max(found, key=self._corpus.doc_frequency)
        return best if self._corpus.doc_frequency(best) else ""


def _one_more_or_less(word: str) -> Iterator[str]:
    """Yield a word without one of its letters, and with one more."""
    for at in range(SAME, len(word) + 1):
        yield from (word[:at] + letter + word[at:] for letter in ascii_lowercase)
        yield word[:at] + word[at + 1 :]


def _changed(word: str) -> Iterator[str]:
    """Yield a word with two of its letters in each other's place."""
    for at in range(SAME - 1, len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def read_as(questions: Iterable[Question], found: Iterable[HitRow]) -> dict[str, str]:
    """Return what slips were read as: each as it was typed, and as what was found writes the word."""
    text = "\n".join(f"{row['title']}\n{row['text']}" for row in found)
    return {
        typed: written
        for one in questions
        for typed, written in zip(as_written(one.text, one.meant), as_written(text, one.meant.values()), strict=True)
    }
