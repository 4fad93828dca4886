"""What can be computed again, kept in the git directory under the ids that it was computed from."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, Final

from memento_git import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.git import Git

VERSION: Final = f"{__version__}.5"  # raised with every change of what is kept or how it is computed


def _path(git: Git, name: str) -> Path:
    return git.common_dir / "memento" / "cache" / f"{name}.json"


def read(git: Git, name: str, key: str) -> Any:
    """Return what was kept under a name if it was computed from the same key, else None."""
    try:
        held: Any = json.loads(_path(git, name).read_bytes())
    except (OSError, ValueError):
        return None
    return held["value"] if isinstance(held, dict) and held.get("key") == f"{VERSION}:{key}" else None


def write(git: Git, name: str, key: str, value: object) -> None:
    """Keep a value; where the file system refuses, it is computed again next time."""
    path = _path(git, name)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps({"key": f"{VERSION}:{key}", "value": value}), encoding="utf-8")
        temporary.replace(path)
