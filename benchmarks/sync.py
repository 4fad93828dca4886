"""Clones that race for the same tasks through one bare repository: pushes and seconds that a claim takes.

    python benchmarks/sync.py [--tasks 200] [--clones 8]

Each claim is a whole `memento dispatch claim --sync`. A clone tries the tasks in an order of its own, skips those that
its ledger shows as taken, and ends when none is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pool import environment, repository

from memento_git.ledger.store import Ledger
from memento_git.work.actions import dispatches, plans, runs, setup, tasks
from memento_git.work.state import Dispatch, RunState

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction


def offer(folder: Path, count: int) -> None:
    """Make a run with tasks that are handed out."""

    def act(tx: Transaction) -> None:
        run = runs.start_run(tx, "Claim through a remote")
        plans.approve_plan(tx, plans.draft_plan(tx, "Plan", "Do them all.", run=run))
        for number in range(count):
            dispatches.create_dispatch(tx, tasks.add_task(tx, f"Task {number}", run=run), "agent")

    with Ledger.open(folder) as ledger:
        setup.init_ledger(ledger)
        ledger.change("fill", act)


def queued(folder: Path) -> list[str]:
    """Return the dispatches that a clone's ledger shows as free."""
    return [name for name, row in rows(folder).items() if row.status == "queued"]


def rows(folder: Path) -> dict[str, Dispatch]:
    """Return dispatch -> what it has come to, in a clone."""
    with Ledger.open(folder) as ledger:
        view = ledger.view()
        state = RunState(view, view.runs()[0])
        return {name: row for task in state.ids("task") for name, row in state.dispatches(task).items()}


def claim_all(folder: Path, actor: str) -> None:
    """Claim until nothing is free; print each try as a line of JSON."""
    chance = random.Random(actor)
    while free := queued(folder):
        command = [sys.executable, "-m", "memento_git", "dispatch", "claim", chance.choice(free), "--sync", "--json",
                   "--actor", actor]  # fmt: skip
        begun = time.monotonic()
        told = json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout)
        seconds = time.monotonic() - begun
        print(json.dumps([told.get("dispatch_id", ""), told.get("pushes", 0), seconds, told.get("error", "")]))
        if told.get("error") not in (None, "dispatch_already_claimed"):
            raise SystemExit(told["message"])


def race(top: Path, clones: int) -> tuple[list[list[Any]], float]:
    """Let the clones race; return their tries, and how long all took."""
    folders = [top / f"clone{number}" for number in range(clones)]
    for folder in folders:
        subprocess.run(["git", "clone", "-q", str(top / "hub.git"), str(folder)], check=True)
    begun = time.monotonic()
    racers = [
        subprocess.Popen([sys.executable, __file__, "--race", str(folder)], stdout=subprocess.PIPE)
        for folder in folders
    ]
    said = [racer.communicate()[0] for racer in racers]
    if any(racer.returncode for racer in racers):
        raise SystemExit("a clone failed")
    return [json.loads(line) for text in said for line in text.splitlines()], time.monotonic() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--clones", type=int, default=8)
    parser.add_argument("--race", type=Path, help="be one of the clones")
    given = parser.parse_args()
    if given.race:
        claim_all(given.race, given.race.name)
        return 0
    with tempfile.TemporaryDirectory(prefix="memento-sync-") as scratch:
        top = Path(scratch)
        os.environ |= environment(top)
        repository(top / "first")
        offer(top / "first", given.tasks)
        subprocess.run(["git", "clone", "-q", "--bare", str(top / "first"), str(top / "hub.git")], check=True)
        tries, taken = race(top, given.clones)
        subprocess.run(["git", "clone", "-q", str(top / "hub.git"), str(top / "seen")], check=True)
        seen = rows(top / "seen")
    return tell(given.tasks, tries, taken, seen)


def tell(count: int, tries: list[list[Any]], taken: float, seen: dict[str, Dispatch]) -> int:
    """Print what was measured; return 0 where each task was claimed exactly once."""
    won = [one for one in tries if not one[3]]
    times = sorted(one[2] for one in won)
    pushes = [one[1] for one in won]
    print(f"claims: {len(won)} of {count}; lost tries: {len(tries) - len(won)}; {taken:.0f} s in all")
    print(
        f"pushes of the branch per claim: mean {statistics.mean(pushes):.2f}, most {max(pushes)}; one more for its ref"
    )
    print(f"seconds per claim: median {statistics.median(times):.2f}, slowest {times[-1]:.2f}")
    print(f"held by: {dict(Counter(row.holder for row in seen.values()))}")
    once = Counter(one[0] for one in won) == Counter(dict.fromkeys(seen, 1))
    claimed = sum(row.status == "claimed" for row in seen.values())
    return 0 if once and claimed == count else 1


if __name__ == "__main__":
    sys.exit(main())
