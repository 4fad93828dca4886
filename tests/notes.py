"""Notes written by hand and committed by plain git, for tests of what reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.ledger.store import Ledger


class Notes:
    """A repository's notes, and the ledger that reads them."""

    def __init__(self, root: Path, ledger: Ledger) -> None:
        self.root = root
        self.ledger = ledger

    def path(self, number: str, domain: str = "decisions") -> str:
        identity = number.rjust(12, "0")
        return f".memento/knowledge/{domain}/{identity[0]}/note_{identity}.md"

    def add(self, number: str, title: str, text: str, front: str = "") -> str:
        """Write a note; return its path."""
        path = self.path(number)
        identity = path.rpartition("/")[2].removesuffix(".md")
        head = (
            f"id: {identity}\nkind: decision\ntitle: {title}\nat: 2026-11-22T10:00:00.000Z\nby: Ada <ada@x.invalid>\n"
        )
        self.file(path, f"---\n{head}origin: person\n{front}---\n{text}\n")
        return path

    def file(self, path: str, text: str) -> None:
        """Write any file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def remove(self, number: str) -> None:
        """Remove a note."""
        (self.root / self.path(number)).unlink()

    def commit(self) -> str:
        """Commit everything; return the commit."""
        git(self.root, "add", "--all")
        git(self.root, "commit", "-qm", "notes", "--allow-empty")
        return git(self.root, "rev-parse", "HEAD")
