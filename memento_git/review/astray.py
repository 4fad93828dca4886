"""Folders of runs, tasks and plans, and events, under another name than theirs: the command that brings each back."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.model.ids import ALPHABET, LENGTH, kind_of

if TYPE_CHECKING:
    from memento_git.ledger.view import View

NAME: Final = re.compile(rf"^id: ((?:run|task|plan)_[{ALPHABET}]{{{LENGTH}}})$", re.MULTILINE)
PROSE: Final = ("task", "plan", "run")


def astray(view: View, record: str) -> str:
    """Return the command that brings the renamed folder of a task or a plan back; nothing where there is none."""
    name = f"/{kind_of(record)}.md"
    lost = (path for path in view.files if path.endswith(name) and layout.place_of(path) is None)
    found = ((_named(view, path), path) for path in lost)
    return next((brought_back(view, path) for one, path in found if one == record), "")


def brought_back(view: View, path: str) -> str:
    """Return the command that gives the folder of a file its name again, by the text in it, or else an event its own.

    A run's folder that was renamed is led back as a whole.
    """
    folder, run = path, layout.run_of_path(path)
    while run and (folder := folder.rpartition("/")[0]):
        for kind in PROSE:
            record = _named(view, text) if (text := f"{folder}/{kind}.md") in view.files else ""
            right = layout.folder_of(record if kind == "run" else run, record) if kind_of(record) == kind else folder
            if right != folder and f"{right}{path[len(folder) :]}" not in view.files:
                parent = right.rpartition("/")[0]
                is_there = any(one.startswith(f"{parent}/") for one in view.files)
                made = "" if is_there else f"{shlex.join(['mkdir', '-p', parent])} && "
                return f"{made}{shlex.join(['git', 'mv', folder, right])}"
    was = _event(view, path)
    return shlex.join(["git", "mv", path, was]) if was else ""


def _event(view: View, path: str) -> str:
    """Return the name that a file in the folder of a record had as an event; nothing where history has none."""
    folder, _, name = path.rpartition("/")
    if not layout.owner_of(folder) or not name.endswith(".yaml") or path not in view.files:
        return ""
    told = view.git.run(
        "log", "--no-renames", "--diff-filter=A", "--format=", "--name-only", "-z",
        f"--find-object={view.files[path]}", *view.commits, "--", folder,
    )  # fmt: skip
    names = os.fsdecode(told).split("\0")
    return next((one for one in names if one not in view.files and layout.place_of(one) is not None), "")


def _named(view: View, path: str) -> str:
    """Return the id that a text gives itself; nothing where it has none."""
    found = NAME.search((view.read(path) or b"").decode(errors="replace"))
    return found[1] if found else ""
