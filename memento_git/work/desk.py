"""One transaction at work: the states of its runs, the texts it takes, the events it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.folding.fold import group_of
from memento_git.folding.settling import SETTLING
from memento_git.ledger import codec, layout
from memento_git.ledger.store import NoLedger
from memento_git.model.clock import AHEAD, seconds_of
from memento_git.model.ids import Ref, kind_of, random_part
from memento_git.model.work import Event
from memento_git.texts.typed import ReasonRequired, typed
from memento_git.work import refusals as no
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memento_git.ledger.store import Transaction
    from memento_git.model.policy import Policy
    from memento_git.work.signatures import Sealer


class Desk:
    """What actions share within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        if layout.CONFIG not in tx.view.files:
            raise NoLedger(where="HEAD")
        self.tx = tx
        self.view = tx.view
        self.policy: Policy = tx.view.policy()
        self._states: dict[str, RunState] = {}

    @classmethod
    def of(cls, tx: Transaction) -> Desk:
        """Return the desk of a transaction, one for all of its actions."""
        if tx.desk is None:
            tx.desk = cls(tx)
        desk: Desk = tx.desk
        return desk

    def state(self, run: str) -> RunState:
        if run not in self._states:
            self._states[run] = RunState(self.view, run)
        return self._states[run]

    def find(self, given: str, kind: str) -> tuple[str, RunState]:
        """Return the record that a prefix names, and the state of its run."""
        identity, run = self.view.find(given, kind)
        return identity, self.state(run)

    def run(self, given: str = "") -> RunState:
        """Return the run that is named, or the only one that is open."""
        if given:
            return self.find(given, "run")[1]
        states = [self.state(run) for run in self.view.runs()]
        if not states:
            raise no.NoRun
        unfinished = [state for state in states if not state.is_final] or states
        if len(unfinished) > 1:
            raise no.RunAmbiguous(candidates=", ".join(state.id for state in unfinished[:5]))
        return unfinished[0]

    def text(self, where: str, value: str, *, lines: bool = True, scan: bool = True) -> str:
        """Return a typed text as the ledger stores it; refuse what is unfit for it or holds a secret."""
        return typed(where, value, allowed=(*self.policy.allow_secrets, *self.tx.allow_secrets), lines=lines, scan=scan)

    def texts(self, where: str, values: Iterable[str]) -> list[str]:
        return [self.text(where, value, lines=False) for value in values]

    def optional(self, where: str, value: str, *, lines: bool = True) -> str:
        return self.text(where, value, lines=lines) if value.strip() else ""

    def reason(self, verb: str, value: str) -> str:
        if not value.strip():
            raise ReasonRequired(verb=verb)
        return self.text("reason", value)

    def heads(self, state: RunState, groups: Iterable[str]) -> list[Ref]:
        """Return what an event that reads these groups must name."""
        refs = set()
        for key in groups:
            for head in state.folded(key).heads:
                event = state.event(head)
                if event is not None:
                    refs.add(event.ref)
        return sorted(refs)

    def sealer(self, *, sign: bool = False, key: str = "") -> Sealer | None:
        """Return what signs approvals and verdicts, where the user or policy asks for signatures."""
        if not (sign or key or self.policy.signatures.get("require")):
            return None
        from memento_git.work.signatures import Sealer

        return Sealer(self.tx, self.policy, sign=sign, key=key)

    def happen(
        self, state: RunState, of: str, do: str, *, reads: Sequence[str] = (), name: str = "",
        seal: Sealer | None = None, **data: Any,
    ) -> Event:  # fmt: skip
        """Judge an event, let it be signed and write it; raise the refusal of the transition table."""
        event = self.draft(state, of, do, reads=reads, name=name, **data)
        own = group_of(event)
        if do not in SETTLING:
            for key in (own, *reads):
                for seen in state.folded(key).dangling:
                    raise no.RecordIncomplete(record=seen.event.of, why=seen.why)
        state.fold.judge(event if seal is None else seal.foreseen(event))
        text = codec.encode(event_data(event))
        if seal is not None:
            event, text = seal.event(event, text)
        self.tx.put(event.path, text)
        self.tx.touch(state.id, of)
        state.added(event, own)
        return event

    def draft(self, state: RunState, of: str, do: str, *, reads: Sequence[str], name: str, **data: Any) -> Event:
        identity = name or self.tx.new_id("event")
        own = f"plans:{state.id}" if kind_of(of) == "plan" else of
        after = self.heads(state, (own, *reads))
        at = self._time(state, after)
        path = layout.event_path(state.id, of, at, do, identity)
        kept = {key: value for key, value in data.items() if value not in codec.EMPTY and value is not False}
        event = Event(identity, state.id, do, of, at, self.tx.actor, tuple(after), kept, "", path)
        return event._replace(digest=codec.digest_of(codec.encode(event_data(event))))

    def _time(self, state: RunState, after: Iterable[Ref]) -> str:
        """Return now, and say so where the clock runs behind what it follows."""
        latest = max((event.at for ref in after if (event := state.event(ref.id))), default="")
        if latest > self.tx.now and seconds_of(latest) - seconds_of(self.tx.now) > AHEAD:
            warning = f"the clock says {self.tx.now}, but an event that this one follows is from {latest}"
            if warning not in self.tx.ledger.warnings:
                self.tx.ledger.warnings.append(warning)
        return self.tx.now


def event_data(event: Event) -> dict[str, Any]:
    """Return an event's file content in its fixed order."""
    return {
        "do": event.do,
        "of": event.of,
        "at": event.at,
        "by": event.by,
        "after": [str(ref) for ref in event.after],
        **{key: value for key, value in event.data.items() if key not in HEAD_KEYS},
    }


HEAD_KEYS: Final = ("do", "of", "at", "by", "after")


def dispatch_of(event: Event | str) -> str:
    identity = event if isinstance(event, str) else event.id
    return f"dispatch_{random_part(identity)}"
