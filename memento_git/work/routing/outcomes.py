"""What dispatches came to, and what that says of executors: weighted by trust, decayed with age, smoothed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.folding.voided_events import undone
from memento_git.model.clock import seconds_of
from memento_git.model.states import DONE, ENDED_DISPATCH
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memento_git.folding.fold import Judged

HALF_LIFE: Final = 90 * 86400
STRENGTH: Final = 2.0
TRUST: Final[Mapping[str, float]] = {
    "reproduced": 1.0, "witnessed": 0.9, "verified": 0.7, "reported": 0.4, "advisory": 0.1,
}  # fmt: skip
UNPROVEN: Final = 0.25
FAULT: Final[Mapping[str, float]] = {"stopped": 0.0, "environment": 0.5, "conflict": 0.5, "unclear": 0.5}
LOST: Final = ("failed", "recovered", "rejected")
VERDICTS: Final = ("accepted", "rejected")
MOVES: Final = (*VERDICTS, "reopened", "blocked", "cancelled")


class Attempt(NamedTuple):
    """One dispatch of a task: to whom, and how it ended."""

    dispatch: str
    executor: str
    how: str = "open"
    category: str = ""
    at: str = ""
    claimed: bool = False

    @property
    def lost(self) -> bool:
        """Tell whether it came to nothing; one that nobody ever took was no attempt."""
        return self.how in LOST and (self.claimed or self.how == "failed")

    @property
    def cause(self) -> str:
        """Return how it ended, of a failure what kind that was."""
        return (self.category or "other") if self.how == "failed" else self.how


class Outcome(NamedTuple):
    """One dispatch that ended, as a datum about its executor."""

    executor: str
    kind: str
    at: str
    good: bool
    weight: float
    task: str
    files: Sequence[str] = ()


class Tally(NamedTuple):
    """Successes and failures, each with its weight."""

    good: float = 0.0
    bad: float = 0.0

    @property
    def total(self) -> float:
        return self.good + self.bad


def attempts(events: Sequence[Judged]) -> list[Attempt]:
    """Return the dispatches of a task in their order, from its events; those that were taken out do not count.

    Once a candidate was chosen, a verdict on the task is one on that candidate alone.
    """
    found: dict[str, Attempt] = {}
    chosen, out = "", undone(events)
    for seen in events:
        event = seen.event
        if seen.verdict != "legal" or event.id in out:
            continue
        name = event.dispatch
        if event.do == "dispatched":
            found[name] = Attempt(name, event.get("executor"), at=event.at)
        elif event.do == "claimed" and name in found:
            found[name] = found[name]._replace(claimed=True)
        elif event.do in ENDED_DISPATCH and name in found:
            found[name] = found[name]._replace(how=event.do, category=event.get("category"), at=event.at)
        elif event.do == "selected":
            chosen = name
        elif event.do in MOVES:
            about = chosen if event.do in VERDICTS else ""
            found = {key: _moved(one, event.do, event.at, about) for key, one in found.items()}
            chosen = "" if event.do == "reopened" else chosen
    return list(found.values())


def _moved(attempt: Attempt, do: str, at: str, about: str) -> Attempt:
    """Return an attempt after its task itself was moved, `about` one of its attempts or all of them."""
    if attempt.how == "open":
        return attempt._replace(how="withdrawn", at=at)
    if attempt.how in DONE and do in (*VERDICTS, "reopened") and about in ("", attempt.dispatch):
        return attempt._replace(how=do, at=at)
    return attempt


def outcome(attempt: Attempt, task: str, kind: str, files: Sequence[str], trust: str) -> Outcome | None:
    """Return what an attempt says of its executor; `trust` is that of what proves it, nothing where it is unproven.

    A completion that was reopened, and work that somebody stopped or withdrew, say nothing.
    """
    if attempt.lost:
        good, weight = False, FAULT.get(attempt.category, 1.0)
    elif attempt.how in DONE:
        good, weight = True, TRUST[trust] if trust else UNPROVEN
    else:
        return None
    return Outcome(attempt.executor, kind, attempt.at, good, weight, task, files) if weight else None


def decayed(one: Outcome, now: str) -> float:
    """Return the weight of an outcome today: half of it after 90 days, a quarter after 180."""
    age = max(0.0, seconds_of(now) - seconds_of(one.at))
    return float(one.weight * 0.5 ** (age / HALF_LIFE))


def tallies(outcomes: Iterable[Outcome], now: str) -> dict[str, dict[str, Tally]]:
    """Return executor -> kind -> decayed tally."""
    found: dict[str, dict[str, Tally]] = {}
    for one in outcomes:
        kinds = found.setdefault(one.executor, {})
        held, weight = kinds.get(one.kind, Tally()), decayed(one, now)
        kinds[one.kind] = Tally(held.good + weight, held.bad) if one.good else Tally(held.good, held.bad + weight)
    return found


def expected(kinds: Mapping[str, Tally], kind: str, prior: float) -> tuple[float, float]:
    """Return the success to expect of an executor at a kind of task, and how unsure that is (a deviation).

    Outcomes of the kind are smoothed towards what the executor did of other kinds, and that towards the prior.
    """
    others = [tally for name, tally in kinds.items() if name != kind]
    apart = Tally(sum(one.good for one in others), sum(one.bad for one in others))
    own = kinds.get(kind, Tally())
    base = (apart.good + STRENGTH * prior) / (apart.total + STRENGTH)
    mean = (own.good + STRENGTH * base) / (own.total + STRENGTH)
    return mean, (mean * (1 - mean) / (own.total + STRENGTH + 1)) ** 0.5
