"""Commits: their parents, and of the latest the files that each of them changed, under the names of now."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.environment import PATTERNS
from memento_git.model.clock import stamp
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

MARK: Final = "\x01"
CODE: Final = (":(top)", f":(top,exclude){layout.FOLDER}")
PARENTS: Final = re.compile(rb"tree [0-9a-f]+\n((?:parent [0-9a-f]+\n)*)")
AUTHOR: Final = re.compile(rb"(?m)^author ([^<\n]*?) ?<([^>\n]*)>(?: (\d+))?")
LATEST: Final = 253402300799  # the end of 9999: no later time is written down
PRINTED: Final = bytes(range(32, 127))
NOTES: Final = (f":(top){layout.KNOWLEDGE}",)


class Commit(NamedTuple):
    """One commit: its id, its time, and path -> letter (A, M, D, R, T) of what it changed."""

    id: str
    at: str
    paths: dict[str, str]


def is_cut_off(git: Git) -> bool:
    """Tell whether the history before some commit is not here."""
    return (git.common_dir / "shallow").exists()


def parents(git: Git, commit: str) -> list[str]:
    """Return the parents that a commit names where git reads them, whether this clone has them or not."""
    found = PARENTS.match(git.objects([commit])[0] or b"")
    return found[1].decode().split()[1::2] if found else []


def author_of(git: Git, commit: str, author: str, at: str, encoding: str) -> tuple[str, int]:
    """Return who wrote a commit, and when, in seconds since 1970: what git tells, or its bytes if it is encoded."""
    return author_in(git.objects([commit])[0] or b"") if encoding else (author, seconds_in(at))


def author_in(data: bytes) -> tuple[str, int]:
    """Return who the bytes of a commit say wrote it, and when, in seconds since 1970.

    git takes them for what they are in the encoding that the commit names: one of another alphabet makes nobody of
    whoever it is that a hosting service shows. Of several authors it is the last, as for git.
    """
    head = data.partition(b"\n\n")[0]
    _, _, encoding = head.partition(b"\nencoding ")
    if not (found := AUTHOR.findall(head)):
        return " <>", 0
    name, address, at = found[-1]
    told = _decoded(name, encoding.partition(b"\n")[0].decode("ascii", "replace"))
    return f"{told} <{address.decode(errors='replace')}>", seconds_in(at)


def seconds_in(told: str | bytes) -> int:
    """Return the seconds since 1970 that a commit tells, 0 for none: one that is made by hand tells any number."""
    return min(int(told[:18] or 0), LATEST)


def _decoded(name: bytes, encoding: str) -> str:
    """Return a name as text, in an encoding in which plain letters are what they are everywhere."""
    with suppress(LookupError, ValueError):
        if b"\x1b" not in name and PRINTED.decode(encoding) == PRINTED.decode("ascii"):
            return name.decode(encoding)
    return name.decode(errors="replace")


def authors(git: Git, *asked: str) -> list[tuple[str, str]]:
    """Return who wrote the commits that `git log` tells of, each with the parents that this clone has of it."""
    told = git.run("log", "-z", "--format=%H%x00%P%x00%an <%ae>%x00%e", *asked)
    parts = os.fsdecode(told).removesuffix("\0").split("\0") if told else []
    rows = zip(*(parts[start::4] for start in range(4)), strict=True)
    return [(author_of(git, one, author, "", encoding)[0], above) for one, above, author, encoding in rows]


def of_code(git: Git, tip: str, *, most: int, since: str = "") -> list[Commit]:
    """Return the latest commits that changed code, the latest first, each path under the name that it has at the tip.

    Merges are passed over: what they bring was changed by other commits.
    """
    return list(_renamed(_read(git, tip, "-M", CODE, most, since)))


def of_notes(git: Git, tip: str, *, most: int, since: str = "") -> list[Commit]:
    """Return the latest commits that changed notes, or events of theirs, the latest first."""
    return [Commit(one, at, {path: letter for letter, _, path in changes}) for one, at, changes in
            _read(git, tip, "--no-renames", NOTES, most, since)]  # fmt: skip


def _read(
    git: Git, tip: str, renames: str, paths: Sequence[str], most: int, since: str
) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Yield id, time and changes (letter, old path, path) of commits, by one git process."""
    told = git.run(
        "-c", "diff.renameLimit=400",
        "log", "--no-merges", renames, "--name-status", "-z", f"--format={MARK}%H %ct", f"--max-count={most}",
        *([f"--since={since}"] if since else []), tip, "--", *paths,
        extra=PATTERNS,
    )  # fmt: skip
    for part in os.fsdecode(told).split(MARK)[1:]:
        head, *rest = part.split("\0")
        commit, _, seconds = head.strip().partition(" ")
        at = stamp(seconds_in(seconds))
        if at >= since:  # git reads no date after 2099
            yield commit, at, list(_changes(word.lstrip("\n") for word in rest))


def _changes(words: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    for letter in words:
        if letter:
            old = next(words, "")
            yield letter[0], old, next(words, "") if letter[0] in "RC" else old


def _renamed(told: Iterator[tuple[str, str, list[tuple[str, str, str]]]]) -> Iterator[Commit]:
    """Yield commits, from the latest to older ones, with the later name of each file that was renamed since."""
    now: dict[str, str] = {}
    for commit, at, changes in told:
        paths = {now.get(path, path): letter for letter, _, path in changes}
        now |= {old: now.get(path, path) for letter, old, path in changes if letter == "R"}
        yield Commit(commit, at, paths)
