"""Every test of this folder goes through the doors; here is shown that one which does not is told."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cheats.doors import ABSENT, HANDS, VERBS
from tests.cheats.listed import LISTED, DoorsMissed, missed

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

ALL = {*VERBS, *HANDS}
told = pytest.mark.xfail(strict=True, raises=DoorsMissed, reason="a test that leaves doors out has to fail")
failing = pytest.mark.xfail(strict=True, raises=AssertionError, reason="what the doors assert does not come")


@pytest.mark.parametrize("walked", [set(), {"API", "CLI"}, {"branch", "merge", "squash"}, ALL - {"CLI", "staged"}])
def test_a_test_that_leaves_doors_out_is_told(walked: set[str]) -> None:
    with pytest.raises(DoorsMissed, match="goes through"):
        missed("test_something", walked)
    for whole in (VERBS, HANDS):
        missed("test_something", {*walked, *whole})
    missed("test_apply_takes_no_tricks_either", walked)
    with pytest.raises(DoorsMissed, match="take it off the list"):
        missed("test_apply_takes_no_tricks_either", {*walked, *HANDS})


def test_every_listed_name_is_a_test() -> None:
    trees = [ast.parse(path.read_text()) for path in Path(__file__).parent.glob("test_*.py")]
    names = {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {*LISTED} <= names


def test_no_door_of_a_table_is_missing() -> None:
    assert {door for door, _ in ABSENT} <= {*HANDS}
    assert all(reason.strip() for reason in (*ABSENT.values(), *LISTED.values()))


@told
def test_without_any_door() -> None:
    """A test that passes, and that no door has seen."""


@told
def test_with_the_fixture_alone(doors: Doors) -> None:
    assert doors.missing() == ["the run is empty: no task of it is completed"]


@told
def test_through_a_side_door(doors: Doors) -> None:
    """A check of one's own at some doors is no walk through all of them."""
    doors.check("--base", "main")
    next(doors.arrivals())
    next(doors.accepted("gate record", gate="quality_review", verdict="failed"))


def test_through_the_doors_of_verbs(doors: Doors) -> None:
    doors.refused("run_empty", "run complete", run=doors.play.run("Empty"))
    assert doors.walked == {*VERBS}


def test_through_the_doors_of_what_is_written_by_hand(doors: Doors) -> None:
    doors.sound()
    assert doors.walked == {*HANDS}


@failing
def test_a_refusal_that_does_not_come_fails(doors: Doors) -> None:
    doors.refused("run_empty", "gate record", gate="quality_review", verdict="failed")


@failing
def test_a_finding_that_does_not_come_fails(doors: Doors) -> None:
    doors.caught("P001")
