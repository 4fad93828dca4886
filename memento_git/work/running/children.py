"""Running an executor's command: a process group of its own that ends as a whole, whatever it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from memento_git.ledger import processes
from memento_git.work.running.capture import Captured, captured, start, taken
from memento_git.work.running.tee import finish, sink_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from memento_git.ledger.processes import Process

STEP: Final = 0.05
KEPT: Final = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSH", "GIT_ASKPASS", "GIT_EDITOR", "GIT_TERMINAL_PROMPT")
KEPT_NAMES: Final = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


class Stop:
    """Says that work should end, and why; the first word counts."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.why = ""

    def __bool__(self) -> bool:
        return self._asked.is_set()

    def ask(self, why: str) -> None:
        if not self._asked.is_set():
            self.why = why
            self._asked.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is asked for, or the time is over; tell which."""
        return self._asked.wait(seconds)


def signals(stop: Stop) -> AbstractContextManager[None]:
    """Take the signals that end a process as a wish to stop, while the block runs; not those it was told to ignore."""
    return taken(lambda number, _: stop.ask(f"stopped by {signal.Signals(number).name}"))


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return our environment for a child: nothing of git's that ties it to a repository, and what it should know."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "MEMENTO_")) or name.startswith(KEPT) or name in KEPT_NAMES
    }
    return {**kept, **more}


def run_group(
    argv: Sequence[str], cwd: Path, *, env: Mapping[str, str], keep: int, timeout: float | None, stop: Stop,
    begun: Callable[[Process | None], None], shown: bool,
) -> Captured:  # fmt: skip
    """Run a command until it ends, takes too long or should stop; then end all that it has started."""
    sink = sink_of(sys.stderr) if shown else None
    started = time.monotonic()
    process, tees = start(
        argv, (sink, sink), keep, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, start_new_session=True
    )
    leader = processes.of(process.pid)
    begun(leader)
    timed_out = _wait(process, started, timeout, stop)
    processes.end(env.get(processes.VARIABLE, ""), leader)
    code = process.wait()
    seconds = time.monotonic() - started
    finish(tees, lambda: timed_out or bool(stop))
    return captured(code, tees, seconds, timed_out=timed_out)


def _wait(process: subprocess.Popen[bytes], started: float, timeout: float | None, stop: Stop) -> bool:
    """Wait for a command; tell whether it took too long."""
    while not stop:
        try:
            process.wait(STEP)
        except subprocess.TimeoutExpired:
            if timeout is not None and time.monotonic() - started > timeout:
                return True
        else:
            break
    return False


Worker = subprocess.Popen[bytes]


def start_worker(arguments: Sequence[str], cwd: Path, answer: int) -> Worker:
    """Start a memento of our own that works apart from our terminal and writes its answer to a file."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "memento_git", *arguments],
        cwd=cwd, stdin=subprocess.DEVNULL, stdout=answer, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
