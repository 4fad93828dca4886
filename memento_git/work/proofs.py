"""Whether a task of a run is proven, and what is asked of its proof: the rules of `trust`, fed with a run's records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.model.clock import is_ahead
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.work import Evidence, Prose
from memento_git.work import naming, remains, trust
from memento_git.work.verification import Asked, asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memento_git.model.policy import Policy
    from memento_git.model.work import Event
    from memento_git.work.state import RunState
    from memento_git.work.verification import Source

NOTHING: dict[str, Any] = {}


def front_matter(state: RunState, identity: str) -> Mapping[str, Any]:
    """Return what the head of a record's text says; nothing where it cannot be read."""
    path = state.index.prose.get(identity)
    found = state.view.record(path) if path else None
    return found.data if isinstance(found, Prose) else NOTHING


def dependents(state: RunState, task: str) -> list[str]:
    """Return the tasks that depend on a task."""
    return [other for other in state.ids("task") if task in (front_matter(state, other).get("depends_on") or ())]


def asked_of(state: RunState, task: str, policy: Policy, extra: Sequence[Source] = ()) -> Asked:
    """Return what policy, the canonical plan, the task and `extra` ask of what proves a task."""
    told, plan = front_matter(state, task), front_matter(state, state.canonical)
    if not (extra or policy.verify or policy.require or "verify" in told or "verify" in plan):
        return Asked(proof=policy.proof)
    return asked(told, plan, policy, extra)


def proof_of(state: RunState, task: str, policy: Policy) -> trust.Proof:
    """Return whether a completed task is proven by its completion and by what accepted it, and why not.

    Of several completions that do not prove it, the latest tells why.
    """
    folded = state.folded(task)
    if folded.dangling:
        return trust.Proof(False, (), (f"its ledger is incomplete: {folded.dangling[0].why}",))
    found = state.view.record(state.index.prose.get(task, ""))
    if not isinstance(found, Prose):
        return trust.Proof(False, (), ("the task's own text cannot be read",))
    tried = [state.proof_of(event, policy) for event in counting(state, task)]
    none = trust.Proof(False, (), ("no completion of it stands",))
    return next((proof for proof in tried if proof.proven), tried[-1] if tried else none)


def counting(state: RunState, task: str) -> list[Event]:
    """Return the completions that may prove a task: once a candidate was chosen, its alone."""
    chosen = state.selected(task)
    return [event for event in state.completions(task) if chosen in ("", event.get("dispatch"))]


def proving(state: RunState, task: str, policy: Policy) -> list[str]:
    """Return the dispatches whose completions, each by itself, prove a task."""
    return [event.get("dispatch") for event in counting(state, task) if state.proof_of(event, policy).proven]


def judging(state: RunState, task: str) -> list[Event]:
    """Return the acceptances that judged the completions which count: none that had not seen which one was chosen."""
    choices = state.choices(task)
    past = {seen.event.id: seen.past for seen in state.folded(task).events} if choices else {}
    return [event for event in state.acceptances(task) if all(one.id in past[event.id] for one in choices)]


def proof_by(state: RunState, completion: Event, text: str, policy: Policy) -> trust.Proof:
    """Return whether one completion proves its task, with what verification accepted since."""
    accepted = [event for event in judging(state, completion.of) if event.get("text") == text]
    codes = [event.data["code"] for event in accepted if "code" in event.data]
    more = [ref for event in accepted for ref in event.data.get("evidence") or ()]
    found = proven(state, completion, text, asked_of(state, completion.of, policy), codes, more)
    amiss = not_agreed(state)
    return trust.Proof(False, (), (*found.why, amiss)) if amiss else found


def not_agreed(state: RunState) -> str:
    """Return why nobody knows what the canonical plan asks, or nothing: what it asks is what was approved."""
    plan = state.canonical
    if plan == "contested":
        return "it is contested which plan holds, so what is asked is not agreed"
    if not plan:
        return "no plan is approved any more, so what is asked is not agreed" if state.planless else ""
    if not isinstance(state.view.record(state.index.prose.get(plan, "")), Prose):
        return f"{plan} cannot be read, so what it asks is not known"
    return f"{plan} was changed after its approval, so what it asks is not agreed" if state.plan_changed(plan) else ""


