"""Answers that say the same: shown once, unless they might contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.knowledge.alike import opposed
from memento_git.knowledge.words import opposing, words

if TYPE_CHECKING:
    from memento_git.knowledge.cards import Card

SHARED: Final = 0.8
FEWEST: Final = 4


class Said(NamedTuple):
    """What an answer says: its text, the words of text and title, and those that turn a meaning around."""

    card: Card
    text: str
    words: frozenset[str]
    opposing: frozenset[str]


def said(card: Card, text: str) -> Said:
    """Return what a document says, ready to be compared."""
    whole = f"{card.title}\n{text}"
    return Said(card, text, frozenset(words(whole)), opposing(whole))


def are_alike(one: Said, other: Said) -> bool:
    """Tell whether one of two answers says nothing that the other does not say.

    Texts that each have a word of their own are kept apart, however much they share: that word may be what they
    disagree on. So are those that differ in a number or in a word that turns the meaning around.
    """
    if (one.card.kind, one.card.sort) != (other.card.kind, other.card.sort) or one.opposing != other.opposing:
        return False
    small, large = sorted((one.words, other.words), key=len)
    if len(small) < SHARED * len(large) or len(small) < min(FEWEST, len(large)) or not small <= large:
        return False
    return not _are_set_apart(one.card, other.card) and not opposed(one.text, other.text)


def _are_set_apart(one: Card, other: Card) -> bool:
    """Tell whether a link says that two notes contradict, or that one took the other's place."""
    apart = ("contradicts", "supersedes")
    return any(
        rel in apart and end == there.id for here, there in ((one, other), (other, one)) for rel, end in here.links
    )
