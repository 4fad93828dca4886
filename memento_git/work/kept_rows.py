"""All rows of a run as its files and the policy have them: computed once, kept, and renewed by what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from memento_git.ledger import cache
from memento_git.model.finding import AWAY, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.ledger.view import View
    from memento_git.model.rows import EventRow, EvidenceRow, GateRow, Row, RunRow
    from memento_git.model.run_rows import RunRows
    from memento_git.work.proof.runners import Runners
    from memento_git.work.state import RunState

SHOWN: Final = 200  # events that are kept with the other rows; all of them are in a file of their own
MANY: Final = ("tasks", "dispatches", "evidence")  # the rows that a run may have thousands of
WORTH_KEEPING: Final = 100  # rows that are others than those kept, from which on all are kept anew


def base(view: View, run: str) -> RunRows:
    """Return what depends on the run's files and the policy alone; kept under the ids of both."""
    key = view.tree_key(run)
    held = _held(view, run, key) if key else None
    if held is None:
        held, sure = _compute(view, run)
        if key and sure and not _passes(view, held["evidence"], held["findings"]):
            _keep(view, run, key, held)
    return held


def _keep(view: View, run: str, key: str, held: RunRows) -> None:
    cache.write(view.git, f"{run}.audit", key, held["audit"])
    given = cast("dict[str, Any]", held)
    many = {name: cache.thrifty(given[name]) for name in MANY}
    cache.write(view.git, run, key, {**given, **many, "audit": held["audit"][-SHOWN:]})
    cache.write(view.git, f"{run}.head", key, held["run"])


def _held(view: View, run: str, key: str) -> RunRows | None:
    """Return what was kept of a run; what changed since is told by the changed files, where that is less work."""
    kept = cache.latest(view.git, run)
    if kept is None:
        return None
    before, told = kept
    many = {name: cache.spelled(told[name]) for name in MANY}
    held = cast("RunRows", {**told, **many, "findings": [Finding(*one) for one in told["findings"]]})
    if before == key:
        return held
    since = _since(view, run, before, key, held)
    if since is None:
        return None
    from memento_git.work.patches import merged

    found = merged(held, since)
    if len(since["tasks"]) + len(since["audit"]) > WORTH_KEEPING and (events := _events(view, run, key)) is not None:
        _keep(view, run, key, {**found, "audit": events})
    return found


def _since(view: View, run: str, before: str, key: str, held: RunRows) -> Row | None:
    """Return the rows that are others than those held; kept under both keys, and None where all may be."""
    name, keys = f"{run}.since", f"{before}>{key}"
    kept: Row | None = cache.read(view.git, name, keys)
    if kept is not None:
        return kept
    from memento_git.work import renewal

    told, sure = renewal.patch(view, run, before, key, held) or (None, False)
    if told is not None and sure and not _passes(view, told["evidence"], ()):
        cache.write(view.git, name, keys, told)
        cache.write(view.git, f"{run}.head", key, held["run"])
    return told


def _events(view: View, run: str, key: str) -> list[EventRow] | None:
    """Return all events of a run, where they are kept, with those that came since."""
    before, held = cache.latest(view.git, f"{run}.audit") or ("", None)
    if held is None or before == key:
        return held
    told: Row | None = cache.read(view.git, f"{run}.since", f"{before}>{key}")
    return None if told is None else [*held, *told["audit"]]


def _passes(view: View, evidence: Iterable[EvidenceRow], findings: Iterable[Finding]) -> bool:
    """Tell whether what a run comes to may be another soon though its files stay: evidence of later, absent objects."""
    from memento_git.model.clock import is_ahead

    if any(AWAY in finding.message for finding in findings):
        return True
    return any(is_ahead(row["created_at"], view.now) for row in evidence)


def audit(view: View, run: str) -> list[EventRow]:
    """Return all events of a run, each after what it had seen."""
    key = view.tree_key(run)
    held = _events(view, run, key) if key else None
    if held is None and key:
        base(view, run)
        held = _events(view, run, key)
    return _compute(view, run)[0]["audit"] if held is None else held


