"""The workflow of docs/ci.md as a runner does it: act takes the action apart, installs Memento and runs its steps.

The actions of others that it uses cannot be fetched here. They are played: Python is the one that runs the tests, and
what is uploaded is kept.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.play import git
from tests.served import played
from tests.test_ci import PAGE, ROOT, requested
from tests.test_comments import TOKEN, Forge

if TYPE_CHECKING:
    from tests.play import Play

ACT: Final = Path(sys.executable).with_name("act")
PLAYED: Final = """\
name: played
inputs:
  python-version: {{default: ""}}
  sarif_file: {{default: ""}}
  category: {{default: ""}}
runs:
  using: composite
  steps:
    - shell: bash
      env:
        FILE: ${{{{ inputs.sarif_file }}}}
      run: {run}
"""
MADE_OF: Final = ("memento_git", "action.yml", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md")


class Runner:
    """A runner on this machine, which has the actions that the workflow names in folders."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root = root
        self.place = place
        self.uploaded = place / "uploaded.sarif"
        found = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
        assert found
        (place / "ledger.yml").write_text(found[1])
        own = place / "memento"
        own.mkdir()
        for name in MADE_OF:
            copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copied(ROOT / name, own / name)
        self.played("setup-python", f'echo "{Path(sys.executable).parent}" >> "$GITHUB_PATH"')
        self.played("codeql-action/upload-sarif", f'cp "$FILE" "{self.uploaded}"')

    def played(self, name: str, run: str) -> None:
        folder = self.place / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "action.yml").write_text(PLAYED.format(run=run))

    def request(self, target: str, api: str) -> subprocess.CompletedProcess[str]:
        """Do the job for a request of the branch `feature` to a commit of main."""
        event = self.place / "event.json"
        tip = git(self.root, "rev-parse", "feature")
        request = {"number": 7, "head": {"ref": "feature", "sha": tip}, "base": {"ref": "main", "sha": target}}
        event.write_text(json.dumps({"pull_request": request, "repository": {"default_branch": "main"}}))
        actions = {
            "actions/setup-python@v6": "setup-python",
            "github/codeql-action@v4": "codeql-action",
            "OWNER/REPOSITORY@REF": "memento",
        }
        places = [f"--local-repository={name}={self.place / folder}" for name, folder in actions.items()]
        return subprocess.run(
            [ACT, "pull_request", "-C", self.root, "-W", self.place / "ledger.yml", "-e", event, *places,
             "--platform=ubuntu-latest=-self-hosted", "--action-cache-path", self.place / "cache", "--no-cache-server",
             "--env", f"GITHUB_API_URL={api}", "--env", "NO_PROXY=127.0.0.1", "-s", f"GITHUB_TOKEN={TOKEN}"],
            capture_output=True, text=True, check=False, env={**os.environ, "PIP_NO_COMPILE": "1"},
        )  # fmt: skip


@pytest.mark.skipif(not ACT.exists(), reason="act comes for Linux alone")
def test_a_runner_does_the_job_of_the_page_for_a_good_request_and_a_bad_one(play: Play, tmp_path: Path) -> None:
    git(play.root, "remote", "add", "origin", "https://github.com/acme/app.git")
    target, task = requested(play)
    runner = Runner(play.root, tmp_path)
    with played(Forge()) as forge:
        done = runner.request(target, forge.url)
        assert done.returncode == 0, done.stdout + done.stderr
        (comment,) = forge.comments
        assert task in comment["body"]
        assert f"This is about {git(play.root, 'rev-parse', 'feature')}." in comment["body"]
        assert json.loads(runner.uploaded.read_text())["version"] == "2.1.0"

        git(play.root, "checkout", "-q", "feature")
        (claimed,) = (play.root / ".memento" / "runs").rglob("*-claimed-*.yaml")
        claimed.unlink()
        play.commit_all("tampered")
        git(play.root, "checkout", "-q", "--detach", target)
        git(play.root, "merge", "-q", "--no-edit", "--no-ff", "feature")
        runner.played("codeql-action/upload-sarif", "exit 1")  # as where the token may not
        done = runner.request(target, forge.url)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "::error" in done.stdout
        (comment,) = forge.comments
        assert "**`memento check` found" in comment["body"]
    assert git(play.root, "status", "--porcelain") == ""
