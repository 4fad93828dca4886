"""What voids and settling events take out, and what one takes out that is itself taken out. Pure."""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from memento_git.folding.lanes import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from memento_git.folding.fold import Judged
    from memento_git.model.ids import Ref

    Taking = Mapping[str, Mapping[str, set[str]]]  # settling event -> event that it takes out -> lanes


def takes_out(void: Judged, target: Judged, still: Collection[Ref] = ()) -> bool:
    """Tell whether a void holds against an event: it had seen it, or names what of its past was or is absent."""
    if target.event.id in void.past:
        return True
    absent = void.event.data.get("absent", ())
    named = {str(ref) for ref in target.event.after if ref.id not in void.past or ref in still}
    return bool(absent) and named.issuperset(absent)


def undone_by(seen: Judged, known: Mapping[str, Judged]) -> dict[str, set[str]]:
    """Return the legal events that an event voids or, settling what they wrote, does not keep, each with its lanes."""
    if seen.event.do == "voided":
        found = _target(seen, known)
        return {} if found is None else {found.event.id: _reach(found, known)}
    kept = known.get(seen.event.get("keep"))
    if kept is None:
        return {}
    name = kept.event.id
    return {
        other: lanes
        for other in seen.past - kept.past - {name}
        if other in known
        and name not in known[other].past
        and (lanes := seen.writes.keys() & known[other].writes.keys())
    }


def _target(void: Judged, known: Mapping[str, Judged]) -> Judged | None:
    found = known.get(void.event.get("target"))
    return found if found is not None and takes_out(void, found) else None


def _reach(seen: Judged, known: Mapping[str, Judged]) -> set[str]:
    """Return the lanes that go with an event: its own and, of a void, those of what it takes out."""
    lanes: set[str] = set()
    walked: set[str] = set()
    found: Judged | None = seen
    while found is not None and found.event.id not in walked:
        walked.add(found.event.id)
        lanes |= found.writes.keys()
        found = _target(found, known)
    return lanes


def _kept_by(settled: Judged, target: str, by: str, known: Mapping[str, Judged], taking: Taking) -> set[str]:
    """Return the lanes on which a settling event keeps an event that `by` takes out: its side's, or before or after.

    What that side had itself taken out before is not kept with it, nor what came after it and was out, or unseen.
    """
    kept = known.get(settled.event.get("keep"))
    if kept is None:
        return set()
    name, lanes = kept.event.id, settled.writes.keys() & known[target].writes.keys()
    if target == name or name in known[target].past:
        return lanes if target in settled.past and by not in settled.past else set()
    if target not in kept.past:
        return set()
    return lanes.difference(*(taking.get(one, {}).get(target, ()) for one in (*kept.past, name)))


def voided(voids: Mapping[str, str]) -> set[str]:
    """Return what voids (void -> target) take out; a void that another one takes out takes nothing out itself."""
    waiting = Counter(voids.values())
    ready = [void for void in voids if not waiting[void]]
    gone: set[str] = set()
    while ready:
        void = ready.pop()
        target = voids[void]
        if void not in gone:
            gone.add(target)
        waiting[target] -= 1
        if target in voids and not waiting[target]:
            ready.append(target)
    return gone


def undone(events: Iterable[Judged]) -> dict[str, set[str]]:
    """Return the legal events that were taken out, each with its lanes; on its other lanes it still holds."""
    return {target: set[str]().union(*by.values()) for target, by in taken(events).items()}


def is_out(seen: Judged, lanes: Collection[str]) -> bool:
    """Tell whether an event has no effect without some of its lanes.

    An approval has none where another one holds; any other event has some as long as one of its lanes holds.
    """
    return bool(lanes) and (CANONICAL in lanes or seen.writes.keys() <= {*lanes})


def taken(events: Iterable[Judged]) -> dict[str, dict[str, set[str]]]:
    """Return the legal events that were voided, or disagreed with what a settling event kept.

    Each with the events that take it out, and on which lanes.
    """
    known = {seen.event.id: seen for seen in events if seen.verdict == "legal"}
    settling = [seen for seen in known.values() if seen.event.do in ("voided", "settled")]
    taking = {seen.event.id: undone_by(seen, known) for seen in settling}
    standing: dict[str, set[str]] = {}
    for name in _latest_first(taking, known):
        over = _out(name, standing, known, taking)
        standing[name] = set(known[name].writes).union(*taking[name].values()).difference(*over.values())
    targets = dict.fromkeys(target for name in standing for target in taking[name])
    return {target: by for target in targets if (by := _out(target, standing, known, taking))}


def _latest_first(taking: Taking, known: Mapping[str, Judged]) -> Iterable[str]:
    """Return settling events, each after those that take it out or keep it; of a circle, what saw most first."""

    def bears_on(by: str, name: str) -> bool:
        seen, other = known[by], known[name]
        return name in taking[by] or (name in seen.past and bool(seen.writes.keys() & other.writes.keys()))

    try:
        return [*TopologicalSorter({one: [by for by in taking if bears_on(by, one)] for one in taking}).static_order()]
    except CycleError:
        return sorted(taking, key=lambda one: (-len(known[one].past), one))


def _out(
    target: str, standing: Mapping[str, set[str]], known: Mapping[str, Judged], taking: Taking
) -> dict[str, set[str]]:
    """Return what takes an event out -> on which lanes, of what stands among settling events, each on some lanes."""
    found = {}
    for name, within in standing.items():
        if target in taking[name]:
            kept = [
                _kept_by(known[other], target, name, known, taking) & standing[other]
                for other in standing
                if other not in known[name].past
            ]
            if gone := (taking[name][target] & within).difference(*kept):
                found[name] = gone
    return found
