"""Who approved, judged and waived, on what, and whether policy lets them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.folding.fold import last_of, plans_of
from memento_git.folding.lanes import CANONICAL
from memento_git.model.finding import Finding
from memento_git.model.ids import option, parse_ref
from memento_git.model.states import DONE, PASSING
from memento_git.work.dispatch import handout
from memento_git.work.gates import approvals, gate_validity, gates
from memento_git.work.remedies import passing

if TYPE_CHECKING:
    from memento_git.model.objection import Objection
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event
    from memento_git.review.scope import Scope
    from memento_git.work.gates.gate_validity import Fall
    from memento_git.work.state import RunState


LEFT_OPEN: Final = "cancel it where it came from, and do it in a further run: memento task cancel {task} --reason WHY"
FURTHER: Final = "have it judged by the same gate in a further run of the branch: memento run start --goal TEXT"


def check_event(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield what policy says of an approval or of a gate's verdict."""
    if "gate" in event.data:
        yield from _verdict(state, event, scope)
    elif event.do == "dispatched":
        yield from _handed_out(state, event, scope)
    elif event.do == "approved":
        why = _may_not_approve(state, event)
        if why and (severity := _approval_severity(state, event, scope)):
            message = f"{event.of} was approved by {event.by}: {why}"
            yield Finding("P003", event.path, 0, message, _approving(state, event, severity), severity)


