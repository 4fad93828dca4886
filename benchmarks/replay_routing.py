"""How well routing learns: a replay of simulated outcomes whose best executors are known. Prints a Markdown table."""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.model.clock import stamp
from memento_git.work.routing import executor_choice, outcomes
from memento_git.work.routing.budget import Budget, Next
from memento_git.work.routing.executors import Executor
from memento_git.work.routing.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

EXECUTORS: Final = ("alder", "birch", "cedar", "elm", "fir")
KINDS: Final = ("feature", "fix", "docs", "refactor", "test", "chore")
OFTEN: Final = (6, 5, 3, 2, 2, 1)
TABLE: Final = {name: Executor(name, ("run", "{brief}")) for name in EXECUTORS}
START: Final = 1_780_000_000.0
DAYS: Final = 180
UNPROVEN: Final = 0.15
HONEST: Final = 0.8
Skills = dict[tuple[str, str], float]
Policy = Callable[[str, list[Outcome], str], str]


class World(NamedTuple):
    """Who is how good at what, before and after a day on which that changes."""

    before: Skills
    after: Skills
    changes: float

    def skill(self, executor: str, kind: str, share: float) -> float:
        return (self.after if share >= self.changes else self.before)[executor, kind]

    def best(self, kind: str, share: float) -> float:
        return max(self.skill(one, kind, share) for one in EXECUTORS)


def world(dice: random.Random, *, drift: bool) -> World:
    """Draw success probabilities; with drift, half of the kinds get other ones half way."""
    before = {key: value for kind in KINDS for key, value in _skills(dice, kind).items()}
    moved = dice.sample(KINDS, len(KINDS) // 2) if drift else []
    after = before | {key: value for kind in moved for key, value in _skills(dice, kind).items()}
    return World(before, after, 0.5 if drift else 2.0)


def _skills(dice: random.Random, kind: str) -> Skills:
    """Draw how good each executor is at one kind of task: from one that hardly can to one that mostly does."""
    return {(name, kind): dice.betavariate(2.5, 2.0) for name in EXECUTORS}


def witness(dice: random.Random, executor: str, kind: str, skill: float, at: str) -> Outcome:
    """Return what a ledger records of an attempt: mostly proof, and now and then only what the executor says."""
    good = dice.random() < skill
    if dice.random() < UNPROVEN:
        said = good or dice.random() > HONEST
        return Outcome(executor, kind, at, said, outcomes.UNPROVEN if said else 1.0, "")
    return Outcome(executor, kind, at, good, outcomes.TRUST["witnessed"] if good else 1.0, "")


def ours(kind: str, log: list[Outcome], now: str) -> str:
    """Return what `task route` selects."""
    asked = executor_choice.Job(
        "", kind, "low", "", (), now, TABLE, log, Budget(None, None, 0, 0.0), Next("first", None, "")
    )  # fmt: skip
    return str(executor_choice.decide(asked, {})["selected_executor"])


def first(kind: str, log: list[Outcome], now: str) -> str:  # noqa: ARG001 (one shape for all)
    return EXECUTORS[0]


def last_winner(kind: str, log: list[Outcome], now: str) -> str:  # noqa: ARG001 (one shape for all)
    """Return who did this kind last if that went well, else the next one of the table."""
    last = next((one for one in reversed(log) if one.kind == kind), None)
    if last is None:
        return EXECUTORS[0]
    return last.executor if last.good else EXECUTORS[(EXECUTORS.index(last.executor) + 1) % len(EXECUTORS)]


POLICIES: Final = {"`task route`": ours, "always the first": first, "last winner": last_winner}


def moments(tasks: int) -> Iterator[tuple[float, str]]:
    for number in range(tasks):
        share = number / tasks
        yield share, stamp(START + share * DAYS * 86400)


def live(seed: int, tasks: int, policy: Policy, *, drift: bool) -> tuple[float, float]:
    """Let a policy choose for each task and learn from what it chose; return its success and the oracle's."""
    truth, dice = world(random.Random(seed), drift=drift), random.Random(seed + 1)
    log: list[Outcome] = []
    got = most = 0.0
    for share, now in moments(tasks):
        kind = dice.choices(KINDS, OFTEN)[0]
        chosen = policy(kind, log, now)
        skill = truth.skill(chosen, kind, share)
        got, most = got + skill, most + truth.best(kind, share)
        log.append(witness(dice, chosen, kind, skill, now))
    return got / tasks, most / tasks


def replay(seed: int, tasks: int, policy: Policy, *, drift: bool) -> tuple[float, float]:
    """Show a policy a log of executors taken in turn; return the success of its choice per kind, and the best."""
    truth, dice = world(random.Random(seed), drift=drift), random.Random(seed + 1)
    log = []
    for number, (share, now) in enumerate(moments(tasks)):
        kind, executor = dice.choices(KINDS, OFTEN)[0], EXECUTORS[number % len(EXECUTORS)]
        log.append(witness(dice, executor, kind, truth.skill(executor, kind, share), now))
    end = stamp(START + DAYS * 86400)
    got = sum(truth.skill(policy(kind, log, end), kind, 1.0) * often for kind, often in zip(KINDS, OFTEN, strict=True))
    most = sum(truth.best(kind, 1.0) * often for kind, often in zip(KINDS, OFTEN, strict=True))
    return got / sum(OFTEN), most / sum(OFTEN)


def spread(values: list[float]) -> str:
    return f"{statistics.fmean(values):.2f} ± {statistics.stdev(values):.2f}"


def beside_theirs(ours: list[float], theirs: list[float]) -> str:
    """Return the ratio of the mean regrets, and between which two the ratios of the middle half of the worlds lie."""
    each = statistics.quantiles([own / other for own, other in zip(ours, theirs, strict=True) if other], n=4)
    return f"{statistics.fmean(ours) / statistics.fmean(theirs):.2f} ({each[0]:.2f} to {each[2]:.2f})"


def rows(tasks: int, seeds: range) -> Iterator[str]:
    """Yield a table row for each policy and story."""
    for story, play in (("log of all, then one choice per kind", replay), ("learns from its own choices", live)):
        for drift in (False, True):
            measured = {name: [play(seed, tasks, one, drift=drift) for seed in seeds] for name, one in POLICIES.items()}
            base = [most - got for got, most in measured["`task route`"]]
            for name, pairs in measured.items():
                regrets = [most - got for got, most in pairs]
                share = spread([got / most for got, most in pairs])
                ratio = "" if base == regrets else beside_theirs(base, regrets)
                wins = sum(own < other for own, other in zip(base, regrets, strict=True))
                beside = "" if name == "`task route`" else f"{wins} of {len(pairs)}"
                told = "skills change half way" if drift else "skills stay"
                yield f"| {story}; {told} | {name} | {share} | {spread(regrets)} | {ratio} | {beside} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=240, help="outcomes in each replay")
    parser.add_argument("--seeds", type=int, default=40, help="how many worlds")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--curiosity", type=float, default=executor_choice.CURIOSITY, help="to compare other settings")
    given = parser.parse_args()
    executor_choice.CURIOSITY = given.curiosity  # type: ignore[misc]
    print("| story | policy | success / oracle's | regret | regret of ours / its | ours is better |")
    print("|---|---|---:|---:|---:|---:|")
    for row in rows(given.tasks, range(given.first_seed, given.first_seed + given.seeds)):
        print(row)


if __name__ == "__main__":
    main()
