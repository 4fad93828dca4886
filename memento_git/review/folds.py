"""What the fold tells of a group of events, in a run as among the notes: disagreement, illegal events, odd dates."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from memento_git.folding.event_rows import contests
from memento_git.folding.lanes import CANONICAL, spoken
from memento_git.folding.voided_events import is_out, undone_by
from memento_git.ledger import layout
from memento_git.model.clock import is_ahead
from memento_git.model.finding import OR, Finding, Lost

if TYPE_CHECKING:
    from memento_git.folding.fold import Judged
    from memento_git.ledger.events import EventLog
    from memento_git.model.work import Event
    from memento_git.review.scope import Scope

CLOCK = "set the clock of the machine that wrote it"
VOID = f"{OR}memento settle --void {{}} --reason WHY"


def effective_events(log: EventLog, key: str) -> Iterator[Event]:
    """Yield the events of a group that have an effect; a redacted one keeps its own, and is judged by what it keeps."""
    folded = log.folded(key)
    undone = folded.undone
    for seen in folded.events:
        if seen.verdict == "legal" and not is_out(seen, undone.get(seen.event.id, ())):
            yield seen.event


def disagreements(log: EventLog, key: str) -> Iterator[Finding]:
    """Yield what is contested, illegal or not folded."""
    folded = log.folded(key)
    for lanes, events in contests(folded.lanes.contested):
        first = log.event(events[0])
        record = first.of if first is not None else key
        path = first.path if first is not None else ""
        told = " and ".join(_told(log, name, lanes) for name in events)
        message = f"{record} is contested on {', '.join(map(spoken, lanes))}: {told}"
        yield Finding("T001", path, 0, message, f"memento settle {record} --keep EVENT --reason WHY")
    for seen in folded.illegal:
        message = f"{seen.event.of} is illegal: {seen.why}"
        path = seen.event.path
        yield Finding("T002", path, 0, message, VOID.format(seen.event.id), lost=Lost("", teller=path))
    for seen in folded.dangling:
        message = f"{seen.event.of} is incomplete: {seen.why}"
        yield Finding(seen.token, seen.event.path, 0, message, VOID.format(seen.event.id), lost=_lost(log, seen))


def _lost(log: EventLog, seen: Judged) -> Lost | None:
    """Return the file for want of which an event is incomplete, be it by others; nothing where it is its own."""
    while absent := log.fold.absent(seen.event.id):
        ref, teller = absent[0], seen.event
        found = log.fold.judged(ref.id)
        if found is None or found.event.digest != ref.digest:
            path = found.event.path if found is not None else layout.event_pattern(teller.run, ref.id)
            return Lost(path, ref.digest, teller.path)
        seen = found
    return None


def _told(log: EventLog, name: str, lanes: Collection[str]) -> str:
    event = log.event(name)
    if event is None:
        return name
    return f"{name} ({event.do}{f' {event.of}' if CANONICAL in lanes else ''} by {event.by})"


def dated(log: EventLog, event: Event) -> Iterator[Finding]:
    """Yield an event dated well before one that it follows, or after now."""
    latest = max((seen.at for ref in event.after if (seen := log.event(ref.id))), default="")
    if is_ahead(latest, event.at):
        message = f"{event.id} is dated {event.at}, and follows an event of {latest}"
        yield Finding("T004", event.path, 0, message, CLOCK, "warning")
    yield from not_yet(event.path, event.id, event.at, log.view.now)


def not_yet(path: str, record: str, at: str, now: str, until: str = "") -> Iterator[Finding]:
    """Yield a record dated after now, with what it is until then."""
    if is_ahead(at, now):
        yield Finding("T004", path, 0, f"{record} is dated {at}, which is not yet{until}", CLOCK, "warning")


def voids(log: EventLog, event: Event, scope: Scope) -> Iterator[Finding]:
    """Yield a void of what is legal and whole: only settling may undo that, by naming it."""
    own = log.fold.judged(event.id)
    target = log.fold.judged(event.get("target"))
    if own is None or target is None or target.verdict != "legal" or target.event.id in own.past:
        return
    if scope.added and target.event.id not in scope.added and undone_by(own, {target.event.id: target}):
        return  # what was at the base is told as taken out
    message = f"{event.id} voids {target.event.id}, which is legal, and which it had not seen"
    yield Finding("T007", event.path, 0, message, f"git rm {event.path}", scope.severity(event.id))
