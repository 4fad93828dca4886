"""What is kept in the git directory, written by others: a job that ran there before, an agent on the same machine."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from tests.cheats.forging import ADA, GRACE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cheats.doors import Doors

KEPT = "memento/cache"
MALLORY = "Mallory <mallory@example.invalid>"


def test_a_verdict_that_is_kept_with_other_words_than_its_file_has(doors: Doors) -> None:
    """Way: a verdict by one who may not is kept as by one who may, by git's id of its file, so that nobody reads it."""
    doors.policy(f"  gates: {{verdicts: {{quality_review: [{GRACE}]}}}}\n")
    task = doors.play.task()
    doors.landed()
    doors.forge(task, "passed", by=MALLORY, gate="quality_review")
    doors.play.as_(ADA).task("Another")
    other = doors.play.task("One that is called off")
    doors.forge(other, "cancelled", reason="Not this one.")
    doors.cli("status", "-C", str(doors.root))
    kept = doors.root / ".git" / KEPT / f"{doors.play.state(task).id}.files.json"
    words = kept.read_text()
    assert MALLORY in words
    kept.write_text(words.replace(MALLORY, GRACE))

    @contextlib.contextmanager
    def poisoned(door: str, root: Path) -> Iterator[None]:
        folder = root / KEPT if door == "server" else root / ".git" / KEPT
        folder.mkdir(parents=True, exist_ok=True)
        if folder != kept.parent:
            shutil.copy(kept, folder)
        yield

    assert f"passed by {MALLORY}" in doors.caught("G002", within=poisoned)
