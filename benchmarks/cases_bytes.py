"""Loose bytes that one change adds to `.git`, in ledgers of growing size and for the peers."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from cases_change import Ours
from measure import Row, loose_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ground import Ground

ROUNDS = 5
TASKS = 2_000
MOST_KB = 6.0


def grown(ground: Ground) -> list[Row]:
    tasks = ground.size(TASKS, 20)
    board, beads, peers = ground.backlog(tasks), ground.microbeads(tasks), ground.peers
    backlog = _each(board, ground, lambda: ground.call(
        board, peers.backlog, "task", "create", "One more", "-d", "Change it.", "--plain"
    ))  # fmt: skip

    def issue() -> None:
        ground.call(beads, peers.microbeads, "create", "One more", "-d", "Change it.")
        ground.call(beads, peers.microbeads, "sync")

    microbeads = _each(beads, ground, issue)
    peers_grew = {
        f"backlog.md `task create`, {tasks:,} tasks": backlog,
        f"microbeads `create` + `sync`, {tasks:,} tasks": microbeads,
    }
    rounds = ground.rounds(ROUNDS)
    rows = []
    for size, limit in ((tasks, MOST_KB), (ground.size(5_000, 50), None), (ground.size(20_000, 100), None)):
        folder = ground.copy(ground.ledger(size, worked=size == tasks))
        ours = Ours(ground, folder)
        added = _each(folder, ground, ours.add)
        ours.add()
        handed = _each(folder, ground, ours.create, 1)
        rows += [
            Row(f"loose bytes of `{verb}`, {size:,} tasks", value, peer, theirs, limit, count, "KB", absolute=True)
            for verb, value, count in (("task add", added, rounds), ("dispatch create", handed, 1))
            for peer, theirs in peers_grew.items()
            if verb == "task add" or peer.startswith("backlog")
        ]
    return rows


def _each(folder: Path, ground: Ground, step: Callable[[], object], rounds: int = 0) -> float:
    """Return the median of the kilobytes that a step adds below `.git/objects`."""
    git_dir = folder / ".git"
    added = []
    for _ in range(rounds or ground.rounds(ROUNDS)):
        before = loose_bytes(git_dir)
        step()
        added.append((loose_bytes(git_dir) - before) / 1000)
    return median(added)
