"""Commands that destroy work, history or machines: in an argv, and in text that a worker will read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.work import dangers, shell, wrappers

if TYPE_CHECKING:
    from collections.abc import Sequence

PROTECTED: Final = ("main", "master")
DEEPEST: Final = 8
MOST_TEXT: Final = 64 * 1024


class Danger(NamedTuple):
    """A command that a rule finds destructive, why, and the line of the text that it stands in."""

    rule: str
    command: str
    why: str
    line: int = 1


def in_argv(argv: Sequence[str], protected: Sequence[str] = PROTECTED) -> list[Danger]:
    """Return what is destructive in a command that is started without a shell."""
    words = tuple(word.replace("\0", "") for word in argv)
    return _Judge(protected).all([(shell.Call(words, " ".join(words)[: shell.MOST_LETTERS]), 0)])


def in_script(text: str, protected: Sequence[str] = PROTECTED) -> list[Danger]:
    """Return what is destructive in a text that a shell would run."""
    return _Judge(protected).script(text)


def in_text(text: str, protected: Sequence[str] = PROTECTED) -> list[Danger]:
    """Return what is destructive among the commands that a text for people and workers names."""
    return _Judge(protected).script(text)


class _Judge:
    def __init__(self, protected: Sequence[str]) -> None:
        self.protected = protected
