"""The pre-commit framework runs our hook: the definition is its own, the framework is the real one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.play import git

if TYPE_CHECKING:
    from tests.play import Play

ROOT = Path(__file__).parent.parent
TOOLS = Path(sys.executable).parent


def definition() -> dict[str, Any]:
    found, _notes = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return dict(found)


def framework(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the framework with our command on its path."""
    environment = {
        **os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(folder.parent / "pre-commit-home"), "PRE_COMMIT_COLOR": "never",
    }  # fmt: skip
    return subprocess.run(
        [TOOLS / "pre-commit", *arguments], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture
def hooked(play: Play) -> Play:
    """A ledger whose repository runs our hook as a repository of hooks defines it, with the command installed here.

    Without a network the framework cannot build an environment with our dependencies, so `language` is system.
    """
    hooks = play.root.parent / "hooks"
    git(play.root.parent, "init", "-q", str(hooks))
    (hooks / ".pre-commit-hooks.yaml").write_text(yaml.safe_dump([{**definition(), "language": "system"}]))
    git(hooks, "add", "--all")
    git(hooks, "commit", "-qm", "hooks")
    rev = git(hooks, "rev-parse", "HEAD")
    config = {"repos": [{"repo": f"file://{hooks}", "rev": rev, "hooks": [{"id": "memento-check"}]}]}
    (play.root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    play.planned()
    play.proven()
    git(play.root, "add", "--all")
    git(play.root, "commit", "-qm", "hooks")
    assert framework(play.root, "install").returncode == 0
    return play


def commit(play: Play, message: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(play.root.parent / "pre-commit-home"),
    }  # fmt: skip
    return subprocess.run(
        ["git", "commit", "-qm", message], cwd=play.root, capture_output=True, text=True, check=False, env=environment
    )


def test_the_framework_accepts_the_definition() -> None:
    done = framework(ROOT, "validate-manifest", ".pre-commit-hooks.yaml")
    assert done.returncode == 0, done.stdout
    assert definition()["language"] == "python"


def test_a_commit_that_removes_an_event_is_stopped_and_nothing_is_staged_or_written(hooked: Play) -> None:
    path = next((hooked.root / ".memento" / "runs").glob("*/tasks/*/*/*-claimed-*.yaml"))
    git(hooked.root, "rm", "-q", str(path))
    (hooked.root / "app.py").write_text("answer = 43\n")
    before = git(hooked.root, "status", "--porcelain")
    done = commit(hooked, "tidy")
    assert done.returncode == 1
    assert "D002 error" in done.stdout + done.stderr
    assert git(hooked.root, "status", "--porcelain") == before


def test_a_commit_without_ledger_files_and_one_with_a_sound_one_pass(hooked: Play) -> None:
    (hooked.root / "app.py").write_text("answer = 43\n")
    git(hooked.root, "add", "app.py")
    assert commit(hooked, "code").returncode == 0
    (hooked.root / ".memento" / "README.md").write_text("This is our ledger.\n")
    git(hooked.root, "add", "--all")
    done = commit(hooked, "a word on the ledger")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_commit_of_some_paths_is_checked_by_the_index_that_git_makes_for_it(hooked: Play) -> None:
    path = next((hooked.root / ".memento" / "runs").glob("*/tasks/*/*/*-claimed-*.yaml"))
    git(hooked.root, "rm", "-q", str(path))
    (hooked.root / "app.py").write_text("answer = 43\n")
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["git", "commit", "-qm", "code alone", "--", "app.py"],
        cwd=hooked.root, capture_output=True, text=True, check=False,
        env={**environment, "PRE_COMMIT_HOME": str(hooked.root.parent / "pre-commit-home")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
