"""What was said of a gate of a run or task, which of that counts, and what policy makes of the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.folding.fold import last_of
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.states import PASSING
from memento_git.work.attest import signing
from memento_git.work.proof import trust

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event
    from memento_git.work.proof.trust import Cited
    from memento_git.work.state import RunState


def words(state: RunState) -> dict[str, str]:
    """Return the verdict that counts of each gate of the run; in a completed one, only what its completions had seen.

    A failure counts at any time.
    """
    ends = [state.fold.lanes([end.id]) for end in state.completions(state.id)]
    return {
        gate: _counting(word, {end.word(f"gate:{gate}", "requested") for end in ends})
        for gate, word in state.gates(state.id).items()
    }


def _counting(now: str, seen: set[str]) -> str:
    """Return the verdict of a gate by what it is now and what each completion had seen."""
    if now not in PASSING or seen <= {now}:
        return now
    return "waived" if seen <= {*PASSING} else "requested"


def given(state: RunState, scope: str, gate: str) -> list[Event]:
    """Return the passes and waivers by which a gate stands; several where none had seen the other.

    What the completion of a run had seen of its gate goes before what came beside or after that.
    """
    folded = state.folded(scope)
    undone = folded.undone
    own = [one for one in folded.verdicts(gate) if one.event.id not in undone]
    ends = [state.past(end.id) for end in state.completions(state.id)]
    in_time = [one for one in own if any(one.event.id in past for past in ends)]
    return [event for event in last_of(in_time or own) if event.do in PASSING]


def passes(state: RunState, scope: str, gate: str) -> list[Event]:
    """Return the passes by which a gate of a record has passed."""
    return [event for event in given(state, scope, gate) if event.do == "passed"]


def lifting(state: RunState, scope: str, gate: str, known: Collection[str] = ()) -> list[Event]:
    """Return the verdicts by which a gate has passed or was waived, several where none had seen the other.

    Where it was asked for again, those that lifted a failure still do; where it has failed since, those among the
    events that are `known` did.
    """
    word = state.gates(scope).get(gate, "failed")
    given = [one for one in state.folded(scope).verdicts(gate) if one.event.do != "requested"]
    if word == "failed" and known:
        word, given = "requested", [one for one in given if one.event.id in known]
    failed = {one.event.id for one in given if one.event.do == "failed"}
    latest = last_of(given) if word != "failed" else []
    lifted = [one.event.id for one in given if word in PASSING or not failed.isdisjoint(one.past)]
    return [event for event in latest if event.do in PASSING and event.id in lifted]


def fault(cited: Cited, scope: str) -> Objection:
    """Return why a gate of a run or task cannot pass on a piece of evidence, or nothing."""
    tasks = cited.evidence.tasks if cited.evidence else []
    return trust.fault(cited, scope if kind_of(scope) == "task" else (tasks or [scope])[0])


def first_fault(state: RunState, scope: str, refs: Sequence[str]) -> Objection:
    """Return why a gate cannot pass on the first of some pieces of evidence on which it cannot, or nothing."""
    return next(filter(None, (fault(state.cited(parse_ref(ref), scope), scope) for ref in refs)), "")


def may_not_judge(policy: Policy, gate: str, verdict: str, actor: str) -> Objection:
    """Return why policy does not let an actor give a verdict, or nothing."""
    named = policy.judges(gate, verdict)
    return f"policy names {', '.join(named)}" if named and actor not in named else ""


def not_theirs(state: RunState, scope: str, gate: str) -> Iterator[tuple[Event, str]]:
    """Yield the passes and waivers by which a gate stands that their givers may not give by now, and why."""
    for event in given(state, scope, gate):
        if why := may_not_judge(state.policy, gate, event.do, event.by):
            yield event, f"it is by {event.by}, and {why}"


def below_policy(state: RunState, scope: str, gate: str) -> Iterator[tuple[Event, str]]:
    """Yield the passes and waivers of a gate that policy does not take by now, and why: by whom, or on how little."""
    yield from not_theirs(state, scope, gate)
    if gate == "release" and release_asks(state.policy):
        from memento_git.work.gates import release_facts

        if lacks := "; ".join(release_facts.lacking(state, scope)):
            yield from ((event, lacks) for event in passes(state, scope, gate))


def is_required(state: RunState, scope: str, gate: str) -> bool:
    """Tell whether a run has to pass a gate of its own."""
    return scope == state.id and gate in (*state.policy.gates_required, "release")


def is_guarded(policy: Policy, gate: str) -> bool:
    """Tell whether not everybody may pass a gate on anything: by whom, on what, or with whose signature."""
    signed = signing.GATES.get(gate) in policy.must_be_signed
    return signed or gate in policy.gates_fresh or bool(policy.gate_verdicts.get(gate))


def is_needed(state: RunState, scope: str, gate: str) -> bool:
    """Tell whether policy requires a gate, or guards it: not everybody may pass it on anything."""
    return is_required(state, scope, gate) or is_guarded(state.policy, gate)


def release_asks(policy: Policy) -> bool:
    """Tell whether policy asks more of a release than a verdict."""
    return bool(policy.release.get("checks") or policy.release.get("approvals"))
