"""Paths of code as people type them: from the top of the repository, or from the folder that they are in."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from difflib import get_close_matches
from os.path import lexists
from pathlib import Path, PurePosixPath
from posixpath import basename, isabs, normpath, relpath

from memento_git.errors import Refused
from memento_git.ledger import snapshots
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.snapshots import Reader, Snapshot
from memento_git.ledger.trees import Entry
from memento_git.model import anchors


class CodeUnreadable(Refused):
    token = "code_unreadable"
    sentence = "{path} is not shown: {why}"
    hint_ = "code views show files of this repository that hold text in UTF-8: memento code ls"


def chosen(git: Git, given: str, known: Container[str]) -> str:
    """Return the path from the top that a typed path means; nothing for the top itself; refuse what lies outside."""
    meant = _inside(git, given)
    if not meant:
        raise CodeUnreadable(path=given, why="it lies outside of this repository")
    return next((one for one in meant if not one or one in known), meant[0])


def instead(path: str, entries: Mapping[str, Entry], known: Collection[str]) -> str:
    """Return what is there and a path is not: the submodule that it is in, or what is most like it, if anything is."""
    above = (one for one in map(str, PurePosixPath(path).parents) if one in entries and entries[one].type == "commit")
    if module := next(above, ""):
        return f"{module} is a submodule, a repository of its own"
    same = [one for one in known if basename(one) == basename(path)]
    near = get_close_matches(path, same, 1, 0) or get_close_matches(path, known, 1)
    return f"there is {near[0]}" if near else ""


def from_top(git: Git, given: str) -> str:
    """Return the path from the top that a typed path means, whether it is there or not; what lies outside as it is."""
    meant = [one for one in _inside(git, given) if one] if given else []
    there = (one for one in meant if git.top is not None and lexists(git.top / one))
    return next(there, meant[0] if meant else given)


def places(git: Git, typed: Iterable[str]) -> tuple[str, ...]:
    """Return places that a note is about as they are typed, each with its path from the top."""
    found = (anchors.parse(_rooted(git, one.strip())) for one in typed)
    return tuple(str(one._replace(path=_there(git, one.path)) if one.is_place else one) for one in found)


def _rooted(git: Git, typed: str) -> str:
    """Return a place whose path begins with a dot or a slash with it from the top; what lies outside as it is."""
    path, colon, rest = typed.partition(":")
    if git.top is None or not path.startswith(("./", "../", "/")):
        return typed
    inside = next(filter(None, _inside(git, path)), "")
    return f"./{inside}{colon}{rest}" if inside else typed


def _there(git: Git, path: str) -> str:
    """Return the path from the top that a typed one means: what is there from here, where nothing is from the top."""
    top = git.top
    return next((one for one in _inside(git, path) if one and top is not None and lexists(top / one)), path)


def _inside(git: Git, given: str) -> list[str]:
    """Return what a typed path may mean within the repository, the likeliest first; nothing is its top."""
    return [one for one in _candidates(git, given) if one != ".." and not one.startswith("../")]


def _candidates(git: Git, given: str) -> list[str]:
    """Return what a typed path may mean, the likeliest first."""
    if git.top is None:
        return ["../"] if isabs(given) else [_plain(given)]
    top = git.top.resolve()
    if isabs(given):
        place = Path(given)
        return [_plain(relpath(str(place.parent.resolve() / place.name), str(top)))]
    here = _plain(relpath(str(git.start.resolve()), str(top)))
    from_here = _plain(f"{here}/{given}") if here and not here.startswith("..") else _plain(given)
    if not given or given.split("/", maxsplit=1)[0] not in (".", ".."):
        return [_plain(given), from_here]
    return [from_here]


def _plain(path: str) -> str:
    found = normpath(path) if path else ""
    return "" if found == "." else found


def work_tree_now(git: Git, reader: Reader, given: str = "") -> Snapshot:
    """Return the work tree as it is now, with the one file that is asked for although git does not track it.

    One that git is told to ignore is refused: what is kept out of the repository is often secret.
    """
    now = reader.work_tree()
    path = chosen(git, given, now.entries) if given else ""
    place = (git.top or git.git_dir) / path
    if not path or path in now.entries or place.is_symlink() or not place.is_file():
        return now
    if (size := place.stat().st_size) > snapshots.LARGEST:
        raise CodeUnreadable(path=path, why=f"it has {size} bytes; up to {snapshots.LARGEST} are looked into")
    try:
        now = reader.work_tree([path])
    except GitFailed:
        return now  # git sees no file of its own there: a submodule, or a folder behind a link
    if path in reader.ignored:
        raise CodeUnreadable(path=path, why="git is told to ignore it")
    return now
