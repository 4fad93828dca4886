"""The transition table: what an event writes, given what it had seen, or why it is refused. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from memento_git.folding.lanes import CANONICAL, SELECTED, STATUS, Lanes, Writes, choice, task_status
from memento_git.folding.settling import SETTLING, kept, redaction, rest
from memento_git.model.ids import EvidenceWithdrawn, kind_of, option
from memento_git.model.states import DONE, FINAL_RUN, FINAL_TASK, OPEN_DISPATCH
from memento_git.work import refusals as no
from memento_git.work.remedies import creating, resuming

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.folding.fold import Seen
    from memento_git.model.work import Event

SETTLED: Final = ("completed", "accepted", "rejected", "cancelled")


def judge(event: Event, seen: Seen) -> Writes:
    """Return what the event writes; raise a refusal where the table does not allow it."""
    kind = kind_of(event.of)
    if event.do in SETTLING:
        return _settling(event, seen)
    run_status = (seen.own if kind == "run" else seen.run).word(STATUS, "active")
    if kind != "evidence" and run_status in FINAL_RUN:
        raise no.RunFinal(run=event.run, status=run_status)
    if "gate" in event.data:
        return _gate(event, seen)
    return {"run": _run, "plan": _plan, "task": _task, "evidence": _evidence}[kind](event, seen)


def _gate(event: Event, seen: Seen) -> Writes:
    """Return a verdict; asking for another one does not lift a failure."""
    lane = f"gate:{event.get('gate')}"
    if event.do == "requested" and seen.own.word(lane, "") == "failed":
        return {}
    return {lane: (event.do,)}


def _settling(event: Event, seen: Seen) -> Writes:
    if event.do == "settled":
        return _settled(event, seen)
    if event.do == "voided":
        return rest(event, seen)
    return redaction(event, STATUS)


def _settled(event: Event, seen: Seen) -> Writes:
    """Return the values of the side that is kept; what the other side alone handed out or approved is withdrawn."""
    held = kept(event, seen)
    handed = [*seen.own.open_dispatches(), *(lane[9:] for lane in seen.own.contested if lane.startswith("dispatch:"))]
    closed: Writes = {
        f"dispatch:{name}": ("recovered", "") for name in handed if name not in seen.kept.named("dispatch")
    }
    writes: Writes = {**closed, **held}
    plan = seen.own.word(CANONICAL, "")
    if plan and writes.get(f"plan:{plan}", ("canonical",))[0] == "rejected":
        writes[CANONICAL] = seen.kept.values.get(CANONICAL, ("", ""))
    return writes


def _run(event: Event, seen: Seen) -> Writes:
    status = _uncontested(event, seen.own, (STATUS,)).word(STATUS, "active")
    if event.do == "completed":
        if status != "active":
            raise no.RunNotActive(run=event.run, status=status)
        _all_settled(event, seen)
        return {STATUS: ("completed",)}
    came_from, to = {
        "paused": (("active",), "paused"),
        "resumed": (("paused",), "active"),
        "cancelled": (("active", "paused"), "cancelled"),
    }[event.do]
    if status not in came_from:
        raise no.RunTransition(run=event.run, status=status, verb=event.do)
    return {STATUS: (to,)}


def _all_settled(event: Event, seen: Seen) -> None:
    for task, lanes in seen.tasks.items():
        if lanes.contested or task_status(lanes) not in FINAL_TASK:
            raise no.TaskUnsettled(task=task, status=task_status(lanes).replace("_", " "))
    done = {task: lanes for task, lanes in seen.tasks.items() if task_status(lanes) != "cancelled"}
    for scope, lanes in ((event.run, seen.own), *done.items()):
        _gate_open(scope, lanes)


def _plan(event: Event, seen: Seen) -> Writes:
    lane = f"plan:{event.of}"
    state = _uncontested(event, seen.own, (lane, CANONICAL)).word(lane, "draft")
    canonical = seen.own.word(CANONICAL, "")
    if state == "rejected":
        raise no.PlanRejected(plan=event.of)
    if event.do == "approved":
        return {lane: ("canonical",), CANONICAL: (event.of, event.get("text"))}
    return {lane: ("rejected",), **({CANONICAL: ("", "")} if canonical == event.of else {})}


def _evidence(event: Event, seen: Seen) -> Writes:
    status = seen.own.word(STATUS, "recorded")
    if status != "recorded":
        raise EvidenceWithdrawn(evidence=event.of, status=status)
    return {STATUS: (event.do,)}


def _task(event: Event, seen: Seen) -> Writes:
    lanes = [lane for lane in (*seen.own.values, *seen.own.contested) if not lane.startswith("gate:")]
    _uncontested(event, seen.own, lanes)
    return TASK_RULES[event.do](event, seen, task_status(seen.own))


def _uncontested(event: Event, own: Lanes, lanes: tuple[str, ...] | list[str]) -> Lanes:
    if any(lane in own.contested for lane in lanes):
        raise no.RecordContested(record=event.of)
    return own


def _dispatched(event: Event, seen: Seen, status: str) -> Writes:
    _active(event, seen)
    _gates_open(event, seen)
    if CANONICAL in seen.plans.contested:
        raise no.RecordContested(record=seen.plans.contested[CANONICAL][0])
    if not event.data.get("spike") and seen.plans.word(CANONICAL, "") != (event.get("plan") or "none"):
        raise no.PlanRequired(run=event.run)
    for task, lanes in seen.tasks.items():
        if lanes.contested or task_status(lanes) not in DONE:
            raise no.DependencyOpen(task=event.of, dependency=task, status=task_status(lanes))
        _gate_open(task, lanes)
    name = event.dispatch
    candidate = bool(event.data.get("candidate"))
    along = candidate and status in ("dispatched", "in_progress") and seen.own.detail(STATUS) == ""
    if status != "pending" and not along:
        _refuse_unready(event.of, status)
    return {
        f"dispatch:{name}": ("queued", ""),
        **({f"candidate:{name}": ("open",)} if candidate else {}),
        STATUS: (status if along else "dispatched", "" if candidate else name),
    }


def _claimed(event: Event, seen: Seen, status: str) -> Writes:
    _active(event, seen)
    _gates_open(event, seen)
    name = event.dispatch
    state, holder = _dispatch(event, seen)
    if state == "claimed" and holder != event.by:
        raise no.AlreadyClaimed(dispatch=name, holder=holder, until=seen.own.word(f"lease:{name}", ""))
    writes: Writes = {f"dispatch:{name}": ("claimed", event.by), f"lease:{name}": (event.get("until"),)}
    if status == "completed" and f"candidate:{name}" in seen.own.values and not choice(seen.own):
        return writes
    if status not in ("dispatched", "in_progress"):
        _refuse_unready(event.of, status)
    return {**writes, STATUS: ("in_progress", seen.own.detail(STATUS))}


def _refuse_unready(task: str, status: str) -> NoReturn:
    if step := resuming(task, status):
        raise no.TaskAtRest(task=task, status=status, step=step)
    raise no.TaskNotReady(task=task, status=status)


def _renewed(event: Event, seen: Seen, status: str) -> Writes:  # noqa: ARG001 (one shape for all rules)
    _claimant(event, seen)
    return {f"lease:{event.get('dispatch')}": (event.get("until"),)}


def _completed(event: Event, seen: Seen, status: str) -> Writes:
    _active(event, seen)
    _claimant(event, seen)
    name, detail = event.dispatch, seen.own.detail(STATUS)
    writes: Writes = {f"dispatch:{name}": ("completed", event.by)}
    if f"candidate:{name}" in seen.own.values:
        writes[f"candidate:{name}"] = ("completed",)
    if status == "completed" and detail == "":
        return writes
    return {**writes, STATUS: ("completed", detail)}


def _failed(event: Event, seen: Seen, status: str) -> Writes:
    if _dispatch(event, seen)[0] == "claimed":
        _claimant(event, seen)
    return _ended(event, seen, status, "failed", "blocked")


def _recovered(event: Event, seen: Seen, status: str) -> Writes:
    _dispatch(event, seen)
    return _ended(event, seen, status, "recovered", "pending")


def _ended(event: Event, seen: Seen, status: str, state: str, then: str) -> Writes:
    """Return what the end of a dispatch writes: the task follows when no other dispatch is still open."""
    name = event.dispatch
    writes: Writes = {f"dispatch:{name}": (state, "")}
    others = [other for other in seen.own.open_dispatches() if other != name]
    return writes if others or status == "completed" else {**writes, STATUS: (then, "")}


def _moved(came_from: tuple[str, ...], to: str) -> Callable[[Event, Seen, str], Writes]:
    """Return the rule of a verb that moves the task itself and withdraws what was handed out."""

    def rule(event: Event, seen: Seen, status: str) -> Writes:
        if status not in came_from:
            _refuse_move(event, seen, status)
        writes: Writes = {f"dispatch:{name}": ("recovered", "") for name in seen.own.open_dispatches()}
        if to == "pending":
            writes |= {f"candidate:{name}": ("reopened",) for name in seen.own.named("candidate")}
            writes |= {SELECTED: ("",)} if SELECTED in seen.own.values else {}
        return {**writes, STATUS: (to, "")}

    return rule


def _refuse_move(event: Event, seen: Seen, status: str) -> NoReturn:
    if event.do != "reopened" or status not in ("pending", "dispatched", "in_progress"):
        raise no.TaskTransition(task=event.of, status=status, verb=event.do)
    held = seen.own.open_dispatches()
    step = f"memento dispatch recover {held[-1]}" if held else creating(event.of)
    raise no.TaskOpen(task=event.of, status=status, step=step)


def _selected(event: Event, seen: Seen, status: str) -> Writes:
    """Return the choice of one completed candidate; a later choice may replace it."""
    name = event.dispatch
    state = seen.own.word(f"candidate:{name}", "")
    if f"dispatch:{name}" not in seen.own.values:
        raise no.DispatchUnknown(dispatch=name, task=event.of)
    if state != "completed" or seen.own.word(f"dispatch:{name}", "") != "completed":
        shown = "reopened since" if state == "reopened" else seen.own.word(f"dispatch:{name}", "")
        why = f"it is {shown}" if state else "it was not made as a candidate"
        raise no.NotACandidate(dispatch=name, task=event.of, why=why)
    if status != "completed":
        raise no.TaskTransition(task=event.of, status=status, verb=event.do)
    return {SELECTED: (name,)}


TASK_RULES: Final[dict[str, Callable[[Event, Seen, str], Writes]]] = {
    "dispatched": _dispatched,
    "claimed": _claimed,
    "renewed": _renewed,
    "completed": _completed,
    "failed": _failed,
    "recovered": _recovered,
    "blocked": _moved(("pending", "dispatched", "in_progress"), "blocked"),
    "reopened": _moved((*SETTLED, "blocked"), "pending"),
    "cancelled": _moved(("pending", "dispatched", "in_progress", "blocked", "rejected"), "cancelled"),
    "selected": _selected,
    "accepted": _moved(DONE, "accepted"),
    "rejected": _moved(DONE, "rejected"),
}


def _active(event: Event, seen: Seen) -> None:
    if STATUS in seen.run.contested:
        raise no.RecordContested(record=event.run)
    if (status := seen.run.word(STATUS, "active")) != "active":
        raise no.RunNotActive(run=event.run, status=status)


def _gates_open(event: Event, seen: Seen) -> None:
    for scope, lanes in ((event.run, seen.run), (event.of, seen.own)):
        _gate_open(scope, lanes)


def _gate_open(scope: str, lanes: Lanes) -> None:
    for gate, value in lanes.named("gate").items():
        if value[0] == "failed":
            raise no.GateBlocks(gate=gate, scope=scope, on=option(scope))


def _dispatch(event: Event, seen: Seen) -> tuple[str, str]:
    """Return the state of the event's dispatch and who holds it; refuse where it has ended."""
    name = event.dispatch
    value = seen.own.values.get(f"dispatch:{name}")
    if value is None:
        raise no.DispatchUnknown(dispatch=name, task=event.of)
    if value[0] not in OPEN_DISPATCH:
        raise no.DispatchTerminal(dispatch=name, state=value[0])
    return value[0], value[1] if value[0] == "claimed" else ""


def _claimant(event: Event, seen: Seen) -> None:
    state, holder = _dispatch(event, seen)
    if state != "claimed":
        raise no.NotClaimed(dispatch=event.dispatch)
    if holder != event.by:
        raise no.NotClaimant(dispatch=event.dispatch, holder=holder, actor=event.by)
