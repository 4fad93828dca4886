"""What a clone's code has said of itself so far: kept below the common git directory, so that nothing is told twice."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from memento_git.ledger import lock, wholefile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memento_git.ledger.git import Git

FORMAT: Final = 1


class Scanned:
    """The contents that were read, the last one of each file, and what each place said and which draft that became."""

    def __init__(self, git: Git, name: str = "scanned") -> None:
        self.path: Path = git.common_dir / "memento" / f"{name}.json"
        self.blobs: set[str] = set()
        self.last: dict[str, str] = {}
        self.said: dict[str, tuple[str, str]] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let one process at a time read code; what it found is kept also where it ends early."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock.held(self.path.with_suffix(".lock")):
            self._load()
            try:
                yield
            finally:
                self.keep()

    def _load(self) -> None:
        """Read what was kept; where that cannot be read, all is new, and drafts that are there are found by text."""
        try:
            told = json.loads(self.path.read_bytes())
            if told["format"] == FORMAT:
                self.blobs = {str(blob) for blob in told["blobs"]}
                self.last = {str(path): str(blob) for path, blob in told.get("last", {}).items()}
                self.said = {str(place): (str(text), str(draft)) for place, (text, draft) in told["said"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self.blobs, self.last, self.said = set(), {}, {}

    def keep(self) -> None:
        told = {"format": FORMAT, "blobs": sorted(self.blobs), "last": self.last, "said": self.said}
        wholefile.write(self.path, json.dumps(told).encode())

    def of(self, path: str) -> dict[str, tuple[str, str]]:
        """Return place -> what it said and its draft, of one file."""
        return {place: one for place, one in self.said.items() if place.partition("::")[0] == path}
