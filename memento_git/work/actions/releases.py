"""gate release: whether a run may be released, by what the ledger holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.folding.fold import plans_of
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.work import Evidence
from memento_git.work import codestate, release, trust
from memento_git.work import refusals as no
from memento_git.work.actions import gates
from memento_git.work.desk import Desk
from memento_git.work.release import Answer, Asked, CheckSeen, Held, TaskSeen, Verdict
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memento_git.ledger.store import Ledger, Transaction
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy


class ReleaseRefused(Refused):
    """A hand-written pass of the release gate, where policy asks for more."""

    token = "release_refused"
    sentence = "run {run} may not be released: {missing}"
    hint_ = "see what is missing: memento gate release --run {run}"


class Release(NamedTuple):
    """A verdict with what it was made from; `event` is the gate's, where one was recorded."""

    run: str
    held: Held
    asked: Asked
    verdict: Verdict
    event: str = ""


def release_run(
    tx: Transaction, *, run: str = "", require_checks: Sequence[str] = (), approvals: int = 0, note: str = "",
    sign: bool = False, key: str = "",
) -> Release:  # fmt: skip
    """Judge whether a run may be released; where it may, record its release gate as passed with what that rests on."""
    desk = Desk.of(tx)
    state = desk.run(run)
    found = examine(tx.ledger, state, require_checks=require_checks, approvals=approvals)
    if found.verdict.missing or state.is_final:
        return found
    refs = _refs(tx, state, found.verdict)
    if _is_recorded(state, refs):
        return found
    try:
        _, event = gates.record_verdict(
            tx, "release", "passed", run=state.id, evidence=refs, note=note, sign=sign, key=key
        )
    except no.GateNotFresh as refusal:
        return found._replace(verdict=found.verdict._replace(missing=(refusal.message,)))
    return found._replace(event=event)


def examine_run(
    ledger: Ledger, view: View, *, run: str = "", require_checks: Sequence[str] = (), approvals: int = 0
) -> Release:
    """Judge whether a run may be released at a view, and record nothing."""
    from memento_git.work.overview import choose_run

    state = RunState(view, choose_run(view, run))
    return examine(ledger, state, require_checks=require_checks, approvals=approvals)


def examine(ledger: Ledger, state: RunState, *, require_checks: Sequence[str] = (), approvals: int = 0) -> Release:
    """Return the verdict on a run; options add to what policy asks, and never take away."""
    policy = state.view.policy()
    asked = _asked(policy, require_checks, approvals)
    warnings = [] if asked.graph == "ignore" else _graph_warnings(ledger, state)
    gone = {task for task in state.ids("task") if state.task_status(task) == "cancelled"}
    scopes = [state.id, *(task for task in state.ids("task") if task not in gone)]
    held = _held(state, policy)._replace(
        graph_warnings=warnings, unsigned=_unsigned(state, policy, scopes, but=("release",))
    )
    return Release(state.id, held, asked, release.judge(held, asked))


def _signed(state: RunState, policy: Policy, evidence: Sequence[Evidence]) -> dict[str, str] | None:
    if not policy.signatures:
        return None
    from memento_git.work import signatures

    return signatures.answers(state, policy, evidence)


def _unsigned(state: RunState, policy: Policy, scopes: Sequence[str], but: Sequence[str] = ()) -> list[str]:
    """Return what holds and lacks the signature that policy demands."""
    if not policy.signatures.get("require"):
        return []
    from memento_git.work import signatures

    return signatures.missing(state, policy, scopes, but=but)


def row(found: Release) -> dict[str, Any]:
    """Return a verdict as programs know it."""
    verdict = found.verdict
    return {
        "verdict": "refused" if verdict.missing else "passed",
        "missing": list(verdict.missing),
        "missing_checks": list(verdict.checks),
        "missing_approvals": verdict.approvals,
        "approval_count": len(verdict.approvers),
        "approvers": list(verdict.approvers),
        "graph_warnings": list(found.held.graph_warnings),
        "graph_approval_required": verdict.graph,
        "evidence": list(verdict.rests_on),
        "event_id": found.event or None,
    }


def refuse_by_hand(ledger: Ledger, state: RunState) -> None:
    """Refuse a pass by hand that policy's own release gate would not give; the gate's own failure may be lifted so."""
    policy = state.view.policy()
    if not policy.release.get("checks") and not policy.release.get("approvals"):
        return
    found = examine(ledger, state)
    own = {key: verdict for key, verdict in found.held.gates.items() if key != (state.id, "release")}
    if missing := release.judge(found.held._replace(gates=own), found.asked).missing:
        raise ReleaseRefused(run=state.id, missing="; ".join(missing))


def _asked(policy: Policy, require_checks: Sequence[str], approvals: int) -> Asked:
    given = policy.release
    return Asked(
        checks=tuple(dict.fromkeys((*given.get("checks", ()), *require_checks))),
        approvals=max(given.get("approvals", 0), approvals),
        approvers=tuple(given.get("approvers", ())),
        not_author=given.get("not_author", False),
        gates=policy.gates_required,
        graph=given.get("graph", "refuse"),
    )


