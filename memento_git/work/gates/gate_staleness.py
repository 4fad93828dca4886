"""What whoever passed or waived a gate had seen of what it is about, and what came since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.folding.fold import group_of, plans_of
from memento_git.folding.lanes import CANONICAL, task_status
from memento_git.model.states import DONE, FINAL_TASK, GATES_OF_WORK, PASSING
from memento_git.work.dispatch import terms
from memento_git.work.gates import gates

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from memento_git.model.objection import Objection
    from memento_git.model.work import Event
    from memento_git.work.state import RunState

UNDOING: Final = ("reopened", "rejected")


def outlived(state: RunState, scope: str, gate: str, *, ended: bool | None = None) -> Objection:
    """Return what came that those who passed or waived a gate had not seen, or nothing.

    In a run that has `ended`, by default as it is now, that is not asked of a verdict that names nothing but the run.
    """
    return next((why for _, why in outlasted(state, scope, gate, ended=ended)), "")


def outlasted(state: RunState, scope: str, gate: str, *, ended: bool | None = None) -> Iterator[tuple[Event, str]]:
    """Yield the passes and waivers of a gate that had not seen what came, each with that."""
    ended = state.is_final if ended is None else ended
    for event in gates.given(state, scope, gate):
        if (why := unseen(state, event)) and (not ended or _tells(state, event)):
            yield event, why


def _tells(state: RunState, verdict: Event) -> bool:
    """Tell whether a pass or waiver tells what its giver had seen; one that was written by hand need not."""
    named = any(one.of != verdict.of for one in _named(state, verdict))
    return verdict.get("gate") == "release" or verdict.of != state.id or named or "terms" in verdict.data


def reads(state: RunState, scope: str, gate: str, verdict: str) -> list[str]:
    """Return what a verdict names beside its own record, so that it tells what its giver had seen."""
    if scope != state.id:
        return [state.id]
    if verdict not in PASSING:
        return []
    plans = [plans_of(state.id)] if gate in (*GATES_OF_WORK, "plan_review") else []
    return [*plans, *(state.tasks() if gate in GATES_OF_WORK else ())]


def left_open(state: RunState, scope: str, gate: str) -> list[str]:
    """Return the tasks that are open to a verdict on all work of a run."""
    tasks = state.tasks() if scope == state.id and gate in GATES_OF_WORK else ()
    return [task for task in tasks if state.task_status(task) not in FINAL_TASK]


def saw_work(state: RunState, verdict: Event) -> bool:
    """Tell whether a verdict on a task had seen it done, and not rejected since."""
    named = _named(state, verdict)
    return bool(terms.done_before(state, verdict)) and _seen_status(state, named, verdict.of) != "rejected"


def _seen_status(state: RunState, named: Iterable[Event], task: str) -> str:
    """Return the status of a task by the events that a verdict names."""
    return task_status(state.fold.lanes(one.id for one in named if one.of == task))


class Unseen(NamedTuple):
    """What a verdict had not seen, and of which record or group that is."""

    about: str
    why: str


def unseen(state: RunState, verdict: Event) -> Objection:
    """Return what a pass or waiver had not seen of what it is about, or nothing."""
    return next((one.why for one in all_unseen(state, verdict)), "")


def all_unseen(state: RunState, verdict: Event) -> Iterator[Unseen]:
    """Yield all that a pass or waiver had not seen of what it is about; of one record the first that it had not."""
    known = verdict.get("terms")
    if known and known != terms.digest(state.told(verdict.of)):
        told = "asks" if verdict.of != state.id else "is for"
        yield Unseen(verdict.of, f"it had not seen that {verdict.of} {told} something else")
    if verdict.of != state.id:
        yield from _about(verdict.of, _taken_up(state, verdict))
        return
    if verdict.get("gate") in GATES_OF_WORK:
        yield from _other_work(state, verdict)
    yield from _about(plans_of(state.id), _other_plan(state, verdict))


def _about(about: str, why: str) -> Iterator[Unseen]:
    if why:
        yield Unseen(about, why)


def _named(state: RunState, verdict: Event) -> list[Event]:
    return [seen.event for ref in verdict.after if (seen := state.fold.judged(ref.id)) is not None]


def _other_plan(state: RunState, verdict: Event) -> Objection:
    """Return that another plan, or text, was approved than a verdict on plan or work had seen; or nothing."""
    gate, knows_terms = verdict.get("gate"), "terms" in verdict.data
    if gate != "plan_review" and not (knows_terms and gate in GATES_OF_WORK):
        return ""
    plans = plans_of(state.id)
    then = state.fold.lanes(one.id for one in _named(state, verdict) if group_of(one) == plans)
    now, plan, none = state.folded(plans).lanes, state.canonical, ("", "")
    if plan == "contested":
        return "it is contested which plan holds"
    if now.values.get(CANONICAL, none) == then.values.get(CANONICAL, none):
        return ""
    return f"it had not seen that {plan} was approved" if plan else "it had not seen that its plan was rejected"


def _taken_up(state: RunState, verdict: Event) -> Objection:
    """Return what came of a task after the verdict on it: that its work was undone, or it was done otherwise.

    A task that is done for the first time may have been judged before that.
    """
    past, folded = state.past(verdict.id), state.folded(verdict.of)
    undone = folded.undone
    before = {one.event.do for one in folded.events if one.event.id in past}
    counting = {*UNDOING, *(("completed", "selected") if before & {"completed", "selected"} else ())}
    for event in folded.legal(*counting):
        if event.id not in (*past, *undone):
            if event.do == "selected":
                return f"it had not seen that {event.dispatch} was chosen for {verdict.of}"
            if event.do == "completed":
                return _not_completed(state, event, past)
            return f"it had not seen that {verdict.of} was {event.do}"
    return ""


def _other_work(state: RunState, verdict: Event) -> Iterator[Unseen]:
    """Yield what a verdict on the run had not seen of each task: how it ended, or that it is open."""
    named, seen, tasks = _named(state, verdict), state.fold.seen_by(verdict), state.tasks()
    opened = verdict.data.get("open") or ()
    yield from (Unseen(task, f"it had not seen that {task} is gone") for task in sorted({*opened}.difference(tasks)))
    for task in tasks:
        yield from _about(task, _ended_else(state, task, named, seen, was_open=task in opened))


def _ended_else(
    state: RunState, task: str, named: Iterable[Event], seen: Container[str], *, was_open: bool
) -> Objection:
    """Return how a task ended, or that it is open, where a verdict had not seen that; or nothing."""
    status = state.task_status(task)
    if status in DONE:
        if late := [event for event in state.completions(task) if event.id not in seen]:
            return _not_completed(state, late[0], seen)
        is_other = (chosen := state.selected(task)) not in ("", *_chosen(state, task, seen))
        return f"it had not seen that {chosen} was chosen for {task}" if is_other else ""
    ended = any(one.id not in seen for one in state.folded(task).legal("completed"))
    if ended or _seen_status(state, named, task) in DONE:
        return f"it had not seen that {task} is {status.replace('_', ' ')}, which was completed before"
    is_gone = status == "cancelled" and was_open
    return f"it had not seen that {task} was cancelled" if is_gone else ""


def _not_completed(state: RunState, event: Event, seen: Container[str]) -> str:
    """Return that a completion was not seen; of one after another that was, on which dispatch it is."""
    before = (one.event.id for one in state.folded(event.of).events if one.event.do == "completed")
    told = f" once more, on {event.dispatch}" if any(name in seen for name in before) else ""
    return f"it had not seen that {event.of} was completed{told}"


def _chosen(state: RunState, task: str, seen: Container[str]) -> list[str]:
    """Return the latest candidate that was chosen in what was seen of a task."""
    return [event.dispatch for event in state.choices(task) if event.id in seen][-1:]
