"""Several things: what belongs together, and in a sentence how many, their beginning, and that there is more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

MOST_TEXT: Final = 300
K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return key -> all values that come with it; both in the order in which they come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def some(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first names of a list, and the number of those that are left out."""
    told = between.join(names[:most])
    return f"{told} and {len(names) - most} more" if len(names) > most else told


def many(count: int, what: str, several: str = "") -> str:
    """Return a number of things, of which one is `what`, and several are `several`, or have just an s more."""
    return f"{count} {what if count == 1 else several or f'{what}s'}"


def ends(text: str, most: int) -> str:
    """Return a text of at most so many characters: of a long one the beginning, how much is left out, and the end."""
    if len(text) <= most:
        return text
    room = most - len(f" … {len(text)} characters … ")
    last = room // 3
    return f"{text[: room - last]} … {len(text) - room} characters … {text[-last:]}"


def cut(text: str, most: int = MOST_TEXT) -> str:
    """Return a text of at most so many characters; what was cut is shown by an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
