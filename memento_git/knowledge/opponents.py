"""Which notes a link may say to contradict another: also through what the other took the place of. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memento_git.knowledge.cards import Card
    from memento_git.knowledge.corpus import Corpus

MOST: Final = 50
BEFORE: Final = ("supersedes", "sources")


def opponents(corpus: Corpus, card: Card) -> tuple[str, ...]:
    """Return the ids at the other end of each such link; whether it still stands is for the fold of events to say."""
    found: dict[str, None] = {}
    for identity in _forms(corpus, card):
        own = [corpus.card(number) for number in corpus.marked(f"id:{identity}")]
        others = [corpus.card(number) for number in corpus.marked(f"end:{identity}")]
        for other in (*own, *others):
            for rel, end in other.links:
                if rel == "contradicts" and identity in (other.id, end):
                    found.update(dict.fromkeys((other.id, end)))
    return tuple(identity for identity in found if identity != card.id)


def _forms(corpus: Corpus, card: Card) -> list[str]:
    """Return a note and those that it took the place of, step by step."""
    forms, at = [card.id], 0
    cards = {card.id: card}
    while at < len(forms) < MOST:
        here = cards.get(forms[at])
        at += 1
        for rel, end in here.links if here else ():
            if rel in BEFORE and end.startswith("note_") and end not in forms:
                forms.append(end)
                cards.update((end, corpus.card(number)) for number in corpus.marked(f"id:{end}"))
    return forms
