"""What a void or a settling took out, and others go on from as if it stood: it is judged as ever."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

from memento_git.folding.fold import Judged, plans_of
from memento_git.folding.voided_events import is_out, undone
from memento_git.review import folds
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.events import EventLog
    from memento_git.model.work import Event
    from memento_git.review.scope import Scope

OF_HAND_OFFS: Final = ("dispatched", "claimed", "renewed", "completed")


def judged(state: RunState, key: str, scope: Scope) -> Iterator[tuple[Event, Scope]]:
    """Yield the events of a group that are judged, each with its scope: those that stand, and what they rest on.

    What the branch goes on from is judged as if the branch had added it.
    """
    for event in folds.effective_events(state, key):
        yield event, scope
    resting = rested_on(state, key)
    for event in (seen.event for seen in state.folded(key).events if seen.event.id in resting):
        is_new = any(name in scope.added for name in resting[event.id])
        yield event, scope._replace(added={*scope.added, event.id}) if is_new else scope


def rested_on(log: EventLog, key: str) -> dict[str, set[str]]:
    """Return the events of a group that were taken out -> those that stand, and rest on each all the same.

    They, or what they rest on in the same way, had seen it, and as they saw it, it was not out.
    """
    known = {seen.event.id: seen for seen in log.folded(key).events if seen.verdict == "legal"}
    gone = {name for name, lanes in undone(known.values()).items() if is_out(known[name], lanes)}
    if not gone:
        return {}
    waiting = [(seen.event.id, seen) for seen in _going_on(log, key)]
    waiting += _handing_out(log) if isinstance(log, RunState) and key == plans_of(log.id) else ()
    found: dict[str, set[str]] = {}
    while waiting:
        name, last = waiting.pop()
        if not (targets := gone & last.past):
            continue
        out = undone(known[one] for one in (last.event.id, *last.past) if one in known)
        for target in targets:
            if not is_out(known[target], out.get(target, ())) and name not in found.get(target, ()):
                found.setdefault(target, set()).add(name)
                waiting.append((name, known[target]))
    return found


def _going_on(log: EventLog, key: str) -> Iterator[Judged]:
    """Yield what stands of a group and may go on from others: no verdict of a gate, no dispatch that is over.

    A reopening ends what it had seen; one that was settled away in part does not.
    """
    names = {event.id for event in folds.effective_events(log, key)}
    folded = log.folded(key)
    taken_out = folded.undone
    standing = [seen for seen in folded.events if seen.event.id in names]
    reopened = [seen.past for seen in standing if seen.event.do == "reopened" and seen.event.id not in taken_out]
    for seen in standing:
        event = seen.event
        ended = folded.lanes.word(f"dispatch:{event.dispatch}", "") in ("failed", "recovered")
        is_over = event.do in OF_HAND_OFFS and (ended or any(event.id in past for past in reopened))
        if seen.writes and "gate" not in event.data and not is_over:
            yield seen


def _handing_out(state: RunState) -> Iterator[tuple[str, Judged]]:
    """Yield each dispatch with an event that goes on from it; its past is what it had seen of the run's plans."""
    for task in state.tasks():
        resting: dict[str, Collection[str]] = {**rested_on(state, task)}
        resting |= {seen.event.id: (seen.event.id,) for seen in _going_on(state, task)}
        for seen in state.folded(task).events:
            if seen.event.do == "dispatched" and seen.event.id in resting:
                past = state.fold.seen_by(seen.event)
                yield from ((name, seen._replace(past=past)) for name in resting[seen.event.id])
