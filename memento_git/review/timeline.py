"""When what happened, as places in a drawing: a lane for each actor, a mark for events near in time. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from memento_git.model.clock import seconds_of
from memento_git.model.enumeration import cut, grouped
from memento_git.model.ids import verb_of
from memento_git.review.report import called

if TYPE_CHECKING:
    from memento_git.model.rows import EventRow, Row

WIDTH: Final = 960
LEFT: Final = 150
RIGHT: Final = 16
LANE: Final = 30
TOP: Final = 12
STEPS: Final = 80
MOST_LANES: Final = 8
TICKS: Final = 5
NAME_LENGTH: Final = 20
OTHERS: Final = "others"
GOOD: Final = frozenset({"completed", "accepted", "passed", "approved", "waived"})
BAD: Final = frozenset({"failed", "rejected", "blocked", "cancelled", "recovered", "retracted", "redacted", "voided"})
WORK: Final = frozenset({"dispatched", "claimed", "renewed"})


def timeline(events: Sequence[EventRow]) -> Row | None:
    """Return lanes with marks and the ticks of their axis; nothing where nothing happened."""
    if not events:
        return None
    times = [seconds_of(row["created_at"]) for row in events]
    first, last = min(times), max(times)
    span = max(last - first, TICKS - 1)  # whole seconds between labels
    names = _lanes(events)
    marks = grouped(
        ((row["actor"] if row["actor"] in names else OTHERS, round((at - first) / span * STEPS)), row)
        for row, at in zip(events, times, strict=True)
    )
    lanes = []
    for number, name in enumerate(names):
        y = TOP + number * LANE + LANE // 2
        held = [_mark(step, rows, y) for (lane, step), rows in sorted(marks.items()) if lane == name]
        count = sum(mark["count"] for mark in held)
        lanes.append({"name": name, "short": cut(called(name), NAME_LENGTH), "y": y, "marks": held, "count": count})
    bottom = TOP + len(names) * LANE
    return {
        "width": WIDTH, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": bottom, "height": bottom + 30,
        "lanes": lanes, "ticks": _ticks(first, span),
    }  # fmt: skip


def _lanes(events: Sequence[EventRow]) -> list[str]:
    """Return the actors who did most, in the order in which they appeared; the rest are one lane."""
    counts = Counter(row["actor"] for row in events)
    if len(counts) <= MOST_LANES:
        return list(counts)
    busiest = set(sorted(counts, key=lambda name: (-counts[name], name))[: MOST_LANES - 1])
    return [*(name for name in counts if name in busiest), OTHERS]


def _mark(step: int, rows: Sequence[EventRow], y: int) -> Row:
    verbs = Counter(verb_of(row["action"]) for row in rows)
    told = ", ".join(f"{count} {verb}" for verb, count in sorted(verbs.items(), key=lambda item: (-item[1], item[0])))
    radius = min(3 + len(rows).bit_length(), LANE // 2 - 2)
    return {
        "x": round(LEFT + 12 + step * (WIDTH - LEFT - RIGHT - 24) / STEPS, 1), "y": y, "r": radius, "count": len(rows),
        "tone": _tone(verbs), "told": f"{rows[0]['created_at'][:16].replace('T', ' ')}: {told}",
    }  # fmt: skip


def _tone(verbs: dict[str, int]) -> str:
    for tone, words in (("bad", BAD), ("good", GOOD), ("work", WORK)):
        if words & verbs.keys():
            return tone
    return "plain"


def _ticks(first: float, span: float) -> list[Row]:
    form = "%H:%M:%S" if span < 600 else "%H:%M" if span < 86_400 else "%b %d %H:%M" if span < 864_000 else "%Y-%m-%d"
    ticks = []
    for number in range(TICKS):
        part = number / (TICKS - 1)
        label = datetime.fromtimestamp(first + part * span, UTC).strftime(form)
        ends = {0: "start", TICKS - 1: "end"}
        ticks.append({
            "x": round(LEFT + 12 + part * (WIDTH - LEFT - RIGHT - 24), 1), "label": label,
            "anchor": ends.get(number, "middle"),
        })  # fmt: skip
    return ticks
