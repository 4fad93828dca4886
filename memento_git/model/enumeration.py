"""A number, a list or a text in a sentence: how many, its beginning, and that there is more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TEXT: Final = 300


def some(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first names of a list, and the number of those that are left out."""
    told = between.join(names[:most])
    return f"{told} and {len(names) - most} more" if len(names) > most else told


def many(count: int, what: str) -> str:
    """Return a number of things, of which one is `what`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def cut(text: str, most: int = MOST_TEXT) -> str:
    """Return a text of at most so many characters; what was cut is shown by an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
