"""Refs that are deleted, by a git in a group of its own: a kill of ours leaves it the time to take its locks away."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from memento_git.ledger.git import GitFailed

if TYPE_CHECKING:
    from memento_git.ledger.git import Git


def drop(git: Git, ref: str, *was: str) -> None:
    """Delete a ref, where it is there; `was`: only while it is still at that object."""
    with contextlib.suppress(GitFailed):
        git.run_apart("update-ref", "-d", ref, *was)
