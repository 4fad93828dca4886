"""Bringing the user's work tree and index up to a ledger commit: our own paths, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from memento_git.errors import MementoError, reason_of
from memento_git.ledger import journal, layout, lock, userindex, writable_paths
from memento_git.ledger.git import Git
from memento_git.ledger.journal import Path3
from memento_git.ledger.userindex import HeldIndex
from memento_git.model.enumeration import many
from memento_git.model.tuples import NamedTuple

TIMEOUT: Final = 5.0
READING_TIMEOUT: Final = 0.2


class Mended(NamedTuple):
    """What became of journals: work tree and index finished, forgotten as HEAD lacks the commit, or still waiting."""

    finished: int
    forgotten: int
    waiting: str

    def sentences(self) -> list[str]:
        """Return what people should know of it."""
        told = []
        if self.finished:
            told.append(f"finished {many(self.finished, 'interrupted change')}: work tree and index follow HEAD again")
        if self.forgotten:
            told.append(f"an earlier command was interrupted: HEAD has nothing of its {many(self.forgotten, 'change')}")
        if self.waiting:
            told.append(f"an interrupted change waits to be finished: {self.waiting}")
        return told


def reached(step: str) -> None:
    """Mark a step of the commit; tests of crash safety put their own function here."""


def lock_path(git: Git) -> Path:
    return git.git_dir / "memento" / "worktree.lock"


def mend(git: Git) -> Mended:
    """Finish what crashes left behind, when no writer of ours is at work."""
    with lock.held(lock_path(git), timeout=lock.MENDING_TIMEOUT):
        return mend_held(git, READING_TIMEOUT)


def mend_held(git: Git, timeout: float) -> Mended:
    """Finish what crashes left behind; the caller holds the lock, and waits this long for the user's git."""
    finished = forgotten = 0
    waiting = ""
    userindex.clear(git)
    for path in journal.pending(git):
        changes = journal.read(path)
        head = git.commit("HEAD")
        here = {name: entry.oid for name, entry in (git.files(head) if head else {}).items()}
        landed = [change for change in changes if here.get(change.path) == change.new]
        try:
            _sweep(git, changes)
            _finish_alone(git, landed, timeout)
            path.unlink(missing_ok=True)
        except (MementoError, OSError) as error:
            waiting = reason_of(error)
        else:
            finished += bool(landed)
            forgotten += not landed
    return Mended(finished, forgotten, waiting)


def _sweep(git: Git, changes: list[Path3]) -> None:
    """Remove half-written files that a crash left."""
    for leftover in (git.git_dir / "memento" / "tmp").glob("*"):
        leftover.unlink(missing_ok=True)
    for change in changes:
        if git.top is not None and not writable_paths.linked(git.top, change.path):
            _beside(git.top / change.path).unlink(missing_ok=True)


def _finish_alone(git: Git, changes: list[Path3], timeout: float) -> None:
    if changes and git.top is not None:
        staged = git.staged(change.path for change in changes)
        with userindex.held(git, timeout) as index:
            finish(git, [change for change in changes if _is_as_left(staged, change)], index)


def finish(git: Git, changes: list[Path3], index: HeldIndex) -> None:
    """Write the files of a commit, and enter them in the index where it still has what the commit replaced.

    What cannot be written is entered all the same: the user's next commit would take it back otherwise.
    """
    staged = git.staged(change.path for change in changes if change.old)
    ours = [change for change in changes if not change.old or _is_as_left(staged, change)]
    marks = {path: letter for path, (_, letter) in staged.items() if letter != "H"}
    marks |= dict.fromkeys(userindex.left_out(git, [change.path for change in changes if not change.old]), "S")
    direct: list[Path3] = []
    try:
        shown = write_files(git, [change for change in changes if change.old or change.path not in marks])
        reached("files_written")
        direct = [change for change in shown if change in ours and change.path not in marks]
    finally:
        if not (direct and index.take_in(change.path for change in direct)):
            index.let_go()
            direct = []
        _enter(git, [change for change in ours if change not in direct], marks)
    reached("index_refreshed")


