"""All rows of a run as its files and the policy have them: computed once, kept, and renewed by what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from memento_git.ledger import cache
from memento_git.model.enumeration import grouped
from memento_git.model.finding import AWAY, Finding
from memento_git.model.ids import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memento_git.ledger.view import View
    from memento_git.model.rows import EventRow, EvidenceRow, GateRow, Row, RunRow, TaskRow
    from memento_git.model.run_rows import RunRows
    from memento_git.work.proof.runners import Runners
    from memento_git.work.state import RunState

R = TypeVar("R", "TaskRow", "EvidenceRow")
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
    found = _merged(held, since)
    if len(since["tasks"]) + len(since["audit"]) > WORTH_KEEPING and (events := _events(view, run, key)) is not None:
        _keep(view, run, key, {**found, "audit": events})
    return found


def _since(view: View, run: str, before: str, key: str, held: RunRows) -> Row | None:
    """Return the rows that are others than those held; kept under both keys, and None where all may be."""
    name, keys = f"{run}.since", f"{before}>{key}"
    kept: Row | None = cache.read(view.git, name, keys)
    if kept is not None:
        return kept
    from memento_git.work import row_update

    told, sure = row_update.patch(view, run, before, key, held) or (None, False)
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
    from memento_git.work.proof.reruns import is_sure
    from memento_git.work.routing.roles import roles
    from memento_git.work.row_update import is_whole
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
    held["cites"], held["whole"] = _cites({}, held["audit"], held["evidence"]), is_whole(state, state.groups())
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


def _cites(
    before: Mapping[str, Iterable[str]], events: Iterable[EventRow], evidence: Iterable[EvidenceRow]
) -> dict[str, list[str]]:
    """Return the tasks that rest on evidence which is not said to be for them, by its id."""
    named = {row["id"]: row["task_ids"] for row in evidence}
    found = {name: set(tasks) for name, tasks in before.items()}
    for event in events:
        for ref in event["payload"].get("evidence") or () if kind_of(event["record"]) == "task" else ():
            found.setdefault(ref.partition("@")[0], set()).add(event["record"])
    left = {name: sorted(tasks.difference(named.get(name, ()))) for name, tasks in found.items()}
    return {name: left[name] for name in sorted(left) if left[name]}


def _merged(held: RunRows, told: Row) -> RunRows:
    """Return all rows of a run: those that are held, with a patch of `row_update` on top; nothing is read for it."""
    from memento_git.work.routing.roles import roles

    tasks = _by_time((*held["tasks"], *told["tasks"]))
    evidence = _by_time((*held["evidence"], *told["evidence"]))
    new = {
        kind: [row for row in told[kind] if row["id"] not in known]
        for kind in ("tasks", "evidence") for known in [{row["id"] for row in held[kind]}]
    }  # fmt: skip
    dispatches = {**grouped((row["task_id"], row) for row in held["dispatches"]), **told["dispatches"]}
    gates = {**grouped((row["scope"], row) for row in held["gates"]), **told["gates"]}
    own = gates.get(held["run"]["id"], [])
    found: RunRows = {
        **held,
        "tasks": tasks,
        "dispatches": [row for task in tasks for row in dispatches.get(task["id"], ())],
        "gates": [
            *(row for row in own if row["event_id"]),
            *(row for task in tasks for row in gates.get(task["id"], ())),
            *(row for row in own if not row["event_id"]),
        ],
        "evidence": evidence,
        "audit": [*held["audit"], *told["audit"]],
        "events": held["events"] + len(told["audit"]),
        "latest": max((row["created_at"] for row in told["audit"]), default=held["latest"]),
        "cites": _cites(held["cites"], told["audit"], evidence),
    }
    fresh: Any = {**found, **new, "run": None, "plans": [], "audit": told["audit"]}
    return {**found, "roles": roles(found, fresh, held["roles"])}


def _by_time(given: Iterable[R]) -> list[R]:
    """Return rows in the order of their making, of several of one record the last."""
    return sorted({row["id"]: row for row in given}.values(), key=lambda row: (row["created_at"], row["id"]))
