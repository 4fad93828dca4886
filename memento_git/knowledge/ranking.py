"""Which documents answer a question, in which order, and what each score is made of."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memento_git.knowledge.words import alike, asked, is_everyday, is_pair, named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from memento_git.knowledge.cards import Card
    from memento_git.knowledge.corpus import Corpus

T = TypeVar("T")
MESSAGE: Final = 6  # a question of so many words may be a message that was pasted
VALUE: Final = re.compile("[0-9.]+[a-z]?|(?=.*[0-9])[0-9a-f]{4,64}")  # a number, a hash: of one occasion
K1: Final = 0.6  # how soon a word's repetition stops to count
B: Final = 0.75  # how far a document's length is held against it
UNIT: Final = 10.0  # the weight of a word that stands once in a text
NEIGHBOUR: Final = 0.7  # what a word counts that only a linked note, or the one before or after in the thread, has
BESIDE: Final = 0.35  # the same for a document that has no word of the question itself
HALF: Final = 0.5  # who has this share of what a question tells answers it
FLOOR: Final = 0.6  # and so does who has less of a longer one: of n words, chance gives some in the order of their root
WEAK: Final = 0.35  # below that nothing is shown; from there to the floor the best few, and they are told to be weak
FOREIGN: Final = 2 / 3  # who asks by so much that nobody here has heard of gets no weak answers either
LIKE: Final = 0.6  # what a word counts that is often said for one that is asked for; it makes no answer firm
CHANCE: Final = 0.5  # what a pair of characters counts that nothing has and that may be of two words
FEW: Final = 5
TAIL: Final = 0.15  # share of the best score below which nothing is shown
BOTH: Final = 1.4  # what strength and closeness together must come to, where meaning is asked for too
BOTH_WEAK: Final = 1.15
BY_WORDS: Final = 0.3  # share of the score that the words give; the rest is the meaning's
MOST_WORDS: Final = 200  # of a question; who pastes a whole log is answered by its beginning
LOOKED_AT: Final = 50
CROWD: Final = 4
COUNTED: Final = 1000
FORMS: Final = 1000  # candidates at most, where many of them lead to the same
ELSEWHERE: Final = 200  # documents of other projects that a small ledger is judged beside
GENERIC: Final = 0.15  # share of those that have an everyday word
IMPORTANT: Final = 0.2
SAME_FILE: Final = 0.15
KINDS: Final = {"note": 1.0, "skill": 1.0, "plan": 0.95, "task": 0.95, "run": 0.95, "evidence": 0.85}


class Part(NamedTuple):
    """One thing that a score is made of: a word, or a boost; for words, where they stand."""

    name: str
    value: float
    of: str = "text"


class Found(NamedTuple):
    """A document that answers: its score, how much of the question it covers and how firmly, the parts of the score."""

    number: int
    card: Card
    score: float
    cover: float
    strength: float
    words: tuple[str, ...]
    parts: tuple[Part, ...]


class Asked(NamedTuple):
    """A question as it was understood: its words, what each tells, and those that nothing here has."""

    text: str
    words: dict[str, float]
    unknown: tuple[str, ...]


class Near(NamedTuple):
    """How near documents are to a question in meaning, by path, and what is far and what is near for the model."""

    cosines: Mapping[str, float]
    ids: Mapping[str, str]
    far: float
    near: float

    @property
    def unread(self) -> int:
        """Return how many documents have no vector yet."""
        return len(self.ids) - len(self.cosines)

    def closeness(self, path: str) -> float:
        """Return how near a document is: 0 as any other, 1 as only one in a hundred that has nothing to do with it."""
        return (self.cosines.get(path, self.far) - self.far) / (self.near - self.far)

    def best(self) -> list[str]:
        """Return the paths, nearest first."""
        return sorted(self.cosines, key=lambda path: (-self.cosines[path], path))


class Ranked(NamedTuple):
    """The answers to one question, best first, how many there are in all, and whether none of them is firm."""

    asked: Asked
    found: list[Found]
    total: int
    weak: bool = False


class _Scores:
    """What each word of a question gives each document."""

    def __init__(self, corpus: Corpus, words: Mapping[str, bool]) -> None:
        self.worth: dict[str, float] = {}
        self.most: dict[str, float] = {}
        self.size = 0.0
        self.given: dict[str, dict[int, float]] = {}
        self.like: dict[str, dict[int, Part]] = {}
        self.total: dict[int, float] = {}
        count = max(corpus.documents, 1)
        average = max(corpus.length / count, 1.0)
        crossing = _crossing([word for word, is_name in words.items() if is_pair(word) and not is_name])
        for word, is_name in words.items():
            postings = corpus.postings(word)
            if is_name and not postings:
                continue  # its parts are asked for too
            worth = _rarity(len(postings), count)
            counts = CHANCE if not postings and word in crossing else 1.0
            self.size += counts
            self.worth[word] = counts * _worth(word, len(postings), count)
            self.most[word] = worth * (K1 + 1)
            given = self.given[word] = _given(postings, worth, average)
            like = self.like[word] = {}
            for other in sorted(alike(word)):
                held, of = corpus.postings(other), f"like {other}"
                for number, value in _given(held, LIKE * min(worth, _rarity(len(held), count)), average).items():
                    if number not in given and (number not in like or like[number].value < value):
                        like[number] = Part(word, value, of)
            for number, value in (*given.items(), *((number, part.value) for number, part in like.items())):
                self.total[number] = self.total.get(number, 0.0) + value
        self.all = sum(self.worth.values()) or 1.0

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


def _answers_by_words(one: Found, near: Near | None) -> bool:
    """Tell whether a document of which no meaning is known has enough of a question's words to answer it."""
    return one.strength >= FLOOR and (near is None or one.card.path not in near.cosines)


