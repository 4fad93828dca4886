"""What a check comes to: findings once each, in their order, as grave as policy takes them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from memento_git.model.finding import Finding
from memento_git.model.policy import Policy

Known = tuple[str, str, str, str]


class Fixed(NamedTuple):
    """A file that was put back, or taken away, so that a finding went."""

    did: str
    path: str

    def __str__(self) -> str:
        return f"{self.did} {self.path}"


RESTORED: Final = "restored"
REMOVED: Final = "removed"


class Report(NamedTuple):
    """What a check found: by the branch (or in the tree), and what was wrong at the base already.

    `policy` is what it was judged by; `lighter` are codes that stay as grave as they are, whatever that names; `chosen`
    is a base that nobody named; `bases` are all commits that the base is what they come to together.
    """

    findings: list[Finding]
    already: list[Finding]
    base: str
    head: str
    records: int
    policy: Policy = Policy()
    lighter: Collection[str] = ()
    fixed: tuple[Fixed, ...] = ()
    chosen: str = ""
    bases: tuple[str, ...] = ()

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    def weighed(self) -> Report:
        """Return the report with its findings as grave as the team takes them."""
        from memento_git.review import masking

        grave = [code for code in self.policy.errors if code not in self.lighter]
        told = (masking.of_findings(held, self.policy.allow_secrets) for held in (self.findings, self.already))
        found, already = (weighed(held, grave) for held in told)
        return self._replace(findings=ordered(found), already=ordered(already))


def weighed(findings: Iterable[Finding], grave: Collection[str]) -> list[Finding]:
    """Return findings in their order; one whose code a team names is an error."""
    return [one._replace(severity="error") if one.code in grave else one for one in findings]


def key(finding: Finding) -> Known:
    """Return what makes two findings the same; what was a warning and is an error now is the branch's."""
    return finding.code, finding.path, finding.message, finding.severity


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings once each, errors first, then by place."""
    unique = {key(one): one for one in findings}
    return sorted(unique.values(), key=lambda one: (one.severity != "error", one.path, one.line, one.code, one.message))
