"""Whether a task of a run is proven, and what is asked of its proof: the rules of `trust`, fed with a run's records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.model.ids import Ref, kind_of, parse_ref
from memento_git.model.work import Event, Evidence
from memento_git.work import refusals as no
from memento_git.work import remedies
from memento_git.work.dispatch import terms
from memento_git.work.gates import approvals
from memento_git.work.proof import codes, trust
from memento_git.work.proof.verification import Demand, Source, asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.work.state import RunState

    Cite = Callable[[RunState, Ref, str], trust.Cited]

NOTHING: dict[str, Any] = {}


def cited(state: RunState, ref: Ref, of: str) -> trust.Cited:
    """Return cited evidence as it stands."""
    return state.cited(ref, of)


def front_matter(state: RunState, identity: str) -> Mapping[str, Any]:
    """Return what the head of a record's text says; nothing where it cannot be read."""
    found = state.text(identity)
    return found.data if found is not None else NOTHING


def leaving_out(state: RunState, task: str) -> str:
    """Return the command that takes cancelled tasks out of what a task depends on."""
    gone = [other for other in state.prose(task).list("depends_on") if state.task_status(other) == "cancelled"]
    repairs = {repaired: name for name in state.ids("task")
               if (repaired := front_matter(state, name).get("repairs"))}  # fmt: skip
    return remedies.leaving_out(task, state.prose(task).list("depends_on"), gone, repairs)


def freeing(state: RunState, task: str) -> str:
    """Return the commands by which what is done waits no more for a task that was cancelled after that."""
    return f"memento task reopen {task} --reason WHY, then {leaving_out(state, task)}, and do it again"


def gone(state: RunState, task: str) -> list[str]:
    """Return the cancelled tasks that a task depends on: done as it is, its run cannot end with it."""
    return [other for other in state.waits_on(task) if state.task_status(other) == "cancelled"]


def dependents(state: RunState, task: str) -> list[str]:
    """Return the tasks that depend on a task."""
    return [other for other in state.ids("task") if task in (front_matter(state, other).get("depends_on") or ())]


def repaired(state: RunState, task: str) -> list[str]:
    """Return the tasks whose place a repair takes: that which it repairs, and what that one repairs in its turn."""
    found: list[str] = []
    name = task
    while (name := front_matter(state, name).get("repairs", "")) and name not in found:
        found.append(name)
    return found


def replaced(state: RunState) -> set[str]:
    """Return the tasks of a run whose place a repair takes that counts."""
    return {name for task in state.counting() for name in repaired(state, task)}


def asked_of(state: RunState, task: str, extra: Sequence[Source] = ()) -> Demand:
    """Return what policy, the canonical plan, the task and `extra` ask of what proves a task."""
    return asked_by(state, task, front_matter(state, state.canonical), extra)


def asked_by(state: RunState, task: str, plan: Mapping[str, Any], extra: Sequence[Source] = ()) -> Demand:
    """Return what policy, a plan, the task and `extra` ask of what proves a task."""
    told = front_matter(state, task)
    if not (extra or state.policy.verify or state.policy.require or "verify" in told or "verify" in plan):
        return Demand(proof=state.policy.proof)
    return asked(told, plan, state.policy, extra)


def proof_of(state: RunState, task: str) -> trust.Proof:
    """Return whether a completed task is proven by its completion and by what accepted it, and why not.

    Of several completions that do not prove it, the latest tells why.
    """
    folded = state.folded(task)
    if folded.dangling:
        return trust.Proof(False, (), (f"its ledger is incomplete: {folded.dangling[0].why}",))
    if state.text(task) is None:
        return trust.Proof(False, (), ("the task's own text cannot be read",))
    if state.is_disputed(task):
        return trust.Proof(False, (), ("each of these revisions has other words of it",))
    tried = [state.proof_of(event) for event in counting(state, task)]
    none = trust.Proof(False, (), ("no completion of it stands",))
    return next((proof for proof in tried if proof.proven), tried[-1] if tried else none)


def saw_else(state: RunState, task: str, code: Mapping[str, Any]) -> bool:
    """Tell whether all that proves a task saw other code."""
    seen = [saw for one in state.pieces(state.proof(task).by) if (saw := trust.seen_by(one))]
    return bool(seen) and not any(codes.agree(saw, code) for saw in seen)


def counting(state: RunState, task: str) -> list[Event]:
    """Return the completions that may prove a task: once a candidate was chosen, its alone."""
    chosen = state.selected(task)
    return [event for event in state.completions(task) if chosen in ("", event.dispatch)]


def proving(state: RunState, task: str) -> list[str]:
    """Return the dispatches whose completions, each by itself, prove a task."""
    return [event.dispatch for event in counting(state, task) if state.proof_of(event).proven]


def judging(state: RunState, task: str) -> list[Event]:
    """Return the acceptances that judged the completions which count: none that had not seen which one was chosen."""
    choices = state.choices(task)
    past = {seen.event.id: seen.past for seen in state.folded(task).events} if choices else {}
    return [event for event in state.acceptances(task) if all(one.id in past[event.id] for one in choices)]


def proof_by(state: RunState, completion: Event, text: str) -> trust.Proof:
    """Return whether one completion proves its task, with what verification accepted since, on a plan that holds."""
    found = by_words(state, completion, text, asked_of(state, completion.of))
    amiss, _ = not_agreed(state)
    return trust.Proof(False, (), (*found.why, amiss)) if amiss else found


