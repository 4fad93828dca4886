"""What proves the work of a branch, what it signed, and what was run again on it, as rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from memento_git.review.report import checked, differing
from memento_git.work.proof import failures
from memento_git.work.proof.rerun_comparison import less_covered

if TYPE_CHECKING:
    from memento_git.model.rows import Row

KEYS: Final = (
    "id", "kind", "trust_level", "outcome", "command", "folder", "exit_code", "covers", "absent", "beside", "reports",
    "summary",
)  # fmt: skip
VOID = "it was withdrawn, what it names was redacted, or it is of another command or other code than that"


def proof(row: Row) -> Row:
    told = {key: row.get(key) for key in (*KEYS, "uncommitted", "passed_since")}
    return {**told, "holds": holds(row), "stale": bool(row.get("stale"))}


def holds(row: Row) -> list[str]:
    """Return what evidence without a command holds beside its summary, which anybody may word as they like."""
    check, changed = row["check"], row["diff"]
    found = [one["name"] for one in row["files"]]
    found += [checked(check)] if check else []
    found += [differing(changed)] if changed else []
    return found + ([f"“{row['response']}”"] if row["response"] else [])


def failed_since(change: Row, evidence: Mapping[str, Row], latest: Mapping[object, Mapping[str, Any]]) -> list[Row]:
    """Return the latest runs of what proves a task that failed after that."""
    names = failures.since(change["id"], (evidence[row["id"]] for row in change["proof"]), latest)
    return [proof(evidence[name]) for name in names]


def fresh(before: Row, after: Row) -> list[Row]:
    """Return the rows that bear a signature which was not there before: of approvals of plans, verdicts, evidence."""
    known = {row["id"] for name in ("audit", "evidence") for row in before[name]}
    held = [*after["plans"], *after["gates"], *after["evidence"]]
    return [row for row in held if row["signature"] != "none" and _record(row) not in known]


def _record(row: Row) -> str:
    return str(row.get("approval_event_id") or row.get("event_id") or row["id"])


def signatures(before: Row, after: Row) -> list[Row]:
    """Return what was signed, by whom, and what the signature comes to; reruns are told apart."""
    return [_signature(row) for row in fresh(before, after) if not row.get("reproduces")]


def _signature(row: Row) -> Row:
    if "scope" in row:
        told = {"record": row["scope"], "what": f"gate {row['kind']} {row['status']}", "actor": row["reviewer"]}
    elif "approved_by" in row:
        told = {"record": row["id"], "what": "plan approved", "actor": row["approved_by"]}
    else:
        about = f" of {row['approves']}" if row["approves"] else ""
        told = {"record": row["id"], "what": f"{row['kind']}{about}, {row['outcome']}", "actor": row["actor"]}
    event = None if _record(row) == row.get("id") else _record(row)
    return {**told, "event_id": event, "signature": row["signature"], "signed_by": row["signed_by"]}


def reproductions(before: Row, after: Row) -> list[Row]:
    """Return what was run again, with what result, by whom, and whether that makes it reproduced."""
    known = {row["id"] for row in before["evidence"]}
    held = {row["id"]: row for row in after["evidence"]}
    new = [row for row in after["evidence"] if row["reproduces"] and row["id"] not in known]
    return [_reproduction(row, held) for row in new]


def _reproduction(row: Row, held: Mapping[str, Row]) -> Row:
    of = row["reproduces"].partition("@")[0]
    told = (one for one in held.get(of, {"reproductions": []})["reproductions"] if one["id"] == row["id"])
    void = {
        "result": "void", "differences": [], "signature": row["signature"], "signed_by": row["signed_by"],
        "counts": False, "why": VOID,
    }  # fmt: skip
    found = next(told, void)
    return {
        **{key: found[key] for key in void}, "id": row["id"], "of": of, "task_ids": row["task_ids"],
        **{key: row[key] for key in ("command", "folder", "exit_code", "covers", "absent", "actor")},
        "less_covered": less_covered(held.get(of, {}), row),
    }  # fmt: skip
