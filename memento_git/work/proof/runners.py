"""Whose reruns count: signed by a runner whom policy lists, with a key that counts at the commit that is read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from memento_git.ledger import policyfile
from memento_git.work.attest import signing
from memento_git.work.proof.rerun_comparison import NOBODY, Runner

if TYPE_CHECKING:
    from collections.abc import Collection

    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection
    from memento_git.model.policy import Policy
    from memento_git.model.work import Evidence
    from memento_git.work.attest.signers import Verifier


class Runners:
    """Tells who ran recorded commands again; by the policy and keys of the view's own commit, or of another.

    `confirmed` are the references (id@digest) of evidence that the check which is running has itself run again. With
    `beside`, who counts must count by it, too. `keep` is for what is shown: earlier answers on signatures come from the
    cache.
    """

    def __init__(
        self, view: View, policy: Policy | None = None, commit: str = "", *, confirmed: Collection[str] = (),
        beside: Runners | None = None, keep: bool = False,
    ) -> None:  # fmt: skip
        self.view = view
        self.policy = policy or policyfile.read(view)[0]
        self.commit = commit or next(iter(view.commits), "")
        self.confirmed = confirmed
        self.beside = beside
        self.keep = keep
        self.unsure = False

    @cached_property
    def verifier(self) -> Verifier:
        """Return what tells whose a signature is, by the policy and keys that count here."""
        from memento_git.work.attest.signers import Verifier, signers_at

        found = signers_at(self.view.git, self.commit, self.policy)
        return Verifier(self.view, self.policy, found, keep=self.keep)

    def of(self, rerun: Evidence) -> Runner:
        """Return who ran a command again, and why that does not count."""
        if "signature" not in rerun.data:
            return NOBODY
        names = self.policy.reproduce["runners"]
        if not names:
            return Runner("unchecked", "", "policy.reproduce.runners lists nobody")
        if self.verifier.found.why:
            return Runner("unchecked", "", f"policy {self.verifier.found.why}")
        seen = self.verifier.seen(rerun)
        self.unsure = self.unsure or seen.state == "unchecked"
        why = doubt(seen, names)
        return self.beside.of(rerun) if self.beside and not why else Runner(seen.state, seen.by, why)

    def close(self) -> None:
        """Keep what was found of signatures for the next reading."""
        if "verifier" in self.__dict__:
            self.verifier.close()


def doubt(seen: signing.Seen, names: Collection[str]) -> Objection:
    """Return why a signature is not that of a runner whom policy lists, or nothing."""
    if seen.state != "good":
        return signing.fault(seen, ())
    listed = {identity for name in names for identity in signing.identities(name)}
    return "" if seen.by in listed else f"it is signed by {seen.by}, whom policy.reproduce.runners does not list"
