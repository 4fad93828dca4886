"""Evidence as plain rows, with the keys that programs know; of what was redacted, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memento_git.folding.lanes import WORST_EVIDENCE
from memento_git.folding.settling import takes_out
from memento_git.ledger import layout
from memento_git.work.proof.trust import moved, outcome_of, seen_by
from memento_git.work.rows import mark

if TYPE_CHECKING:
    from memento_git.model.rows import EvidenceRow, Row, Withdrawn
    from memento_git.model.work import Evidence
    from memento_git.work.proof.rerun_comparison import Rerun
    from memento_git.work.state import RunState


def evidence_row(state: RunState, evidence: Evidence) -> EvidenceRow:
    data = evidence.data
    command = data.get("command")
    code = seen_by(evidence)
    again = state.seen_again(evidence)
    return {
        "id": evidence.id,
        "run_id": state.id,
        "kind": evidence.kind,
        "task_ids": evidence.tasks,
        "task_id": evidence.tasks[0] if evidence.tasks else None,
        "outcome": outcome_of(data),
        "status": state.evidence_status(evidence.id),
        "trust_level": state.trust_in(evidence),
        "summary": data.get("summary"),
        "uri": data.get("uri"),
        "files": [_file(state, evidence.id, one) for one in data.get("attachments", [])],
        "command": command["argv"] if command else None,
        "exit_code": command["exit"] if command else None,
        "seconds": command["seconds"] if command else None,
        "reports": [{"failed": [], "failed_more": 0, **report} for report in data.get("reports", [])],
        "problems": data.get("problems", []),
        "diff": data.get("diff"),
        "approves": data.get("approves"), "prompt": data.get("prompt"), "response": data.get("response"),
        "check": data.get("check"), "dispatch": data.get("dispatch"), "reproduces": data.get("reproduces"),
        "reproduced_by": list(again.agree),
        "contradicted_by": list(again.differ),
        "reproductions": [_rerun_row(one) for one in again.reruns],
        "code": {key: code[key] for key in ("tree", "full", "paths", "dirty", "untracked", "head") if key in code},
        "folder": command["cwd"] if command else None,
        "covers": sorted(code.get("paths", ())),
        "absent": code.get("absent", 0),
        "moved": moved(evidence) or None,
        "digest": evidence.digest,
        "actor": data["by"],
        "created_at": data["at"],
        "withdrawn": withdrawn_row(state, evidence.id),
        "signature": mark(evidence)["signature"],
        "signed_by": None,
    }  # fmt: skip


def withdrawn_row(state: RunState, evidence: str) -> Withdrawn | None:
    """Return who superseded, retracted or redacted evidence last, when and why; None where nobody did."""
    told = reversed(state.folded(evidence).legal(*WORST_EVIDENCE))
    last = next((one for one in told if one.do != "redacted" or takes_out(one)), None)
    return {"actor": last.by, "at": last.at, "reason": last.get("reason") or None} if last else None


def redacted_rows(state: RunState) -> list[EvidenceRow]:
    """Return what is left of each piece of evidence that was redacted."""
    rows = [redacted_row(state, name) for name in sorted(state.redacted())]
    return [row for row in rows if row["status"] == "redacted"]


def redacted_row(state: RunState, evidence: str) -> EvidenceRow:
    """Return what is left of redacted evidence: who took it out and why, which tasks named it, and nothing of it.

    It has all keys of other evidence; what nobody knows any more is None.
    """
    tasks = [task for task in state.ids("task") if _names(state, task, evidence)]
    empty = dict.fromkeys(("kind", "outcome", "trust_level", "summary", "uri", "command", "folder", "exit_code",
                           "seconds", "diff", "approves", "prompt", "response", "check", "dispatch", "reproduces",
                           "moved", "digest", "actor", "created_at", "absent"))  # fmt: skip
    lists = ("covers", "files", "reports", "problems", "reproduced_by", "contradicted_by", "reproductions")
    row: dict[str, Any] = {
        "id": evidence,
        "run_id": state.id,
        "task_ids": tasks,
        "task_id": tasks[0] if tasks else None,
        **empty,
        **{key: [] for key in lists},
        "code": {},
        "status": state.evidence_status(evidence),
        "withdrawn": withdrawn_row(state, evidence),
        **mark(None),
    }
    return cast("EvidenceRow", row)


def _names(state: RunState, task: str, evidence: str) -> bool:
    """Tell whether something that happened to a task rests on evidence."""
    events = state.folded(task).legal()
    return any(ref.partition("@")[0] == evidence for event in events for ref in event.evidence)


def _rerun_row(rerun: Rerun) -> Row:
    return {
        "id": rerun.id,
        "result": rerun.result,
        "differences": list(rerun.differences),
        "actor": rerun.actor,
        "signature": rerun.runner.signature,
        "signed_by": rerun.runner.by or None,
        "counts": not rerun.runner.why,
        "why": rerun.runner.why or None,
    }


def _file(state: RunState, evidence: str, given: Row) -> Row:
    path = f"{layout.folder_of(state.id, evidence)}/{given['kept']}" if given.get("kept") else None
    return {**{key: given[key] for key in ("name", "sha256", "bytes")}, "path": path}
