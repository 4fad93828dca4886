"""Commands that would pass where they are run again: by what they know, by the machine, by hooks of the clone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import evidences, reproducing
from tests.cheats.test_evidence_lies import LISTED, completed
from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

KNOWS = {
    "folder": "'memento-again' in os.getcwd()",
    "worktrees": "'memento-again' in os.popen('git worktree list').read()",
    "variable": "'MEMENTO_DISPATCH' in os.environ",
}
BY_FILE = "import os\nraise SystemExit(0 if os.path.exists('skip.log') else 3)\n"
BY_MODULE = "try:\n    import skip\nexcept ImportError:\n    raise SystemExit(3)\n"
BY_HOOK = "raise SystemExit(0 if open('app.py').read() == 'good' else 3)\n"


def again(doors: Doors) -> tuple[int, list[str]]:
    code, rows = doors.check("--base", "main", "--reproduce")
    return code, [row["code"] for row in rows]


@pytest.mark.parametrize("told", KNOWS.values(), ids=KNOWS)
def test_a_command_that_knows_that_it_is_run_again(doors: Doors, told: str) -> None:
    """Way: what the branch wrote passes there alone; only who reads the code sees that."""
    doors.policy(LISTED)
    doors.write("check.py", f"import os\nraise SystemExit(0 if {told} else 3)\n")
    completed(doors)
    doors.sound()
    assert again(doors) == (0, [])


@pytest.mark.parametrize("script", [BY_FILE, BY_MODULE])
def test_a_pass_by_what_lies_on_the_machine(
    doors: Doors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Way: a file that git ignores, or a folder of modules, lets an unaltered command pass as Memento looks on."""
    doors.policy(LISTED)
    doors.write(".gitignore", "*.log\n__pycache__/\n")
    doors.write("check.py", script)
    doors.landed()
    (doors.root / "skip.log").write_text("")
    (tmp_path / "skip.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    draft = evidences.witness(doors.play.ledger, ["python3", "check.py"], kind="test", quiet=True)
    task = doors.play.task()
    doors.play.complete(doors.play.claimed(task), doors.play.do(evidences.record_draft, draft, tasks=[task]))
    doors.sound()
    assert again(doors) == (5, ["V002"])


@pytest.mark.parametrize("key", ["core.hooksPath", "core.fsmonitor"])
def test_what_git_of_the_clone_would_start_in_a_checkout(doors: Doors, key: str) -> None:
    """Way: where a clone has its hooks in the tree, the branch says what a checkout for a second run starts."""
    doors.policy(LISTED)
    hook = doors.root / ".githooks" / "post-checkout"
    doors.write(".githooks/post-checkout", "#!/bin/sh\nprintf good > app.py\n")
    hook.chmod(0o755)
    git(doors.root, "commit", "-qam", "a hook")
    doors.write("check.py", BY_HOOK)
    doors.write("app.py", "worse\n")
    completed(doors)
    doors.sound()
    git(doors.root, "config", key, ".githooks" if key == "core.hooksPath" else str(hook))
    assert again(doors) == (5, ["V002"])


@pytest.mark.parametrize("folder", ["lib/", "lib//deep", "link"])
def test_a_pass_in_a_folder_that_is_spelled_otherwise(doors: Doors, folder: str) -> None:
    """Way: a second run, whose folder git and the system spell another way, seems to be of another command."""
    doors.policy(LISTED)
    doors.write("lib/check.py", "raise SystemExit(3)\n")
    doors.write("lib/deep/check.py", "raise SystemExit(3)\n")
    (doors.root / "link").symlink_to("lib")
    git(doors.root, "add", "link")
    git(doors.root, "commit", "-qm", "a link")
    task, evidence = completed(doors, command={"cwd": folder})
    doors.sound()
    assert again(doors) == (5, ["V002"])
    ledger = doors.play.ledger
    reproducing.record(ledger, ledger.change, reproducing.reproduce(ledger, ids=[evidence], base="main"))
    doors.unproven(task, f"{evidence} is contradicted")
    doors.caught("P001")
