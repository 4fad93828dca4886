"""A throw-away index and object store, in which git can look at a work tree or an index and leave nothing behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memento_git.ledger.git import Git

SKIPPED: Final = "S"
WHOLE: Final = ("-c", "core.sparseCheckout=false")


def variables(git: Git, folder: Path) -> dict[str, str]:
    """Make an object store in a folder; return what leads git to it, to `index` beside it and to the real objects."""
    objects = folder / "objects"
    objects.mkdir()
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(git.common_dir / "objects")),
    }


def add_tracked(git: Git, extra: Mapping[str, str], *where: str) -> None:
    """Bring what lies in the work tree at tracked paths into a copied index, also what git was told not to look at.

    Commands see files that are marked assume-unchanged or skip-worktree. What a sparse checkout leaves out is not
    there, and stays what the index says.
    """
    _unmark(git, extra)
    git.run(*WHOLE, "add", "-u", "--", *where, extra=extra)


def _unmark(git: Git, extra: Mapping[str, str]) -> None:
    told = os.fsdecode(git.run(*WHOLE, "ls-files", "-v", "-z", extra=extra)).split("\0")
    hidden = {line[2:]: line[:1] for line in told if line[:1] == SKIPPED or line[:1].islower()}
    top = git.top or git.git_dir
    here = [path for path, tag in hidden.items() if tag.upper() == SKIPPED and os.path.lexists(top / path)]
    seen = [path for path, tag in hidden.items() if tag.islower() and (tag.upper() != SKIPPED or path in here)]
    for option, paths in (("--no-skip-worktree", here), ("--no-assume-unchanged", seen)):
        if paths:
            data = os.fsencode("\0".join(paths) + "\0")
            git.run(*WHOLE, "update-index", option, "-z", "--stdin", data=data, extra=extra)


def _quoted(path: str) -> str:
    """Return a path as git reads it in a list that colons separate."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if os.name == "posix" else path
