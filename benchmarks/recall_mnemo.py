"""mnemo's published way of scoring notes for a message, written anew from its numbers.

Its word lists are not numbers; those below are the plain words of each topic. What it adds alike to every note of one
age, or knows only after a team has used it for a while (what was recalled before, what was confirmed), is nought here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Final

from recall_labels import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall_labels import Note, Question

TODAY: Final = date(2026, 11, 22)
TEXT_WEIGHT: Final = 3.0
LONG: Final = 30
FLOOR: Final = 0.5
CONFIDENCE: Final = 0.8
EXPANSIONS: Final = 50
CAUSAL: Final = frozenset({"caused_by", "depends_on", "blocks", "enables"})
WORDS: Final = re.compile(r"[a-z0-9_]+")
TOPICS: Final = (
    (r"architect|design|structur|component|module|layer", {"architecture": 0.8, "decisions": 0.8}),
    (r"error|bug|fail|crash|exception|traceback|debug|fix|broken|warning", {"issues": 1.0, "architecture": 0.3}),
    (r"decid|decision|chose|choice|instead|rather|trade", {"decisions": 0.8, "history": 0.8}),
    (r"convention|pattern|style|naming|standard|prefer", {"patterns": 0.8}),
    (r"(convention|pattern|style|naming|standard|prefer).*\?", {"patterns": 1.0}),
    (r"how (does|do)\b", {"architecture": 0.8}),
    (r"\bwhy\b", {"decisions": 1.0}),
    (r"\bwhere\b", {"architecture": 0.5}),
    (r"dependenc|librar|package|version|install|upgrade", {"dependencies": 0.8}),
    (r"task|todo|next|backlog|progress", {"tasks": 0.7}),
    (r"history|previous|before|when\b|changed|last time", {"history": 0.8}),
)


class Mnemo:
    """Notes, weighed by inverse document frequency once."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.notes = {note.id: note for note in notes}
        counts = {note.id: Counter(WORDS.findall(note.whole.lower())) for note in notes}
        seen = Counter(word for words in counts.values() for word in words)
        self.idf = {word: math.log(1 + len(notes) / number) for word, number in seen.items()}
        self.vectors = {name: self._vector(words) for name, words in counts.items()}
        self.unique = {name: len(words) or 1 for name, words in counts.items()}
        self.incoming: dict[str, list[tuple[str, str]]] = {}
        for note in notes:
            for relation, target in note.links:
                self.incoming.setdefault(target, []).append((relation, note.id))

    def _vector(self, words: Counter[str]) -> dict[str, float]:
        vector = {word: number * self.idf[word] for word, number in words.items() if word in self.idf}
        length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
        return {word: value / length for word, value in vector.items()}

    def answer(self, question: Question) -> Answer:
        """Rank all notes; what scores less than its floor for single notes is not shown by itself."""
        asked = self._vector(Counter(WORDS.findall(question.ask.lower())))
        topics = [boosts for pattern, boosts in TOPICS if re.search(pattern, question.ask.lower())]
        scores = {name: self._score(note, asked, topics) for name, note in self.notes.items()}
        for name in sorted(scores, key=lambda one: -scores[one])[:10]:
            self._spread(name, scores)
        best = sorted(scores, key=lambda name: (-scores[name], name))
        return Answer(best[:10], sum(scores[name] >= FLOOR for name in best[:10]))

    def _score(self, note: Note, asked: dict[str, float], topics: Sequence[dict[str, float]]) -> float:
        cosine = sum(weight * self.vectors[note.id].get(word, 0.0) for word, weight in asked.items())
        score = cosine * min(1.0, LONG / self.unique[note.id]) * TEXT_WEIGHT
        score += sum(boosts.get(note.domain, 0.0) for boosts in topics)
        days = (TODAY - date.fromisoformat(note.at)).days
        score += 0.3 if days < 1 else 0.1 if days < 7 else 0.0
        decayed = CONFIDENCE * max(0.3, 1 - 0.02 * days)
        return score * (0.5 + 0.5 * decayed)

    def _spread(self, start: str, scores: dict[str, float]) -> None:
        """Give linked notes, three steps away at most, a share of a note's score."""
        front, seen = [(start, scores[start])], {start}
        for _ in range(3):
            reached: list[tuple[str, float]] = []
            for name, score in front:
                forward = [(to, 0.6 if relation in CAUSAL else 0.4) for relation, to in self.notes[name].links]
                back = [(to, 0.5 if relation in CAUSAL else 0.3) for relation, to in self.incoming.get(name, ())]
                for to, share in forward + back:
                    if to not in seen and len(seen) <= EXPANSIONS:
                        seen.add(to)
                        scores[to] += score * share
                        reached.append((to, score * 0.6))
            front = reached
