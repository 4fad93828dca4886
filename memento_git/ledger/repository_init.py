"""Making a git repository for a ledger that lies beside no code, and a name for its commits where git knows none."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger.environment import run_in
from memento_git.ledger.git_errors import reason_of

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger

MAKING: Final = ".memento-founding."
EMAILS: Final = ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")


class FolderNotEmpty(Refused):
    token = "folder_not_empty"
    sentence = "{path} holds files and is no git repository"
    hint_ = (
        "name a folder that does not exist yet, or make it a repository: git init {path!q} && memento -C {path!q} init"
    )


class FolderUnusable(Refused):
    token = "folder_unusable"
    sentence = "{path} cannot hold a ledger: {problem}"
    hint_ = "name a folder that you may make, read and write, on a disk that has space"


@contextlib.contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Let what the operating system refuses of the folder of a ledger be a refusal that names it."""
    if "\0" in str(folder):
        raise FolderUnusable(path=folder, problem="no name of a folder holds a null character")
    try:
        yield
    except OSError as error:
        raise FolderUnusable(path=folder, problem=error.strerror or type(error).__name__) from error


def is_repository(folder: Path) -> bool:
    """Tell whether a folder is the top of a repository of its own; one that lies in another does not count."""
    return (folder / ".git").exists()


def holds_nothing(folder: Path) -> bool:
    """Tell whether a folder holds nothing of anybody's: not a file, and of a repository no index."""
    others = [one for one in folder.iterdir() if not one.name.startswith(MAKING) and one.name != ".git"]
    return not others and not (folder / ".git" / "index").exists()


def found(folder: Path) -> None:
    """Make a folder a git repository, at once and whole; refuse one that holds somebody's files already.

    It is made within the folder, which somebody may stand in or have mounted.
    """
    with usable(folder):
        _make(folder)


def _make(folder: Path) -> None:
    if not is_repository(folder):
        _begin(folder)
    for left in folder.glob(f"{MAKING}*"):  # of a process that was killed; one that is at it is too late by now
        with contextlib.suppress(OSError):  # such a one clears its own
            if left.is_dir() and not left.is_symlink() and holds_nothing(left):
                shutil.rmtree(left)


def _begin(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and holds_nothing(folder)):
        raise FolderNotEmpty(path=folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=MAKING, dir=folder))
    try:
        _init(made)
        (made / ".git").rename(folder / ".git")
    except (OSError, FolderUnusable):
        if not is_repository(folder):  # another process was quicker
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _init(folder: Path) -> None:
    done = run_in(folder, "init", "--quiet", "--template=", "--initial-branch=main", ".")
    if done.returncode:
        raise FolderUnusable(path=folder.parent, problem=reason_of(done.stderr, done.returncode))


def name_somebody(ledger: Ledger) -> None:
    """Let commits bear the name of who is logged in where git knows none; nothing is written to any configuration."""
    if "user.email" in ledger.settings or set(EMAILS) <= set(os.environ):
        return
    import getpass

    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = "somebody"
    given = {f"GIT_{role}_NAME": name for role in ("AUTHOR", "COMMITTER")} | dict.fromkeys(EMAILS, f"{name}@localhost")
    ledger.git.extra |= {key: value for key, value in given.items() if key not in os.environ}
    ledger.forget_settings()
