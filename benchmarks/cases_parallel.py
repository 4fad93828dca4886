"""Eight processes that change the ledger at once, beside a shell script with a lock and git's plumbing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ground import same_changes
from measure import Failed, Row, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ground import Ground

HERE = Path(__file__).resolve().parent
ROUNDS = 3
PROCESSES = 8
CHANGES = 50
MOST = 1.5


def parallel(ground: Ground) -> list[Row]:
    changes = ground.size(CHANGES, 3)
    template = ground.ledger(10)
    run = ground.note(template)
    python = str(ground.peers.ours / "python")
    add = f"{ground.memento} task add --run {run}"
    ways: dict[str, Callable[[int], list[str]]] = {
        "shell": lambda one: [
            "bash", str(HERE / "parallel.sh"), f".memento/runs/{run}", str(one * changes + 1), str((one + 1) * changes)
        ],
        "api": lambda _: [python, str(HERE / "worker.py"), ".", run, str(changes)],
        "cli": lambda _: [
            "bash", "-c", f"for i in $(seq {changes}); do {add} --title T$i || exit; done"
        ],
    }  # fmt: skip
    taken: dict[str, list[float]] = {name: [] for name in ways}
    landed: dict[str, list[int]] = {name: [] for name in ways}
    intact = dict.fromkeys(ways, True)
    for _ in range(ground.rounds(ROUNDS)):
        for name, arguments in ways.items():
            took, count, sound = _one(ground, template, arguments)
            taken[name].append(took)
            landed[name].append(count)
            intact[name] = intact[name] and sound
    wanted = PROCESSES * changes
    rows = [
        Row(f"{PROCESSES} processes x {changes} changes, {label}", median(taken[name]), "lock + plumbing in a shell",
            median(taken["shell"]), MOST, ground.rounds(ROUNDS))
        for name, label in (("api", "Python API"), ("cli", "a command each"))
    ]  # fmt: skip
    rows += [
        Row(f"changes there afterwards, {label} (index {'intact' if intact[name] else 'DAMAGED'})", min(landed[name]),
            "wanted", wanted, 1.0 if intact[name] else 2.0, ground.rounds(ROUNDS), "changes", more_is_better=True)
        for name, label in (("api", "Python API"), ("cli", "a command each"))
    ]  # fmt: skip
    return rows


def _one(ground: Ground, template: Path, arguments: Callable[[int], list[str]]) -> tuple[float, int, bool]:
    """Return the milliseconds, the commits whose file is there, and whether the user's own work is untouched."""
    folder = ground.copy(template)
    (folder / "staged.py").write_text("staged = True\n", encoding="utf-8")
    ground.git(folder, "add", "staged.py")
    (folder / "src" / "part0000" / "module_1.py").write_text("edited = True\n", encoding="utf-8")
    mine = same_changes(folder)
    before, commits_before = _tasks(ground, folder), _commits(ground, folder)

    def work() -> None:
        processes = [
            subprocess.Popen(
                arguments(one), cwd=folder, env=ground.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            for one in range(PROCESSES)
        ]
        for process in processes:
            _, errors = process.communicate()
            if process.returncode:
                raise Failed(errors.decode(errors="replace")[-400:])

    took = seconds(work) * 1000
    ground.git(folder, "fsck", "--no-dangling")
    commits = _commits(ground, folder) - commits_before
    there = _tasks(ground, folder) - before
    return took, min(there, commits), same_changes(folder) == mine


def _commits(ground: Ground, folder: Path) -> int:
    return int(ground.git(folder, "rev-list", "--count", "HEAD"))


def _tasks(ground: Ground, folder: Path) -> int:
    listed = ground.git(folder, "ls-tree", "-r", "--name-only", "HEAD", "--", ".memento/runs").splitlines()
    return sum(1 for path in listed if path.endswith("/task.md"))
