"""One writer at a time: the kernel's file lock, which a dead process cannot leave behind."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from memento_git.errors import Moved

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE: Final = 60.0
PAUSE: Final = 0.004


class LockHeld(Moved):
    """Another process of ours has been writing for longer than anybody should wait."""

    token = "ledger_locked"
    sentence = "another memento process holds {path} for more than {seconds} s: {holder}"
    hint_ = "wait for it, or end that process; the lock goes with it"


@contextmanager
def held(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold a lock file while the block runs; raise LockHeld, naming the holder, when it takes too long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _take(handle, path, patience)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def _take(handle: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                holder = os.pread(handle, 200, 0).decode(errors="replace").strip() or "unknown"
                raise LockHeld(path=path.name, seconds=round(patience), holder=holder) from None
            time.sleep(PAUSE)
        else:
            return
