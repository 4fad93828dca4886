"""The runs of what proves a task that failed after it passed: whoever completes the task need not cite them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from memento_git.work.proof.codes import is_narrower

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Rows = Iterable[Mapping[str, Any]]

Run = TypeVar("Run", bound="Mapping[str, Any]")


def mark_failed(tasks: Iterable[Any], evidence: Sequence[Mapping[str, Any]]) -> None:
    """Say of each proven task which runs of what proves it failed since."""
    proven = [task for task in tasks if task["proven_by"]]
    known = {row["id"]: row for row in evidence} if any(row["outcome"] == "failed" for row in evidence) else {}
    last = latest(evidence) if proven and known else {}
    for task in proven:
        task["failed_since"] = since(task["id"], (known[name] for name in task["proven_by"] if name in known), last)


def latest(evidence: Rows) -> dict[object, Mapping[str, Any]]:
    """Return the latest run that stands of each command for each task, and for none."""
    runs = [row for row in evidence if row["status"] == "recorded" and row["command"] and row["outcome"] != "observed"]
    told = sorted(runs, key=lambda row: str(row["created_at"]))
    return latest_of(((task, ran(row)), row) for row in told for task in row["task_ids"] or ("",))


def latest_of(runs: Iterable[tuple[object, Run]]) -> dict[object, Run]:
    """Return the last of the runs by each key; one that is about less code takes no failure back."""
    held: dict[object, Run] = {}
    for key, row in runs:
        other = held.get(key)
        if other is None or other["outcome"] != "failed" or not is_narrower(row["covers"], other["covers"]):
            held[key] = row
    return held


def since(task: str, proof: Rows, last: Mapping[object, Mapping[str, Any]]) -> list[str]:
    """Return the ids of the latest runs of what proves a task that failed after that."""
    found: dict[str, None] = {}
    for one in proof:
        later = [last.get((name, ran(one)), one) for name in (task, "")]
        run = max(later, key=lambda row: str(row["created_at"]))
        if run["outcome"] == "failed" and run["created_at"] > one["created_at"]:
            found[run["id"]] = None
    return [*found]


def ran(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what tells one command from another."""
    return row["kind"], row["folder"] or "", *(row["command"] or ())
