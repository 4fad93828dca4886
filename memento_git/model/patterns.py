"""Patterns of file names, as configuration writes them: `*` and `?` within a folder's name, `**` across folders."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Fits = Callable[[str, str], bool]

ANY: Final = "**"


def matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern names a path, what the path lies in, or what may lie in the path.

    A pattern that names a folder covers what is in it; a path that is a folder is about all of its files.
    """
    wanted, given = _parts(pattern), _parts(path)
    return bool(wanted) and (_leads_into(wanted, given) or any(_named(wanted, given, fnmatchcase)))


def names(pattern: str, path: str, fits: Fits = fnmatchcase) -> bool:
    """Tell whether a pattern names a path itself; `fits` tells whether a part of the path fits one of the pattern."""
    wanted = _parts(pattern)
    *_, is_named = _named(wanted, path.split("/"), fits)
    return is_named


def _parts(path: str) -> list[str]:
    """Return the names that a path or pattern has from the top on; `./src` is `src`."""
    return [part for part in path.split("/") if part not in ("", ".")]


def _leads_into(wanted: Sequence[str], folder: Sequence[str]) -> bool:
    """Tell whether the parts before any `**` lead through a folder to something below it."""
    start = wanted[: len(folder)]
    below = len(start) == len(folder) < len(wanted) and ANY not in start
    return below and all(map(fnmatchcase, folder, start))


def _named(wanted: Sequence[str], given: Iterable[str], fits: Fits) -> Iterator[bool]:
    """Walk the path part by part, holding all places of the pattern where the walk may be; yield if it is named so."""
    places = _opened(wanted, {0})
    yield len(wanted) in places
    for part in given:
        places = _after(wanted, places, part, fits)
        yield len(wanted) in places


def _after(wanted: Sequence[str], places: set[int], part: str, fits: Fits) -> set[int]:
    """Return the places after a part of the path."""
    there = [place for place in places if place < len(wanted)]
    fitting = [place for place in there if wanted[place] == ANY or fits(part, wanted[place])]
    return _opened(wanted, {place if wanted[place] == ANY else place + 1 for place in fitting})


def _opened(wanted: Sequence[str], places: set[int]) -> set[int]:
    """Return the places with those added that a `**` for nothing leads to."""
    reached = set(places)
    for place, part in enumerate(wanted):
        if place in reached and part == ANY:
            reached.add(place + 1)
    return reached
