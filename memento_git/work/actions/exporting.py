"""evidence export: what the ledger holds as in-toto Statements; what is withdrawn or has no verdict is refused."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from memento_git.errors import Refused
from memento_git.ledger import commits, introducing_commits, layout, ranges
from memento_git.model.clock import is_ahead
from memento_git.model.ids import EvidenceWithdrawn, parse_ref
from memento_git.model.states import DONE, RUN_KINDS
from memento_git.work import codestate
from memento_git.work import refusals as no
from memento_git.work.attest import attestation, signatures
from memento_git.work.gates import gate_validity, gates
from memento_git.work.gates.blockers import blockers
from memento_git.work.proof import codes, proofs, trust
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection
    from memento_git.model.work import Event, Evidence


class NotAttestable(Refused):
    token = "evidence_not_attestable"
    sentence = "{evidence} cannot be exported: {why}"
    hint_ = "export evidence of a command, test, lint, type check or build that stands: memento evidence list"


class NotReleased(Refused):
    token = "run_not_released"
    sentence = "run {run} is not released: {why}"
    hint_ = "see what is missing: memento gate release --run {run}"


def evidence_statements(view: View, ids: Sequence[str]) -> list[bytes]:
    """Return a test result for each piece of evidence that is named, one also where it is named twice."""
    found = dict.fromkeys(view.find(given, "evidence") for given in ids)
    return [_statement(RunState(view, run), identity) for identity, run in found]


def task_statements(view: View, task: str, run: str = "") -> list[bytes]:
    """Return a test result for all evidence of commands that proves a task."""
    identity, state = RunState.find(view, task, "task")
    if run and view.find(run, "run")[0] != state.id:
        raise no.EvidenceForeign(evidence="what proves it", tasks=f"run {state.id}", task=identity)
    if state.task_status(identity) not in DONE:
        raise no.TaskTransition(task=identity, status=state.task_status(identity), verb="exported")
    proof = state.proof(identity)
    if not proof.proven and state.is_final:
        raise NotAttestable(evidence=identity, why=f"it is not proven: {'; '.join(proof.why)}")
    proofs.refuse_unproven(state, identity)
    for why in signatures.unsigned_proof(state, identity):
        raise NotAttestable(evidence=identity, why=why)
    names = [one.id for one in state.pieces(proof.by) if one.kind in RUN_KINDS]
    if not names:
        raise NotAttestable(evidence=identity, why="no command proves it")
    return [_statement(state, name) for name in names]


def _statement(state: RunState, identity: str) -> bytes:
    evidence, status = state.evidence_named(identity), state.evidence_status(identity)
    if status != "recorded":
        raise EvidenceWithdrawn(evidence=identity, status=status)
    if why := _unfit(state, evidence):
        raise NotAttestable(evidence=identity, why=why)
    commit = _commit_seen(state.view.git, evidence)
    return attestation.test_result(evidence, state.view.sha256(evidence.path), state.trust_in(evidence), commit)


def _commit_seen(git: Git, evidence: Evidence) -> str:
    """Return the commit that evidence says it was run at, where that holds the code that was seen, and no other."""
    head = trust.seen_by(evidence).get("head", "")
    known = git.commit(head) if head else None
    return head if known and codestate.tree_at(git, known) == codes.wholly(evidence.data) else ""


def _unfit(state: RunState, evidence: Evidence) -> Objection:
    """Return why a statement would say more than evidence does, or nothing."""
    if evidence.kind not in RUN_KINDS:
        return f"evidence of kind {evidence.kind} is no result of a command"
    if "code" not in evidence.data:
        return "it is bound to no code"
    if trust.outcome_of(evidence.data) not in attestation.RESULTS:
        return "it has no verdict"
    if evidence.data["outcome"] != trust.outcome_of(evidence.data):
        return "its outcome disagrees with what the command did"
    if is_ahead(evidence.data["at"], state.view.now):
        return f"it is dated {evidence.data['at']}, which is not yet"
    lost = "" if state.witnessed(evidence) == "witnessed" else "its output is not kept here as it was hashed"
    return lost or trust.moved(evidence) or state.seen_again(evidence).contradicted


def run_statement(view: View, given: str) -> bytes:
    """Return the verification summary of a run; refuse where its release, or what that rests on, does not stand."""
    _, state = RunState.find(view, given, "run")
    event = _passed(state)
    commit = _commit_of(view, event)
    hindered = chain((one.why for one in blockers(state, (commit,))), gate_validity.by_others(state))
    if why := next(hindered, ""):
        raise NotReleased(run=state.id, why=why)
    names = {parse_ref(ref).id for ref in event.evidence}
    for ref in event.evidence:
        cited = state.cited(parse_ref(ref))
        if cited.evidence is None or cited.status != "recorded" or cited.contradicted:
            told = cited.contradicted or (cited.status if cited.evidence else "missing or changed")
            raise NotReleased(run=state.id, why=f"{cited.ref.partition('@')[0]}: {told}")
    names.update(name for task in state.counting() for name in state.proof(task).by)
    paths = {name: state.index.evidence[name] for name in names if name in state.index.evidence}
    return attestation.summary(
        run=state.id,
        at=event.at,
        tree=codestate.tree_at(view.git, commit),
        commit=commit,
        policy=view.sha256(layout.CONFIG),
        inputs={name: view.sha256(path) for name, path in paths.items()},
    )


def _passed(state: RunState) -> Event:
    """Return the verdict that released a run."""
    word = gates.words(state).get("release", "requested")
    passes = gates.passes(state, state.id, "release") if word == "passed" else []
    if not passes:
        raise NotReleased(run=state.id, why=f"its release gate is {'pending' if word == 'requested' else word}")
    return passes[-1]


def _commit_of(view: View, event: Event) -> str:
    """Return the commit that brought an event: its code is what was released.

    What was taken away and put back came with the first of these commits; of several that did not know each other the
    code must be the same.
    """
    first = introducing_commits.firsts(view.git, introducing_commits.bringing(view.git, view.commits, event))
    depth = ranges.depth_of(view.git)
    cut = not first or any(None in view.git.objects(commits.parents(view.git, one)) for one in first)
    if depth is not None and cut:
        raise ranges.ForkMissing(depth=depth, what="the commit of the release", fetch="--deepen 100")
    if not first:
        raise NotReleased(run=event.run, why="no commit of this history brought its release")
    if len({codestate.tree_at(view.git, one) for one in first}) > 1:
        raise NotReleased(run=event.run, why=f"its release came with different code: {', '.join(sorted(first))}")
    return first[0]
