"""What did not count at the base, for something had come that it had not seen, and counts on the branch again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.folding.fold import plans_of
from memento_git.folding.lanes import CANONICAL
from memento_git.ledger import layout
from memento_git.ledger.commits import is_cut_off
from memento_git.model.clock import seconds_of
from memento_git.model.enumeration import some
from memento_git.model.finding import Finding, leaving_out
from memento_git.model.ids import Ref, kind_of, parse_ref
from memento_git.model.states import DONE, GATES_OF_WORK
from memento_git.model.work import Event, Evidence, Prose
from memento_git.review import text_changes
from memento_git.work.dispatch import terms
from memento_git.work.gates import gates
from memento_git.work.persons import is_same
from memento_git.work.proof import evidence_prefilter, proofs, reruns, trust
from memento_git.work.remedies import passing

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.review.base_comparison import Comparison
    from memento_git.work.proof.verification import Demand
    from memento_git.work.state import RunState

DECIDING: Final = ("approved", "rejected", "selected")
TAKING: Final = ("retracted", "superseded", "redacted")
RESTING: Final = ("completed", "accepted", "passed")


class Cause(NamedTuple):
    """What a branch did in a run so that something counts again: in which file, in words, and how it is undone."""

    run: str
    path: str
    did: str
    undoing: str


class Reworded(NamedTuple):
    """A text that the branch changed, and not its line breaks alone, as it was and is; and the base that has it."""

    old: Prose
    new: Prose
    cause: Cause
    base: View

    def is_newer_than(self, time: str) -> bool:
        """Tell whether the base was given some words of its text after a time, as far as its history is here.

        What was written on a branch of its own is there once that is merged. Each change counts, for the last one may
        be dated back.
        """
        git, words = self.base.git, ("log", "--first-parent", "--format=%ct")
        told = [git.answer(*words, one, "--", self.old.path) for one in self.base.commits]
        return not is_cut_off(git) and any(
            int(one) > seconds_of(time) for dates in filter(None, told) for one in dates.split()
        )


def reinstated(comparison: Comparison) -> Iterator[Finding]:
    """Yield what was given before the branch, had fallen at the base, and counts again without being given again."""
    reworded = {one.new.id: one for one in _reworded(comparison)}
    for one in reworded.values():
        if kind_of(one.new.id) != "plan":
            yield from _answers(comparison, one)
        if kind_of(one.new.id) == "task":
            yield from _completions(comparison, one.new.id, one.cause, _is_of_other_words(one.old))
    yield from _undoubted(comparison)
    yield from _denied(comparison)
    changed = _changed(comparison, reworded)
    for run in comparison.touched():
        if run in comparison.head.runs() and not comparison.before(run).is_final:
            yield from _verdicts(comparison, run, changed.get(run, set()), reworded)
            yield from _by_plan(comparison, run)


def _undoubted(comparison: Comparison) -> Iterator[Finding]:
    """Yield the evidence that counts again because the branch takes away a second run that came to something else."""
    for path, place in layout.placed(comparison.brought(), "event"):
        if place.do not in TAKING or kind_of(place.of) != "evidence":
            continue
        before = comparison.before(place.run)
        again = before.evidence(place.of)
        ref = again.data.get("reproduces") if again is not None else None
        first = before.evidence(parse_ref(ref).id) if ref else None
        if again is not None and first is not None and again.id in before.seen_again(first).differ:
            told = f"{first.id} counts again: {again.id} by {again.data['by']} speaks against it, and is {place.do}"
            fix = f"look why: memento evidence show {again.id}; or {leaving_out(path)}"
            yield Finding("P009", path, 0, told, fix, "warning")


def _denied(comparison: Comparison) -> Iterator[Finding]:
    """Yield what the branch completes, accepts or passes on a pass that a second run of the same command denies."""
    for path, place in layout.placed(comparison.brought(), "event"):
        event = comparison.head.record(path) if place.do in RESTING else None
        if not isinstance(event, Event) or not event.evidence:
            continue
        state = comparison.state(event.run)
        for one in state.pieces(parse_ref(ref).id for ref in event.evidence):
            if trust.outcome_of(one.data) != "passed" or state.evidence_status(one.id) != "recorded":
                continue
            for again in reruns.denying(state, one):
                who = again.data["by"]
                told = f"{one.id} passes what failed on the same code when {who} ran it again, in {again.id}"
                fix = f"look why; where the code was not to blame: memento evidence retract {again.id} --reason WHY"
                yield Finding("P009", path, 0, told, fix, "warning")


def _changed(comparison: Comparison, reworded: Mapping[str, Reworded]) -> dict[str, set[str]]:
    """Return run -> the records by which something may hold again: whose text is another, or of which was decided."""
    found = {run: {run} for run, events in comparison.newly_legal.items() if events}
    for place in filter(None, map(layout.place_of, comparison.brought())):
        if place.do in (*DECIDING, "redacted"):
            found.setdefault(place.run, set()).add(place.of)
    for one in reworded.values():
        found.setdefault(one.cause.run, set()).add(one.new.id)
    return found


def _reworded(comparison: Comparison) -> Iterator[Reworded]:
    """Yield the texts that the branch makes say something else, of runs that have not ended."""
    for path, place in text_changes.of_the_base(comparison, "run", "plan", "task"):
        before, new = comparison.before(place.run), comparison.state(place.run).text(place.id)
        old = before.text(place.id)
        if old is not None and new is not None and not before.is_final and not _say_the_same(old, new):
            undoing = text_changes.undoing(comparison, place, path, "git checkout {} -- {}")
            did = f"the branch puts back the words of {place.id} that it was given on"
            yield Reworded(old, new, Cause(place.run, new.path, did, undoing), comparison.base)


def _say_the_same(old: Prose, new: Prose) -> bool:
    """Tell whether two texts are others by their line breaks alone: then nobody had asked for anything else."""
    return old.data == new.data and terms.shape(old) == terms.shape(new)


def _is_of_other_words(old: Prose) -> Callable[[Event], bool]:
    return lambda event: event.get("text") != old.digest


def _verdicts(
    comparison: Comparison, run: str, changed: set[str], reworded: Mapping[str, Reworded]
) -> Iterator[Finding]:  # fmt: skip
    """Yield the passes and waivers that had fallen, and hold again, of gates that policy requires or guards."""
    state, before = comparison.state(run), comparison.before(run)
    tasks = sorted(changed) if all(kind_of(one) == "task" for one in changed) else state.tasks()
    for scope in (run, *tasks) if changed else ():
        for gate in state.gates(scope):
            is_needed = gates.is_needed(state, scope, gate)
            held = gates.given(state, scope, gate) if is_needed else []
            was = {one.id: one for one in gates.given(before, scope, gate)}
            new = [one for one in held if one.id in comparison.added]
            fell = {one.id: [*_unknown(before, state, one, reworded)] for one in new}
            if not all(fell.values()):
                continue
            fell |= {one.id: [*_amiss(before, was[one.id])] for one in held if one.id in was}
            for event in (one for one in held if not any(_amiss(state, one))):
                causes = (_cause(comparison, run, why, reworded) for why in fell.get(event.id, ()))
                if cause := next(filter(None, causes), None):
                    told = f"gate {gate} of {scope} holds again by {event.id} of {event.by}"
                    yield _finding(state, told, cause, passing(state.policy.gates_fresh, gate, scope))


def _unknown(
    before: RunState, state: RunState, verdict: Event, reworded: Mapping[str, Reworded]
) -> Iterator[tuple[str, str]]:
    """Yield the texts that the base has from after a verdict, and its plan or choices that it had not seen.

    So it was given elsewhere, or before the branch had what the base has.
    """
    of, gate, seen = verdict.of, verdict.get("gate"), state.fold.seen_by(verdict)
    tasks = [of] if of != state.id else state.tasks() if gate in GATES_OF_WORK else []
    for name in dict.fromkeys([of, *tasks]) if verdict.get("terms") else ():
        if name in reworded and reworded[name].is_newer_than(verdict.at):
            yield name, ""
    plan = text_changes.last_approved(before) if of == state.id and gate in (*GATES_OF_WORK, "plan_review") else None
    if plan is not None and plan.id not in seen:
        yield plans_of(state.id), ""
    for task in tasks:
        if any(choice.id not in seen for choice in before.choices(task)[-1:]):
            yield task, ""


def _amiss(state: RunState, verdict: Event) -> Iterator[tuple[str, str]]:
    """Yield what a verdict had not seen of what it is about, by the id of that; and what an approval it is on had not.

    The latter with whose approval that is.
    """
    from memento_git.work.gates import gate_staleness

    yield from ((one.about, "") for one in gate_staleness.all_unseen(state, verdict))
    for ref in verdict.evidence:
        found = state.evidence(parse_ref(ref).id)
        if found is not None and proofs.other_words(state, found):
            yield str(found.data["approves"]), str(found.data["by"])


def _cause(
    comparison: Comparison, run: str, fell: tuple[str, str], reworded: Mapping[str, Reworded]
) -> Cause | None:  # fmt: skip
    """Return by what a verdict that had fallen for a reason holds again; None where nobody got around who gave it.

    Disagreement that is settled is nothing of that kind, nor a text that could not be read, or has other line breaks.
    """
    (about, by), state, before = fell, comparison.state(run), comparison.before(run)
    if found := reworded.get(about):
        return None if by and _is_again(by, _fresh(comparison, found)) else found.cause
    ours = [seen.event for seen in state.folded(about).events if seen.event.id in comparison.added]
    last = next((event for event in reversed(ours) if event.do in DECIDING), None)
    if last is None:
        return None
    did = f"the branch chooses {last.dispatch} for {about}"
    if last.do != "selected":
        did = f"the branch {_agreed(before, last)}"
    return Cause(run, last.path, did, leaving_out(last.path))


def _agreed(before: RunState, event: Event) -> str:
    """Return in words which plan is approved, or rejected, by an event."""
    was = text_changes.last_approved(before) or next(reversed(before.approvals()), None)
    if event.do == "rejected" or was is None:
        return f"{'rejects' if event.do == 'rejected' else 'approves'} {event.of}"
    return f"approves {f'another text of {event.of}' if event.of == was.of else f'{event.of} in the place of {was.of}'}"


def _by_plan(comparison: Comparison, run: str) -> Iterator[Finding]:
    """Yield the completions that count again by a plan that the branch approves, and did not by the one before.

    Where it was contested which one that is, by one of them.
    """
    state, before = comparison.state(run), comparison.before(run)
    given = text_changes.last_approved(state)
    if given is None or given.id not in comparison.added:
        return
    was = text_changes.last_approved(before)
    cause = Cause(run, given.path, f"the branch {_agreed(before, given)}", leaving_out(given.path))
    for plan in [was] if was else _contesting(before):
        if (given.of, given.get("text")) == (plan.of, plan.get("text")):
            continue
        old = text_changes.as_approved(comparison, plan) or before.text(plan.of)
        asked = old.data if old is not None else proofs.NOTHING
        if asked.get("verify") != proofs.front_matter(state, given.of).get("verify"):
            for task in state.counting():
                yield from _completions(comparison, task, cause, _is_not_proved(before, state, asked))
    if was is not None:
        yield from _despite_a_no(state, before, was, given, cause)


def _despite_a_no(state: RunState, before: RunState, was: Event, given: Event, cause: Cause) -> Iterator[Finding]:
    """Yield, as a warning, that work counts again by a plan in the place of one that somebody else rejected.

    Where policy names who approves plans, one of those did so.
    """
    noes = before.folded(plans_of(before.id)).legal("rejected")
    no = next((one for one in reversed(noes) if one.of == was.of), None)
    if no is None or before.canonical or state.policy.plan_approvers or is_same(no.by, given.by):
        return
    done = [task for task in state.counting() if state.task_status(task) in DONE]
    again = [task for task in done if any(state.proof_of(one).proven for one in before.completions(task))]
    if again:
        told = f"{cause.did}, which {no.by} rejected, so that what was done before counts again: {some(again, 3)}"
        fix = f"look why it was rejected: memento log --record {was.of}; or {cause.undoing}"
        yield Finding("P009", cause.path, 0, told, fix, "warning")


def _contesting(before: RunState) -> list[Event]:
    """Return the approvals of plans that disagree."""
    names = before.folded(plans_of(before.id)).lanes.contested.get(CANONICAL, ())
    return [event for event in before.approvals() if event.id in names]


def _is_not_proved(before: RunState, state: RunState, plan: Mapping[str, Any]) -> Callable[[Event], bool]:
    """Return what tells whether a completion is not what a plan asks of its task, neither then nor now."""
    return lambda event: not any(
        _proves(one, event, proofs.asked_by(one, event.of, plan)) for one in (before, state)
    )  # fmt: skip


def _proves(state: RunState, completion: Event, asks: Demand) -> bool:
    """Tell whether a completion is what is asked, if nothing speaks against its evidence that may be taken back."""
    return proofs.by_words(state, completion, state.told(completion.of).digest, asks, proofs.undoubted).proven


def _answers(comparison: Comparison, reworded: Reworded) -> Iterator[Finding]:
    """Yield the approvals of a run or task that were for another text, and that nobody has given again."""
    old, new, cause, _ = reworded
    state, fresh = comparison.state(cause.run), _fresh(comparison, reworded)
    for one in _approvals(state, new):
        if not _is_again(one.data["by"], fresh) and one.data["text"] != old.digest:
            told = f"the approval of {new.id} by {one.data['by']} counts again by {one.id}"
            yield _finding(state, told, cause, f"memento evidence approve {new.id} --response yes")


def _fresh(comparison: Comparison, reworded: Reworded) -> list[Evidence]:
    """Return the approvals of a text that count, that the branch adds, and that came after what the base made of it."""
    given = _approvals(comparison.state(reworded.new.run), reworded.new)
    ours = (one for one in given if comparison.is_added(one.run, one.id))
    return [one for one in ours if not reworded.is_newer_than(one.data["at"])]


def _is_again(by: str, fresh: list[Evidence]) -> bool:
    return any(is_same(by, one.data["by"]) for one in fresh)


def _approvals(state: RunState, text: Prose) -> list[Evidence]:
    """Return the approvals of a record by its text as it is that count, or did but for a no to something else."""
    given = filter(None, map(state.evidence, evidence_prefilter.suspects(state)))
    return [
        one for one in given
        if one.kind == "approval"
        and (one.data.get("approves"), one.data.get("text")) == (text.id, text.digest)
        and not gates.fault(proofs.undoubted(state, Ref(one.id, one.digest), text.id), text.id)
        and not _is_refused(state, one)
    ]  # fmt: skip


def _is_refused(state: RunState, approval: Evidence) -> bool:
    """Tell whether who approved something said no to just that since: nothing but a new yes to it takes that back."""
    about, by, at = (str(approval.data[key]) for key in ("approves", "by", "at"))
    noes = (one for one in state.answers().get(about, ()) if one.is_no and one.about == about)
    return any(one.at >= at and is_same(one.by, by) for one in noes)


def _completions(comparison: Comparison, task: str, cause: Cause, fell: Callable[[Event], bool]) -> Iterator[Finding]:
    """Yield the completions of a task that did not prove it, and do again without the help of what the branch adds.

    Where none that counts does, it is those of the candidates that a further request might choose. Beside one that
    counts, those are told as a warning.
    """
    state, before = comparison.state(cause.run), comparison.before(cause.run)
    if state.task_status(task) not in (*DONE, "contested"):
        return
    asks, text = state.asked(task), state.told(task).digest
    every = [one for one in state.completions(task) if _proves(state, one, asks)]
    counting = {one.id for one in proofs.counting(state, task)}
    proving = [one for one in every if one.id in counting]
    judged = [one for one in proofs.judging(state, task) if one.get("text") == text and _shows_more(comparison, one)]
    is_new = any(one.id in comparison.added for one in (*proving, *judged))
    names = {one.id for one in every} - (counting if is_new else set())
    grave = set() if is_new else {one.id for one in proving or every}
    for event in (one for one in before.completions(task) if one.id in names and fell(one)):
        beside = "" if event.id in grave else ", should it be chosen"
        told = f"{task} is proven again by {event.id} of {event.by}{beside}"
        found = _finding(state, told, cause, f"memento task reopen {task} --reason WHY")
        yield found if event.id in grave else found._replace(severity="warning")


def _shows_more(comparison: Comparison, accepted: Event) -> bool:
    """Tell whether an acceptance goes by evidence that the branch adds, and not by what had fallen alone."""
    return any(comparison.is_added(accepted.run, parse_ref(ref).id) for ref in accepted.evidence)


def _finding(state: RunState, told: str, cause: Cause, again: str) -> Finding:
    """Return the finding of what counts again; where its run has ended, nobody can give it again."""
    message = f"{told}, which did not count at the base: {cause.did}"
    ends = [one.event.path for one in state.untouched(state.id) if one.event.do == state.status]
    fix = f"{cause.undoing}; or let it be given again: {again}"
    if state.is_final and ends:
        end = state.view.place_of(state.id, ends[-1])
        fix = f"{state.id} is {state.status} for good; {leaving_out(end)}; then {cause.undoing}"
    return Finding("P009", cause.path, 0, message, fix)
