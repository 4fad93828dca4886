"""What git complains of when it fails, in its own words."""

from __future__ import annotations

from typing import Final

ADVICE: Final = (
    "hint:", "Aborting", "Updating ", "To ", "error: failed to push", "Please commit your changes or stash them",
    "Please move or remove them", "Please make sure you have the correct access", "and the repository exists.",
)  # fmt: skip
HUNG_UP: Final = "fatal: the remote end hung up unexpectedly"  # so it says of a program on this machine, too
KILLED: Final = "ended by signal "
FULL: Final = (
    "No space left on device", "Out of diskspace", "Disk quota exceeded", "Read-only file system", "File too large",
    "couldn't set '", "couldn't write '", "unable to create directory for ",
)  # fmt: skip


def reason_of(stderr: bytes, code: int) -> str:
    """Return what git itself complains of."""
    lines = complaints(stderr.decode(errors="replace"))
    loud = [line for line in lines if line.startswith(("fatal: ", "error: ")) and line != HUNG_UP]
    return "; ".join((loud or lines)[-3:]) or ended(code)


def complaints(err: str) -> list[str]:
    """Return what git, a hook or a server said of a failure, without git's advice."""
    lines = (line.strip() for line in err.splitlines())
    return [line for line in lines if line not in ("", "remote:") and not line.startswith(ADVICE)]


def was_killed(reason: object) -> bool:
    """Tell whether what `ended` says of a git is that a signal ended it: then it had no fault to find."""
    return str(reason).startswith(KILLED)


def ended(code: int) -> str:
    """Return how a command ended of which nobody said why."""
    return f"exit code {code}" if code > 0 else f"{KILLED}{-code}"


def is_full(err: str) -> bool:
    """Tell whether git says that the disk takes nothing; of a ref it does not always say why."""
    return any(words in err for words in FULL)
