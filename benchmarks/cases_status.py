"""Reading a large run: again and again, right after a change, and for the first time after a clone."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from statistics import median
from typing import TYPE_CHECKING

from measure import Failed, Row, in_turn, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from ground import Ground

ROUNDS = 9
FEW = 3
TASKS = 5_000
MOST = 0.25


def status(ground: Ground) -> list[Row]:
    """Time `status --json` of runs of the same tasks: all of them worked on, and all of them only added."""
    return [*_status(ground, worked=True), *_status(ground, worked=False)]


def _status(ground: Ground, *, worked: bool) -> list[Row]:
    tasks = ground.size(TASKS, 30)
    folder = ground.copy(ground.ledger(tasks, worked=worked))
    store, run = ground.lifecycle(tasks, worked=worked)
    lifecycle = ground.peers.lifecycle / "memento"
    ground.call(folder, ground.memento, "status", "--json")

    def theirs() -> None:
        ground.call(store, lifecycle, "--workspace", str(store), "--run-id", run, "status", "--json")

    def ours(*options: str) -> str:
        return ground.call(folder, ground.memento, "status", "--json", *options)

    def after_change() -> None:
        changed[0] -= seconds(lambda: ground.call(folder, ground.memento, "task", "add", "--title", "One more"))
        ours()

    changed = [0.0]
    taken = in_turn({"theirs": theirs, "ours": ours, "all": lambda: ours("--limit", "0")}, ground.rounds(ROUNDS))
    after = []
    for _ in range(ground.rounds(FEW)):
        changed[0] = 0.0
        after.append((seconds(after_change) + changed[0]) * 1000)
    first, shown = _first_read(ground, folder)
    name = f"{tasks:,} tasks, {'with their history' if worked else 'only added'}"
    peer = f"memento-lifecycle `status --json`, {name}"
    base, count = taken["theirs"].median, taken["theirs"].samples
    told = "progress shown" if shown else "no progress shown"
    return [
        Row(f"`status --json`, {name}", taken["ours"].median, peer, base, MOST, count),
        Row(f"`status --json --limit 0`, {name}", taken["all"].median, peer, base, MOST, count),
        Row(f"`status --json` right after a change, {name}", median(after), peer, base, None, len(after)),
        Row(f"`status --json`, first read after a clone ({told}), {name}", first, peer, base, None, 1),
    ]


def _first_read(ground: Ground, folder: Path) -> tuple[float, bool]:
    """Return the milliseconds of the first read of a clone, and whether a terminal saw that it is under way."""
    clone = ground.folder / "used" / "clone"
    shutil.rmtree(clone, ignore_errors=True)
    ground.git(ground.folder, "clone", "-q", "--no-local", str(folder), str(clone))
    seen = b""

    def read() -> None:
        nonlocal seen
        seen = _on_terminal([str(ground.memento), "status", "--json"], clone, ground.env)

    took = seconds(read) * 1000
    return took, b"reading the ledger" in seen


def _on_terminal(arguments: list[str], folder: Path, env: dict[str, str]) -> bytes:
    """Run a program whose error stream is a terminal; return what it wrote there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    if process.wait():
        raise Failed(b"".join(parts).decode(errors="replace")[-400:])
    return b"".join(parts)
