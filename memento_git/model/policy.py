"""Policy: what a team asks of its work, as `config.yaml` says it, with the defaults of a small team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from memento_git.model import types as t
from memento_git.model.clock import duration
from memento_git.model.finding import CODES
from memento_git.model.knowledge import DOMAINS
from memento_git.model.states import DEFAULT_PROOF, RISKS, TRUSTS
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import LINE, Field, Shape
from memento_git.model.work import ACTOR, BUDGET, EVIDENCE_KINDS, GATE_KINDS, VERIFY

FORMAT: Final = 1
ACTORS: Final = t.ListOf(ACTOR)
GATES: Final = t.ListOf(t.Choice(GATE_KINDS))
KINDS: Final = "|".join(EVIDENCE_KINDS)

LEVEL: Final = t.Choice(("refuse", "warn", "ignore"))
SEMANTIC: Final = ("always", "auto", "never")
NAME: Final = "[a-z0-9][a-z0-9._-]{0,60}"

WHEN: Final = Shape({
    "kinds": Field(t.ListOf(t.WORD), doc="tasks of these kinds; none: of any"),
    "risks": Field(t.ListOf(t.Choice(RISKS)), doc="tasks of these risks; none: of any"),
    "files": Field(t.ListOf(LINE), doc="tasks about files that match one of these patterns; none: of any"),
})  # fmt: skip

PREFLIGHT: Final = Shape({
    "dirty": Field(LEVEL, doc="tracked files with changes that are not committed"),
    "untracked": Field(LEVEL, doc="files that git neither tracks nor ignores"),
    "detached": Field(LEVEL, doc="HEAD is on no branch"),
    "protected": Field(LEVEL, doc="the branch is one of `branches`"),
    "branches": Field(t.ListOf(LINE), doc="patterns of protected branches"),
    "disk": Field(t.Whole(), doc="bytes that must be free; the default is a sixteenth of a disk of less than 1 GiB"),
    "destructive": Field(LEVEL, doc="destructive commands in what is handed to workers"),
})  # fmt: skip

RELEASE: Final = Shape({
    "checks": Field(t.ListOf(LINE), doc="names of checks from outside whose latest verdict must be a success"),
    "approvals": Field(t.Whole(), doc="how many different actors must have approved the run"),
    "approvers": Field(ACTORS, doc="whose approvals count; nobody named: anyone's"),
    "not_author": Field(t.Flag(), doc="who claimed or completed a task of the run does not count as an approver"),
    "graph": Field(LEVEL, doc="warnings of the code's graph since the run began"),
})  # fmt: skip

GRAPH: Final = Shape({
    "cycles": Field(LEVEL, doc="an import cycle that was not there before"),
    "hot_spots": Field(LEVEL, doc="a module that became a hot spot"),
    "edges": Field(LEVEL, doc="more edges than `growth` allows"),
    "growth": Field(t.Whole(), doc="percent by which the edges may grow"),
    "after_dispatch": Field(t.Choice(("always", "known", "never")),
                            doc="when a completion records the graph: known is where the run has one already"),
})  # fmt: skip

SIGNERS: Final = t.ListOf(ACTOR)
SIGNATURES: Final = Shape({
    "allowed_signers": Field(t.PLACE, doc="file in the repository that says whose SSH keys count"),
    "revoked": Field(t.PLACE, doc="file in the repository of keys that count no more: public keys, or a KRL"),
    "ledger": Field(LINE, doc="name of this ledger, say its repository's; signatures hold for it alone"),
    "require": Field(Shape({
        "plan_approval": Field(SIGNERS, doc="who must sign that a plan is approved; nobody named: any allowed signer"),
        "waivers": Field(SIGNERS, doc="who must sign the waiver of a gate"),
        "final_acceptance": Field(SIGNERS, doc="who must sign that this gate passes"),
        "release": Field(SIGNERS, doc="who must sign that this gate passes"),
        "approvals": Field(SIGNERS, doc="who must sign approvals, and that the gate `approval` passes"),
    })),
})  # fmt: skip

REPRODUCE: Final = Shape({
    "commands": Field(t.ListOf(t.ListOf(t.Text(), least=1)), doc="first words of the commands that may be run again"),
    "setup": Field(t.ListOf(t.ListOf(t.Text(), least=1)), doc="commands that make a clean worktree ready for them"),
    "timeout": Field(t.DURATION, doc="after which a command, and all that it started, is ended"),
    "env": Field(t.ListOf(t.Pattern("a name of a variable", r"[A-Za-z_][A-Za-z0-9_]{0,80}")),
                 doc="variables that they see besides PATH, HOME and the like"),
    "runners": Field(SIGNERS, doc="whose signed reruns make what they ran again reproduced; nobody named: nobody's"),
})  # fmt: skip

EXECUTOR: Final = Shape({
    "run": Field(t.ListOf(t.Text()), doc="argv that starts it; {brief} {task} {dispatch} {worktree} are filled in"),
    "health": Field(t.ListOf(t.Text()), doc="argv that exits with 0 where it can work"),
    "sandbox": Field(t.Choice(("required", "none")), doc="required: it is never started outside of `wrap`"),
    "wrap": Field(t.ListOf(t.Text()), doc="argv of a sandbox, which its own command follows; filled in as `run` is"),
    "kinds": Field(t.ListOf(t.WORD), doc="kinds of task that it is good at"),
    "scope": Field(t.ListOf(LINE), doc="patterns of files that it may work on; none: all"),
    "risk": Field(t.Choice(RISKS), doc="greatest risk that it may take; high where it is absent"),
    "cost": Field(t.Decimal("a cost"), doc="of one attempt, in a unit of the team's"),
    "timeout": Field(t.DURATION, doc="after which it is ended"),
})  # fmt: skip

POLICY: Final = Shape({
    "proof": Field(t.Table(t.Choice(TRUSTS), KINDS), doc="per kind of evidence, the least trust at which it proves"),
    "require": Field(t.ListOf(t.Choice(EVIDENCE_KINDS)), doc="kinds that must be among a completion's proof"),
    "plan": Field(Shape({
        "approvers": Field(ACTORS, doc="who may approve; nobody named: anyone"),
        "not_author": Field(t.Flag(), doc="the approver must be another than the author"),
    })),
    "approvals": Field(Shape({
        "approvers": Field(ACTORS, doc="whose approvals of tasks count; nobody named: anyone's"),
        "not_author": Field(t.Flag(), doc="who claimed or completed a task does not count as its approver"),
    })),
    "gates": Field(Shape({
        "required": Field(GATES, doc="gates that must have passed, or been waived, before a run completes"),
        "fresh": Field(GATES, doc="gates that pass only on evidence for the code as it is"),
        "verdicts": Field(t.Table(ACTORS, "|".join(GATE_KINDS)), doc="who may pass or fail a gate"),
        "waivers": Field(ACTORS, doc="who may waive, with a reason; nobody named: who may judge the gate"),
    })),
    "spike": Field(Shape({"dispatches": Field(t.Whole(), doc="dispatches a spike run may make without a plan")})),
    "lease": Field(t.DURATION, doc="how long a claim holds without renewal"),
    "limits": Field(Shape({
        "attach": Field(t.Whole(), doc="bytes up to which a file is attached; above it, its digest is kept"),
        "output": Field(t.Whole(2), doc="bytes kept of each captured stream, half head and half tail"),
    })),
    "verify": Field(t.ListOf(Shape({"when": Field(WHEN), **VERIFY})), doc="what verification asks, by kind of task"),
    "enrich": Field(t.Flag(), doc="let past failures and the code's graph add to what verification asks"),
    "budget": Field(BUDGET, doc="of a task that has none of its own"),
    "preflight": Field(PREFLIGHT),
    "release": Field(RELEASE),
    "graph": Field(GRAPH),
    "signatures": Field(SIGNATURES),
    "reproduce": Field(REPRODUCE),
    "check": Field(Shape({
        "errors": Field(t.ListOf(t.Pattern("the code of a finding, such as D007", "|".join(CODES))),
                        doc="findings that are errors here, where they are warnings elsewhere, by their codes"),
    })),
    "allow_secrets": Field(t.ListOf(LINE), doc="scanner rules that are false alarms here"),
    "agents": Field(t.Table(ACTORS), doc="per agent, in whose commits what it did may come; nobody named: in anyone's"),
})  # fmt: skip

KNOWLEDGE: Final = Shape({
    "domains": Field(t.ListOf(t.WORD), doc="domains of notes beside the known ones"),
    "short": Field(t.Whole(1), doc="items that the short tier holds; 200 where it is absent"),
    "semantic": Field(t.Choice(SEMANTIC),
                      doc="recall by meaning too: always refuses without a model, auto does without; never if absent"),
    "medium": Field(t.DURATION, doc="after which a note of the tier medium expires; 90d where it is absent"),
})  # fmt: skip

CONFIG: Final = Shape({
    "version": Field(t.Whole(1), required=True, doc="format of the ledger"),
    "policy": Field(POLICY),
    "knowledge": Field(KNOWLEDGE),
    "executors": Field(t.Table(EXECUTOR, NAME), doc="who can be handed work; each adds to, or changes, the known ones"),
})  # fmt: skip


def elsewhere(at: Sequence[Any]) -> str:
    """Return how a key is put right that stands in the policy and belongs beside it, or the other way round."""
    if len(at) == 2 and at[0] == "policy" and at[1] in CONFIG.fields:
        return f"put {at[1]} beside policy, at the beginning of its line"
    if len(at) == 1 and at[0] in POLICY.fields:
        return f"put {at[0]} below policy"
    return ""


FREE: Final = 64 * 1024 * 1024  # bytes of the disk, where policy does not say how many
DEFAULT_PREFLIGHT: Final[dict[str, Any]] = {
    "dirty": "warn", "untracked": "ignore", "detached": "warn", "protected": "ignore", "branches": ["main", "master"],
    "destructive": "refuse",
}  # fmt: skip
DEFAULT_REPRODUCE: Final[dict[str, Any]] = {"commands": [], "setup": [], "timeout": "20m", "env": [], "runners": []}
DEFAULT_GRAPH: Final[dict[str, Any]] = {
    "cycles": "refuse", "hot_spots": "warn", "edges": "warn", "growth": 20, "after_dispatch": "known",
}  # fmt: skip


class Policy(NamedTuple):
    """What is asked of completions, plans, gates and claims; sizes in bytes, the lease in seconds."""

    proof: dict[str, str] = DEFAULT_PROOF
    require: tuple[str, ...] = ()
    plan_approvers: tuple[str, ...] = ()
    plan_not_author: bool = False
    approvers: tuple[str, ...] = ()
    approvals_not_author: bool = False
    gates_required: tuple[str, ...] = ()
    gates_fresh: tuple[str, ...] = ()
    gate_verdicts: dict[str, list[str]] = {}  # noqa: RUF012
    gate_waivers: tuple[str, ...] = ()
    spike_dispatches: int = 3
    lease: int = 3600
    attach: int = 1024 * 1024
    output: int = 64 * 1024
    errors: tuple[str, ...] = ()
    allow_secrets: tuple[str, ...] = ()
    agents: dict[str, list[str]] = {}  # noqa: RUF012
    verify: tuple[dict[str, Any], ...] = ()
    enrich: bool = True
    budget: dict[str, Any] = {"attempts": 3}  # noqa: RUF012
    preflight: dict[str, Any] = DEFAULT_PREFLIGHT
    release: dict[str, Any] = {"graph": "refuse"}  # noqa: RUF012
    graph: dict[str, Any] = DEFAULT_GRAPH
    reproduce: dict[str, Any] = DEFAULT_REPRODUCE
    executors: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    domains: tuple[str, ...] = DOMAINS
    medium: int = 90 * 86400
    short: int = 200
    semantic: str = "never"

    @property
    def key_files(self) -> list[str]:
        """Return the files of the repository that say whose signatures count."""
        return [path for key in ("allowed_signers", "revoked") if (path := self.signatures.get(key))]

    signatures: dict[str, Any] = {}  # noqa: RUF012

    def judges(self, gate: str, verdict: str) -> tuple[str, ...]:
        """Return who may give a verdict on a gate; nobody named: anybody. Everybody may ask for one."""
        if verdict == "requested":
            return ()
        named = tuple(self.gate_verdicts.get(gate, ()))
        return self.gate_waivers or named if verdict == "waived" else named

    @property
    def must_be_signed(self) -> dict[str, list[str]]:
        """Return what has to be signed, and by whom: by any allowed signer where nobody is named."""
        return self.signatures.get("require") or {}

    @property
    def people(self) -> list[str]:
        """Return everybody whom policy names."""
        lists = [*self.gate_verdicts.values(), *self.must_be_signed.values(), *self.agents.values()]
        named = [name for names in lists for name in names]
        return [
            *self.plan_approvers, *self.approvers, *self.gate_waivers, *self.release.get("approvers", ()), *named,
        ]  # fmt: skip


PLACES: Final = {  # where config.yaml says what is not below policy under its own name
    "plan_approvers": "policy.plan.approvers", "plan_not_author": "policy.plan.not_author",
    "approvers": "policy.approvals.approvers", "approvals_not_author": "policy.approvals.not_author",
    "gates_required": "policy.gates.required", "gates_fresh": "policy.gates.fresh",
    "gate_verdicts": "policy.gates.verdicts", "gate_waivers": "policy.gates.waivers",
    "spike_dispatches": "policy.spike.dispatches", "attach": "policy.limits.attach", "output": "policy.limits.output",
    "errors": "policy.check.errors", "executors": "executors", "domains": "knowledge.domains",
    "medium": "knowledge.medium", "short": "knowledge.short", "semantic": "knowledge.semantic",
}  # fmt: skip


def key_of(name: str) -> str:
    """Return the key of config.yaml that says a field of the policy."""
    return PLACES.get(name, f"policy.{name}")


def policy_of(config: dict[str, Any]) -> Policy:
    """Return the policy that a schema-checked config holds."""
    return Policy(**{name: _said(config, name, default) for name, default in Policy()._asdict().items()})


def _said(config: dict[str, Any], name: str, default: Any) -> Any:
    """Return what a config says of a field, beside the default or in its place, or else the default."""
    held: Any = config
    for key in key_of(name).split("."):
        held = (held or {}).get(key)
    if held is None:
        return default
    if name in ("lease", "medium"):
        return duration(held)
    if name == "domains":
        return (*default, *held)
    if isinstance(default, tuple):
        return tuple(held)
    return {**default, **held} if isinstance(default, dict) and name != "proof" else held
