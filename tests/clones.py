"""A bare repository and its clones, each with a ledger opened by somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play import Play, git

if TYPE_CHECKING:
    from pathlib import Path


class Hub:
    """A bare repository that everybody pushes to."""

    def __init__(self, play: Play) -> None:
        self.bare: Path = play.root.parent / "hub.git"
        self.first = play
        git(play.root.parent, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(play.root, "remote", "add", "origin", str(self.bare))
        git(play.root, "push", "-q", "-u", "origin", "main")

    def clone(self, actor: str, *options: str, name: str = "") -> Play:
        """Return a clone of the hub, in a folder of the actor's name."""
        folder = self.bare.parent / (name or actor.lower())
        git(self.bare.parent, "clone", "-q", *options, self.bare.as_uri(), str(folder))
        return self.first.beside(folder, actor)

    def head(self, branch: str = "main") -> str:
        return git(self.bare, "rev-parse", branch)

    def refs(self) -> list[str]:
        """Return the claims that the hub holds."""
        return git(self.bare, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/memento/claims").split()


def hook(folder: Path, name: str, text: str) -> None:
    """Install a hook in a git directory."""
    path = folder / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def code(play: Play, text: str, name: str = "app.py") -> str:
    """Commit a file of code."""
    return play.commit(name, text, f"code {name}")
