"""Which ledgers a request is about: this project's, another's by its path, the user's own, or all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memento_git.errors import Refused
from memento_git.ledger import repository_init, scratch
from memento_git.ledger.environment import at_home
from memento_git.ledger.git import NotARepository
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.ledger.thread_safety import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
FOLDER: Final = "notes"
FILES: Final = (".db", ".sqlite", ".sqlite3", ".jsonl")


class NoUserNotes(Refused):
    token = "no_user_notes"
    sentence = "you have no notes of your own yet: there is nothing in {path}"
    hint_ = "keep one: memento remember TEXT --scope user"


class NoCodeBeside(Refused):
    token = "no_code_beside"
    sentence = "your own notes lie beside no code, so none can be about {place}"
    hint_ = "keep it in the project that has the code, without --scope user, or name the place in the text"


class Scoped(NamedTuple):
    """A ledger, and the name of its scope."""

    scope: str
    ledger: Ledger


def user_folder() -> Path:
    """Return the folder of the user's own ledger; it need not exist."""
    from platformdirs import user_data_path

    return user_data_path("memento-git", appauthor=False) / FOLDER


def existing(folder: Path, actor: str = "") -> Ledger | None:
    """Return the ledger whose repository a folder is, opened; None, and nothing made, where there is none."""
    if not repository_init.is_repository(folder):
        return None
    ledger = Ledger.open(folder, actor=actor)
    try:
        ledger.view()
    except NoLedger:
        ledger.close()
        return None
    repository_init.name_somebody(ledger)
    return ledger


def founded(folder: Path, actor: str = "") -> Ledger:
    """Return the ledger of a folder, opened; made where nothing is; somebody's repository is not touched.

    One without a commit or a file may be what a crash has left of ours.
    """
    held = existing(folder, actor)
    if held is not None:
        return held
    from memento_git.work.actions.setup import init_ledger

    repository_init.found(folder)
    ledger = Ledger.open(folder, actor=actor)
    repository_init.name_somebody(ledger)
    if ledger.git.head()[0] is None and repository_init.holds_nothing(folder):
        init_ledger(ledger)
        return ledger
    ledger.close()
    made_meanwhile = existing(folder, actor)
    if made_meanwhile is None:
        raise NoLedger(where=f"HEAD of {folder}")
    return made_meanwhile


def begun(folder: Path, actor: str, keep: Callable[[Ledger], object]) -> Ledger:
    """Return the ledger of a folder that has none yet, made once one made aside takes what is to be kept first.

    So what is refused makes nothing.
    """
    with repository_init.usable(folder), scratch.folder() as aside, founded(Path(aside), actor) as trial:
        keep(trial)
    return founded(folder, actor)


class Held:
    """The ledger that a path stands for, opened when it is needed, made when something is first kept in it."""

    def __init__(self, path: str | Path | None = None, actor: str = "") -> None:
        self.folder = user_folder() if path is None else folder_of(at_home(path)).absolute()
        self.actor = actor
        self._ledger: Ledger | None = None
        self.turn = Turn()

    def reading(self) -> Ledger | None:
        """Return the ledger, None where nothing was kept yet."""
        if self._ledger is None:
            with repository_init.usable(self.folder):
                self._ledger = self._around() or existing(self.folder, self.actor)
        return self._ledger

    def keep(self, act: Callable[[Ledger], T]) -> T:
        """Let something be kept in the ledger, which is made where it is missing."""
        held = self.reading()
        if held is None:
            held = self._ledger = begun(self.folder, self.actor, act)
        return act(held)

    def _around(self) -> Ledger | None:
        """Return the ledger of the repository in which a folder that holds files lies."""
        if repository_init.is_repository(self.folder) or not self.folder.is_dir() or not any(self.folder.iterdir()):
            return None
        try:
            ledger = Ledger.open(self.folder, actor=self.actor)
            ledger.view()
        except (NotARepository, NoLedger):
            return None
        return ledger

    def close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None


def folder_of(path: Path) -> Path:
    """Return the folder of the ledger that a path names: that of a data base file is the name without its suffix."""
    return path.with_suffix("") if path.suffix in FILES else path


def user_ledger(actor: str = "") -> Ledger:
    """Return the user's own ledger; nothing is made where there is none."""
    held = existing(user_folder(), actor)
    if held is None:
        raise NoUserNotes(path=user_folder())
    return held


def readable(scope: str, workspace: str | Path, actor: str = "") -> Iterator[Scoped]:
    """Yield the ledgers that a reading request is about, opened; the caller closes them.

    With `all`, what does not exist is passed over, unless nothing exists at all; alone, it is refused.
    """
    if scope == "project":
        yield Scoped("project", Ledger.open(workspace, actor=actor))
        return
    if scope == "user":
        yield Scoped("user", user_ledger(actor))
        return
    own = existing(user_folder(), actor)
    try:
        project = Ledger.open(workspace, actor=actor)
        project.view()
    except (NotARepository, NoLedger):
        if own is None:
            raise
    else:
        yield Scoped("project", project)
        if own is not None and own.git.common_dir == project.git.common_dir:
            own.close()
            return
    if own is not None:
        yield Scoped("user", own)
