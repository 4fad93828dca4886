"""The transition table of notes: what an event writes, given what it had seen, or why it is refused. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.folding import settling

if TYPE_CHECKING:
    from memento_git.folding.fold import Seen
    from memento_git.folding.lanes import Lanes, Writes
    from memento_git.model.work import Event

STATE: Final = "state"
ABOUT: Final = "latest:about"
CONFIRMED: Final = "latest:confirmed"
PROGRESS: Final = "latest:progress"
PROMOTED: Final = "promoted"
REDACTED: Final = "redacted"

LIVE: Final = ("active", "parked")
LIVING: Final = (*LIVE, "contested")
"""States of what counts as live: of a contested note nobody knows yet whether it is."""
CURRENT: Final = ("active", "contested")
"""Those of what counts as holding now."""
MOVES: Final = {
    "parked": (("active",), "parked"),
    "resumed": (("parked",), "active"),
    "retired": (("active", "parked", "resolved", "finished"), "retired"),
    "restored": (("retired", "superseded", "merged", "resolved", "finished"), "active"),
    "superseded": (LIVE, "superseded"),
    "merged": (LIVE, "merged"),
    "resolved": (LIVE, "resolved"),
    "finished": (LIVE, "finished"),
}


class NoteState(Refused):
    token = "note_state"
    sentence = "note {note} is {status}, so it cannot be {verb}"
    hint_ = "see it: memento note show {note}"


class NoteContested(Refused):
    token = "note_contested"
    sentence = "note {note} is contested: events that had not seen one another disagree"
    hint_ = "settle it: memento settle"


class LinkStands(Refused):
    token = "link_exists"
    sentence = "note {note} is linked so already: {rel} {to}"
    hint_ = "see it: memento note show {note}"


class NoSuchLink(Refused):
    token = "link_not_found"
    sentence = "note {note} has no such link: {rel} {to}"
    hint_ = "see its links: memento note show {note}"


def judge(event: Event, seen: Seen) -> Writes:
    """Return what the event writes; raise a refusal where the table does not allow it."""
    if event.do == "settled":
        return settling.kept(event, seen)
    if event.do == "voided":
        return settling.rest(event, seen)
    if event.do == "redacted":
        return settling.redaction(event, REDACTED)
    if REDACTED in seen.own.values:
        raise NoteState(note=event.of, status=REDACTED, verb=event.do)
    if event.do in ("linked", "unlinked"):
        return {f"link:{event.get('rel')}:{event.get('to')}": (event.do,)}
    if STATE in seen.own.contested:
        raise NoteContested(note=event.of)
    return _moved(event, seen.own)


def _moved(event: Event, own: Lanes) -> Writes:
    status = own.word(STATE, "active")
    if event.do in MOVES:
        came_from, to = MOVES[event.do]
        if status not in came_from:
            raise NoteState(note=event.of, status=status, verb=event.do)
        return {STATE: (to, event.get("successor") or event.get("into") or event.get("answer") or "")}
    if status not in LIVE:
        raise NoteState(note=event.of, status=status, verb=event.do)
    if event.do == "promoted":
        return {} if event.get("draft") else {PROMOTED: ("long",)}
    if event.do == "progressed":
        return {PROGRESS: (event.at, event.get("note") or "", event.get("next") or "")}
    lane = anchoring(event.get("named") or "")
    places = {lane: (event.at, json.dumps(event.data["about"], sort_keys=True))} if "about" in event.data else {}
    looked = {confirming(event.get("text") or ""): (event.at, event.by)} if event.do == "confirmed" else {}
    return {**places, **looked}


def confirming(text: str) -> str:
    """Return the lane of when a text was looked at last; events that do not say which share one."""
    return f"{CONFIRMED}:{text}" if text else CONFIRMED


def anchoring(named: str) -> str:
    """Return the lane of where the places are that a text names; events that do not say which share one."""
    return f"{ABOUT}:{named}" if named else ABOUT


def refuse_known(event_of: str, rel: str, to: str, links: set[tuple[str, str]], *, adding: bool) -> None:
    """Refuse to add a link that stands, or to take away one that does not."""
    stands = (rel, to) in links
    if adding and stands:
        raise LinkStands(note=event_of, rel=rel, to=to)
    if not adding and not stands:
        raise NoSuchLink(note=event_of, rel=rel, to=to)
