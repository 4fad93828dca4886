"""Bringing the user's work tree and index up to a ledger commit: our own paths, and nothing else."""

from __future__ import annotations

import contextlib
import errno
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import MementoError, Refused
from memento_git.ledger import journal, layout, lock, userindex
from memento_git.ledger.journal import Path3
from memento_git.ledger.lock import reason_of

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.git import Git
    from memento_git.ledger.userindex import HeldIndex

PATIENCE: Final = 5.0
READING_PATIENCE: Final = 0.2


class UnsafePath(Refused):
    """A folder of the ledger is a symbolic link in the work tree."""

    token = "workspace_unsafe"
    sentence = "{path} is a symbolic link, so a file below it might land outside the repository"
    hint_ = "{fix}"


class Mended(NamedTuple):
    """What became of journals: work tree and index finished, forgotten as HEAD lacks the commit, or still waiting."""

    finished: int
    forgotten: int
    waiting: str

    def sentences(self) -> list[str]:
        """Return what people should know of it."""
        told = []
        if self.finished:
            told.append(f"finished {self.finished} interrupted change(s): work tree and index follow HEAD again")
        if self.forgotten:
            told.append(f"an earlier command was interrupted: HEAD has nothing of its {self.forgotten} change(s)")
        if self.waiting:
            told.append(f"an interrupted change waits to be finished: {self.waiting}")
        return told


def reached(step: str) -> None:
    """Mark a step of the commit; tests of crash safety put their own function here."""


def lock_path(git: Git) -> Path:
    return git.git_dir / "memento" / "worktree.lock"


def mend(git: Git, patience: float = READING_PATIENCE) -> Mended:
    """Finish what crashes left behind, when no writer of ours is at work."""
    with lock.held(lock_path(git), patience=lock.MENDING_PATIENCE):
        return mend_held(git, patience)


def mend_held(git: Git, patience: float) -> Mended:
    """Finish what crashes left behind; the caller holds the lock, and waits this long for the user's git."""
    finished = forgotten = 0
    waiting = ""
    for path in journal.pending(git):
        changes = journal.read(path)
        head = git.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        here = {name: entry.oid for name, entry in (git.files(head, layout.FOLDER) if head else {}).items()}
        landed = [change for change in changes if here.get(change.path) == change.new]
        try:
            _sweep(git, changes)
            _finish_alone(git, landed, patience)
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
        if git.top is not None and not _linked(git.top, change.path):
            _beside(git.top / change.path).unlink(missing_ok=True)


def _finish_alone(git: Git, changes: list[Path3], patience: float) -> None:
    if changes and git.top is not None:
        staged = git.staged(change.path for change in changes)
        with userindex.held(git, patience) as index:
            finish(git, [change for change in changes if staged.get(change.path) in (change.old, change.new)], index)


def finish(git: Git, changes: list[Path3], index: HeldIndex) -> None:
    """Write the files of a commit, and enter them in the index where it still has what the commit replaced."""
    left_out = userindex.is_left_out(git)
    shown = [] if left_out else write_files(git, changes)
    reached("files_written")
    ours = _unstaged(git, changes)
    direct = [change for change in ours if change in shown]
    by_id = [change for change in ours if change not in shown]
    if not (direct and index.take_in(change.path for change in direct)):
        index.let_go()
        by_id = ours
    userindex.put_entries(git, by_id, PATIENCE)
    if left_out:
        userindex.hide(git, [change.path for change in ours if change.new], PATIENCE)
    reached("index_refreshed")


def take_back(git: Git, changes: list[Path3]) -> None:
    """Undo what was shown of a commit in a work tree that has meanwhile gone to another branch."""
    head = git.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    here = git.files(head, layout.FOLDER) if head else {}
    strays = [change for change in changes if (here[change.path].oid if change.path in here else None) != change.new]
    _finish_alone(git, [Path3(change.path, change.new, change.old) for change in strays], PATIENCE)


def _unstaged(git: Git, changes: list[Path3]) -> list[Path3]:
    """Return the changes whose path the user has not staged otherwise; a new path is nobody's yet."""
    replaced = [change.path for change in changes if change.old is not None]
    staged = git.staged(replaced) if replaced else {}
    return [change for change in changes if change.old is None or staged.get(change.path) in (change.old, change.new)]


def write_files(git: Git, changes: list[Path3]) -> list[Path3]:
    """Write each file whose place still holds what the commit replaced; return those that the work tree now shows."""
    if git.top is None:
        return []
    added = [change for change in changes if change.new]
    contents = dict(zip(added, git.objects(change.new for change in added if change.new), strict=True))
    shown = []
    for change in changes:
        refuse_links(git, change.path)
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


def refuse_links(git: Git, path: str) -> None:
    """Refuse a path that a symbolic link would lead elsewhere."""
    if git.top is not None and (folder := _linked(git.top, path)):
        raise UnsafePath(path=folder.relative_to(git.top), fix=replacing(git))


def replacing(git: Git) -> str:
    """Return the words that put the ledger's folder in a link's place: the one HEAD has, or had before the link."""
    from memento_git.ledger import absence

    head = git.head()[0]
    if head and absence.stranger(git, head):
        return absence.taking_out(git)
    return f"replace the link by the folder that git has: git checkout HEAD -- {layout.FOLDER}"


def _linked(top: Path, path: str) -> Path | None:
    folder = top
    for part in path.split("/")[:-1]:
        folder = folder / part
        if folder.is_symlink():
            return folder
    return None


def _holds(git: Git, target: Path, blob: str | None) -> bool:
    """Tell whether a work-tree file is what the ledger had there; git may have checked it out with CRLF."""
    try:
        found = None if target.is_symlink() else target.read_bytes()
    except FileNotFoundError:
        return blob is None
    except OSError:
        return False
    if blob is None or found is None:
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
