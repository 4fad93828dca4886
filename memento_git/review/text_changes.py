"""What a branch made of the texts of its base: who they are stays, and what was handed out keeps its terms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.commits import authors, is_cut_off
from memento_git.model.enumeration import some
from memento_git.model.finding import Finding
from memento_git.model.ids import kind_of, opening_of
from memento_git.model.work import Event, Prose
from memento_git.review import actors, last_readable, runs
from memento_git.review.scope import Scope
from memento_git.work.dispatch import terms
from memento_git.work.persons import is_same
from memento_git.work.proof import proofs
from memento_git.work.proof.verification import asks_less, plan_asks_less, proves_less

if TYPE_CHECKING:
    from memento_git.ledger.layout import Place
    from memento_git.model.policy import Policy
    from memento_git.review.base_comparison import Comparison
    from memento_git.work.state import RunState

KINDS: Final = ("run", "plan", "task", "note")
IDENTITY: Final = ("id", "at", "by", "spike", "source", "repairs")
OF_NOTES: Final = ("id", "kind", "at", "by", "origin")
LOOK: Final = "look whether that is as it should be"


def changed(comparison: Comparison) -> Iterator[Finding]:
    """Yield what the branch did to the texts of the base, in whichever file or archive they lie on either side."""
    for path, place in of_the_base(comparison, *KINDS):
        yield from _text(comparison, path, place)
    yield from _plans(comparison)


def of_the_base(comparison: Comparison, *kinds: str) -> Iterator[tuple[str, Place]]:
    """Yield where the base has the texts of some kinds that the branch changes."""
    there = [change.path for change in comparison.changes if not comparison.is_new(change)]
    for path, place in layout.placed(dict.fromkeys([*there, *comparison.unpacked]), *kinds):
        if comparison.base.read(path) is not None:
            yield path, place


def _plans(comparison: Comparison) -> Iterator[Finding]:
    """Yield the plans that ask less of what proves a task than those before: the base's, and what work began on."""
    paths = [*(change.path for change in comparison.changes), *comparison.unpacked]
    places = [place for path in paths if (place := layout.place_of(path)) and kind_of(place.of) in ("plan", "task")]
    for run in sorted({place.run for place in places}):
        state = comparison.state(run)
        after = last_approved(state)
        if after is None or (new := state.text(after.of)) is None:
            continue
        touched = {place.of for place in places if place.run == run}
        was = comparison.before(run)
        before = last_approved(was)
        olds = [old] if before is not None and (old := was.text(before.of)) is not None else []
        for told, seen in _approved_before(comparison, state, after, touched):
            if (old := as_approved(comparison, seen)) is not None:
                olds.append(old)
            else:
                message = f"{told} other words of {seen.of}, which are not here any more"
                yield Finding("D007", after.path, 0, message, LOOK, "warning")
        yield from dict.fromkeys(one for old in olds for one in _easier(old, new, after, comparison.policy))


def _easier(old: Prose, new: Prose, after: Event, policy: Policy) -> Iterator[Finding]:
    if less := plan_asks_less(old.data, new.data, policy):
        what = "changed" if old.id == new.id else f"took the place of {old.id}"
        message = f"{new.id} {what}, and asks less: before, {some(less, 3, '; ')}"
        path = new.path if old.id == new.id else after.path
        yield Finding("D007", path, 0, message, LOOK, "warning")


def _approved_before(
    comparison: Comparison, state: RunState, after: Event, touched: Collection[str]
) -> Iterable[tuple[str, Event]]:
    """Return other approvals of plans than the one that holds, each with what was done by it.

    They are what any dispatch had seen of a task that is done, or that such a one repairs: of the tasks that the branch
    touches. Where the approval that holds is the branch's, of all tasks; and what others approved on the branch.
    """
    added = comparison.added
    names = state.ids("task") if after.id in added else sorted(touched)
    done = [task for task in names if kind_of(task) == "task" and state.completions(task)]
    found: dict[tuple[str, str], tuple[str, Event]] = {}
    for task in dict.fromkeys(name for one in done for name in (one, *proofs.repaired(state, one))):
        for seen in _seen_by(state, task):
            found.setdefault((seen.of, seen.get("text")), (f"{task} was handed out on", seen))
    for seen in state.approvals() if after.id in added else ():
        if seen.id in added and not is_same(seen.by, after.by):
            found.setdefault((seen.of, seen.get("text")), (f"{seen.by} approved", seen))
    found.pop((after.of, after.get("text")), None)
    return found.values()


