"""Events that are legal by what they name, and that name less than whoever wrote them could see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from memento_git.folding.fold import last_of
from memento_git.model.enumeration import many
from memento_git.model.finding import Finding, leaving_out
from memento_git.model.ids import parse_ref
from memento_git.model.states import PASSING
from memento_git.model.work import Event, Prose
from memento_git.review import folds, last_readable
from memento_git.work import persons
from memento_git.work.dispatch import handout, terms
from memento_git.work.proof import proofs, trust
from memento_git.work.remedies import passing, redoing
from memento_git.work.routing import budget, outcomes

if TYPE_CHECKING:
    from memento_git.review.scope import Scope
    from memento_git.work.state import RunState

GOING_ON: Final = {"dispatched": "handed out", "claimed": "claimed", "completed": "completed"}
STOPPED: Final = {"paused": "memento run resume {run}", "contested": "memento settle {run} --keep EVENT --reason WHY"}


def check_event(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield what an event gets around: a legal event that it voids, a plan, a stop of the run that was there before."""
    if event.do == "voided":
        yield from folds.voids(state, event, scope)
    elif event.do == "dispatched" and event.data.get("spike"):
        yield from _spike(state, event, scope)
    if event.do == "dispatched" and event.id in scope.added:
        yield from _unnamed(state, event)
        yield from _beyond(state, event) if not event.get("over_budget") else ()
    if event.do in GOING_ON and event.id in scope.added:
        yield from _went_on(state, event, scope)


