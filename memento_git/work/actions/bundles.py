"""The bundle of a task as a file: beside the work, or of one that is done again made anew and kept as a note."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import codec, layout, outfile
from memento_git.work.actions.attaching import attached
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

FILE: Final = "bundle.json"
MODE: Final = "regenerate_context_bundle"


def as_json(row: Row) -> bytes:
    """Return a bundle as its file."""
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def write_bundle(ledger: Ledger, row: Row, path: Path, *, force: bool = False) -> None:
    """Write a bundle as JSON where the name ends so, else as Markdown; refuse to replace another file unasked."""
    from memento_git.work.brief import as_markdown

    outfile.refuse_place(ledger, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    outfile.put(ledger, path, as_json(row) if path.suffix == ".json" else as_markdown(row).encode(), force=force)


def record_bundle(tx: Transaction, task: str, dispatch: str) -> str:
    """Record what a task's next worker needs after a dispatch was taken back; return the digest of the bundle's file.

    It is made from the ledger and the code of the commit alone: no session of the former worker is needed.
    """
    from memento_git.work.actions import evidences
    from memento_git.work.brief import bundle

    row = bundle(tx.view, task)
    content = as_json(row)
    attachments, files = attached(RunWriter.of(tx), {FILE: content})
    draft = evidences.Draft({"kind": "note", "outcome": "observed", "attachments": attachments}, files)
    summary = f"{row['id']}: what whoever does the task again needs, after {dispatch} was taken back."
    evidences.record_draft(tx, draft, dispatch=dispatch, summary=summary)
    return codec.digest_of(content)


def bundle_row(state: RunState, dispatch: str) -> Row | None:
    """Return the bundle that was recorded when a dispatch was taken back: its id, hash, evidence and path."""
    for found in state.keeping(FILE):
        if found.kind == "note" and found.data.get("dispatch") == dispatch:
            path = f"{layout.folder_of(state.id, found.id)}/{FILE}"
            held = as_object(state.view.read(path))
            return {"id": held.get("id"), "hash": held.get("bundle_hash"), "evidence_id": found.id, "path": path}
    return None


def as_object(data: bytes | None) -> dict[str, Any]:
    """Return what a text of JSON holds; nothing where it is no object, or was cut short."""
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def restart_row(view: View, dispatch: str, task: str, run: str) -> Row:
    """Return how the task of a dispatch that was taken back is begun again, with the keys that programs know."""
    state = RunState(view, run)
    known = state if state.names.text_of(task) else None
    found = bundle_row(state, dispatch) or {}
    return {
        "status": known.task_status(task) if known else None,
        "recovery_mode": MODE if found else None,
        "native_session_required": False,
        "verification_policy": known.prose(task).data.get("verify") if known else None,
        "bundle_id": found.get("id"),
        "context_bundle_hash": found.get("hash"),
        "context_bundle_path": found.get("path"),
        "evidence_id": found.get("evidence_id"),
    }
