"""Much at once: ten thousand tasks in one transaction, a thousand transactions, beside `git fast-import` itself."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from ground import ACTOR
from measure import Row, seconds

from memento_git.ledger import layout
from memento_git.ledger.store import Ledger
from memento_git.work.actions import tasks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ground import Ground

ROUNDS = 3
TASKS = 10_000
COMMITS = 1_000
TEXT = (
    b"---\nid: %s\ntitle: Task %d\nat: 2026-01-01T00:00:00.000Z\nby: Bench\ncriteria:\n- its test passes\n---\nText.\n"
)


def bulk(ground: Ground) -> list[Row]:
    """Return rates, per second."""
    number, commits = ground.size(TASKS, 50), ground.size(COMMITS, 5)
    template = ground.ledger(10)
    run = ground.note(template)
    taken: dict[str, list[float]] = {}
    for _ in range(ground.rounds(ROUNDS)):
        taken.setdefault("import", []).append(number / _import(ground.copy(template), run, number))
        taken.setdefault("git import", []).append(number / _fast_import(ground, template, run, number, at_once=True))
        taken.setdefault("commits", []).append(commits / _commits(ground.copy(template), run, commits))
        taken.setdefault("git commits", []).append(
            commits / _fast_import(ground, template, run, commits, at_once=False)
        )
    count = ground.rounds(ROUNDS)
    return [
        Row(f"{number:,} tasks in one transaction", median(taken["import"]), "`git fast-import`, one commit",
            median(taken["git import"]), None, count, "tasks/s", more_is_better=True),
        Row(f"{commits:,} commits through the API", median(taken["commits"]), "`git fast-import`, one process",
            median(taken["git commits"]), None, count, "commits/s", more_is_better=True),
    ]  # fmt: skip


def _import(folder: Path, run: str, number: int) -> float:
    def work() -> None:
        with Ledger.open(folder, actor=ACTOR) as ledger, ledger.transaction("import") as tx:
            for one in range(number):
                tasks.add_task(tx, f"Task {one}", run=run, criteria=["its test passes"], body="Text.")

    return seconds(work)


def _commits(folder: Path, run: str, number: int) -> float:
    def work() -> None:
        with Ledger.open(folder, actor=ACTOR) as ledger:
            for one in range(number):
                with ledger.transaction("task add") as tx:
                    tasks.add_task(tx, f"Task {one}", run=run, criteria=["its test passes"], body="Text.")

    return seconds(work)


def _fast_import(ground: Ground, template: Path, run: str, number: int, *, at_once: bool) -> float:
    folder = ground.copy(template)
    head = ground.git(folder, "rev-parse", "HEAD").strip()
    stream = b"".join(_stream(run, head, number, at_once=at_once))
    return seconds(lambda: ground.git(folder, "fast-import", "--quiet", "--force", data=stream))


def _stream(run: str, head: str, number: int, *, at_once: bool) -> Iterator[bytes]:
    for one in range(number):
        if one == 0 or not at_once:
            start = f"from {head}\n" if one == 0 else ""
            yield (
                "commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1700000000 +0000\n"
                f"data 6\nimport\n{start}"
            ).encode()
        task = f"task_{one % 10}{one:011d}"
        text = TEXT % (task.encode(), one)
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (layout.prose_path(run, task).encode(), len(text), text)
