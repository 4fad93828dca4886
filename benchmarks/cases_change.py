"""One state change as a whole process: in a small and a large ledger, and beside 100,000 code files."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from cases_start import LIBRARIES
from measure import Row, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ground import Ground

ROUNDS = 9
HALF_OF_LIFECYCLE = 0.5
TENTH_OF_BACKLOG = 0.1
CODE = 100_000
LIMIT_CODE = 0.6
BARE = "nothing of ours: `import click, yaml`, then `git add` + `git commit --only`"
BARE_INDEX = "nothing of ours: `import click, yaml`, then `git update-index` of a file"


class Ours:
    """Our verbs, each a process of its own; one task goes through them in each round."""

    def __init__(self, ground: Ground, folder: Path) -> None:
        self.ground = ground
        self.folder = folder
        self.task = self.dispatch = ""

    def _memento(self, *arguments: str) -> str:
        return self.ground.call(self.folder, self.ground.memento, *arguments, "--json")

    def add(self) -> None:
        told = self._memento(
            "task", "add", "--title", "One more", "--body", "Change it.", "--accept", "its test passes"
        )
        self.task = json.loads(told)["task"]["id"]

    def create(self) -> None:
        self.dispatch = json.loads(self._memento("dispatch", "create", self.task, "--executor", "agent"))["dispatch_id"]

    def claim(self) -> None:
        self._memento("dispatch", "claim", self.dispatch)

    def block(self) -> None:
        self._memento("task", "block", self.task, "--reason", "waits for an answer")

    def steps(self, size: int) -> dict[str, Callable[[], object]]:
        verbs = {"task add": self.add, "dispatch create": self.create, "dispatch claim": self.claim,
                 "task block": self.block}  # fmt: skip
        return {f"`{name}`, {size:,} tasks": verb for name, verb in verbs.items()}


class Plain:
    """Plain git: a new file of the same size, added and committed alone."""

    def __init__(self, ground: Ground, folder: Path) -> None:
        self.ground = ground
        self.folder = folder
        self.number = 0

    def libraries(self) -> None:
        """Start an interpreter that imports what a command line of ours stands on, and ends."""
        self.ground.call(self.folder, self.ground.peers.ours / "python", "-c", LIBRARIES)

    def libraries_and_commit(self) -> None:
        self.libraries()
        self.commit()

    def libraries_and_index(self) -> None:
        self.libraries()
        self.ground.git(self.folder, "update-index", "--add", "--", self._written())

    def commit(self) -> None:
        path = self._written()
        self.ground.git(self.folder, "add", "--", path)
        self.ground.git(self.folder, "commit", "-q", "--only", "-m", f"note {self.number}", "--", path)

    def _written(self) -> str:
        self.number += 1
        path = f"notes/{self.number % 32:02d}/note{self.number}.md"
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        head = f"---\nnumber: {self.number}\nat: {time.time_ns()}\n---\n"
        (self.folder / path).write_text(head + "Change it.\n" * 20, encoding="utf-8")
        return path


def change(ground: Ground) -> list[Row]:
    """Time all of them in turn: ours at two sizes, memento-lifecycle, backlog.md, microbeads, plain git."""
    small, large = ground.size(10, 10), ground.size(2_000, 20)
    steps: dict[str, Callable[[], object]] = {
        **(few := Ours(ground, ground.copy(ground.ledger(small))).steps(small)),
        **(many := Ours(ground, ground.copy(ground.ledger(large))).steps(large)),
        **(peers := _peers(ground, large)),
        BARE: Plain(ground, ground.copy(ground.plain())).libraries_and_commit,
    }
    taken = in_turn(steps, ground.rounds(ROUNDS))
    lifecycle, created, edited, issue, git = peers
    all_verbs, adds = [*few, *many], [name for name in (*few, *many) if "task add" in name]
    events = [name for name in (*few, *many) if "claim" in name or "block" in name]
    pairs = [
        (lifecycle, HALF_OF_LIFECYCLE, all_verbs),
        (lifecycle, None, [BARE]),
        (created, TENTH_OF_BACKLOG, adds),
        (edited, TENTH_OF_BACKLOG, events),
        (issue, None, adds[-1:]),
        (git, None, adds[-1:]),
    ]
    return [
        Row(name, taken[name].median, peer, taken[peer].median, limit, taken[name].samples)
        for peer, limit, names in pairs
        for name in dict.fromkeys(names)
    ]


def _peers(ground: Ground, tasks: int) -> dict[str, Callable[[], object]]:
    peers = ground.peers
    store, run = ground.lifecycle(tasks, worked=True)
    store = ground.copy(store)
    board, beads = ground.backlog(tasks), ground.microbeads(tasks)
    lifecycle, backlog, microbeads = peers.lifecycle / "memento", peers.backlog, peers.microbeads
    plain = Plain(ground, ground.copy(ground.plain()))
    edits = iter(range(1, 1000))

    def enqueue() -> None:
        ground.call(store, lifecycle, "--workspace", str(store), "--run-id", run, "--title", "One more",
                    "--body", "Change it.", "enqueue-event", "--json")  # fmt: skip

    def create_task() -> None:
        ground.call(
            board, backlog, "task", "create", "One more", "-d", "Change it.", "--ac", "its test passes", "--plain"
        )

    def edit_task() -> None:
        ground.call(board, backlog, "task", "edit", str(next(edits)), "--notes", f"Seen {time.time_ns()}", "--plain")

    def create_issue() -> None:
        ground.call(beads, microbeads, "create", "One more", "-d", "Change it.")
        ground.call(beads, microbeads, "sync")

    size = f"{tasks:,} tasks"
    return {
        f"memento-lifecycle `enqueue-event` (no commit), {size}": enqueue,
        f"backlog.md `task create`, autoCommit, {size}": create_task,
        f"backlog.md `task edit`, autoCommit, {size}": edit_task,
        f"microbeads `create` + `sync`, {size}": create_issue,
        "`git add` + `git commit --only`, no ledger": plain.commit,
    }


def code(ground: Ground) -> list[Row]:
    """Time a change in a repository of many code files beside plain git in the same repository."""
    files, tasks = ground.size(CODE, 300), 10
    folder = ground.ledger(tasks, files)
    peer = f"`git add` + `git commit --only`, {files:,} files"
    plain = Plain(ground, folder)
    steps: dict[str, Callable[[], object]] = {peer: plain.commit}
    ours = Ours(ground, folder).steps(tasks)
    steps |= {**ours, BARE_INDEX: plain.libraries_and_index}
    taken = in_turn(steps, ground.rounds(ROUNDS), warm=2)
    return [
        Row(
            f"{name}, {files:,} code files",
            taken[name].median,
            peer,
            taken[peer].median,
            LIMIT_CODE if name in ours else None,
            taken[name].samples,
        )
        for name in (*ours, BARE_INDEX)
    ]