def _seen_by(state: RunState, task: str) -> Iterator[Event]:
    """Yield the approval of a plan that each dispatch of a task had seen."""
    for opened in terms.handed_out(state, task):
        past = state.fold.seen_by(opened)
        known = [one for one in state.approvals() if one.id in past and one.of == opened.get("plan")]
        yield from known[-1:]


def as_approved(comparison: Comparison, approval: Event) -> Prose | None:
    """Return the text of a plan that was approved, of the base, the head or what came before them."""
    run, plan = approval.run, approval.of
    states, path = (comparison.before(run), comparison.state(run)), layout.prose_path(run, plan)
    past = chain.from_iterable(last_readable.texts(state.view, path) for state in states)
    here = (state.text(plan) for state in states)
    return next((one for one in chain(here, past) if one and one.digest == approval.get("text")), None)


def last_approved(state: RunState) -> Event | None:
    """Return the approval of the canonical plan, or where the last one that was approved was rejected, of that."""
    return next((one for one in reversed(state.approvals()) if state.canonical in ("", one.of)), None)


def _text(comparison: Comparison, path: str, place: Place) -> Iterator[Finding]:
    base, head = comparison.base, comparison.head
    known = head.index(place.run).prose.get(place.id)
    now = path if path in head.files else known
    if now is None:
        if place.id not in comparison.redacted(place.run):
            message = f"the text of {place.id} was in the ledger at the base, and is gone"
            yield comparison.put_back("D006", path, message)
        return
    old, new = base.record(path), head.record(now)
    if not isinstance(old, Prose) or not isinstance(new, Prose) or old.digest == new.digest:
        return
    for key in identity_of(place.kind):
        if old.data.get(key) != new.data.get(key):
            message = f"{key} of {place.id} was {old.data.get(key)!r} and is {new.data.get(key)!r}"
            fix = undoing(comparison, place, path, "put the line back: git diff {} {}")
            yield Finding("D005", path, 0, message, fix)
    if place.kind == "task":
        yield from _task(comparison, place, old, new)
    elif place.kind == "run":
        yield from _run(comparison, place, old, new)


def identity_of(kind: str) -> tuple[str, ...]:
    """Return the keys of a text that no change may touch."""
    return OF_NOTES if kind == "note" else IDENTITY


def _run(comparison: Comparison, place: Place, old: Prose, new: Prose) -> Iterator[Finding]:
    """Tell of a changed text of a run that has ended, and of what one under way is not for any more.

    Where the branch completes the run, more words are told as well, for they may take others back.
    """
    before = comparison.before(place.run)
    completes = not before.is_final and comparison.state(place.run).status == "completed"
    keys = [key for key in differing(old, new) if key != "text" or not terms.is_rewrapped(old, new)]
    if not before.is_final:
        gone = {
            "goal": old.data.get("goal") != new.data.get("goal"),
            "constraints": {*old.list("constraints")} - {*new.list("constraints")},
            "text": completes or {*terms.shape(old)} - {*terms.shape(new)} or not terms.are_kept(old, new),
        }
        keys = [key for key in keys if gone.get(key)]
    if keys:
        message = f"{place.id} was {before.status} when its {', '.join(keys)} changed"
        fix = undoing(comparison, place, old.path, "git checkout {} -- {}")
        grave = before.is_final or (completes and keys != ["text"])
        if not before.is_final and keys != ["text"]:
            first = "leave out the completion, do this, and have its gates judged again" if completes else "put it back"
            fix = f"bring it on a branch of its own, for none that completes the run may; here {first}: {fix}"
        yield Finding("D007", old.path, 0, message, fix, "error" if grave else "warning")


