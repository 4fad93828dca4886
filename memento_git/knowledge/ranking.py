"""Which documents answer a question, in which order, and what each score is made of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memento_git.knowledge import dates
from memento_git.knowledge.scoring import Part, Scores
from memento_git.knowledge.words import abbreviations, asked, named

if TYPE_CHECKING:
    from memento_git.knowledge.corpus import Corpus
    from memento_git.knowledge.index_entries import Header

T = TypeVar("T")
MESSAGE: Final = 6  # a question of so many words may be a message that was pasted
VALUE: Final = re.compile("[0-9.]+[a-z]?|(?=.*[0-9])[0-9a-f]{4,64}")  # a number, a hash: of one occasion
NEIGHBOUR: Final = 0.7  # what a word counts that only a linked note, or the one before or after in the thread, has
BESIDE: Final = 0.35  # the same for a document that has no word of the question itself
HALF: Final = 0.5  # who has this share of what a question tells answers it
FLOOR: Final = 0.6  # and so does who has less of a longer one: of n words, chance gives some in the order of their root
WEAK: Final = 0.3  # below that nothing is shown; from there to the floor the best few, called weak
FOREIGN: Final = 2 / 3  # who asks by so much that nobody here has heard of gets no weak answers either
FEW: Final = 10
TAIL: Final = 0.15  # share of the best score below which nothing is shown
BOTH_WEAK: Final = 0.75  # what strength and closeness together must come to, where meaning is asked for too
STRANGE: Final = 0.5  # how much of that the share of a question that nobody here has heard of takes away
KNOWING: Final = 100  # documents from which on that says something: fewer know few words
BY_WORDS: Final = 0.3  # share of the score that the words give; the rest is the meaning's
BY_COVER: Final = 0.3  # so much more where a document has all of the question: a name, a date, a message
MOST_WORDS: Final = 200  # of a question; who pastes a whole log is answered by its beginning
LOOKED_AT: Final = 50
CROWD: Final = 4
COUNTED: Final = 1000
FORMS: Final = 1000  # candidates at most, where many of them lead to the same
IMPORTANT: Final = 0.2
SAME_FILE: Final = 0.15
KINDS: Final = {"plan": -0.05, "task": -0.05, "run": -0.05, "event": -0.05, "evidence": -0.15}
WHY: Final = re.compile(r"\b(?:why|reasons?|rationale|how come)\b", re.IGNORECASE)
FAVOURED: Final[
    Mapping[str, tuple[Callable[[str], object], Mapping[str, float]]]
] = {  # what says why, or what happened, rather than what is only done
    "why": (WHY.search, {"decision": 0.15, "task": -0.25, "run": -0.25, "evidence": -0.25}),
    "when": (dates.asks_when, {"event": 0.15}),
}


class Found(NamedTuple):
    """A document that answers: its score, how much of the question it covers and how firmly, the parts of the score."""

    header: Header
    score: float
    cover: float
    strength: float
    words: tuple[str, ...]
    parts: tuple[Part, ...]


class Question(NamedTuple):
    """A question as it was understood: its words that nothing here has, what slips meant."""

    text: str
    unknown: tuple[str, ...]
    meant: Mapping[str, str]


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

    asked: Question
    found: list[Found]
    total: int
    weak: bool = False


def rank(
    corpus: Corpus, question: str, *, most: int, keep: Callable[[Header], bool] = lambda _: True,
    files: Iterable[str] = (), near: Near | None = None, leads: Callable[[Header], str] = lambda header: header.record,
) -> Ranked:  # fmt: skip
    """Return the documents that answer a question, best first; by their meaning too, where that is given.

    Those of which `leads` says the same are counted as one, however many they are.
    """
    scores = Scores(corpus, question, dict(islice(asked(question).items(), MOST_WORDS)))
    unknown = tuple(word for word, given in scores.given.items() if not given)
    understood = Question(question, unknown, scores.meant)
    beside = _Neighbours(corpus, scores)
    candidates = _candidates(corpus, scores, max(LOOKED_AT, 3 * most), keep, leads)
    found = [
        _found(scores, number, header, beside if place < LOOKED_AT else None)
        for place, (number, header) in enumerate(candidates)
    ]
    others = [(number, header) for number, header in beside.beside(candidates) if keep(header)]
    found += [_found(scores, number, header, beside) for number, header in others]
    if near is not None:
        known = {number for number, _ in (*candidates, *others)}
        further = _nearest(corpus, near, max(LOOKED_AT, 3 * most), keep)
        found += [_found(scores, number, header, None) for number, header in further if number not in known]
    names, strange = _names(question, unknown, near), _strange(corpus, scores, unknown, near)
    sure = _sure(found, near, names, strange, scores)
    if sure is None or not found:
        return Ranked(understood, [], 0)
    boosted = _boosted(_fused(found, near), frozenset(files), question)
    found = _ordered(boosted, lambda one: one.header, lambda one: one.score)
    least = TAIL * found[0].score
    shown = [one for one in _once(found) if one.score >= least]
    if not sure:
        return Ranked(understood, shown[:FEW], len(shown[:FEW]), weak=True)
    total = len({leads(one.header) for one in shown})
    if near is None:
        total = max(total, _count(corpus, scores, least, keep, leads))
    return Ranked(understood, shown, total)


def _count(
    corpus: Corpus, scores: Scores, least: float, keep: Callable[[Header], bool], leads: Callable[[Header], str]
) -> int:
    """Return how many documents reach a score; beyond the first thousand whether each may be shown is not asked."""
    enough = [number for number, score in scores.total.items() if score >= least]
    asked_of = [corpus.header(number) for number in enough[:COUNTED]]
    return len({leads(header) for header in asked_of if keep(header)}) + len(enough[COUNTED:])


def _names(question: str, unknown: Collection[str], near: Near | None) -> dict[str, bool]:
    """Return the names of a question that nothing here has, and of each whether it silences weak answers."""
    names = dict.fromkeys(named(question).intersection(unknown), True)
    return names if near is None else names | dict.fromkeys(abbreviations(question, names), False)


def _strange(corpus: Corpus, scores: Scores, unknown: Iterable[str], near: Near | None) -> float:
    """Return the share of a question that nobody here has heard of, nor, without meaning, of a word said for it."""
    if near is None:
        return scores.share(word for word in unknown if not scores.like[word])
    return scores.share(unknown) * min(corpus.documents / KNOWING, 1.0)


def _sure(
    found: Sequence[Found], near: Near | None, names: Mapping[str, bool], strange: float, scores: Scores
) -> bool | None:  # fmt: skip
    """Tell whether the best of these answers the question, or only may (False), or nothing does (None).

    By its meaning alone nothing answers firmly. `strange` is the share of the question that nobody here has heard of. A
    question that names such a thing is not answered by a few other words: what would be firm otherwise is weak then,
    and nothing is weak, unless `names` says of each that it silences nothing. A pasted message, whose numbers are those
    of one occasion, may be answered firmly. Any other question that names a number is about that one: what has half of
    the question, and another number or none, is weak.
    """
    pasted = len(scores.worth) >= MESSAGE
    numbers = [name for name in names if VALUE.fullmatch(name)]
    doubtful = len(numbers) < len(names) or (bool(numbers) and not pasted)
    if any(one.cover >= HALF for one in found):
        return pasted or not numbers
    if any(one.strength >= FLOOR for one in found):
        return not doubtful
    reached = max((scores.strength(one.parts) for one in found), default=0.0)
    if near is None:
        weak = reached >= WEAK and strange < FOREIGN
    else:
        closest = max((near.closeness(one.header.path) for one in found), default=0.0)
        weak = reached + closest - STRANGE * strange >= BOTH_WEAK
    return False if weak and not any(names.values()) else None


def _nearest(corpus: Corpus, near: Near, most: int, keep: Callable[[Header], bool]) -> list[tuple[int, Header]]:
    """Return the documents that are nearest in meaning."""
    found: list[tuple[int, Header]] = []
    for path in near.best():
        for number in corpus.marked(f"id:{near.ids[path]}"):
            header = corpus.header(number)
            if header.path == path and keep(header):
                found.append((number, header))
        if len(found) >= most:
            break
    return found


def _fused(found: list[Found], near: Near | None) -> list[Found]:
    """Return the documents scored by words and meaning: each as a share of the best, or of what a good one has."""
    if near is None:
        return found
    top = max((one.score for one in found), default=0.0)
    firm = min(max((one.strength for one in found), default=0.0) / FLOOR, 1.0)
    nearest = max(1.0, *(near.closeness(one.header.path) for one in found))
    by_words = BY_WORDS + BY_COVER * max((one.cover for one in found), default=0.0)
    factor = by_words * firm / top if top else 0.0
    fused = []
    for one in found:
        meaning = (1 - by_words) * max(near.closeness(one.header.path), 0.0) / nearest
        parts = [part._replace(value=factor * part.value) for part in one.parts]
        cosine = near.cosines.get(one.header.path)
        if cosine is not None:
            parts.append(Part("meaning", meaning, f"cosine {cosine:.2f}"))
        fused.append(one._replace(score=sum(part.value for part in parts), parts=tuple(parts)))
    return fused


def _boosted(found: Iterable[Found], focus: frozenset[str], question: str) -> list[Found]:
    """Return the documents with what is not said by words: boosts order what answers, and bring nothing in."""
    favoured = {name: kinds for name, (asks, kinds) in FAVOURED.items() if asks(question)}
    boosted = []
    for one in found:
        header = one.header
        shares = {
            "kind": KINDS.get(header.kind, 0.0),
            "importance": IMPORTANT * (header.importance - 0.5),
            "same file": SAME_FILE if focus.intersection(header.files) else 0.0,
            **{name: kinds.get(header.sort or header.kind, 0.0) for name, kinds in favoured.items()},
        }
        boosts = [Part(name, one.score * share, "boost") for name, share in shares.items() if share]
        score = one.score + sum(part.value for part in boosts)
        boosted.append(one._replace(score=score, parts=(*one.parts, *boosts)))
    return boosted


def _once(found: Iterable[Found]) -> list[Found]:
    """Return each document once: an archive may hold what is still there too."""
    return list({one.header.path: one for one in reversed(list(found))}.values())[::-1]


def _candidates(
    corpus: Corpus, scores: Scores, most: int, keep: Callable[[Header], bool], leads: Callable[[Header], str]
) -> list[tuple[int, Header]]:
    """Return the documents with the best scores.

    Those that are level count as one, and all of them are in: none is picked by chance, and a hundred that say the
    same do not crowd out what else there is. Neither do a hundred that lead to the same.
    """
    kept: list[tuple[int, Header]] = []
    ends: set[str] = set()
    levels = 0
    last = math.inf
    for number in sorted(scores.total, key=scores.total.__getitem__, reverse=True):
        score = scores.total[number]
        if score < last and (levels >= most or len(ends) >= CROWD * most or len(kept) >= FORMS):
            break
        header = corpus.header(number)
        if keep(header):
            kept.append((number, header))
            levels += score < last and leads(header) not in ends
            ends.add(leads(header))
            last = score
    return _ordered(kept, lambda one: one[1], lambda one: scores.total[one[0]])


def _ordered(things: list[T], header: Callable[[T], Header], score: Callable[[T], float]) -> list[T]:
    """Return things by score; where that is level, the later first, then by path."""
    by_path = sorted(things, key=lambda one: header(one).path)
    by_time = sorted(by_path, key=lambda one: header(one).time, reverse=True)
    return sorted(by_time, key=score, reverse=True)


def _found(scores: Scores, number: int, header: Header, near: _Neighbours | None) -> Found:
    parts = [scores.part(word, number) for word, given in scores.given.items() if number in given]
    factor = NEIGHBOUR if parts else BESIDE
    own = {part.name for part in parts}
    for word, (value, other) in near.words_of(number, header).items() if near else ():
        if word not in own:
            parts.append(Part(word, factor * value, other))
    strength = scores.strength(parts)
    having = {part.name for part in parts}
    parts += [like[number] for word, like in scores.like.items() if number in like and word not in having]
    text = sum(part.value for part in parts)
    words = tuple(part.name for part in parts)
    return Found(header, text, scores.share(own), strength, words, tuple(parts))


class _Neighbours:
    """What the documents beside one say: those that it links to, that link to it, and its neighbours in a thread."""

    def __init__(self, corpus: Corpus, scores: Scores) -> None:
        self._corpus = corpus
        self._scores = scores
        self._threads: dict[str, list[int]] = {}
        self._known: dict[int, dict[int, str]] = {}

    def of(self, number: int, header: Header) -> dict[int, str]:
        """Return the neighbours' numbers, and the id of each."""
        if number not in self._known:
            ends = self._linked(header)
            numbers = {found for end in ends for found in self._corpus.marked(f"id:{end}")}
            numbers.update(self._beside_in_thread(number, header))
            numbers.discard(number)
            self._known[number] = {found: self._corpus.header(found).id for found in numbers}
        return self._known[number]

    def _linked(self, header: Header) -> set[str]:
        """Return the ids that a document is linked with: by its own links, by those of others, and by later ones."""
        ends = {end for rel, end in header.links if rel != "contradicts"}
        cut: set[str] = set()
        for other in (self._corpus.header(found) for found in self._corpus.marked(f"end:{header.id}")):
            for rel, end in other.links:
                if rel != "contradicts" and header.id in (other.id, end):
                    (cut if rel == "unlinked" else ends).update((other.id, end))
        return ends - cut - {header.id}

    def _beside_in_thread(self, number: int, header: Header) -> list[int]:
        if not header.thread:
            return []
        if header.thread not in self._threads:
            members = self._corpus.marked(f"thread:{header.thread}")
            self._threads[header.thread] = sorted(
                members, key=lambda found: (self._corpus.header(found).time, self._corpus.header(found).path)
            )
        members = self._threads[header.thread]
        at = members.index(number)
        return members[max(at - 1, 0) : at] + members[at + 1 : at + 2]

    def words_of(self, number: int, header: Header) -> dict[str, tuple[float, str]]:
        """Return for each word of the question the most that a neighbour has of it, and that neighbour's id."""
        others = self.of(number, header)
        most = {
            word: max(((given.get(other, 0.0), identity) for other, identity in others.items()), default=(0.0, ""))
            for word, given in self._scores.given.items()
        }
        return {word: found for word, found in most.items() if found[0]}

    def beside(self, candidates: Sequence[tuple[int, Header]]) -> list[tuple[int, Header]]:
        """Return the neighbours of the best that have no word of the question themselves; no event is one."""
        known = {number for number, _ in candidates} | set(self._scores.total)
        found = [other for number, header in candidates[:LOOKED_AT] for other in self.of(number, header)]
        headers = ((other, self._corpus.header(other)) for other in dict.fromkeys(found) if other not in known)
        return [(other, header) for other, header in headers if header.kind != "event"]
