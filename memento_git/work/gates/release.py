"""Whether a run may be released: what the ledger holds against what is asked of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memento_git.work.attest.signing import Signer, identities
from memento_git.work.persons import alike

UNKNOWN: Final = Signer()


class CheckSeen(NamedTuple):
    """A check as the ledger holds it: its outcome, when it ended, and whether it saw the code as it is.

    `void` is what became of one that is no verdict any more.
    """

    evidence: str
    provider: str
    name: str
    conclusion: str
    outcome: str
    when: str
    recorded: str
    stands: bool
    fresh: bool
    void: str = ""


class Answer(NamedTuple):
    """What somebody answered about the run or one of its tasks; `signer` is whose signature it bears."""

    evidence: str
    actor: str
    about: str
    at: str
    yes: bool
    signer: Signer = UNKNOWN


class Conditions(NamedTuple):
    """What is asked of a release."""

    checks: tuple[str, ...] = ()
    approvals: int = 0
    approvers: tuple[str, ...] = ()
    not_author: bool = False
    graph: str = "refuse"


class RunFacts(NamedTuple):
    """What the ledger holds of a run: its tasks but for those that were called off undone, and what proves them."""

    run: str
    tasks: Sequence[str] = ()
    proof: Sequence[str] = ()
    checks: Sequence[CheckSeen] = ()
    answers: Sequence[Answer] = ()
    authors: frozenset[str] = frozenset()
    graph_warnings: Sequence[Mapping[str, Any]] = ()


class Verdict(NamedTuple):
    """What is missing, as sentences and by part, and what a release rests on."""

    missing: tuple[str, ...]
    checks: tuple[str, ...]
    approvals: int
    approvers: tuple[str, ...]
    graph: bool
    rests_on: tuple[str, ...]


def judge(held: RunFacts, asked: Conditions, hindered: Iterable[str] = ()) -> Verdict:
    """Return whether a run may be released, everything that is missing named; what hinders its end comes first."""
    missing = [*hindered]
    rests, absent = [*held.proof], []
    for name in asked.checks:
        problem, found = _check(name, held.checks)
        rests += found
        if problem:
            absent.append(name)
            missing.append(f"check {name}: {problem}")
    approved = _approvals(held, asked)
    rests += approved.values()
    lacking = max(0, asked.approvals - len(approved))
    if lacking:
        missing.append(approvals_told(asked, approved))
    refused = asked.graph == "refuse" and bool(held.graph_warnings)
    if refused:
        missing += [f"graph: {warning['message']}" for warning in held.graph_warnings]
    return Verdict(
        tuple(missing), tuple(absent), lacking, tuple(sorted(approved)), refused, tuple(dict.fromkeys(rests))
    )


def approvals_told(asked: Conditions, approved: Collection[str]) -> str:
    """Return how many approvals there are of those that are asked, and whose would count yet."""
    return f"approvals: {len(approved)} of {asked.approvals}{_whose(asked, approved)}"


def _whose(asked: Conditions, approved: Collection[str]) -> str:
    left = [one for one in asked.approvers if one not in approved]
    told = [f"by {', '.join(left or asked.approvers)}"] if asked.approvers else []
    told += ["not by who did the work"] if asked.not_author else []
    return f", {' and '.join(told)}" if told else ""


def _check(name: str, checks: Iterable[CheckSeen]) -> tuple[str, list[str]]:
    """Return what is wrong with a check by its name, or nothing, and the evidence of what is right.

    Of each provider that knows the name, only the latest verdict counts; one that was taken back is none, and what
    came before it is not the latest.
    """
    named = _named(name, checks)
    if not any(one.stands for one in named):
        return "there is none", []
    fresh = [one for one in named if one.fresh]
    if not any(one.stands for one in fresh):
        return "it is stale: it is of other code than this commit's", []
    latest = {f"{one.provider}/{one.name}": one for one in sorted(fresh, key=_rank)}
    bad = [one for _, one in sorted(latest.items()) if one.void or one.outcome != "passed"]
    if bad:
        return "; ".join(f"its latest verdict, of {one.provider}, is {one.void or one.conclusion}" for one in bad), []
    return "", [one.evidence for one in latest.values()]


def _named(name: str, checks: Iterable[CheckSeen]) -> list[CheckSeen]:
    return [one for one in checks if (one.stands or one.void) and name in (one.name, f"{one.provider}/{one.name}")]


def stale(held: RunFacts, asked: Conditions) -> list[str]:
    """Return the evidence of the checks that are asked of a release and that saw other code alone."""
    found = {name: [one for one in _named(name, held.checks) if one.stands] for name in asked.checks}
    return [seen[-1].evidence for seen in found.values() if seen and not any(one.fresh for one in seen)]


def _rank(check: CheckSeen) -> tuple[str, str, int]:
    """Return what puts a verdict after another: when it ended, when it was recorded, then the worse one."""
    return check.when, check.recorded, ("passed", "observed", "failed").index(check.outcome)


def _approvals(held: RunFacts, asked: Conditions) -> dict[str, str]:
    """Return the actors whose latest answer approves the run, or all of its tasks, with the evidence of it.

    A no counts under whatever spelling of one's name it was given. A task that was ever done is one of them, also if it
    was called off since: what is left has to be approved as a whole.
    """
    found = {}
    known = alike([*(answer.actor for answer in held.answers), *held.authors])
    own = {known[author] for author in held.authors} if asked.not_author else set()
    for actor in sorted({answer.actor for answer in held.answers}):
        if (asked.approvers and actor not in asked.approvers) or known[actor] in own:
            continue
        said = [
            answer for answer in held.answers
            if answer.actor == actor or (not answer.yes and known[answer.actor] == known[actor])
        ]  # fmt: skip
        latest = [_latest(said, (held.run, task)) for task in held.tasks] or [_latest(said, (held.run,))]
        given = [answer for answer in latest if answer is not None and answer.yes]
        if len(given) == len(latest):
            found[actor] = given
    return _persons(found.values(), held.authors if asked.not_author else frozenset(), known)


def _persons(
    given: Iterable[Sequence[Answer]], authors: frozenset[str], known: Mapping[str, str]
) -> dict[str, str]:  # fmt: skip
    """Return actor -> evidence; who answers, or signs, under two names is one person, and so is who has one key.

    Nobody counts who did the work.
    """
    own = {principal for author in authors for principal in identities(author)}
    found: dict[str, str] = {}
    seen: set[str | bytes] = set()
    for answers in given:
        signers = [answer.signer for answer in answers]
        whose = {known[answers[-1].actor], *(part for one in signers for part in one[:2] if part)}
        if any(one.is_author or one.principal in own for one in signers) or whose & seen:
            continue
        seen |= whose
        found[answers[-1].actor] = answers[-1].evidence
    return found


def _latest(answers: Sequence[Answer], scopes: Sequence[str]) -> Answer | None:
    """Return the latest answer about any of these; of two at one moment, the no."""
    return max(
        (answer for answer in answers if answer.about in scopes), key=lambda one: (one.at, not one.yes), default=None
    )
