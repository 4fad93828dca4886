"""Records as plain rows, with the keys that programs know: what JSON, reports and pages are made of."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from memento_git.folding.event_rows import audit, troubles, unmet
from memento_git.folding.fold import plans_of
from memento_git.model.ids import kind_of
from memento_git.model.states import DEFAULT_PROOF, DONE, FINAL_TASK, OPEN_DISPATCH, PASSING
from memento_git.model.work import Event, Evidence, Prose
from memento_git.work.cycles import cycles
from memento_git.work.dispatch import handout

if TYPE_CHECKING:
    from memento_git.model.rows import (
        AskedRow,
        DispatchRow,
        EventRow,
        GateRow,
        Mark,
        PlanRow,
        RunRow,
        TaskRow,
        TroubleRow,
    )
    from memento_git.work.proof.verification import Demand
    from memento_git.work.state import RunState


def mark(record: Event | Evidence | None) -> Mark:
    """Return what rows say of a signature before anybody has checked it."""
    signed = record is not None and "signature" in record.data
    return {"signature": "unchecked" if signed else "none", "signed_by": None}


def run_row(state: RunState) -> RunRow:
    prose = state.prose(state.id)
    status = state.shown_status
    if status == "active" and state.failed_gates(state.id):
        status = "blocked"
    return {
        "id": state.id,
        "goal": prose.data["goal"],
        "status": status,
        "reason": state.halted or None,
        "actor": prose.data["by"],
        "created_at": prose.data["at"],
        "spike": bool(prose.data.get("spike")),
        "constraints": prose.list("constraints"),
        "current_plan_id": state.canonical or None,
        "description": prose.body,
    }


def plan_row(state: RunState, plan: str) -> PlanRow:
    from memento_git.work.gates import approvals

    prose, approved, status = state.prose(plan), _approval(state, plan), state.plan_status(plan)
    return {
        "id": plan,
        "run_id": state.id,
        "title": prose.title,
        "body": prose.body,
        "status": status,
        "superseded_by": state.canonical if status == "superseded" and kind_of(state.canonical) == "plan" else None,
        "actor": prose.data["by"],
        "created_at": prose.data["at"],
        "acceptance_criteria": prose.list("criteria"),
        "assumptions": prose.list("assumptions"),
        "risks": prose.list("risks"),
        "verification_policy": prose.data.get("verify"),
        "changed": state.plan_changed(plan),
        "unapproved": (approvals.unfit(state) or None) if plan == state.canonical else None,
        "unsigned": [],
        "approvers": list(state.policy.plan_approvers),
        "not_by": [prose.data["by"]] if state.policy.plan_not_author else [],
        "approved_by": approved.by if approved else None,
        "approval_event_id": approved.id if approved else None,
        **mark(approved),
    }


def _approval(state: RunState, plan: str) -> Event | None:
    """Return the latest approval of a plan that has an effect."""
    return next((event for event in reversed(state.approvals()) if event.of == plan), None)


def task_row(state: RunState, task: str) -> TaskRow:
    unread = state.unread(task)
    prose = state.told(task)
    data, status = prose.data, state.task_status(task)
    done = status in DONE
    proof = state.proof(task) if done else None
    masked = state.status if state.is_final else ""
    told = None if status == "contested" else _reason(state, task, status)
    due = unread is None and state.is_ready(task)
    back = handout.row(handout.foreseen_refusal(state, task), state.id, task) if due else None
    return {
        "id": task, "run_id": state.id,
        "title": prose.title, "description": prose.body,
        "status": status,
        "run_status": masked or None,
        "actor": data["by"],
        "created_at": data["at"],
        "acceptance_criteria": prose.list("criteria"),
        "dependencies": prose.list("depends_on"),
        "relevant_files": prose.list("files"),
        "kind": data.get("kind"), "risk": data.get("risk"), "size": data.get("size"), "role": data.get("role"),
        "budget": data.get("budget"), "repairs": data.get("repairs"), "source": data.get("source"),
        "verification_policy": data.get("verify"),
        "asked": asked_row(state, task, state.asked(task)),
        "ready": due and back is None,
        "held_back": back,
        "waits_on": [] if done or unread or status == "cancelled" else state.waits_on(task),
        "proven": proof.proven if proof else None,
        "proven_by": list(proof.by) if proof and proof.proven else [],
        "unproven_because": list(proof.why) if proof else [],
        "proven_after": (proof.after if proof else "") or None,
        "unsigned": [],
        "late": state.is_late(task),
        "spike": handout.spikes(state, task) > 0,
        "blocked_by": [gate for _, gate in state.failed_gates(task)],
        "selected_dispatch_id": state.selected(task) or None,
        "reason": None if done else told, "last_reason": told if done else None,
        "incomplete": bool(state.folded(task).dangling),
        "broken": str(unread) if unread else None,
    }  # fmt: skip


def asked_row(state: RunState, task: str, asked: Demand) -> AskedRow | None:
    """Return what verification asks of a task; None where nothing but the usual proof is asked."""
    return demand_row(state, task, asked) if asked.why or asked.proof != DEFAULT_PROOF else None


def demand_row(state: RunState, task: str, asked: Demand) -> AskedRow:
    """Return all that verification asks of a task, be it the usual."""
    from memento_git.work.gates import approvals

    return {
        "proof": dict(asked.proof),
        "evidence": list(asked.evidence),
        "trust": asked.trust or None,
        "commands": [
            {"run": list(one.run), "kind": one.kind, "reports": list(one.reports), "timeout": one.timeout or None}
            for one in asked.commands
        ],
        "approvers": list(asked.approvers),
        "not_by": approvals.workers(state, task) if asked.not_author else [],
        "why": [str(one) for one in asked.why],
    }


def _reason(state: RunState, task: str, status: str) -> str | None:
    """Return why a task is blocked, rejected or cancelled, else the latest reason that counts; not those of gates.

    Nor of what takes the words of another event, or that itself, away. Of a rejection it is what was unmet.
    """
    told = [
        one.event for one in reversed(state.untouched(task))
        if "gate" not in one.event.data and one.event.do not in ("redacted", "voided")
    ]  # fmt: skip
    first = [*(event for event in told if event.do == status), *told]
    reasons = (event.get("reason") or unmet(event.data) for event in first)
    return next(filter(None, reasons), None)


def dispatch_rows(state: RunState, task: str) -> list[DispatchRow]:
    rows: list[DispatchRow] = []
    invoked = {event.dispatch for event in state.folded(task).legal() if event.data.get("invoked")}
    for name, found in state.dispatches(task).items():
        opened, ended = found.opened, found.ended
        rows.append(
            {
                "id": name,
                "dispatch_id": name,
                "status": found.status,
                "task_id": task,
                "run_id": state.id,
                "executor": opened.get("executor") if opened else "",
                "claimed_by": found.holder or None,
                "lease_until": found.until or None,
                "expired": found.expired,
                "candidate": bool(opened and opened.data.get("candidate")),
                "selected": found.selected,
                "allowed_destructive": opened.data.get("allowed", []) if opened else [],
                "created_at": opened.at if opened else None,
                "completed_at": _at(ended, "completed"),
                "failed_at": _at(ended, "failed"),
                "recovered_at": _at(ended, "recovered"),
                "category": _told(ended, "category"),
                "recovery_of": _told(opened, "recovery_of"),
                "brief": _told(opened, "brief"),
                "branch": _told(opened, "branch"),
                "partial": _told(ended, "partial"),
                "executor_invoked": name in invoked,
                "outdated": found.status in OPEN_DISPATCH and bool(handout.changed_terms(state, task, name)),
            }
        )
    return sorted(rows, key=lambda row: (row["created_at"] or "", row["dispatch_id"]))


def _at(ended: Event | None, verb: str) -> str | None:
    """Return when a dispatch ended, if it did so by this verb."""
    return ended.at if ended and ended.do == verb else None


def _told(event: Event | None, key: str) -> str | None:
    return (event.get(key) or None) if event else None


def gate_rows(state: RunState, scope: str) -> list[GateRow]:
    rows: list[GateRow] = []
    counting: dict[str, str] = {}  # in a run that has ended
    if scope == state.id and state.is_final:
        from memento_git.work.gates import gates

        counting = gates.words(state)
    for gate, word in sorted(state.gates(scope).items()):
        fell, why = _fallen(state, scope, gate, word)
        latest = fell or [event for event in state.folded(scope).legal(word) if event.get("gate") == gate][-1]
        rows.append({
            "kind": gate, "scope": scope, "scope_kind": kind_of(scope),
            "status": "pending" if word == "requested" else word,
            "judges": list(state.policy.judges(gate, "passed")),
            "reviewer": latest.by,
            "summary": latest.get("note") or latest.get("reason") or None,
            "evidence": [ref.partition("@")[0] for ref in latest.evidence],
            "created_at": latest.at, "event_id": latest.id,
            "late": counting.get(gate, word) != word,
            "fallen": why,
            **mark(latest),
        })  # fmt: skip
    return rows


def _fallen(state: RunState, scope: str, gate: str, word: str) -> tuple[Event | None, str | None]:
    """Return the pass or waiver of a gate that does not hold, and why: what came since, on what or by whom it is.

    Of a run that has ended it is not asked what policy takes by now.

    That a gate asks for evidence of the code as it is, is no matter of the ledger alone.
    """
    if word not in PASSING:
        return None, None
    from memento_git.work.gates import gate_staleness, gates

    passes = gates.passes(state, scope, gate)
    amiss = ((one, gates.first_fault(state, scope, one.evidence)) for one in passes)
    below = () if state.is_final else gates.below_policy(state, scope, gate)
    falls = chain(gate_staleness.outlasted(state, scope, gate), amiss, below)
    return next((fall for fall in falls if fall[1]), (None, None))


def audit_rows(state: RunState) -> list[EventRow]:
    """Return the events of all records of a run, each after what it had seen."""
    return audit(one for key in state.groups() for one in state.folded(key).events)


def trouble_rows(state: RunState) -> list[TroubleRow]:
    """Return what is contested, illegal or incomplete, with the events concerned, and tasks that wait in a circle."""
    return [*(row for key in state.groups() for row in group_troubles(state, key)), *cycle_rows(state)]


def group_troubles(state: RunState, key: str) -> list[TroubleRow]:
    """Return what of one group is contested, illegal or incomplete."""
    shown = state.id if key == plans_of(state.id) else key
    return troubles(state.folded(key), shown, state.event, state.text)


def cycle_rows(state: RunState) -> list[TroubleRow]:
    """Return the circles of dependencies that no rule saw: each of two branches may have added a half."""
    found = {task: state.view.record(state.index.prose[task]) for task in state.ids("task")}
    graph = {
        task: prose.list("depends_on")
        for task, prose in found.items()
        if isinstance(prose, Prose) and state.task_status(task) not in FINAL_TASK
    }
    told = "each waits for the next: {}; take a dependency away, and name those that stay: {}"
    return [
        {
            "record": tasks[0],
            "problem": "cycle",
            "events": [],
            "about": told.format(" -> ".join([*tasks, tasks[0]]), f"memento task revise {tasks[0]} --depends-on TASK"),
        }
        for tasks in cycles(graph)
    ]
