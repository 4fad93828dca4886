"""Who did what last in a run, and what each has not finished: actors, and the roles that tasks ask for. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.folding.event_rows import creations
from memento_git.model.states import FINAL_TASK, OPEN_DISPATCH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.model.rows import RoleRow
    from memento_git.model.run_rows import RunRows


def roles(held: RunRows, fresh: RunRows | None = None, before: Iterable[RoleRow] = ()) -> list[RoleRow]:
    """Return a row for each actor and each role, the one that acted last first, its actions in alphabetical order.

    That a record was made counts as a deed. Where rows of `before` count all deeds but the `fresh` ones, only those
    are counted.
    """
    counted = held if fresh is None else fresh
    events = [*creations(counted), *counted["audit"]]
    done = [(one["actor"], (one["created_at"], one["action"], one["record"])) for one in events if one["actor"]]
    role_of = {row["id"]: row["role"] for row in held["tasks"] if row["role"]}
    named = [("actor", who, deed) for who, deed in done]
    named += [("role", role_of[deed[2]], deed) for _, deed in done if deed[2] in role_of]
    found: dict[tuple[str, str], RoleRow] = {
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
    for row in told:
        row["actions"] = dict(sorted(row["actions"].items()))
    told.sort(key=lambda row: (row["kind"], row["name"]))
    return sorted(told, key=lambda row: row["last_at"], reverse=True)


def _row(kind: str, name: str) -> RoleRow:
    return {
        "kind": kind, "name": name, "last_action": "", "last_record": "", "last_at": "", "actions": {},
        "incomplete_tasks": [],
    }  # fmt: skip


def _unfinished(held: RunRows) -> Iterable[tuple[str, str, str]]:
    open_tasks = {row["id"]: row for row in held["tasks"] if row["status"] not in FINAL_TASK}
    for dispatch in held["dispatches"]:
        if dispatch["task_id"] in open_tasks and dispatch["status"] in OPEN_DISPATCH:
            yield "actor", dispatch["claimed_by"] or dispatch["executor"], dispatch["task_id"]
    for name, task in open_tasks.items():
        if task["role"]:
            yield "role", task["role"], name
