"""graph: status update diff propose, and what a run's release asks of the graph."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Misused
from memento_git.ledger import layout
from memento_git.model.enumeration import many
from memento_git.model.work import SNAPSHOT, Evidence
from memento_git.texts.typed import lists
from memento_git.work import codestate
from memento_git.work.actions import evidences
from memento_git.work.actions.attaching import RangeInvalid, attached
from memento_git.work.graph import codegraph, graphfile, graphs, proposals
from memento_git.work.graph import graphify as gfy
from memento_git.work.proof import redacted_evidence
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy
    from memento_git.model.rows import Row

DIFF: Final = "graph-diff.json"
GRAPHIFY: Final = "graphify.json"
NO_GRAPH: Final = "this run has no import graph recorded, so changes to it were not checked"


class SnapshotsRequired(Misused):
    token = "graph_snapshots_required"
    sentence = "two graphs are needed to compare"
    hint_ = "memento graph diff A..B, or both --before-json and --after-json"


def snapshots(state: RunState) -> list[Evidence]:
    """Return the graphs that a run has recorded and not withdrawn, oldest first."""
    return [one for one in _recorded(state) if state.evidence_status(one.id) == "recorded"]


def _recorded(state: RunState) -> list[Evidence]:
    """Return the graphs that a run has recorded, oldest first, also those that were retracted or superseded."""
    return [
        one for one in state.pieces(state.ids("evidence"))
        if one.kind == "graph" and any(file["name"] == SNAPSHOT for file in one.data.get("attachments", ()))
    ]  # fmt: skip


def latest(view: View, run: str, held: Row) -> Row | None:
    """Return what is recorded of the graph in a run, and whether it is of the code, or the graph, at this view."""
    found = snapshots(RunState(view, run))
    if not found:
        return None
    data = found[-1].data
    tree = codestate.tree_at(view.git, view.commits[0]) if len(view.commits) == 1 else ""
    return {
        "evidence_id": found[-1].id, "run_id": run, "created_at": data["at"], "counts": data.get("graph", {}),
        "current": data.get("code", {}).get("tree") == tree, "dispatch_id": data.get("dispatch"),
        "same_graph": is_graph(found[-1], codegraph.as_bytes(held)),
    }  # fmt: skip


@lists
def update_graph(
    tx: Transaction, *, run: str = "", tasks: Sequence[str] = (), graphify: tuple[str, bytes] | None = None
) -> str:
    """Record the graph of the code at HEAD as evidence; return its id, the former one's where nothing changed.

    `graphify` is what graphified() found, which takes too long for a transaction.
    """
    writer = RunWriter.of(tx)
    git = tx.ledger.git
    held, code = look(git, tx.view.commits[0] if tx.view.commits else "HEAD")
    named = {SNAPSHOT: codegraph.as_bytes(held)}
    if graphify is not None and graphify[0] != code["tree"]:
        raise gfy.GraphifyFailed(reason="the code changed while it ran")
    if graphify is not None:
        named[GRAPHIFY] = graphify[1]
    state, wanted = writer.home(run, tasks)
    if former := _former(state, code["tree"], named, wanted):
        return former
    draft = snapshot_draft(writer, named, held, code)
    return evidences.record_draft(tx, draft, run=state.id, tasks=wanted, summary=counted(held))


def _former(state: RunState, tree: str, named: dict[str, bytes], tasks: Sequence[str]) -> str:
    """Return the latest snapshot if it says the same of the same code."""
    for one in snapshots(state)[-1:]:
        files = {file["name"] for file in one.data["attachments"]}
        same = one.data.get("code", {}).get("tree") == tree and is_graph(one, named[SNAPSHOT])
        if same and set(tasks) <= set(one.tasks) and named.keys() <= files:
            return one.id
    return ""


def is_graph(snapshot: Evidence, data: bytes) -> bool:
    """Tell whether a snapshot holds exactly this graph."""
    digest = hashlib.sha256(data).hexdigest()
    return any(file["name"] == SNAPSHOT and file["sha256"] == digest for file in snapshot.data["attachments"])


def graphified(tx: Transaction, *, run: str = "", tasks: Sequence[str] = ()) -> Callable[[], tuple[str, bytes]]:
    """Refuse what recording would refuse; return what runs graphify on the code at HEAD, outside of a transaction."""
    evidences.foresee(tx, run=run, tasks=tasks)
    git = tx.ledger.git
    commit = git.commit_of("HEAD")
    return lambda: (codestate.tree_at(git, commit), gfy.run(git, commit))


def _draft(writer: RunWriter, named: dict[str, bytes], data: Row) -> evidences.Draft:
    attachments, files = attached(writer, named)
    return evidences.Draft({"kind": "graph", **data, "attachments": attachments}, files)


def snapshot_draft(writer: RunWriter, named: dict[str, bytes], held: Row, code: Row) -> evidences.Draft:
    """Return a snapshot, with its files by their names, as evidence that is not in the ledger yet."""
    return _draft(writer, named, {"outcome": "observed", "code": code, "graph": held["counts"]})


def counted(held: Row) -> str:
    """Return a graph's counts in words."""
    counts = held["counts"]
    return ", ".join(
        many(counts[key], what) for key, what in (("nodes", "file"), ("edges", "import"), ("cycles", "cycle"))
    )


