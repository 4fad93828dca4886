"""State is a fold: each event is judged once, against what it had seen; the heads together are the state. Pure.

Events of one *group* are ordered by `after` alone. A group is a run, a task, a piece of evidence, or all plans of a
run (approving a plan reads and supersedes the others).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from memento_git.errors import Refused
from memento_git.folding.lanes import NOTHING, Lanes, Value, Writes, merge
from memento_git.folding.voided_events import is_out, takes_out, undone, voided
from memento_git.model.enumeration import grouped
from memento_git.model.ids import Ref, kind_of
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memento_git.model.work import Event

FOLLOWING: Final = "is itself incomplete"


class Source(Protocol):
    """Where the events come from."""

    def event(self, identity: str) -> Event | None: ...

    def unreadable(self, identity: str) -> Event | None:
        """Return what the path of an event tells whose file cannot be read."""

    def group(self, key: str) -> Sequence[str]: ...


class Seen(NamedTuple):
    """What an event had seen: its own record, its run, the run's plans, and the other tasks it names.

    `kept` has the value of each contested lane on the side of the event that is kept, or without the one voided.
    """

    own: Lanes
    run: Lanes = NOTHING
    plans: Lanes = NOTHING
    tasks: Mapping[str, Lanes] = {}
    kept: Lanes = NOTHING
    voidable: bool = False


class Judged(NamedTuple):
    """One event with its verdict: legal, illegal (seen but without effect) or dangling (not folded)."""

    event: Event
    verdict: str
    why: str
    token: str
    writes: Writes
    parents: tuple[str, ...]
    past: frozenset[str]


class Folded(NamedTuple):
    """A group's state: its lanes, the heads that a further event must name, and what is wrong."""

    lanes: Lanes
    heads: tuple[str, ...]
    events: tuple[Judged, ...]
    illegal: tuple[Judged, ...]
    dangling: tuple[Judged, ...]

    def legal(self, *verbs: str) -> list[Event]:
        """Return the legal events, of some verbs where any are named, in the order of the fold."""
        return [seen.event for seen in self.events if seen.verdict == "legal" and (not verbs or seen.event.do in verbs)]

    def stands(self, seen: Judged) -> bool:
        """Tell whether an event was not taken out altogether: some of it holds, or it is told as wrong."""
        if seen.verdict != "legal":
            return seen.event.id not in self.put_aside
        return not is_out(seen, self.undone.get(seen.event.id, ()))

    def verdicts(self, gate: str) -> list[Judged]:
        """Return all that was said of a gate, asking for it too, legal or not, in the order of the fold."""
        return [seen for seen in self.events if seen.event.get("gate") == gate]

    @property
    def undone(self) -> dict[str, set[str]]:
        """Return the legal events that were taken out, each with its lanes; on its other lanes it still holds."""
        return undone(self.events)

    @property
    def put_aside(self) -> set[str]:
        """Return the events without effect that a void took out: nothing is left to do about them."""
        waiting = {seen.event.id for seen in (*self.illegal, *self.dangling)}
        return {seen.event.id for seen in self.events if seen.verdict != "legal"} - waiting


EMPTY = Folded(NOTHING, (), (), (), ())


def _dangling(event: Event, token: str, why: str) -> Judged:
    return Judged(event, "dangling", why, token, {}, (), frozenset())


def group_of(event: Event) -> str:
    return group_in(event.run, event.of)


def group_in(run: str, record: str) -> str:
    """Return the group of what happens to a record of a run, or to a note."""
    return plans_of(run) if kind_of(record) == "plan" else record


def plans_of(run: str) -> str:
    return f"plans:{run}"


def last_of(events: Iterable[Judged]) -> list[Event]:
    """Return the events of some that had an effect, and that no other of these had seen."""
    told = [one for one in events if one.verdict == "legal" and one.writes]
    seen = frozenset[str]().union(*(one.past for one in told))
    return [one.event for one in told if one.event.id not in seen]


