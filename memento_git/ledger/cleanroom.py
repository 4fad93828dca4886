"""Clean work trees to run commands again in: each goes with the process that made it, or with the next one's."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memento_git.ledger import checkouts, lock, processes
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.scratch import WHOLE

PREFIX: Final = "memento-again-"
CODE: Final = "code"
LOCK: Final = "lock"


@contextlib.contextmanager
def cleanroom(git: Git, commit: str) -> Iterator[Path]:
    """Yield a clean, detached work tree of a commit, far from the repository; nothing of it is left.

    It has all files, also where the repository's own checkout is a sparse one.

    What is started there bears the name of the folder above it in `processes.VARIABLE`.
    """
    clear(git)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    try:
        with lock.held(folder / LOCK):
            yield _made(git, folder / CODE, commit)
    finally:
        _removed(git, folder)


def _made(git: Git, path: Path, commit: str) -> Path:
    try:
        git.run(*WHOLE, "worktree", "add", "--quiet", "--detach", str(path), commit)
    except GitFailed as failure:
        raise checkouts.WorktreeFailed(path=path.name, what="made", reason=failure.facts["reason"]) from None
    return path


def _removed(git: Git, folder: Path) -> None:
    git.answer("worktree", "remove", "--force", "--force", str(folder / CODE))
    shutil.rmtree(folder, ignore_errors=True)


def left(git: Git) -> Iterator[Path]:
    """Yield the folders of work trees that were left behind by a process that was killed."""
    if not lock.KEPT:
        return
    for path, branch in checkouts.listed(git).items():
        folder = path.parent
        if path.name != CODE or branch or not folder.name.startswith(PREFIX) or not (folder / LOCK).is_file():
            continue
        with contextlib.suppress(lock.LockHeld, lock.NotWritable), lock.held(folder / LOCK, 0, is_there=True):
            if (folder / LOCK).is_file():  # else whoever made it took it away just now
                yield folder


def clear(git: Git) -> list[Path]:
    """Remove, and return, what a killed process left behind, and end what still runs there."""
    found = []
    for folder in left(git):
        processes.end(folder.name)
        _removed(git, folder)
        found.append(folder)
    return found
