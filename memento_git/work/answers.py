"""What a verb answers: the row of the record it changed, as the transaction leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.folding.event_rows import event_row
from memento_git.ledger.view import LedgerUnreadable, View
from memento_git.model.ids import NoSuchRecord, kind_of
from memento_git.work import doubts, rows
from memento_git.work.dispatch import handout
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import AnyRow, DispatchRow, EventRow, PlanRow, Row, RunRow, TaskRow

AGES: Final = ("stale", "uncommitted", "passed_since", "failed_since")


def after(tx: Transaction, identity: str) -> AnyRow:
    """Return a record's row as it is at the end of a transaction."""
    _, state = RunWriter.of(tx).find(identity, kind_of(identity))
    told = row(state, identity)
    check(state, told)
    return told


def at(view: View, given: str, kind: str) -> AnyRow:
    """Return the row of the record that a prefix names."""
    return _found(view, given, kind)[1]


def _found(view: View, given: str, kind: str) -> tuple[RunState, AnyRow]:
    identity, state = RunState.find(view, given, kind)
    told = row(state, identity)
    check(state, told)
    return state, told


def shown(view: View, given: str, kind: str) -> AnyRow:
    """Return the same, and what takes from it: evidence, or all that proves a task, of other code than this view's."""
    state, told = _found(view, given, kind)
    if kind == "run":
        mark_ended(view, [told])
    mark_aged(state, [told])
    return told


def mark_aged(state: RunState, told: Iterable[AnyRow]) -> None:
    """Say of evidence and tasks among some rows whether that, or all that proves them, is of other code.

    Of tasks also what failed since. What passed, or failed, since is told by the other rows of the run.
    """
    from memento_git.work.proof.staleness import mark_stale

    rows = list(told)
    evidence, tasks = [row for row in rows if "code" in row], [row for row in rows if row.get("proven_by")]
    mark_stale(state.view, evidence, [])
    old = [row for row in evidence if row.get("stale")]
    if not (tasks or old):
        return
    from memento_git.work import row_cache
    from memento_git.work.proof.failures import mark_failed

    held = row_cache.base(state.view, state.id)
    mark_stale(state.view, held["evidence"], held["tasks"])
    mark_failed(held["tasks"], held["evidence"], state.view.now)
    known: dict[str, AnyRow] = {row["id"]: row for row in (*held["evidence"], *held["tasks"])}
    for row in (*tasks, *old):
        there = known.get(row["id"], {})
        row |= {key: there[key] for key in AGES if key in there}


def mark_ended(view: View, runs: Iterable[RunRow]) -> None:
    """Say of runs what takes from that they are completed; where policy cannot be read, that nobody can tell."""
    from memento_git.work import row_cache

    for row in runs:
        try:
            row["doubts"] = doubts.of_run(row_cache.base(view, row["id"])) if row["status"] == "completed" else []
        except LedgerUnreadable:
            row["doubts"] = ["whether it is proven cannot be told: memento check"]


def check(state: RunState, *shown: AnyRow) -> None:
    """Say in rows what the signatures of their records come to, where there are any."""
    signed = [row for row in shown if row.get("signature", "none") != "none"]
    if signed:
        from memento_git.work.attest import signatures

        signatures.fill(state, signed)


def mark_lacking(state: RunState, *, plans: Sequence[PlanRow] = (), tasks: Sequence[TaskRow] = ()) -> None:
    """Say in rows where the signature is lacking that policy demands, where it demands any."""
    if state.policy.must_be_signed:
        from memento_git.work.attest import signatures

        signatures.mark_lacking(state, plans=plans, tasks=tasks)


def task(view: View, given: str) -> TaskRow:
    """Return the row of the task that a prefix names, with all that verification would ask of it now."""
    from memento_git.work.proof import verification_inputs

    told: TaskRow
    state, told = _found(view, given, "task")
    mark_aged(state, [told])
    if told["status"] not in ("accepted", "cancelled"):
        told["asked"] = rows.asked_row(state, told["id"], verification_inputs.asked(state, told["id"]))
    return told


def row(state: RunState, identity: str) -> AnyRow:
    """Return the row of a record of any kind."""
    kind = kind_of(identity)
    if kind == "run":
        return rows.run_row(state)
    if kind == "plan":
        plan = rows.plan_row(state, identity)
        mark_lacking(state, plans=[plan])
        return plan
    if kind == "task":
        state.prose(identity)
        told = rows.task_row(state, identity)
        handout.mark_unsigned(state, [told])
        mark_lacking(state, tasks=[told])
        return told
    if kind == "dispatch":
        return dispatch(state, identity)
    if kind == "evidence":
        from memento_git.work import evidence_rows

        held = state.evidence(identity)
        return evidence_rows.evidence_row(state, held) if held else evidence_rows.redacted_row(state, identity)
    seen = state.fold.judged(identity)
    if seen is None:
        raise NoSuchRecord(kind=kind, given=identity)
    return event_row(seen)


def dispatch(state: RunState, identity: str) -> DispatchRow:
    opened = state.opened(identity)
    found = [row for row in rows.dispatch_rows(state, opened.of) if row["dispatch_id"] == identity] if opened else []
    if not found:
        raise NoSuchRecord(kind="dispatch", given=identity)
    return found[0]


def going_on(state: RunState, held: DispatchRow, asker: str) -> list[Row]:
    """Return the steps that go on with a dispatch, by all evidence that there is for its task."""
    from memento_git.work import evidence_rows, task_steps
    from memento_git.work.proof import verification_inputs
    from memento_git.work.proof.staleness import mark_stale

    own: TaskRow = row(state, held["task_id"])
    found = (one.evidence for one in verification_inputs.evidence_for(state, own["id"]))
    known = [evidence_rows.evidence_row(state, one) for one in found if one is not None]
    mark_stale(state.view, known, [])
    return task_steps.going_on(own, [held], known, asker)


def history(view: View, identity: str) -> list[EventRow]:
    """Return the events of one record in the order in which they saw one another."""
    from memento_git.work import row_cache

    _, state = RunState.find(view, identity, kind_of(identity))
    return [row for row in row_cache.audit(view, state.id) if row["record"] == identity]
