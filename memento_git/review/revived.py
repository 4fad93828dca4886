"""What did not count at the base, for other words or another plan had come after it, and counts on the branch again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.model.finding import Finding, leaving_out
from memento_git.model.ids import Ref, kind_of
from memento_git.model.states import DONE
from memento_git.model.work import Prose
from memento_git.review import texts, wording
from memento_git.work import gates, gateseen, naming, proofs, terms
from memento_git.work.nextsteps import passing
from memento_git.work.persons import is_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memento_git.model.work import Event, Evidence
    from memento_git.review.against import Comparison
    from memento_git.work.state import RunState
    from memento_git.work.verification import Demand


class Cause(NamedTuple):
    """What a branch did in a run so that something counts again: in which file, in words, and how it is undone."""

    run: str
    path: str
    did: str
    undoing: str


def revived(comparison: Comparison) -> Iterator[Finding]:
    """Yield what was given before the branch, had fallen at the base, and counts again without being given again."""
    for path, place in texts.of_the_base(comparison, "run", "task"):
        old, new = comparison.base.record(path), wording.now(comparison, place)
        has_ended = comparison.before(place.run).is_final
        if isinstance(old, Prose) and new is not None and not has_ended and not _say_the_same(old, new):
            undoing = texts.undoing(comparison, place, path, "git checkout {} -- {}")
            did = f"the branch puts back the words of {place.id} that it was given on"
            yield from _by_words(comparison, old, new, Cause(place.run, new.path, did, undoing))
    for run in comparison.touched():
        if run in comparison.head.runs():
            yield from _by_plan(comparison, run)


def _say_the_same(old: Prose, new: Prose) -> bool:
    """Tell whether two texts are others by their line breaks alone: then nobody had asked for anything else."""
    return old.data == new.data and terms.parts(old) == terms.parts(new)


def _by_words(comparison: Comparison, old: Prose, new: Prose, cause: Cause) -> Iterator[Finding]:
    """Yield what counts again as the text of a run or task is again what it was given on."""

    def fell(verdict: Event) -> bool:
        known = verdict.get("terms")
        return bool(known) and known != terms.digest(old)

    yield from _verdicts(comparison, new.id, cause, fell)
    yield from _answers(comparison, old, new, cause)
    if kind_of(new.id) == "task":
        yield from _completions(comparison, new.id, cause, lambda event: event.get("text") != old.digest)


def _by_plan(comparison: Comparison, run: str) -> Iterator[Finding]:
    """Yield what counts again by a plan that the branch approves, and did not by the one that was approved last."""
    state, before = comparison.state(run), comparison.before(run)
    given = texts.last_approved(state)
    was = texts.last_approved(before) if given is not None and given.id in comparison.added() else None
    if given is None or was is None or (given.of, given.get("text")) == (was.of, was.get("text")):
        return
    old = texts.as_approved(comparison, was) or texts.plan_of(comparison.base, was)
    what = f"another text of {given.of}" if given.of == was.of else f"{given.of} in the place of {was.of}"
    cause = Cause(run, given.path, f"the branch approves {what}", leaving_out(given.path))
    yield from _verdicts(comparison, run, cause, lambda event: bool(gateseen.other_plan(before, event)))
    asked = old.data if old is not None else proofs.NOTHING
    is_same_proof = asked.get("verify") == proofs.front_matter(state, given.of).get("verify")
    for task in () if is_same_proof else state.counting():
        yield from _completions(comparison, task, cause, lambda event: not _proved(before, state, event, asked))


def _proved(before: RunState, state: RunState, completion: Event, plan: Mapping[str, Any]) -> bool:
    """Tell whether a completion is what a plan asks of its task, then or now."""
    return any(_proves(one, completion, proofs.asked_by(one, completion.of, plan)) for one in (before, state))


def _proves(state: RunState, completion: Event, asks: Demand) -> bool:
    return proofs.by_words(state, completion, state.told(completion.of).digest, asks).proven


def _verdicts(comparison: Comparison, scope: str, cause: Cause, fell: Callable[[Event], bool]) -> Iterator[Finding]:
    """Yield the passes and waivers of a record that had fallen, and hold again."""
    state, before = comparison.state(cause.run), comparison.before(cause.run)
    for gate in state.gates(scope):
        is_needed = gates.is_needed(state, scope, gate)
        held, was = gates.given(state, scope, gate), gates.given(before, scope, gate)
        if not is_needed or any(one.id in comparison.added() for one in held):
            continue
        for event in (one for one in was if one in held and fell(one) and not gateseen.unseen(state, one)):
            told = f"gate {gate} of {scope} holds again by {event.id} of {event.by}"
            yield _finding(state, told, cause, passing(state.policy.gates_fresh, gate, scope))


def _answers(comparison: Comparison, old: Prose, new: Prose, cause: Cause) -> Iterator[Finding]:
    """Yield the approvals of a run or task that were for another text, and that nobody has given again."""
    state = comparison.state(cause.run)
    given = [one for one in map(state.evidence, naming.suspects(state)) if one and _approves(state, one, new)]
    fresh = [one for one in given if comparison.is_added(cause.run, one.id)]
    for one in given:
        is_again = one in fresh or any(is_same(one.data["by"], other.data["by"]) for other in fresh)
        if not is_again and one.data["text"] != old.digest:
            told = f"the approval of {new.id} by {one.data['by']} counts again by {one.id}"
            yield _finding(state, told, cause, f"memento evidence approve {new.id} --response yes")


def _approves(state: RunState, evidence: Evidence, text: Prose) -> bool:
    """Tell whether evidence approves a record by its text as it is, and counts."""
    data = evidence.data
    is_own = evidence.kind == "approval" and (data.get("approves"), data.get("text")) == (text.id, text.digest)
    return is_own and not gates.fault(state.cited(Ref(evidence.id, evidence.digest), text.id), text.id)


def _completions(comparison: Comparison, task: str, cause: Cause, fell: Callable[[Event], bool]) -> Iterator[Finding]:
    """Yield the completions of a task that did not prove it, and do again without the help of what the branch adds."""
    state, before = comparison.state(cause.run), comparison.before(cause.run)
    if state.task_status(task) not in DONE:
        return
    asks, text = state.asked(task), state.told(task).digest
    proving = [one for one in proofs.counting(state, task) if _proves(state, one, asks)]
    accepted = [one for one in proofs.judging(state, task) if one.get("text") == text]
    if any(one.id in comparison.added() for one in (*proving, *accepted)):
        return
    for event in (one for one in before.completions(task) if one in proving and fell(one)):
        told = f"{task} is proven again by {event.id} of {event.by}"
        yield _finding(state, told, cause, f"memento task reopen {task} --reason WHY, and complete it anew")


def _finding(state: RunState, told: str, cause: Cause, again: str) -> Finding:
    """Return the finding of what counts again; where its run has ended, nobody can give it again."""
    message = f"{told}, which did not count at the base: {cause.did}"
    ends = [one.event.path for one in state.untouched(state.id) if one.event.do == state.status]
    fix = f"{cause.undoing}; or let it be given again: {again}"
    if state.is_final and ends:
        fix = f"{state.id} is {state.status} for good; {leaving_out(ends[-1])}; then {cause.undoing}"
    return Finding("P009", cause.path, 0, message, fix)
