"""Whether policy lets those approve a plan who did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.work import persons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.model.work import Event
    from memento_git.work.state import RunState


def may_not_approve(state: RunState, event: Event) -> str:
    """Return why policy does not let the actor of an approval give it, or nothing."""
    policy = state.policy
    if policy.plan_approvers and event.by not in policy.plan_approvers:
        return f"policy names {', '.join(policy.plan_approvers)}"
    if policy.plan_not_author and persons.is_same(event.by, author(state, event.of)):
        return "policy asks for another than its author"
    return ""


def author(state: RunState, plan: str) -> str:
    """Return who wrote a plan, or nothing where its text cannot be read."""
    found = state.text(plan)
    return str(found.data["by"]) if found else ""


def fault(given: Sequence[Event], state: RunState) -> str:
    """Return why nobody who may gave one of some approvals of equal standing; nothing where there are none."""
    why = [may_not_approve(state, event) for event in given]
    return f"plan {given[0].of} was approved by {given[0].by}: {why[0]}" if why and all(why) else ""


def unfit(state: RunState) -> str:
    """Return why the plan that holds was not approved by who may, as policy is now, or nothing."""
    return fault(state.approving(state.canonical), state) if state.canonical else ""
