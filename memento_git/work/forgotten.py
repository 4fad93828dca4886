"""Files that evidence saw and that were never committed: a clone lacks them of the code that passed here."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.model.enumeration import some
from memento_git.work.codes import is_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memento_git.ledger.git import Git

SHOWN: Final = 3


class _Held(NamedTuple):
    """The files of a commit: their paths, git's ids of their bytes, and their endings."""

    paths: frozenset[str]
    blobs: frozenset[str]
    endings: frozenset[str]


def forgotten(git: Git, commit: str, untracked: Mapping[str, str]) -> str:
    """Name the untracked files (path -> git id) whose paths and bytes a commit lacks; '' where it has them all.

    A file whose ending no file of the commit has is a note or an output, and not named.
    """
    if not untracked:
        return ""
    held = _held(git, commit)
    found = [path for path, blob in untracked.items() if path not in held.paths and blob not in held.blobs]
    return some(sorted(path for path in found if PurePosixPath(path).suffix in held.endings), SHOWN)


@lru_cache(maxsize=1)
def _held(git: Git, commit: str) -> _Held:
    """Return what a commit has beside the ledger; kept, for a branch may have many tasks and much code."""
    there = {path: entry.oid for path, entry in git.trees.listed("-r", commit).items() if is_code(path)}
    return _Held(frozenset(there), frozenset(there.values()), frozenset(PurePosixPath(path).suffix for path in there))


def warn(git: Git, warnings: list[str], code: Mapping[str, Any], seen: Iterable[Mapping[str, Any]]) -> None:
    """Warn of the untracked files of the work tree that evidence saw and that HEAD lacks."""
    named = {path for one in seen for path in one.get("untracked") or {}}
    left = {path: blob for path, blob in (code.get("untracked") or {}).items() if path in named}
    head = git.head()[0]
    if head and (names := forgotten(git, head, left)):
        warnings.append(
            f"the evidence saw what git does not track: {names}; commit what the work needs, or a clone lacks it"
        )
