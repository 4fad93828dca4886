"""What differs between two trees: in the ledger's folder file by file, and from what several bases come to together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memento_git.ledger import layout
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.tree_listing import FILE_MODES, ID_START, PLAIN_STARTS, TreeListing
from memento_git.ledger.trees import TREE, TYPES, TreeOdd
from memento_git.model.tuples import NamedTuple

ABSENT: Final = "000000"
NO_INDEX: Final = "memento/no-index"
RECORDS: Final = (f"{layout.RUNS}/", f"{layout.ARCHIVE}/", f"{layout.KNOWLEDGE}/")


class Changed(NamedTuple):
    """One path that differs: the mode and blob of both sides, nothing for the blob where it is absent."""

    path: str
    old_mode: str
    mode: str
    old: str
    new: str

    @property
    def is_added(self) -> bool:
        return not self.old

    @property
    def is_removed(self) -> bool:
        return not self.new


def change_of(head: str, path: str) -> Changed:
    """Return what a raw line of git's says of a path."""
    old_mode, mode, old, new, _ = head[1:].split(" ")
    return Changed(path, old_mode, mode, *(oid.strip("0") and oid for oid in (old, new)))


def files_of(told: Iterable[Changed]) -> list[Changed]:
    """Return the files of what git tells with their folders (`-t`); refuse what it tells of no tree of its own."""
    changes = [*told]
    folders = {"", *(one.path for one in changes if one.mode == TREE)}
    found: dict[str, Changed] = {}
    for one in changes:
        modes = {one.old_mode, one.mode}
        is_folder = TREE in modes and modes <= {TREE, ABSENT}
        is_lost = one.new and one.path.rpartition("/")[0] not in folders
        if is_lost or (not is_folder and (TREE in modes or one.path in found)):
            raise TreeOdd(path=one.path)
        if not is_folder:
            found[one.path] = one
    return [*found.values()]


def _head(mode: str, oid: str) -> str:
    """Return `mode type id` of one side of a path, as git lists a tree; nothing where nothing is."""
    return f"{mode} {TYPES.get(mode, 'blob')} {oid}" if oid else ""


def told(git: Git, *asked: str, extra: Mapping[str, str] | None = None) -> list[str]:
    """Return what git tells of what differs between two trees, in its parts; a file that moved went and came.

    Git would read the whole index for it, which a comparison of trees has no use for: it is led to none.
    """
    no_index = {"GIT_INDEX_FILE": str(git.git_dir / NO_INDEX), **(extra or {})}
    return os.fsdecode(git.run("diff-tree", "-r", "-z", "--no-renames", *asked, extra=no_index)).split("\0")[:-1]


def raw(git: Git, *asked: str) -> list[Changed]:
    """Return what differs between two trees, file by file; a file that moved went and came."""
    parts = told(git, "--raw", *asked)
    return [change_of(head, path) for head, path in zip(parts[::2], parts[1::2], strict=False)]


def tree_of(git: Git, commit: str) -> str:
    """Return the tree of the ledger's folder in a commit; nothing where there is none."""
    found = git.stored([f"{commit}:{layout.FOLDER}"])[0]
    return found.oid if found is not None and found.type == "tree" else ""


def blobs(git: Git, tree: str) -> dict[str, str]:
    """Return path -> blob of all plain files in a tree of the ledger's folder."""
    found: dict[str, str] = {}
    for line in os.fsdecode(git.run("ls-tree", "-r", "-z", "--full-tree", tree)).split("\0")[:-1] if tree else ():
        head, _, path = line.partition("\t")
        if line.startswith(PLAIN_STARTS):
            found[f"{layout.FOLDER}/{path}"] = head[ID_START:]
    return found


def changed(git: Git, old: str, new: str) -> dict[str, str] | None:
    """Return path -> blob ('' where the file went) of what differs; None where git no longer has the old tree."""
    if old == new:
        return {}
    if not old or not new:
        return blobs(git, new) if not old else dict.fromkeys(blobs(git, old), "")
    found = heads(git, old, new)
    return found and {path: head[ID_START:] if head.startswith(PLAIN_STARTS) else "" for path, head in found.items()}


def heads(git: Git, old: str, new: str, known: TreeListing | None = None) -> dict[str, str] | None:
    """Return path -> `mode type id`, '' where the file went, of what differs.

    None where git lacks a tree, or where it tells something else of a path than is `known` of the old tree, or two
    things: one of the trees names a file twice then.
    """
    try:
        found = raw(git, old, new)
    except GitFailed:
        return None
    told = {f"{layout.FOLDER}/{one.path}": one for one in found}
    if len(told) < len(found) or (known and any((known.blob(path) or "") != one.old for path, one in told.items())):
        return None
    return {path: _head(one.mode, one.new) for path, one in told.items()}


def statuses(git: Git, old: str, new: str, folder: str) -> dict[str, str] | None:
    """Return path -> A, M, D or T of what differs between two trees of a folder; None where git lacks one."""
    try:
        parts = told(git, "--name-status", old, new)
    except GitFailed:
        return None
    return {f"{folder}/{path}": letter for letter, path in zip(parts[::2], parts[1::2], strict=True)}


def in_ledger(git: Git, base: str, head: str) -> list[Changed]:
    """Return what differs below `.memento` between two trees, and whether git's attributes at the top do.

    What lies behind these at the top of the head, git would not tell: it is refused.
    """
    git.trees.top(head)
    asked = ("-t", "--ignore-submodules=none", base, head, "--", layout.FOLDER, layout.TOP_ATTRIBUTES)
    return files_of(raw(git, *asked))


def note_base(git: Git, base: str, head: str, found: Iterable[Changed]) -> None:
    """Let it be known what a base has in the ledger, from what its head has and what differs, without asking git."""
    told = {one.path: _head(one.old_mode, one.old) for one in found if one.path.startswith(f"{layout.FOLDER}/")}
    git.trees.differs(head, base, told)


def from_bases(git: Git, bases: Sequence[str], head: str) -> tuple[list[Changed], dict[str, str]]:
    """Return what differs from what several bases come to together, and path -> blob of that, '' where nothing is.

    That is what one of them made of what they had in common, so that what came from any of them is nothing that the
    head did; of policy it is what the first base has. Only of records it is among the blobs.
    """
    told = [{change.path: change for change in in_ledger(git, base, head)} for base in bases]
    if len(bases) == 1:
        return [*told[0].values()], {}
    common = git.answer("merge-base", "--octopus", *bases)
    there = {**git.files(common), **git.entries(common, layout.TOP_ATTRIBUTES)} if common else {}
    found: list[Changed] = []
    known: dict[str, str] = {}
    for path in sorted({path for one in told for path in one}):
        change = next(one[path] for one in told if path in one)
        sides = [(one[path].old_mode, one[path].old) if path in one else (change.mode, change.new) for one in told]
        before = there[path].oid if path in there else ""
        sides = sides[:1] if path == layout.CONFIG else [side for side in sides if side[1] != before] or sides
        if path.startswith(RECORDS):
            known[path] = sides[0][1] if sides[0][0] in FILE_MODES else ""
        if (change.mode, change.new) not in sides:
            found.append(change._replace(old_mode=sides[0][0], old=sides[0][1]))
    return found, known