def _crossing(pairs: Collection[str]) -> set[str]:
    """Return the pairs of neighbours that share a character with another one, so that either may be no word."""
    starts, ends = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return {pair for pair in pairs if pair[0] in ends or pair[1] in starts}


def _worth(word: str, having: int, count: int) -> float:
    """Return how much a word tells: the less documents have it, here and in the projects that are taken for granted."""
    common = having + ELSEWHERE * (GENERIC if is_everyday(word) else 0.0)
    return math.log1p((count + ELSEWHERE - common + 0.5) / (common + 0.5))


def rank(
    corpus: Corpus, question: str, *, most: int, keep: Callable[[Card], bool] | None = None,
    files: Iterable[str] = (), near: Near | None = None, leads: Callable[[Card], str] = lambda card: card.path,
) -> Ranked:  # fmt: skip
    """Return the documents that answer a question, best first; by their meaning too, where that is given.

    Those of which `leads` says the same are counted as one, however many they are.
    """
    scores = _Scores(corpus, dict(islice(asked(question).items(), MOST_WORDS)))
    unknown = tuple(word for word, given in scores.given.items() if not given)
    understood = Asked(question, scores.worth, unknown)
    beside = _Neighbours(corpus, scores)
    candidates = _candidates(corpus, scores, max(LOOKED_AT, 3 * most), keep, leads)
    focus = frozenset(files)
    found = [
        _found(scores, number, card, beside if place < LOOKED_AT else None, focus)
        for place, (number, card) in enumerate(candidates)
    ]
    others = [(number, card) for number, card in beside.beside(candidates) if not keep or keep(card)]
    found += [_found(scores, number, card, beside, focus) for number, card in others]
    if near is not None:
        known = {number for number, _ in (*candidates, *others)}
        further = _nearest(corpus, near, max(LOOKED_AT, 3 * most), keep)
        found += [_found(scores, number, card, None, focus) for number, card in further if number not in known]
    foreign = near is None and scores.share(unknown) >= FOREIGN
    names = named(question).intersection(unknown)
    sure = _sure(found, near, names, pasted=len(scores.worth) >= MESSAGE, foreign=foreign)
    if sure is None or not found:
        return Ranked(understood, [], 0)
    found = _ordered(_fused(found, near), lambda one: one.card, lambda one: one.score)
    least = TAIL * found[0].score
    shown = [one for one in _once(found) if one.score >= least]
    if not sure:
        return Ranked(understood, shown[:FEW], len(shown[:FEW]), weak=True)
    total = len({leads(one.card) for one in shown})
    if near is None:
        total = max(total, _count(corpus, scores, least, keep, leads))
    return Ranked(understood, shown, total)


