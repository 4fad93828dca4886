"""The environment of our git commands: nothing in it leads to another repository or index, or asks a question."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCAL_VARIABLES: Final = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
})  # fmt: skip
QUARANTINE: Final = ("GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
QUIET: Final = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull,
}  # fmt: skip


def at_home(given: str | os.PathLike[str]) -> Path:
    """Return a path whose `~` is the home folder; as it is given where there is no such home."""
    return Path(os.path.expanduser(given))  # noqa: PTH111 (that of pathlib raises there)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return our environment without what ties git to another repository or index."""
    left_out = LOCAL_VARIABLES if QUARANTINE[0] not in os.environ else LOCAL_VARIABLES.difference(QUARANTINE)
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, **QUIET, **(extra or {})}
