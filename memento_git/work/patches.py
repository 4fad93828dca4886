"""A patch of a run's rows, as `renewal` makes it, laid over those that were kept: nothing is read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from memento_git.model.enumeration import grouped
from memento_git.model.ids import kind_of
from memento_git.work.routing.roles import roles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memento_git.model.rows import EventRow, EvidenceRow, Row, TaskRow
    from memento_git.model.run_rows import RunRows

R = TypeVar("R", "TaskRow", "EvidenceRow")


def cites(held: RunRows) -> dict[str, list[str]]:
    """Return the tasks that rest on evidence which is not said to be for them, by its id."""
    named = {row["id"]: row["task_ids"] for row in held["evidence"]}
    return _cites({}, held["audit"], named)


def _cites(
    before: Mapping[str, Iterable[str]], events: Iterable[EventRow], named: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    found = {name: set(tasks) for name, tasks in before.items()}
    for event in events:
        for ref in event["payload"].get("evidence") or () if kind_of(event["record"]) == "task" else ():
            found.setdefault(ref.partition("@")[0], set()).add(event["record"])
    left = {name: sorted(tasks.difference(named.get(name, ()))) for name, tasks in found.items()}
    return {name: left[name] for name in sorted(left) if left[name]}


def merged(held: RunRows, told: Row) -> RunRows:
    """Return all rows of a run: those that are held, with a patch on top."""
    tasks = _by_time((*held["tasks"], *told["tasks"]))
    evidence = _by_time((*held["evidence"], *told["evidence"]))
    new = {
        kind: [row for row in told[kind] if row["id"] not in known]
        for kind in ("tasks", "evidence") for known in [{row["id"] for row in held[kind]}]
    }  # fmt: skip
    dispatches = {**grouped((row["task_id"], row) for row in held["dispatches"]), **told["dispatches"]}
    gates = {**grouped((row["scope"], row) for row in held["gates"]), **told["gates"]}
    own = gates.get(held["run"]["id"], [])
    found: RunRows = {
        **held,
        "tasks": tasks,
        "dispatches": [row for task in tasks for row in dispatches.get(task["id"], ())],
        "gates": [
            *(row for row in own if row["event_id"]),
            *(row for task in tasks for row in gates.get(task["id"], ())),
            *(row for row in own if not row["event_id"]),
        ],
        "evidence": evidence,
        "audit": [*held["audit"], *told["audit"]],
        "events": held["events"] + len(told["audit"]),
        "latest": max((row["created_at"] for row in told["audit"]), default=held["latest"]),
        "cites": _cites(held["cites"], told["audit"], {row["id"]: row["task_ids"] for row in evidence}),
    }
    fresh: Any = {**found, **new, "run": None, "plans": [], "audit": told["audit"]}
    return {**found, "roles": roles(found, fresh, held["roles"])}


def _by_time(given: Iterable[R]) -> list[R]:
    """Return rows in the order of their making, of several of one record the last."""
    return sorted({row["id"]: row for row in given}.values(), key=lambda row: (row["created_at"], row["id"]))
