"""What differs in the code between two commits, whatever a checkout's attributes say of its files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger.commits import CODE
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.tree_diff import NO_INDEX
from memento_git.model.enumeration import some
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import PLACE
from memento_git.texts.secrets import find_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.model.objection import Objection

COMPARED: Final = ("diff-tree", "-r", "--no-textconv", "--ignore-submodules=none")
SHOWN: Final = 3


class Changes(NamedTuple):
    """The paths that differ, those of them that a record may name, and how many lines came and went."""

    paths: tuple[str, ...]
    files: tuple[str, ...]
    added: int
    removed: int

    @property
    def unnamed(self) -> int:
        return len(self.paths) - len(self.files)


def between(git: Git, first: str, last: str) -> Changes:
    """Return what differs in the code of two commits."""
    told = os.fsdecode(_told(git, "--numstat", "-z", "--no-renames", first, last))
    rows = [line.split("\t", 2) for line in told.split("\0")[:-1]]
    paths = tuple(row[2] for row in rows)
    files = tuple(path for path in paths if PLACE.fits(path) and not find_secrets(path))
    added, removed = (sum(int(row[side]) for row in rows if row[side].isdigit()) for side in (0, 1))
    return Changes(paths, files, added, removed)


def patch_id(git: Git, first: str, last: str) -> str:
    """Return by what git knows the same change elsewhere."""
    return git.run("patch-id", "--stable", data=_told(git, "-p", first, last)).decode().split()[0]


def _told(git: Git, *asked: str) -> bytes:
    """Return what git tells of what differs from where no `.gitattributes` lies, and in no index either.

    By those of the checkout a branch could call what it changes binary: nothing of that would be told or counted.
    """
    place = str(git.git_dir)
    aside = {"GIT_DIR": place, "GIT_WORK_TREE": place, "GIT_INDEX_FILE": str(git.git_dir / NO_INDEX)}
    extra = {**aside, **PATTERNS}
    return git.run("-c", f"core.attributesFile={os.devnull}", "-C", place, *COMPARED, *asked, "--", *CODE, extra=extra)


def known(git: Git, told: Mapping[str, Any]) -> Changes | None:
    """Return what really differs between the commits that a record of a diff names; None where they are not all here.

    A partial clone may have the commits, and no files of them to compare, nor anybody who gives it them.
    """
    first, last = (git.commit(told[name]) for name in ("base", "tip"))
    try:
        return between(git, first, last) if first and last else None
    except GitFailed:
        return None


def untrue(told: Mapping[str, Any], held: Changes) -> Objection:
    """Return in which files a record of a diff is not what its commits differ in, or nothing."""
    named = told.get("files") or ()
    if left := [path for path in held.files if path not in named]:
        return f"leaves out {some(left, SHOWN)}"
    more = [path for path in named if path not in held.paths]
    return f"names {some(more, SHOWN)}, which is the same in both" if more else ""


def miscounted(told: Mapping[str, Any], held: Changes) -> Objection:
    """Return that a record of a diff counts other lines than came and went, or nothing."""
    lines, real = (told["added"], told["removed"]), (held.added, held.removed)
    return "" if lines == real else "tells of +{} -{} lines, and +{} -{} came out".format(*lines, *real)
