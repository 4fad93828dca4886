"""Whether a history is this project's: a merge may bring that of another one into a folder, with a ledger of its own.

Who makes a history of their own has this ledger's records in it where anybody could say anything of them. Such a one
is no other project.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

from memento_git.ledger import layout

if TYPE_CHECKING:
    from memento_git.ledger.git import Git


def roots(git: Git, tips: Iterable[str]) -> list[str]:
    """Return where the own line of some commits, that of first parents, began."""
    return git.run("rev-list", "--max-parents=0", "--first-parent", *tips).decode().split()


def began_elsewhere(git: Git, commit: str, starts: Sequence[str]) -> bool:
    return bool(starts) and not any(git.is_before(start, commit) for start in starts)


def records(git: Git, commit: str) -> list[str]:
    """Return the paths of a commit's ledger that hold a record, an event, an attachment or an archive."""
    listed = git.trees.listed("-r", commit, "--", layout.FOLDER)
    return [path for path in listed if layout.place_of(path) or layout.is_archive(path)]


def shares(git: Git, commit: str, runs: Container[str], *known: Container[str]) -> bool:
    """Tell whether a commit has a record that is known, or one of some runs."""
    paths = records(git, commit)
    return any(layout.run_of_path(path) in runs or any(path in files for files in known) for path in paths)


def own(git: Git, commits: Sequence[str], one: str, other: str) -> list[str]:
    """Return commits without those of another project: begun elsewhere than `one`, with no run or file of the two."""
    starts = roots(git, [one]) if len(commits) > 1 else []
    foreign = [commit for commit in commits if began_elsewhere(git, commit, starts)]
    if not foreign:
        return [*commits]
    files = {path for tip in (one, other) for path in records(git, tip)}
    runs = {layout.run_of_path(path) for path in files} - {""}
    others = [commit for commit in foreign if not shares(git, commit, runs, files)]
    return [commit for commit in commits if commit not in others] or [*commits]
