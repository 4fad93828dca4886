"""update: the right installer's command, never run unasked, and none for a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import update

if TYPE_CHECKING:
    from tests.play import Call


@pytest.mark.parametrize(
    ("prefix", "argv"),
    [
        ("/home/ada/.local/share/pipx/venvs/memento-git", ["pipx", "upgrade", "memento-git"]),
        ("/home/ada/.local/share/uv/tools/memento-git", ["uv", "tool", "upgrade", "memento-git"]),
        ("/opt/tools/memento-git", ["/py", "-m", "pip", "install", "--upgrade", "memento-git"]),
        ("/home/ada/uv/memento-git", ["/py", "-m", "pip", "install", "--upgrade", "memento-git"]),
        ("/home/ada/project/.venv", ["/py", "-m", "pip", "install", "--upgrade", "memento-git"]),
    ],
)
def test_each_installation_has_its_installer(prefix: str, argv: list[str]) -> None:
    assert update.command(prefix, "/py") == argv


def test_a_checkout_is_not_updated_by_an_installer(cli: Call) -> None:
    code, out, _ = cli("update", "--json")
    assert (code, json.loads(out)["error"]) == (1, "installed_from_checkout")


@pytest.mark.parametrize("told", ['{"dir_info": {"editable": true}}', '{"dir_info":{"editable":true}}', None])
def test_a_checkout_is_known_whoever_installed_it_and_where_nobody_did(
    monkeypatch: pytest.MonkeyPatch, told: str | None
) -> None:
    class Installed:
        def __init__(self, name: str) -> None:
            if told is None:
                raise PackageNotFoundError(name)

        def read_text(self, _: str) -> str | None:
            return told

    monkeypatch.setattr(update, "distribution", Installed)
    with pytest.raises(update.FromCheckout):
        update.plan()


def test_an_installed_wheel_shows_its_command_and_runs_it_when_asked(tmp_path: Path) -> None:
    """A folder with a distribution of our name and this package stands for an installation without its own pip."""
    import memento_git

    site = tmp_path / "site"
    (site / "memento_git-0.1.0.dist-info").mkdir(parents=True)
    (site / "memento_git-0.1.0.dist-info" / "METADATA").write_text("Name: memento-git\nVersion: 0.1.0\n")
    paths = [str(site), str(Path(memento_git.__path__[0]).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1"}
    command = [sys.executable, "-m", "memento_git", "update", "--json"]
    shown = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, cwd=tmp_path).stdout)
    assert shown["steps"] == [{"command": shown["steps"][0]["command"], "ran": False}]
    assert shown["steps"][0]["command"][1:] == ["-m", "pip", "install", "--upgrade", "memento-git"]
    (tmp_path / "pip.py").write_text("raise SystemExit(7)\n")  # what `python -m pip` would run here
    ran = subprocess.run([*command, "--run"], env=environment, capture_output=True, check=False, cwd=tmp_path)
    assert (ran.returncode, json.loads(ran.stdout)["steps"][0]["ran"]) == (0, True)
    environment["PIP_PROGRESS_BAR"] = "none of those that pip knows"
    failed = subprocess.run([*command, "--run"], env=environment, capture_output=True, check=False, cwd=tmp_path)
    assert (failed.returncode, json.loads(failed.stdout)["error"]) == (1, "update_failed")
