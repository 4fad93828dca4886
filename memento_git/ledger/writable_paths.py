"""The places in the work tree that a change needs: below no link, in folders that may be written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memento_git.errors import Refused
from memento_git.ledger import layout
from memento_git.ledger.lock import NotWritable

if TYPE_CHECKING:
    from memento_git.ledger.git import Git


class UnsafePath(Refused):
    token = "workspace_unsafe"
    sentence = "{path} is a symbolic link, so a file below it might land outside the repository"
    hint_ = "{fix}"


class PlaceTaken(Refused):
    token = "place_taken"
    sentence = "{path} is a {what}, and the ledger needs a {needed} there"
    hint_ = "move it away, then run the command again; nothing was changed"


def refuse_links(git: Git, path: str) -> None:
    """Refuse a path that a symbolic link would lead elsewhere."""
    if git.top is not None and (folder := linked(git.top, path)):
        raise UnsafePath(path=folder.relative_to(git.top), fix=replacing(git))


def refuse_unwritable(git: Git, paths: Iterable[str]) -> None:
    """Refuse paths at which nobody could write: a commit that the work tree cannot show would be taken back by hand."""
    top = git.top
    if top is None:
        return
    folders = {git.git_dir / "memento" / "tmp"}
    for path in paths:
        refuse_links(git, path)
        target = top / path
        folders.add(target.parent)
        if target.is_dir() and not target.is_symlink():
            raise PlaceTaken(path=path, what="folder", needed="file")
    for folder in sorted(folders):
        there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        if not there.is_dir():
            raise PlaceTaken(path=os.path.relpath(there, top), what="file", needed="folder")
        if not os.access(there, os.W_OK | os.X_OK):
            raise NotWritable(reason=f"no permission for {os.path.relpath(there, top)}")


def replacing(git: Git) -> str:
    """Return the words that put the ledger's folder in a link's place: the one HEAD has, or had before the link."""
    from memento_git.ledger import missing_ledger

    head = git.head()[0]
    if head and missing_ledger.stranger(git, head):
        return missing_ledger.taking_out(git)
    if not (head and git.entries(head, layout.FOLDER)):
        return f"take the link away, for git has nothing of it: rm {layout.FOLDER}"
    return f"replace the link by the folder that git has: git checkout HEAD -- {layout.FOLDER}"


def linked(top: Path, path: str) -> Path | None:
    """Return the first folder on the way to a path that is a symbolic link."""
    folder = top
    for part in path.split("/")[:-1]:
        folder = folder / part
        if folder.is_symlink():
            return folder
    return None
