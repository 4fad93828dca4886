"""The runs and checks that failed after they had proven a task: whoever completes it need not cite them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from memento_git.model.clock import is_ahead
from memento_git.work.proof.codes import is_narrower

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Rows = Iterable[Mapping[str, Any]]

Run = TypeVar("Run", bound="Mapping[str, Any]")


def mark_failed(tasks: Iterable[Any], evidence: Sequence[Mapping[str, Any]], now: str) -> None:
    """Say of each proven task which runs of what proves it failed since."""
    proven = [task for task in tasks if task["proven_by"]]
    known = {row["id"]: row for row in evidence} if any(row["outcome"] == "failed" for row in evidence) else {}
    last = latest(evidence, now) if proven and known else {}
    for task in proven:
        task["failed_since"] = since(task["id"], (known[name] for name in task["proven_by"] if name in known), last)


def latest(evidence: Rows, now: str) -> dict[object, Mapping[str, Any]]:
    """Return the latest run that stands of each command, and verdict of each check, for each task, and for none."""
    held = _in_order(evidence, now)
    return latest_of(((task, ran(row)), row) for row in held for task in row["task_ids"] or ("",))


def failing(evidence: Rows, now: str) -> set[object]:
    """Return the commands and checks whose latest run that stands has failed, whichever task it is for."""
    last = latest_of((ran(row), row) for row in _in_order(evidence, now))
    return {command for command, row in last.items() if row["outcome"] == "failed"}


def _in_order(evidence: Rows, now: str) -> list[Mapping[str, Any]]:
    """Return the runs and verdicts that stand; a pass that is dated after now is none yet."""
    held = [row for row in evidence if row["status"] == "recorded" and (row["command"] or row["check"])]
    return sorted((row for row in held if _counts(row, now)), key=_when)


def _counts(row: Mapping[str, Any], now: str) -> bool:
    return row["outcome"] == "failed" or (row["outcome"] == "passed" and not is_ahead(row["created_at"], now))


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
        run = max(later, key=_when)
        if run["outcome"] == "failed" and _when(run) > _when(one):
            found[run["id"]] = None
    return [*found]


def ran(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what tells one command, or one check, from another."""
    named = (row["check"]["provider"], row["check"]["name"]) if row["check"] else ()
    return row["kind"], row["folder"] or "", *(row["command"] or named)


def ended(check: Mapping[str, Any], recorded: str) -> str:
    """Return when a check came to what it did: never later than it was recorded, whatever its provider says."""
    return min(check.get("finished") or recorded, recorded)


def _when(row: Mapping[str, Any]) -> str:
    return ended(row["check"] or {}, str(row["created_at"]))
