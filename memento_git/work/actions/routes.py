"""task route --record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.work.actions import evidences
from memento_git.work.actions.attaching import kept_as
from memento_git.work.actions.evidences import Draft
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction

FILE: Final = "route.json"


def record_route(tx: Transaction, task: str, decision: dict[str, Any]) -> str:
    """Keep a decision as a note, which proves nothing, with all of it attached; return the evidence's id."""
    writer = RunWriter.of(tx)
    text = json.dumps({"task": task, "decision": decision}, indent=1, ensure_ascii=False)
    content = writer.text("decision", text).encode()
    chain = ", then ".join((decision["selected_executor"], *decision["fallback_chain"]))
    attachments = [kept_as(FILE, FILE, content)]
    draft = Draft({"kind": "note", "outcome": "observed", "attachments": attachments}, {FILE: content})
    return evidences.record_draft(tx, draft, tasks=[task], summary=f"Routing, advisory: {chain}.")
