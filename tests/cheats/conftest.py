"""What every cheat begins with: a run with an approved plan, and a branch of it; and that it tries all doors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cheats.doors import Doors
from tests.cheats.listed import missed
from tests.conftest import initialised
from tests.play import made_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.play import Call, Play


def planned(play: Play) -> None:
    (play.root / "check.py").write_text("raise SystemExit(0 if 'good' in open('app.py').read() else 3)\n")
    (play.root / "app.py").write_text("good\n")
    play.commit_all("a check")
    play.planned()


@pytest.fixture
def original(made: Path) -> Path:
    """A repository with a check of its code, a ledger, and a run with an approved plan; made once."""
    return made_of(initialised(made), made / "planned", planned)


@pytest.fixture
def doors(play: Play, cli: Call) -> Doors:
    return Doors(play, cli)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Fail a test of this folder that passed without having gone through the doors."""
    answer = yield
    doors = pyfuncitem.funcargs.get("doors")
    missed(pyfuncitem.originalname, doors.walked if isinstance(doors, Doors) else set())
    return answer
