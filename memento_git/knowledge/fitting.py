"""What fits in a budget of tokens: whole hits first, then shorter ones, then their names; the rest is told. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.folding.rows import Row
from memento_git.knowledge.quoting import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHORT: Final = 160


def fitted(hits: Sequence[Row], budget: int, cost: Callable[[Row], int]) -> tuple[list[Row], list[Row]]:
    """Return the hits that fit, shortened where they must be, and those that are left out: all behind the first."""
    if not budget:
        return list(hits), []
    room, kept = budget, list[Row]()
    for hit in hits:
        form = next((one for one in _forms(hit) if cost(one) <= room), None)
        if form is None:
            return kept, list(hits[len(kept) :])
        kept.append(form)
        room -= cost(form)
    return kept, []


def _forms(hit: Row) -> list[Row]:
    short = shortened(hit["text"], SHORT)
    return [hit, {**hit, "text": short, "cut": short != hit["text"] or hit["cut"]}, {**hit, "text": "", "cut": True}]