def _count(
    corpus: Corpus, scores: _Scores, least: float, keep: Callable[[Card], bool] | None, leads: Callable[[Card], str]
) -> int:
    """Return how many documents reach a score; beyond the first thousand whether each may be shown is not asked."""
    enough = [number for number, score in scores.total.items() if score >= least]
    if keep is None:
        return len(enough)
    asked_of = [corpus.card(number) for number in enough[:COUNTED]]
    return len({leads(card) for card in asked_of if keep(card)}) + len(enough[COUNTED:])


def _sure(
    found: Sequence[Found], near: Near | None, names: Collection[str], *, pasted: bool, foreign: bool
) -> bool | None:
    """Tell whether the best of these answers the question, or may only (False), or nothing does (None).

    Who names what nobody here has heard of is not answered by a few other words: what else would be firm is weak then,
    and nothing is weak. So it is where most of the question is foreign here. A pasted message, whose numbers are those
    of one occasion, may be answered firmly. Any other question that names a number is about that one: what has half
    of the question, and another number or none, is weak.
    """
    numbers = [name for name in names if VALUE.fullmatch(name)]
    doubtful = len(numbers) < len(names) or (bool(numbers) and not pasted)
    if any(one.cover >= HALF for one in found):
        return pasted or not numbers
    if not doubtful and any(_answers_by_words(one, near) for one in found):
        return True
    firm, weak = (FLOOR, WEAK) if near is None else (BOTH, BOTH_WEAK)
    reached = max((one.strength for one in found), default=0.0)
    if near is not None:
        reached += max((near.closeness(one.card.path) for one in found), default=0.0)
    if reached >= firm:
        return not doubtful
    return False if reached >= weak and not names and not foreign else None


def _nearest(corpus: Corpus, near: Near, most: int, keep: Callable[[Card], bool] | None) -> list[tuple[int, Card]]:
    """Return the documents that are nearest in meaning."""
    found: list[tuple[int, Card]] = []
    for path in near.best():
        for number in corpus.marked(f"id:{near.ids[path]}"):
            card = corpus.card(number)
            if card.path == path and (keep is None or keep(card)):
                found.append((number, card))
        if len(found) >= most:
            break
    return found


def _fused(found: list[Found], near: Near | None) -> list[Found]:
    """Return the documents scored by words and meaning: each as a share of the best, or of what a good one has."""
    if near is None:
        return found
    top = max((one.score for one in found), default=0.0)
    firm = min(max((one.strength for one in found), default=0.0) / FLOOR, 1.0)
    nearest = max(1.0, *(near.closeness(one.card.path) for one in found))
    fused = []
    for one in found:
        factor = BY_WORDS * firm / top if top else 0.0
        meaning = (1 - BY_WORDS) * max(near.closeness(one.card.path), 0.0) / nearest
        parts = [part._replace(value=factor * part.value) for part in one.parts]
        cosine = near.cosines.get(one.card.path)
        if cosine is not None:
            parts.append(Part("meaning", meaning, f"cosine {cosine:.2f}"))
        fused.append(one._replace(score=sum(part.value for part in parts), parts=tuple(parts)))
    return fused


def _once(found: Iterable[Found]) -> list[Found]:
    """Return each document once: an archive may hold what is still there too."""
    return list({one.card.path: one for one in reversed(list(found))}.values())[::-1]


def _candidates(
    corpus: Corpus, scores: _Scores, most: int, keep: Callable[[Card], bool] | None, leads: Callable[[Card], str]
) -> list[tuple[int, Card]]:
    """Return the documents with the best scores.

    Those that are level count as one, and all of them are in: none is picked by chance, and a hundred that say the
    same do not crowd out what else there is. Neither do a hundred that lead to the same.
    """
    kept: list[tuple[int, Card]] = []
    ends: set[str] = set()
    levels = 0
    last = math.inf
    for number in sorted(scores.total, key=scores.total.__getitem__, reverse=True):
        score = scores.total[number]
        if score < last and (levels >= most or len(ends) >= CROWD * most or len(kept) >= FORMS):
            break
        card = corpus.card(number)
        if keep is None or keep(card):
            kept.append((number, card))
            levels += score < last and leads(card) not in ends
            ends.add(leads(card))
            last = score
    return _ordered(kept, lambda one: one[1], lambda one: scores.total[one[0]])