def _went_on(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield an event that goes on in a run that was stopped at the base, and still is, as if it had not seen that."""
    if state.folded(event.of).lanes.word(f"dispatch:{event.dispatch}", "") in ("failed", "recovered"):
        return
    known = state.fold.seen_by(event).union(scope.added)
    stops = [(stop, fix) for stop, fix in _stops(state, event.do) if stop.id not in known]
    if stops:
        told = " and ".join(dict.fromkeys(_told(state, stop) for stop, _ in stops))
        message = f"{event.of} was {GOING_ON[event.do]}, as if it were not known that {state.id} {told}"
        yield Finding("T006", event.path, 0, message, stops[0][1])


def _stops(state: RunState, do: str) -> Iterator[tuple[Event, str]]:
    """Yield the events by which a run is stopped as it is, for an event of a verb, each with what lets it go on.

    What was claimed before a gate failed may be completed; while a run is paused, or contested, nothing may. Each
    failure of a gate is one that nothing has lifted, not the last alone: that may be the branch's own.
    """
    standing = state.untouched(state.id)
    if state.status in STOPPED:
        moves = last_of(one for one in standing if "gate" not in one.event.data)
        yield from ((one, STOPPED[state.status].format(run=state.id)) for one in moves if one.do != "resumed")
    for _, gate in state.failed_gates(state.id) if do != "completed" else ():
        own = [one for one in standing if one.event.get("gate") == gate]
        lifted = frozenset[str]().union(*(one.past for one in own if one.event.do in PASSING))
        fix = passing(state.policy.gates_fresh, gate, state.id)
        yield from ((one.event, fix) for one in own if one.event.do == "failed" and one.event.id not in lifted)


def _told(state: RunState, stop: Event) -> str:
    return f"has failed its gate {stop.get('gate')}" if "gate" in stop.data else f"is {state.status}"


def _spike(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a dispatch without a plan in a run that is no spike, or beyond the limit of spikes, while it stands.

    A run whose text cannot be read may be one.
    """
    text = state.text(state.id)
    if text is None or not handout.stands(state, event):
        return
    if not text.data.get("spike"):
        message = f"{event.of} was handed out without a plan, as a spike, in {state.id}, which is no spike"
    elif (number := _effective_spikes(state)) > (most := state.policy.spike_dispatches):
        message = f"{many(number, 'dispatch', 'dispatches')} of {state.id} had no plan, and policy allows {most}"
    else:
        return
    fix = f"approve a plan, then {_undoing(state, event)}"
    yield Finding("P006", event.path, 0, message, fix, scope.severity(event.id))


def _effective_spikes(state: RunState) -> int:
    """Return how many dispatches without a plan stand; the verb counts those that came to nothing, too."""
    return sum(bool(one.data.get("spike")) for one in handout.effective_dispatches(state))


def _unnamed(state: RunState, event: Event) -> Iterator[Finding]:
    """Yield a dispatch that does not name what was asked, as the verb does, while work goes on from it."""
    text = state.text(event.of)
    if text is None:
        return
    if terms.are_named(event, terms.text_of(event, chain([text], last_readable.texts(state.view, text.path)))):
        return
    was_rejected = any(one.id == event.id for one in terms.of_rejected(state, event.of))
    if was_rejected or handout.stands(state, event):
        message = f"{event.of} was handed out, and the dispatch does not name all that was asked"
        undoing = (
            leaving_out(event.path) if was_rejected else f"hand it out again, after this: {_undoing(state, event)}"
        )
        yield Finding("P008", event.path, 0, message, undoing)


def _undoing(state: RunState, event: Event) -> str:
    """Return the command that takes back what came of a dispatch."""
    if event.dispatch in state.folded(event.of).lanes.open_dispatches():
        return f"memento dispatch recover {event.dispatch} --force --reason WHY"
    return f"memento task reopen {event.of} --reason WHY"


def _beyond(state: RunState, event: Event) -> Iterator[Finding]:
    """Yield a dispatch, while it stands, of a task that was tried as often as it may be by what it had seen."""
    folded, own = state.folded(event.of), state.fold.judged(event.id)
    if own is None or not handout.stands(state, event):
        return
    seen = [one for one in folded.events if one.event.id in own.past]
    tried = outcomes.attempts(seen)
    limits = proofs.front_matter(state, event.of).get("budget") or {}
    if why := budget.budget(state.policy.budget, limits, tried, {}).tried_out():
        message = f"{event.of} was handed out beyond its budget, and nobody says why: {why}"
        fix = f"hand it out with --over-budget WHY, after this: {_undoing(state, event)}"
        yield Finding("P007", event.path, 0, message, fix)


def failed_gates(state: RunState, task: Prose, ends: Sequence[Event], scope: Scope) -> Iterator[Finding]:
    """Yield the failed gates of a task that is done: graver where neither the verdict nor the end saw the other."""
    for _, gate in state.failed_gates(task.id):
        verdicts = state.folded(task.id).verdicts(gate)
        failures = [one for one in verdicts if one.verdict == "legal" and one.event.do == "failed"]
        apart = [one.event.id for one in failures if not any(end.id in one.past for end in ends)]
        severity = scope.severity(*apart, *(end.id for end in ends)) if apart else "warning"
        message = f"{task.id} is done, but its gate {gate} has failed"
        fix = f"{passing(state.policy.gates_fresh, gate, task.id)}; where work is to be done again, {redoing(task.id)}"
        yield Finding("T006", ends[0].path if ends else task.path, 0, message, fix, severity)


def own_word(state: RunState, task: str, ends: Sequence[Event]) -> Iterator[Finding]:
    """Yield that the approval which is asked of a task is by nobody but who did it."""
    if "approval" not in state.asked(task).evidence:
        return
    cited = [state.cited(parse_ref(ref), task) for end in ends for ref in end.evidence]
    counting = [
        one.evidence for one in cited
        if one.evidence is not None and one.evidence.kind == "approval"
        and not (trust.fault(one, task) or trust.approves_else(one, task))
    ]  # fmt: skip
    workers = [one.by for one in state.completions(task)]
    if counting and all(persons.is_among(one.data["by"], workers) for one in counting):
        message = f"{task} asks for an approval, and has that of {counting[0].data['by']} alone, who did the work"
        fix = f"let somebody else say yes: memento evidence approve {task}, then memento task verify {task}"
        yield Finding("P003", counting[0].path, 0, message, fix, "warning")
