"""A pool of workers, one of them killed every few seconds: is each task done exactly once, and how long does it take?

    python benchmarks/pool.py [--tasks 200] [--jobs 4] [--kill 5] [--seconds 1]

The same commands are run one after another by a shell, in a repository beside it, for comparison.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from memento_git.ledger import handovers
from memento_git.ledger.store import Ledger
from memento_git.work.actions import plans, runs, setup, tasks
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction

WORK = "sleep {seconds}; echo done > $MEMENTO_TASK.txt"
CHECK = "test -s {task}.txt"


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MEMENTO_"))}
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "Bench"), ("EMAIL", "bench@example.invalid"))}  # fmt: skip
    return {**kept, **who, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    for number in range(100):
        (folder / f"code{number}.py").write_text(f"x = {number}\n")
    subprocess.run("git add . && git commit -qm code", shell=True, cwd=folder, check=True)


def fill(folder: Path, count: int) -> None:
    """Make a run with a plan and tasks, each proven by a command of its own."""

    def act(tx: Transaction) -> None:
        run = runs.start_run(tx, "Work in a pool")
        plans.approve_plan(tx, plans.draft_plan(tx, "Plan", "Do them all.", run=run))
        for number in range(count):
            task = tasks.add_task(tx, f"Task {number}", run=run, attempts=20)
            tasks.revise_task(tx, task, commands=[CHECK.format(task=task)])

    with Ledger.open(folder) as ledger:
        setup.init_ledger(ledger)
        ledger.change("fill", act)


def one_after_another(folder: Path, count: int, seconds: float) -> float:
    """Run the same commands by a shell, with nothing recorded."""
    script = (
        f"for i in $(seq {count}); do MEMENTO_TASK=task_$i sh -c '{WORK.format(seconds=seconds)}' "
        "&& test -s task_$i.txt || exit 1; done"
    )
    begun = time.monotonic()
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)
    return time.monotonic() - begun


def pooled(folder: Path, jobs: int, seconds: float, pause: float) -> tuple[float, int, str]:
    """Run the pool, and kill one of its workers every few seconds; return its time, the kills, its last words."""
    command = [sys.executable, "-m", "memento_git", "dispatch", "work", "--jobs", str(jobs), "--executor", "sh", "--",
               "sh", "-c", WORK.format(seconds=seconds)]  # fmt: skip
    chance = random.Random(1)
    begun = time.monotonic()
    with tempfile.TemporaryFile() as said, Ledger.open(folder) as ledger:
        pool = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        killed, due = 0, begun + pause
        while pool.poll() is None:
            time.sleep(0.1)
            if time.monotonic() < due:
                continue
            alive = [one.worker.pid for one in handovers.listed(ledger.git) if one.worker and one.is_live]
            if alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(alive), signal.SIGKILL)
                    killed, due = killed + 1, time.monotonic() + pause
        taken = time.monotonic() - begun
        said.seek(0)
        return taken, killed, said.read().decode()


def tally(folder: Path) -> tuple[Counter[str], Counter[int], int, int]:
    """Return tasks by state, tasks by number of completions, how many are proven, and the recoveries."""
    with Ledger.open(folder) as ledger:
        view = ledger.view()
        state = RunState(view, view.runs()[0])
        events = {task: [seen.event.do for seen in state.folded(task).events] for task in state.ids("task")}
        proven = sum(state.proof(task).proven for task in events)
        return (
            Counter(state.task_status(task) for task in events),
            Counter(done.count("completed") for done in events.values()),
            proven,
            sum(done.count("recovered") for done in events.values()),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--kill", type=float, default=5.0)
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memento-pool-") as scratch:
        top = Path(scratch)
        os.environ |= environment(top)
        for name in ("shell", "pool"):
            repository(top / name)
        fill(top / "pool", given.tasks)
        shell = one_after_another(top / "shell", given.tasks, given.seconds)
        taken, killed, said = pooled(top / "pool", given.jobs, given.seconds, given.kill)
        states, completions, proven, recovered = tally(top / "pool")
        left = len(handovers.listed(Ledger.open(top / "pool").git))
    print(said)
    print(f"tasks: {dict(states)}; completions per task: {dict(completions)}; proven: {proven}")
    print(f"workers killed: {killed}; hand-offs recovered: {recovered}; left behind: {left}")
    print(f"pool of {given.jobs}: {taken:.1f} s; one after another by a shell: {shell:.1f} s")
    good = completions == Counter({1: given.tasks}) and proven == given.tasks and not left
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
