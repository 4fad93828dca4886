"""Who should do a task, and why the others should not. Pure: it chooses, explains, and hands nothing out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from memento_git.model.enumeration import many, some
from memento_git.model.states import RISKS
from memento_git.work.routing.budget import Budget, Next
from memento_git.work.routing.executors import NO_WRAP, Executor
from memento_git.work.routing.outcomes import Outcome, Tally, decayed, expected, tallies

PRIOR: Final = 0.5
FITS: Final = 0.1
CURIOSITY: Final = 0.5
DEAR: Final = 0.1
RISKY: Final = 2.0
LEAST: Final = 0.05


class Job(NamedTuple):
    """What is to be done, and what is known of those who could."""

    task: str
    kind: str
    risk: str
    size: str
    files: tuple[str, ...]
    now: str
    table: Mapping[str, Executor]
    outcomes: Sequence[Outcome]
    budget: Budget
    step: Next


class Barrier(NamedTuple):
    """Why an executor is not chosen; a hard one stands whatever a person asks for."""

    rule: str
    why: str
    hard: bool = True


class Score(NamedTuple):
    """What speaks for an executor, in parts that add up."""

    executor: str
    expected: float
    unsure: float
    cost: float
    outcomes: float
    of_kind: float

    @property
    def total(self) -> float:
        return round(self.expected + self.unsure - self.cost, 6)

    def row(self) -> dict[str, Any]:
        parts = {"expected": self.expected, "unsure": self.unsure, "cost": -self.cost}
        told = {"outcomes": self.outcomes, "outcomes_of_kind": self.of_kind}
        rounded = {key: round(value, 3) for key, value in (parts | told).items()}
        return {"executor": self.executor, "score": round(self.total, 3), **rounded}


def within(path: str, patterns: Iterable[str]) -> bool:
    """Tell whether a path matches a pattern, or lies below a folder that one names; a `*` also stands for a `/`."""
    return any(fnmatchcase(path, one) or path.startswith(f"{one.rstrip('/')}/") for one in patterns)


def risk_of(asked: Job) -> tuple[str, list[dict[str, str]]]:
    """Return the risk of the task, and what raised it: work on the same files that failed before."""
    base = asked.risk or "medium"
    touched = [
        (one, decayed(one, asked.now)) for one in asked.outcomes
        if not one.good and (one.task == asked.task or set(one.files) & set(asked.files))
    ]  # fmt: skip
    weight = sum(part for _, part in touched)
    if weight < RISKY or base == RISKS[-1]:
        return base, []
    raised = RISKS[RISKS.index(base) + 1]
    files = sorted({path for one, _ in touched for path in one.files if path in asked.files})
    about = f"about {some(files, 3)}" if files else "at this task"
    why = f"{many(len(touched), 'attempt')} {about} came to nothing, which weighs {weight:.1f} today"
    return raised, [{"from": base, "to": raised, "why": why}]


def barriers(asked: Job, executor: Executor, risk: str) -> list[Barrier]:
    """Return why an executor may not do a task, health apart."""
    found = []
    outside = [path for path in asked.files if not within(path, executor.scope)]
    if executor.scope and not asked.files:
        found.append(Barrier("scope", f"it may work on {', '.join(executor.scope)} alone, and the task names no files"))
    elif executor.scope and outside:
        found.append(Barrier("scope", f"{some(outside, 3)} is outside of what it may work on"))
    if RISKS.index(risk) > RISKS.index(executor.risk):
        found.append(Barrier("risk", f"the risk is {risk}, and it may take {executor.risk} at most"))
    if executor.is_boxed and not executor.wrap:
        found.append(Barrier("sandbox", NO_WRAP))
    escalated = asked.step.action == "escalate"
    if escalated and executor.by == "command":
        found.append(Barrier("budget", f"a person should look at the task: {asked.step.why}"))
    elif not escalated and (why := asked.budget.exceeded(executor.cost)):
        found.append(Barrier("budget", why))
    if executor.name in asked.step.avoid:
        found.append(Barrier("tried", "it was tried, and the next attempt should be elsewhere", hard=False))
    return found


def possible(asked: Job) -> list[str]:
    """Return who may do a task if nothing ails them."""
    risk = risk_of(asked)[0]
    return [name for name, one in asked.table.items() if not any(found.hard for found in barriers(asked, one, risk))]


def score(asked: Job, executor: Executor, known: Mapping[str, Tally], dearest: float) -> Score:
    """Return what speaks for an executor."""
    fits = 0.0 if not executor.kinds or not asked.kind else FITS if asked.kind in executor.kinds else -FITS
    mean, deviation = expected(known, asked.kind, PRIOR + fits)
    cost = DEAR * executor.cost / dearest if dearest else 0.0
    own = known.get(asked.kind, Tally()).total
    return Score(executor.name, mean, CURIOSITY * deviation, cost, sum(one.total for one in known.values()), own)


def decide(asked: Job, health: Mapping[str, str], override: str = "") -> dict[str, Any]:
    """Return the decision as data; `health` has why an executor cannot work now, by name."""
    risk, adjustments = risk_of(asked)
    known = tallies(asked.outcomes, asked.now)
    dearest = max((one.cost for one in asked.table.values()), default=0.0)
    kept_out: dict[str, list[Barrier]] = {}
    scores = []
    for name, executor in asked.table.items():
        found = barriers(asked, executor, risk)
        found += [Barrier("sandbox" if executor.is_boxed else "health", health[name])] if name in health else []
        if found:
            kept_out[name] = found
        else:
            scores.append(score(asked, executor, known.get(name, {}), dearest))
    scores.sort(key=lambda one: (one.executor != asked.step.executor, -one.total, one.cost, one.executor))
    order = [one.executor for one in scores]
    asked_for = _override(asked, override, kept_out) if override else None
    if asked_for and asked_for["honoured"]:
        order = [override, *(name for name in order if name != override)]
        kept_out.pop(override, None)
    return {
        "selected_executor": order[0] if order else None,
        "fallback_chain": order[1:],
        "rejected_executors": [_rejected(name, found) for name, found in kept_out.items()],
        "scores": [one.row() for one in scores],
        "reasons": _reasons(asked, scores, order, asked_for),
        "risk": risk,
        "risk_adjustments": adjustments,
        **_approval(asked, risk, asked_for),
        "context_profile": _profile(asked, risk),
        "auto_dispatch": False,
        "user_override": asked_for,
        "budget": asked.budget.row(asked.table[order[0]].cost if order else 0.0),
        "step": asked.step._replace(executor=asked.step.executor or (order[0] if order else None)).row(),
    }


def _rejected(name: str, found: Sequence[Barrier]) -> dict[str, Any]:
    return {
        "executor": name, "rules": [one.rule for one in found], "reasons": [one.why for one in found],
        "hard": any(one.hard for one in found),
    }  # fmt: skip


def _override(asked: Job, name: str, kept_out: Mapping[str, Sequence[Barrier]]) -> dict[str, Any]:
    """Return what becomes of a person's wish: hard barriers stand."""
    if name not in asked.table:
        why = [f"no executor is called {name}; policy's table and config's `executors` name them"]
        return {"executor": name, "honoured": False, "reasons": why}
    hard = [one.why for one in kept_out.get(name, ()) if one.hard]
    told = hard or [one.why for one in kept_out.get(name, ())]
    return {"executor": name, "honoured": not hard, "reasons": told}


