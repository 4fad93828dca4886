"""Tests take turns where not all of them are run: those that make a repository of their own, which is what costs."""

from __future__ import annotations

import subprocess
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def commit() -> str:
    """Return the commit that is tested; zero where the tests are in no repository."""
    command, here = ["git", "rev-parse", "--verify", "HEAD"], Path(__file__).parent
    told = subprocess.run(command, cwd=here, check=False, capture_output=True, text=True).stdout.strip()
    return told or "0"


def is_on(test: str, commit: str, shares: int) -> bool:
    """Tell whether it is a test's turn at a commit, when each commit has one of so many shares."""
    return zlib.crc32(test.encode()) % shares == int(commit, 16) % shares


def waiting(items: list[pytest.Item], commit: str, shares: int) -> list[pytest.Item]:
    """Return the tests that are not run at a commit."""
    makers = [item for item in items if "repo" in getattr(item, "fixturenames", ())]
    return [item for item in makers if not is_on(item.nodeid, commit, shares)]
