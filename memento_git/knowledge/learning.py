"""Which saved queries would find some notes again and their like, drafted by what sets these notes apart. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memento_git.knowledge import recipes, similarity, words
from memento_git.knowledge.lexicon import ASKING
from memento_git.knowledge.recipes import Item
from memento_git.knowledge.transitions import CURRENT

BEST: Final = 12
MOST_TRAITS: Final = 3
MOST_PARTS: Final = 3
BETTER: Final = 0.01
WORTH_A_PART: Final = 0.05
QUERIES: Final = (3, 6)
FEWEST_RECALLED: Final = 10
TOKEN: Final = re.compile(r"[^\W_]+(?:[_./:-][^\W_]+)*")
SIMPLE: Final = ("kinds", "domains", "key_prefix", "tags", "under", "text")
LISTS: Final = ("kinds", "domains", "tags")

Data = dict[str, Any]


class Trait(NamedTuple):
    """Something that a step can choose by, and the notes that have it."""

    key: str
    value: tuple[str, ...]
    notes: frozenset[str]


class Chain(NamedTuple):
    """Traits that a note must have all of, and the notes that do."""

    traits: tuple[Trait, ...]
    notes: frozenset[str]


class Known(NamedTuple):
    """Notes to choose among: which are wanted, the places of those, who has which word, how those are linked."""

    items: Mapping[str, Item]
    wanted: frozenset[str]
    places: Mapping[str, frozenset[str]]
    words: Mapping[str, frozenset[str]]
    rels: Sequence[str]


class Score(NamedTuple):
    """How many of the notes that were wanted were found, and how many others."""

    found: int
    others: int
    wanted: int

    @property
    def f1(self) -> float:
        """Return the harmonic mean of the share of right ones and the share that was found."""
        return 2 * self.found / (self.found + self.others + self.wanted) if self.wanted else 0.0


def score(found: Collection[str], wanted: Collection[str]) -> Score:
    """Return how well some notes fit those that were wanted."""
    hits = len(set(found) & set(wanted))
    return Score(hits, len(set(found)) - hits, len(set(wanted)))


def least_of(wanted: int) -> int:
    """Return how many of so many notes must share something: what one alone has would be learnt by heart."""
    return max(2, -(-wanted // 3))


def shared_words(texts: Sequence[str]) -> dict[str, str]:
    """Return word of the index -> how these texts write it, of words that enough of them have."""
    having: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for text in texts:
        having.update(set(words.words(text)))
        for token in TOKEN.findall(text):
            held = words.words(token)
            if len(held) == 1:
                written.setdefault(held[0], Counter())[similarity.plain(token)] += 1
    return {
        word: _usual(written[word])
        for word, count in having.items()
        if count >= least_of(len(texts)) and word in written and _tells(word, written[word])
    }


def _tells(word: str, forms: Counter[str]) -> bool:
    """Tell whether a word is neither one of those that most texts have nor one that only asks."""
    return not words.is_everyday(word) and ASKING.isdisjoint(forms)


def _usual(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], len(form), form))


# Traits, and chains of them.


def traits(known: Known) -> list[Trait]:
    """Return what enough of the wanted notes share and not all notes have, the most telling and simplest first."""
    least = least_of(len(known.wanted))
    found = [
        one for one in (*_of_fields(known), *_of_sets("under", known.places), *_of_sets("text", known.words))
        if len(one.notes & known.wanted) >= least and len(one.notes) < len(known.items)
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-score(one.notes, known.wanted).f1, SIMPLE.index(one.key), one.value))


def _of_fields(known: Known) -> Iterator[Trait]:
    ours = [known.items[name] for name in sorted(known.wanted)]
    for key, shown in (("kinds", {item.kind for item in ours}), ("domains", {item.domain for item in ours})):
        several = [tuple(sorted(shown))] if 1 < len(shown) <= MOST_TRAITS else []
        for value in (*((one,) for one in sorted(shown)), *several):
            yield _trait(known, key, value)
    for tag in sorted({tag for item in ours for tag in item.tags}):
        yield _trait(known, "tags", (tag,))
    for prefix in sorted({prefix for item in ours for prefix in _prefixes(item.key)}):
        yield _trait(known, "key_prefix", (prefix,))


def _trait(known: Known, key: str, value: tuple[str, ...]) -> Trait:
    wanted = {key: _spelled(key, value)}
    return Trait(key, value, frozenset(item.id for item in known.items.values() if recipes.passes(item, wanted)))


def _of_sets(key: str, sets: Mapping[str, frozenset[str]]) -> Iterator[Trait]:
    yield from (Trait(key, (value,), notes) for value, notes in sets.items())


def _prefixes(key: str) -> Iterator[str]:
    parts = key.split(".") if key else []
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def chains(known: Known, held: Sequence[Trait]) -> list[Chain]:
    """Return chains of traits that choose better than each of them alone, the best first, simple ones before others."""
    found: dict[frozenset[tuple[str, tuple[str, ...]]], Chain] = {}
    for first in held[:BEST]:
        chain: Chain | None = Chain((first,), first.notes)
        while chain is not None:
            found.setdefault(frozenset((one.key, one.value) for one in chain.traits), chain)
            chain = _narrowed(known, chain, held)
    return sorted(found.values(), key=lambda one: (-round(_fit(known, one.notes), 3), len(one.traits)))


def _narrowed(known: Known, chain: Chain, held: Iterable[Trait]) -> Chain | None:
    """Return a chain with the trait that betters it most; None where none does."""
    keys = {one.key for one in chain.traits}
    if len(keys) >= MOST_TRAITS:
        return None
    tried = [Chain((*chain.traits, one), chain.notes & one.notes) for one in held if one.key not in keys]
    best = max(tried, key=lambda one: _fit(known, one.notes), default=None)
    return best if best and _fit(known, best.notes) > _fit(known, chain.notes) + BETTER else None


def together(known: Known, held: Sequence[Chain]) -> list[Chain]:
    """Return the chains that find most together, each worth a part of its own; one alone where no other adds to it."""
    chosen = list(held[:1])
    while chosen and len(chosen) < MOST_PARTS:
        union = frozenset[str]().union(*(one.notes for one in chosen))
        best = max(held, key=lambda one: _fit(known, union | one.notes))
        if _fit(known, union | best.notes) < _fit(known, union) + WORTH_A_PART:
            break
        chosen.append(best)
    return chosen


def _fit(known: Known, notes: Collection[str]) -> float:
    return score(notes, known.wanted).f1


# Recipes.


def drafts(known: Known, written: Mapping[str, str]) -> list[Data]:
    """Return the steps of recipes that are worth a trial; none of them names a note or a thread.

    `written` is word of the index -> how the notes write it, the most telling first.
    """
    held = traits(known)
    found = chains(known, held)
    made: list[Data] = [{"steps": _steps(known, one)} for one in found[: BEST // 2]]
    several = together(known, found)
    if len(several) > 1:
        made.append({"parts": [{"steps": _steps(known, one)} for one in several], "combine": "union"})
    facet = next((one for one in held if one.key not in ("under", "text")), None)
    for count in QUERIES if written else ():
        query = " ".join(list(written.values())[:count])
        most = str(max(FEWEST_RECALLED, 2 * len(known.wanted)))
        for choosing in ({}, _choosing([facet]) if facet else {}):
            step = {"do": "recall", "query": query, "most": most, **_states(known), **choosing}
            made.append({"steps": [step]})
    if known.rels:
        walk = {"do": "traverse", "rels": list(known.rels), **_states(known)}
        made += [{**one, "steps": [*one.get("steps", ()), walk]} for one in made[:2]]
    return [one for number, one in enumerate(made) if one not in made[:number]]


def _steps(known: Known, chain: Chain) -> list[Data]:
    choosing = [one for one in chain.traits if one.key not in ("under", "text")]
    text = next((one.value[0] for one in chain.traits if one.key == "text"), "")
    source = {"do": "search", "text": text} if text else {"do": "active"}
    steps: list[Data] = [{**source, **_states(known), **_choosing(choosing)}]
    steps += [{"do": "filter", "under": one.value[0]} for one in chain.traits if one.key == "under"]
    return steps


def _choosing(held: Iterable[Trait]) -> Data:
    return {one.key: _spelled(one.key, one.value) for one in held}


def _spelled(key: str, value: tuple[str, ...]) -> list[str] | str:
    return list(value) if key in LISTS else value[0]


def _states(known: Known) -> Data:
    """Return what a step must say to find all wanted notes, parked and expired ones too."""
    ours = [known.items[name] for name in known.wanted]
    states = sorted({item.status for item in ours} - set(CURRENT))
    return {**({"states": [*CURRENT, *states]} if states else {}),
            **({"expired": "with"} if any(item.is_expired for item in ours) else {})}  # fmt: skip


def steps_of(data: Data) -> list[Data]:
    """Return the steps of a recipe, those of its parts first."""
    return [step for part in (*data.get("parts", ()), data) for step in part.get("steps", ())]


def size(data: Data) -> int:
    """Return how much a recipe says: the simplest one has the least."""
    held = steps_of(data)
    options = [one for step in held for key, one in step.items() if key not in ("do", "most", "states", "expired")]
    return len(held) + sum(len(one) if isinstance(one, list) else len(str(one).split()) for one in options)
