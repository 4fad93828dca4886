"""What is wrong with one run: the fold, the links between its records, what policy asks of what is settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.folding.fold import plans_of
from memento_git.ledger import layout
from memento_git.model.clock import AHEAD, seconds_of, stamp
from memento_git.model.finding import Finding
from memento_git.model.ids import kind_of
from memento_git.model.states import DONE
from memento_git.model.work import Prose
from memento_git.review import citations, verdicts
from memento_git.work.rows import trouble_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memento_git.model.work import Event
    from memento_git.review.scope import Scope
    from memento_git.work.state import RunState

VOID = "memento settle --void {} --reason WHY"


def check_run(state: RunState, scope: Scope) -> list[Finding]:
    """Return what is wrong with a run, or with some of its records; what its files say comes from the view."""
    groups = [key for key in state.groups() if scope.groups is None or key in scope.groups]
    found = [*_fold(state, groups), *_circles(state)] if scope.groups is None else [*_fold(state, groups)]
    for key in groups:
        found += _missing_text(state, key)
        if kind_of(key) == "task":
            found += _task(state, key, scope)
        elif kind_of(key) == "evidence":
            found += citations.check_evidence(state, key, scope.policy)
    for key in groups:
        for event in standing(state, key):
            found += _dated(state, event)
            found += citations.check_event(state, event)
            found += verdicts.check_event(state, event, scope)
    if state.id in groups:
        found += verdicts.check_run(state, scope)
    return found


def standing(state: RunState, key: str) -> Iterator[Event]:
    """Yield the events of a group that have an effect and a file of their own."""
    folded = state.folded(key)
    undone = state.fold.undone(folded.events)
    for seen in folded.events:
        if seen.verdict == "legal" and seen.event.id not in undone and seen.event.id not in state.tombstones:
            yield seen.event


def _fold(state: RunState, groups: Collection[str]) -> Iterator[Finding]:
    """Yield what is contested, illegal or not folded."""
    for key in groups:
        folded = state.folded(key)
        for lane, events in folded.lanes.contested.items():
            first = state.event(events[0])
            record = first.of if first is not None else key
            path = first.path if first is not None else ""
            message = f"{record} is contested on {lane}: {' and '.join(_told(state, name) for name in events)}"
            yield Finding("T001", path, 0, message, f"memento settle {record} --keep EVENT --reason WHY")
        for seen in folded.illegal:
            message = f"{seen.event.of} is illegal: {seen.why}"
            yield Finding("T002", seen.event.path, 0, message, VOID.format(seen.event.id))
        for seen in folded.dangling:
            message = f"{seen.event.of} is incomplete: {seen.why}"
            yield Finding(seen.token, seen.event.path, 0, message, f"restore it, or {VOID.format(seen.event.id)}")


def _told(state: RunState, name: str) -> str:
    event = state.event(name)
    return f"{name} ({event.do} by {event.by})" if event is not None else name


def _circles(state: RunState) -> Iterator[Finding]:
    for row in trouble_rows(state, ()):
        path = state.index.prose[row["record"]]
        message = f"{row['record']} is in a cycle: {row['about']}"
        yield Finding("T003", path, 0, message, f"memento task revise {row['record']} --depends-on TASK")


def circles_through(state: RunState, tasks: Collection[str]) -> Iterator[Finding]:
    """Yield the circles that lead through some tasks, without reading any task that they do not lead to."""
    from memento_git.work.rows import cycles

    graph: dict[str, list[str]] = {}
    waiting = list(tasks)
    while waiting:
        task = waiting.pop()
        found = state.view.record(state.index.prose.get(task, ""))
        if task not in graph and isinstance(found, Prose) and state.task_status(task) not in (*DONE, "cancelled"):
            graph[task] = found.list("depends_on")
            waiting += graph[task]
    for circle in cycles(graph):
        message = f"{circle[0]} is in a cycle: each waits for the next: {' -> '.join([*circle, circle[0]])}"
        yield Finding(
            "T003", state.index.prose[circle[0]], 0, message, f"memento task revise {circle[0]} --depends-on TASK"
        )


def _missing_text(state: RunState, key: str) -> Iterator[Finding]:
    """Yield the records of a group that have events and no file of their own."""
    index = state.index
    records = [name for name in index.events_of if kind_of(name) == "plan"] if key == plans_of(state.id) else [key]
    for name in records:
        held = name in index.prose or name in index.evidence
        if held or name not in index.events_of or state.folded(name).lanes.word("status", "") == "redacted":
            continue
        path = (layout.evidence_path if kind_of(name) == "evidence" else layout.prose_path)(state.id, name)
        yield Finding(
            "F007", path, 0, f"{name} has events, but its file is missing",
            "restore it: git log --diff-filter=D --stat -- .memento",
        )  # fmt: skip


def _task(state: RunState, task: str, scope: Scope) -> Iterator[Finding]:
    found = state.view.record(state.index.prose.get(task, ""))
    if not isinstance(found, Prose):
        return
    for other in found.list("depends_on"):
        if other not in state.index.prose:
            message = f"{task} depends on {other}, which is not in this run"
            yield Finding("L001", found.path, 0, message, f"memento task revise {task} --depends-on TASK")
    repaired = found.data.get("repairs")
    if repaired and repaired not in state.index.prose:
        yield Finding("L004", found.path, 0, f"{task} repairs {repaired}, which is not in this run", "restore it")
    if state.is_late(task):
        message = f"{task}, or what happened to it, came after the run was completed"
        yield Finding("T005", found.path, 0, message, f"memento task show {task}", "warning")
    if state.task_status(task) in DONE:
        yield from _done(state, found, scope)


def _done(state: RunState, task: Prose, scope: Scope) -> Iterator[Finding]:
    """Yield what a task that is shown as done lacks."""
    ends = [*state.completions(task.id), *state.acceptances(task.id)]
    path = ends[0].path if ends else task.path
    severity = scope.severity(*(event.id for event in ends))
    proof = state.proof(task.id, scope.policy)
    if not proof.proven:
        message = f"{task.id} is {state.task_status(task.id)}, but not proven: {'; '.join(proof.why)}"
        fix = f"memento evidence run --task {task.id} -- CMD, then reopen and complete it with that"
        yield Finding("P001", path, 0, message, fix, severity)
    elif scope.code is not None and severity == "error":
        yield from citations.stale(state, ends, proof.by, scope.code)
    for other in state.waits_on(task.id, scope.policy):
        if other in state.index.prose:
            severity = scope.severity(*(event.id for event in ends), *state.index.events_of.get(other, ()))
            message = f"{task.id} is done, but {other}, which it depends on, is not done and proven"
            yield Finding("T006", path, 0, message, f"memento task show {other}", severity)
    for _, gate in state.failed_gates(task.id):
        message = f"{task.id} is done, but its gate {gate} has failed"
        yield Finding("T006", path, 0, message, f"memento gate record {gate} passed --task {task.id}", "warning")


def _dated(state: RunState, event: Event) -> Iterator[Finding]:
    latest = max((seen.at for ref in event.after if (seen := state.event(ref.id))), default="")
    if latest > event.at and seconds_of(latest) - seconds_of(event.at) > AHEAD:
        message = f"{event.id} is dated {event.at}, and follows an event of {latest}"
        yield Finding("T004", event.path, 0, message, "see to the clock of who wrote it", "warning")
    if event.at > state.view.now and event.at > stamp(seconds_of(state.view.now) + AHEAD):
        message = f"{event.id} is dated {event.at}, which is not yet"
        yield Finding("T004", event.path, 0, message, "see to the clock of who wrote it", "warning")
