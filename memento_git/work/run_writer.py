"""One transaction at work: the states of its runs, who signs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memento_git.ledger import event_writer, layout
from memento_git.model.enumeration import some
from memento_git.model.ids import AmbiguousId, NoSuchRecord, WrongKind, is_id, random_part
from memento_git.model.states import FINAL_RUN, OPEN_DISPATCH
from memento_git.work import refusals as no
from memento_git.work import remedies
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.work.attest.signatures import Sealer


MOST: Final = 5


def refuse_ended(state: RunState) -> None:
    """Refuse a run that has ended: nothing is done in it any more."""
    if state.is_final:
        raise no.RunFinal(run=state.id, status=state.status)


class RunWriter(event_writer.EventWriter):
    """What actions of work share within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        super().__init__(tx)
        self._states: dict[str, RunState] = {}

    def state(self, run: str) -> RunState:
        if run not in self._states:
            self._states[run] = RunState(self.view, run, policy=self.policy)
        return self._states[run]

    def find(self, given: str, kind: str) -> tuple[str, RunState]:
        """Return the record that a prefix names, and the state of its run."""
        try:
            identity, run = self.view.find(given, kind)
        except WrongKind as wrong:
            if told := (kind == "dispatch" and self._handed_out(given)) or self._of_kind(given, kind):
                wrong.hint = told
            raise
        return identity, self.state(run)

    def _of_kind(self, given: str, kind: str) -> str:
        """Return that a record of the kind that is asked for has the rest of a whole id, or nothing."""
        rest = random_part(given)
        with suppress(NoSuchRecord):
            return f"name it by its own kind: {self.view.find(rest, kind)[0]}" if is_id(f"{kind}_{rest}", kind) else ""
        return ""

    def _handed_out(self, given: str) -> str:
        """Return which dispatches of a task are open, or how to make one, where that was given for one; or nothing."""
        with suppress(NoSuchRecord, WrongKind, AmbiguousId):
            task, run = self.view.find(given, "task")
            held = self.state(run).dispatches(task)
            going = [name for name, one in held.items() if one.status in OPEN_DISPATCH]
            if going:
                return f"that task is handed out as {some(going, MOST)}: name the dispatch"
            if self.state(run).task_status(task) == "pending":
                return f"that task is not handed out yet: {remedies.creating(task)}"
        return ""

    def evidence(self, state: RunState, given: str, of: str) -> str:
        """Return the evidence that a prefix names; refuse what is of another run than the record it is given for."""
        identity, other = self.find(given, "evidence")
        if other.id != state.id and of == state.id:
            raise no.EvidenceForeignToRun(evidence=identity, tasks=f"run {other.id}", task=of)
        if other.id != state.id:
            raise no.EvidenceForeign(evidence=identity, tasks=f"run {other.id}", task=of)
        return identity

    def run(self, given: str = "") -> RunState:
        """Return the run that is named, or the only one that is open."""
        if given:
            return self.find(given, "run")[1]
        runs = self.view.runs()
        if not runs:
            raise no.NoRun
        found = [run for run in runs if not self._has_ended(run)] if len(runs) > 1 else runs
        if not found:
            raise no.NoRunOpen(count=len(runs))
        if len(found) > 1:
            raise no.RunAmbiguous(candidates=some(found, 5))
        return self.state(found[0])

    def run_to_archive(self, given: str = "") -> RunState:
        """Return the run that is named, or the only one that has ended and has files left, or what `run` returns."""
        loose = {layout.run_of_path(path) for path in self.view.files if path.startswith(f"{layout.RUNS}/")}
        ended = [run for run in self.view.runs() if run in loose and self._has_ended(run)] if not given else []
        if len(ended) > 1:
            raise no.EndedRunAmbiguous(candidates=some(ended, 5))
        try:
            return self.state(ended[0]) if ended else self.run(given)
        except no.NoRunOpen as none:
            raise no.AllArchived(**none.facts) from None

    def _has_ended(self, run: str) -> bool:
        if self.view.changed:
            return self.state(run).is_final
        from memento_git.work import row_cache

        return row_cache.head(self.view, run)["status"] in FINAL_RUN

    def home(self, run: str, tasks: Sequence[str]) -> tuple[RunState, list[str]]:
        """Return the run that is named, or the one of the tasks, and the tasks' ids; refuse one of another run."""
        found = [self.find(task, "task") for task in tasks]
        state = found[0][1] if found and not run else self.run(run)
        for identity, other in found:
            if other.id != state.id:
                raise NoSuchRecord(kind="task", given=f"{identity} in run {state.id}")
        return state, list(dict.fromkeys(identity for identity, _ in found))

    def sealer(self, *, sign: bool = False, key: str = "") -> Sealer | None:
        """Return what signs approvals and verdicts, where the user or policy asks for signatures."""
        if not (sign or key or self.policy.must_be_signed):
            return None
        from memento_git.work.attest.signatures import Sealer

        return Sealer(self.tx, self.policy, sign=sign, key=key)

    def refuse_unsigned(self, state: RunState, what: str, *, scopes: Sequence[str] = (), proof: str = "") -> None:
        """Refuse to rely on approvals or verdicts, or on what proves a task, without the signature policy demands."""
        if self.policy.must_be_signed:
            from memento_git.work.attest import signatures

            if told := signatures.unsigned_proof(state, proof) if proof else signatures.missing(state, scopes):
                raise signatures.SignatureRequired(what=what, why="; ".join(told))
