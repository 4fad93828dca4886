"""A run's tasks as a board: a column for each state, a card for each task. Pure: it is read, never written.

The board has no state of its own: a card lies in the column of the state that the ledger's events come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import grouped
from memento_git.model.markup import said
from memento_git.model.states import OPEN_DISPATCH, TASK_STATUSES
from memento_git.work import doubts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memento_git.model.rows import DispatchRow, Row, TaskRow
    from memento_git.model.run_rows import RunRows

FORMAT: Final = 1
COLUMNS: Final = TASK_STATUSES


def board(held: RunRows) -> Row:
    """Return the board of a run's overview: its `run`, `tasks` and `dispatches` are read, nothing else is asked."""
    handed = grouped((row["task_id"], row) for row in held["dispatches"])
    cards = [_card(row, handed.get(row["id"], [])) for row in held["tasks"]]
    run = held["run"]
    columns = [
        {"name": name, "title": _title(name), "cards": [card for card in cards if card["column"] == name]}
        for name in COLUMNS
    ]
    return {
        "format": FORMAT, "run_id": run["id"], "goal": run["goal"], "run_status": run["status"],
        "columns": [{**column, "count": len(column["cards"])} for column in columns],
    }  # fmt: skip


def _card(task: TaskRow, dispatches: Sequence[DispatchRow]) -> Row:
    """Return what a board shows of a task; who has it follows from its open dispatches."""
    going = [row for row in dispatches if row["status"] in OPEN_DISPATCH]
    latest = (going or dispatches)[-1:]
    return {
        "id": task["id"],
        "title": task["title"],
        "column": task["status"],
        "claimants": sorted({row["claimed_by"] for row in going if row["claimed_by"]}),
        "executor": latest[0]["executor"] if latest else None,
        "dispatch_ids": [row["dispatch_id"] for row in going],
        "expired": any(row["expired"] for row in going),
        "blocked_by": [*task["waits_on"], *task["blocked_by"]],
        "reason": task["reason"] if task["status"] in ("blocked", "rejected", "cancelled") else None,
        "ready": task["ready"],
        "proven": task["proven"],
        "unsigned": task.get("unsigned", []),
        "stale": task.get("stale", False) and not task["passed_since"],
        "late": task["late"],
        "doubts": doubts.of_task(task),
        **{key: task[key] for key in ("kind", "risk", "size", "role")},
    }


def _title(column: str) -> str:
    return column.replace("_", " ").capitalize()


def as_markdown(told: Mapping[str, Any]) -> str:
    """Return a board as Markdown: a heading for each column that holds something, a line for each card."""
    lines = [f"# {said(told['goal'])}", "", f"Run `{told['run_id']}` is **{told['run_status']}**.", ""]
    for column in told["columns"]:
        if column["cards"]:
            lines += [f"## {column['title']} ({column['count']})", ""]
            lines += [f"- {_line(card)}" for card in column["cards"]] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _line(card: Row) -> str:
    notes = "".join(f" — {said(note)}" for note in notes_of(card))
    return f"{said(card['title'])} (`{card['id']}`){notes}"


def notes_of(card: Mapping[str, Any]) -> list[str]:
    """Return what one should know of a card beside its column, as short texts."""
    told: Iterable[str] = (
        f"held by {', '.join(card['claimants'])}" if card["claimants"] else "",
        f"handed to {card['executor']}" if card["dispatch_ids"] and not card["claimants"] else "",
        "its lease is over" if card["expired"] else "",
        "ready" if card["ready"] else "",
        f"blocked by {', '.join(card['blocked_by'])}" if card["blocked_by"] else "",
        card["reason"] or "",
        {True: "proven", False: "unproven", None: ""}[card["proven"]],
        *card["doubts"],
    )
    return [note for note in told if note]
