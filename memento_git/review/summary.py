"""What a run's rows say to whoever asks how it goes: blockers, risks, what was verified how, which files. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from memento_git.model.enumeration import grouped
from memento_git.model.ids import ID
from memento_git.model.states import DONE, FINAL_TASK, TASK_STATUSES
from memento_git.work.nextsteps import broken, failed_gates, held_back, stranded

if TYPE_CHECKING:
    from memento_git.model.rows import Row
    from memento_git.model.run_rows import Digest, RunRows

STUCK: Final = ("blocked", "rejected", "contested")
BUNDLE: Final = "bundle.json"
VERIFIED: Final = (
    "kind", "trust_level", "outcome", "command", "folder", "exit_code", "covers", "absent", "stale", "uncommitted",
    "passed_since",
)  # fmt: skip
OPEN: Final = tuple(status for status in TASK_STATUSES if status not in FINAL_TASK)


def digest(held: RunRows) -> Digest:
    """Return the lists that a report tells beside the rows themselves."""
    return {
        "blockers": list(_blockers(held)),
        "risks": list(_risks(held)),
        "verification": list(_verification(held)),
        "changed_files": _files(held),
        "recovered": list(_recovered(held)),
    }


def _blockers(held: RunRows) -> Iterable[Row]:
    yield from _broken(held)
    yield from _of_run(held)
    yield from _of_tasks(held)
    for dispatch in held["dispatches"]:
        if dispatch.get("expired"):
            told = f"{dispatch['claimed_by']} holds it beyond its lease"
            yield {"kind": "lease", "record": dispatch["dispatch_id"], "about": told}
    for row in held["trouble"]:
        yield {"kind": row["problem"], "record": row["record"], "about": f"{row['problem']}: {row['about']}"}


def _broken(held: RunRows) -> Iterable[Row]:
    for finding in broken(held):
        named = [found[0] for found in ID.finditer(finding.path)]
        record = (named or [held["run"]["id"]])[-1]
        yield {"kind": "broken", "record": record, "about": f"a file is broken: {finding}"}


def _of_run(held: RunRows) -> Iterable[Row]:
    run = held["run"]
    if run["status"] in ("paused", "contested"):
        yield {"kind": "run", "record": run["id"], "about": f"the run is {run['status']}"}
    for gate in failed_gates(held):
        why = f": {gate['summary']}" if gate["summary"] else ""
        yield {"kind": "gate", "record": gate["scope"], "about": f"gate {gate['kind']} has failed{why}"}
    for row in held["plans"]:
        changed = f"plan “{row['title']}” was changed after its approval" if row["changed"] else ""
        if about := changed or row["unapproved"] or "; ".join(row["unsigned"]):
            yield {"kind": "plan", "record": row["id"], "about": about}


def _of_tasks(held: RunRows) -> Iterable[Row]:
    for row, back in held_back(held):
        about = f"“{row['title']}” is held back: {back['why']}"
        yield {"kind": "held_back", "record": row["id"], "about": about}
    for row in held["tasks"]:
        if row["status"] in STUCK:
            why = f": {row['reason']}" if row["reason"] else ""
            yield {"kind": "task", "record": row["id"], "about": f"“{row['title']}” is {row['status']}{why}"}
        elif row["proven"] is False:
            why = "; ".join(row["unproven_because"]) or "nothing proves it"
            yield {"kind": "proof", "record": row["id"], "about": f"“{row['title']}” is not proven: {why}"}

    for stuck in stranded(held["tasks"]):
        yield {"kind": "task", "record": stuck.task["id"], "about": stuck.why}


def _risks(held: RunRows) -> Iterable[Row]:
    for plan in held["plans"]:
        if plan["id"] == held["run"]["current_plan_id"]:
            yield from ({"record": plan["id"], "about": risk} for risk in plan["risks"])
    for row in held["tasks"]:
        if row["risk"] == "high" and row["status"] in OPEN:
            yield {"record": row["id"], "about": f"“{row['title']}” is of high risk and not done"}


def _verification(held: RunRows) -> Iterable[Row]:
    """Yield the evidence that proves tasks, with the tasks that it proves."""
    proves = grouped((name, task["id"]) for task in held["tasks"] for name in task["proven_by"])
    rows: list[Row] = [{"stale": False, "uncommitted": False, **row} for row in held["evidence"] if row["id"] in proves]
    for row in rows:
        yield {"evidence_id": row["id"], **{key: row.get(key) for key in VERIFIED}, "task_ids": proves[row["id"]]}


def _recovered(held: RunRows) -> Iterable[Row]:
    """Yield the dispatches that were taken back, what follows each, and where the bundle for it lies."""
    next_ = {row["recovery_of"]: row["dispatch_id"] for row in held["dispatches"] if row["recovery_of"]}
    bundles = {
        row["dispatch"]: (row["id"], file["path"])
        for row in held["evidence"] for file in row["files"] if row["dispatch"] and file["name"] == BUNDLE
    }  # fmt: skip
    for row in held["dispatches"]:
        if row["status"] == "recovered" and row["recovered_at"]:
            evidence, path = bundles.get(row["dispatch_id"], (None, None))
            yield {
                "dispatch_id": row["dispatch_id"], "task_id": row["task_id"],
                "requeued_dispatch_id": next_.get(row["dispatch_id"]), "evidence_id": evidence,
                "bundle_path": path,
            }  # fmt: skip


def _files(held: RunRows) -> list[Row]:
    """Return the files that diffs name as changed, and those that done tasks are about."""
    found: dict[str, Row] = {}
    for row in held["evidence"]:
        for path in (row["diff"] or {}).get("files", ()) if row["status"] == "recorded" else ():
            _file(found, path)["evidence_ids"].append(row["id"])
    for task in held["tasks"]:
        for path in task["relevant_files"] if task["status"] in DONE else ():
            _file(found, path)["task_ids"].append(task["id"])
    return [found[path] for path in sorted(found)]


def _file(found: dict[str, Row], path: str) -> Row:
    return found.setdefault(path, {"path": path, "evidence_ids": [], "task_ids": []})
