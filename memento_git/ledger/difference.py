"""What differs between the ledger's folder in two trees, by blob."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.git import GitFailed
from memento_git.ledger.listed import ID_START, PLAIN_STARTS
from memento_git.ledger.trees import TYPES

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

ABSENT: Final = "000000"


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


def heads(git: Git, old: str, new: str) -> dict[str, str] | None:
    """Return path -> `mode type id`, '' where the file went, of what differs; None where git lacks a tree."""
    try:
        parts = os.fsdecode(git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new)).split("\0")
    except GitFailed:
        return None
    rows = ((head.split(" "), path) for head, path in zip(parts[::2], parts[1::2], strict=False))
    return {
        f"{layout.FOLDER}/{path}": f"{mode} {TYPES.get(mode, 'blob')} {new}" if mode != ABSENT else ""
        for (_, mode, _, new, _), path in rows
    }


def statuses(git: Git, old: str, new: str, folder: str) -> dict[str, str] | None:
    """Return path -> A, M, D or T of what differs between two trees of a folder; None where git lacks one."""
    try:
        told = git.run("diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new)
    except GitFailed:
        return None
    parts = os.fsdecode(told).split("\0")
    return {f"{folder}/{path}": status for status, path in zip(parts[::2], parts[1::2], strict=False)}
