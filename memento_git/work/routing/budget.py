"""How often, and at what cost, a task may be tried, and what the tries so far lead to. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused
from memento_git.model.states import FINAL_RUN, FINAL_TASK
from memento_git.model.tuples import NamedTuple
from memento_git.work.routing.executors import Executor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.model.objection import Objection
    from memento_git.work.routing.outcomes import Attempt

LEADS_TO: Final = {
    "environment": "fallback", "timeout": "fallback", "recovered": "fallback", "tests": "repair", "rejected": "repair",
    "conflict": "retry", "stopped": "retry", "scope": "escalate", "unclear": "escalate",
}  # fmt: skip
BECAUSE: Final = {
    "environment": "its surroundings failed, and may work elsewhere",
    "timeout": "it took too long",
    "recovered": "its worker was not heard of again",
    "tests": "the work is there and its tests fail",
    "rejected": "the work is there and was rejected",
    "conflict": "others changed the same code meanwhile",
    "stopped": "somebody stopped it",
    "scope": "it asks for more than its files",
    "unclear": "what it asks for is not clear",
    "other": "it failed",
}


class BudgetExceeded(Refused):
    token = "budget_exceeded"
    sentence = "task {task} is beyond its budget: {why}"
    hint_ = "have a person look at it; to try again all the same: --over-budget WHY"


class Budget(NamedTuple):
    """What a task's attempts may come to, and have come to."""

    attempts: int | None
    cost: float | None
    lost: int
    spent: float

    def tried_out(self) -> Objection:
        """Return why another attempt is one too many, whatever its price, or nothing."""
        too_many = self.attempts is not None and self.lost >= self.attempts
        return f"{self.lost} of {self.attempts} attempts came to nothing" if too_many else ""

    def exceeded(self, price: float) -> Objection:
        """Return why another attempt at this price is beyond the budget, or nothing."""
        if why := self.tried_out():
            return why
        if self.cost is not None and self.spent + price > self.cost + 1e-9:
            return f"attempts cost {self.spent:g}, another one costs {price:g}, and {self.cost:g} is allowed"
        return ""

    def row(self, price: float) -> dict[str, Any]:
        """Return the budget as data, and why another attempt at this price is beyond it."""
        held = {"attempts": self.attempts, "lost": self.lost, "cost": self.cost, "spent": round(self.spent, 3)}
        return {**held, "exceeded": self.exceeded(price) or None}


class Next(NamedTuple):
    """What to do with a task: the action, who should do it where that is known, who should not, and why.

    Where no attempt is to be made, a command may be what it takes all the same.
    """

    action: str
    executor: str | None
    why: str
    avoid: tuple[str, ...] = ()
    command: str = ""

    def row(self) -> dict[str, Any]:
        return {
            "action": self.action, "executor": self.executor, "why": self.why, "command": self.command or None
        }  # fmt: skip


def price(executor: str | None, table: Mapping[str, Executor]) -> float:
    """Return what one attempt of an executor costs, or of the cheapest; one that no table knows costs what is usual."""
    if executor is None:
        return min(one.cost for one in table.values())
    return table.get(executor, Executor(executor)).cost


def budget(
    limits: Mapping[str, Any], own: Mapping[str, Any], tried: Sequence[Attempt], table: Mapping[str, Executor]
) -> Budget:
    """Return a task's budget: policy's limits, each replaced by the task's own, and what was used of them."""
    limit = {**limits, **own}
    paid = [one for one in tried if one.claimed or one.how in ("open", "failed")]
    spent = sum(price(one.executor, table) for one in paid)
    return Budget(limit.get("attempts"), limit.get("cost"), sum(one.lost for one in tried), spent)


def over(run: str, task: str) -> Objection:
    """Return why nothing is to be done about a task, by its run's status and its own, or nothing."""
    if run in FINAL_RUN:
        return f"its run is {run}"
    return f"the task is {task}" if task in (*FINAL_TASK, "contested") else ""


def next_step(over: str, tried: Sequence[Attempt], held: Budget, cheapest: float = 0.0) -> Next:
    """Return what the attempts so far lead to, unless it is over, given the price of the cheapest executor."""
    if over:
        return Next("none", None, over)
    under_way = [one.executor for one in tried if one.how == "open"]
    if under_way:
        return Next("none", under_way[-1], f"it was handed to {under_way[-1]}, and that is open")
    lost = [one for one in tried if one.lost]
    if why := held.exceeded(cheapest):
        return Next("escalate", None, why)
    if not lost:
        return Next("first", None, "nobody has tried it yet")
    return _after(lost)


def _after(lost: Sequence[Attempt]) -> Next:
    """Return what the latest of the lost attempts leads to; without a category, a second failure is one too many."""
    last = lost[-1]
    again = sum(one.executor == last.executor for one in lost) > 1
    action = LEADS_TO.get(last.cause, "fallback" if again else "retry")
    avoid = tuple(sorted({one.executor for one in lost if LEADS_TO.get(one.cause) == "fallback"} | {last.executor}))
    why = f"{last.executor}: {BECAUSE[last.cause]}"
    return Next(action, last.executor if action == "retry" else None, why, avoid if action == "fallback" else ())
