"""What use shows of notes and of the code around them, from history and links alone. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations
from math import sqrt
from typing import Final, NamedTuple

from memento_git.model.enumeration import grouped

WIDE: Final = 50
WIDEST: Final = 20


class Beside(NamedTuple):
    """A file that changes together with one that notes are about, and that no note covers."""

    path: str
    noted: str
    commits: int
    of: int
    own: int

    @property
    def weight(self) -> float:
        """Return how much it counts: often together, and seldom apart, on either side."""
        return self.commits * self.commits / sqrt(self.of * self.own)


class Pair(NamedTuple):
    """Two notes that are cited together, wherever either of them is."""

    one: str
    other: str
    places: tuple[str, ...]


def together(
    commits: Iterable[Collection[str]], noted: Collection[str], here: Collection[str], least: int = 2
) -> list[Beside]:
    """Return the files that no note covers and that changed in `least` commits with one that a note is about.

    `noted` are files and folders that notes are about, `here` the files that exist. A commit that changed very many
    files says nothing of any two of them.
    """
    covered = {path for path in here if _covered(path, noted)}
    counts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for paths in commits:
        if len(paths) > WIDE:
            continue
        known = [path for path in paths if path in covered]
        dark = [path for path in paths if path in here and path not in covered]
        counts.update((*known, *dark))
        pairs.update((path, other) for path in dark for other in known)
    found = [
        Beside(path, other, count, counts[other], counts[path])
        for (path, other), count in pairs.items() if count >= least
    ]  # fmt: skip
    return _strongest(sorted(found, key=lambda one: (-one.weight, one.path, one.noted)))


def _strongest(found: Iterable[Beside]) -> list[Beside]:
    """Return of each file the one file that it goes with most."""
    kept: dict[str, Beside] = {}
    for one in found:
        kept.setdefault(one.path, one)
    return list(kept.values())


def _covered(path: str, noted: Collection[str]) -> bool:
    return path in noted or any(folder in noted for folder in folders(path))


def folders(path: str) -> Iterator[str]:
    """Yield the folders around a file, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def changes(commits: Iterable[Iterable[str]], at: Mapping[str, Collection[str]]) -> dict[str, list[int]]:
    """Return note -> numbers of the commits that changed something at a place of it; `at` is place -> notes."""
    return grouped(
        (note, number)
        for number, paths in enumerate(commits)
        for note in {note for path in paths for note in notes_at(path, at)}
    )


def notes_at(path: str, at: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the notes that are about a file, or about a folder around it."""
    for place in (path, *folders(path)):
        yield from at.get(place, ())


def always_together(cited: Mapping[str, Collection[str]], least: int = 2) -> list[Pair]:
    """Return pairs of notes that are never cited but together, in at least so many places, the most first.

    `cited` is place -> notes that are cited there. A place that cites very many says nothing of any two of them.
    """
    of: dict[str, set[str]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for place, notes in cited.items():
        for note in notes:
            of.setdefault(note, set()).add(place)
        if len(notes) <= WIDEST:
            seen.update(combinations(sorted(set(notes)), 2))
    found = [
        Pair(one, other, tuple(sorted(of[one])))
        for (one, other), count in seen.items() if count >= least and of[one] == of[other]
    ]  # fmt: skip
    return sorted(found, key=lambda pair: (-len(pair.places), pair.one, pair.other))
