"""A throw-away index and object store, in which git can look at a work tree or an index and leave nothing behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.git import Git


def variables(git: Git, folder: Path) -> dict[str, str]:
    """Make an object store in a folder; return what leads git to it, to `index` beside it and to the real objects."""
    objects = folder / "objects"
    objects.mkdir()
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(git.common_dir / "objects")),
    }


def _quoted(path: str) -> str:
    """Return a path as git reads it in a list that colons separate."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if os.name == "posix" else path
