"""gate release: whether a run may be released, by what the ledger holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.model.ids import parse_ref
from memento_git.work import refusals as no
from memento_git.work.actions.gates import record_verdict
from memento_git.work.gates import gate_validity, gates, release, release_facts
from memento_git.work.gates.blockers import blockers
from memento_git.work.gates.release import Conditions, RunFacts, Verdict
from memento_git.work.proof import codes, trust
from memento_git.work.remedies import passing
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View


AGAIN: Final = "memento evidence run --run {run} -- CMD, then memento gate record release passed --evidence EVIDENCE"


class ReleaseRefused(Refused):
    token = "release_refused"
    sentence = "run {run} may not be released: {missing}"
    hint_ = "see what is missing: memento gate release --run {run}"


class Release(NamedTuple):
    """A verdict with what it was made from; `refs` are what the gate would name, `event` is its own where it passed."""

    run: str
    held: RunFacts
    asked: Conditions
    verdict: Verdict
    refs: Sequence[str] = ()
    event: str = ""


def release_run(
    tx: Transaction, *, run: str = "", require_checks: Sequence[str] = (), approvals: int = 0, note: str = "",
    sign: bool = False, key: str = "",
) -> Release:  # fmt: skip
    """Judge whether a run may be released; where it may, record its release gate as passed with what that rests on."""
    writer = RunWriter.of(tx)
    state = writer.run(run)
    found = examine(tx.ledger, state, require_checks=require_checks, approvals=approvals)
    if found.verdict.missing or state.is_final:
        return found
    if _is_recorded(state, found.refs):
        return found
    _, event = record_verdict(tx, "release", "passed", run=state.id, evidence=found.refs, note=note, sign=sign, key=key)
    return found._replace(event=event)


def examine_run(
    ledger: Ledger, view: View, *, run: str = "", require_checks: Sequence[str] = (), approvals: int = 0
) -> Release:
    """Judge whether a run may be released at a view, and record nothing."""
    from memento_git.work.overview import choose_run

    state = RunState(view, choose_run(view, run))
    return examine(ledger, state, require_checks=require_checks, approvals=approvals)


def examine(ledger: Ledger, state: RunState, *, require_checks: Sequence[str] = (), approvals: int = 0) -> Release:
    """Return the verdict on a run; options add to what policy asks, and never take away.

    It is the same whether it is to be recorded or not.
    """
    asked, held = _seen(ledger, state, require_checks, approvals)
    verdict = release.judge(held, asked, (one.why for one in blockers(state, but=("release",))))
    refs, more = ([], _ended(state)) if state.is_final else _refs(ledger, state, verdict)
    missing = tuple(dict.fromkeys((*verdict.missing, *more)))
    return Release(state.id, held, asked, verdict._replace(missing=missing), refs)


def _seen(
    ledger: Ledger, state: RunState, require_checks: Sequence[str] = (), approvals: int = 0
) -> tuple[Conditions, RunFacts]:
    """Return what is asked of a release, and what the ledger and the code's graph hold of its run."""
    asked = release_facts.asked(state.policy, require_checks, approvals)
    warnings = [] if asked.graph == "ignore" else _graph_warnings(ledger, state)
    return asked, release_facts.held(state)._replace(graph_warnings=warnings)


def _ended(state: RunState) -> list[str]:
    """Return that a run which has ended was not released, or did not stay so: no verdict is recorded in it any more.

    Who judged its gates, and who signed that, is asked as for a release that is given now.
    """
    if state.status == "cancelled":
        return []
    word = gates.words(state).get("release", "requested")
    if word == "passed":
        why = gate_validity.release_fallen(state)
        fell = [f"gate release has passed, but {why}"] if why else []
        return [*fell, *gate_validity.by_others(state), *gate_validity.unsigned(state, [state.id])]
    told = "was waived" if word == "waived" else "had not passed"
    return [f"the run is {state.status}, and gate release {told} before that"]


def _stale(ledger: Ledger, state: RunState, why: str) -> list[str]:
    """Return that nothing which a release would rest on is fresh, with why, and how it passes on other evidence."""
    if why == gate_validity.NOTHING:
        here = _fresh(ledger, state)
        led = f", but {here} is: {passing((), 'release', state.id)} --evidence {here}" if here else ""
        why = f"none that proves its tasks is{led or f': {AGAIN.format(run=state.id)}'}"
    return [no.GateNotFresh(gate="release", why=why).message] if why else []


