"""What the ledger holds of a run, as its release is judged by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.model.states import DONE
from memento_git.model.work import Evidence
from memento_git.work import codestate
from memento_git.work.gates import approvals, gate_validity, gates, release
from memento_git.work.gates.release import UNKNOWN, Answer, CheckSeen, Conditions, RunFacts
from memento_git.work.proof import failures, redacted_evidence, trust

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memento_git.model.policy import Policy
    from memento_git.model.rows import Row
    from memento_git.work.attest.signing import Signer
    from memento_git.work.proof.redacted_evidence import Left
    from memento_git.work.state import RunState


WHOLE: Final = "it is released as a whole, and none of its tasks alone"


def asked(policy: Policy, require_checks: Sequence[str] = (), approvals: int = 0) -> Conditions:
    """Return what policy asks of a release, and what more somebody asks."""
    given = policy.release
    return Conditions(
        checks=tuple(dict.fromkeys((*given.get("checks", ()), *require_checks))),
        approvals=max(given.get("approvals", 0), approvals),
        approvers=tuple(given.get("approvers", ())),
        not_author=given.get("not_author", False),
        graph=given.get("graph", "refuse"),
    )


def asking(state: RunState) -> list[Row]:
    """Return the steps that bring what policy asks of a release and is lacking: its checks, and approvals."""
    if not gates.release_asks(state.policy):
        return []
    asks = asked(state.policy)
    verdict = release.judge(held(state), asks)
    steps = [
        {"why": f"the release asks for a success of the check {name} on this code",
         "command": f"memento evidence check --run {state.id} FILE"} for name in verdict.checks
    ]  # fmt: skip
    told = f"the release asks for {release.approvals_told(asks, verdict.approvers)}"
    return steps + [{"why": told, "command": f"memento evidence approve {state.id}"}] * bool(verdict.approvals)


def _signed(state: RunState, evidence: Sequence[Evidence], authors: Collection[str]) -> dict[str, Signer] | None:
    if not state.policy.signatures:
        return None
    from memento_git.work.attest import signatures

    return signatures.answers(state, evidence, authors if state.policy.release.get("not_author") else ())


def held(state: RunState, commits: Sequence[str] = ()) -> RunFacts:
    """Return what the ledger holds of a run; its code is that of some commits, by default of those that are read."""
    now = {code(())["tree"] for code in gate_validity.codes_of(state, commits)}
    return _facts(state, now, signs=True)


def lacking(state: RunState, scope: str) -> Sequence[str]:
    """Return what policy asks of a release that has passed and the files of its run do not have.

    Which code its checks saw, what the graph warns of and who signed depends on more than these files.
    """
    if scope != state.id:
        return (WHOLE,)
    found = _facts(state, (), signs=False)
    return release.judge(as_seen_then(found), asked(state.policy)).missing


def as_seen_then(facts: RunFacts) -> RunFacts:
    """Return what the ledger holds of a run that was released: what checks saw was looked at then."""
    return facts._replace(checks=[one._replace(fresh=True) for one in facts.checks])


def _facts(state: RunState, now: Collection[str], *, signs: bool) -> RunFacts:
    tasks = state.tasks()
    evidence = state.pieces(state.ids("evidence"))
    gone = redacted_evidence.said(state)
    authors = frozenset(name for task in tasks for name in approvals.workers(state, task))
    proven = (state.proof(task) for task in tasks if state.task_status(task) in DONE)
    signed = _signed(state, evidence, authors) if signs else None
    return RunFacts(
        run=state.id,
        tasks=approvals.answerable(state),
        proof=[name for one in proven if one.proven for name in one.by],
        checks=[*_checks(state, evidence, now), *_checks_gone(state, gone, now)],
        answers=[*_answers(state, evidence, {state.id, *tasks}, signed), *_answers_gone(state, gone),
                 *_noes(state, (state.id, *tasks))],
        authors=authors,
    )  # fmt: skip


def _checks(state: RunState, evidence: Sequence[Evidence], now: Collection[str]) -> Iterator[CheckSeen]:
    """Yield the checks of a run; one stands if nothing withdrew it and all that it says fits together.

    `now` are the trees of the code as it is.
    """
    git = state.view.git
    trees: dict[str, str] = {}
    for one in evidence:
        check: dict[str, Any] | None = one.data.get("check")
        if check is None or state.is_early(one):
            continue
        tree, commit = (one.data.get("code") or {}).get("tree", ""), check["commit"]
        fresh = now == {tree}
        if fresh and commit not in trees:
            known = git.commit(commit)
            trees[commit] = codestate.tree_at(git, commit) if known else tree
        yield CheckSeen(
            one.id, check["provider"], check["name"], check["conclusion"], trust.outcome_of(one.data),
            failures.ended(check, one.data["at"]), one.data["at"],
            stands=_stands(state, one) and (not fresh or trees[commit] == tree), fresh=fresh,
            void="" if (status := state.evidence_status(one.id)) == "recorded" else status,
        )  # fmt: skip


def _checks_gone(state: RunState, gone: Iterable[Left], now: Collection[str]) -> Iterator[CheckSeen]:
    """Yield the checks that were redacted: none of them is a success, and what came before them is not the latest."""
    for name, kept in gone:
        check, code, at = kept.get("check"), kept.get("code"), str(kept.get("at", ""))
        if isinstance(check, dict) and isinstance(code, dict) and at <= state.view.now:
            provider, word, conclusion = (str(check.get(key, "")) for key in ("provider", "name", "conclusion"))
            yield CheckSeen(
                name, provider, word, conclusion, "observed", at, at,
                stands=False, fresh=now == {code.get("tree")}, void="redacted",
            )  # fmt: skip


def _answers_gone(state: RunState, gone: Iterable[Left]) -> Iterator[Answer]:
    """Yield the answers that were redacted: none of them is a yes."""
    for name, kept in gone:
        about, at = str(kept.get("approves", "")), str(kept.get("at", ""))
        if about and at <= state.view.now:
            yield Answer(name, str(kept.get("by", "")), about, at, yes=False)


def _noes(state: RunState, scopes: Sequence[str]) -> Iterator[Answer]:
    """Yield each no that counts for the run or a task, also one that is about something else."""
    for scope in scopes:
        for one in state.answers().get(scope, ()):
            if one.is_no:
                yield Answer(one.evidence, one.by, scope, one.at, yes=False)


def _stands(state: RunState, evidence: Evidence) -> bool:
    """Tell whether evidence is there as it was recorded, and its outcome is what it shows."""
    is_whole = evidence.data["outcome"] == trust.outcome_of(evidence.data)
    return is_whole and state.evidence_status(evidence.id) == "recorded"


def _answers(
    state: RunState, evidence: Sequence[Evidence], scopes: set[str], signed: Mapping[str, Signer] | None
) -> Iterator[Answer]:  # fmt: skip
    """Yield what was answered about a run and its tasks; an answer that was withdrawn is not a yes.

    A yes is one to a text that can be read, and is as it was. Where policy demands that approvals are signed, one
    without is none at all, and it is whose signature it is.
    """
    for one in evidence:
        if one.kind == "approval" and one.data.get("approves") in scopes and not state.is_early(one):
            yes = _stands(state, one) and trust.outcome_of(one.data) == "passed"
            text = state.text(one.data["approves"])
            is_of_text = text is not None and one.data.get("text") == text.digest
            if yes and not (is_of_text and (signed is None or one.id in signed)):
                continue
            signer = (signed or {}).get(one.id, UNKNOWN)
            yield Answer(one.id, one.data["by"], one.data["approves"], one.data["at"], yes, signer)
