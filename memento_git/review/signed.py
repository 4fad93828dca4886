"""What signatures come to under the policy and the keys of a commit: of a base, for what a branch adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.model.finding import Finding
from memento_git.model.work import Event, Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy


def check_signatures(
    view: View, git: Git, signers: str, policy: Policy, added: Collection[str] | None = None
) -> Iterator[Finding]:
    """Yield what lacks the signature that policy demands, or has one that is not good; `signers` is the keys' commit.

    Of a whole tree (`added` is None) what lacks one is a warning, as it may be older than the policy.
    """
    records = list(_signable(view, added))
    if not policy.signatures and not any("signature" in found.data for found in records):
        return
    from memento_git.ledger import layout
    from memento_git.work import signatures

    found = signatures.signers_at(git, signers, policy)
    if policy.signatures and found.why:
        told = f"policy {found.why}"
        yield Finding("K001", layout.CONFIG, 0, told, "commit the file that policy.signatures names", "warning")
    for finding in signatures.unsigned(view, records, policy, found):
        light = added is None and finding.code == "K001"
        yield finding._replace(severity="warning") if light else finding


def _signable(view: View, added: Collection[str] | None) -> Iterator[Event | Evidence]:
    for path in _paths(view) if added is None else sorted(added):
        found = view.record(path) if path in view.files else None
        if isinstance(found, Event | Evidence):
            yield found


def _paths(view: View) -> Iterable[str]:
    for run in view.runs():
        index = view.index(run)
        yield from (*index.events.values(), *index.evidence.values())