def diff_commits(git: Git, policy: Policy, given: str) -> tuple[Row, Row]:
    """Return what changed in the graph from A to B of `A..B`, and the code of B."""
    first, dots, last = given.partition("..")
    if not dots or last.startswith("."):
        raise RangeInvalid(given=given)
    old, new = git.commit_of(first or "HEAD"), git.commit_of(last or "HEAD")
    before = codegraph.snapshot(git, old)
    after, code = look(git, new)
    return graphs.compare(before, after, policy.graph), code


def diff_files(policy: Policy, before: tuple[str, bytes], after: tuple[str, bytes]) -> Row:
    """Return what changed from one graph to another, both as JSON."""
    return graphs.compare(graphfile.read(*before), graphfile.read(*after), policy.graph)


def record_diff(tx: Transaction, diff: Row, code: Row | None, *, run: str = "", tasks: Sequence[str] = ()) -> str:
    """Record a comparison of two graphs as evidence; return its id."""
    writer = RunWriter.of(tx)
    state, wanted = writer.home(run, tasks)
    outcome = "failed" if diff["blocking"] else "observed" if diff["warnings"] else "passed"
    draft = _draft(writer, {DIFF: codegraph.as_bytes(diff)}, {"outcome": outcome, "code": code, "graph": diff["after"]})
    told = f"risk {diff['risk']}: {many(len(diff['warnings']), 'warning')}"
    return evidences.record_draft(tx, draft, run=state.id, tasks=wanted, summary=told)


def run_warnings(ledger: Ledger, state: RunState) -> list[Row]:
    """Return the warnings of the code as it is at the view against the run's first graph.

    Each has `kind`, `level` (refuse or warn), `message` and `paths`. Without a graph there are none, and that is told.
    A first graph that was withdrawn is the first all the same.
    """
    first = _first(state)
    if first is None or len(state.view.commits) != 1:
        ledger.warn(NO_GRAPH)
        return []
    after = codegraph.snapshot(state.view.git, state.view.commits[0])
    warnings: list[Row] = graphs.compare(_as_it_was(state, first), after, state.policy.graph)["warnings"]
    return warnings


def _first(state: RunState) -> Evidence | None:
    """Return the first graph of a run, whoever withdrew it; refuse where it was redacted."""
    held = _recorded(state)[:1]
    for name, left in redacted_evidence.said(state):
        if left.get("kind") == "graph" and all(str(left.get("at")) < one.data["at"] for one in held):
            raise graphfile.SnapshotInvalid(where=f"{SNAPSHOT} of {name}", problem="it was redacted")
    return held[0] if held else None


def _as_it_was(state: RunState, first: Evidence) -> Row:
    """Return a graph as it was recorded; one that was withdrawn as it is read now, where git has its commit."""
    git, code = state.view.git, first.data.get("code", {})
    head = git.commit(code["head"]) if state.evidence_status(first.id) != "recorded" and "head" in code else None
    if head and codestate.tree_at(git, head) == code["tree"]:
        return codegraph.snapshot(git, head)
    return graphfile.read(f"{SNAPSHOT} of {first.id}", kept(state, first))


def kept(state: RunState, evidence: Evidence) -> bytes:
    """Return the graph that a piece of evidence holds; refuse where its bytes are missing or others."""
    file = next(one for one in evidence.data["attachments"] if one["name"] == SNAPSHOT)
    data = state.view.read(f"{layout.folder_of(state.id, evidence.id)}/{file.get('kept', '')}")
    if data is None or hashlib.sha256(data).hexdigest() != file["sha256"]:
        raise graphfile.SnapshotInvalid(where=f"{SNAPSHOT} of {evidence.id}", problem="its bytes are not in the ledger")
    return data


def look(git: Git, rev: str) -> tuple[Row, Row]:
    """Return the graph of the code at a revision, and which code that is."""
    commit = git.commit_of(rev)
    held = codegraph.snapshot(git, commit)
    return held, {"tree": codestate.tree_at(git, commit), "head": commit}


def proposed(held: Row) -> tuple[list[Row], int]:
    """Return the tasks that a graph suggests, and how many more there would be."""
    return proposals.propose(held, codestate.is_fit)


def as_verbs(rows: Sequence[Row], run: str) -> str:
    """Return proposals as the YAML list that `memento apply` takes."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as blocks, as people would."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    verbs = [
        {"do": "task add", **({"run": run} if run else {}),
         **{key: _literal(value) for key, value in row.items() if key != "basis"}}
        for row in rows
    ]  # fmt: skip
    return str(yaml.dump(verbs, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)) if verbs else ""


def _literal(value: Any) -> Any:
    """Return a text, or a list of them, that `apply` takes word for word."""
    if isinstance(value, list):
        return [_literal(one) for one in value]
    return f"${value}" if value.startswith("$") else value
