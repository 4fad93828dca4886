"""Events that settle what others left open: which side of a disagreement holds, and what does not count. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.model.ids import kind_of, parse_ref

if TYPE_CHECKING:
    from memento_git.folding.fold import Seen
    from memento_git.folding.lanes import Writes
    from memento_git.model.work import Event

SETTLING: Final = ("settled", "voided", "redacted")


class NotContested(Refused):
    token = "not_contested"
    sentence = "{record} is not contested"
    hint_ = "memento settle lists what needs settling"


class NotAHead(Refused):
    token = "not_a_head"
    sentence = "{event} is not one of the events that disagree on {record}"
    hint_ = "memento settle lists them"


class EventIsLegal(Refused):
    token = "event_is_legal"
    sentence = "{event} is legal and nothing disagrees with it, so it cannot be voided"
    hint_ = "undo its effect with a further event, for example memento task reopen TASK --reason WHY"


class TargetForeign(Refused):
    token = "target_foreign"
    sentence = "{target} is not {record}, nor an event of it"
    hint_ = "memento settle lists what can be voided; nothing was changed"


def takes_out(event: Event) -> bool:
    """Tell whether an event redacts the record that it is of, and not what happened to that."""
    return event.do == "redacted" and parse_ref(event.get("target")).id == event.of


def redaction(event: Event, lane: str) -> Writes:
    """Return what a redaction writes; refuse one of another record than its own."""
    target = parse_ref(event.get("target")).id
    if kind_of(target) != "event" and target != event.of:
        raise TargetForeign(target=target, record=event.of)
    return {lane: ("redacted",)} if takes_out(event) else {}


def kept(event: Event, seen: Seen) -> Writes:
    """Return the values of the side that a settling event keeps; refuse where there is nothing to settle."""
    if not seen.own.contested:
        raise NotContested(record=event.of)
    if not any(event.get("keep") in events for events in seen.own.contested.values()):
        raise NotAHead(event=event.get("keep"), record=event.of)
    return {lane: seen.kept.values[lane] for lane in seen.own.contested if lane in seen.kept.values}


def rest(event: Event, seen: Seen) -> Writes:
    """Return what is left without a voided event; refuse where that one is legal and nobody disagrees with it."""
    if not seen.voidable:
        raise EventIsLegal(event=event.get("target"))
    return dict(seen.kept.values)
