"""What a branch made of the texts of its base: who they are stays, and what was handed out keeps its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.model.finding import Finding
from memento_git.model.work import Prose
from memento_git.work.state import RunState
from memento_git.work.verification import asks_less

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memento_git.ledger.layout import Place
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event
    from memento_git.review.against import Comparison

KINDS: Final = ("run", "plan", "task", "note")
IDENTITY: Final = ("id", "at", "by", "spike", "source", "repairs")
OF_NOTES: Final = ("id", "kind", "at", "by", "origin")


def changed(comparison: Comparison, policy: Policy) -> Iterator[Finding]:
    """Yield what the branch did to the texts of the base, in whichever file or archive they lie on either side."""
    there = [change.path for change in comparison.changes if not comparison.is_new(change)]
    for path in dict.fromkeys([*there, *comparison.unpacked()]):
        place = layout.place_of(path)
        if place is not None and place.kind in KINDS and comparison.base.read(path) is not None:
            yield from _text(comparison, policy, path, place)


def _text(comparison: Comparison, policy: Policy, path: str, place: Place) -> Iterator[Finding]:
    base, head = comparison.base, comparison.head
    known = head.index(place.run).prose.get(place.id)
    now = path if path in head.files else known
    if now is None:
        if place.id not in comparison.redacted(place.run):
            yield comparison.put_back("D006", path, f"the text of {place.id} was in the ledger at the base")
        return
    old, new = base.record(path), head.record(now)
    if not isinstance(old, Prose) or not isinstance(new, Prose) or old.digest == new.digest:
        return
    for key in OF_NOTES if place.kind == "note" else IDENTITY:
        if old.data.get(key) != new.data.get(key):
            message = f"{key} of {place.id} was {old.data.get(key)!r} and is {new.data.get(key)!r}"
            fix = _undoing(comparison, place, path, "put the line back: git diff {} {}")
            yield Finding("D005", path, 0, message, fix)
    if place.kind == "task":
        yield from _task(comparison, policy, place, old, new)
    elif place.kind == "run" and (ended := RunState(base, place.run)).is_final:
        message = f"{place.id} was {ended.status} when its {', '.join(_differing(old, new))} changed"
        yield Finding("D007", path, 0, message, _undoing(comparison, place, path, "git checkout {} -- {}"))


def _task(comparison: Comparison, policy: Policy, place: Place, old: Prose, new: Prose) -> Iterator[Finding]:
    """Tell of a changed text of a task that is handed out, done or repaired, and of what that unproves."""
    status = RunState(comparison.base, place.run).task_status(place.id)
    less = asks_less(old.data, new.data, policy)
    repairs = _repairs(comparison, place) if less else []
    if status in ("pending", "cancelled") and not repairs:
        return
    keys = _differing(old, new)
    done = comparison.state(place.run).completions(place.id)
    unproves = [event.id for event in done if event.get("text") != new.digest]
    told = f"; unproven by it: {', '.join(unproves)}" if unproves else ""
    whose = f"{', '.join(repairs)}, which repairs it, could ask less by it" if repairs else "less is asked by it"
    told += f"; {whose}: {'; '.join(less[:3])}" if less else ""
    message = f"{place.id} was {status} when its {', '.join(keys)} changed{told}"
    easier = bool(less or {"criteria", "verify", "text"} & {*keys}) and _is_of_the_base(comparison, done)
    grave = easier or any(_is_bound(comparison, place, name) for name in repairs)
    fix = _undoing(comparison, place, old.path, "git checkout {} -- {}")
    yield Finding("D007", old.path, 0, message, fix, "error" if grave else "warning")


def _differing(old: Prose, new: Prose) -> list[str]:
    """Return the parts of a text that are others now."""
    keys = sorted(key for key in {*old.data, *new.data} if old.data.get(key) != new.data.get(key))
    return [*keys, *(["text"] if old.body != new.body else [])]


def _undoing(comparison: Comparison, place: Place, path: str, fix: str) -> str:
    """Return the fix of a changed text; where the base has it in an archive alone, what hides that is taken away."""
    base, head = comparison.base, comparison.head
    if not base.only_archived(place.run, path):
        return fix.format(comparison.name, path)
    before = base.archived[place.run].get(path, ())
    fresh = [one for one in head.archived[place.run].get(path, ()) if one not in before]
    return f"git rm {' '.join(fresh if head.only_archived(place.run, path) else [path])}"


def _repairs(comparison: Comparison, place: Place) -> list[str]:
    """Return the tasks that repair a task, and so have to ask what it asks."""
    state = comparison.state(place.run)
    found = ((name, comparison.head.record(state.index.prose[name])) for name in state.ids("task"))
    return [name for name, prose in found if isinstance(prose, Prose) and prose.data.get("repairs") == place.id]


def _is_bound(comparison: Comparison, place: Place, repair: str) -> bool:
    """Tell whether a repair was there at the base, or the branch completes it."""
    state = comparison.state(place.run)
    ends = {event.id for event in (*state.completions(repair), *state.acceptances(repair))}
    return comparison.base.index(place.run).holds(repair, "task") or bool(ends & comparison.added())


def _is_of_the_base(comparison: Comparison, done: Iterable[Event]) -> bool:
    """Tell whether the branch completes what was handed out at the base."""
    added = comparison.added()
    opened = (event.get("dispatch").replace("dispatch", "event", 1) for event in done if event.id in added)
    return any(name not in added for name in opened)
