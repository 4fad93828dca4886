"""Whether a gate that has passed or was waived holds: what it rests on, and what its giver had seen, stands now."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.folding.fold import group_of, last_of, plans_of
from memento_git.folding.lanes import CANONICAL, task_status
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.states import DONE, FINAL_TASK, GATES_OF_WORK, PASSING
from memento_git.work import codes, codestate, proofs, signing, terms, trust
from memento_git.work.nextsteps import passing

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from memento_git.ledger.git import Git
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event, Evidence
    from memento_git.work.state import RunState
    from memento_git.work.trust import Cited

    Code = Callable[[Sequence[str]], Mapping[str, Any]]
    Here = Callable[[], Mapping[str, Any]]


NOTHING: Final = "none was given"
WEAK: Final = "nothing that was given would prove anything under the policy"
NARROW: Final = "what was given covers some paths, and not all of the code"
UNDOING: Final = ("reopened", "rejected")
TOLD: Final = {"passed": "has passed", "waived": "was waived"}


class Fall(NamedTuple):
    """A gate whose pass or waiver does not hold, why, and whether that holds the completion of its run up."""

    scope: str
    gate: str
    why: str
    is_asked: bool


def fault(cited: Cited, scope: str) -> str:
    """Return why a gate of a run or task cannot pass on a piece of evidence, or nothing."""
    tasks = cited.evidence.tasks if cited.evidence else []
    return trust.fault(cited, scope if kind_of(scope) == "task" else (tasks or [scope])[0])


def faults(state: RunState, scope: str, refs: Sequence[str]) -> str:
    """Return why a gate cannot pass on some evidence, or nothing."""
    return next(filter(None, (fault(state.cited(parse_ref(ref), scope), scope) for ref in refs)), "")


def here(git: Git, state: RunState, refs: Iterable[str]) -> Here:
    """Return what tells the code of the work tree as some evidence saw it; git looks once, and where it is asked."""
    return cache(lambda: codestate.code_as_seen(git, [trust.seen_by(one) for one, _ in _shown(state, refs)]))


def not_fresh(state: RunState, scope: str, refs: Sequence[str], code: Here) -> str:
    """Return why evidence is not sound, or not of the code as it lies here, or nothing."""
    if not refs:
        return NOTHING
    if problem := faults(state, scope, refs):
        return problem
    shows, narrow, proof = False, False, state.policy.proof
    for evidence, cited in _shown(state, refs):
        if not codes.agree(trust.seen_by(evidence), code()):
            return f"{evidence.id} is of other code"
        if not trust.weakness(evidence, trust.trusted(cited, [code()]).trust, proof):
            narrow = not _is_wide(scope, evidence)
            shows = shows or not narrow
    return "" if shows else NARROW if narrow else WEAK


def mending(git: Git, state: RunState, gates: Iterable[tuple[str, str]]) -> list[str]:
    """Return for each gate, of a run (scope, gate) or of its tasks, the command by which it passes or holds again."""
    found = [(*one, given(state, *one)) for one in gates]
    code = here(git, state, [ref for *_, held in found for ref in _rests_on(held)])
    return [_mending(state, *one, None if git.top is None else code) for one in found]


def _rests_on(verdicts: Iterable[Event]) -> list[str]:
    return [ref for event in verdicts for ref in event.evidence]


def _mending(state: RunState, scope: str, gate: str, held: Sequence[Event], code: Here | None) -> str:
    policy, released = state.policy, scope == state.id and gate == "release"
    refs = _rests_on(held)
    if (
        code is not None
        and refs
        and not not_fresh(state, scope, refs, code)
        and not any(unseen(state, event) for event in held)
        and not (released and (policy.release.get("checks") or policy.release.get("approvals")))
    ):
        return "git commit"  # it rests on the code as it lies here
    if released:
        return f"memento gate release --run {state.id}"
    return passing(policy.gates_fresh, gate, scope, shown=bool(refs) or not held)


def shows(state: RunState, verdict: Event, code: Code) -> bool:
    """Tell whether a pass rests on sound evidence of the code as it is."""
    return any(
        trust.saw(evidence, code)
        and _is_wide(verdict.of, evidence)
        and not trust.weakness(evidence, trust.trusted(cited, [code(())]).trust, state.policy.proof)
        for evidence, cited in _shown(state, verdict.evidence)
    )


def _is_wide(scope: str, evidence: Evidence) -> bool:
    """Tell whether evidence shows enough of the code for a gate: of a run all of it, and not some paths alone."""
    return kind_of(scope) == "task" or "paths" not in trust.seen_by(evidence)


def _shown(state: RunState, refs: Iterable[str]) -> Iterator[tuple[Evidence, Cited]]:
    """Yield what is cited and shows something of the code: approvals do not."""
    for cited in (state.cited(parse_ref(ref)) for ref in refs):
        if cited.evidence is not None and cited.evidence.kind != "approval":
            yield cited.evidence, cited


def falls(state: RunState, codes: Iterable[Code] = (), *, ended: bool | None = None) -> Iterator[Fall]:
    """Yield the gates of a run, and of its tasks, whose pass or waiver does not hold, by some codes as they are now.

    Where policy neither requires nor guards a gate, it holds nothing up that more came: the same hand would pass it.
    In a run that has `ended`, as in `outlived`, what a pass rests on is asked of the gates that the run needs.
    """
    codes, ended = tuple(codes), state.is_final if ended is None else ended
    for scope in (state.id, *state.counting()):
        own = scope == state.id
        for gate, word in standing(state, scope).items():
            if word not in PASSING:
                continue
            required = is_required(state, scope, gate)
            amiss = unsound(state, scope, gate, codes) if required or not ended else ""
            if why := amiss or outlived(state, scope, gate, ended=ended):
                told = f"{'' if own else f'of {scope} '}{TOLD[word]}, but {why}"
                yield Fall(scope, gate, told, bool(amiss) or required or is_guarded(state.policy, gate))


def is_required(state: RunState, scope: str, gate: str) -> bool:
    """Tell whether a run has to pass a gate of its own."""
    return scope == state.id and gate in (*state.policy.gates_required, "release")


def is_guarded(policy: Policy, gate: str) -> bool:
    """Tell whether not everybody may pass a gate on anything: by whom, on what, or with whose signature."""
    signed = signing.GATES.get(gate) in (policy.signatures.get("require") or {})
    return signed or gate in policy.gates_fresh or bool(policy.gate_verdicts.get(gate))


def fallen(state: RunState, gate: str) -> str:
    """Return why the pass or waiver of a gate of the run does not hold, whatever the code; or nothing."""
    return unsound(state, state.id, gate) or outlived(state, state.id, gate)


def unsound(state: RunState, scope: str, gate: str, codes: Sequence[Code] = ()) -> str:
    """Return why what a gate has passed on does not stand, by some codes as they are now; or nothing."""
    for event in passes(state, scope, gate):
        if why := faults(state, scope, event.evidence):
            return why
        if gate in state.policy.gates_fresh and not all(shows(state, event, code) for code in codes):
            return "nothing that it rests on saw the code of this commit"
    return ""


def outlived(state: RunState, scope: str, gate: str, *, ended: bool | None = None) -> str:
    """Return what came that those who passed or waived a gate had not seen, or nothing.

    In a run that has `ended`, by default as it is now, that is not asked of a verdict that names nothing but the run:
    one that was written by hand need not tell what it had seen.
    """
    return next((why for _, why in outlasted(state, scope, gate, ended=ended)), "")


def outlasted(state: RunState, scope: str, gate: str, *, ended: bool | None = None) -> Iterator[tuple[Event, str]]:
    """Yield the passes and waivers of a gate that had not seen what came, each with that."""
    ended = state.is_final if ended is None else ended
    for event in given(state, scope, gate):
        named = any(one.of != scope for one in _named(state, event))
        tells = gate == "release" or scope != state.id or named or "terms" in event.data
        if (why := unseen(state, event)) and (tells or not ended):
            yield event, why


def words(state: RunState) -> dict[str, str]:
    """Return the verdict that counts of each gate of the run; in a completed one, only what its completions had seen.

    A failure counts at any time.
    """
    ends = [state.fold.lanes([end.id]) for end in state.completions(state.id)]
    return {
        gate: _counting(value[0], {end.word(f"gate:{gate}", "requested") for end in ends})
        for gate, value in state.folded(state.id).lanes.named("gate").items()
    }


def _counting(now: str, seen: set[str]) -> str:
    """Return the verdict of a gate by what it is now and what each completion had seen."""
    if now not in PASSING or seen <= {now}:
        return now
    return "waived" if seen <= {*PASSING} else "requested"


def passes(state: RunState, scope: str, gate: str) -> list[Event]:
    """Return the passes by which a gate of a record has passed."""
    return [event for event in given(state, scope, gate) if event.do == "passed"]


def given(state: RunState, scope: str, gate: str) -> list[Event]:
    """Return the passes and waivers by which a gate stands; several where none had seen the other.

    What the completion of a run had seen of its gate goes before what came beside or after that.
    """
    folded = state.folded(scope)
    undone = folded.undone
    own = [one for one in folded.verdicts(gate) if one.event.id not in undone]
    ends = [seen.past for end in state.completions(state.id) if (seen := state.fold.judged(end.id)) is not None]
    in_time = [one for one in own if any(one.event.id in past for past in ends)]
    return [event for event in last_of(in_time or own) if event.do in PASSING]


def standing(state: RunState, scope: str) -> dict[str, str]:
    """Return the latest verdict of each gate of a record."""
    return {gate: value[0] for gate, value in state.folded(scope).lanes.named("gate").items()}


def lifting(state: RunState, scope: str, gate: str) -> list[Event]:
    """Return the verdicts by which a gate has passed or was waived, several where none had seen the other.

    Where it was asked for again, those that lifted a failure still do.
    """
    word = state.folded(scope).lanes.word(f"gate:{gate}", "failed")
    given = [one for one in state.folded(scope).verdicts(gate) if one.event.do != "requested"]
    failed = {one.event.id for one in given if one.event.do == "failed"}
    latest = last_of(given) if word != "failed" else []
    lifted = [one.event.id for one in given if word in PASSING or not failed.isdisjoint(one.past)]
    return [event for event in latest if event.do in PASSING and event.id in lifted]


def left_failed(state: RunState, task: str) -> list[tuple[str, str]]:
    """Return (task, gate) of each failure that a repair is held up by: not everybody may lift it on anything.

    It went with the task that the repair took the place of, and neither that nor a repair since has passed the gate.
    """
    found, lifted = [], set[str]()
    repaired = proofs.repaired(state, task)
    for name in (task, *repaired) if repaired else ():
        is_gone = name != task and state.task_status(name) == "cancelled"
        lifted |= {gate for gate in standing(state, name) if _lifts(state, name, gate)}
        failed = [gate for _, gate in state.failed_gates(name) if is_gone and is_guarded(state.policy, gate)]
        found += [(name, gate) for gate in failed if gate not in lifted]
    return found


def _lifts(state: RunState, task: str, gate: str) -> bool:
    """Tell whether a task of a chain of repairs was judged by its work, so that this lifts failures before it."""
    verdicts = given(state, task, gate)
    if not verdicts or outlived(state, task, gate):
        return False
    return state.task_status(task) != "cancelled" or all(_saw_work(state, event) for event in verdicts)


def _saw_work(state: RunState, verdict: Event) -> bool:
    """Tell whether a verdict on a task had seen it done, and not rejected since."""
    named = _named(state, verdict)
    return bool(terms.done_before(state, verdict)) and _seen_status(state, named, verdict.of) != "rejected"


def _seen_status(state: RunState, named: Iterable[Event], task: str) -> str:
    """Return the status of a task by the events that a verdict names."""
    return task_status(state.fold.lanes(one.id for one in named if one.of == task))


def is_done_with(state: RunState, scope: str, gate: str) -> bool:
    """Tell whether nothing rests on a gate: its task was cancelled, and it lifts no failure of what is repaired."""
    if scope == state.id or state.task_status(scope) != "cancelled":
        return False
    repaired = {name for task in state.counting() for name in proofs.repaired(state, task)}
    return scope not in repaired or not _lifts(state, scope, gate)


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


def unseen(state: RunState, verdict: Event) -> str:
    """Return what a pass or waiver had not seen of what it is about, or nothing."""
    gate, known = verdict.get("gate"), verdict.get("terms")
    if known and known != terms.digest(state.told(verdict.of)):
        told = "asks" if verdict.of != state.id else "is for"
        return f"it had not seen that {verdict.of} {told} something else"
    if verdict.of != state.id:
        return _taken_up(state, verdict)
    work = _other_work(state, verdict) if gate in GATES_OF_WORK else ""
    return work or other_plan(state, verdict)


def _named(state: RunState, verdict: Event) -> list[Event]:
    return [seen.event for ref in verdict.after if (seen := state.fold.judged(ref.id)) is not None]


def other_plan(state: RunState, verdict: Event) -> str:
    """Return that another plan, or text, was approved than a verdict on plan or work had seen; or nothing."""
    gate, knows_terms = verdict.get("gate"), "terms" in verdict.data
    if gate != "plan_review" and not (knows_terms and gate in GATES_OF_WORK):
        return ""
    plans = plans_of(state.id)
    then = state.fold.lanes(one.id for one in _named(state, verdict) if group_of(one) == plans)
    now, none = state.folded(plans).lanes, ("", "")
    if now.values.get(CANONICAL, none) == then.values.get(CANONICAL, none):
        return ""
    plan = now.word(CANONICAL, "")
    if plan == "contested":
        return "it is contested which plan holds"
    return f"it had not seen that {plan} was approved" if plan else "it had not seen that its plan was rejected"


def _taken_up(state: RunState, verdict: Event) -> str:
    """Return what came of a task after the verdict on it: that its work was undone, or it was done otherwise.

    A task that is done for the first time may have been judged before that.
    """
    own, folded = state.fold.judged(verdict.id), state.folded(verdict.of)
    past = own.past if own is not None else frozenset[str]()
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


def _other_work(state: RunState, verdict: Event) -> str:
    """Return what a verdict on the run had not seen of a task, or nothing: how it ended, or that it is open."""
    named, seen, tasks = _named(state, verdict), state.fold.seen_by(verdict), state.tasks()
    gone = {*(verdict.data.get("open") or ())}.difference(tasks)
    if gone:
        return f"it had not seen that {min(gone)} is gone"
    for task in tasks:
        status = state.task_status(task)
        if status in DONE:
            if late := [event for event in state.completions(task) if event.id not in seen]:
                return _not_completed(state, late[0], seen)
            if (chosen := state.selected(task)) not in ("", *_chosen(state, task, seen)):
                return f"it had not seen that {chosen} was chosen for {task}"
            continue
        before = _seen_status(state, named, task)
        if before in DONE or any(one.id not in seen for one in state.folded(task).legal("completed")):
            return f"it had not seen that {task} is {status.replace('_', ' ')}, which was completed before"
        if status == "cancelled" and task in (verdict.data.get("open") or ()):
            return f"it had not seen that {task} was cancelled"
    return ""


def _not_completed(state: RunState, event: Event, seen: Container[str]) -> str:
    """Return that a completion was not seen; of one after another that was, on which dispatch it is."""
    before = (one.event.id for one in state.folded(event.of).events if one.event.do == "completed")
    told = f" once more, on {event.dispatch}" if any(name in seen for name in before) else ""
    return f"it had not seen that {event.of} was completed{told}"


def _chosen(state: RunState, task: str, seen: Container[str]) -> list[str]:
    """Return the latest candidate that was chosen in what was seen of a task."""
    return [event.dispatch for event in state.choices(task) if event.id in seen][-1:]
