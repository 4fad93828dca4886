"""Whether one policy asks for less than another, key by key. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.model.work import TRUSTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memento_git.model.policy import Policy

LEVELS: Final = ("ignore", "warn", "refuse")
MORE_IS_LESS: Final = ("spike_dispatches", "lease")


def weakened(old: Policy, new: Policy) -> Iterator[str]:
    """Yield what a policy asks for less than the one before it."""
    yield from _proof(old.proof, new.proof)
    for key, told in (("require", "require"), ("gates_required", "gates.required"), ("gates_fresh", "gates.fresh")):
        if gone := sorted(set(getattr(old, key)) - set(getattr(new, key))):
            yield f"{told} no longer names {', '.join(gone)}"
    yield from _named("plan.approvers", old.plan_approvers, new.plan_approvers)
    yield from _named("gates.waivers", old.gate_waivers, new.gate_waivers)
    for gate, actors in sorted(old.gate_verdicts.items()):
        yield from _named(f"gates.verdicts.{gate}", actors, new.gate_verdicts.get(gate, ()))
    if old.plan_not_author and not new.plan_not_author:
        yield "plan.not_author is no longer asked"
    for key in MORE_IS_LESS:
        if getattr(new, key) > getattr(old, key):
            yield f"{key.replace('_', '.')} went from {getattr(old, key)} to {getattr(new, key)}"
    if gone := [one for one in old.verify if one not in new.verify]:
        yield f"verify lost or changed {len(gone)} of its {len(old.verify)} entries"
    if more := sorted(set(new.allow_secrets) - set(old.allow_secrets)):
        yield f"allow_secrets now lets {', '.join(more)} pass"
    yield from _release(old.release, new.release)
    for name in ("preflight", "graph"):
        yield from _levels(name, getattr(old, name), getattr(new, name))
    yield from _measures(old, new)
    yield from _signatures(old.signatures, new.signatures)


def _measures(old: Policy, new: Policy) -> Iterator[str]:
    """Yield what is left alone now: past failures, branches, a graph that grows."""
    if old.enrich and not new.enrich:
        yield "enrich is no longer asked"
    if gone := sorted(set(old.preflight.get("branches", ())) - set(new.preflight.get("branches", ()))):
        yield f"preflight.branches no longer names {', '.join(gone)}"
    if (more := new.graph.get("growth", 0)) > (before := old.graph.get("growth", 0)):
        yield f"graph.growth went from {before} to {more}"


def _signatures(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in ("allowed_signers", "revoked"):
        if key in old and new.get(key) != old[key]:
            yield f"signatures.{key} is {new.get(key) or 'nothing'}, and was {old[key]}"
    before, after = old.get("require") or {}, new.get("require") or {}
    for key, names in sorted(before.items()):
        if key not in after:
            yield f"signatures.require.{key} is no longer asked"
        else:
            yield from _named(f"signatures.require.{key}", names, after[key])


def _proof(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield kinds of evidence that prove at a lower trust, or prove at all where they did not."""
    for kind, trust in sorted(new.items()):
        if kind not in old:
            yield f"proof.{kind} proves from {trust} up, and did not prove before"
        elif TRUSTS.index(trust) > TRUSTS.index(old[kind]):
            yield f"proof.{kind} went from {old[kind]} to {trust}"


def _named(key: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield who may now act that could not; nobody named means anyone."""
    if old and not new:
        yield f"{key} names nobody any more, so anyone may"
    elif old and (more := sorted(set(new) - set(old))):
        yield f"{key} now names {', '.join(more)} too"


def _release(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if gone := sorted(set(old.get("checks", ())) - set(new.get("checks", ()))):
        yield f"release.checks no longer names {', '.join(gone)}"
    if new.get("approvals", 0) < old.get("approvals", 0):
        yield f"release.approvals went from {old['approvals']} to {new.get('approvals', 0)}"
    yield from _named("release.approvers", old.get("approvers", ()), new.get("approvers", ()))
    if old.get("not_author") and not new.get("not_author"):
        yield "release.not_author is no longer asked"
    yield from _levels("release", {"graph": old["graph"]}, {"graph": new["graph"]})


def _levels(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key, level in sorted(old.items()):
        if level in LEVELS and new.get(key) in LEVELS and LEVELS.index(new[key]) < LEVELS.index(level):
            yield f"{name}.{key} went from {level} to {new[key]}"
