"""One of several writers: so many changes through the API, each a transaction of its own."""

from __future__ import annotations

import sys

from memento_git.ledger.store import Ledger
from memento_git.work.actions import tasks


def main(folder: str, run: str, changes: int) -> None:
    with Ledger.open(folder, actor="Bench <bench@example.invalid>") as ledger:
        for number in range(changes):
            ledger.change("task add", lambda tx, number=number: tasks.add_task(  # type: ignore[misc]
                tx, f"Task {number}", run=run, criteria=["its test passes"], body="Change it, then show it works."
            ))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
