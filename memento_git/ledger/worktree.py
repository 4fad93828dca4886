"""Bringing the user's work tree and index up to a ledger commit: our own paths, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger.git import GitFailed

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.git import Git

PATIENCE: Final = 5.0
PAUSE: Final = 0.02


class Path3(NamedTuple):
    """One path that a ledger commit changed: blob before (None: absent) and after (None: removed)."""

    path: str
    old: str | None
    new: str | None


class UnsafePath(Refused):
    """A folder of the ledger is a symbolic link in the work tree."""

    token = "workspace_unsafe"
    sentence = "{path} is a symbolic link, so a file below it might land outside the repository"
    hint_ = "replace the link by the folder that git has: git checkout HEAD -- .memento"


def reached(step: str) -> None:
    """Mark a step of the commit; tests of crash safety put their own function here."""


def journal_folder(git: Git) -> Path:
    return git.git_dir / "memento" / "journal"


def pending(git: Git) -> list[Path]:
    """Return the journals of commits whose work tree or index was not finished."""
    folder = journal_folder(git)
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(".json"))  # noqa: PTH208 (no stat)
    except FileNotFoundError:
        return []


def write_journal(git: Git, name: str, changes: list[Path3]) -> Path:
    """Write down, durably, what is about to be committed."""
    folder = journal_folder(git)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    temporary = folder / f"{name}.tmp"
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump({"paths": changes}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    return path


def read_journal(path: Path) -> list[Path3]:
    """Return the paths of a journal; none where a crash cut the file itself short."""
    try:
        held: Any = json.loads(path.read_bytes())
        return [Path3(*entry) for entry in held["paths"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def mend(git: Git) -> int:
    """Finish what crashes left behind; return how many commits were finished or forgotten."""
    journals = pending(git)
    for journal in journals:
        changes = read_journal(journal)
        head = git.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        here = git.files(head, ".memento") if head else {}
        landed = [
            change for change in changes if (here[change.path].oid if change.path in here else None) == change.new
        ]
        if finish(git, landed):
            journal.unlink(missing_ok=True)
    for leftover in (*journal_folder(git).glob("*.tmp"), *(git.git_dir / "memento" / "tmp").glob("*")):
        leftover.unlink(missing_ok=True)
    return len(journals)


def finish(git: Git, changes: list[Path3]) -> bool:
    """Write the files of a commit and refresh their index entries; False while git's index is locked."""
    if not changes:
        return True
    write_files(git, changes)
    reached("files_written")
    done = refresh_index(git, changes)
    reached("index_refreshed")
    return done


def write_files(git: Git, changes: list[Path3]) -> None:
    """Write each file whose place in the work tree still holds what the commit replaced."""
    if git.top is None:
        return
    blobs = dict(zip(changes, git.objects(change.new for change in changes if change.new), strict=False))
    contents = iter(blobs.values())
    for change in changes:
        data = next(contents) if change.new else None
        target = git.top / change.path
        refuse_links(git.top, change.path)
        if not _holds(git, target, change.old):
            continue
        if data is None:
            target.unlink(missing_ok=True)
            _remove_empty(target.parent, git.top / ".memento")
        else:
            _replace(git, target, data)


def refuse_links(top: Path, path: str) -> None:
    """Refuse a path that a symbolic link would lead elsewhere."""
    folder = top
    for part in path.split("/")[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise UnsafePath(path=folder.relative_to(top))


def _holds(git: Git, target: Path, blob: str | None) -> bool:
    """Tell whether a work-tree file is what the ledger had there before."""
    try:
        found = target.read_bytes()
    except FileNotFoundError:
        return blob is None
    except OSError:
        return False
    return blob is not None and git.blob_id(found) == blob


def _replace(git: Git, target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = git.git_dir / "memento" / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"{os.getpid()}-{target.name}"
    try:
        temporary.write_bytes(data)
        try:
            temporary.replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside = target.with_name(f".{target.name}.memento-tmp")
            beside.write_bytes(data)
            beside.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_empty(folder: Path, stop: Path) -> None:
    with contextlib.suppress(OSError):
        while folder != stop:
            folder.rmdir()
            folder = folder.parent


def refresh_index(git: Git, changes: list[Path3]) -> bool:
    """Put our own entries into the user's index where they are still what the commit replaced."""
    if git.top is None:
        return True
    replaced = [change.path for change in changes if change.old is not None]
    staged = git.staged(replaced) if replaced else {}
    lines = []
    for change in changes:
        if change.old is None or staged.get(change.path) == change.old:
            mode = "100644" if change.new else "0"
            lines.append(f"{mode} {change.new or git.zero}\t{change.path}\0")
    deadline = time.monotonic() + PATIENCE
    while lines:
        try:
            git.run("update-index", "-z", "--index-info", data="".join(lines).encode())
        except GitFailed as failure:
            if "index.lock" not in failure.message:
                raise
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE)
        else:
            break
    return True