def proven(
    state: RunState, event: Event, text: str, asks: Asked, codes: Sequence[Mapping[str, Any]], more: Sequence[str]
) -> trust.Proof:
    """Return whether one completion proves its task, by what it cites and by what verification adds to it."""
    if event.id in state.tombstones:
        return trust.Proof(False, (), ("its completion was redacted",))
    refs = dict.fromkeys([*event.data["evidence"], *more])
    return trust.proof(event, text, [state.cited(parse_ref(ref), event.of) for ref in refs], asks, codes)


def tasks_approved(state: RunState, evidence: Evidence, of: str = "") -> tuple[str, ...]:
    """Return the tasks of the evidence that an approval is about; none where it is about something else.

    A diff of the whole run is of each task: of the one that is asked for.
    """
    about = str(evidence.data.get("approves", ""))
    found = state.evidence(about) if about and kind_of(about) == "evidence" else None
    if found is None:
        return ()
    return (of,) if of and not found.tasks and "diff" in found.data else tuple(found.tasks)


def approved_else(state: RunState, approval: Evidence, of: str = "") -> str:
    """Return that an approval was taken back, or what it is about is not what was approved any more; or nothing."""
    about = str(approval.data.get("approves", ""))
    if not about or trust.outcome_of(approval.data) != "passed":
        return ""
    if no := _taken_back(state, approval, of):
        return no
    path = (state.index.evidence if kind_of(about) == "evidence" else state.index.prose).get(about)
    found = state.view.record(path) if path else None
    same = isinstance(found, Prose | Evidence) and approval.data.get("text") == found.digest
    return "" if same else f"{about} is not, as it is now, what was approved"


def _taken_back(state: RunState, approval: Evidence, of: str) -> str:
    """Return the no that is the latest answer of whoever approved something, or nothing.

    Where it is to count for a record, answers to that, to the run and to evidence of that record count, too; for a run,
    those to its tasks. A no that was withdrawn or redacted stays one, whoever did that, until it is followed by a yes.
    """
    from memento_git.work import persons

    data, held = approval.data, state.answers()
    keys = [data["approves"], *((of, state.id, _proving(of)) if of else ())]
    keys += state.ids("task") if of == state.id else []
    given = [one for key in dict.fromkeys(keys) for one in held.get(key, ()) if persons.is_same(one.by, data["by"])]
    latest = max(given, default=None)
    if latest is None or not latest.is_no or latest.at < data["at"]:
        return ""
    return f"{data['by']} answered no to {latest.about} since, in {latest.evidence}; a new yes would count"


class Said(NamedTuple):
    """One answer that counts; of two at one moment the no is the later."""

    at: str
    is_no: bool
    about: str
    evidence: str
    by: str


def _proving(task: str) -> str:
    return f"evidence of {task}"


def answers(state: RunState) -> dict[str, list[Said]]:
    """Return each no of a run, and each yes that stands, by what it is about; of evidence, by its tasks, too."""
    found: dict[str, list[Said]] = {}
    for name, data, is_no in _given(state):
        one = Said(str(data.get("at")), is_no, str(data.get("approves")), name, str(data.get("by")))
        about = state.evidence(one.about) if kind_of(one.about) == "evidence" else None
        for key in (one.about, *(map(_proving, about.tasks) if about is not None else ())):
            found.setdefault(key, []).append(one)
    return found


def _given(state: RunState) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield each no, also what is left of a redacted one, and each yes that stands and is not dated after now."""
    for name in naming.suspects(state):
        one = state.evidence(name)
        if one is None or "approves" not in one.data:
            continue
        outcome, ahead = trust.outcome_of(one.data), is_ahead(one.data["at"], state.view.now)
        if outcome == "failed" or (outcome == "passed" and not ahead and state.evidence_status(name) == "recorded"):
            yield name, one.data, outcome == "failed"
    for name, left in remains.said(remains.taken_away(state)):
        if left.get("outcome") == "failed":
            yield name, left, True