class Fold:
    """Judges events on demand by one transition table, and remembers each verdict."""

    def __init__(self, source: Source, judge: Callable[[Event, Seen], Writes]) -> None:
        self.source = source
        self._table = judge
        self._judged: dict[str, Judged | None] = {}
        self._lanes: dict[frozenset[str], Lanes] = {}
        self._groups: dict[str, Folded] = {}

    def renew(self, identity: str, key: str) -> None:
        """Fold a group anew after an event came to it."""
        self._judged.pop(identity, None)
        self._groups.pop(key, None)

    def judged(self, identity: str) -> Judged | None:
        """Return an event's verdict; None when there is no such event."""
        stack = [identity]
        under_way: set[str] = set()
        while stack:
            top = stack[-1]
            if top in self._judged:
                stack.pop()
                continue
            event = self.source.event(top)
            if event is None:
                self._judged[top] = self._broken(top)
                continue
            under_way.add(top)
            waiting = [ref.id for ref in event.after if ref.id not in self._judged and ref.id not in under_way]
            if waiting:
                stack += waiting
            else:
                self._judged[top] = self._verdict(event)
        return self._judged[identity]

    def _broken(self, identity: str) -> Judged | None:
        """Return the verdict on a file that cannot be read: nobody knows what happened, so nothing rests on it."""
        event = self.source.unreadable(identity)
        return None if event is None else _dangling(event, "E001", f"the file of {identity} cannot be read")

    def absent(self, identity: str) -> list[Ref]:
        """Return what an event names and is not there to be folded; only a dangling one names such."""
        found = self.judged(identity)
        return [
            ref
            for ref in (found.event.after if found is not None else ())
            if (seen := self.judged(ref.id)) is None or seen.event.digest != ref.digest or seen.verdict == "dangling"
        ]

    def _verdict(self, event: Event) -> Judged:
        for ref in event.after:
            seen = self._judged.get(ref.id)
            if seen is None:
                return _dangling(event, "E002", f"{ref.id}, which it names, is absent")
            if seen.event.digest != ref.digest:
                return _dangling(event, "E003", f"{ref.id} is not the file it names")
            if seen.verdict == "dangling":
                return _dangling(event, "E002", f"{ref.id}, which it names, {FOLLOWING}")
        parents = self._named(event).get(group_of(event), [])
        past = frozenset(self._past(parents))
        try:
            writes = self.judge(event)
        except Refused as refusal:
            return Judged(event, "illegal", refusal.message, refusal.token, {}, tuple(parents), past)
        return Judged(event, "legal", "", "", writes, tuple(parents), past)

    def judge(self, event: Event) -> Writes:
        """Return what an event writes, given what it names; raise the refusal of the transition table."""
        return self._table(event, self._seen(event))

    def seen_by(self, event: Event) -> frozenset[str]:
        """Return the events of all groups that an event names, and what came before each in its own group."""
        named = [seen for ref in event.after if (seen := self.judged(ref.id)) is not None]
        return frozenset(seen.event.id for seen in named).union(*(seen.past for seen in named))

    def _named(self, event: Event) -> dict[str, list[str]]:
        """Return what an event names, by group."""
        return grouped((group_of(seen.event), seen.event.id) for seen in self._known(ref.id for ref in event.after))

    def _known(self, names: Iterable[str]) -> list[Judged]:
        return [seen for name in names if (seen := self._judged[name]) is not None]

    def _seen(self, event: Event) -> Seen:
        named = self._named(event)
        own = group_of(event)
        run, plans = event.run, plans_of(event.run)
        return Seen(
            own=self.lanes(named.get(own, [])),
            run=self.lanes(named.get(run, [])) if own != run else NOTHING,
            plans=self.lanes(named.get(plans, [])) if own != plans else NOTHING,
            tasks={key: self.lanes(ids) for key, ids in named.items() if key.startswith("task_") and key != own},
            kept=self._kept(event, named.get(own, [])),
            voidable=event.do == "voided" and self._voidable(event, named.get(own, [])),
        )

    def _kept(self, event: Event, heads: list[str]) -> Lanes:
        """Return what a settling event makes of each contested lane: the kept side, or all but the voided event."""
        past = self._past(heads)
        keep, target = event.get("keep"), event.get("target")
        if keep in past:
            sides = {lane: self._side(lane, keep, events) for lane, events in self.lanes(heads).contested.items()}
        elif target in past:
            rest = self._writers(past, {event.id: target})
            seen = self._judged[target]
            sides = {lane: rest.get(lane, {}) for lane in (seen.writes if seen else ())}
        else:
            return NOTHING
        merged = merge({lane: written for lane, written in sides.items() if written})
        values = {lane: value for lane, value in merged.values.items() if lane not in merged.contested}
        before = self.lanes([keep]).values if keep in past else {}
        return Lanes({**before, **values}, {})

    def _side(self, lane: str, keep: str, events: Iterable[str]) -> dict[str, Value]:
        """Return the writings among concurrent ones that are the kept event's, or before or after it."""
        kept = self._past([keep])
        return {
            seen.event.id: seen.writes[lane]
            for seen in self._known(events)
            if seen.event.id in kept or keep in seen.past
        }

    def _voidable(self, event: Event, heads: list[str]) -> bool:
        """Tell whether the target of a void is illegal, was not folded, or disagrees with others."""
        target = event.get("target")
        if target not in self._past(heads):
            return True
        seen = self._judged[target]
        contested = self.lanes(heads).contested
        return seen is None or seen.verdict != "legal" or any(target in events for events in contested.values())

    def _past(self, heads: Iterable[str]) -> set[str]:
        known = self._known(heads)
        return {seen.event.id for seen in known}.union(*(seen.past for seen in known))

    def lanes(self, heads: Iterable[str]) -> Lanes:
        """Return the state that judged events of one group come to, with all that they had seen."""
        key = frozenset(heads)
        if not key:
            return NOTHING
        if key not in self._lanes:
            self._lanes[key] = self._continued(key) or merge(self._writers(self._past(key)))
        return self._lanes[key]

    def _continued(self, heads: frozenset[str]) -> Lanes | None:
        """Return the state after one head as its parents' state with its own writings on top."""
        if len(heads) > 1:
            return None
        seen = self._judged[next(iter(heads))]
        if seen is None or seen.event.do == "voided":
            return None
        before = self._lanes.get(frozenset(seen.parents), NOTHING if not seen.parents else None)
        if before is None:
            return None
        contested = {lane: events for lane, events in before.contested.items() if lane not in seen.writes}
        return Lanes({**before.values, **seen.writes}, contested)

    def _writers(self, past: set[str], further: Mapping[str, str] | None = None) -> dict[str, dict[str, Value]]:
        """Return lane -> event -> value of the latest writings, those that no other one had seen.

        `further` has a void that is being judged -> its target.
        """
        found = [seen for seen in self._known(sorted(past)) if seen.verdict == "legal"]
        voids = {
            seen.event.id: target.event.id
            for seen in found
            if seen.event.do == "voided" and (target := self._judged.get(seen.event.get("target")))
            if takes_out(seen, target)
        }
        gone = voided({**voids, **(further or {})})
        writers: dict[str, dict[str, Judged]] = {}
        for seen in found:
            if seen.event.id not in gone:
                for lane in seen.writes:
                    writers.setdefault(lane, {})[seen.event.id] = seen
        return {
            lane: {
                identity: seen.writes[lane]
                for identity, seen in written.items()
                if not any(identity in other.past for other in written.values())
            }
            for lane, written in writers.items()
        }

    def group(self, key: str) -> Folded:
        """Return the state of a group from all of its events."""
        if key not in self._groups:
            self._groups[key] = self._fold([seen for name in self.source.group(key) if (seen := self.judged(name))])
        return self._groups[key]

    def _fold(self, events: list[Judged]) -> Folded:
        if not events:
            return EMPTY
        events = sorted(events, key=lambda seen: (len(seen.past), seen.event.at, seen.event.id))
        folded = [seen for seen in events if seen.verdict != "dangling"]
        passed = {parent for seen in folded for parent in seen.parents}
        heads = tuple(sorted(seen.event.id for seen in folded if seen.event.id not in passed))
        voids = [seen for seen in folded if seen.event.do == "voided" and seen.verdict == "legal"]
        gone = voided({seen.event.id: seen.event.get("target") for seen in voids if self._settles(seen)})
        standing = [seen for seen in events if seen.event.id not in gone]
        return Folded(
            self.lanes(heads),
            heads,
            tuple(events),
            tuple(seen for seen in standing if seen.verdict == "illegal"),
            tuple(seen for seen in standing if seen.verdict == "dangling"),
        )

    def _settles(self, void: Judged) -> bool:
        """Tell whether nothing is left to do about a void's target; of an incomplete one it names what is absent.

        Nobody knows what an event named that cannot be read.
        """
        target = self.judged(void.event.get("target"))
        if target is None or target.verdict == "illegal" or target.token == "E001":
            return True
        return takes_out(void, target, self.absent(target.event.id))