def _enter(git: Git, changes: list[Path3], marks: Mapping[str, str]) -> None:
    """Enter blobs by their ids, with the marks that keep git from looking for them in the work tree."""
    userindex.put_entries(git, changes, TIMEOUT)
    kept = {change.path: marks[change.path] for change in changes if change.new and change.path in marks}
    userindex.mark(git, kept, TIMEOUT)


def _is_as_left(staged: Mapping[str, tuple[str, str]], change: Path3) -> bool:
    """Tell whether the index has at a path what the commit replaced, or what it put there."""
    return staged.get(change.path, (None, ""))[0] in (change.old, change.new)


def take_back(git: Git, changes: list[Path3]) -> None:
    """Undo what was shown of a commit in a work tree that has meanwhile gone to another branch."""
    head = git.commit("HEAD")
    here = git.files(head) if head else {}
    strays = [change for change in changes if (here[change.path].oid if change.path in here else None) != change.new]
    _finish_alone(git, [Path3(change.path, change.new, change.old) for change in strays], TIMEOUT)


def unfinished(git: Git, paths: Collection[str]) -> set[str]:
    """Return those of some paths at which index and work tree have what an interrupted change found, or brings."""
    blobs: dict[str, set[str | None]] = {}
    for change in (one for kept in journal.pending(git) for one in journal.read(kept) if one.path in paths):
        blobs.setdefault(change.path, set()).update((change.old, change.new))
    staged = git.staged(blobs)
    return {
        path for path, known in blobs.items()
        if git.top is not None and staged.get(path, (None, ""))[0] in known
        and any(_holds(git, git.top / path, blob) for blob in known)
    }  # fmt: skip


def write_files(git: Git, changes: list[Path3]) -> list[Path3]:
    """Write each file whose place still holds what the commit replaced; return those that the work tree now shows."""
    if git.top is None:
        return []
    added = [change for change in changes if change.new]
    contents = dict(zip(added, git.objects(change.new for change in added if change.new), strict=True))
    shown = []
    for change in changes:
        writable_paths.refuse_links(git, change.path)
        target = git.top / change.path
        if _holds(git, target, change.old):
            _place(git, target, change, contents.get(change))
        if _holds(git, target, change.new):
            shown.append(change)
    return shown


def _place(git: Git, target: Path, change: Path3, data: bytes | None) -> None:
    if data is not None:
        _replace(git, target, data)
        reached("file_written")
    elif change.new is None:
        target.unlink(missing_ok=True)
        if git.top is not None:
            _remove_empty(target.parent, git.top / layout.FOLDER)


def _holds(git: Git, target: Path, blob: str | None) -> bool:
    """Tell whether a work-tree file, or link, is what the ledger had there; git may have checked it out with CRLF."""
    try:
        if not (target.is_symlink() or target.is_file()):  # what a pipe holds would be waited for
            return blob is None and not target.exists()
        found = os.fsencode(target.readlink()) if target.is_symlink() else target.read_bytes()
    except OSError:
        return False
    if blob is None:
        return False
    return blob in {git.blob_id(found), git.blob_id(found.replace(b"\r\n", b"\n"))}


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.memento-tmp")


def _replace(git: Git, target: Path, data: bytes) -> None:
    """Put a file in place whole, written beside it only where the git directory is on another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = git.git_dir / "memento" / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    temporary, beside = folder / "file", _beside(target)
    try:
        temporary.write_bytes(data)
        try:
            temporary.replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside.write_bytes(data)
            reached("file_beside")
            beside.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        beside.unlink(missing_ok=True)


def _remove_empty(folder: Path, stop: Path) -> None:
    with contextlib.suppress(OSError):
        while folder != stop:
            folder.rmdir()
            folder = folder.parent
