"""The projects that a user has given names: a list in the user's data folder, written only when that is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from memento_git.errors import MementoError, Misused, Refused
from memento_git.ledger import atomic_file, lock
from memento_git.ledger.git import NotARepository, WorkspaceMissing
from memento_git.ledger.store import Ledger, NoLedger
from memento_git.model.types import Pattern, problem_of
from memento_git.scopes import user_folder

FORMAT: Final = 1
NAME: Final = Pattern("a name such as shop or shop-api", r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


class ProjectNameInvalid(Misused):
    token = "project_name_invalid"
    sentence = "a project cannot be called so: {problem}"
    hint_ = "give it one: memento projects add PATH --name NAME"


class ProjectNameTaken(Refused):
    token = "project_name_taken"
    sentence = "{name} is another project already: {path}"
    hint_ = "give this one another name with --name, or drop that one: memento projects remove {name!q}"


class NoSuchProject(Refused):
    token = "project_not_found"
    sentence = "there is no folder {name}, and no project of that name in your list"
    hint_ = "see the list: memento projects; add one: memento projects add PATH"


class ProjectsUnreadable(Refused):
    token = "projects_unreadable"
    sentence = "the list of your projects, {path}, cannot be read: {problem}"
    hint_ = "repair the file, or remove it and add your projects again"


class Project(NamedTuple):
    """A project by its name: where it is on this machine, and whether its ledger is there."""

    name: str
    path: str
    state: str


def list_file() -> Path:
    """Return the file of the list; it need not exist."""
    return user_folder().parent / "projects.json"


def projects() -> list[Project]:
    """Return all projects of the list by name: `ok`, `gone` (no folder there), `no_ledger`, `unreadable`."""
    return [Project(name, path, _state(path)) for name, path in sorted(_read().items())]


def add_project(path: str, name: str = "") -> Project:
    """Put a project that has a ledger on the list; its name is what it is called elsewhere, unless one is given."""
    from memento_git.knowledge.actions.fetching import name_of

    with Ledger.open(path) as ledger:
        ledger.view()
        name = name or name_of(ledger.git)
        place = str(ledger.git.top or ledger.git.common_dir)
    if problem := problem_of(NAME, name):
        raise ProjectNameInvalid(problem=problem)
    file = list_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lock.held(file.with_suffix(".lock")):
        known = _read()
        if known.get(name, place) != place:
            raise ProjectNameTaken(name=name, path=known[name])
        _write({**known, name: place})
    return Project(name, place, _state(place))


def remove_project(name: str) -> Project:
    """Take a project off the list; nothing of it changes."""
    known = _read()
    if name not in known:
        raise NoSuchProject(name=name)
    with lock.held(list_file().with_suffix(".lock")):
        known = _read()
        path = known.pop(name, "")
        _write(known)
    return Project(name, path, _state(path))


def place_of(given: str) -> str:
    """Return the folder that a path, or else the name of a project of the list, means."""
    if Path(given).is_dir() or "/" in given or "\\" in given:
        return given
    known = _read()
    if given not in known:
        raise NoSuchProject(name=given)
    return known[given]


def _state(path: str) -> str:
    try:
        with Ledger.open(path) as ledger:
            ledger.view()
    except WorkspaceMissing:
        return "gone"
    except (NotARepository, NoLedger):
        return "no_ledger"
    except MementoError:
        return "unreadable"
    return "ok"


def _read() -> dict[str, str]:
    path = list_file()
    try:
        told = json.loads(path.read_bytes())
        if told["format"] != FORMAT:
            raise ProjectsUnreadable(path=path, problem="a newer memento wrote it")
        return {str(name): str(place) for name, place in told["projects"].items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProjectsUnreadable(path=path, problem=f"{type(error).__name__}: {error}") from None


def _write(known: dict[str, str]) -> None:
    told = {"format": FORMAT, "projects": dict(sorted(known.items()))}
    atomic_file.write(list_file(), (json.dumps(told, indent=1) + "\n").encode(), durable=True)
