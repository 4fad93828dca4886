"""The parts of a record, and how concurrent writings of one come together; no disk."""

from __future__ import annotations

from itertools import permutations

import pytest

from memento_git.folding.lanes import (
    CANONICAL,
    SELECTED,
    STATUS,
    Lanes,
    Value,
    choice,
    join,
    merge,
    spoken,
    task_status,
)  # fmt: skip


def lanes(**values: Value) -> Lanes:
    """Return lanes by their names, with `__` for a colon."""
    return Lanes({name.replace("__", ":"): value for name, value in values.items()}, {})


@pytest.mark.parametrize(("lane", "written", "come_to"), [
    ("gate:release", [("passed",), ("failed",), ("waived",)], ("failed",)),
    ("gate:release", [("passed",), ("waived",)], ("waived",)),
    ("gate:release", [("passed",), ("requested",)], ("requested",)),
    ("lease:d", [("2026-01-01",), ("2026-01-03",), ("2026-01-02",)], ("2026-01-03",)),
    ("latest:about", [("2026-01-02", "b"), ("2026-01-01", "z")], ("2026-01-02", "b")),
    (STATUS, [("superseded",), ("redacted",), ("retracted",)], ("redacted",)),
    (STATUS, [("dispatched", ""), ("completed", ""), ("in_progress", "")], ("completed", "")),
    (STATUS, [("dispatched", "a"), ("in_progress", "")], None), (STATUS, [("completed", ""), ("blocked", "")], None),
    (STATUS, [("completed", ""), ("completed", "")], ("completed", "")),
    (STATUS, [("retracted",), ("recorded",)], None),
    (STATUS, [("paused",), ("paused",)], ("paused",)), (STATUS, [("paused",), ("active",)], None),
    (STATUS, [("superseded",), ("retracted",)], ("retracted",)),
    (STATUS, [("dispatched", "d1"), ("completed", "d1")], None),
    (STATUS, [("dispatched", "d1"), ("dispatched", "d2")], None), (STATUS, [("completed", ""), ("accepted", "")], None),
    (CANONICAL, [("p", "t"), ("p", "u")], None), ("dispatch:d", [("claimed", "a"), ("claimed", "b")], None),
    ("state", [("superseded",), ("retracted",)], None), (CANONICAL, [("dispatched", ""), ("completed", "")], None),
])  # fmt: skip
def test_concurrent_writings_come_together_whichever_came_first(
    lane: str, written: list[Value], come_to: Value | None
) -> None:
    assert {join(lane, one) for one in permutations(written)} == {come_to}


def test_what_does_not_come_together_is_contested_by_those_who_wrote_it() -> None:
    one, other = {"event_b": ("blocked", ""), "event_a": ("completed", "")}, {"event_a": ("plan_1",)}
    found = merge({STATUS: one, CANONICAL: other, "gate:release": {"event_a": ("passed",), "event_b": ("failed",)}})
    assert found.values == {STATUS: ("contested", ""), CANONICAL: ("plan_1",), "gate:release": ("failed",)}
    assert found.contested == {STATUS: ("event_a", "event_b")}


@pytest.mark.parametrize(("held", "status"), [
    (lanes(), "pending"), (lanes(status=("completed", ""), dispatch__a=("failed", "")), "completed"),
    (lanes(status=("dispatched", "a"), dispatch__a=("queued", "")), "dispatched"),
    (lanes(status=("in_progress", ""), dispatch__a=("claimed", "Ada"), dispatch__b=("failed", "")), "in_progress"),
    (lanes(status=("in_progress", ""), dispatch__a=("failed", ""), dispatch__b=("contested", "")), "in_progress"),
    (lanes(status=("in_progress", ""), dispatch__a=("failed", ""), dispatch__b=("recovered", "")), "blocked"),
    (lanes(status=("dispatched", ""), dispatch__a=("recovered", ""), gate__x=("failed",)), "pending"),
])  # fmt: skip
def test_a_task_whose_tries_have_all_ended_is_in_nobodys_hands(held: Lanes, status: str) -> None:
    assert task_status(held) == status


def test_a_choice_is_taken_back_with_its_candidate() -> None:
    chosen = {SELECTED: ("a",), "candidate:b": ("reopened",)}
    assert choice(Lanes({**chosen, "candidate:a": ("completed",)}, {})) == "a"
    assert choice(Lanes({**chosen, "candidate:a": ("reopened",)}, {})) == ""
    assert choice(Lanes({}, {})) == ""


def test_lanes_are_asked_for_by_what_they_are_of() -> None:
    held = lanes(status=("completed",), dispatch__a=("queued", ""), dispatch__b=("failed", ""), dispatches=("x",))
    assert held.named("dispatch") == {"a": ("queued", ""), "b": ("failed", "")}
    assert held.open_dispatches() == ["a"]
    assert [held.detail(lane) for lane in (STATUS, "dispatch:a", "nothing")] == ["", "", ""]
    assert lanes(status=("dispatched", "a")).detail(STATUS) == "a"


@pytest.mark.parametrize(("lane", "words"), [
    ("dispatch:dispatch_1", "dispatch_1"), ("plan:plan_1", "plan_1"), ("gate:release", "gate release"),
    ("lease:dispatch_1", "the lease of dispatch_1"), (CANONICAL, "which plan is canonical"), (STATUS, "its state"),
])  # fmt: skip
def test_a_lane_is_called_as_people_call_it(lane: str, words: str) -> None:
    assert spoken(lane) == words
