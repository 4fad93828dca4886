"""Folders of runs, tasks and plans, and events, under another name than theirs: the command that brings each back."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout, staged
from memento_git.model.ids import ALPHABET, LENGTH, kind_of

if TYPE_CHECKING:
    from memento_git.ledger.view import View

NAME: Final = re.compile(rf"^id: ((?:run|task|plan)_[{ALPHABET}]{{{LENGTH}}})$", re.MULTILINE)
PROSE: Final = ("task", "plan", "run")


def misplaced(view: View, record: str) -> str:
    """Return the command that brings the renamed folder of a task or a plan back; nothing where there is none."""
    name = f"/{kind_of(record)}.md"
    lost = (path for path in view.files if path.endswith(name) and layout.place_of(path) is None)
    found = ((_named(view, path), path) for path in lost)
    return next((brought_back(view, path) for one, path in found if one == record), "")


def brought_back(view: View, path: str) -> str:
    """Return the command that gives the folder of a file its name again, by the text in it, or else an event its own.

    A run's folder that was renamed is led back as a whole; one file alone, where the right folder is there as well.
    """
    folder, run = path, layout.run_of_path(path)
    while view.files.get(path) and layout.run_of_path(f"{(folder := folder.rpartition('/')[0])}/"):
        for kind in PROSE:
            record = _named(view, text) if (text := f"{folder}/{kind}.md") in view.files else ""
            right = layout.folder_of(record if kind == "run" else run, record) if kind_of(record) == kind else folder
            if right != folder and (there := f"{right}{path[len(folder) :]}") not in view.files:
                return _moving(view, *((path, there) if _is_folder(view, right) else (folder, right)))
    was = _event(view, path) if view.files.get(path) else ""
    return _moving(view, path, was) if was else ""


def _moving(view: View, old: str, new: str) -> str:
    parent = new.rpartition("/")[0]
    made = "" if _is_folder(view, parent) else f"{shlex.join(['mkdir', '-p', parent])} && "
    return f"{made}{shlex.join(['git', 'mv', old, new])}"


def _is_folder(view: View, path: str) -> bool:
    return path in view.git.entries(view.commits[0], path)


def _event(view: View, path: str) -> str:
    """Return the first name that a file in the folder of a record had as an event; nothing where history has none."""
    folder, _, name = path.rpartition("/")
    if not layout.owner_of(folder) or not name.endswith(".yaml"):
        return ""
    names = view.git.lines(
        "log", "--reverse", "--no-renames", "--diff-filter=A", "--format=", "--name-only",
        f"--find-object={view.files[path]}", *staged.tips(view), "--", folder,
    )  # fmt: skip
    return next((one for one in names if one not in view.files and layout.place_of(one) is not None), "")


def _named(view: View, path: str) -> str:
    """Return the id that a text gives itself; nothing where it has none."""
    found = NAME.search((view.read(path) or b"").decode(errors="replace"))
    return found[1] if found else ""
