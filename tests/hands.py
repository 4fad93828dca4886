"""Real executors for tests: small Python programs, started by real `memento dispatch run` processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import psutil

from memento_git.ledger import handovers
from memento_git.work.actions import running
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memento_git.ledger.handovers import Handover
    from tests.play import Play

TIMEOUT = 120.0  # of a busy machine; nobody waits so long where what is waited for comes
WRITE = "open('done.txt', 'w').write('done\\n')"
SHOWN = "test -s done.txt"
SLEEP = "import time; print('begun', flush=True); time.sleep(600)"


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def run(play: Play, given: str, code: str, **options: Any) -> running.Outcome:
    """Run a Python program as the executor of a task, within this process."""
    return running.run_dispatch(play.ledger, given, running.Order("agent", python(code), shown=False, **options))


def config(play: Play, text: str) -> None:
    """Commit a configuration: what comes after its version."""
    play.ledger.change("config", lambda tx: tx.put(".memento/config.yaml", f"version: 1\n{text}\n".encode()))


def start(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a memento command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "memento_git", "-C", str(root), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Return what a command answered with --json."""
    out, err = process.communicate(timeout=120)
    assert out, err.decode()
    told: dict[str, Any] = json.loads(out)
    return told


def until(truth: Callable[[], Any], what: str) -> Any:
    """Wait, not for ever, until something holds."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        if found := truth():
            return found
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


def at_work(play: Play) -> Handover:
    """Wait until an executor's own process runs; return what the machine knows of it."""

    def begun() -> Handover | None:
        for one in handovers.listed(play.ledger.git):
            if one.child is not None and one.is_live and psutil.pid_exists(one.child.pid):
                return one
        return None

    found: Handover = until(begun, "an executor at work")
    return found


def carriers(dispatch: str) -> list[int]:
    """Return the processes that carry a dispatch's name in their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("MEMENTO_DISPATCH") == dispatch and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def worktrees(root: Path) -> list[str]:
    """Return the work trees beside the main one."""
    lines = git(root, "worktree", "list", "--porcelain").splitlines()
    return [line[9:] for line in lines if line.startswith("worktree ")][1:]


def branches(root: Path) -> list[str]:
    return git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/memento").split()


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)


def gone(process: subprocess.Popen[bytes]) -> None:
    """Kill a process without a word, and wait for its end."""
    kill(process.pid)
    process.communicate(timeout=TIMEOUT)
