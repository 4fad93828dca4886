"""What every cheat begins with: a run with an approved plan on `main`, and a branch of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cheats.doors import Doors

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Play


@pytest.fixture
def doors(play: Play, cli: Callable[..., Any]) -> Doors:
    (play.root / "check.py").write_text("raise SystemExit(0 if 'good' in open('app.py').read() else 3)\n")
    (play.root / "app.py").write_text("good\n")
    play.commit_all("a check")
    play.planned()
    return Doors(play, cli)
