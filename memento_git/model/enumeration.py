"""A list in a sentence: its beginning, and how many more there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def some(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first names of a list, and the number of those that are left out."""
    told = between.join(names[:most])
    return f"{told} and {len(names) - most} more" if len(names) > most else told
