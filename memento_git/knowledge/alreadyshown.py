"""What a client's session was shown by hooks: a small file for each of the latest sessions, in the git directory."""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import TYPE_CHECKING, Final

from memento_git.ledger import wholefile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from memento_git.ledger.git import Git

SESSIONS: Final = 64
MOST: Final = 1000
PAIR: Final = 2
TELLING: Final = ("title", "text", "status", "expired", "anchors", "contradicted_by", "confirmed_at")


class AlreadyShown:
    """Which notes a session was shown, as they then were, and at which file; of a session without a name, none."""

    def __init__(self, git: Git, session: str) -> None:
        self.path: Path = git.common_dir / "memento" / "shown" / f"{_short(session)}.json"
        self._is_kept = bool(session)

    def read(self) -> list[list[str]]:
        """Return what was shown: a file, or nothing for a prompt, and the mark of a note."""
        try:
            held = json.loads(self.path.read_bytes()) if self._is_kept else []
        except (OSError, ValueError):
            return []
        return [one for one in held if isinstance(one, list) and len(one) == PAIR] if isinstance(held, list) else []

    def add(self, place: str, marks: Iterable[str]) -> None:
        """Keep what is shown; where the file system refuses, it may be shown again."""
        self._keep([*self.read(), *([place, mark] for mark in marks)][-MOST:])

    def forget(self) -> None:
        """Begin anew."""
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _keep(self, held: list[list[str]]) -> None:
        if not self._is_kept:
            return
        with contextlib.suppress(OSError):
            is_new = not self.path.exists()
            wholefile.write(self.path, json.dumps(held).encode())
            if is_new:
                _drop_old(self.path.parent)


def mark(hit: Mapping[str, Any]) -> str:
    """Return what tells a note from itself when it says something else, or something else holds of it."""
    return f"{hit['id']}@{_short(json.dumps([hit[key] for key in TELLING]))}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _drop_old(folder: Path) -> None:
    """Keep the latest sessions alone."""
    by_age = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime, reverse=True)
    for old in by_age[SESSIONS:]:
        old.unlink(missing_ok=True)
