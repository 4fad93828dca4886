"""Processes of this machine: which one is still the same, and how to end one with all that it started."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import psutil

VARIABLE: Final = "MEMENTO_DISPATCH"
SAME: Final = 2.0
GRACE: Final = 2.0
PAUSE: Final = 0.02


class Process(NamedTuple):
    """A process by its number and the time it started, for numbers are used again."""

    pid: int
    started: float


def this() -> Process:
    return of(os.getpid()) or Process(os.getpid(), 0.0)


def of(pid: int) -> Process | None:
    """Return a running process by its number."""
    import psutil

    try:
        return Process(pid, psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def is_alive(process: Process) -> bool:
    return _found(process) is not None


def _found(process: Process) -> psutil.Process | None:
    """Return the process if it still runs: same number, same start, and not only waiting to be reaped."""
    import psutil

    try:
        found = psutil.Process(process.pid)
        same = abs(found.create_time() - process.started) < SAME
    except psutil.Error:
        return None
    return found if same and _runs(found) else None


def members(dispatch: str, leaders: tuple[Process | None, ...]) -> list[psutil.Process]:
    """Return all processes of a dispatch: the leaders, what descends from them, and whoever carries its name.

    The name is in the environment that a child inherits, so one that left its group or lost its parent is found too.
    """
    import psutil

    found: dict[int, psutil.Process] = {}
    for leader in leaders:
        if leader is not None and (process := _found(leader)) is not None:
            found[process.pid] = process
            with contextlib.suppress(psutil.Error):
                found |= {child.pid: child for child in process.children(recursive=True)}
    for process in psutil.process_iter():
        if process.pid != os.getpid() and process.pid not in found:
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(VARIABLE) == dispatch and _runs(process):
                    found[process.pid] = process
    return list(found.values())


def end(dispatch: str, *leaders: Process | None) -> None:
    """End all processes of a dispatch: ask first, then force.

    One whose parent ended at the first word is still known at the next.
    Nobody is waited for by the system's call: whoever started a process wants to learn its exit code.
    """
    import psutil

    seen: dict[int, psutil.Process] = {}
    for force in (False, True, True):
        seen |= {process.pid: process for process in members(dispatch, leaders)}
        left = [process for process in seen.values() if _runs(process)]
        if not left:
            return
        for process in left:
            with contextlib.suppress(psutil.Error):
                if force:
                    process.kill()
                else:
                    process.terminate()
        _wait(left)


def _wait(processes: list[psutil.Process]) -> None:
    deadline = time.monotonic() + GRACE
    while any(_runs(process) for process in processes) and time.monotonic() < deadline:
        time.sleep(PAUSE)


def _runs(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
