"""Ledgers that exist in memory only: the events of one run, told in a few words, and their fold."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from memento_git.folding.fold import Fold, Folded, group_of, plans_of
from memento_git.folding.lanes import STATUS, task_status
from memento_git.model.ids import Ref, random_part
from memento_git.model.work import Event
from memento_git.work.transitions import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RUN = "run_000000000000"
TASK = "task_000000000001"
OTHER = "task_000000000002"
PLAN = "plan_000000000001"
PLAN2 = "plan_000000000002"
PROOF = "evidence_000000000001"
TEXT = "a" * 32
ADA, BOB = "Ada", "Bob"


class Tale:
    """Events by short name; each names the heads of what it reads, or exactly what the test says it saw."""

    def __init__(self) -> None:
        self.events: dict[str, Event] = {}
        self.broken: dict[str, Event] = {}
        self.listed: list[str] = []

    # What the fold asks.

    def event(self, identity: str) -> Event | None:
        return self.events.get(identity)

    def unreadable(self, identity: str) -> Event | None:
        return self.broken.get(identity)

    def group(self, key: str) -> Sequence[str]:
        names = self.listed or [*self.events, *self.broken]
        known = {**self.events, **self.broken}
        return [name for name in names if name in known and group_of(known[name]) == key]

    # What a test tells.

    def tell(
        self, do: str, of: str = TASK, *, by: str = ADA, after: Iterable[str] | None = None,
        reads: Sequence[str] = (), at: str = "2026-01-01T00:00:00.000Z", **data: Any,
    ) -> str:  # fmt: skip
        """Add an event and return its id; without `after` it has seen the heads of its record and of `reads`."""
        identity = f"event_{len(self.events) + len(self.broken):012d}"
        seen = self.heads(of, *reads) if after is None else list(after)
        refs = tuple(Ref(name, self.events[name].digest if name in self.events else "f" * 32) for name in sorted(seen))
        told = {"do": do, "of": of, **data}
        digest = hashlib.sha256(repr((identity, told, by, refs)).encode()).hexdigest()[:32]
        self.events[identity] = Event(identity, RUN, do, of, at, by, refs, data, digest, identity)
        return identity

    def heads(self, *records: str) -> list[str]:
        keys = {plans_of(RUN) if record.startswith("plan") else record for record in records}
        return [head for key in sorted(keys) for head in self.folded(key).heads]

    def approve(self, plan: str = PLAN, **options: Any) -> str:
        return self.tell("approved", plan, text=TEXT, reads=(RUN,), **options)

    def dispatch(self, task: str = TASK, *, plan: str = PLAN, **options: Any) -> str:
        """Hand a task out; return the event, whose number the dispatch shares."""
        reads = (RUN, PLAN, *options.pop("depends", ()))
        return self.tell("dispatched", task, executor="agent", plan=plan, reads=reads, **options)

    def claim(self, opened: str, task: str = TASK, **options: Any) -> str:
        until = options.pop("until", "2026-01-01T01:00:00.000Z")
        return self.tell("claimed", task, dispatch=handoff(opened), until=until, reads=(RUN,), **options)

    def complete(self, opened: str, task: str = TASK, **options: Any) -> str:
        rest: dict[str, Any] = {"code": {"tree": "1" * 40}, "text": TEXT, "evidence": [f"{PROOF}@{'e' * 32}"]}
        return self.tell("completed", task, dispatch=handoff(opened), reads=(RUN,), **{**rest, **options})

    def done(self, task: str = TASK) -> str:
        opened = self.dispatch(task)
        self.claim(opened, task)
        return self.complete(opened, task)

    # What it comes to.

    def folded(self, key: str = TASK) -> Folded:
        return Fold(self, judge).group(plans_of(RUN) if key.startswith("plan") else key)

    def status(self, record: str = TASK) -> str:
        lanes = self.folded(record).lanes
        if record.startswith("plan"):
            return lanes.word(f"plan:{record}", "draft")
        if record.startswith("task"):
            return "contested" if lanes.contested else task_status(lanes)
        return lanes.word(STATUS, "active" if record.startswith("run") else "recorded")

    def verdict(self, identity: str) -> tuple[str, str]:
        """Return an event's verdict, and the token of what is wrong with it."""
        seen = Fold(self, judge).judged(identity)
        assert seen is not None
        return seen.verdict, seen.token

    def dispatch_state(self, opened: str) -> tuple[str, ...]:
        return self.folded(TASK).lanes.values[f"dispatch:{handoff(opened)}"]


def handoff(opened: str) -> str:
    return f"dispatch_{random_part(opened)}"


def planned() -> Tale:
    """Return the tale of a run that has a canonical plan."""
    tale = Tale()
    tale.approve()
    return tale


def contested() -> tuple[Tale, str, str, str]:
    """Return the tale of a task that two claimed, its hand-out, and both claims."""
    tale = planned()
    opened = tale.dispatch()
    before = tale.heads(TASK, RUN)
    return tale, opened, tale.claim(opened, after=before), tale.claim(opened, after=before, by=BOB)