def by_words(
    state: RunState, completion: Event, text: str, asks: Demand, cite: Cite = cited
) -> trust.Proof:  # fmt: skip
    """Return whether a completion, with what verification accepted since, is what is asked, be that agreed or not."""
    accepted = [event for event in judging(state, completion.of) if event.get("text") == text]
    codes = [event.data["code"] for event in accepted if "code" in event.data]
    more = [ref for event in accepted for ref in event.evidence]
    return proven(state, completion, text, asks, codes, more, cite)


def undoubted(state: RunState, ref: Ref, of: str) -> trust.Cited:
    """Return cited evidence as it would be without answers and second runs that speak against it: those may go again.

    A good second run raises its trust then, also beside a bad one.
    """
    found = state.cited(ref, of)
    if found.evidence is None or not found.contradicted:
        return found
    again = any(not one.runner.why and not one.differences for one in state.seen_again(found.evidence).reruns)
    word = "reproduced" if again and found.trust == "witnessed" else found.trust
    return found._replace(contradicted=other_words(state, found.evidence), trust=word)


def not_agreed(state: RunState) -> tuple[str, str]:
    """Return why nobody knows what the canonical plan asks, and what mends that; nothing where all is as approved."""
    plan = state.canonical
    if plan == "contested":
        return "it is contested which plan holds, so what is asked is not agreed", "memento settle"
    if not plan and state.planless:
        return "no plan is approved any more, so what is asked is not agreed", "memento plan approve PLAN"
    if plan and state.text(plan) is None:
        return f"{plan} cannot be read, so what it asks is not known", "memento check"
    if plan and state.is_disputed(plan):
        return f"each of these revisions has other words of {plan}, so what it asks is not known", "memento check"
    if plan and state.plan_changed(plan):
        told = f"{plan} was changed after its approval, so what it asks is not agreed"
        return told, f"memento plan approve {plan}"
    return "", ""


def refuse_unproven(state: RunState, task: str) -> None:
    """Refuse a task that is done and not proven, with what leads to its proof."""
    proof = state.proof(task)
    if proof.proven:
        return
    why = "; ".join(proof.why)
    if how := not_agreed(state)[1]:
        raise no.TaskUnagreed(task=task, why=why, how=how)
    raise no.TaskUnproven(task=task, why=why, how=", then ".join(remedies.mending(task, proof.after, state.id)))


def proven(
    state: RunState, event: Event, text: str, asks: Demand, codes: Sequence[Mapping[str, Any]], more: Sequence[str],
    cite: Cite = cited,
) -> trust.Proof:  # fmt: skip
    """Return whether one completion proves its task, by what it cites and by what verification adds to it."""
    if state.is_withheld(event.id):
        return trust.Proof(False, (), ("its completion was redacted",))
    refs = dict.fromkeys([*event.evidence, *more])
    held = [cite(state, parse_ref(ref), event.of) for ref in refs]
    found = trust.proof(event, text, held, asks, codes)
    if not found.proven and "reproduced" in (asks.trust, *asks.proof.values()):
        raised = [one._replace(trust="reproduced") if one.trust == "witnessed" else one for one in held]
        then = trust.proof(event, text, raised, asks, codes)
        if then.proven or then.after not in ("", found.after):
            found = found._replace(after="reproduce")
    if event.get("text") == text and terms.are_others(state, event.of, event.dispatch):
        return trust.Proof(
            False, (), (*found.why, "it was handed out on other terms: reopen it, and hand it out again")
        )
    return found


def tasks_approved(state: RunState, evidence: Evidence, of: str = "") -> tuple[str, ...]:
    """Return the tasks of the evidence that an approval is about; none where it is about something else.

    A diff of the whole run is of each task: of the one that is asked for.
    """
    about = str(evidence.data.get("approves", ""))
    if state.evidence(about) is None:
        return ()
    found = approvals.scopes(state, about)
    return found if found != (state.id,) else (of,) if of else ()


def unheard(state: RunState, approval: Evidence, of: str) -> Objection:
    """Return why policy does not count an approval for a task by whom it is, or nothing."""
    if "approves" not in approval.data or not of or kind_of(of) != "task":
        return ""
    return approvals.no_approver(state, approval.data["by"], of)


def approved_else(state: RunState, approval: Evidence, of: str = "") -> Objection:
    """Return that an approval was taken back, or what it is about is not what was approved any more; or nothing."""
    if not approval.data.get("approves") or trust.outcome_of(approval.data) != "passed":
        return ""
    return approvals.taken_back(state, approval, of) or other_words(state, approval)


def other_words(state: RunState, approval: Evidence) -> Objection:
    """Return that what an approval is about is not what was approved any more, or was withdrawn; or nothing."""
    about = str(approval.data.get("approves", ""))
    if not about:
        return ""
    found = state.evidence(about) or state.text(about)
    if kind_of(about) == "evidence" and found is not None and (status := state.evidence_status(about)) != "recorded":
        return f"{about}, which was approved, is {status}"
    same = found is not None and approval.data.get("text") == found.digest
    return "" if same else f"{about} is not, as it is now, what was approved"
