"""One transaction at work: the texts it takes, the events it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from memento_git.errors import Refused
from memento_git.folding.fold import group_in, group_of
from memento_git.folding.settling import SETTLING
from memento_git.ledger import codec, layout
from memento_git.ledger.store import NothingToCommit, refuse_absent
from memento_git.model.clock import is_ahead
from memento_git.model.events import event_shape
from memento_git.model.ids import Ref, kind_of
from memento_git.model.types import arranged
from memento_git.model.work import Event
from memento_git.texts.typed import Intake

if TYPE_CHECKING:
    from memento_git.ledger.events import EventLog
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.policy import Policy


class RecordIncomplete(Refused):
    token = "record_incomplete"
    sentence = "{record} is incomplete: {why}"
    hint_ = (
        "memento check says which file to restore from git; where no history has it, void what names it: memento settle"
    )


class Seal(Protocol):
    """Signs an event before it is written."""

    def foreseen(self, event: Event) -> Event: ...

    def event(self, event: Event, text: bytes) -> tuple[Event, bytes]: ...


class EventWriter(Intake):
    """What the actions of one domain share within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        if not tx.view.exists:
            refuse_absent(tx.view, "HEAD")
        self.tx = tx
        self.view = tx.view
        self.policy: Policy = tx.view.policy()
        super().__init__(self.policy.allow_secrets, tx.ledger.allow_secrets)

    @classmethod
    def of(cls, tx: Transaction) -> Self:
        """Return the writer of a transaction, one for all of its actions."""
        if cls not in tx.writers:
            tx.writers[cls] = cls(tx)
        writer: Self = tx.writers[cls]
        return writer

    def write(self, path: str, data: dict[str, Any], body: str) -> None:
        """Write a record's file, with the scanner's rules that its writer overrode."""
        allowed = self.overridden(data.get("allowed_secrets") or ())
        values = arranged(codec.PROSE[kind_of(data["id"])], {**data, "allowed_secrets": allowed})
        self.tx.put(path, codec.encode_prose(values, body))

    def rewrite(self, path: str, before: Mapping[str, Any], changes: Mapping[str, Any], body: str) -> None:
        """Change values of a record's file, and its text if one is given; refuse where it says all that already."""
        from memento_git.ledger import prosefile

        allowed = self.overridden(before.get("allowed_secrets") or ())
        old = self.view.read(path) or b""
        new = prosefile.rewrite(old, {**changes, **({"allowed_secrets": allowed} if allowed else {})}, body)
        if new == old:
            raise NothingToCommit
        self.tx.put(path, new)

    def heads(self, log: EventLog, groups: Iterable[str]) -> list[Ref]:
        """Return what an event that reads these groups must name."""
        refs = set()
        for key in groups:
            for head in log.folded(key).heads:
                event = log.event(head)
                if event is not None:
                    refs.add(event.ref)
        return sorted(refs)

    def append(
        self, log: EventLog, of: str, do: str, *, reads: Sequence[str] = (), name: str = "",
        seal: Seal | None = None, **data: Any,
    ) -> Event:  # fmt: skip
        """Judge an event, let it be signed and write it; raise the refusal of the transition table."""
        event = self.draft(log, of, do, reads=reads, name=name, **data)
        own = group_of(event)
        if do not in SETTLING:
            for key in (own, *reads):
                for seen in log.folded(key).dangling:
                    raise RecordIncomplete(record=seen.event.of, why=seen.why)
        log.fold.judge(event if seal is None else seal.foreseen(event))
        text = codec.encode(event_data(event))
        if seal is not None:
            event, text = seal.event(event, text)
        self.tx.put(event.path, text)
        self.tx.touch(log.id, of)
        log.added(event, own)
        return event

    def draft(self, log: EventLog, of: str, do: str, *, reads: Sequence[str], name: str, **data: Any) -> Event:
        identity = name or self.tx.new_id("event")
        after = self.heads(log, (group_in(log.id, of), *reads))
        at = self._time(log, after)
        path = f"{log.event_folder(of)}/{layout.event_name(at, do, identity)}"
        told = {**data, "allowed_secrets": self.overridden()}
        kept = {key: value for key, value in told.items() if value not in codec.EMPTY and value is not False}
        event = Event(identity, log.id, do, of, at, self.tx.actor, tuple(after), kept, "", path)
        return event._replace(digest=codec.digest_of(codec.encode(event_data(event))))

    def _time(self, log: EventLog, after: Iterable[Ref]) -> str:
        """Return now, and say so where the clock runs behind what it follows."""
        latest = max((event.at for ref in after if (event := log.event(ref.id))), default="")
        if is_ahead(latest, self.tx.now):
            self.tx.ledger.warn(f"the clock says {self.tx.now}, but an event that this one follows is from {latest}")
        return self.tx.now


def event_data(event: Event) -> dict[str, Any]:
    """Return an event's file content in its fixed order."""
    after = [str(ref) for ref in event.after]
    told = {**event.data, "do": event.do, "of": event.of, "at": event.at, "by": event.by, "after": after}
    return dict(arranged(event_shape(kind_of(event.of), event.do, gate="gate" in told), told))
