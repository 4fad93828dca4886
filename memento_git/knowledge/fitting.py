"""What fits in a budget of tokens: whole hits first, then shorter ones, then their names; the rest is told. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memento_git.folding.rows import Row
from memento_git.knowledge import quoting, rendering
from memento_git.knowledge.quoting import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHORT: Final = 160
FRAME: Final = 120
FOR_A_NAME: Final = 15


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


def frame_of(hits: Sequence[Row], files: Sequence[Row], *, as_json: bool) -> int:
    """Return how many tokens an answer takes beside its hits, at most."""
    if as_json:
        return 2 * FRAME + FOR_A_NAME * len(hits) + quoting.tokens(json.dumps(files, ensure_ascii=False))
    return FRAME + quoting.tokens("\n".join(rendering.files(files)))


def text_cost(hit: Row) -> int:
    """Return how many tokens a hit takes as text."""
    return quoting.tokens("\n".join(rendering.block(hit)) + "\n")


def json_cost(hit: Row) -> int:
    """Return how many tokens a hit takes as JSON."""
    return quoting.tokens(json.dumps(hit, ensure_ascii=False))
