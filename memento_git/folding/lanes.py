"""The parts of a record that events write, and how concurrent writings of one part come together.

A lane is one part: a task's `status`, one of its dispatches, a gate. Each event writes some lanes. Where several
events wrote a lane and none of them had seen the other, the lane's join decides whether they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from memento_git.model.states import OPEN_DISPATCH
from memento_git.model.tuples import NamedTuple

Value = tuple[str, ...]
Writes = dict[str, Value]
STATUS: Final = "status"
CANONICAL: Final = "canonical"
SELECTED: Final = "selected"

SPOKEN: Final = {
    STATUS: "its state", CANONICAL: "which plan is canonical", SELECTED: "which candidate is selected",
    "lease": "the lease of",
}  # fmt: skip
NAMED_ALONE: Final = ("dispatch", "plan")  # whose ids say what they are

WORST_GATE: Final = ("passed", "waived", "requested", "failed")
WORST_EVIDENCE: Final = ("superseded", "retracted", "redacted")
FURTHEST: Final = ("dispatched", "in_progress", "completed")


class Lanes(NamedTuple):
    """What the parts of a record are: lane -> value, and the lanes on which events disagree, with those events."""

    values: Mapping[str, Value]
    contested: Mapping[str, tuple[str, ...]]

    def word(self, lane: str, default: str) -> str:
        """Return the first word of a lane's value."""
        return self.values[lane][0] if lane in self.values else default

    def detail(self, lane: str) -> str:
        value = self.values.get(lane, ())
        return value[1] if len(value) > 1 else ""

    def named(self, prefix: str) -> dict[str, Value]:
        """Return name -> value of all lanes `prefix:name`."""
        start = f"{prefix}:"
        return {lane[len(start) :]: value for lane, value in self.values.items() if lane.startswith(start)}

    def open_dispatches(self) -> list[str]:
        return [name for name, value in self.named("dispatch").items() if value[0] in OPEN_DISPATCH]


NOTHING: Final = Lanes({}, {})


def spoken(lane: str) -> str:
    """Return a lane as people call that part of a record."""
    kind, _, name = lane.partition(":")
    return name if kind in NAMED_ALONE else f"{SPOKEN.get(kind, kind)} {name}".rstrip()


def task_status(lanes: Lanes) -> str:
    """Return a task's own state; one whose tries all ended, each side unseen by the other, is in nobody's hands."""
    status = lanes.word(STATUS, "pending")
    if status not in ("dispatched", "in_progress") or lanes.open_dispatches():
        return status
    ends = {value[0] for value in lanes.named("dispatch").values()}
    if "contested" in ends:
        return status
    return "blocked" if "failed" in ends else "pending"


def choice(lanes: Lanes) -> str:
    """Return the chosen candidate, `contested` or nothing; reopening takes back a choice that it had not seen, too."""
    name = lanes.word(SELECTED, "")
    return "" if lanes.word(f"candidate:{name}", "") == "reopened" else name


def join(lane: str, values: Iterable[Value]) -> Value | None:
    """Return what concurrent writings of a lane come to, or None where they disagree."""
    different = sorted(set(values))
    if len(different) == 1:
        return different[0]
    if lane.startswith("gate:"):
        return max(different, key=lambda value: WORST_GATE.index(value[0]))
    if lane.startswith(("lease:", "latest:")):
        return different[-1]
    if lane == STATUS and all(value[0] in WORST_EVIDENCE for value in different):
        return max(different, key=lambda value: WORST_EVIDENCE.index(value[0]))
    if lane == STATUS and all(value[0] in FURTHEST and value[1:] == ("",) for value in different):
        return max(different, key=lambda value: FURTHEST.index(value[0]))
    return None


def merge(writers: Mapping[str, Mapping[str, Value]]) -> Lanes:
    """Return the lanes that the given events (lane -> event -> value) come to."""
    values: dict[str, Value] = {}
    contested: dict[str, tuple[str, ...]] = {}
    for lane, written in writers.items():
        joined = join(lane, written.values())
        if joined is None:
            contested[lane] = tuple(sorted(written))
            values[lane] = ("contested", "")
        else:
            values[lane] = joined
    return Lanes(values, contested)
