"""The pre-commit framework runs our hook: the definition is its own, the framework is the real one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from memento_git.work.actions import hooks
from tests.play import commit_all, git

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
    rev = commit_all(hooks, "hooks")
    config = {"repos": [{"repo": f"file://{hooks}", "rev": rev, "hooks": [{"id": "memento-check"}]}]}
    (play.root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    play.planned()
    play.proven()
    commit_all(play.root, "hooks")
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


def files(play: Play) -> dict[str, str]:
    place = play.root / ".git" / "hooks"
    return {one.name: one.read_text() for one in place.iterdir() if not one.name.endswith(".sample")}


def code(play: Play, text: str) -> subprocess.CompletedProcess[str]:
    (play.root / "app.py").write_text(text)
    git(play.root, "add", "app.py")
    return commit(play, "code")


@pytest.mark.parametrize("theirs", ["", "#!/bin/sh\necho ran >> .git/ran\n"])
@pytest.mark.parametrize("first", ["ours", "the framework's"])
def test_our_hook_and_the_frameworks_are_installed_again_and_again_in_any_order(
    hooked: Play, theirs: str, first: str
) -> None:
    place = hooked.root / ".git" / "hooks"
    assert framework(hooked.root, "uninstall").returncode == 0
    if theirs:
        (place / "pre-commit").write_text(theirs)
        (place / "pre-commit").chmod(0o755)
    before = files(hooked)
    if first == "the framework's":
        assert framework(hooked.root, "install").returncode == 0
    for _ in range(2):
        hooks.install(hooked.ledger.git)
        assert framework(hooked.root, "install").returncode == 0
        assert hooks.listed(hooked.ledger.git)[0][:4] == ("pre-commit", "installed", bool(theirs), True)
    done = code(hooked, "answer = 43\n")
    assert done.returncode == 0, done.stderr
    assert not theirs or (hooked.root / ".git" / "ran").read_text() == "ran\n"
    git(hooked.root, "rm", "-q", str(next((hooked.root / ".memento" / "runs").glob("*/tasks/*/*/*-claimed-*.yaml"))))
    assert commit(hooked, "an event less").stderr.count("D002 error") == 2
    git(hooked.root, "reset", "-q", "--hard")

    hooks.uninstall(hooked.ledger.git)
    assert code(hooked, "answer = 44\n").returncode == 0
    assert not theirs or (hooked.root / ".git" / "ran").read_text() == "ran\n" * 3
    assert framework(hooked.root, "uninstall").returncode == 0
    assert files(hooked) == before


@pytest.mark.parametrize("mend", ["install", "uninstall"])
@pytest.mark.parametrize("again", [False, True])
def test_a_framework_that_an_earlier_version_put_aside_is_installed_itself(
    hooked: Play, mend: str, again: bool
) -> None:
    place = hooked.root / ".git" / "hooks"
    known = files(hooked)["pre-commit"]
    (place / "pre-commit").rename(place / f"pre-commit{hooks.BEFORE}")
    (place / "pre-commit").write_text(hooks.script("pre-commit").rpartition(hooks.END)[0])
    (place / "pre-commit").chmod(0o755)
    if again:
        assert framework(hooked.root, "install").returncode == 0
        assert "migration mode" in code(hooked, "answer = 43\n").stderr
    getattr(hooks, mend)(hooked.ledger.git)
    done = code(hooked, "answer = 44\n")
    assert done.returncode == 0, done.stderr
    assert files(hooked)["pre-commit"] == known
    assert set(files(hooked)) == (
        {"pre-commit"} if mend == "uninstall" else {"pre-commit", "pre-commit.legacy", "post-merge"}
    )


def test_a_framework_that_runs_another_one_is_left_alone(hooked: Play) -> None:
    place = hooked.root / ".git" / "hooks"
    (place / "pre-commit.legacy").write_text(files(hooked)["pre-commit"])
    before = files(hooked)
    with pytest.raises(hooks.HookUnmoved, match="another one"):
        hooks.install(hooked.ledger.git)
    assert files(hooked) == before


def test_a_framework_that_was_put_aside_is_not_overwritten_by_a_hook_of_the_users(hooked: Play) -> None:
    place = hooked.root / ".git" / "hooks"
    (place / "pre-commit").rename(place / f"pre-commit{hooks.BEFORE}")
    (place / "pre-commit").write_text("#!/bin/sh\nexit 0\n")
    before = files(hooked)
    with pytest.raises(hooks.HookTaken):
        hooks.install(hooked.ledger.git)
    assert files(hooked) == before