def _fresh(ledger: Ledger, state: RunState) -> str:
    """Return the latest evidence of a run on which its release may be passed by hand; nothing where there is none."""
    known = [one for one in state.pieces(state.ids("evidence")) if "code" in one.data]
    recorded = [one for one in known if state.evidence_status(one.id) == "recorded"]
    code = gate_validity.here(ledger.git, state, [str(one.ref) for one in recorded])
    latest = sorted(recorded, key=lambda one: (one.data["at"], one.id), reverse=True)
    found = (one.id for one in latest if not gate_validity.not_fresh(state, state.id, [str(one.ref)], code))
    return next(found, "")


def _cited(state: RunState, names: Sequence[str]) -> list[str]:
    return [str(one.ref) for one in state.pieces(names)]


def row(found: Release) -> dict[str, Any]:
    """Return a verdict as programs know it."""
    verdict = found.verdict
    return {
        "verdict": "refused" if verdict.missing else "passed",
        "missing": list(verdict.missing),
        "missing_checks": list(verdict.checks),
        "missing_approvals": verdict.approvals,
        "approval_count": len(verdict.approvers),
        "approvers": list(verdict.approvers),
        "graph_warnings": list(found.held.graph_warnings),
        "graph_approval_required": verdict.graph,
        "evidence": list(verdict.rests_on),
        "event_id": found.event or None,
    }


def refuse_by_hand(ledger: Ledger, state: RunState, task: str = "") -> None:
    """Refuse a pass by hand that policy's own release gate would not give; the gate's own failure may be lifted so.

    That gate is of a run: it gives none of a task alone.
    """
    if not gates.release_asks(state.policy):
        return
    if task:
        raise ReleaseRefused(run=state.id, missing=release_facts.WHOLE)
    asked, held = _seen(ledger, state)
    found = (one for one in blockers(state, but=("release",)) if (one.record, one.gate) != (state.id, "release"))
    if missing := release.judge(held, asked, (one.why for one in found)).missing:
        raise ReleaseRefused(run=state.id, missing="; ".join(missing))


def _refs(ledger: Ledger, state: RunState, verdict: Verdict) -> tuple[list[str], list[str]]:
    """Return the evidence to name in the gate, and why it would not do; of one that must be fresh, no other is named.

    Where all saw other code, it is what somebody has passed the gate on by hand, if that is fresh.
    """
    rests_on = list(verdict.rests_on)
    if not rests_on or "release" not in state.policy.gates_fresh:
        return rests_on, []
    held = [ref for event in gates.passes(state, state.id, "release") for ref in event.evidence]
    code = gate_validity.here(ledger.git, state, [*_cited(state, rests_on), *held])
    found = state.pieces(rests_on)
    fresh = [one.id for one in found if one.kind == "approval" or codes.agree(trust.seen_by(one), code())]
    why = gate_validity.not_fresh(state, state.id, _cited(state, fresh), code)
    if why and not gate_validity.not_fresh(state, state.id, held, code):
        return [parse_ref(ref).id for ref in held], []
    if why == gate_validity.NOTHING and any(gate_validity.is_of_commit(state, one, code) for one in found):
        why = f"what proves its tasks {gate_validity.EDITED}"
    return fresh, _stale(ledger, state, why)


def _is_recorded(state: RunState, refs: Sequence[str]) -> bool:
    """Tell whether the release gate has passed on exactly this evidence already."""
    if state.gates(state.id).get("release") != "passed":
        return False
    passed = [event for event in state.folded(state.id).legal("passed") if event.get("gate") == "release"]
    named = {parse_ref(ref).id for event in passed[-1:] for ref in event.evidence}
    if gate_validity.unsigned(state, (state.id,)) or gate_validity.release_fallen(state):
        return False
    return named == {*refs}


def _graph_warnings(ledger: Ledger, state: RunState) -> list[dict[str, Any]]:
    """Return what the code's graph warns of since the run began; one that cannot be read is a warning, too."""
    from memento_git.work.actions import graphs

    try:
        return graphs.run_warnings(ledger, state)
    except (Refused, Misused) as refusal:
        return [{"kind": "unknown", "level": "refuse", "message": refusal.message, "paths": []}]
