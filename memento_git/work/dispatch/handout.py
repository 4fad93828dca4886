"""Whether a task would be handed out now: the rules that a dispatch asks, and that `ready` tells beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.errors import MementoError, Refused
from memento_git.folding.fold import last_of, plans_of
from memento_git.ledger.codec import REDACTED
from memento_git.ledger.view import LedgerUnreadable
from memento_git.model.enumeration import many
from memento_git.model.states import UNNAMED
from memento_git.work import persons
from memento_git.work import refusals as no
from memento_git.work.dispatch import terms
from memento_git.work.remedies import OF_PLANS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.rows import HeldBack, TaskRow
    from memento_git.model.work import Event
    from memento_git.work.state import Dispatch, RunState

Texts = list[tuple[str, str]]


def refuse_contested_plan(state: RunState) -> None:
    """Refuse what goes by the plan of a run where it is contested which one holds."""
    if state.canonical == "contested":
        raise no.RecordContested(record=f"the canonical plan of {state.id}")


def refuse_run(state: RunState) -> None:
    """Refuse to hand out anything of a run, by its plan or, without one, by how much was handed out.

    That a run has neither a plan nor leave to go without is for the table of transitions to say.
    """
    from memento_git.work.gates import approvals

    refuse_contested_plan(state)
    if plan := state.canonical:
        if finding := state.unread(plan):
            raise LedgerUnreadable(finding=finding)
        if state.plan_changed(plan):
            raise no.PlanChanged(plan=plan)
        if why := approvals.unfit(state):
            raise no.PlanUnapproved(plan=plan, why=why)
    elif (
        state.prose(state.id).data.get("spike")
        and (made := spikes(state, *state.ids("task"))) >= state.policy.spike_dispatches
    ):
        raise no.SpikeLimit(
            run=state.id, made=many(made, "dispatch", "dispatches"), limit=state.policy.spike_dispatches
        )


def spikes(state: RunState, *tasks: str) -> int:
    """Return how many dispatches of some tasks had no plan, as a spike's."""
    return sum(bool(one.data.get("spike")) for task in tasks for one in terms.handed_out(state, task))


def stands(state: RunState, opened: Event) -> bool:
    """Tell whether a dispatch is open, or its completion counts."""
    ended = [end.dispatch for end in state.completions(opened.of)]
    return opened.dispatch in (*state.folded(opened.of).lanes.open_dispatches(), *ended)


def effective_dispatches(state: RunState) -> Iterator[Event]:
    """Yield the dispatches of a run that stand."""
    return (one for task in state.tasks() for one in terms.handed_out(state, task) if stands(state, one))


def approvals_seen(state: RunState, opened: Event) -> list[Event]:
    """Return the latest approvals of its plan that a dispatch had seen."""
    past = state.fold.seen_by(opened)
    known = [one for one in state.folded(plans_of(state.id)).events if one.event.id in past]
    return last_of(one for one in known if one.event.do == "approved" and one.event.of == opened.get("plan"))


def shared_texts(state: RunState) -> Texts:
    """Return what whoever works on any task of a run reads: the run's words, and the canonical plan's."""
    from memento_git.work.dangers import guard

    plan = state.canonical
    planned = guard.texts_of(state.prose(plan), "plan") if plan else []
    return [*guard.texts_of(state.prose(state.id), "run"), *planned]


def texts(state: RunState, task: str) -> Texts:
    """Return all that is handed over with a task."""
    from memento_git.work.dangers import guard

    return [*guard.texts_of(state.prose(task), "task"), *shared_texts(state)]


def refuse_changed_terms(state: RunState, task: str, dispatch: str) -> None:
    """Refuse to go on with a dispatch whose task asks something else by now: its worker has not read that."""
    if terms.are_others(state, task, dispatch):
        raise no.TermsChanged(task=task, dispatch=dispatch)


def changed_terms(state: RunState, task: str, dispatch: str) -> MementoError | None:
    return None if state.unread(task) else _refusal(refuse_changed_terms, state, task, dispatch)


