"""What was answered in a run: by whom, about what, whether policy lets them, and which records that counts for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.model.clock import is_ahead
from memento_git.model.enumeration import grouped
from memento_git.model.ids import kind_of
from memento_git.model.tuples import NamedTuple
from memento_git.work import persons
from memento_git.work.proof import evidence_prefilter, redacted_evidence, trust

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event, Evidence
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


class Said(NamedTuple):
    """One answer that counts, and the records that it counts for; of two at one moment the no is the later.

    One that is `void` is a yes that was withdrawn: it is neither, and is the latest answer to what it was about.
    """

    at: str
    is_no: bool
    void: bool
    about: str
    evidence: str
    by: str
    scopes: tuple[str, ...]


def answers(state: RunState) -> dict[str, list[Said]]:
    """Return what each actor of a run said last of each thing, by that and by each record that it counts for.

    A no counts, whoever withdrew or redacted it, until the same actor says yes to the same thing; so does a yes that
    was withdrawn, beside what was said before it.
    """
    given = list(_given(state))
    last: dict[tuple[str, str], str] = {}
    for one in given:
        if not one.void:
            last[one.by, one.about] = max(one.at, last.get((one.by, one.about), ""))
    standing = (one for one in given if one.at >= last.get((one.by, one.about), ""))
    return grouped((key, one) for one in standing for key in dict.fromkeys((one.about, *one.scopes)))


def scopes(state: RunState, about: str, *, is_no: bool = False) -> tuple[str, ...]:
    """Return the records that an answer about something counts for.

    Of evidence, they are its tasks; of a diff of the whole run, it is the run. A no to any evidence of the run is one
    to the run, and so is a no to evidence whose tasks nobody knows any more, or to a plan that was approved.
    """
    kind = kind_of(about)
    if kind != "evidence":
        is_plan = is_no and kind == "plan" and any(about == event.of for event in state.approvals())
        return (state.id,) if is_plan else (about,)
    found = state.evidence(about)
    if tasks := found.tasks if found is not None else redacted_evidence.tasks_of(state, about):
        return tuple(tasks)
    return (state.id,) if is_no or (found is not None and "diff" in found.data) else ()


def answerable(state: RunState) -> list[str]:
    """Return the tasks whose answers count for their run, too: all but those that were called off undone."""
    return [task for task in state.tasks() if state.task_status(task) != "cancelled" or was_done(state, task)]


def was_done(state: RunState, task: str) -> bool:
    """Tell whether a task was ever completed."""
    return bool(state.folded(task).legal("completed"))


def taken_back(state: RunState, approval: Evidence, of: str) -> Objection:
    """Return why the latest answer of whoever approved something is no yes, or nothing.

    Where it is to count for a task, answers that count for that or for the run do, too; for a run, those for each of
    its tasks.
    """
    data, held = approval.data, state.answers()
    for scope in (answerable(state) if of == state.id else ()) or (of,):
        keys = dict.fromkeys((data["approves"], *((scope, state.id) if of else ())))
        given = [one for key in keys for one in held.get(key, ()) if persons.is_same(one.by, data["by"])]
        latest = max(given, default=None)
        if latest is None or latest.at < data["at"]:
            continue
        if latest.void:
            told = f"said yes to {latest.about} again in {latest.evidence}, which was withdrawn"
            return f"{data['by']} {told}; a new yes would count"
        if latest.is_no:
            return f"{data['by']} answered no to {latest.about} since, in {latest.evidence}; a new yes would count"
    return ""


def _given(state: RunState) -> Iterator[Said]:
    """Yield each no, at any date, also what is left of a redacted one, and each yes by now, also a withdrawn one.

    A yes is an approval, and bears a signature where policy demands that; who relies on it asks whether it is good.
    """
    now, wanted = state.view.now, "approvals" in state.policy.must_be_signed
    for name in evidence_prefilter.suspects(state):
        one = state.evidence(name)
        if one is None or "approves" not in one.data:
            continue
        outcome, void = trust.outcome_of(one.data), state.evidence_status(name) != "recorded"
        is_yes = outcome == "passed" and one.kind == "approval" and (void or not wanted or "signature" in one.data)
        if outcome == "failed" or (is_yes and not is_ahead(one.data["at"], now)):
            yield _said(state, name, one.data, outcome, void=void)
    for name, left in redacted_evidence.said(state):
        outcome = str(left.get("outcome"))
        if "approves" in left and (outcome == "failed" or not is_ahead(str(left.get("at", "")), now)):
            yield _said(state, name, left, outcome, void=True)


def _said(state: RunState, name: str, data: Mapping[str, Any], outcome: str, *, void: bool) -> Said:
    about, is_no = str(data["approves"]), outcome == "failed"
    void = void and not is_no
    counts = () if void else scopes(state, about, is_no=is_no)
    return Said(str(data.get("at", "")), is_no, void, about, name, str(data.get("by", "")), counts)
