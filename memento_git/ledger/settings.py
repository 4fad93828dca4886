"""What git is configured to, and who it says commits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memento_git.ledger.asked import Asked

if TYPE_CHECKING:
    from memento_git.ledger.git import Git


def ask(git: Git) -> Asked:
    """Let git begin to tell its configuration and identities."""
    return Asked(git, "var", "-l")


def told(asked: Asked) -> dict[str, str]:
    """Wait until git has told them, and return the last value of each key."""
    found: dict[str, str] = {}
    for line in os.fsdecode(asked.answer()).split("\n"):
        key, _, value = line.partition("=")
        found[key] = value
    return found
