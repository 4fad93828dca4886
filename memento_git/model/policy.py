"""Policy: what a team asks of its work, as `config.yaml` says it, with the defaults of a small team."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from memento_git.model import types as t
from memento_git.model.clock import duration
from memento_git.model.types import Field, Shape
from memento_git.model.work import ACTOR, EVIDENCE_KINDS, GATE_KINDS, RUN_KINDS, TRUSTS

FORMAT: Final = 1
ACTORS: Final = t.ListOf(ACTOR)
GATES: Final = t.ListOf(t.Choice(GATE_KINDS))
KINDS: Final = "|".join(EVIDENCE_KINDS)

POLICY: Final = Shape({
    "proof": Field(t.Table(t.Choice(TRUSTS), KINDS), doc="per kind of evidence, the least trust at which it proves"),
    "require": Field(t.ListOf(t.Choice(EVIDENCE_KINDS)), doc="kinds that must be among a completion's proof"),
    "plan": Field(Shape({
        "approvers": Field(ACTORS, doc="who may approve; nobody named: anyone"),
        "not_author": Field(t.Flag(), doc="the approver must be another than the author"),
    })),
    "gates": Field(Shape({
        "required": Field(GATES, doc="gates that must have passed, or been waived, before a run completes"),
        "fresh": Field(GATES, doc="gates that pass only on evidence for the code as it is"),
        "verdicts": Field(t.Table(ACTORS, "|".join(GATE_KINDS)), doc="who may pass or fail a gate"),
        "waivers": Field(ACTORS, doc="who may waive; nobody named: anyone, with a reason"),
    })),
    "spike": Field(Shape({"dispatches": Field(t.Whole(), doc="hand-offs a spike run may make without a plan")})),
    "lease": Field(t.DURATION, doc="how long a claim holds without renewal"),
    "limits": Field(Shape({
        "attach": Field(t.Whole(), doc="bytes up to which a file is attached; above it, its digest is kept"),
        "output": Field(t.Whole(2), doc="bytes kept of each captured stream, half head and half tail"),
    })),
    "allow_secrets": Field(t.ListOf(t.Text(lines=False)), doc="scanner rules that are false alarms here"),
})  # fmt: skip

CONFIG: Final = Shape({
    "version": Field(t.Whole(1), required=True, doc="format of the ledger"),
    "policy": Field(POLICY),
})  # fmt: skip


class Policy(NamedTuple):
    """What is asked of completions, plans, gates and claims; sizes in bytes, the lease in seconds."""

    proof: dict[str, str] = dict.fromkeys(RUN_KINDS, "witnessed")
    require: tuple[str, ...] = ()
    plan_approvers: tuple[str, ...] = ()
    plan_not_author: bool = False
    gates_required: tuple[str, ...] = ()
    gates_fresh: tuple[str, ...] = ()
    gate_verdicts: dict[str, list[str]] = {}  # noqa: RUF012
    gate_waivers: tuple[str, ...] = ()
    spike_dispatches: int = 3
    lease: int = 3600
    attach: int = 1024 * 1024
    output: int = 64 * 1024
    allow_secrets: tuple[str, ...] = ()


def policy_of(config: dict[str, Any]) -> Policy:
    """Return the policy that a schema-checked config holds."""
    given = config.get("policy") or {}
    default = Policy()
    plan, gates, limits = given.get("plan") or {}, given.get("gates") or {}, given.get("limits") or {}
    return Policy(
        proof=given.get("proof", default.proof),
        require=tuple(given.get("require", ())),
        plan_approvers=tuple(plan.get("approvers", ())),
        plan_not_author=plan.get("not_author", False),
        gates_required=tuple(gates.get("required", ())),
        gates_fresh=tuple(gates.get("fresh", ())),
        gate_verdicts=gates.get("verdicts", {}),
        gate_waivers=tuple(gates.get("waivers", ())),
        spike_dispatches=(given.get("spike") or {}).get("dispatches", default.spike_dispatches),
        lease=duration(given["lease"]) if "lease" in given else default.lease,
        attach=limits.get("attach", default.attach),
        output=limits.get("output", default.output),
        allow_secrets=tuple(given.get("allow_secrets", ())),
    )