def _task(comparison: Comparison, place: Place, old: Prose, new: Prose) -> Iterator[Finding]:
    """Tell of a changed text of a task that is under way, done or repaired, or asks less, and of what that unproves.

    Of one that waits, or does so again, it is none of this to ask more.
    """
    state, after = comparison.before(place.run), comparison.state(place.run)
    status = state.task_status(place.id)
    less = asks_less(old.data, new.data, comparison.policy)
    freed = freed_of(comparison, old.list("depends_on"), new)
    was_rejected = bool(state.folded(place.id).legal("rejected"))
    keys = differing(old, new)
    done = after.completions(place.id)
    completes = any(event.id in comparison.added for event in done)
    is_other = bool({"title", "text"} & {*keys})
    repairs = _repairs(comparison, place) if less or (was_rejected and is_other) else []
    completed = completes or any(_is_completed(comparison, place, name) for name in repairs)
    is_moved = completed or happened(comparison, place, "dispatched", "cancelled")
    is_other = is_other and (is_moved or _is_anothers(comparison, old, new))
    waits = status in ("pending", "cancelled") or (after.task_status(place.id) == "pending" and not _lost(old, new))
    if waits and not (less or freed or is_other):
        return
    unproves = [event.id for event in done if event.get("text") != new.digest]
    told = f"; unproven by it: {', '.join(unproves)}" if unproves else ""
    whose = f"{', '.join(repairs)}, which repairs it, could ask less by it" if repairs else "less is asked by it"
    told += f"; {whose}: {some(less, 3, '; ')}" if less else ""
    told += f"; it waits no more for {some(freed, 3, '; ')}" if freed else ""
    before = f"rejected once, and {status}" if was_rejected and status != "rejected" else status
    message = f"{place.id} was {before} when its {', '.join(keys) or 'bytes'} changed{told}"
    other = bool(freed or {"title", "criteria", "verify", "text"} & {*keys}) and _is_of_the_base(comparison, done)
    fewer = terms.criteria(new) < terms.criteria(old)
    easier = bool(proves_less(old.data, new.data, comparison.policy) or (fewer and (was_rejected or repairs)))
    bound = easier and any(_is_bound(comparison, place, name) for name in repairs)
    grave = other or (easier and completes) or bound
    fix = undoing(comparison, place, old.path, "git checkout {} -- {}")
    yield Finding("D007", old.path, 0, message, fix, "error" if grave else "warning")


def _is_anothers(comparison: Comparison, old: Prose, new: Prose) -> bool:
    """Tell whether a text does not say any more what somebody else wrote, by the authors of commits; none are staged.

    Whoever wrote it last at the base may word it anew, and anybody may add to it. Where a shallow clone lacks that
    commit, it is whoever brought the task.
    """
    if not _lost(old, new):
        return False
    base = comparison.base
    ours = (*comparison.head.commits, *(f"^{one}" for one in base.commits))
    own = authors(base.git, *ours, "--", old.path)
    last, before = next(iter(authors(base.git, "-1", base.commits[0], "--", old.path)), ("", ""))
    if is_cut_off(base.git) and not before:
        last = old.data["by"]
    return any(not actors.is_author(last, one) for one, _ in own)


def _lost(old: Prose, new: Prose) -> bool:
    """Tell whether a task is called otherwise, or its text does not say all that it did."""
    return old.title != new.title or bool({*terms.shape(old)} - {*terms.shape(new)}) or not terms.are_kept(old, new)


def happened(comparison: Comparison, place: Place, *verbs: str) -> bool:
    """Tell whether one of some things happened to a record on the branch."""
    events = comparison.state(place.run).folded(place.id).events
    return any(seen.event.do in verbs and seen.event.id in comparison.added for seen in events)


def freed_of(comparison: Comparison, had: Iterable[str], task: Prose) -> list[str]:
    """Return what a task depended on and does no more, with titles, but for what nobody waits for any more.

    A repair takes the place of what it repairs, if that was rejected.
    """
    state, scope = comparison.state(task.run), Scope(added=comparison.added)
    kept = runs.waited_for(state, task)
    gone = [name for name in had if name not in kept and not runs.is_over(state, name, scope)]
    return [f"{name} {text.title!r}" if (text := state.text(name)) else name for name in gone]


def differing(old: Prose, new: Prose) -> list[str]:
    """Return the parts of a text that are others now."""
    keys = sorted(key for key in {*old.data, *new.data} if old.data.get(key) != new.data.get(key))
    return [*keys, *(["text"] if old.body != new.body else [])]


def undoing(comparison: Comparison, place: Place, path: str, fix: str) -> str:
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
    found = filter(None, map(state.text, state.ids("task")))
    return [task.id for task in found if place.id in {old.id for old in runs.repaired_by(state, task)}]


def _is_bound(comparison: Comparison, place: Place, repair: str) -> bool:
    """Tell whether a repair was there at the base, or the branch completes it."""
    return comparison.base.names(place.run).holds(repair, "task") or _is_completed(comparison, place, repair)


def _is_completed(comparison: Comparison, place: Place, repair: str) -> bool:
    """Tell whether the branch completes a repair, or accepts it."""
    state = comparison.state(place.run)
    return any(event.id in comparison.added for event in state.ends(repair))


def _is_of_the_base(comparison: Comparison, done: Iterable[Event]) -> bool:
    """Tell whether the branch completes what was handed out at the base."""
    added = comparison.added
    opened = (opening_of(event.dispatch) for event in done if event.id in added)
    return any(name not in added for name in opened)
