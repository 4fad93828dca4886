"""Untracked files of code that passed here: a clone lacks those that evidence saw, and nothing shows of the others."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import some
from memento_git.model.tuples import NamedTuple
from memento_git.work.proof.codes import code_seen, is_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memento_git.ledger.git import Git
    from memento_git.model.work import Evidence

SHOWN: Final = 3
SEEN: Final = "the evidence saw what git does not track: {names}; commit what the work needs, or a clone lacks it"
UNSEEN: Final = (
    "the evidence did not see what git does not track: {names}; commit what the work needs, and run the command again"
)


class _Held(NamedTuple):
    """The files of a commit: the tree of its code, their paths, git's ids of their bytes, and their endings."""

    tree: str
    paths: frozenset[str]
    blobs: frozenset[str]
    endings: frozenset[str]


def forgotten(git: Git, commit: str, untracked: Mapping[str, str], tree: str | None) -> str:
    """Name the untracked files (path -> git id) whose paths and bytes a commit lacks; '' where it has them all.

    They lay beside tracked code of this tree. Where the commit has just that, bytes which it has are not theirs: they
    were there already, as those of an empty file are. A file whose ending no file of the commit has is a note or an
    output, and not named.
    """
    if not untracked:
        return ""
    held = _held(git, commit)
    came = held.blobs if tree != held.tree else ()
    found = [path for path, blob in untracked.items() if path not in held.paths and blob not in came]
    return some(sorted(path for path in found if PurePosixPath(path).suffix in held.endings), SHOWN)


@lru_cache(maxsize=1)
def _held(git: Git, commit: str) -> _Held:
    """Return what a commit has beside the ledger; kept, for a branch may have many tasks and much code."""
    from memento_git.work.codestate import tree_at

    there = {path: entry.oid for path, entry in git.trees.listed("-r", commit).items() if is_code(path)}
    endings = frozenset(PurePosixPath(path).suffix for path in there)
    return _Held(tree_at(git, commit), frozenset(there), frozenset(there.values()), endings)


def remarks(git: Git, code: Mapping[str, Any], judged: Sequence[Evidence]) -> Iterator[str]:
    """Yield what to say of untracked files of the work tree that HEAD lacks: that evidence saw, and that it did not."""
    left = code.get("untracked") or {}
    named = {path for one in judged for path in code_seen(one.data).get("untracked") or {}}
    head = git.head()[0]
    for told, files in (
        (SEEN, {path: blob for path, blob in left.items() if path in named}),
        (UNSEEN, _unseen(left, [one.data for one in judged])),
    ):
        if head and (names := forgotten(git, head, files, code.get("tree"))):
            yield told.format(names=names)


def _unseen(left: Mapping[str, str], judged: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the untracked files that no command about all code saw or wrote; none where that is not known."""
    moments = [[data["code"], data.get("code_after") or {}] for data in judged if {"command", "code"} <= data.keys()]
    whole = [moment for before, after in moments if "paths" not in before for moment in (before, after)]
    if not whole or any(moment.get("untracked_more") for moment in whole):
        return {}
    known = {path for moment in whole for path in moment.get("untracked") or {}}
    return {path: blob for path, blob in left.items() if path not in known}
