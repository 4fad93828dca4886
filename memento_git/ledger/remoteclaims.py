"""Claims on a remote: it creates a ref once, and replaces it only for whoever names exactly what is there.

What this clone holds on a remote is kept in refs of its own, so that it can be given back and renewed later.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger import claims, remotes
from memento_git.ledger.git import Git, GitFailed
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.ledger.claims import Claim
    from memento_git.model.objection import Objection

SEEN: Final = "refs/worktree/memento/seen"
TRIES: Final = 5


class HeldClaim(NamedTuple):
    """A claim that this clone took on a remote: under which name, and what the ref there names."""

    name: str
    claim: Claim


class ClaimElsewhere(Refused):
    """A claim that went where nobody else looks for it."""

    token = "claim_elsewhere"
    sentence = "{remote} is pushed to one address and fetched from another, which does not have the claim"
    hint_ = (
        "claim it without --sync, or on a remote that has one address: git remote -v, then "
        "memento dispatch claim {name} --sync --remote REMOTE"
    )


def look(git: Git, remote: str, name: str) -> Claim | None:
    """Return the claim that the remote holds."""
    blob = remotes.fetch_ref(git, remote, f"{claims.REFS}/{name}")
    return claims.claim_in(git, blob) if blob else None


def take(git: Git, remote: str, name: str, claim: Claim, instead_of: Claim | None) -> Claim | None:
    """Create the ref on the remote, or replace exactly the given claim; return None where somebody else was first.

    What is tried is kept here before the push, beside what was tried before: whose answer got lost may be there. All of
    that goes where this claim is there; where another is, a work tree beside this one may just be taking its place.
    """
    blob, old = claims.write(git, claim), instead_of.blob if instead_of else ""
    git.run_apart("update-ref", _kept(remote, name, blob), blob)
    try:
        there = _set(git, remote, name, blob, old)
    except remotes.PushRejected:
        _forget(git, remote, name, blob)
        raise
    if there != blob:
        for gone in filter(None, (blob, old)):
            _forget(git, remote, name, gone)
        return None
    for one in held(git, remote):
        if one.name == name and one.claim.blob != blob:
            _forget(git, remote, name, one.claim.blob)
    taken = claim._replace(blob=blob)
    _refuse_elsewhere(git, remote, HeldClaim(name, taken))
    return taken


def _refuse_elsewhere(git: Git, remote: str, taken: HeldClaim) -> None:
    """Give a claim back, and refuse it, where it is not on what others fetch from: it would keep nobody out."""
    if remotes.has_one_address(git, remote):
        return
    there = look(git, remote, taken.name)
    if there is None or there.blob != taken.claim.blob:
        give_back(git, remote, taken)
        raise ClaimElsewhere(remote=remote, name=taken.claim.dispatch)


def _set(git: Git, remote: str, name: str, blob: str, old: str) -> str:
    """Set the ref while it is the old one; return what it is then. Refuse where it still is, and yet could not be."""
    refusal = ""
    for _ in range(TRIES):
        refusal = _swap(git, remote, name, blob, old)
        if not refusal:
            return blob
        now = look(git, remote, name)
        there = now.blob if now else ""
        if there != old:
            return there
    raise remotes.PushRejected(remote=remote, reason=refusal)


def _kept(remote: str, name: str, blob: str) -> str:
    return f"{claims.HELD}/{remote}/{name}@{blob}"


def _forget(git: Git, remote: str, name: str, blob: str) -> None:
    git.drop_ref(_kept(remote, name, blob), blob)


def give_back(git: Git, remote: str, held: HeldClaim) -> bool:
    """Remove the ref from the remote while it is still ours; forget it here either way."""
    refusal = _swap(git, remote, held.name, "", held.claim.blob)
    _forget(git, remote, held.name, held.claim.blob)
    return not refusal


def _swap(git: Git, remote: str, name: str, new: str, old: str) -> Objection:
    """Set the ref by compare-and-swap; return the refusal. No hook of the user's is run, for no code is pushed."""
    ref = f"{claims.REFS}/{name}"
    return remotes.send(git, remote, f"{new}:{ref}", "--no-verify", f"--force-with-lease={ref}:{old}")


def held(git: Git, remote: str) -> list[HeldClaim]:
    """Return what this clone holds on a remote, or tried to and does not know what came of it."""
    found = [one._replace(name=one.name.partition("@")[0]) for one in _below(git, f"{claims.HELD}/{remote}")]
    return [one for one in found if "/" not in one.name]  # another remote's name may begin with this one's


def remotes_held(git: Git) -> list[str]:
    """Return the remotes on which this clone holds something."""
    found = git.lines("for-each-ref", "--format=%(refname)", claims.HELD)
    return sorted({ref.removeprefix(f"{claims.HELD}/").rpartition("/")[0] for ref in found})


def listed(git: Git, remote: str) -> list[HeldClaim]:
    """Ask a remote for all claims that it holds, whoever's they are; nothing of the question stays here."""
    try:
        remotes.fetch_all(git, remote, claims.REFS, SEEN)
        return _below(git, SEEN)
    finally:
        gone = git.lines("for-each-ref", "--format=delete %(refname)%00%00", SEEN)
        with contextlib.suppress(GitFailed):
            git.run_apart("update-ref", "--stdin", "-z", data=os.fsencode("".join(gone)))


def _below(git: Git, folder: str) -> list[HeldClaim]:
    """Return the claims that refs below a folder name, with what follows the folder in the name of each."""
    return [HeldClaim(name, claim) for name, claim in claims.listed(git, folder=folder).items()]
