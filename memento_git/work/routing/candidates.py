"""Which of several completed tries at one task is the best, by what the ledger holds of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from memento_git.model.enumeration import many

TRUST: Final = {"reproduced": 20, "witnessed": 15, "verified": 10, "reported": 5, "advisory": 0}
PROVEN: Final = 100
KIND: Final = 5
FAILURE: Final = -20
WARNING: Final = -5
REGRESSION: Final = -25
LINES: Final = 50
TESTS: Final = 10

UNSAFE: Final = {
    "git's own files": (r"(^|/)\.git(modules|attributes|hooks)?(/|$)", r"(^|/)\.(githooks|husky)/"),
    "the ledger": (r"^\.memento(/|$)",),
    "an environment file": (r"(^|/)\.env(rc)?$", r"(^|/)\.env\.(?!(example|sample|template|dist)$)[^/]+$"),
    "a secret": (
        r"(^|/)secrets?(\.[a-z0-9]+)?(/|$)",
        r"(^|/)credentials?(\.[a-z0-9]+)?$",
        r"(^|/)\.(netrc|npmrc|pypirc)$",
        r"(^|/)id_(rsa|dsa|ecdsa|ed25519)[^/]*$",
        r"\.(pem|key|p12|pfx|jks|keystore|kdbx)$",
    ),
    "the configuration of CI": (
        r"^\.(github|circleci|buildkite|ci|gitlab|woodpecker)/",
        r"(^|/)\.gitlab-ci[^/]*\.ya?ml$",
        r"^(jenkinsfile|\.(travis|drone|woodpecker|pre-commit-config)\.ya?ml|\.?appveyor\.ya?ml)$",
        r"^(azure|bitbucket)-pipelines\.ya?ml$",
    ),
}


class Diff(NamedTuple):
    """What a candidate changes; `unnamed` where it has paths that no record can name."""

    files: tuple[str, ...]
    added: int
    removed: int
    unnamed: bool = False


class Candidate(NamedTuple):
    """One try: what it came to, and what its evidence shows of the code that it was completed on."""

    dispatch: str
    executor: str
    status: str
    problems: tuple[str, ...] = ()
    proof: tuple[tuple[str, str], ...] = ()
    failures: int = 0
    tests: tuple[int, int] | None = None
    diff: Diff | None = None
    approved: bool = False
    regressions: int = 0
    warnings: int = 0
    cost: float | None = None
    seconds: float | None = None
    ended: str = ""
    evidence: tuple[str, ...] = ()


class Part(NamedTuple):
    """One part of a score: its points, and what they are for."""

    part: str
    points: int
    why: str


class Judged(NamedTuple):
    """A candidate with its score in parts, or with why it is out."""

    candidate: Candidate
    parts: tuple[Part, ...]
    reasons: tuple[str, ...]
    needs_approval: bool

    @property
    def score(self) -> int:
        return sum(part.points for part in self.parts)


def rank(candidates: Sequence[Candidate]) -> list[Judged]:
    """Return all candidates: those that may be chosen, best first, then those that are out."""
    judged = [_judged(one, candidates) for one in candidates]
    return sorted(judged, key=_order)


def _order(one: Judged) -> tuple[bool, int, int, str, str]:
    diff = one.candidate.diff
    size = diff.added + diff.removed if diff else 0
    return bool(one.reasons), -one.score, size, one.candidate.ended, one.candidate.dispatch


def unsafe(files: Sequence[str]) -> list[str]:
    """Return what among these paths nobody should take over unseen, as sentences."""
    return [
        f"it touches {name}: {path}"
        for path in files
        for name, patterns in UNSAFE.items()
        if any(re.search(pattern, path.lower()) for pattern in patterns)
    ]


def risky(diff: Diff) -> list[str]:
    """Return what in a diff nobody should take over unseen, as sentences."""
    return [*unsafe(diff.files), *(["it touches paths that its diff does not name"] if diff.unnamed else [])]


def _judged(one: Candidate, field: Sequence[Candidate]) -> Judged:
    reasons = [] if one.status == "completed" else [f"it is {one.status}, not completed"]
    reasons += one.problems
    if one.status == "completed" and one.diff is None and not one.problems:
        reasons.append("its diff is not known: memento evidence add --diff A..B --dispatch DISPATCH")
    unseen = [] if one.approved or one.diff is None else risky(one.diff)
    asked = [f"{told}; somebody else must approve its diff" for told in unseen]
    return Judged(one, _parts(one, field), (*reasons, *asked), needs_approval=bool(unseen) and not reasons)


def _parts(one: Candidate, field: Sequence[Candidate]) -> tuple[Part, ...]:
    parts = [_proof(one)]
    if one.failures:
        parts.append(Part("failures", FAILURE * one.failures, f"{one.failures} of its evidence failed on this code"))
    if one.tests is not None:
        failed, passed = one.tests
        most = max((other.tests[1] for other in field if other.tests), default=0)
        points = round(TESTS * passed / most) if most else 0
        parts.append(Part("tests", points + FAILURE * min(failed, 5), f"{passed} passed, {failed} failed"))
    if one.diff is not None:
        lines = one.diff.added + one.diff.removed
        told = f"{many(lines, 'changed line')}, files: {len(one.diff.files)}"
        parts.append(Part("size", -min(30, -(-lines // LINES)), told))
    if one.regressions or one.warnings:
        points = max(-50, REGRESSION * one.regressions + WARNING * one.warnings)
        parts.append(Part("graph", points, f"{many(one.regressions, 'regression')}, {many(one.warnings, 'warning')}"))
    parts += _spent("cost", one.cost, [other.cost for other in field], 10)
    parts += _spent("time", one.seconds, [other.seconds for other in field], 5)
    return tuple(parts)


def _proof(one: Candidate) -> Part:
    if not one.proof or one.problems:
        return Part("proof", 0, "not proven")
    best = max((trust for _, trust in one.proof), key=lambda trust: TRUST[trust])
    kinds = sorted({kind for kind, _ in one.proof})
    points = PROVEN + TRUST[best] + KIND * min(len(kinds), 5)
    return Part("proof", points, f"proven by {', '.join(kinds)}, {best}")


def _spent(name: str, own: float | None, others: Sequence[float | None], weight: int) -> list[Part]:
    """Return the part for something that is better when there is less of it: compared with the dearest."""
    known = [other for other in others if other is not None]
    most = max(known, default=0.0)
    if own is None or most <= 0 or len(known) == 1:
        return []
    unit = " s" if name == "time" else ""
    return [Part(name, -round(weight * own / most), f"{own:g}{unit}, the most is {most:g}{unit}")]
