"""Folders of tasks and plans under another name than theirs: the command that brings each back."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.model.ids import ALPHABET, LENGTH, kind_of

if TYPE_CHECKING:
    from memento_git.ledger.view import View

NAME: Final = re.compile(rf"^id: ((?:task|plan)_[{ALPHABET}]{{{LENGTH}}})$", re.MULTILINE)
PROSE: Final = ("task", "plan")


def astray(view: View, record: str) -> str:
    """Return the command that brings the renamed folder of a task or a plan back; nothing where there is none."""
    name = f"/{kind_of(record)}.md"
    lost = (path for path in view.files if path.endswith(name) and layout.place_of(path) is None)
    found = ((_named(view, path), path) for path in lost)
    return next((brought_back(view, path) for one, path in found if one == record), "")


def brought_back(view: View, path: str) -> str:
    """Return the command that gives the folder of a file its name again, where the text in it is of a record."""
    folder, _, name = path.rpartition("/")
    texts = {f"{folder}/{kind}.md": kind for kind in PROSE}
    held = next((text for text in texts if text in view.files and layout.place_of(text) is None), "")
    record, run = _named(view, held) if held else "", layout.run_of_path(path)
    if not record or not run or kind_of(record) != texts[held]:
        return ""
    right = layout.folder_of(run, record)
    if f"{right}/{name}" in view.files:
        return ""
    parent = right.rpartition("/")[0]
    is_there = any(one.startswith(f"{parent}/") for one in view.files)
    made = "" if is_there else f"{shlex.join(['mkdir', '-p', parent])} && "
    return f"{made}{shlex.join(['git', 'mv', folder, right])}"


def _named(view: View, path: str) -> str:
    """Return the id that a text gives itself; nothing where it has none."""
    found = NAME.search((view.read(path) or b"").decode(errors="replace"))
    return found[1] if found else ""
