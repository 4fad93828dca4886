"""What processes that we start say, and how one ends with all that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Final

GRACE: Final = 2.0  # seconds to end by itself in; git takes its lock files away


def told_by(process: subprocess.Popen[bytes], data: bytes, timeout: float | None) -> tuple[bytes, bytes]:
    """Return stdout and stderr of a process that is given some data; end it with its group if it takes too long."""
    try:
        return process.communicate(data, timeout=timeout)
    except BaseException:
        end_group(process)
        raise


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and, if it leads a group of its own, all that it started; read what it still had to say."""
    stop_group(process)
    process.communicate()


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and, if it leads a group of its own, all that it started; who reads its streams goes on.

    It is asked first, for git takes away its lock files then; who interrupts that ends it at once.
    """
    if hasattr(os, "killpg"):
        try:
            with contextlib.suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(GRACE)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