def _ordered(things: list[T], card: Callable[[T], Card], score: Callable[[T], float]) -> list[T]:
    """Return things by score; where that is level, the later first, then by path."""
    by_path = sorted(things, key=lambda one: card(one).path)
    by_time = sorted(by_path, key=lambda one: card(one).time, reverse=True)
    return sorted(by_time, key=score, reverse=True)


def _found(scores: _Scores, number: int, card: Card, near: _Neighbours | None, focus: frozenset[str]) -> Found:
    parts = [Part(word, given[number]) for word, given in scores.given.items() if number in given]
    factor = NEIGHBOUR if parts else BESIDE
    own = {part.name for part in parts}
    for word, (value, other) in near.words_of(number, card).items() if near else ():
        if word not in own:
            parts.append(Part(word, factor * value, other))
    strength = scores.strength(parts)
    having = {part.name for part in parts}
    parts += [like[number] for word, like in scores.like.items() if number in like and word not in having]
    text = sum(part.value for part in parts)
    boosts = [
        ("kind", KINDS.get(card.kind, 1.0) - 1),
        ("importance", IMPORTANT * (card.importance - 0.5)),
        ("same file", SAME_FILE if focus.intersection(card.files) else 0.0),
    ]
    parts += [Part(name, text * share, "boost") for name, share in boosts if share]
    cover = scores.share(own)
    words = tuple(part.name for part in parts if part.of != "boost")
    return Found(number, card, sum(part.value for part in parts), cover, strength, words, tuple(parts))


class _Neighbours:
    """What the documents beside one say: those that it links to, that link to it, and its neighbours in a thread."""

    def __init__(self, corpus: Corpus, scores: _Scores) -> None:
        self._corpus = corpus
        self._scores = scores
        self._threads: dict[str, list[int]] = {}
        self._known: dict[int, dict[int, str]] = {}

    def of(self, number: int, card: Card) -> dict[int, str]:
        """Return the neighbours' numbers, and the id of each."""
        if number not in self._known:
            ends = self._linked(card)
            numbers = {found for end in ends for found in self._corpus.marked(f"id:{end}")}
            numbers.update(self._beside_in_thread(number, card))
            numbers.discard(number)
            self._known[number] = {found: self._corpus.card(found).id for found in numbers}
        return self._known[number]

    def _linked(self, card: Card) -> set[str]:
        """Return the ids that a document is linked with: by its own links, by those of others, and by later ones."""
        ends = {end for rel, end in card.links if rel != "contradicts"}
        cut: set[str] = set()
        for other in (self._corpus.card(found) for found in self._corpus.marked(f"end:{card.id}")):
            for rel, end in other.links:
                if rel != "contradicts" and card.id in (other.id, end):
                    (cut if rel == "unlinked" else ends).update((other.id, end))
        return ends - cut - {card.id}

    def _beside_in_thread(self, number: int, card: Card) -> list[int]:
        if not card.thread:
            return []
        if card.thread not in self._threads:
            members = self._corpus.marked(f"thread:{card.thread}")
            self._threads[card.thread] = sorted(
                members, key=lambda found: (self._corpus.card(found).time, self._corpus.card(found).path)
            )
        members = self._threads[card.thread]
        at = members.index(number)
        return members[max(at - 1, 0) : at] + members[at + 1 : at + 2]

    def words_of(self, number: int, card: Card) -> dict[str, tuple[float, str]]:
        """Return for each word of the question the most that a neighbour has of it, and that neighbour's id."""
        others = self.of(number, card)
        most = {
            word: max(((given.get(other, 0.0), identity) for other, identity in others.items()), default=(0.0, ""))
            for word, given in self._scores.given.items()
        }
        return {word: found for word, found in most.items() if found[0]}

    def beside(self, candidates: Sequence[tuple[int, Card]]) -> list[tuple[int, Card]]:
        """Return the neighbours of the best that have no word of the question themselves."""
        known = {number for number, _ in candidates} | set(self._scores.total)
        found = [other for number, card in candidates[:LOOKED_AT] for other in self.of(number, card)]
        return [(other, self._corpus.card(other)) for other in dict.fromkeys(found) if other not in known]
