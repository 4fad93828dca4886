"""What `git ls-tree` tells of commits; of the last few it is remembered, for a commit never changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memento_git.ledger.names import WHOLE_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.ledger.git import Git

MOST: Final = 8
LONGEST: Final = 4 << 20


class Trees:
    """The answers of one repository."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._told: dict[tuple[str, ...], str] = {}

    def text(self, *what: str) -> str:
        """Return lines `mode type id<tab>path`, each with a NUL behind it, for a commit or tree and some paths."""
        if (known := self._told.get(what)) is not None:
            return known
        told = os.fsdecode(self._git.run("ls-tree", "-z", "--full-tree", *what))
        if any(WHOLE_ID.fullmatch(word) for word in what):
            self._keep(what, told)
        return told

    def below(self, commit: str, folder: str) -> str:
        """Return the lines of all files below a folder."""
        return self.text("-r", commit, "--", f"{folder}/")

    def made(self, base: str, commit: str, folder: str, blobs: Mapping[str, str | None]) -> None:
        """Take note of a commit that has these blobs, None for no file, below a folder and else what its parent has."""
        before = self._told.get(("-r", base, "--", f"{folder}/"))
        if before is None:
            return
        files = {line.partition("\t")[2]: line for line in before.split("\0")[:-1]}
        for path, blob in blobs.items():
            files.pop(path, None)
            files.update({path: f"100644 blob {blob}\t{path}"} if blob else {})
        lines = [files[path] for path in sorted(files, key=os.fsencode)]
        self._keep(("-r", commit, "--", f"{folder}/"), "".join(f"{line}\0" for line in lines))

    def _keep(self, what: tuple[str, ...], told: str) -> None:
        if len(told) <= LONGEST:
            self._told[what] = told
        while len(self._told) > MOST:
            del self._told[next(iter(self._told))]
