"""What records of the work come to, by id: for notes that rest on them and for what was found. Joins both domains."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from memento_git.errors import MementoError
from memento_git.model.ids import Ref, kind_of, parse_ref

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import AnyRow, Row
    from memento_git.work.state import RunState


def record_states(view: View, ids: Iterable[str]) -> dict[str, Row]:
    """Return status, of evidence trust, outcome and staleness, of a task proof and its run's end; of others why not.

    Stale is what saw other code than the view's, as in lists of evidence, and doubts are what takes from the state, in
    the words of those lists. Evidence may be named with the digest of its file: another file of that id proves nothing.
    """
    from memento_git.work import answers
    from memento_git.work.state import RunState

    states: dict[str, RunState] = {}
    found: dict[str, AnyRow] = {}
    for name in dict.fromkeys(ids):
        identity, digest = parse_ref(name)
        kind = kind_of(identity)
        try:
            run = view.find(identity, kind)[1]
            state = states.setdefault(run, RunState(view, run))
            found[name] = {"run_id": run, **_row(state, Ref(identity, digest), kind)}
        except MementoError as error:
            found[name] = {"id": identity, "run_id": "", "status": error.token}
    for run, state in states.items():
        with suppress(MementoError):  # policy that cannot be read, say, keeps nothing else back
            answers.mark_aged(state, [row for row in found.values() if row["run_id"] == run])
    return {name: _told(row) for name, row in found.items()}


def _row(state: RunState, ref: Ref, kind: str) -> AnyRow:
    from memento_git.work import answers, evidence_rows, rows

    if kind == "evidence":
        held = state.evidence(ref.id)
        status, trust = state.evidence_status(ref.id), state.trust_in(held) if held else "advisory"
        if ref.digest:
            _, held, status, trust, *_ = state.cited(ref)
        told: Row = {**evidence_rows.evidence_row(state, held)} if held else {"id": ref.id, "outcome": None, "code": {}}
        return {**told, "status": status, "trust": trust}
    if kind == "task":
        task = rows.task_row(state, ref.id)
        answers.mark_lacking(state, tasks=[task])
        return task
    row = answers.row(state, ref.id)
    if kind == "run":
        answers.mark_ended(state.view, [row])
    return row


def _told(row: AnyRow) -> Row:
    """Return what is said of a record beside what it holds."""
    from memento_git.work import doubts

    kind = kind_of(row["id"])
    told = {key: row.get(key) for key in ("status", "trust", "outcome", "stale")}
    if kind == "evidence" and "code" in row:
        return {**told, "stale": row.get("stale", False), "doubts": [word for word in [doubts.aged(row)] if word]}
    if kind == "task" and "proven" in row:
        told |= {key: row[key] for key in ("proven", "run_status")}
        return {**told, "doubts": doubts.with_gates(row)}
    return {**told, "doubts": doubts.of_plan(row) if kind == "plan" and "changed" in row else row.get("doubts", [])}
