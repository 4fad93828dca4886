"""Whether policy lets those approve a plan, or a task, who did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.work import persons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event
    from memento_git.work.state import RunState


def may_not_approve(state: RunState, event: Event) -> Objection:
    """Return why policy does not let the actor of an approval give it, or nothing."""
    if not is_named(state.policy, event.by):
        return f"policy names {', '.join(state.policy.plan_approvers)}"
    if is_own(state.policy, event.by, author(state, event.of)):
        return "policy asks for another than its author"
    return ""


def is_named(policy: Policy, actor: str) -> bool:
    """Tell whether an actor is among those whom policy names for plans; everybody is where it names nobody."""
    return not policy.plan_approvers or actor in policy.plan_approvers


def is_own(policy: Policy, actor: str, author: str) -> bool:
    """Tell whether policy asks for another than the author of a plan, and the actor is the author."""
    return policy.plan_not_author and persons.is_same(actor, author)


def no_approver(state: RunState, actor: str, task: str) -> Objection:
    """Return why policy does not count what an actor approves of a task, or nothing."""
    named = state.policy.approvers
    if named and actor not in named:
        return f"is by {actor}, and policy names {', '.join(named)}"
    if state.policy.approvals_not_author and persons.is_among(actor, workers(state, task)):
        return f"is by {actor}, and policy asks for another than who did the work"
    return ""


def workers(state: RunState, task: str) -> list[str]:
    """Return who did work on a task: all who claimed it, also those who gave it up, and who completed it."""
    return sorted({one.by for one in state.folded(task).legal("claimed", "completed")})


def author(state: RunState, plan: str) -> str:
    """Return who wrote a plan, or nothing where its text cannot be read."""
    found = state.text(plan)
    return str(found.data["by"]) if found else ""


def fault(state: RunState, given: Sequence[Event]) -> Objection:
    """Return why nobody who may gave one of some approvals of equal standing; nothing where there are none."""
    why = [may_not_approve(state, event) for event in given]
    return f"plan {given[0].of} was approved by {given[0].by}: {why[0]}" if why and all(why) else ""


def unfit(state: RunState) -> Objection:
    """Return why the plan that holds was not approved by who may, as policy is now, or nothing."""
    return fault(state, state.approving(state.canonical)) if state.canonical else ""