def _reasons(
    asked: Job, scores: Sequence[Score], order: Sequence[str], asked_for: Mapping[str, Any] | None
) -> list[str]:
    """Return in sentences why the first of the order is the first."""
    if not order:
        return ["nobody in the table may, and can, do this task now"]
    reasons = []
    if asked_for and asked_for["honoured"]:
        reasons.append(f"{order[0]} was asked for")
    elif asked.step.executor == order[0]:
        reasons.append(f"{order[0]} tries again: {asked.step.why}")
    about = f"{asked.kind} tasks" if asked.kind else "tasks without a kind"
    for one in sorted(scores, key=lambda one: one.executor != order[0])[:2]:
        told = f"from outcomes that weigh {one.of_kind:.1f}, and {one.outcomes:.1f} with other kinds"
        told = told if one.outcomes >= LEAST else "nothing is known of it yet"
        reasons.append(f"{one.executor} scores {one.total:.2f}: {one.expected:.0%} success expected at {about}, {told}")
    if asked.step.action in ("escalate", "fallback", "repair"):
        reasons.append(f"{asked.step.action}: {asked.step.why}")
    return reasons


def _approval(asked: Job, risk: str, asked_for: Mapping[str, Any] | None) -> dict[str, Any]:
    because = [f"the risk is {risk}"] if risk == RISKS[-1] else []
    because += [f"{asked_for['executor']} was asked for by name"] if asked_for and asked_for["honoured"] else []
    because += [f"the task is escalated: {asked.step.why}"] if asked.step.action == "escalate" else []
    return {"requires_user_approval": bool(because), "approval_because": because}


def _profile(asked: Job, risk: str) -> str:
    """Return how much to hand over: the brief alone, or the whole bundle where more is at stake."""
    plain = risk == RISKS[0] or (risk == "medium" and asked.size in ("", "small"))
    return "brief" if plain and asked.step.action in ("first", "none") else "bundle"
