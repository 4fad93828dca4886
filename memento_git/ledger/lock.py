"""One writer at a time: the kernel's file lock, which a dead process cannot leave behind."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from memento_git.errors import SPENT, Moved, Refused, reason_of
from memento_git.ledger.git_errors import was_killed

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from memento_git.ledger.git import GitFailed

KEPT: Final[bool] = fcntl is not None  # whether there is a lock at all
TIMEOUT: Final = 60.0
MENDING_TIMEOUT: Final = 2.0
PAUSE: Final = 0.004
LOCKED: Final = ("File exists", "cannot lock references")  # what git says of a ref, or of all, that another one holds
HOLDERS: Final[dict[tuple[str, int], int]] = {}  # the locks that threads of this process hold, or wait for


class LockHeld(Moved):
    token = "ledger_locked"
    sentence = "another memento process holds {path} for more than {seconds} s: {holder}"
    hint_ = "wait for it, or end that process; the lock goes with it"


class TransactionNested(LockHeld):
    exit_code = 2
    token = "transaction_nested"
    sentence = "a change of this ledger is under way here already, and another one cannot be begun within it"
    hint_ = "make both in one transaction, or begin the second when the first has ended"


class NotWritable(Refused):
    token = "not_writable"
    sentence = "cannot write: {reason}"
    hint_ = "free some space or mend the permissions; nothing was changed"


class RefLocked(Moved):
    token = "ref_locked"
    sentence = "git cannot lock {ref}: {reason}"
    hint_ = "finish that git command; if none is running, a crash left the lock file: remove it"


class RepositoryGone(NotWritable):
    token = "repository_gone"
    sentence = "the repository at {path} was moved or removed while this was at work"
    hint_ = "open it where it is now; where it was, nothing is made anew"


def refuse_ref(ref: str, failure: GitFailed) -> NoReturn:
    """Refuse where git could not write a ref: another git holds it, or left its lock; else nothing can be written.

    A git that was killed is told as that.
    """
    reason = str(failure.facts["reason"])
    if was_killed(reason):
        raise failure
    if any(words in reason for words in LOCKED):
        raise RefLocked(ref=ref, reason=reason) from None
    raise NotWritable(reason=reason) from None


@contextmanager
def writing(place: object = "") -> Iterator[None]:
    """Refuse what the file system refuses in the block; a place that is given is named."""
    try:
        yield
    except OSError as error:
        if error.errno in SPENT:
            raise
        told = f"{place}: " if place else ""
        raise NotWritable(reason=f"{told}{reason_of(error)}") from error


@contextmanager
def held(path: Path, timeout: float = TIMEOUT, *, is_there: bool = False) -> Iterator[None]:
    """Hold a lock file while the block runs; raise LockHeld, naming the holder, when it takes too long.

    One that is said to be there is not made.
    """
    if (own := (str(path), threading.get_ident())) in HOLDERS:
        raise TransactionNested
    HOLDERS[own] = handle = _open(path, 0 if is_there else os.O_CREAT)
    try:
        _take(handle, path, timeout)
        _sign(handle)
        yield
    finally:
        if HOLDERS.pop(own, None) is not None:  # else this is a fork, and its copy is closed
            os.close(handle)


def _let_go() -> None:
    """Leave the locks to the process that this one was forked from; the copies of their files would hold them too."""
    for handle in HOLDERS.values():
        os.close(handle)
    HOLDERS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _open(path: Path, how: int) -> int:
    try:
        if how:
            path.parent.mkdir(exist_ok=True)  # and none above it: a repository that was moved away is not begun anew
        return os.open(path, os.O_RDWR | how, 0o666)
    except FileNotFoundError:
        raise RepositoryGone(path=path.parent.parent) from None
    except OSError as error:
        raise NotWritable(reason=f"{path}: {reason_of(error)}") from error


def _sign(handle: int) -> None:
    """Leave word of who holds the lock."""
    with writing():
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {platform.node()}\n".encode(), 0)


def _take(handle: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                holder = os.pread(handle, 200, 0).decode(errors="replace").strip() or "unknown"
                raise LockHeld(path=path.name, seconds=round(timeout), holder=holder) from None
            time.sleep(PAUSE)
        except OSError as error:  # a file system that has no locks
            raise NotWritable(reason=f"{path}: {reason_of(error)}") from error
        else:
            return
