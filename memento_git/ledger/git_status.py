"""What git's status says of a work tree: what differs from HEAD, in the index or beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from memento_git.errors import Refused
from memento_git.ledger import journal, layout
from memento_git.ledger.git import Git
from memento_git.ledger.git_future import GitFuture
from memento_git.ledger.reader import AT_ONCE
from memento_git.model.enumeration import some
from memento_git.model.tuples import NamedTuple

FRESH: Final = 0.5
NEW: Final = "?A"  # what HEAD has not
UNTRACKED: Final = "??"
PUT_BACK: Final = "put them back, which overwrites edits there: git checkout HEAD -- .memento"
SINGLY: Final = ("-c", "core.preloadIndex=false")  # for a few files, no threads that go through all of the index
PLAIN: Final = ("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--no-renames", "-z")


class UncommittedLedger(Refused):
    token = "ledger_edited"
    sentence = "ledger files have edits that are not committed: {paths}"
    hint_ = "commit them or put them back (git diff HEAD .memento shows them), then run the command again"


class RemovedLedger(UncommittedLedger):
    """They are not in the index, as in a clone without a checkout: a commit of that would take them away."""

    sentence = "ledger files of HEAD are not in the index: {paths}"
    hint_ = f"{PUT_BACK}; then run the command again"


class UnfinishedLedger(UncommittedLedger):
    """Nobody edited them: what was committed before has not come to the work tree or the index."""

    sentence = "work tree or index could not follow an earlier change of these files: {paths}"
    hint_ = "free some space, or let the other git end, then run the command again; memento doctor says what is left"


class Change(NamedTuple):
    """What `git status` says of one path: the letters of index and work tree, '??' for untracked."""

    letters: str
    path: str

    @property
    def is_unstaged(self) -> bool:
        """Tell whether HEAD has the file, and the index has not."""
        return self.letters == "D."


class WorkTree(NamedTuple):
    """The branch (None: detached), and what differs from HEAD."""

    branch: str | None
    changes: tuple[Change, ...]


def ask(git: Git, *paths: str, untracked: str = "all") -> GitFuture:
    """Let git begin to look at paths of the index and the work tree."""
    how = () if any(path == layout.FOLDER or path.endswith("/") for path in paths) else SINGLY
    return GitFuture(git, *how, *PLAIN, f"--untracked-files={untracked}", "--", *paths)


def told(asked: GitFuture) -> list[Change]:
    """Wait until git has looked, and return what differs there."""
    return [*_changes(asked.answer())]


def changes(git: Git, folder: str) -> list[Change]:
    """Return what differs in a folder, untracked files by name."""
    return told(ask(git, folder))


class StatusFuture(GitFuture):
    """git's look at the whole work tree, at an untracked folder by its name alone, while the caller goes on."""

    def __init__(self, git: Git, *, untracked: bool) -> None:
        option = f"--untracked-files={'normal' if untracked else 'no'}"
        super().__init__(git, *PLAIN, option, "--ignore-submodules=dirty")
        self.untracked = untracked
        self._known: WorkTree | None = None
        self._when = 0.0

    @property
    def is_fresh(self) -> bool:
        """Tell whether git is still looking, or had looked just now."""
        return self._known is None or time.monotonic() - self._when < FRESH

    def seen(self) -> WorkTree:
        """Return what git saw; wait for it when it is first asked for."""
        if self._known is None:
            output = self.answer()
            heads = [part[14:] for part in os.fsdecode(output).split("\0") if part.startswith("# branch.head ")]
            branch = heads[0] if heads and heads[0] != "(detached)" else None
            self._known, self._when = WorkTree(branch, tuple(_changes(output))), time.monotonic()
        return self._known


@contextmanager
def unedited(git: Git, paths: set[str], status: StatusFuture | None = None) -> Iterator[None]:
    """Refuse at the end of the block where a path of the ledger, or what HEAD has in `a/`, differs from HEAD.

    A path that HEAD has not, and the block makes, differs where something is staged at it.

    git looks while the block runs, unless it does so already, or has just looked at the work tree.
    """
    if status is not None and status.is_fresh:
        yield
        _refuse(git, status.seen().changes, paths)
        return
    if not paths:
        yield
        return
    asked = ask(git, *(sorted(paths) if len(paths) <= AT_ONCE else [layout.FOLDER]), untracked="no")
    try:
        yield
    except BaseException:
        asked.drop()
        raise
    _refuse(git, told(asked), paths)


def by_hand(git: Git, changes: Iterable[Change]) -> list[Change]:
    """Return those of some changes that are somebody's edits, and not what an interrupted change has yet to bring."""
    held = [*changes]
    if not (held and journal.pending(git)):
        return held
    from memento_git.ledger import worktree

    left = worktree.unfinished(git, {one.path for one in held})
    return [one for one in held if one.path not in left]


def edited(git: Git, changes: Sequence[Change]) -> list[Change]:
    """Return those of some changes that somebody made; refuse where all of them wait to be finished."""
    real = by_hand(git, changes)
    if changes and not real:
        raise UnfinishedLedger(paths=some([one.path for one in changes], 5))
    return real


def _refuse(git: Git, changes: Iterable[Change], relied: set[str]) -> None:
    folders = tuple(path for path in relied if path.endswith("/"))
    held = (change for change in changes if change.letters != UNTRACKED)
    found = [
        one for one in held
        if one.path in relied or (one.path.startswith(folders) and one.letters[0] not in NEW)
    ]  # fmt: skip
    if real := edited(git, found):
        paths = some([one.path for one in real], 5)
        if all(one.is_unstaged for one in real):
            raise RemovedLedger(paths=paths)
        raise UncommittedLedger(paths=paths)


def _changes(output: bytes) -> Iterator[Change]:
    for part in os.fsdecode(output).split("\0"):
        if part.startswith("1 "):
            yield Change(part[2:4], part.split(" ", 8)[8])
        elif part.startswith("u "):
            yield Change(part[2:4], part.split(" ", 10)[10])
        elif part.startswith("? "):
            yield Change(UNTRACKED, part[2:])
