"""The report of a run as plain text, for a terminal or, within a chat's limit, for a message. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.model.markup import spoken
from memento_git.review.report import sections, summary

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    goal, state = _head(held)
    lines = [_short(goal, LONGEST_GOAL), _short(state, LONGEST_GOAL)]
    room = MOST - RESERVE - sum(_size(line) + 1 for line in lines)
    left = 0
    for title, items in sorted(sections(held), key=_rank):
        told = [_short(spoken(item), LONGEST_ITEM) for item in items]
        shown = _fitting(title, told, room)
        left += len(told) - len(shown)
        if shown:
            more = [f"  and {len(told) - len(shown)} more"] if len(shown) < len(told) else []
            block = ["", title.upper(), *(f"  {item}" for item in shown), *more]
            left -= len(told) - len(shown)
            room -= sum(_size(line) + 1 for line in block)
            lines += block
    if left:
        lines += ["", f"and {left} more: memento report"]
    return "\n".join(lines) + "\n"


def _head(held: RunRows) -> tuple[str, str]:
    return " ".join(str(held["run"]["goal"]).split()), spoken(summary(held))


def _rank(section: tuple[str, list[str]]) -> int:
    return FIRST.index(section[0]) if section[0] in FIRST else len(FIRST)


def _fitting(title: str, items: Sequence[str], room: int) -> list[str]:
    """Return the first items that fit into a section of at most half of what room there is."""
    budget = min(room, max(room // 2, LONGEST_ITEM * 2)) - _size(title) - 2 - RESERVE
    shown = []
    for item in items:
        budget -= _size(item) + 3
        if budget < 0:
            break
        shown.append(item)
    return shown


def _short(line: str, most: int) -> str:
    return line if _size(line) <= most else _cut(line, most)


def _cut(line: str, most: int) -> str:
    kept = line[: most - 1]
    while _size(kept) > most - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def _size(line: str) -> int:
    """Return the length of a text in UTF-16, as chats count it."""
    return len(line) + sum(letter > "\uffff" for letter in line)
