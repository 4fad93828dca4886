"""What a shell offers where a record is meant, asked as bash, zsh and fish ask it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memento_git.knowledge.actions import settling
from tests.play import add, git, note_set

if TYPE_CHECKING:
    from tests.play import Play

MEMENTO = Path(sys.executable).with_name("memento")
IN_BASH = """
eval "$(memento completion bash)"
COMP_WORDS=(memento task show "$1"); COMP_CWORD=3
_memento_completion memento
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(folder: Path, *words: str) -> list[tuple[str, str]]:
    """Return what zsh is offered for the last word, and what each is called."""
    asked = {
        "_MEMENTO_COMPLETE": "zsh_complete",
        "COMP_WORDS": f"memento {' '.join(words)}",
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [MEMENTO], cwd=folder, env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    return list(zip(lines[1::3], lines[2::3], strict=True))


def test_records_are_offered_by_kind_with_what_they_are_called(play: Play, run: str, tmp_path: Path) -> None:
    task = play.task("Write the form: now")
    note = add(play, "Tokens are short.", key="auth.tokens")
    proof = play.evidence(task)
    assert offered(play.root, "status", "--run", "run_") == [(run, "Make it work")]
    assert (task, "Write the form: now") in offered(play.root, "task", "show", task[:6])
    assert offered(play.root, "note", "show", "au") == [("auth.tokens", "Tokens are short.")]
    assert {name for name, _ in offered(play.root, "show", "")} >= {run, task, note, proof, "auth.tokens"}
    assert offered(tmp_path, "-C", str(play.root), "evidence", "show", proof)[0][0] == proof
    assert offered(play.root, "task", "show", "task_0_") == []


def test_where_there_is_no_ledger_nothing_is_offered_or_said(play: Play, tmp_path: Path) -> None:
    play.run()
    assert offered(tmp_path, "task", "show", "") == []
    play.commit(play.root / ".memento" / "config.yaml", "version: 99\n")
    assert offered(play.root, "task", "show", "") == []


def test_a_redacted_text_is_not_told_where_a_merge_brought_it_back(play: Play) -> None:
    note = add(play, "What nobody may read.", key="secret.name")
    path = note_set(play).path(note)
    play.do(settling.redact_note, note, reason="a name")
    git(play.root, "checkout", "-q", "HEAD~1", "--", path)
    play.commit_all("revive")
    assert offered(play.root, "note", "show", note[:7]) == [(note, "_")]
    assert offered(play.root, "note", "show", "secret") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_an_id(play: Play, run: str) -> None:
    task = play.task()
    path = f"{MEMENTO.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", IN_BASH, "bash", task[:8]], cwd=play.root, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [task], done.stderr
    assert git(play.root, "status", "--short") == ""
