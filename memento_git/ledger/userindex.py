"""The user's index: our own entries in it, and nobody else's."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from memento_git.errors import Moved
from memento_git.ledger import layout, lock
from memento_git.ledger.git import Git, GitFailed, answered

if TYPE_CHECKING:
    from memento_git.ledger.journal import Path3

LOCK: Final = "index.lock"
HELD: Final = (
    "index-held-by-"  # and the git that made the lock, which this is a second name of: its number, its machine
)
BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
START: Final = 1.0
TRIES: Final = 5
PAUSE: Final = 0.02
TAKEN: Final = "File exists"


class IndexLocked(Moved):
    token = "index_locked"
    sentence = "another git process holds {path}"
    hint_ = "finish that git command; if none is running, a crash left the file: remove it"


class HeldIndex:
    """The user's index, locked by a `git update-index` that waits to be told paths.

    The lock is that process's: when ours dies its input ends, and it lets go without having changed anything. Where it
    is killed itself, its lock stays; the second name that we gave it tells whose it was.
    """

    def __init__(self, git: Git, process: subprocess.Popen[bytes]) -> None:
        self.git = git
        self._process = process
        if _machine() and _has_opened(process.pid, git.git_dir / LOCK):  # else it is another's, or nobody can tell
            with contextlib.suppress(OSError):  # not every file system has second names
                os.link(git.git_dir / LOCK, git.git_dir / "memento" / f"{HELD}{process.pid}-{_machine()}")

    def take_in(self, paths: Iterable[str]) -> bool:
        """Enter work-tree files as they are, absent ones as removed, and let go; False where git could not."""
        self._process.communicate(_lines(paths))
        clear(self.git)
        return self._process.returncode == 0

    def let_go(self) -> None:
        """End without a change, if it has not ended."""
        if self._process.returncode is None:
            self._process.communicate()
            clear(self.git)


@contextmanager
def held(git: Git, timeout: float) -> Iterator[HeldIndex]:
    """Lock the user's index while the block runs; refuse when another git holds it for too long."""
    index = HeldIndex(git, _begun(git, git.git_dir / LOCK, timeout))
    try:
        yield index
    finally:
        index.let_go()


def clear(git: Git) -> None:
    """Take away the locks of gits of ours that were killed; the caller holds our own lock, so that none is begun.

    Our own lock holds nobody off who shares the folder from another machine: the lock of a git there stays.
    """
    made = git.git_dir / LOCK
    for name in (git.git_dir / "memento").glob(f"{HELD}*"):
        number, _, machine = name.name.removeprefix(HELD).partition("-")
        with contextlib.suppress(OSError):
            if _is_one(name, made):
                if machine != _machine() or _lives(number):
                    continue
                made.unlink()
            name.unlink()


def _is_one(name: Path, other: Path) -> bool:
    try:
        return name.samefile(other)
    except OSError:
        return False


@cache
def _machine() -> str:
    """Return what names this machine since it was started, for all containers on it; nothing where it does not say."""
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""


def _lives(number: str) -> bool:
    """Tell whether a process may still be the git that it was; the number of one that has ended is used again."""
    try:
        os.kill(int(number), 0)
        return b"update-index" in Path(f"/proc/{number}/cmdline").read_bytes()
    except (ProcessLookupError, ValueError):
        return False
    except OSError:  # another user's, or there is nothing to look at
        return True


def _has_opened(number: int, path: Path) -> bool:
    """Tell whether a process has a file open; False where the system does not say."""
    try:
        return any(_is_one(one, path) for one in Path(f"/proc/{number}/fd").iterdir())
    except OSError:
        return False


def _begun(git: Git, lock_file: Path, timeout: float) -> subprocess.Popen[bytes]:
    """Return a git that holds the index; where another one was quicker, it is begun anew, for it does not ask twice."""
    deadline = time.monotonic() + timeout
    for _ in range(TRIES):
        while lock_file.exists():
            clear(git)
            if time.monotonic() > deadline:
                raise IndexLocked(path=lock_file)
            time.sleep(PAUSE)
        process = git.begin("update-index", "--add", "--remove", "-z", "--stdin", apart=True)
        try:
            if _has_made(process, lock_file):
                return process
        except BaseException:
            process.communicate()
            raise
        process.communicate()
    raise lock.NotWritable(reason=f"git cannot make {lock_file}")


def _has_made(process: subprocess.Popen[bytes], lock_file: Path) -> bool:
    """Wait for the lock; tell whether it is there before long."""
    deadline = time.monotonic() + START
    while not lock_file.exists():
        if process.poll() is not None:
            answered(("update-index",), process.returncode or 1, *process.communicate())
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE / 20)
    return True


def put_entries(git: Git, changes: Iterable[Path3], timeout: float) -> None:
    """Enter blobs by their ids, whatever the work tree holds."""
    lines = [f"{'100644' if one.new else '0'} {one.new or git.zero}\t{one.path}" for one in changes]
    _insist(git, ("-z", "--index-info"), lines, timeout)


def mark(git: Git, letters: Mapping[str, str], timeout: float) -> None:
    """Give entries back the marks that they had: left out of the work tree (S), assumed unchanged (h), or both (s)."""
    for option, which in (("--skip-worktree", "Ss"), ("--assume-unchanged", "hs")):
        paths = [path for path, letter in letters.items() if letter in which]
        _insist(git, (option, "-z", "--stdin"), paths, timeout)


def left_out(git: Git, paths: Collection[str]) -> set[str]:
    """Return which of some new paths a sparse checkout leaves out: those in whose folder it shows nothing."""
    if not paths or not (git.git_dir / "info" / "sparse-checkout").exists():
        return set()
    lines = os.fsdecode(git.run("ls-files", "-t", "-z", "--", layout.FOLDER)).split("\0")[:-1]
    known = {folder for line in lines for folder in _folders(line[2:])}
    shown = {folder for line in lines if line[0] != "S" for folder in _folders(line[2:])}
    nearest = {path: next((folder for folder in _folders(path) if folder in known), "") for path in paths}
    return {path for path, folder in nearest.items() if folder in known - shown}


def _folders(path: str) -> list[str]:
    """Return the folders that a path lies in, the nearest first."""
    return [str(folder) for folder in PurePosixPath(path).parents][:-1]


def _insist(git: Git, options: tuple[str, ...], lines: list[str], timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while lines:
        try:
            git.run_apart("update-index", *options, data=_lines(lines))
        except GitFailed as failure:
            if not (LOCK in failure.message and TAKEN in failure.message):  # else the disk is full, or read-only
                raise
            if time.monotonic() > deadline:
                raise IndexLocked(path=git.git_dir / LOCK) from None
            time.sleep(PAUSE)
        else:
            return


def _lines(texts: Iterable[str]) -> bytes:
    return os.fsencode("".join(f"{text}\0" for text in texts))