def handed_to(state: RunState, dispatch: str) -> str:
    """Return who a dispatch was handed to by name; nothing where nobody was, or the name is redacted."""
    opened = state.opened(dispatch)
    meant = opened.get("executor") if opened is not None else ""
    return "" if meant in (UNNAMED, REDACTED) else meant


def for_another(state: RunState, dispatch: str, actor: str) -> list[str]:
    """Return what is to be known where an actor takes what was handed to somebody else."""
    meant = handed_to(state, dispatch)
    if not meant or persons.is_same(meant, actor):
        return []
    return [f"{dispatch} was handed to {meant}, and {actor} has claimed it"]


def overdue(held: Mapping[str, Dispatch], actor: str) -> dict[str, str]:
    """Return, by the dispatch, what is to be known of an actor's claims whose lease is over."""
    return {
        name: f"your lease of {name} ended {one.until}: elsewhere somebody may have taken it back"
        for name, one in held.items()
        if one.expired and one.holder == actor
    }


def beyond_budget(state: RunState, task: str, executor: str | None = None) -> Objection:
    """Return why an attempt of an executor, by default of the cheapest, is beyond a task's budget; or nothing."""
    from memento_git.work.routing import budget, executors, outcomes

    table, tried = executors.known(state.policy), outcomes.attempts(state.folded(task).events)
    held = budget.budget(state.policy.budget, state.prose(task).data.get("budget") or {}, tried, table)
    return held.exceeded(budget.price(executor, table))


def foreseen_refusal(state: RunState, task: str) -> MementoError | None:
    """Return the refusal that a dispatch of a task whose turn it is would meet all the same, or nothing.

    Signatures are left out: what they come to depends on more than the run's files. See `mark_unsigned`.
    """
    from memento_git.work.dangers import guard

    if "run" not in state.shared:
        state.shared["run"] = _refusal(refuse_run, state) or _refusal(
            guard.refuse_text, state.policy, shared_texts(state)
        )
    own = guard.texts_of(state.prose(task), "task")
    if found := state.shared["run"] or _refusal(guard.refuse_text, state.policy, own):
        return found
    from memento_git.work.routing.budget import BudgetExceeded

    why = beyond_budget(state, task)
    return BudgetExceeded(task=task, why=why) if why else None


def _refusal(refuse: Callable[..., object], *given: object) -> MementoError | None:
    try:
        refuse(*given)
    except (Refused, LedgerUnreadable) as refusal:
        return refusal
    return None


def row(refusal: MementoError | None, run: str, task: str) -> HeldBack | None:
    """Return why a task is held back as data, with the command that leads on."""
    if refusal is None:
        return None
    plan = f"memento plan draft --run {run} --title TITLE --body TEXT"
    following: dict[str, Any] = {
        "record_contested": "memento settle", "ledger_broken": "memento check", "spike_limit": plan,
        **dict.fromkeys(OF_PLANS, f"memento plan approve {refusal.facts.get('plan')}"),
        "signature_required": "memento check --no-base",
    }  # fmt: skip
    step = following.get(refusal.token, f"memento task show {task}")
    return {"error": refusal.token, "why": refusal.message, "command": step}


def mark_unsigned(state: RunState, shown: Sequence[TaskRow]) -> None:
    """Take back that tasks are ready where what their dispatch rests on lacks a signature that policy demands."""
    ready = [one for one in shown if one["ready"]] if state.policy.must_be_signed else []
    if not ready:
        return
    from memento_git.work.attest import signatures, signers

    verifier = signers.Verifier(state.view, state.policy, keep=True)
    everywhere = signatures.missing(state, (state.id,), verifier=verifier)
    for one in ready:
        scopes = (one["id"], *one["dependencies"])
        if told := everywhere or signatures.missing(state, scopes, verifier=verifier):
            refusal = signatures.SignatureRequired(what=f"handing out {one['id']}", why="; ".join(told))
            one |= {"ready": False, "held_back": row(refusal, state.id, one["id"])}
    verifier.close()
