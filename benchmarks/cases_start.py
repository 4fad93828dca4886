"""What starting costs: help, and a small ledger's status, beside an interpreter that does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measure import Row, in_turn

if TYPE_CHECKING:
    from ground import Ground

ROUNDS = 21
MOST = 4.0
LIBRARIES = "import os, click, yaml; os._exit(0)"


def start(ground: Ground) -> list[Row]:
    folder, changed = ground.copy(ground.ledger(10)), ground.copy(ground.ledger(10))
    python = ground.peers.ours / "python"
    taken = in_turn({
        "pass": lambda: ground.call(folder, python, "-c", "pass"),
        "help": lambda: ground.call(folder, ground.memento, "--help"),
        "status": lambda: ground.call(folder, ground.memento, "status"),
        "add": lambda: ground.call(changed, ground.memento, "task", "add", "--title", "One more"),
        "git": lambda: ground.git(folder, "status", "--porcelain"),
        "click": lambda: ground.call(folder, python, "-c", LIBRARIES.replace(", yaml", "")),
        "libraries": lambda: ground.call(folder, python, "-c", LIBRARIES),
    }, ground.rounds(ROUNDS))  # fmt: skip
    base, count = taken["pass"].median, taken["pass"].samples
    return [
        Row("`memento --help`", taken["help"].median, "`python -c pass`", base, MOST, count),
        Row("`memento status`, 10 tasks", taken["status"].median, "`python -c pass`", base, MOST, count),
        Row("`memento task add`, 10 tasks", taken["add"].median, "`python -c pass`", base, None, count),
        Row("`memento status`, 10 tasks", taken["status"].median, "`git status`", taken["git"].median, None, count),
        Row("nothing of ours: `import click`", taken["click"].median, "`python -c pass`", base, None, count),
        Row("nothing of ours: `import click, yaml`", taken["libraries"].median, "`python -c pass`", base, None, count),
    ]
