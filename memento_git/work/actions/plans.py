"""plan: draft approve reject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import layout
from memento_git.model.ids import NoSuchRecord
from memento_git.texts.typed import Reason, lists
from memento_git.work import refusals as no
from memento_git.work.actions.tasks import verification
from memento_git.work.gates import approvals, gate_staleness, gate_validity
from memento_git.work.run_writer import RunWriter, refuse_ended

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
    writer = RunWriter.of(tx)
    state = writer.run(run)
    refuse_ended(state)
    plan = tx.new_id("plan")
    data = {
        "id": plan,
        "title": writer.text("title", title, lines=False),
        "at": tx.moment(),
        "by": tx.actor,
        "criteria": writer.texts("criterion", criteria),
        "assumptions": writer.texts("assumption", assumptions),
        "risks": writer.texts("risk", risks),
        "verify": verification(writer, commands, require, trust),
    }
    writer.write(layout.prose_path(state.id, plan), data, writer.text("body", body))
    tx.touch(state.id, plan)
    return plan


def approve_plan(
    tx: Transaction, plan: str, *, run: str = "", note: str = "", sign: bool = False, key: str = ""
) -> str:
    """Make a plan canonical, its text frozen by digest; another canonical plan of the run is superseded.

    It is signed with an SSH key where `sign`, a `key` or policy asks for it.
    """
    writer = RunWriter.of(tx)
    identity, state = writer.find(plan, "plan")
    if run and writer.find(run, "run")[0] != state.id:
        raise NoSuchRecord(kind="plan", given=f"{identity} in run {run}")
    prose = state.prose(identity)
    if not approvals.is_named(writer.policy, tx.actor):
        asked = ", ".join(writer.policy.plan_approvers)
        raise no.ApproverRefused(actor=tx.actor, verb="approve plans", asked=asked)
    if approvals.is_own(writer.policy, tx.actor, prose.data["by"]):
        raise no.AuthorRefused(actor=tx.actor, plan=identity)
    seal = writer.sealer(sign=sign, key=key)
    if state.canonical == identity and not state.plan_changed(identity):
        _refuse_twice(state, identity, tx.actor, signs=seal is not None)
    event = writer.append(
        state, identity, "approved", reads=(state.id,), seal=seal,
        text=prose.digest, note=writer.optional("note", note),
    )  # fmt: skip
    if writer.policy.plan_not_author and gate_validity.signed_as(state, event, prose.data["by"]):
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
    writer = RunWriter.of(tx)
    identity, state = writer.find(plan, "plan")
    state.prose(identity)
    writer.append(state, identity, "rejected", reads=(state.id,), reason=writer.reason("rejecting a plan", reason))
    return identity