def story(view: View, run: str) -> list[EventRow]:
    """Return all events of a run, each after what it had seen; that a record was made comes before what befell it."""
    from memento_git.folding.event_rows import clocked, creations, mixed

    dated = clocked(audit(view, run))
    first = {row["record"]: at for at, row in reversed(dated)}
    made = [(min(row["created_at"], first.get(row["id"], row["created_at"])), row)
            for row in creations(base(view, run))]  # fmt: skip
    made.sort(key=lambda pair: pair[0])
    return mixed(made, dated)


def whole(view: View, run: str, runners: Runners | None = None) -> RunRows:
    """Return a run with all of its events, for one look: what is kept for the run as it is now stays kept.

    With `runners`, whose reruns count is theirs to say.
    """
    if runners is not None:
        return _compute(view, run, runners)[0]
    key = view.tree_key(run)
    held = _held(view, run, key) if key else None
    events = _events(view, run, key) if key and held else None
    return _compute(view, run)[0] if held is None or events is None else {**held, "audit": events}


def _compute(view: View, run: str, runners: Runners | None = None) -> tuple[RunRows, bool]:
    """Return what a run comes to, and whether all signatures that bear on it could be checked here."""
    from memento_git.work import evidence_rows, rows
    from memento_git.work.loading import load
    from memento_git.work.patches import cites
    from memento_git.work.proof.reruns import is_sure
    from memento_git.work.renewal import is_whole
    from memento_git.work.routing.roles import roles
    from memento_git.work.state import RunState

    state = RunState(view, run, runners, shown=True)
    load(state)
    tasks = state.tasks()
    evidence = state.pieces(state.ids("evidence"))
    held: RunRows = {
        "run": rows.run_row(state),
        "plans": [rows.plan_row(state, plan) for plan in state.ids("plan") if state.text(plan)],
        "tasks": [rows.task_row(state, task) for task in tasks],
        "dispatches": [row for task in tasks for row in rows.dispatch_rows(state, task)],
        "gates": [row for scope in (run, *tasks) for row in rows.gate_rows(state, scope)],
        "evidence": [evidence_rows.evidence_row(state, one) for one in evidence],
        "audit": rows.audit_rows(state),
        "trouble": rows.trouble_rows(state),
    }
    held["events"], held["redacted"] = len(held["audit"]), evidence_rows.redacted_rows(state)
    held["roles"], held["signs"] = roles(held), bool(state.policy.must_be_signed)
    held["fresh"] = list(state.policy.gates_fresh)
    held["cites"], held["whole"] = cites(held), is_whole(state, state.groups())
    held["latest"] = max((row["created_at"] for row in held["audit"]), default="")
    decided = {row["kind"] for row in held["gates"] if row["scope"] == run}
    held["gates"] += [_pending(state, gate) for gate in state.policy.gates_required if gate not in decided]
    held["findings"] = state.faults()
    return held, is_sure(state)


def _pending(state: RunState, gate: str) -> GateRow:
    """Return the row of a gate that policy requires and nobody has spoken of."""
    from memento_git.work.rows import mark

    return {
        "kind": gate, "scope": state.id, "scope_kind": "run", "status": "pending",
        "judges": list(state.policy.judges(gate, "passed")), "reviewer": None, "summary": None,
        "evidence": [], "created_at": None, "event_id": None, "late": False, "fallen": None, **mark(None),
    }  # fmt: skip


def head(view: View, run: str) -> RunRow:
    """Return a run's own row; kept, unless something of the run cannot be read."""
    key, known = view.tree_key(run), len(view.findings)
    held: RunRow | None = cache.read(view.git, f"{run}.head", key) if key else None
    if held is None:
        from memento_git.work import rows
        from memento_git.work.state import RunState

        held = rows.run_row(RunState(view, run))
        if key and len(view.findings) == known:
            cache.write(view.git, f"{run}.head", key, held)
    return held


def ready_audit(view: View, run: str) -> cache.Ready | None:
    """Return the JSON of all events of a run where it is kept as it is now."""
    key = view.tree_key(run)
    return cache.ready(view.git, f"{run}.audit", key) if key else None
