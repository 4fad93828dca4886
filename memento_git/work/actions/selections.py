"""dispatch select: choose one of several candidates; nothing is merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.names import NoSuchRevision
from memento_git.model.clock import seconds_of
from memento_git.model.ids import parse_ref
from memento_git.model.work import Event, Evidence
from memento_git.work import codediff, codestate, persons
from memento_git.work import refusals as no
from memento_git.work.actions.graphs import DIFF
from memento_git.work.gates import approvals
from memento_git.work.proof import codes, redacted_evidence, trust, verdict, verification_inputs
from memento_git.work.routing import candidates
from memento_git.work.routing.candidates import Candidate, Diff, Judged
from memento_git.work.run_writer import RunWriter
from memento_git.work.state import Dispatch, RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View

BEST = "best"


class NoCandidate(Refused):
    token = "no_candidate"
    sentence = "no candidate of {task} can be selected: {why}"
    hint_ = "see each of them: memento dispatch select {task}"


class Selection(NamedTuple):
    """The candidates of a task, best first, and the one that was chosen or would be; `event` where it was recorded."""

    task: str
    ranked: tuple[Judged, ...]
    chosen: Judged | None
    event: str = ""

    def decision(self) -> dict[str, Any]:
        """Return the choice as programs know it."""
        chosen = self.chosen.candidate if self.chosen else None
        others = [one for one in self.ranked if one is not self.chosen]
        return {
            "selected_dispatch_id": chosen.dispatch if chosen else None,
            "selected_executor": chosen.executor if chosen else None,
            "rejected": [
                {"dispatch_id": one.candidate.dispatch, "executor": one.candidate.executor,
                 "reasons": list(one.reasons) or [f"score {one.score}, another was chosen"]}
                for one in others
            ],
            "auto_merge_allowed": False,
            "approval_required": chosen is None and any(one.needs_approval for one in self.ranked),
            "preserved_evidence_trails": [
                {"dispatch_id": one.candidate.dispatch, "evidence": list(one.candidate.evidence)} for one in others
            ],
        }  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """Return each candidate with its score in parts."""
        return [
            {
                "dispatch_id": one.candidate.dispatch, "executor": one.candidate.executor,
                "status": one.candidate.status, "score": one.score, "parts": [part._asdict() for part in one.parts],
                "eligible": not one.reasons, "reasons": list(one.reasons), "evidence": list(one.candidate.evidence),
            }
            for one in self.ranked
        ]  # fmt: skip


def rank_candidates(view: View, task: str, *, only: Sequence[str] = ()) -> Selection:
    """Return what each candidate of a task is worth at a view, and which one would be chosen."""
    identity, state = RunState.find(view, task, "task")
    return _selection(state, identity, [_named(state, identity, view.find(one, "dispatch")[0]) for one in only])


def select_candidate(
    tx: Transaction, task: str, *, dispatch: str = BEST, reason: str = "", only: Sequence[str] = ()
) -> Selection:
    """Record the choice of the best candidate, or of another one for a reason; from now on it alone proves the task."""
    writer = RunWriter.of(tx)
    identity, state = writer.find(task, "task")
    found = _selection(state, identity, [_named(state, identity, writer.find(one, "dispatch")[0]) for one in only])
    chosen = found.chosen
    if dispatch != BEST:
        name = _named(state, identity, writer.find(dispatch, "dispatch")[0])
        chosen = next((one for one in found.ranked if one.candidate.dispatch == name), None)
        if chosen is None or chosen.reasons:
            why = "; ".join(chosen.reasons) if chosen else "it was not made as a candidate"
            raise no.NotACandidate(dispatch=name, task=identity, why=why)
    if chosen is None:
        return found
    if chosen is found.chosen:
        told = writer.optional("reason", reason)
    else:
        told = writer.reason("choosing another than the best candidate", reason)
    told = told or f"score {chosen.score}, best of {len(found.ranked)}"
    scores = {one.candidate.dispatch: one.score for one in found.ranked if not one.reasons}
    event = writer.append(
        state, identity, "selected", reads=(state.id,), dispatch=chosen.candidate.dispatch, reason=told, scores=scores
    )
    return found._replace(chosen=chosen, event=event.id)


def _named(state: RunState, task: str, dispatch: str) -> str:
    if dispatch not in state.dispatches(task):
        raise no.DispatchUnknown(dispatch=dispatch, task=task)
    return dispatch


def _selection(state: RunState, task: str, only: Sequence[str]) -> Selection:
    state.prose(task)
    held = {
        name: found for name, found in state.dispatches(task).items()
        if found.opened is not None and found.opened.data.get("candidate") and name in (only or (name,))
    }  # fmt: skip
    ranked = candidates.rank([_candidate(state, task, name, found) for name, found in held.items()])
    best = next((one for one in ranked if not one.reasons), None)
    return Selection(task, tuple(ranked), best)


def _candidate(state: RunState, task: str, name: str, found: Dispatch) -> Candidate:
    """Return what the ledger holds of one try."""
    executor = found.opened.get("executor") if found.opened else ""
    completion = next((event for event in state.completions(task) if event.dispatch == name), None)
    every = _own(state, name, completion)
    own = [one for one in every if state.evidence_status(one.id) == "recorded" and not state.is_early(one)]
    known = Candidate(
        name, executor, found.status, evidence=tuple(one.id for one in own),
        cost=state.policy.executors.get(executor, {}).get("cost"),
    )  # fmt: skip
    if completion is None:
        gone = ("its completion was undone",) if found.status == "completed" else ()
        return known._replace(problems=gone)
    proof = state.proof_of(completion)
    code = codes.sober(completion.data["code"])
    same = [one for one in own if codes.agree(trust.seen_by(one), code)]
    withdrawn = [one for one in every if one not in own and codes.agree(trust.seen_by(one), code)]
    git = state.view.git
    diffs = [one for one in own if "diff" in one.data and _is_of(git, one.data["diff"]["tip"], code)]
    graphs = [one for one in own if one.kind == "graph"]
    return known._replace(
        problems=(*(f"unproven: {why}" for why in proof.why), *_failed_last(state, completion, same, withdrawn)),
        proof=tuple((one.kind, state.trust_in(one)) for one in own if one.id in proof.by),
        failures=sum(1 for one in same if one.kind != "graph" and trust.outcome_of(one.data) == "failed"),
        tests=_tests(same),
        diff=_diff(git, diffs),
        approved=all(_approved(state, task, one, found.holder) for one in diffs if _is_risky(git, one)),
        regressions=sum(1 for one in graphs if trust.outcome_of(one.data) == "failed"),
        warnings=sum(1 for one in graphs if _warns(one)),
        seconds=_seconds(state, task, name, completion),
        ended=completion.at,
    )


def _own(state: RunState, name: str, completion: Event | None) -> list[Evidence]:
    """Return the evidence that came out of a dispatch, or that its completion cites."""
    cited = {parse_ref(ref).id for ref in completion.evidence} if completion else set()
    return [one for one in state.pieces(state.ids("evidence")) if one.data.get("dispatch") == name or one.id in cited]


def _failed_last(
    state: RunState, completion: Event, same: Sequence[Evidence], withdrawn: Sequence[Evidence]
) -> list[str]:
    """Return what is asked for and failed, the latest of its command, on the completed code.

    A failure that was withdrawn stays, until there is a later verdict of its kind.
    """
    asked, code = state.asked(completion.of), codes.sober(completion.data["code"])
    found = verdict.of_dispatch(verification_inputs.evidence_for(state, completion.of), str(completion.dispatch))
    problems = verdict.contradictions(verdict.latest(found, [code]), asked, ())
    failed = [one for one in withdrawn if trust.outcome_of(one.data) == "failed"]
    for kind in asked.evidence:
        verdicts = [one for one in (*same, *failed) if one.kind == kind and not trust.is_silent(one.data)]
        latest = max(verdicts, key=lambda one: (one.data["at"], one in failed), default=None)
        if latest in failed:
            problems.append(f"its latest {kind} evidence failed and was withdrawn")
    return problems


def _is_of(git: Git, tip: str, code: dict[str, Any]) -> bool:
    """Tell whether a diff ends at the code that was completed."""
    try:
        return codestate.tree_at(git, git.commit_of(tip)) in (code.get("tree"), code.get("full"))
    except (NoSuchRevision, GitFailed):
        return False


def _warns(graph: Evidence) -> bool:
    """Tell whether a piece of graph evidence is a comparison that found something, short of what policy refuses."""
    names = {file["name"] for file in graph.data.get("attachments", ())}
    return DIFF in names and trust.outcome_of(graph.data) == "observed"


def _tests(same: Sequence[Evidence]) -> tuple[int, int] | None:
    """Return how many tests failed and passed on the completed code, by the reports of commands that ran."""
    counts = [report["counts"] for one in same if "command" in one.data for report in one.data.get("reports") or ()
              if report["format"] == "junit"]  # fmt: skip
    if not counts:
        return None
    return (max(one.get("failed", 0) + one.get("errors", 0) for one in counts),
            max(one.get("passed", 0) for one in counts))  # fmt: skip


def _diff(git: Git, diffs: Sequence[Evidence]) -> Diff | None:
    """Return what a candidate changes, by its commits: of several diffs all files, and the size of the largest.

    What records say of that, anybody could have written; it is not known where a commit is not here.
    """
    held = [codediff.known(git, one.data["diff"]) for one in diffs]
    found = [one for one in held if one is not None]
    if not found or len(found) < len(held):
        return None
    largest = max(found, key=lambda one: one.added + one.removed)
    files = dict.fromkeys(path for one in found for path in one.files)
    return Diff(tuple(files), largest.added, largest.removed, any(one.unnamed or not one.files for one in found))


def _is_risky(git: Git, diff: Evidence) -> bool:
    """Tell whether a diff by itself has what nobody should take over unseen, as far as its commits are here."""
    found = _diff(git, [diff])
    return found is None or bool(candidates.risky(found))


def _approved(state: RunState, task: str, diff: Evidence, holder: str) -> bool:
    """Tell whether somebody else than who made it approved a diff as it is, and nobody's latest answer is a no.

    It is somebody whose approvals of the task policy counts. Where policy demands that approvals are signed, a yes that
    is not is none at all. An answer that was redacted is a no, and one that is dated after now is none yet.
    """
    about = [one for one in state.pieces(state.ids("evidence")) if one.kind == "approval"
             and one.data.get("approves") == diff.id and not state.is_early(one)]  # fmt: skip
    if about and state.policy.signatures:
        from memento_git.work.attest import signatures

        signed = signatures.answers(state, about, (holder, diff.data["by"]))
        theirs = None if signed is None else {name for name, signer in signed.items() if not signer.is_author}
        about = [one for one in about if theirs is None or one.id in theirs or trust.outcome_of(one.data) != "passed"]
    said = [(one.data["at"], not _is_yes(state, one, diff, task), one.data["by"]) for one in about]
    gone = redacted_evidence.said(state)
    said += [(str(one.get("at")), True, str(one.get("by"))) for _, one in gone if one.get("approves") == diff.id]
    latest = {actor: not is_no for _, is_no, actor in sorted(said)}
    others = [
        yes for actor, yes in latest.items()
        if not (persons.is_among(actor, (holder, diff.data["by"])) or approvals.no_approver(state, actor, task))
    ]  # fmt: skip
    return any(others) and all(latest.values())


def _is_yes(state: RunState, answer: Evidence, diff: Evidence, task: str) -> bool:
    """Tell whether an answer stands and approves a diff as it is, and its giver has not said no to its task since."""
    given = trust.outcome_of(answer.data) == "passed" and answer.data.get("text") == diff.digest
    stands = given and state.evidence_status(answer.id) == "recorded"
    return stands and not approvals.taken_back(state, answer, task)


def _seconds(state: RunState, task: str, name: str, completion: Event) -> float | None:
    """Return how long the dispatch was in somebody's hands."""
    claims = [seen.event.at for seen in state.folded(task).events
              if seen.event.do == "claimed" and seen.event.dispatch == name]  # fmt: skip
    if not claims:
        return None
    return max(0.0, round(seconds_of(completion.at) - seconds_of(min(claims)), 3))
