"""What routing costs beside `status`, right after a change: `python benchmarks/cost_routing.py [--tasks N]`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from ground import fill
from measure import call, environment, seconds

ROUNDS: Final = 11
ENTRY: Final = (sys.executable, "-c", "from memento_git.__main__ import main; main()")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, place = Path(folder) / "home", Path(folder) / "ledger"
        home.mkdir()
        place.mkdir()
        measure(place, environment(home), given.tasks, given.rounds)


def measure(place: Path, env: dict[str, str], tasks: int, rounds: int) -> None:
    """Print both medians, each command asked in turn about a ledger that has just changed."""
    call(("git", "init", "-q"), place, env)
    (place / "a.py").write_text("answer = 42\n")
    call(("git", "add", "a.py"), place, env)
    call(("git", "commit", "-qm", "code"), place, env)
    fill(place, tasks, worked=True)
    call((*ENTRY, "status"), place, env)
    taken: dict[str, list[float]] = {"status": [], "task route": []}
    for _ in range(rounds):
        for name, told in taken.items():
            made = json.loads(call((*ENTRY, "task", "add", "--title", "One more", "--json"), place, env))
            wanted = ("status",) if name == "status" else ("task", "route", made["task"]["id"], "--no-health")
            command = (*ENTRY, *wanted, "--json")
            told.append(seconds(partial(call, command, place, env)) * 1000)
    ours, theirs = median(taken["task route"]), median(taken["status"])
    print("| what | ours | beside | its | ratio | N |\n|---|---:|---|---:|---:|---:|")
    print(f"| `task route`, {tasks:,} tasks, after a change | {ours:,.0f} ms | `status` | {theirs:,.0f} ms "
          f"| {ours / theirs:.2f} | {rounds} |")  # fmt: skip


if __name__ == "__main__":
    main()
