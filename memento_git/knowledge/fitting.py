"""What fits in a budget of tokens: whole hits first, then shorter ones, then their names; the rest is told. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.quoting import shortened
from memento_git.knowledge.rendering import block, rendered
from memento_git.model.tokens import BYTES, size, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.model.note_rows import HitRow
    from memento_git.model.rows import Row

SHORT: Final = 160
TELLING: Final = 150  # bytes of the line that says what was left out


def fitted(
    hits: Sequence[HitRow], budget: int, told: Callable[[list[HitRow], list[HitRow]], Row], *, as_json: bool
) -> Row:  # fmt: skip
    """Return the answer that is told of the hits that fit, shortened where they must be, and of those that do not.

    What an answer takes is what is printed of it, as JSON or as text. All hits behind the first that does not fit are
    left out.
    """

    def answered(kept: list[HitRow]) -> Row:
        return _measured(told(kept, list(hits[len(kept) :])), budget, as_json=as_json)

    answer = answered(list(hits))
    if not budget or answer["tokens"]["used"] <= budget:
        return answer
    costs = sum(_cost(hit, as_json=as_json) for hit in hits)
    frame = size(_printed(answer, as_json=as_json)) - costs + (0 if as_json else TELLING)
    kept = _kept(hits, budget * BYTES - frame, as_json=as_json)
    answer = answered(kept)
    while kept and answer["tokens"]["used"] > budget:
        kept.pop()
        answer = answered(kept)
    return answer


def _kept(hits: Sequence[HitRow], room: int, *, as_json: bool) -> list[HitRow]:
    kept: list[HitRow] = []
    for hit in hits:
        costs = ((form, _cost(form, as_json=as_json)) for form in _forms(hit))
        found = next(((form, cost) for form, cost in costs if cost <= room), None)
        if found is None:
            return kept
        kept.append(found[0])
        room -= found[1]
    return kept


def _forms(hit: HitRow) -> list[HitRow]:
    short = shortened(hit["text"], SHORT)
    name: HitRow = {**hit, "text": "", "progress": None, "cut": True}
    return [hit, {**hit, "text": short, "cut": short != hit["text"] or hit["cut"]}, name]


def _cost(hit: HitRow, *, as_json: bool) -> int:
    """Return how many bytes a hit takes in an answer."""
    return size(f"{json.dumps(hit, ensure_ascii=False)}, " if as_json else "\n".join([*block(hit), ""]))


def _printed(answer: Row, *, as_json: bool) -> str:
    return json.dumps({"ok": True, **answer}, ensure_ascii=False) if as_json else rendered(answer)


def _measured(answer: Row, budget: int, *, as_json: bool) -> Row:
    """Return an answer with what it takes, said in it as well."""
    held = {**answer, "tokens": {**answer["tokens"], "used": budget}}
    return {**held, "tokens": {**held["tokens"], "used": tokens(_printed(held, as_json=as_json))}}
