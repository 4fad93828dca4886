"""plan: draft approve reject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import layout
from memento_git.model.ids import NoSuchRecord
from memento_git.texts.typed import Reason, lists
from memento_git.work import refusals as no
from memento_git.work.actions.tasks import verification
from memento_git.work.desk import Desk, refuse_ended
from memento_git.work.gates import approvals, gate_staleness, gate_validity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.work.state import RunState


@lists
def draft_plan(
    tx: Transaction, title: str, body: str, *, run: str = "", criteria: Sequence[str] = (),
    assumptions: Sequence[str] = (), risks: Sequence[str] = (), commands: Sequence[str] = (),
    require: Sequence[str] = (), trust: str = "",
) -> str:  # fmt: skip
    """Draft a plan of a run; return its id. Nothing is handed out on a draft."""
    desk = Desk.of(tx)
    state = desk.run(run)
    refuse_ended(state)
    plan = tx.new_id("plan")
    data = {
        "id": plan,
        "title": desk.text("title", title, lines=False),
        "at": tx.moment(),
        "by": tx.actor,
        "criteria": desk.texts("criterion", criteria),
        "assumptions": desk.texts("assumption", assumptions),
        "risks": desk.texts("risk", risks),
        "verify": verification(desk, commands, require, trust),
    }
    desk.write(layout.prose_path(state.id, plan), data, desk.text("body", body))
    tx.touch(state.id, plan)
    return plan


def approve_plan(
    tx: Transaction, plan: str, *, run: str = "", note: str = "", sign: bool = False, key: str = ""
) -> str:
    """Make a plan canonical, its text frozen by digest; another canonical plan of the run is superseded.

    It is signed with an SSH key where `sign`, a `key` or policy asks for it.
    """
    desk = Desk.of(tx)
    identity, state = desk.find(plan, "plan")
    if run and desk.find(run, "run")[0] != state.id:
        raise NoSuchRecord(kind="plan", given=f"{identity} in run {run}")
    prose = state.prose(identity)
    if not approvals.is_named(desk.policy, tx.actor):
        asked = ", ".join(desk.policy.plan_approvers)
        raise no.ApproverRefused(actor=tx.actor, verb="approve plans", asked=asked)
    if approvals.is_own(desk.policy, tx.actor, prose.data["by"]):
        raise no.AuthorRefused(actor=tx.actor, plan=identity)
    seal = desk.sealer(sign=sign, key=key)
    if state.canonical == identity and not state.plan_changed(identity):
        _refuse_twice(state, identity, tx.actor, signs=seal is not None)
    event = desk.happen(
        state, identity, "approved", reads=(state.id,), seal=seal,
        text=prose.digest, note=desk.optional("note", note),
    )  # fmt: skip
    if desk.policy.plan_not_author and gate_validity.signed_as(state, event, prose.data["by"]):
        raise no.AuthorRefused(actor=tx.actor, plan=identity)
    if why := gate_staleness.outlived(state, state.id, "plan_review"):
        [how] = gate_validity.mending(tx.ledger.git, state, [(state.id, "plan_review")])
        tx.ledger.warn(f"plan_review of {state.id} does not hold any more: {why}: {how}")
    return identity


def _refuse_twice(state: RunState, plan: str, actor: str, *, signs: bool) -> None:
    """Refuse what an actor has said already; an approval without a good signature may be given again with one."""
    from memento_git.work.attest import signatures

    said = any(event.by == actor for event in state.approving(plan))
    if said and not (signs and not signatures.is_signed(state, plan)):
        raise no.PlanAlreadyCanonical(plan=plan, run=state.id)


def reject_plan(tx: Transaction, plan: str, *, reason: Reason = "") -> str:
    """Turn a plan down; it cannot be approved later."""
    desk = Desk.of(tx)
    identity, state = desk.find(plan, "plan")
    state.prose(identity)
    desk.happen(state, identity, "rejected", reads=(state.id,), reason=desk.reason("rejecting a plan", reason))
    return identity
