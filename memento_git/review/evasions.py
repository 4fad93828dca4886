"""Events that are legal by what they name, and that name less than whoever wrote them could see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.model.finding import Finding
from memento_git.model.work import Prose
from memento_git.review import folds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memento_git.model.work import Event
    from memento_git.review.scope import Scope
    from memento_git.work.state import RunState


def check_event(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield what an event gets around: a void of what is legal, a hand-out that calls itself a spike's."""
    if event.do == "voided":
        yield from folds.voids(state, event, scope)
    elif event.do == "dispatched" and event.data.get("spike"):
        yield from _spike(state, event, scope)


def _spike(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a hand-out without a plan in a run that is no spike, or beyond the limit of spikes."""
    text = state.view.record(state.index.prose.get(state.id, ""))
    fix = f"approve a plan, then memento task reopen {event.of} --reason WHY"
    severity = scope.severity(event.id)
    if not isinstance(text, Prose) or not text.data.get("spike"):
        message = f"{event.of} was handed out without a plan, as a spike, in {state.id}, which is no spike"
        yield Finding("P006", event.path, 0, message, fix, severity)
    elif (number := _spikes(state)) > scope.policy.spike_dispatches:
        message = f"{number} hand-outs of {state.id} had no plan, and policy allows {scope.policy.spike_dispatches}"
        yield Finding("P006", event.path, 0, message, fix, severity)


def _spikes(state: RunState) -> int:
    """Return how many hand-outs of a run had no plan."""
    seen = [one for task in state.tasks() for one in state.folded(task).events if one.event.do == "dispatched"]
    return sum(1 for one in seen if one.verdict == "legal" and one.event.data.get("spike"))


def failed_gates(state: RunState, task: Prose, ends: Sequence[Event], scope: Scope) -> Iterator[Finding]:
    """Yield the failed gates of a task that is done: graver where neither the verdict nor the end saw the other."""
    for _, gate in state.failed_gates(task.id):
        verdicts = [one for one in state.folded(task.id).events if one.event.get("gate") == gate]
        failures = [one for one in verdicts if one.verdict == "legal" and one.event.do == "failed"]
        apart = [one.event.id for one in failures if not any(end.id in one.past for end in ends)]
        severity = scope.severity(*apart, *(end.id for end in ends)) if apart else "warning"
        message = f"{task.id} is done, but its gate {gate} has failed"
        fix = f"memento gate record {gate} passed --task {task.id}"
        yield Finding("T006", ends[0].path if ends else task.path, 0, message, fix, severity)