def _handed_out(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a dispatch of the branch on a plan that somebody approved, in the base, who may not by now."""
    if event.id not in scope.added or not handout.stands(state, event):
        return
    given = state.approving(state.canonical) if state.canonical else handout.approvals_seen(state, event)
    is_old = not any(one.id in scope.added for one in given)
    if is_old and (why := approvals.fault(state, given)):
        message = f"{event.of} was handed out, and {why}"
        yield Finding("P003", event.path, 0, message, _approving(state, given[0], "error"), "error")


def _approving(state: RunState, event: Event, severity: str) -> str:
    """Return the fix of an approval by one who may not: who may gives it, or what rests on it is taken back."""
    if state.canonical not in (event.of, "contested"):
        again = "take back what was handed out on it: memento task reopen TASK --reason WHY"
        return again if severity == "error" else f"{event.of} does not hold any more"
    whose = ", ".join(state.policy.plan_approvers) or "somebody else than its author"
    return f"let {whose} approve it: memento plan approve {event.of}"


def _may_not_approve(state: RunState, event: Event) -> Objection:
    why, author = approvals.may_not_approve(state, event), approvals.author(state, event.of)
    if not why and state.policy.plan_not_author and author and gate_validity.signed_as(state, event, author):
        return "it is signed with the key of its author"
    return why


def _approval_severity(state: RunState, event: Event, scope: Scope) -> str:
    """Return how grave an approval by one who may not is: not at all, once one who may has given it again.

    Where another one took its place and nothing that stands was handed out on it, it is a warning.
    """
    latest, words = state.approving(), (event.of, event.get("text"))
    is_replaced = bool(latest) and event not in latest
    if is_replaced and all((one.of, one.get("text")) == words and not _may_not_approve(state, one) for one in latest):
        return ""
    lanes = state.folded(plans_of(state.id)).lanes
    if CANONICAL in lanes.contested or lanes.values.get(CANONICAL) == words:
        return scope.severity(event.id)
    is_rested_on = any(event in handout.approvals_seen(state, opened) for opened in handout.effective_dispatches(state))
    return scope.severity(event.id) if is_rested_on else "warning"


def _verdict_severity(state: RunState, event: Event, scope: Scope) -> str:
    """Return how grave a verdict by one who may not is: not at all, once one who may has passed or waived the gate.

    Where a failure came after it, and nothing that stands was handed out as it had lifted one, it is a warning.
    """
    gate, folded = event.get("gate"), state.folded(event.of)
    undone, own = folded.undone, [one for one in folded.verdicts(gate) if one.event.do != "requested"]
    latest = last_of(one for one in own if one.event.id not in undone)
    word = state.gates(event.of).get(gate, "requested")
    counting = (*latest, *gates.given(state, event.of, gate))
    if event in counting or word not in ("requested", *(one.do for one in latest)):
        return scope.severity(event.id)
    if latest and all(one.do in PASSING for one in latest):
        by_others = [gates.may_not_judge(state.policy, gate, one.do, one.by) for one in latest]
        return "warning" if any(by_others) else ""
    lifted = any(one.event.do == "failed" and event.id not in one.past for one in own)
    seen_by = state.fold.seen_by
    is_rested_on = (
        event.do in PASSING and lifted and any(event.id in seen_by(one) for one in handout.effective_dispatches(state))
    )
    return scope.severity(event.id) if is_rested_on else "warning"


def _verdict(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    gate = event.get("gate")
    again = f"memento gate record {gate} {event.do} {option(event.of)}"
    why = gates.may_not_judge(state.policy, gate, event.do, event.by)
    if why and (severity := _verdict_severity(state, event, scope)):
        message = f"gate {gate} of {event.of} was {event.do} by {event.by}: {why}"
        yield Finding("G002", event.path, 0, message, _judging(state.policy, event), severity)
    if event.do != "passed" or event not in gates.lifting(state, event.of, gate):
        return
    if gate_validity.is_done_with(state, event.of, gate):
        return
    for ref in event.evidence:
        cited = state.cited(parse_ref(ref), event.of)
        if cited.evidence is None and cited.status == "recorded":
            continue  # that it is missing or another is told of the reference
        if problem := gates.fault(cited, event.of):
            message = f"gate {gate} of {event.of} passed, but {problem}"
            yield Finding("G001", event.path, 0, message, f"{again} --evidence EVIDENCE", _grave(state, event, scope))
    if gate in state.policy.gates_fresh:
        yield from _fresh(state, event, scope)
    if gate == "release":
        yield from _released(state, event, scope)


def _judging(policy: Policy, event: Event) -> str:
    """Return the fix of a verdict by one who may not give it: who may judges it, be that as before or otherwise."""
    whose, on = ", ".join(policy.judges(event.get("gate"), event.do)), option(event.of)
    if event.do == "waived":
        return f"let {whose} do so: memento gate waive {event.get('gate')} {on} --reason WHY"
    return f"let {whose} judge it: memento gate record {event.get('gate')} VERDICT {on}"


def _released(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a pass of the release gate where policy asks for more, or of a task, which nothing releases.

    What checks saw and what the graph warned of was looked at then: the code of a merge result is another. Whether the
    other gates hold, and what is signed, is asked of a release that the branch adds. Of a run that was cancelled such a
    one alone is judged, as it was without the cancellation. There, and where the gate is open again, what is not done
    does not count.
    """
    from memento_git.work.gates import release, release_facts

    is_new, is_over = event.id in scope.added, state.status == "cancelled"
    if not gates.release_asks(state.policy) or (is_over and not is_new):
        return
    if event.of != state.id:
        message = f"the release of {event.of} passed, but {state.id} is not: {release_facts.WHOLE}"
        yield Finding(
            "G004", event.path, 0, message, f"memento gate release --run {state.id}", scope.severity(event.id)
        )
        return
    from memento_git.work.gates.blockers import blockers

    held, tasks = release_facts.held(state), None
    aside = {"broken"} if is_new else {"broken", "fallen", "unapproved", "unsigned"}
    if is_over or state.gates(state.id).get("release") == "requested":
        aside.add("run")
        tasks = [task for task in state.counting() if state.task_status(task) in DONE]
        held = held._replace(tasks=[task for task in held.tasks if approvals.was_done(state, task)])
    hindered = [
        one.why for one in blockers(state, tasks=tasks, but=("release",))
        if one.kind not in aside and (one.record, one.gate) != (state.id, "release")
    ]  # fmt: skip
    if missing := release.judge(release_facts.as_seen_then(held), release_facts.asked(state.policy), hindered).missing:
        message = f"the release of {event.of} passed, but {'; '.join(missing)}"
        severity = scope.severity(event.id, *_ends(state))
        yield Finding(
            "G004", event.path, 0, message, f"see when it may: memento gate release --run {event.of}", severity
        )


class Other(NamedTuple):
    """What has other code than a pass rests on, if that can be told, and what mends it, if not the gate once more."""

    told: str = ""
    fix: str = ""


def _fresh(state: RunState, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a pass that does not rest on sound evidence of the code as it is, or as it was when its run ended."""
    if (
        scope.code is None
        or gate_validity.shows(state, event, scope.code)
        or not (other := _other(state, event, scope))
    ):
        return
    gate, severity = event.get("gate"), _grave(state, event, scope)
    told = other.told if other.fix or severity == "warning" else ""  # else it is what the base may have had already
    message = f"gate {gate} of {event.of} asks for fresh evidence, and none that it rests on is{told}"
    fix = f"run the command again, then {passing(state.policy.gates_fresh, gate, event.of)}"
    yield Finding("G003", event.path, 0, message, fix, severity)


def _other(state: RunState, event: Event, scope: Scope) -> Other | None:
    """Return what has other code than a pass rests on; None where its run ended on the code that this saw.

    That is the code of the commits that brought the end. Where the branch brings it, what the branch changes after that
    was seen by the same gate of another run, or else by nobody; what a merge takes over from the base is the base's.
    """
    if not state.is_final or scope.ended is None:
        return Other()
    laid = scope.laid if event.id in scope.added else None  # a squash of released work brings its verdict, too
    if not (came := gate_validity.fresh_ends(state, event, scope.ended, laid)):
        for commit in (one for end in state.folded(state.id).legal(state.status) for one in scope.ended(end)):
            if not all(gate_validity.shows(state, event, code) for code in gate_validity.codes_of(state, [commit])):
                return Other(f": the end of {state.id} came with {commit[:12]}, which has other code")
        return Other()
    if scope.beyond is None or scope.severity(*_ends(state)) == "warning":
        return None
    later = scope.beyond(event.get("gate"), tuple(came))
    if later:
        return Other(f": {later[-1][:12]} changed code after the end of {state.id}", FURTHER)
    return None if later is not None else Other()


def _grave(state: RunState, event: Event, scope: Scope) -> str:
    """Return how grave it is that a pass does not hold: in a run that ended at the base, none can be given again."""
    return scope.severity(event.id, *_ends(state)) if state.is_final else "error"


def _ends(state: RunState) -> list[str]:
    return [seen.event.id for seen in state.folded(state.id).events if seen.event.do in ("completed", "cancelled")]


def check_run(state: RunState, scope: Scope) -> Iterator[Finding]:
    """Yield what a run as a whole lacks: its plan's text, the gates of a completed one.

    What can be done about a completed one is told of all findings of a final run.
    """
    plan = state.canonical
    path = state.index.prose.get(plan, "")
    if path and state.view.record(path) is not None and state.plan_changed(plan):
        message = f"{plan} was approved with another text; what was handed out on it rests on nothing that was approved"
        yield Finding("P002", path, 0, message, f"restore the text, or memento plan approve {plan}")
    ends = state.folded(state.id).legal("completed")
    if state.status != "completed" or not ends:
        return
    from memento_git.work.gates.blockers import blockers

    added = [event for event in ends if event.id in scope.added]
    for found in blockers(state) if added else ():
        if found.kind not in ("absent", "fallen"):  # of which more is told below
            fix = LEFT_OPEN.format(task=found.record) if found.kind == "open" else ""
            yield Finding("P004", added[-1].path, 0, f"{state.id} is completed, and {found.why}", fix)
    end = (added or ends)[-1]
    words = gates.words(state)
    for gate in dict.fromkeys((*state.policy.gates_required, "release")):
        if words.get(gate) not in PASSING:
            yield from _late(state, gate, end, scope)
    for one, other in _falls(state, scope, ended=not added):
        if one.is_asked or added:
            message = f"{state.id} is completed, and gate {one.gate} {one.why}{other.told}"
            yield Finding(
                "P004", end.path, 0, message, other.fix, scope.severity(end.id) if one.is_asked else "warning"
            )


def _falls(state: RunState, scope: Scope, *, ended: bool) -> Iterator[tuple[Fall, Other]]:
    """Yield the gates of a completed run that do not hold; where the branch ended it, also those of other code."""
    known = {one[:2]: one for one in gate_validity.falls(state, ended=ended)}
    codes = [scope.code] if scope.code is not None and not ended else []
    for one in gate_validity.falls(state, codes, ended=ended) if codes else known.values():
        same = known.get(one[:2])
        others = [_other(state, event, scope) for event in gates.passes(state, *one[:2])] if one != same else []
        if other := next(filter(None, others), None):
            yield one, other
        elif same is not None:
            yield same, Other()


def _late(state: RunState, gate: str, end: Event, scope: Scope) -> Iterator[Finding]:
    """Yield that a run was completed without a gate that policy requires, or that somebody let go all the same."""
    is_late = state.gates(state.id).get(gate) in PASSING
    given = [one.event for one in state.folded(state.id).verdicts(gate) if one.event.do in PASSING]
    told = next((event for event in given if is_late and event.id in scope.added), end)
    required = ", which policy requires," if gate in state.policy.gates_required else ""
    if is_late or required:
        passed = "had not passed before that" if is_late else "has not passed"
        message = f"{state.id} is completed, and gate {gate}{required} {passed}"
        yield Finding("P004", told.path, 0, message, severity=scope.severity(told.id))
