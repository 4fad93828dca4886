"""That the records of a run were made: their files tell it, and no event does. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.model.events import MADE
from memento_git.model.ids import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.model.rows import EventRow
    from memento_git.model.run_rows import RunRows

UNKNOWN: Final = "(unknown)"
"""By whom a record is that cannot be read."""


def creations(held: RunRows) -> Iterator[EventRow]:
    """Yield that a run was started, its plans drafted, its tasks added and its evidence recorded, by whom and when.

    Of what cannot be read nobody knows that.
    """
    run = held["run"]
    made = [_made(run["id"], run["id"], run["actor"], run["created_at"], run["goal"])] if run is not None else []
    for row in (*held["plans"], *held["tasks"]):
        made.append(_made(row["run_id"], row["id"], row["actor"], row["created_at"], row["title"]))
    for one in held["evidence"]:
        recorded = _made(one["run_id"], one["id"], one["actor"], one["created_at"], one["summary"])
        made.append({**recorded, "payload": {"kind": one["kind"], "outcome": one["outcome"]}})
    yield from (row for row in made if row["actor"] != UNKNOWN)


def _made(run: str, identity: str, actor: str, at: str, summary: str | None) -> EventRow:
    kind = kind_of(identity)
    return {
        "id": identity, "run_id": run, "record": identity, "actor": actor, "action": f"{kind}.{MADE[kind]}",
        "created_at": at, "summary": summary, "legal": True, "problem": None, "payload": {},
    }  # fmt: skip
