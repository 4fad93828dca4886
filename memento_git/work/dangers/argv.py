"""The words of a command line as options and what they are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
SHORTEST: Final = 2


class Options(NamedTuple):
    """Letters of short options, names of long ones with their values, and the other words."""

    letters: frozenset[str]
    names: tuple[tuple[str, str], ...]
    others: tuple[str, ...]
    after: tuple[str, ...]
    dashes: bool

    def has(self, letters: str = "", *names: str) -> bool:
        """Tell whether one of these was given; long names also cut short, as git and GNU take them."""
        return any(letter in self.letters for letter in letters) or any(self.named(name) for name in names)

    def named(self, name: str) -> bool:
        return any(
            name == given or (len(given) >= SHORTEST and name.startswith(given) and given not in EXACT)
            for given, _ in self.names
        )

    def value(self, name: str) -> str:
        return next((value for given, value in self.names if given == name), "")

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.others, *self.after)


EXACT: Final = frozenset({"all", "delete", "force", "exec", "no", "mirror", "prune", "hard", "quiet", "merge"})


def options(words: Sequence[str], valued: str = "", named: Sequence[str] = ()) -> Options:
    """Take words apart; `valued` are letters, and `named` long names, that take the next word for their value."""
    letters: set[str] = set()
    names: list[tuple[str, str]] = []
    others: list[str] = []
    waiting = list(reversed(words))
    while waiting:
        word = waiting.pop()
        if word == "--":
            return Options(frozenset(letters), tuple(names), tuple(others), tuple(reversed(waiting)), dashes=True)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            names.append((name, waiting.pop() if name in named and not equals and waiting else value))
        elif word.startswith("-") and len(word) > 1:
            for at, letter in enumerate(word[1:], 2):
                letters.add(letter)
                if letter in valued:
                    if at == len(word) and waiting:
                        names.append((letter, waiting.pop()))
                    else:
                        names.append((letter, word[at:]))
                    break
        else:
            others.append(word)
    return Options(frozenset(letters), tuple(names), tuple(others), (), dashes=False)


def program(word: str) -> str:
    """Return the name of the program that a first word starts, without its folder."""
    name = word.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(".exe").lower() if name.lower().endswith(".exe") else name
