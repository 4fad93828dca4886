"""The graph of the code after a dispatch: recorded with its completion, where policy or a wish asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.errors import MementoError
from memento_git.model.ids import NoSuchRecord, WrongKind
from memento_git.model.tuples import NamedTuple
from memento_git.model.work import SNAPSHOT, Event, Evidence
from memento_git.work.actions import worktrees
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import Row


class Checkpoint(NamedTuple):
    """What a completion says of the graph: which evidence holds it, whether that is new, or why there is none."""

    evidence: str = ""
    recorded: bool = False
    problem: str = ""

    def row(self) -> Row:
        return {"evidence_id": self.evidence or None, "recorded": self.recorded, "problem": self.problem or None}


def is_wanted(state: RunState, asked: bool | None) -> bool:
    """Tell whether a completion is to record the graph; by default where the run has one already."""
    if asked is not None:
        return asked
    when = state.policy.graph["after_dispatch"]
    return when == "always" or (when == "known" and bool(_held(state)))


def _held(state: RunState) -> list[Evidence]:
    """Return the snapshots of a run whose bytes are kept, oldest first."""
    found = [one for one in state.keeping(SNAPSHOT) if one.kind == "graph"]
    standing = [one for one in found if state.evidence_status(one.id) == "recorded"]
    return sorted(standing, key=lambda one: (one.data["at"], one.id))


def look_ahead(ledger: Ledger, dispatch: str, asked: bool | None = None) -> None:
    """Read the code before the transaction, where its graph is wanted: what was read is not read again."""
    try:
        name, state = RunState.find(ledger.view(), dispatch, "dispatch")
    except (NoSuchRecord, WrongKind):
        return  # which the transaction refuses
    if is_wanted(state, asked):
        _measured(worktrees.place_of(ledger.git, name))


def _measured(git: Git) -> tuple[Row, Row] | str:
    """Return the graph of the code at HEAD and which code that is, or why there is none."""
    from memento_git.work.actions import graphs

    try:
        return graphs.look(git, "HEAD")
    except (MementoError, OSError, ValueError, RecursionError) as error:
        return error.message if isinstance(error, MementoError) else str(error) or type(error).__name__


def record(tx: Transaction, state: RunState, completion: Event, asked: bool | None) -> Checkpoint | None:
    """Record the graph of what a completion completes, unless the run's latest snapshot is the same; never refuse."""
    from memento_git.work.actions import evidences, graphs
    from memento_git.work.graph import codegraph

    writer = RunWriter.of(tx)
    if not is_wanted(state, asked):
        return None
    dispatch = completion.dispatch
    found = _measured(worktrees.place_of(tx.ledger.git, dispatch))
    if isinstance(found, str):
        return _without(tx, found)
    held, code = found
    content = codegraph.as_bytes(held)
    if len(content) > writer.policy.attach:
        return _without(tx, f"it has {len(content)} bytes, more than policy's limits.attach")
    if code["tree"] != completion.data["code"]["tree"]:
        tx.ledger.warn("the graph is of the last commit: what is not committed is not in it")
    for path, why in held["not_readable"].items():
        tx.ledger.warn(f"not part of the graph: {path}: {why}")
    former = _held(state)[-1:]
    if former and graphs.is_graph(former[0], content):
        return Checkpoint(former[0].id)
    draft = graphs.snapshot_draft(writer, {SNAPSHOT: content}, held, code)
    summary = f"After {dispatch}: {graphs.counted(held)}"
    made = evidences.record_draft(tx, draft, dispatch=dispatch, summary=summary)
    return Checkpoint(made, recorded=True)


def _without(tx: Transaction, problem: str) -> Checkpoint:
    tx.ledger.warn(f"the graph of the code was not recorded: {problem}")
    return Checkpoint(problem=problem)
