"""Something wrong in the ledger, as data."""

from __future__ import annotations

import shlex
from typing import Final

from memento_git.model.tuples import NamedTuple

WHOLE: Final = "restore what it was: memento doctor says from which commit"
OR: Final = f"{WHOLE}, or "
LETTERS: Final = {  # of each, the number that its codes go up to
    "A": 3, "C": 7, "D": 12, "E": 3, "F": 11, "G": 4, "K": 3, "L": 4, "N": 10, "P": 9, "Q": 1, "R": 1, "S": 1, "T": 7,
    "V": 2,
}  # fmt: skip
CODES: Final = tuple(f"{letter}{number + 1:03}" for letter, count in LETTERS.items() for number in range(count))
AWAY: Final = "git does not have this object"
PATTERN: Final = frozenset("*?[\\")
FETCHING: Final = "bring it from where you cloned: git fetch --refetch"


class Kind(NamedTuple):
    """What is known of a code; `severity` is that of a finding which nothing makes graver or lighter."""

    title: str
    severity: str
    meaning: str
    fix: str


class Lost(NamedTuple):
    """A file that is not what it was, and how the SHA-256 of what it was begins, where something tells that.

    What is absent has a pattern where only its id is known. `teller` is the file that tells: it may be the edited one.
    """

    path: str
    digest: str = ""
    teller: str = ""


class Finding(NamedTuple):
    """One thing that is wrong in a file of the ledger; `line` counts from 1, 0 means the whole file.

    `archive` is the file that alone holds that one.
    A fix that is `WHOLE` restores what is `lost`: the file itself, if nothing else is named. What follows it after an
    `OR` is for what no history has.
    """

    code: str
    path: str
    line: int
    message: str
    fix: str = ""
    severity: str = "error"
    lost: Lost | None = None
    archive: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.code} {self.message}"


def inside(archive: str) -> str:
    """Return the command that shows what an archive holds."""
    return shlex.join(["gzip", "-dc", archive])


def removing(path: str, *options: str) -> str:
    """Return the fix that takes a file out, whatever whoever put it there has called it."""
    return shlex.join(["git", "rm", *options, exactly(path)])


def exactly(path: str) -> str:
    """Return a path as git takes it for that one alone, where it would take it for a pattern of others."""
    return path if PATTERN.isdisjoint(path) else f":(literal){path}"


def leaving_out(path: str) -> str:
    """Return the fix that leaves the commit out of a branch that added a file: what came cannot be taken back."""
    told = "leave out the commit that did this, if it did nothing else"
    return (
        f"{told}: git log -1 --no-renames --diff-filter=A --format='git rebase --rebase-merges --onto %h^ %h' -- {path}"
    )


def restoring(path: str) -> str:
    """Return the fix that brings back what a file was before a commit changed or removed it last."""
    return f'restore what it was, and commit that: git checkout "$(git rev-list -1 HEAD -- {path})^" -- {path}'
