"""What every cheat begins with: a run with an approved plan, and a branch of it; and that it tries all doors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cheats.doors import Doors
from tests.cheats.listed import missed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.play import Play


@pytest.fixture
def doors(play: Play, cli: Callable[..., Any]) -> Doors:
    (play.root / "check.py").write_text("raise SystemExit(0 if 'good' in open('app.py').read() else 3)\n")
    (play.root / "app.py").write_text("good\n")
    play.commit_all("a check")
    play.planned()
    return Doors(play, cli)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Fail a test of this folder that passed without having gone through the doors."""
    answer = yield
    doors = pyfuncitem.funcargs.get("doors")
    missed(pyfuncitem.originalname, doors.walked if isinstance(doors, Doors) else set())
    return answer
