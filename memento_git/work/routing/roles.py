"""Who did what last in a run, and what each has not finished: actors, and the roles that tasks ask for. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.model.states import FINAL_TASK, OPEN_DISPATCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memento_git.folding.event_rows import Row

UNKNOWN: Final = "(unknown)"
MADE: Final = {"plans": "plan.drafted", "tasks": "task.added", "evidence": "evidence.recorded"}


def roles(held: Row, fresh: Row | None = None, before: Iterable[Row] = ()) -> list[Row]:
    """Return a row for each actor and each role, the one that acted last first.

    Where rows of `before` count all deeds but the `fresh` ones, only those are counted.
    """
    deeds = _deeds(held if fresh is None else fresh)
    done = [(who, deed) for who, deed in deeds if who not in ("", UNKNOWN)]  # who wrote what is broken
    role_of = {row["id"]: row["role"] for row in held["tasks"] if row["role"]}
    named = [("actor", who, deed) for who, deed in done]
    named += [("role", role_of[deed[2]], deed) for _, deed in done if deed[2] in role_of]
    found = {
        (row["kind"], row["name"]): {**row, "actions": dict(row["actions"]), "incomplete_tasks": []} for row in before
    }
    for kind, name, (at, action, record) in named:
        row = found.setdefault((kind, name), _row(kind, name))
        row["actions"][action] = row["actions"].get(action, 0) + 1
        if (at, action, record) >= (row["last_at"], row["last_action"], row["last_record"]):
            row |= {"last_at": at, "last_action": action, "last_record": record}
    for kind, name, task in _unfinished(held):
        row = found.setdefault((kind, name), _row(kind, name))
        if task not in row["incomplete_tasks"]:
            row["incomplete_tasks"].append(task)
    told = [row for row in found.values() if row["actions"] or row["incomplete_tasks"]]
    return sorted(told, key=lambda row: (_descending(row["last_at"]), row["kind"], row["name"]))


def _row(kind: str, name: str) -> Row:
    return {
        "kind": kind, "name": name, "last_action": "", "last_record": "", "last_at": "", "actions": {},
        "incomplete_tasks": [],
    }  # fmt: skip


def _deeds(held: Row) -> Iterable[tuple[str, tuple[str, str, str]]]:
    """Yield who did what: time, action, record; that a record was made counts as a deed."""
    if (run := held["run"]) is not None:
        yield run["actor"], (run["created_at"], "run.started", run["id"])
    for kind, action in MADE.items():
        for row in held[kind]:
            yield row["actor"], (row["created_at"], action, row["id"])
    for row in held["audit"]:
        action = f"gate.{row['action'].partition('.')[2]}" if "gate" in row["payload"] else row["action"]
        yield row["actor"], (row["created_at"], action, row["record"])


def _unfinished(held: Row) -> Iterable[tuple[str, str, str]]:
    open_tasks = {row["id"]: row for row in held["tasks"] if row["status"] not in FINAL_TASK}
    for row in held["dispatches"]:
        if row["task_id"] in open_tasks and row["status"] in OPEN_DISPATCH:
            yield "actor", row["claimed_by"] or row["executor"], row["task_id"]
    for task, row in open_tasks.items():
        if row["role"]:
            yield "role", row["role"], task


def _descending(text: str) -> Sequence[int]:
    return [-ord(letter) for letter in text] or [0]
