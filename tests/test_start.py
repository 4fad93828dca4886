"""What a short command costs: the modules that it loads, and the processes of git that it starts."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Play

SCRIPT = """
import sys
from memento_git.cli.boundary import run
code = run(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return {*done.stderr.split()}


def test_status_after_a_change_lays_a_patch_over_what_is_kept_without_folding_anything(play: Play) -> None:
    play.planned()
    play.proven()
    loaded(play.root, "status")  # and keeps that
    play.claimed(play.task("Another"))
    assert "memento_git.folding.fold" in loaded(play.root, "status")  # and keeps what is other
    assert loaded(play.root, "status").isdisjoint({"memento_git.folding.fold", "memento_git.work.state", "yaml"})


def test_status_of_what_is_kept_loads_nothing_that_judges_or_writes_records(play: Play) -> None:
    play.planned()
    play.claimed(play.task("At work"))
    play.task("Waiting")
    loaded(play.root, "status")  # and keeps that
    found = loaded(play.root, "status")
    assert found.isdisjoint({"memento_git.model.types", "memento_git.ledger.publish", "memento_git.texts.secrets"})
    assert found.isdisjoint({"secrets", "random", "tempfile", "yaml"})
