"""The report of a run as plain text, for a terminal or, within a chat's limit, for a message. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.model.markup import fitting, space, spoken, units
from memento_git.review.report import sections, summary

if TYPE_CHECKING:
    from memento_git.model.run_rows import RunRows

MOST: Final = 4096
LONGEST_ITEM: Final = 160
LONGEST_GOAL: Final = 300
RESERVE: Final = 40
FIRST: Final = ("Blockers", "Next", "In progress", "Dispatched", "Gates", "Risks", "Roles", "Verification")


def text(held: RunRows) -> str:
    """Return a run's overview without any markup."""
    lines = [*_head(held)]
    for title, items in sections(held):
        lines += ["", title.upper(), *(f"  {spoken(item)}" for item in items)]
    return "\n".join(lines) + "\n"


def chat(held: RunRows) -> str:
    """Return the same within 4,096 characters, as chats count them; what is left out is told."""
    lines = [_short(line, LONGEST_GOAL) for line in _head(held)]
    room = MOST - RESERVE - space(lines)
    left = 0
    for title, items in sorted(sections(held), key=_rank):
        told = [f"  {_short(spoken(item), LONGEST_ITEM)}" for item in items]
        shown = fitting(told, _budget(title, room))
        rest = len(told) - len(shown)
        if not shown:
            left += rest
            continue
        block = ["", title.upper(), *shown, *([f"  and {rest} more"] if rest else [])]
        room -= space(block)
        lines += block
    if left:
        lines += ["", f"and {left} more: memento report"]
    return "\n".join(lines) + "\n"


def _head(held: RunRows) -> tuple[str, str]:
    return " ".join(str(held["run"]["goal"]).split()), spoken(summary(held))


def _rank(section: tuple[str, list[str]]) -> int:
    return FIRST.index(section[0]) if section[0] in FIRST else len(FIRST)


def _budget(title: str, room: int) -> int:
    """Return the room for the items of a section: it takes at most half of what there is."""
    return min(room, max(room // 2, LONGEST_ITEM * 2)) - units(title) - 2 - RESERVE


def _short(line: str, most: int) -> str:
    return line if units(line) <= most else _cut(line, most)


def _cut(line: str, most: int) -> str:
    kept = line[: most - 1]
    while units(kept) > most - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"
