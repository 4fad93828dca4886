"""What the commits of a branch did to ledger files, one by one, and what the one that is staged will do."""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from memento_git.ledger import layout, tree_diff
from memento_git.ledger.commits import author_of
from memento_git.ledger.git import Git
from memento_git.ledger.tree_diff import Changed


class Authored(NamedTuple):
    """A commit of the range: its author, since when (seconds since 1970), and the ledger files that it added."""

    commit: str
    author: str
    paths: tuple[str, ...]
    at: int = 0


class Written(NamedTuple):
    """Bytes that a commit gave a file: what none of its parents has, or a merge that drops what a side made of it.

    `at` is when its author wrote it, in seconds since 1970, also where it was picked for the branch later.
    """

    commit: str
    author: str
    blob: str
    is_new: bool
    at: int = 0


class BranchHistory(NamedTuple):
    """What the commits of a range did to ledger files.

    `authored` are those that added some; `touched` is path -> the first commit that changed it or took it away, a merge
    that has not what one of its parents had among them; `taken` is path -> the last one that took it away; `came` is
    path -> the blobs that what was touched came with; `written` is path -> who gave it which bytes, parents first;
    `held` is path -> all blobs that what was touched ever was.
    """

    authored: list[Authored]
    touched: dict[str, str]
    taken: dict[str, str]
    came: dict[str, set[str]]
    written: dict[str, list[Written]]
    held: dict[str, set[str]]


class Step(NamedTuple):
    """What one commit did to one path, seen from one of its parents."""

    commit: str
    old: str
    new: str


NOTHING: Final = BranchHistory([], {}, {}, {}, {}, {})


def story_of(git: Git, bases: Collection[str], head: str, nothing: Container[tuple[str, str]] = ()) -> BranchHistory:
    """Return what the commits from the bases to the head did, one by one; a squash leaves fewer of them.

    `nothing` are paths with blobs that count as no file there: who replaces one adds it.
    """
    added: dict[tuple[str, str], list[list[str]]] = {}
    parents: dict[str, int] = {}
    dates: dict[str, int] = {}
    steps: dict[str, list[Step]] = {}
    for commit, author, dates[commit], parents[commit], changes in _seen(git, bases, head):
        lists = added.setdefault((commit, author), [])
        lists.append([])
        for one in changes:
            old, new = ("" if (one.path, blob) in nothing else blob for blob in (one.old, one.new))
            if old or new:
                steps.setdefault(one.path, []).append(Step(commit, old, new))
            if new and not old:
                lists[-1].append(one.path)
    own = {key: _in_all(lists) for key, lists in added.items() if len(lists) == parents[key[0]]}
    authored = [Authored(commit, author, paths, dates[commit]) for (commit, author), paths in own.items() if paths]
    touched = {path: step.commit for path, told in steps.items() for step in told if step.old}  # the last is the first
    taken = {path: step.commit for path, told in steps.items() for step in reversed(told) if step.old and not step.new}
    came = _came(git, authored, {path: steps[path] for path in touched})
    held = {path: {blob for step in steps[path] for blob in (step.old, step.new) if blob} for path in touched}
    authors = dict(added.keys())
    made = {path: _written(git, told, parents, authors) for path, told in steps.items()}
    written = {path: [one._replace(at=dates[one.commit]) for one in told] for path, told in made.items()}
    return BranchHistory(authored, touched, taken, came, written, held)


def _seen(git: Git, bases: Collection[str], head: str) -> Iterator[tuple[str, str, int, int, list[Changed]]]:
    """Yield each commit as each of its parents sees it: author, time, how many parents, and the files it changed.

    What a merge takes of a parent on the branch, git may not see there: the top of each is read, which refuses that.
    """
    told = git.run(
        "log", "--diff-merges=separate", "--full-history", "--topo-order", "--no-renames", "--ignore-submodules=none",
        "--raw", "-t", "--no-abbrev", "-z", "--format=%H %P%x00%at%x00%an <%ae>%x00%e",
        head, *(f"^{base}" for base in bases), "--", layout.FOLDER,
    )  # fmt: skip
    parts = iter(os.fsdecode(told).split("\0"))
    rows: list[tuple[str, str, int, int, list[Changed]]] = []
    for part in (part.lstrip("\n") for part in parts):
        if part.startswith(":"):
            rows[-1][-1].append(tree_diff.change_of(part, next(parts)))
        elif part:
            commit, *named = part.split()
            for one in {*named}.difference(bases):
                git.trees.top(one)
            at, told_by, encoding = next(parts), next(parts), next(parts)
            rows.append((commit, *author_of(git, commit, told_by, at, encoding), max(1, len(named)), []))
    for commit, author, since, count, changes in rows:
        yield commit, author, since, count, tree_diff.files_of(changes)


def _written(git: Git, told: Sequence[Step], parents: Mapping[str, int], authors: Mapping[str, str]) -> list[Written]:
    """Return who gave a path which bytes, from what commits did to it; one that adds it anew is not the first."""
    found: list[Written] = []
    was_there = False
    for commit, group in groupby(reversed(told), lambda step: step.commit):
        steps = [*group]
        was_there = was_there or any(step.old for step in steps)
        is_own = len(steps) == parents[commit] or any(_is_dropped(git, found, step) for step in steps)
        if steps[0].new and is_own:
            found.append(Written(commit, authors[commit], steps[0].new, not was_there))
        was_there = True
    return found


def _is_dropped(git: Git, found: Sequence[Written], step: Step) -> bool:
    """Tell whether a merge leaves out what one of its sides made of a file, and what it has did not come after that."""
    made, kept = ([one.commit for one in found if one.blob == blob] for blob in (step.old, step.new))
    return bool(made) and not any(git.is_before(one, other) for one in made for other in kept)


def _came(git: Git, authored: Iterable[Authored], touched: Mapping[str, Sequence[Step]]) -> dict[str, set[str]]:
    """Return path -> the blobs that it came with: those of commits before which no other one had added it."""
    bringing: dict[str, set[str]] = {}
    for commit in authored:
        for path in touched.keys() & {*commit.paths}:
            bringing.setdefault(path, set()).add(commit.commit)
    came = {}
    for path, steps in touched.items():
        first: dict[str, str] = {}
        for step in reversed(steps):  # the parents come before their children
            if step.commit in bringing.get(path, ()) and not any(git.is_before(one, step.commit) for one in first):
                first[step.commit] = step.new
        came[path] = {*first.values()} or {steps[-1].old}
    return came


def to_commit(git: Git, differing: Iterable[Changed]) -> list[Authored]:
    """Return what is staged as the commit that it will be."""
    return [Authored("", _author(git), tuple(change.path for change in differing if change.is_added))]


def to_write(git: Git, differing: Iterable[Changed]) -> dict[str, list[Written]]:
    """Return path -> what the commit that what is staged will be gives it, where it is changed."""
    author = _author(git)
    return {one.path: [Written("", author, one.new, is_new=False)] for one in differing if one.old and one.new}


def _author(git: Git) -> str:
    name, _, address = (git.answer("var", "GIT_AUTHOR_IDENT") or "").rpartition("> ")[0].partition(" <")
    return f"{name} <{address}>"


def _in_all(lists: list[list[str]]) -> tuple[str, ...]:
    """Return what a commit added to each of its parents: of a merge, what came from no side."""
    return tuple(path for path in lists[0] if all(path in other for other in map(set, lists[1:])))
