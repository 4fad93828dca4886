"""settle and redact: what puts a contested, illegal, dangling or secret thing right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import codec, layout
from memento_git.model.ids import WrongKind, kind_of
from memento_git.work import refusals as no
from memento_git.work.desk import Desk, event_data
from memento_git.work.fold import plans_of

if TYPE_CHECKING:
    from memento_git.ledger.store import Transaction
    from memento_git.work.state import RunState

RECORDS = ("run", "plan", "task", "evidence")


def settle_record(tx: Transaction, record: str, keep: str, *, reason: str = "") -> str:
    """Settle a contested record: the outcome of one of its heads holds."""
    desk = Desk.of(tx)
    identity, state = _record(desk, record)
    head, other = desk.find(keep, "event")
    if other.id != state.id:
        raise no.NotAHead(event=head, record=identity)
    desk.happen(state, identity, "settled", keep=head, reason=desk.reason("settling", reason))
    return identity


def void_event(tx: Transaction, event: str, *, reason: str = "") -> str:
    """Void an illegal, dangling or contested event; a legal one never."""
    desk = Desk.of(tx)
    identity, state = desk.find(event, "event")
    found = state.event(identity)
    place = layout.place_of(state.index.events[identity])
    if place is None:
        raise no.NotAHead(event=identity, record=state.id)
    state.folded(plans_of(state.id) if kind_of(place.of) == "plan" else place.of)
    words = desk.reason("voiding an event", reason)
    desk.happen(state, found.of if found else place.of, "voided", target=identity, reason=words)
    return identity


def _record(desk: Desk, given: str) -> tuple[str, RunState]:
    kind = kind_of(given)
    if kind not in RECORDS:
        raise WrongKind(given=given, kind="run, plan, task or evidence")
    return desk.find(given, kind)


def redact_record(tx: Transaction, target: str, *, reason: str = "") -> str:
    """Remove evidence, or an event's free texts, from the ledger; links to it stay valid, it proves nothing more."""
    desk = Desk.of(tx)
    words = desk.reason("redacting", reason)
    return _event(desk, target, words) if kind_of(target) == "event" else _evidence(desk, target, words)


def _evidence(desk: Desk, target: str, reason: str) -> str:
    identity, state = desk.find(target, "evidence")
    found = state.evidence(identity)
    if found is None or state.evidence_status(identity) == "redacted":
        raise no.AlreadyRedacted(target=identity)
    desk.happen(state, identity, "redacted", target=f"{identity}@{found.digest}", reason=reason)
    desk.tx.put(found.path, None)
    for path in state.index.attachments.get(identity, []):
        desk.tx.put(path, None)
    return identity


def _event(desk: Desk, target: str, reason: str) -> str:
    identity, state = desk.find(target, "event")
    if identity in state.tombstones:
        raise no.AlreadyRedacted(target=identity)
    found = state.event(identity)
    if found is None:
        raise no.AlreadyRedacted(target=identity)
    kept = codec.redact_event(event_data(found))
    desk.happen(state, found.of, "redacted", target=str(found.ref), kept=kept, reason=reason)
    desk.tx.put(found.path, None)
    return identity
