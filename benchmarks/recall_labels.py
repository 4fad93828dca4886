"""The labelled set for recall: notes, questions, and how many of the right notes an engine puts on top."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER: Final = Path(__file__).parent / "labels" / "recall"
FURTHER: Final = FOLDER / "further"  # sets of other things, by other hands: a folder each
ANSWERED: Final = ("same_words", "paraphrase", "identifier", "error_message", "time", "why")
UNANSWERED: Final = "no_answer"


class Note(NamedTuple):
    """What a team wrote down once; the id is for the labels, no engine is given it."""

    id: str
    kind: str
    domain: str
    title: str
    text: str
    at: str
    key: str = ""
    tags: tuple[str, ...] = ()
    thread: str = ""
    links: tuple[tuple[str, str], ...] = ()

    @property
    def whole(self) -> str:
        """Return all words of the note, for an engine that has one field."""
        return "\n".join((self.title, self.key, " ".join(self.tags), self.text))


class Question(NamedTuple):
    """What somebody asks, and the notes that hold the answer."""

    ask: str
    kind: str
    notes: tuple[str, ...]
    topic: str = ""


class Answer(NamedTuple):
    """What an engine answers: ids of notes, best first, and how many of them pass a floor of its own."""

    ids: Sequence[str]
    passing: int


class Scores(NamedTuple):
    """How well an engine answered the questions of one kind, or of all."""

    recall5: float
    recall10: float
    mrr: float
    empty: float
    empty_above_floor: float


def read_notes(folder: Path = FOLDER) -> list[Note]:
    rows = [row for path in sorted(folder.glob("notes-*.yaml")) for row in _rows(path)]
    return [_note(row) for row in rows]


def _note(row: dict[str, Any]) -> Note:
    links = tuple((link["rel"], link["to"]) for link in row.get("links", ()))
    return Note(**{**row, "at": str(row["at"]), "tags": tuple(row.get("tags", ())), "links": links})


def read_questions(folder: Path = FOLDER) -> list[Question]:
    return [Question(**{**row, "notes": tuple(row["notes"])}) for row in _rows(folder / "questions.yaml")]


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return rows


def judged(questions: Sequence[Question], answers: Sequence[Answer]) -> Scores:
    """Score the answers to questions that have one."""
    pairs = list(zip(questions, answers, strict=True))
    return Scores(
        mean(_share(question, answer, 5) for question, answer in pairs),
        mean(_share(question, answer, 10) for question, answer in pairs),
        mean(_reciprocal(question, answer) for question, answer in pairs),
        mean(not answer.ids for _, answer in pairs),
        mean(not answer.passing for _, answer in pairs),
    )


def _share(question: Question, answer: Answer, most: int) -> float:
    return len(set(question.notes) & set(answer.ids[:most])) / len(question.notes)


def _reciprocal(question: Question, answer: Answer) -> float:
    return next((1 / rank for rank, found in enumerate(answer.ids[:10], 1) if found in question.notes), 0.0)


def false_answers(answers: Sequence[Answer], *, above_floor: bool) -> float:
    """Return the share of questions without an answer that got one all the same."""
    return mean(bool(answer.passing if above_floor else answer.ids) for answer in answers)
