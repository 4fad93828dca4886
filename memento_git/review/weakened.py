"""Which rules of a policy ask less than those of another. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from memento_git.model.policy import FREE, Policy
from memento_git.model.states import RISKS, TRUSTS
from memento_git.work.attest.signing import GATES
from memento_git.work.routing.executors import Executor, known

LEVELS: Final = ("refuse", "warn", "ignore")
KEPT: Final = ("always", "known", "never")
WILD: Final = frozenset("*?[")  # in the name of a program: nobody can tell which ones that is


def weakened(old: Policy, new: Policy) -> list[str]:
    """Return a sentence for each rule that the new policy lifts or loosens."""
    return [
        *_proof(old, new),
        *_plan_and_gates(old, new),
        *_verification(old, new),
        *_untold(old, new),
        *_levels(old, new),
        *_signatures(old, new),
        *_sandboxes(old, new),
        *_again(old, new),
        *_runs(old, new),
        *_limits(old, new),
    ]


def _proof(old: Policy, new: Policy) -> Iterator[str]:
    for kind, trust in new.proof.items():
        before = old.proof.get(kind)
        if before is None:
            yield f"proof.{kind}: proves a task now, at {trust}"
        elif TRUSTS.index(trust) > TRUSTS.index(before):
            yield f"proof.{kind}: {trust} is enough now, it was {before}"
    if gone := [kind for kind in old.proof if kind not in new.proof]:
        yield f"proof: of {', '.join(gone)}, where that is asked for, what somebody typed is enough now"
    yield from _fewer("require", old.require, new.require)


def _plan_and_gates(old: Policy, new: Policy) -> Iterator[str]:
    yield from _people("plan.approvers", old.plan_approvers, new.plan_approvers)
    if old.plan_not_author and not new.plan_not_author:
        yield "plan.not_author: a plan's author may approve it now"
    yield from _people("approvals.approvers", old.approvers, new.approvers)
    if old.approvals_not_author and not new.approvals_not_author:
        yield "approvals.not_author: who did a task may approve it now"
    yield from _fewer("gates.required", old.gates_required, new.gates_required)
    yield from _fewer("gates.fresh", old.gates_fresh, new.gates_fresh)
    for gate, people in old.gate_verdicts.items():
        yield from _people(f"gates.verdicts.{gate}", people, new.gate_verdicts.get(gate, []))
    for gate, people in old.gate_verdicts.items() if not old.gate_waivers else ():
        yield from _more(f"gates.waivers: of {gate}", people, new.gate_waivers)
    if old.gate_waivers and not new.gate_waivers:
        yield f"gates.waivers: whoever may judge a gate may waive it now, it was {', '.join(old.gate_waivers)}"
    yield from _more("gates.waivers", old.gate_waivers, new.gate_waivers)
    if new.spike_dispatches > old.spike_dispatches:
        yield f"spike.dispatches: {new.spike_dispatches} are allowed now, it was {old.spike_dispatches}"


def _verification(old: Policy, new: Policy) -> Iterator[str]:
    there = [_told(entry) for entry in new.verify]
    for entry in old.verify:
        if _told(entry) not in there:
            yield f"verify: this entry is gone or changed: {_told(entry)}"
    if old.enrich and not new.enrich:
        yield "enrich: past failures add nothing to what is asked now"
    before, after = old.release, new.release
    yield from _fewer("release.checks", before.get("checks", []), after.get("checks", []))
    if after.get("approvals", 0) < before.get("approvals", 0):
        yield f"release.approvals: {after.get('approvals', 0)} are enough now, it was {before['approvals']}"
    yield from _people("release.approvers", before.get("approvers", []), after.get("approvers", []))
    if before.get("not_author") and not after.get("not_author"):
        yield "release.not_author: who worked on a run may approve its release now"
    if more := [name for name in new.reproduce["runners"] if name not in old.reproduce["runners"]]:
        yield f"reproduce.runners: what {', '.join(more)} runs again and signs counts as reproduced now"


def _untold(old: Policy, new: Policy) -> Iterator[str]:
    """Tell which findings of before are none now, or no errors."""
    yield from _fewer("check.errors", old.errors, new.errors)
    for rule in new.allow_secrets:
        if rule not in old.allow_secrets:
            yield f"allow_secrets: {rule} is a false alarm now"
    for agent, people in new.agents.items():
        if agent in old.agents:
            yield from _people(f"agents.{agent}", old.agents[agent], people)
        else:
            committed = f"that {', '.join(people) or 'somebody else'} committed what it did"
            yield f"agents.{agent}: {committed} is no longer reported"


def _levels(old: Policy, new: Policy) -> Iterator[str]:
    for section in ("release", "preflight", "graph"):
        for key, level in getattr(old, section).items():
            now = getattr(new, section).get(key)
            if level in LEVELS and LEVELS.index(now) > LEVELS.index(level):
                yield f"{section}.{key}: {now} now, it was {level}"
    if new.graph["growth"] > old.graph["growth"]:
        yield f"graph.growth: {new.graph['growth']} percent are allowed now, it was {old.graph['growth']}"
    was, now = (str(one.graph["after_dispatch"]) for one in (old, new))
    if KEPT.index(now) > KEPT.index(was):
        yield f"graph.after_dispatch: {now} now, it was {was}"
    had, least = (one.preflight.get("disk", FREE) for one in (old, new))
    if least < had:
        yield f"preflight.disk: {least} free bytes are enough now, it was {had}"
    yield from _fewer("preflight.branches", old.preflight["branches"], new.preflight["branches"])


def _signatures(old: Policy, new: Policy) -> Iterator[str]:
    """Tell which signatures are demanded no more, or of more people, or by another file of keys."""
    before, after = (one.must_be_signed for one in (old, new))
    for gate in sorted({*GATES.values()} & before.keys()) if "waivers" not in before and "waivers" in after else ():
        yield from _people(f"signatures.require.waivers: of {gate}", before[gate], after["waivers"])
    for what, people in before.items():
        if what not in after:
            yield f"signatures.require.{what}: no signature is asked now"
        else:
            yield from _people(f"signatures.require.{what}", people, after[what])
    for key in ("allowed_signers", "revoked"):
        if old.signatures.get(key) not in (None, new.signatures.get(key)):
            yield f"signatures.{key}: another file, or none, counts now"
    if old.signatures.get("ledger") not in (None, new.signatures.get("ledger")):
        yield "signatures.ledger: signatures that were given for another ledger count now"
    signers = "allowed_signers"
    if (before or old.reproduce["runners"]) and signers not in old.signatures and signers in new.signatures:
        yield f"signatures.{signers}: signatures by the keys of {new.signatures[signers]} count now, it was nobody's"


def _sandboxes(old: Policy, new: Policy) -> Iterator[str]:
    """Tell which executors may work outside of a sandbox now, or in another one."""
    after = known(new)
    for name, executor in known(old).items():
        now = after.get(name, executor)
        if executor.is_boxed and not now.is_boxed:
            yield f"executors.{name}.sandbox: it may work outside of one now"
        elif executor.wrap and now.wrap != executor.wrap and (now.wrap or not now.is_boxed):
            yield f"executors.{name}.wrap: {'another sandbox' if now.wrap else 'no sandbox'} now"


def _again(old: Policy, new: Policy) -> Iterator[str]:
    """Tell what is not run again any more, or is now, and with what."""
    first, now = (one.reproduce["commands"] for one in (old, new))
    yield from _fewer("reproduce.commands", *(list(map(" ".join, words)) for words in (first, now)))
    more = [" ".join(words) for words in now if not any(words[: len(one)] == one for one in first)]
    if more and (first or any(WILD.intersection(words[0]) for words in now)):
        yield f"reproduce.commands: {', '.join(more)} may be run again now, and counts as reproduced then"
    for key in ("setup", "timeout", "env"):
        if first and old.reproduce[key] != new.reproduce[key]:
            yield f"reproduce.{key}: commands are run again in another way now"


def _runs(old: Policy, new: Policy) -> Iterator[str]:
    """Tell which other commands executors are started by now, and what more they may do."""
    table = known(old)
    for name, now in known(new).items():
        before = table.get(name, Executor(name))
        if changed := [key for key in ("run", "health") if getattr(now, key) != getattr(before, key)]:
            which = "another command" if name in table else "a new command"
            yield f"executors.{name}: {which} is started now ({', '.join(changed)})"
        if RISKS.index(now.risk) > RISKS.index(before.risk):
            yield f"executors.{name}.risk: it may take more now"
        if before.timeout and not 0 < now.timeout <= before.timeout:
            yield f"executors.{name}.timeout: it may work for longer now"
        if before.scope and not now.scope:
            yield f"executors.{name}.scope: it may work on all files now"
        elif more := [pattern for pattern in now.scope if before.scope and pattern not in before.scope]:
            yield f"executors.{name}.scope: it may work on {', '.join(more)} now, too"


def _limits(old: Policy, new: Policy) -> Iterator[str]:
    """Tell which limits of a task's attempts are higher now, or gone, or reach further; and what is kept no more."""
    after = known(new)
    for name, before in known(old).items():
        now = after.get(name, Executor(name))  # one that is gone may still be named, and costs what is usual
        if now.cost < before.cost:
            yield f"executors.{name}.cost: {now.cost} now, it was {before.cost}, so that a budget allows more attempts"
    for key, most in old.budget.items():
        if new.budget.get(key) is None or new.budget[key] > most:
            yield f"budget.{key}: {new.budget.get(key, 'no limit')} now, it was {most}"
    if new.output < old.output:
        yield f"limits.output: {new.output} bytes of each stream are kept now, it was {old.output}"
    if new.attach < old.attach:
        yield f"limits.attach: of a file or graph above {new.attach} bytes only the digest is kept, it was {old.attach}"


def _fewer(rule: str, old: Collection[str], new: Collection[str]) -> Iterator[str]:
    gone = [name for name in old if name not in new]
    if gone:
        yield f"{rule}: {', '.join(gone)} is asked no more"


def _people(rule: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Tell where a list of people lets more of them through; nobody named is anyone."""
    if old and not new:
        yield f"{rule}: anyone may now, it was {', '.join(old)}"
    yield from _more(rule, old, new)


def _more(rule: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    if more := [name for name in new if old and name not in old]:
        yield f"{rule}: {', '.join(more)} may now, too"


def _told(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, ensure_ascii=False)
