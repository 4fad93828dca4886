"""What git's status says of a work tree: what differs from HEAD, in the index or beside it."""

from __future__ import annotations

import os
import time
import weakref
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.ledger.git import AT_ONCE, GitFailed, end_group, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.git import Git

PLAIN: Final = ("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--no-renames", "-z")


class Change(NamedTuple):
    """What `git status` says of one path: the letters of index and work tree, '??' for untracked."""

    letters: str
    path: str


class WorkTree(NamedTuple):
    """The branch (None: detached), what differs from HEAD, whether untracked files were asked for, and when."""

    branch: str | None
    changes: tuple[Change, ...]
    untracked: bool
    when: float


class Asked:
    """A question to git that is being answered while the caller goes on."""

    def __init__(self, git: Git, folder: str) -> None:
        self._process = git.begin(*PLAIN, "--untracked-files=all", "--", folder, extra=git.extra)
        self._end = weakref.finalize(self, end_group, self._process)

    def changes(self) -> list[Change]:
        """Wait for the answer, and return what differs in the folder."""
        output, errors = self._process.communicate()
        self._end.detach()
        if self._process.returncode:
            raise GitFailed(command="status", reason=reason_of(errors, self._process.returncode))
        return list(_changes(output))

    def drop(self) -> None:
        """Wait for nothing any more."""
        self._end()


def changes(git: Git, folder: str) -> list[Change]:
    """Return what differs in a folder, untracked files by name."""
    return Asked(git, folder).changes()


def work_tree(git: Git, *, untracked: bool) -> WorkTree:
    """Return the branch and what differs anywhere; an untracked folder by its name alone."""
    option = f"--untracked-files={'normal' if untracked else 'no'}"
    output = git.run(*PLAIN, option, "--ignore-submodules=dirty")
    heads = [part[14:] for part in os.fsdecode(output).split("\0") if part.startswith("# branch.head ")]
    branch = heads[0] if heads and heads[0] != "(detached)" else None
    return WorkTree(branch, tuple(_changes(output)), untracked, time.monotonic())


def edited(git: Git, folder: str, paths: set[str]) -> list[Change]:
    """Return which of these tracked paths of a folder differ from HEAD in index or work tree."""
    asked = sorted(paths) if len(paths) <= AT_ONCE else [folder]
    output = git.run(*PLAIN, "--untracked-files=no", "--", *asked) if asked else b""
    return [change for change in _changes(output) if change.path in paths]


def _changes(output: bytes) -> Iterator[Change]:
    for part in os.fsdecode(output).split("\0"):
        if part.startswith("1 "):
            yield Change(part[2:4], part.split(" ", 8)[8])
        elif part.startswith("u "):
            yield Change(part[2:4], part.split(" ", 10)[10])
        elif part.startswith("? "):
            yield Change("??", part[2:])
