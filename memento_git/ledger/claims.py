"""Claims: a ref that git creates only once decides which process may write a claim's event."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger.git import Git, GitFailed
from memento_git.model.clock import STAMP
from memento_git.model.ids import is_id
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction

REFS: Final = "refs/memento/claims"
HELD: Final = "refs/memento/held"  # what this clone holds on remotes


class Claim(NamedTuple):
    """Who holds what, until when; `blob` is the object that the ref names."""

    dispatch: str
    by: str
    until: str
    blob: str = ""


def read(git: Git, name: str) -> Claim | None:
    """Return the claim that the ref of a task (or of a candidate dispatch) holds."""
    ref = f"{REFS}/{name}"
    found = git.stored([ref])[0]
    if found is not None:
        return _claim(found.oid, found.data)
    return listed(git, name).get(name) if (git.common_dir / ref).exists() else None


def claim_in(git: Git, blob: str) -> Claim:
    """Return the claim that an object holds; one that cannot be read belongs to nobody and has expired."""
    return _claim(blob, git.objects([blob])[0])


def _claim(blob: str, data: bytes | None) -> Claim:
    from memento_git.model.types import text_problems

    try:
        held: Any = json.loads(data or b"{}")
        told = Claim(str(held["dispatch"]), str(held["by"]), str(held["until"]), blob)
    except (ValueError, KeyError, TypeError, RecursionError):
        return Claim("", "", "", blob)
    unfit = any(text_problems(told.by, lines=False)) or not is_id(told.dispatch, "dispatch")
    return Claim("", "", "", blob) if unfit or not STAMP.fullmatch(told.until) else told


def may_be_on_remotes(git: Git) -> bool:
    """Tell whether this clone may hold a claim on a remote, by the files that refs are in; a reftable does not say."""
    if (git.common_dir / HELD).exists() or (git.common_dir / "reftable").exists():
        return True
    packed = git.common_dir / "packed-refs"
    return packed.exists() and f" {HELD}/".encode() in packed.read_bytes()


def take(git: Git, name: str, claim: Claim, instead_of: Claim | None) -> Claim | None:
    """Create the ref, or replace exactly the given claim; return None when somebody else was first."""
    blob = None
    try:
        blob = write(git, claim)
        git.run_apart("update-ref", f"{REFS}/{name}", blob, instead_of.blob if instead_of else git.zero)
    except GitFailed as failure:
        now = git.object_id(f"{REFS}/{name}") or ""
        if now == (instead_of.blob if instead_of else ""):
            from memento_git.ledger.lock import refuse_ref

            refuse_ref(f"{REFS}/{name}", failure)
        if now != blob:
            return None
    return claim._replace(blob=blob or "")


def write(git: Git, claim: Claim) -> str:
    """Return the object that holds a claim; no ref names it yet, and no other claim is that object.

    Who pushes what is there already would be told that it went well.
    """
    own = os.urandom(8).hex()
    told = json.dumps({"dispatch": claim.dispatch, "by": claim.by, "until": claim.until, "own": own})
    return git.run("hash-object", "-w", "--stdin", data=told.encode()).decode().strip()


def release(git: Git, name: str, claim: Claim) -> None:
    """Remove the ref while it is still this claim's."""
    git.drop_ref(f"{REFS}/{name}", claim.blob)


def release_later(tx: Transaction, task: str, dispatch: str) -> None:
    """Have the refs of a dispatch's claim removed once the commit is there."""
    git = tx.ledger.git

    def follow() -> None:
        for name in (task, dispatch):
            claim = read(git, name)
            if claim is not None and claim.dispatch == dispatch:
                release(git, name, claim)

    tx.after_commit.append(follow)


def listed(git: Git, *names: str, folder: str = REFS) -> dict[str, Claim]:
    """Return name -> claim of the refs of these names in a folder of refs, or of all in it."""
    asked = [f"{folder}/{name}" for name in names] or [folder]
    refs = dict(line.split(" ") for line in git.lines("for-each-ref", "--format=%(refname) %(objectname)", *asked))
    found = zip(refs.items(), git.objects(refs.values()), strict=True)
    return {ref.removeprefix(f"{folder}/"): _claim(blob, data) for (ref, blob), data in found}
