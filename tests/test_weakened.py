"""What is told of a policy that asks less: each key of `config.yaml` is known, one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import codec
from memento_git.model.policy import CONFIG, Policy
from memento_git.model.types import Shape, Table
from memento_git.review.weakened import weakened

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT: Any = object()
AGAIN: dict[str, Any] = {"policy.reproduce.commands": [["pytest"]]}
BOXED: dict[str, Any] = {"executors.codex.run": ["work"]}
SIGNED: dict[str, Any] = {"policy.signatures.require.release": []}

# key: what asks more, what asks less, what is told of that, and what else config says on both sides.
WEAKER: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "policy.proof": ({"test": "reproduced"}, {"test": "witnessed"}, "proof.test: witnessed is enough now", {}),
    "policy.require": (["test"], ABSENT, "require: test is asked no more", {}),
    "policy.plan.approvers": (["Ann"], ABSENT, "plan.approvers: anyone may now", {}),
    "policy.plan.not_author": (True, ABSENT, "plan.not_author: ", {}),
    "policy.approvals.approvers": (["Ann"], ABSENT, "approvals.approvers: anyone may now", {}),
    "policy.approvals.not_author": (True, ABSENT, "approvals.not_author: ", {}),
    "policy.gates.required": (["release"], ABSENT, "gates.required: release is asked no more", {}),
    "policy.gates.fresh": (["release"], ABSENT, "gates.fresh: release is asked no more", {}),
    "policy.gates.verdicts": ({"release": ["Ann"]}, ABSENT, "gates.verdicts.release: anyone may now", {}),
    "policy.gates.waivers": (["Ann"], ["Ann", "Bob"], "gates.waivers: Bob may now, too", {}),
    "policy.spike.dispatches": (1, ABSENT, "spike.dispatches: 3 are allowed now, it was 1", {}),
    "policy.limits.attach": (ABSENT, 2, "limits.attach: of a file or graph above 2 bytes only the digest is kept", {}),
    "policy.limits.output": (ABSENT, 2, "limits.output: 2 bytes of each stream are kept now, it was 65536", {}),
    "policy.agents": (
        ABSENT, {"hermes": ["Ann"]}, "agents.hermes: that Ann committed what it did is no longer reported", {},
    ),
    "policy.verify": ([{"evidence": ["lint"]}], ABSENT, "verify: this entry is gone or changed", {}),
    "policy.enrich": (ABSENT, False, "enrich: ", {}),
    "policy.budget.attempts": (1, ABSENT, "budget.attempts: 3 now, it was 1", {}),
    "policy.budget.cost": (5, ABSENT, "budget.cost: no limit now, it was 5", {}),
    "policy.preflight.dirty": ("refuse", ABSENT, "preflight.dirty: warn now, it was refuse", {}),
    "policy.preflight.untracked": ("warn", ABSENT, "preflight.untracked: ignore now, it was warn", {}),
    "policy.preflight.detached": (ABSENT, "ignore", "preflight.detached: ignore now, it was warn", {}),
    "policy.preflight.protected": ("refuse", ABSENT, "preflight.protected: ignore now, it was refuse", {}),
    "policy.preflight.branches": (["main", "live"], ["main"], "preflight.branches: live is asked no more", {}),
    "policy.preflight.disk": (ABSENT, 1, "preflight.disk: 1 free bytes are enough now, it was 67108864", {}),
    "policy.preflight.destructive": (ABSENT, "warn", "preflight.destructive: warn now, it was refuse", {}),
    "policy.release.checks": (["ci"], ABSENT, "release.checks: ci is asked no more", {}),
    "policy.release.approvals": (2, 1, "release.approvals: 1 are enough now, it was 2", {}),
    "policy.release.approvers": (["Ann"], ABSENT, "release.approvers: anyone may now", {}),
    "policy.release.not_author": (True, ABSENT, "release.not_author: ", {}),
    "policy.release.graph": (ABSENT, "warn", "release.graph: warn now, it was refuse", {}),
    "policy.graph.cycles": (ABSENT, "warn", "graph.cycles: warn now, it was refuse", {}),
    "policy.graph.hot_spots": ("refuse", ABSENT, "graph.hot_spots: warn now, it was refuse", {}),
    "policy.graph.edges": ("refuse", ABSENT, "graph.edges: warn now, it was refuse", {}),
    "policy.graph.growth": (5, ABSENT, "graph.growth: 20 percent are allowed now, it was 5", {}),
    "policy.graph.after_dispatch": ("always", ABSENT, "graph.after_dispatch: known now, it was always", {}),
    "policy.signatures.allowed_signers": (ABSENT, "keys", "signatures.allowed_signers: signatures by the keys", SIGNED),
    "policy.signatures.revoked": ("out", ABSENT, "signatures.revoked: another file, or none", {}),
    "policy.signatures.ledger": ("ours", ABSENT, "signatures.ledger: signatures that were given for another", {}),
    "policy.signatures.require.plan_approval": ([], ABSENT, "signatures.require.plan_approval: no signature", {}),
    "policy.signatures.require.waivers": (["Ann"], [], "signatures.require.waivers: anyone may now", {}),
    "policy.signatures.require.final_acceptance": ([], ABSENT, "signatures.require.final_acceptance: no signature", {}),
    "policy.signatures.require.release": ([], ABSENT, "signatures.require.release: no signature", {}),
    "policy.signatures.require.approvals": (["Ann"], ["Bob"], "signatures.require.approvals: Bob may now, too", {}),
    "policy.reproduce.commands": (ABSENT, [["*"]], "reproduce.commands: * may be run again now", {}),
    "policy.reproduce.setup": ([["make"]], ABSENT, "reproduce.setup: commands are run again in another way", AGAIN),
    "policy.reproduce.timeout": ("1m", ABSENT, "reproduce.timeout: commands are run again in another way", AGAIN),
    "policy.reproduce.env": (ABSENT, ["LIE"], "reproduce.env: commands are run again in another way", AGAIN),
    "policy.reproduce.runners": (ABSENT, ["ci"], "reproduce.runners: what ci runs again and signs", {}),
    "policy.check.errors": (["D007", "P004"], ["P004"], "check.errors: D007 is asked no more", {}),
    "policy.allow_secrets": (ABSENT, ["private key"], "allow_secrets: private key is a false alarm now", {}),
    "executors.*.run": (["tools/safe"], ABSENT, "executors.codex: another command is started now (run", {}),
    "executors.*.health": (["check"], ABSENT, "executors.codex: another command is started now (health)", BOXED),
    "executors.*.sandbox": ("required", ABSENT, "executors.codex.sandbox: it may work outside of one now", BOXED),
    "executors.*.wrap": (["box"], ABSENT, "executors.codex.wrap: no sandbox now", BOXED),
    "executors.*.scope": (["docs/*"], ABSENT, "executors.codex.scope: it may work on all files now", {}),
    "executors.*.risk": ("low", ABSENT, "executors.codex.risk: it may take more now", {}),
    "executors.*.cost": (9, ABSENT, "executors.codex.cost: 1.0 now, it was 9", {}),
    "executors.*.timeout": ("1s", ABSENT, "executors.codex.timeout: it may work for longer now", {}),
}  # fmt: skip

# Keys that ask nothing of work, and why.
NEUTRAL = {
    "version": "the format of the ledger, not a rule",
    "policy.lease": "how long a claim keeps others away, which proves nothing either way",
    "knowledge.domains": "under which words notes are filed",
    "knowledge.short": "how much one machine remembers",
    "knowledge.semantic": "how notes are found",
    "knowledge.medium": "when a note expires",
    "executors.*.kinds": "what it is good at, which only ranks it",
}

# Both ways told: what is another command, sandbox, file or entry is told whatever it was before.
EITHER_WAY = {
    "policy.reproduce.commands", "policy.reproduce.setup", "policy.reproduce.timeout", "policy.reproduce.env",
    "policy.signatures.allowed_signers", "policy.signatures.require.approvals", "executors.*.run", "executors.*.health",
}  # fmt: skip


def keys(shape: Shape, above: str = "") -> Iterator[str]:
    """Yield each key of a shape that holds a value, with those above it."""
    for name, field in shape.fields.items():
        inner, key = field.type, f"{above}{name}"
        if isinstance(inner, Table) and isinstance(inner.member, Shape):
            inner, key = inner.member, f"{key}.*"
        if isinstance(inner, Shape):
            yield from keys(inner, f"{key}.")
        else:
            yield key


def policy(values: dict[str, Any]) -> Policy:
    """Return the policy of a config that has these values, by their dotted keys, and is one that may be read."""
    config: dict[str, Any] = {"version": 1}
    for key, value in values.items():
        *above, last = key.replace("*", "codex").split(".")
        there = config
        for name in above:
            there = there.setdefault(name, {})
        if value is not ABSENT:
            there[last] = value
    found, problems = codec.read_config(json.dumps(config).encode())
    assert problems == []
    return found


def test_each_key_of_config_is_weakened_here_or_asks_nothing() -> None:
    """Whoever adds a key says here what is told when it asks less; `weakened` must then know it."""
    assert {*keys(CONFIG)} == {*WEAKER} | {*NEUTRAL}
    assert not {*WEAKER} & {*NEUTRAL}
    assert {*WEAKER} >= EITHER_WAY


@pytest.mark.parametrize("key", sorted(WEAKER))
def test_a_key_that_asks_less_is_told_and_one_that_asks_more_is_not(key: str) -> None:
    strict, weak, told, beside = WEAKER[key]
    old, new = policy({**beside, key: strict}), policy({**beside, key: weak})
    assert [one[: len(told)] for one in weakened(old, new)][:1] == [told]
    assert weakened(old, old) == weakened(new, new) == []
    assert key in EITHER_WAY or weakened(new, old) == []


def test_who_may_waive_is_who_may_judge_until_somebody_is_named() -> None:
    judged = {"policy.gates.verdicts": {"release": ["Ann"]}}
    named = {**judged, "policy.gates.waivers": ["Ann", "Bob"]}
    assert weakened(policy(judged), policy(named)) == ["gates.waivers: of release: Bob may now, too"]
    lifted = ["gates.waivers: whoever may judge a gate may waive it now, it was Ann, Bob"]
    assert weakened(policy(named), policy(judged)) == lifted
    assert policy(judged).judges("release", "waived") == policy(judged).judges("release", "passed") == ("Ann",)
    assert policy(named).judges("quality_review", "waived") == ("Ann", "Bob")
    assert policy(judged).judges("quality_review", "waived") == ()


def test_who_may_waive_is_compared_with_who_might_before_and_with_no_judges() -> None:
    judged = {"policy.gates.verdicts": {"release": ["Ann"]}, "policy.gates.waivers": ["Bob"]}
    wider = {**judged, "policy.gates.waivers": ["Bob", "Eve"]}
    assert weakened(policy(judged), policy(wider)) == ["gates.waivers: Eve may now, too"]


def test_a_kind_that_proves_now_and_one_that_proves_no_more_are_told() -> None:
    tests, lint = (policy({"policy.proof": {kind: "witnessed"}}) for kind in ("test", "lint"))
    assert weakened(tests, lint) == [
        "proof.lint: proves a task now, at witnessed",
        "proof: of test, where that is asked for, what somebody typed is enough now",
    ]


def test_an_agent_that_may_be_anybodys_is_told_as_that() -> None:
    named: list[dict[str, Any]] = [{}, {"policy.agents": {"agent:bot": []}}, {"policy.agents": {"agent:bot": ["Ann"]}}]
    none, anybodys, anns = map(policy, named)
    told = "agents.agent:bot: that {} committed what it did is no longer reported"
    assert weakened(none, anns) == [told.format("Ann")]
    assert weakened(none, anybodys) == [told.format("somebody else")]


@pytest.mark.parametrize(("old", "new", "told"), [
    ({"executors.codex.scope": ["a"]}, {"executors.codex.scope": ["a", "b"]},
     ["executors.codex.scope: it may work on b now, too"]),
    ({"executors.codex.wrap": ["box"]}, {"executors.codex.wrap": ["bag"]},
     ["executors.codex.wrap: another sandbox now"]),
    ({"policy.signatures.require.release": ["Ann"]},
     {"policy.signatures.require.release": ["Ann"], "policy.signatures.require.waivers": ["Ann", "Bob"]},
     ["signatures.require.waivers: of release: Bob may now, too"]),
    ({"policy.signatures.require.release": ["Ann"], "policy.signatures.require.waivers": ["Ann"]},
     {"policy.signatures.require.release": ["Ann"], "policy.signatures.require.waivers": ["Ann", "Bob"]},
     ["signatures.require.waivers: Bob may now, too"]),
    ({"policy.reproduce.runners": ["CI"]},
     {"policy.reproduce.runners": ["CI"], "policy.signatures.allowed_signers": "k"},
     ["signatures.allowed_signers: signatures by the keys of k count now, it was nobody's"]),
    ({"policy.signatures.allowed_signers": "k"}, {"policy.signatures.allowed_signers": "l"},
     ["signatures.allowed_signers: another file, or none, counts now"]),
    ({"executors.codex.sandbox": "required", "executors.codex.wrap": ["box"]},
     {"executors.codex.sandbox": "required", "executors.codex.wrap": ["bag"]},
     ["executors.codex.wrap: another sandbox now"]),
    (AGAIN, {}, ["reproduce.commands: pytest is asked no more"]),
    (AGAIN, {"policy.reproduce.commands": [["pytest"], ["make"]]},
     ["reproduce.commands: make may be run again now, and counts as reproduced then"]),
    ({"policy.release.approvals": 1}, {}, ["release.approvals: 0 are enough now, it was 1"]),
    ({"policy.verify": [{"when": {"risks": ["high"]}, "evidence": ["lint"]}]},
     {"policy.verify": [{"evidence": ["lint"], "when": {"risks": ["high"]}}]}, []),
])  # fmt: skip
def test_what_lets_more_through_than_before_is_told(old: dict[str, Any], new: dict[str, Any], told: list[str]) -> None:
    assert weakened(policy(old), policy(new)) == told


def test_what_is_run_again_for_the_first_time_asks_more() -> None:
    """The honest way to begin: the team's own commands, a sandbox, keys together with what they must sign."""
    begun = {
        **AGAIN, "policy.reproduce.setup": [["make"]], "executors.codex.wrap": ["box"],
        "policy.signatures.allowed_signers": "keys", "policy.signatures.require.release": ["Ann"],
    }  # fmt: skip
    assert weakened(Policy(), policy(begun)) == []
    boxed = {"executors.swe-agent.wrap": ["box"]}
    assert weakened(policy(boxed), Policy()) == []
