"""Which notes may contradict another: by a link, also through what it took the place of, a key, or words. Pure."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.similarity import OPPOSED
from memento_git.knowledge.words import words

if TYPE_CHECKING:
    from memento_git.knowledge.corpus import Corpus
    from memento_git.knowledge.index_entries import Header

MOST: Final = 50
BEFORE: Final = ("supersedes", "sources")
LOOKED_AT: Final = 200
COMPARED: Final = 5


def by_link(corpus: Corpus, header: Header) -> tuple[str, ...]:
    """Return the ids at the other end of each such link, and of one key; what stands the fold of events must say."""
    found = dict.fromkeys(
        corpus.header(number).id for number in (corpus.marked(f"key:{header.key}") if header.key else ())
    )
    for identity in _predecessors(corpus, header):
        own = [corpus.header(number) for number in corpus.marked(f"id:{identity}")]
        others = [corpus.header(number) for number in corpus.marked(f"end:{identity}")]
        for other in (*own, *others):
            for rel, end in other.links:
                if rel == "contradicts" and identity in (other.id, end):
                    found.update(dict.fromkeys((other.id, end)))
    return tuple(identity for identity in found if identity != header.id)


def _predecessors(corpus: Corpus, header: Header) -> list[str]:
    """Return a note and those that it took the place of, step by step."""
    predecessors, at = [header.id], 0
    headers = {header.id: header}
    while at < len(predecessors) < MOST:
        here = headers.get(predecessors[at])
        at += 1
        for rel, end in here.links if here else ():
            if rel in BEFORE and end.startswith("note_") and end not in predecessors:
                predecessors.append(end)
                headers.update((end, corpus.header(number)) for number in corpus.marked(f"id:{end}"))
    return predecessors


def by_words(corpus: Corpus, header: Header, text: str) -> list[Header]:
    """Return the few notes that share the most words with one: as many as those do that may say its opposite.

    The rarest words are looked up, as many as few documents have; others are taken to be shared.
    """
    doc_frequency = {word: corpus.doc_frequency(word) for word in dict.fromkeys(words(f"{header.title}\n{text}"))}
    counts: Counter[int] = Counter()
    asked, cost = 0, 0
    for word in sorted(doc_frequency, key=doc_frequency.__getitem__):
        cost += doc_frequency[word]
        if asked and cost > LOOKED_AT:
            break
        asked += 1
        counts.update(number for number, _, _ in corpus.postings(word))
    least = max(math.ceil(OPPOSED * len(doc_frequency)) - (len(doc_frequency) - asked), 1)
    near = [corpus.header(number) for number, count in counts.most_common(2 * COMPARED) if count >= least]
    return [one for one in near if one.kind == "note" and one.id != header.id][:COMPARED]
