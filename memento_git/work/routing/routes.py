"""The way a task should take: what the ledger and this machine say of those who could do it, and the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.ledger import cache
from memento_git.model.finding import AWAY
from memento_git.model.states import DONE
from memento_git.model.work import Prose
from memento_git.work import remedies
from memento_git.work.loading import load
from memento_git.work.proof import proofs
from memento_git.work.routing import budget, executor_choice, outcomes, probe
from memento_git.work.routing.executors import Executor, known
from memento_git.work.routing.outcomes import Attempt, Outcome
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy
    from memento_git.work.proof.trust import Proof


class Told(NamedTuple):
    """A decision, and the task that it is about."""

    task: str
    status: str
    decision: dict[str, Any]
    refusal: dict[str, Any]


def route(view: View, given: str, *, executor: str = "", ask: bool = True) -> Told:
    """Decide who should do a task, and say why; nothing is handed out. With `ask`, health commands are started."""
    task, run = view.find(given, "task")
    policy = view.policy()
    table = known(policy)
    history = [one for other in view.runs() for one in recorded(view, other, policy)]
    state = RunState(view, run, policy=policy)
    prose = state.prose(task)
    held, step = _budget_and_step(state, task, table)
    asked = executor_choice.Job(
        task, prose.data.get("kind") or "", prose.data.get("risk") or "", prose.data.get("size") or "",
        tuple(prose.list("files")), view.now, table, history, held, step,
    )  # fmt: skip
    health = probe.ailments(table.values(), view.git.cwd, executor_choice.possible(asked) if ask else ())
    decision = executor_choice.decide(asked, health, executor)
    return Told(task, state.task_status(task), decision, _refusal(decision))


def _refusal(decision: dict[str, Any]) -> dict[str, Any]:
    """Return what an answer says that is no: a wish that hard safety forbids, or nobody to choose."""
    override = decision["user_override"]
    if override and not override["honoured"]:
        return {"error": "override_refused", "message": f"{override['executor']}: {'; '.join(override['reasons'])}"}
    if decision["selected_executor"] is None:
        told = [f"{one['executor']}: {one['reasons'][0]}" for one in decision["rejected_executors"]]
        return {"error": "no_executor", "message": "; ".join(told)}
    return {}


def attempts(state: RunState, task: str) -> list[Attempt]:
    """Return the dispatches of a task, in their order."""
    return outcomes.attempts(state.folded(task).events)


def next_of(state: RunState, task: str) -> dict[str, Any]:
    """Return what the attempts at a task lead to, and what is left of its budget, as rows."""
    table = known(state.policy)
    held, step = _budget_and_step(state, task, table)
    return {**step.row(), "budget": held.row(budget.price(None, table))}


def _budget_and_step(state: RunState, task: str, table: Mapping[str, Executor]) -> tuple[budget.Budget, budget.Next]:
    tried = attempts(state, task)
    held = budget.budget(state.policy.budget, state.prose(task).data.get("budget") or {}, tried, table)
    over = budget.over(state.status, state.task_status(task))
    step = budget.next_step(over, tried, held, budget.price(None, table))
    lacks, command = _left(state, task) if over else ("", "")
    return held, step._replace(why=f"{step.why}{lacks}", command=command)


def _left(state: RunState, task: str) -> tuple[str, str]:
    """Return what a task lacks that is over, and the command for that; nothing where nothing is to be done."""
    status = state.task_status(task)
    if state.is_final or status not in (*DONE, "contested"):
        return "", ""
    if status == "contested":
        return "", "memento settle"
    for _, gate in state.failed_gates(task):
        told = f", but gate {gate} has failed; to have it done again, reject it, then repair it"
        return told, f"memento task verify {task}"
    proof = state.proof(task)
    if proof.proven:
        return "", ""
    return ", but not proven", proofs.not_agreed(state)[1] or remedies.mending(task, proof.after, state.id)[0]


def recorded(view: View, run: str, policy: Policy) -> list[Outcome]:
    """Return what the dispatches of a run came to; kept under the ids of its files and of the policy."""
    name, key = f"{run}.outcomes", view.tree_key(run)
    held = cache.read(view.git, name, key) if key else None
    if held is not None:
        return [Outcome(*row) for row in held]
    state = RunState(view, run, policy=policy)
    load(state)
    found = [one for task in state.ids("task") for one in _of_task(state, task)]
    if key and not any(finding.message == AWAY for finding in view.findings):
        cache.write(view.git, name, key, found)
    return found


def _of_task(state: RunState, task: str) -> list[Outcome]:
    prose = state.view.record(state.index.prose[task])
    if not isinstance(prose, Prose):
        return []
    kind, files = prose.data.get("kind") or "", prose.list("files")
    completed = {event.dispatch: event for event in state.completions(task)}
    told = []
    for one in attempts(state, task):
        end = completed.get(one.dispatch) if one.how in DONE else None
        trusted = _trust(state, state.proof_of(end)) if end else ""
        told.append(outcomes.outcome(one, task, kind, files, trusted))
    return [one for one in told if one is not None]


def _trust(state: RunState, proof: Proof) -> str:
    """Return the best trust among what proves a completion, nothing where it is unproven."""
    found = state.pieces(proof.by) if proof.proven else []
    return max((state.trust_in(one) for one in found), key=lambda word: outcomes.TRUST[word], default="")
