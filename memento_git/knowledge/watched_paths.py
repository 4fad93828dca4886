"""Which paths notes are about, as a list in the git directory: by it a hook knows when a commit may touch one.

A path too many costs a hook a look in vain; so paths are added as notes are written or their code is found elsewhere,
and never taken away by that.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import atomic_file, layout
from memento_git.model import anchors
from memento_git.model.anchors import MANIFESTS, Anchor

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.transaction import Transaction

NAME: Final = "noted"
WILD: Final = re.compile(r"[*?\[\]]+")


def place(git: Git) -> Path:
    return git.common_dir / "memento" / NAME


def keep(git: Git, wanted: Iterable[Anchor]) -> None:
    """Add the paths of some places to the list."""
    _add(git, {name for one in wanted for name in _names(one)})


def keep_found(git: Git, paths: Iterable[str]) -> None:
    """Add the paths at which the code of notes was found, where it is elsewhere than they say."""
    if fit := {path for path in paths if _is_fit(path)}:
        _add(git, fit)


def _add(git: Git, names: set[str]) -> None:
    """Add to the list; where the file system refuses, the hook tells less."""
    path = place(git)
    with contextlib.suppress(OSError, UnicodeError):
        held = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        told = sorted(names | set(held))
        if told != held:
            atomic_file.write(path, "".join(f"{name}\n" for name in told).encode())


def keep_written(tx: Transaction) -> None:
    """Add the paths that the notes and events of a transaction name."""
    places: list[Mapping[str, Any]] = []
    for path, data in tx.changes.items():
        found = tx.view.record(path) if data is not None and path.startswith(layout.KNOWLEDGE) else None
        places += (found.data.get("about") or []) if found is not None else []
    if places:
        keep(tx.ledger.git, (anchors.from_data(one) for one in places))


def _names(anchor: Anchor) -> Iterator[str]:
    """Yield what the path of a file has in it that an anchor may be about."""
    if anchor.dependency and not anchor.path:
        yield from (*MANIFESTS, "requirements")
        return
    literal = max(WILD.split(anchor.path), key=len) if anchor.pattern else anchor.path
    if _is_fit(literal):
        yield literal


def _is_fit(path: str) -> bool:
    return bool(path.strip("/")) and path.isprintable()
