"""What is told where an answer, or what follows a change, cannot be written: whether the command may be run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from memento_git.errors import MementoError, Refused


class AnswerLost(MementoError):
    """A change that was made, by a command that could not say so; no refusal, for those change nothing."""

    token = "answer_lost"
    sentence = "the change is made (commit {commit}), but the answer could not be written: {problem}"
    hint_ = "do not run it again; see what it did: memento log --commits --limit 5"
    exit_code = 1


class FileSystemFailedLate(MementoError):
    token = "file_system_late"
    sentence = "{path}: {problem}, after the change was made (commit {commit})"
    hint_ = (
        "look at the file, its folder, its permissions and the space on its disk; see what was done before you run it "
        "again: memento log --commits --limit 5"
    )
    exit_code = 1


class AnswerUnwritten(Refused):
    token = "answer_unwritten"
    sentence = "the answer could not be written: {problem}"
    hint_ = "look at where the output goes; {then}"

    def __init__(self, *, problem: str, writing: bool) -> None:
        then = "look at what was done before you run it again: memento status" if writing else "then run it again"
        super().__init__(problem=problem, then=then)


def refuse(error: OSError, landed: Sequence[str], *, writing: bool) -> NoReturn:
    """Tell of an answer that nobody gets; `landed` are the commits that the command made."""
    problem = error.strerror or "it is closed"
    if landed:
        raise AnswerLost(commit=landed[-1][:12], problem=problem) from error
    raise AnswerUnwritten(problem=problem, writing=writing) from error
