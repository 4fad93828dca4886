"""Which tests a commit has where not all of them are run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests import turns

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parent.parent
TESTS = [f"tests/test_one.py::test_it[{number}]" for number in range(400)]
COMMITS = [hashlib.sha1(str(number).encode()).hexdigest() for number in range(40)]


def test_each_test_has_a_turn_and_each_commit_about_its_share() -> None:
    had = {commit: {test for test in TESTS if turns.is_on(test, commit, 4)} for commit in COMMITS}
    assert set.union(*had.values()) == set(TESTS)
    assert all(60 < len(on) < 140 for on in had.values())
    assert len({frozenset(on) for on in had.values()}) == 4  # one share or another: none has tests of two
    assert all(turns.is_on(test, COMMITS[0], 1) for test in TESTS)


def test_those_that_make_no_repository_are_always_run(request: pytest.FixtureRequest) -> None:
    here = [item for item in request.session.items if item.path == request.path]
    assert turns.waiting(here, turns.commit(), 1 << 61) == []


def test_the_tests_that_make_one_wait_and_the_rest_is_told_of() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--co", "-p", "no:cacheprovider", "tests/test_batch.py"]
    told = {
        shares: subprocess.run(
            [*command, "--share", str(shares)], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout
        for shares in (1, 4)
    }
    assert "deselected" not in told[1]
    assert "whose turn" not in told[1]
    assert "deselected" in told[4]
    assert f"one in 4 whose turn it is at {turns.commit()[:12]}. All: pytest -q" in told[4]
