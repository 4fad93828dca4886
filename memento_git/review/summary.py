"""What a run's rows say to whoever asks how it goes: blockers, risks, what was verified how, which files. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.model.ids import ID
from memento_git.model.states import DONE
from memento_git.work.nextsteps import broken, failed_gates, held_back, stranded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.folding.event_rows import Row

STUCK: Final = ("blocked", "rejected", "contested")
BUNDLE: Final = "bundle.json"
OPEN: Final = ("pending", "dispatched", "in_progress", "blocked", "rejected", "contested")


def digest(held: Row) -> Row:
    """Return the lists that a report tells beside the rows themselves."""
    return {
        "blockers": list(_blockers(held)),
        "risks": list(_risks(held)),
        "verification": list(_verification(held)),
        "changed_files": _files(held),
        "recovered": list(_recovered(held)),
    }


def _blockers(held: Row) -> Iterable[Row]:
    yield from _broken(held)
    yield from _of_run(held)
    yield from _of_tasks(held)
    for row in held["dispatches"]:
        if row.get("expired"):
            told = f"{row['claimed_by']} holds it beyond its lease"
            yield {"kind": "lease", "record": row["dispatch_id"], "about": told}
    for row in held["trouble"]:
        yield {"kind": row["problem"], "record": row["record"], "about": f"{row['problem']}: {row['about']}"}


def _broken(held: Row) -> Iterable[Row]:
    for finding in broken(held):
        named = [found[0] for found in ID.finditer(finding.path)]
        record = (named or [held["run"]["id"]])[-1]
        yield {"kind": "broken", "record": record, "about": f"a file is broken: {finding}"}


def _of_run(held: Row) -> Iterable[Row]:
    run = held["run"]
    if run["status"] in ("paused", "contested"):
        yield {"kind": "run", "record": run["id"], "about": f"the run is {run['status']}"}
    for row in failed_gates(held):
        why = f": {row['summary']}" if row["summary"] else ""
        yield {"kind": "gate", "record": row["scope"], "about": f"gate {row['kind']} has failed{why}"}
    for row in held["plans"]:
        if row["changed"]:
            about = f"plan “{row['title']}” was changed after its approval"
            yield {"kind": "plan", "record": row["id"], "about": about}
        elif row["unapproved"]:
            yield {"kind": "plan", "record": row["id"], "about": row["unapproved"]}
        elif row["unsigned"]:
            yield {"kind": "plan", "record": row["id"], "about": "; ".join(row["unsigned"])}


def _of_tasks(held: Row) -> Iterable[Row]:
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


def _risks(held: Row) -> Iterable[Row]:
    for row in held["plans"]:
        if row["id"] == held["run"]["current_plan_id"]:
            yield from ({"record": row["id"], "about": risk} for risk in row["risks"])
    for row in held["tasks"]:
        if row["risk"] == "high" and row["status"] in OPEN:
            yield {"record": row["id"], "about": f"“{row['title']}” is of high risk and not done"}


def _verification(held: Row) -> Iterable[Row]:
    """Yield the evidence that proves tasks, with the tasks that it proves."""
    proves: dict[str, list[str]] = {}
    for row in held["tasks"]:
        for name in row["proven_by"]:
            proves.setdefault(name, []).append(row["id"])
    for row in held["evidence"]:
        if row["id"] in proves:
            yield {
                "evidence_id": row["id"], "kind": row["kind"], "trust_level": row["trust_level"],
                "outcome": row["outcome"],
                **{key: row[key] for key in ("command", "folder", "exit_code", "covers", "absent")},
                **{key: row.get(key, False) for key in ("stale", "uncommitted")},
                "passed_since": row.get("passed_since"),
                "task_ids": proves[row["id"]],
            }  # fmt: skip


def _recovered(held: Row) -> Iterable[Row]:
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


def _files(held: Row) -> list[Row]:
    """Return the files that diffs name as changed, and those that done tasks are about."""
    found: dict[str, Row] = {}
    for row in held["evidence"]:
        for path in (row["diff"] or {}).get("files", ()) if row["status"] == "recorded" else ():
            _file(found, path)["evidence_ids"].append(row["id"])
    for row in held["tasks"]:
        for path in row["relevant_files"] if row["status"] in DONE else ():
            _file(found, path)["task_ids"].append(row["id"])
    return [found[path] for path in sorted(found)]


def _file(found: dict[str, Row], path: str) -> Row:
    return found.setdefault(path, {"path": path, "evidence_ids": [], "task_ids": []})