def _held(state: RunState, policy: Policy) -> Held:
    """Return what the ledger holds of a run."""
    tasks = state.tasks()
    evidence = [found for name in state.ids("evidence") if isinstance(found := state.evidence(name), Evidence)]
    status = "contested" if "status" in state.folded(state.id).lanes.contested else state.status
    return Held(
        run=state.id,
        status=status,
        tasks=[_task(state, task, policy) for task in tasks],
        gates={(scope, kind): value[0] for scope in (state.id, *tasks)
               for kind, value in state.folded(scope).lanes.named("gate").items()},
        checks=list(_checks(state, evidence)),
        answers=list(_answers(state, policy, evidence, {state.id, *tasks})),
        authors=frozenset(seen.event.by for task in tasks for seen in state.folded(task).events
                          if seen.verdict == "legal" and seen.event.do in ("claimed", "completed")),
        incomplete=[seen.why for key in (state.id, plans_of(state.id)) for seen in state.folded(key).dangling],
    )  # fmt: skip


def _task(state: RunState, task: str, policy: Policy) -> TaskSeen:
    proof = state.proof(task, policy)
    return TaskSeen(task, state.task_status(task), proof.proven, proof.why, proof.by)


def _checks(state: RunState, evidence: Sequence[Evidence]) -> Iterator[CheckSeen]:
    """Yield the checks of a run; one stands if nothing withdrew it and all that it says fits together."""
    git = state.view.git
    now = {codestate.code_at(git, commit)["tree"] for commit in state.view.commits}
    trees: dict[str, str] = {}
    for one in evidence:
        check: dict[str, Any] | None = one.data.get("check")
        if check is None:
            continue
        tree, commit = (one.data.get("code") or {}).get("tree", ""), check["commit"]
        fresh = now == {tree}
        if fresh and commit not in trees:
            known = git.answer("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
            trees[commit] = codestate.code_at(git, commit)["tree"] if known else tree
        yield CheckSeen(
            one.id, check["provider"], check["name"], check.get("id", ""), check["conclusion"],
            trust.outcome_of(one.data), check.get("finished", ""), one.data["at"],
            stands=_stands(state, one) and (not fresh or trees[commit] == tree), fresh=fresh,
        )  # fmt: skip


def _stands(state: RunState, evidence: Evidence) -> bool:
    """Tell whether evidence is there as it was recorded, and its outcome is what it shows."""
    return (
        state.evidence_status(evidence.id) == "recorded"
        and not state.folded(evidence.id).dangling
        and evidence.data["outcome"] == trust.outcome_of(evidence.data)
    )


def _answers(state: RunState, policy: Policy, evidence: Sequence[Evidence], scopes: set[str]) -> Iterator[Answer]:
    """Yield what was answered about a run and its tasks; an answer that was withdrawn is not a yes.

    Where policy demands that approvals are signed, one without is none at all, and it is whose signature it is.
    """
    signed = _signed(state, policy, evidence)
    for one in evidence:
        if one.kind == "approval" and one.data.get("approves") in scopes:
            yes = _stands(state, one) and trust.outcome_of(one.data) == "passed"
            text = state.prose(one.data["approves"]).digest
            if yes and (one.data.get("text", text) != text or (signed is not None and one.id not in signed)):
                continue
            principal = (signed or {}).get(one.id, "")
            yield Answer(one.id, one.data["by"], one.data["approves"], one.data["at"], yes, principal)


def _refs(tx: Transaction, state: RunState, verdict: Verdict) -> list[str]:
    """Return the evidence to name in the gate; of a gate that must be fresh, what saw other code is left out."""
    if "release" not in Desk.of(tx).policy.gates_fresh:
        return list(verdict.rests_on)
    found = [one for name in verdict.rests_on if (one := state.evidence(name)) is not None]
    paths = sorted({path for one in found for path in (one.data.get("code") or {}).get("paths", {})})
    known = {path for one in found for path in trust.seen_by(one).get("untracked", ())}
    now = codestate.code_now(tx.ledger.git, paths, known=known)
    return [one.id for one in found if one.kind == "approval" or trust.agree(trust.seen_by(one), now)]


def _is_recorded(state: RunState, refs: Sequence[str]) -> bool:
    """Tell whether the release gate has passed on exactly this evidence already."""
    folded = state.folded(state.id)
    if folded.lanes.word("gate:release", "") != "passed":
        return False
    passed = [
        seen.event
        for seen in folded.events
        if seen.verdict == "legal" and seen.event.do == "passed" and seen.event.get("gate") == "release"
    ]
    named = {parse_ref(ref).id for event in passed[-1:] for ref in event.data.get("evidence", ())}
    if _unsigned(state, state.view.policy(), (state.id,)):
        return False
    return named == {name for name in refs if kind_of(name) == "evidence"}


def _graph_warnings(ledger: Ledger, state: RunState) -> list[dict[str, Any]]:
    """Return what the code's graph warns of since the run began; one that cannot be read is a warning, too."""
    from memento_git.work.actions import graphs

    try:
        return graphs.run_warnings(ledger, state)
    except (Refused, Misused) as refusal:
        return [{"kind": "unknown", "level": "refuse", "message": refusal.message, "paths": []}]
