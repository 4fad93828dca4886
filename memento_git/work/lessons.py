"""What is worth keeping as a lesson: something that will still be true of the project next month. Pure."""

from __future__ import annotations

import re
from typing import Final

from memento_git.errors import Refused

FEWEST_WORDS: Final = 4
VOLATILE: Final = (
    ("names a record of the ledger", re.compile(r"\b(?:run|plan|task|dispatch|evidence|note|event)_[0-9a-z]{4,}\b")),
    ("names a commit", re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")),
    ("names a pull request", re.compile(r"\b(?:PR|MR|pull request|merge request)\s*[#!]?\d+\b", re.IGNORECASE)),
    ("names a place on one machine", re.compile(r"(?:^|\s)(?:/(?:home|tmp|Users|root|private)/|~/|[A-Z]:\\)")),
    ("is about now", re.compile(r"\b(?:today|yesterday|right now|at the moment|currently|just now)\b", re.IGNORECASE)),
)  # fmt: skip


class LessonVolatile(Refused):
    token = "lesson_volatile"
    sentence = "this is no lesson: it {why}"
    hint_ = "say what holds for the project, in a whole sentence, without what passes"


def refuse_volatile(lesson: str) -> None:
    """Refuse a lesson that will not be true for long."""
    if len(lesson.split()) < FEWEST_WORDS:
        raise LessonVolatile(why="is too short to tell anything")
    for why in (why for why, pattern in VOLATILE if pattern.search(lesson)):
        raise LessonVolatile(why=why)
