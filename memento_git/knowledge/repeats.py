"""Answers that say the same: shown once, unless they might contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.knowledge.alike import opposed
from memento_git.knowledge.words import opposing, words

if TYPE_CHECKING:
    from memento_git.knowledge.cards import Card

SHARED: Final = 0.8
FEWEST: Final = 4


def are_alike(one: Card, text: str, other: Card, other_text: str) -> bool:
    """Tell whether one of two texts says nothing that the other does not say.

    Texts that each have a word of their own are kept apart, however much they share: that word may be what they
    disagree on. So are those that differ in a number or in a word that turns the meaning around.
    """
    if (one.kind, one.sort) != (other.kind, other.sort) or _are_opposed(one, other):
        return False
    mine, theirs = (set(words(f"{card.title}\n{said}")) for card, said in ((one, text), (other, other_text)))
    small, large = sorted((mine, theirs), key=len)
    if not small <= large or len(small) < SHARED * len(large) or len(small) < min(FEWEST, len(large)):
        return False
    if opposed(text, other_text):
        return False
    return opposing(f"{one.title}\n{text}") == opposing(f"{other.title}\n{other_text}")


def _are_opposed(one: Card, other: Card) -> bool:
    """Tell whether a link says that two notes contradict, or that one took the other's place."""
    apart = ("contradicts", "supersedes")
    return any(
        rel in apart and end == there.id for here, there in ((one, other), (other, one)) for rel, end in here.links
    )
