"""Whose keys count at a commit, and what the signatures of a view's records come to by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger import cache, policyfile, signer
from memento_git.ledger.names import is_ref
from memento_git.ledger.tree_listing import FILE_MODES
from memento_git.model.work import Event, Evidence
from memento_git.work.attest import signing
from memento_git.work.attest.signing import Seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy

CACHE: Final = "signatures"
NOBODY: Final = signer.Signers(b"", None, "")
TRUNKS: Final = (
    "refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
    "refs/heads/master",
)  # fmt: skip


class LedgerRenamed(Refused):
    """A branch whose policy names the ledger as another one: what is signed there counts in that, and not here."""

    token = "ledger_renamed"
    sentence = "the ledger that is signed for is named {here} here, and {there} at {where}"
    hint_ = (
        "git diff {where} -- .memento/config.yaml shows how; sign once the name is there, or, where that is not the "
        "trunk, say which is: git remote set-head origin BRANCH"
    )


class LedgerNotPushed(LedgerRenamed):
    """The branch is the trunk itself, and what names the ledger is not on the remote yet."""

    hint_ = "git diff {where} -- .memento/config.yaml shows how; what is meant counts once it is pushed: memento sync"


class KnownSigners(NamedTuple):
    """The signers of a commit, or why there are none, the name of the ledger that they sign for, and their files."""

    signers: signer.Signers
    why: str = ""
    ledger: str = ""
    path: str = ""
    revoked: str = ""


def signers_at(git: Git, commit: str, policy: Policy) -> KnownSigners:
    """Return whose keys count at a commit; a file that policy names must be there as a plain one."""
    path, revoked = policy.signatures.get("allowed_signers", ""), policy.signatures.get("revoked", "")
    if not path:
        return KnownSigners(NOBODY, "names no allowed_signers")
    entries = git.entries(commit, *filter(None, (path, revoked))) if commit else {}
    held: list[tuple[str, bytes]] = []
    for name in filter(None, (path, revoked)):
        entry = entries.get(name)
        data = git.objects([entry.oid])[0] if entry and entry.mode in FILE_MODES else None
        if entry is None or data is None or len(data) > signer.LARGEST:
            return KnownSigners(NOBODY, f"names {name}, and there is no such file at this commit")
        held.append((entry.oid, signer.as_written(data)))
        if name == revoked and (why := signer.unread(held[-1][1])):
            return KnownSigners(NOBODY, f"names {name}, {why}")
    allowed = held[0][1]
    ledger = policy.signatures.get("ledger", "")
    key = " ".join([*(oid for oid, _ in held), path, revoked, ledger])
    return KnownSigners(signer.Signers(allowed, held[1][1] if revoked else None, key), "", ledger, path, revoked)


def refuse_renamed(git: Git, here: str, where: str = "") -> None:
    """Refuse to sign for a ledger of this name where a revision whose keys count, by default the trunk, has not.

    Whoever may write a branch chooses the name there, and would have signatures for any ledger.
    """
    where = where or next((ref for ref in TRUNKS if is_ref(git, ref)), "")
    there = policyfile.ledgers_at(git, [git.commit_of(where)])[0] if where else here
    if there != here:
        told = {key: repr(name) if name else "nothing" for key, name in (("here", here), ("there", there))}
        upstream, trunk = (git.answer("rev-parse", "--symbolic-full-name", ref) for ref in ("@{upstream}", where))
        if upstream and upstream == trunk:
            raise LedgerNotPushed(**told, where=where)
        raise LedgerRenamed(**told, where=where)


class Verifier:
    """Tells what the signatures of a view's records come to; `keep` takes earlier answers, and keeps new ones.

    What is shown may come from the cache, which anybody on this machine can write. What is decided never does.
    """

    def __init__(self, view: View, policy: Policy, found: KnownSigners | None = None, *, keep: bool = False) -> None:
        self.view = view
        self.found = found or signers_at(view.git, view.commits[0] if view.commits else "", policy)
        self.keep = keep
        self._known: dict[str, Seen] = {}
        if keep:
            held: dict[str, list[str]] = cache.read(view.git, CACHE, self.found.signers.key) or {}
            self._known = {key: Seen(*value) for key, value in held.items()}
        self._fresh = False

    def seen(self, record: Event | Evidence) -> Seen:
        """Return what the signature of a record comes to."""
        if "signature" not in record.data:
            return signing.UNSIGNED
        key = f"{record.path} {self.view.files.get(record.path) or record.digest}"
        if key not in self._known:
            self._known[key] = examine(record, self.view.read(record.path) or b"", self.found)
            self._fresh = True
        return self._known[key]

    def signs_as(self, record: Event | Evidence, actors: Iterable[str]) -> bool:
        """Tell whether the key that signed a record may sign as one of some actors, too, be it at another time."""
        data = self.view.read(record.path) or b""
        found = self.found._replace(signers=signer.at_any_time(self.found.signers))
        return any(examine(record, data, found, actor).state == "good" for actor in actors)

    def close(self) -> None:
        """Keep what was found for the next reading; what could not be checked is asked again."""
        if self.keep and self._fresh:
            kept = {key: list(seen) for key, seen in self._known.items() if seen.state != "unchecked"}
            cache.write(self.view.git, CACHE, self.found.signers.key, kept)


def examine(record: Event | Evidence, data: bytes, found: KnownSigners, actor: str = "") -> Seen:
    """Return what the signature in a record's bytes comes to, by some signers; as that of `actor`, or of its own."""
    parts = signing.split(data)
    if parts is None or parts[1] != record.data["signature"]:
        return Seen("bad")
    if found.why:
        return Seen("unchecked", why=f"policy {found.why}")
    body, armored = parts
    made = record.at if isinstance(record, Event) else record.data["at"]
    at = "".join(letter for letter in made[:19] if letter.isdigit())
    by = actor or (record.by if isinstance(record, Event) else record.data["by"])
    seen = Seen("bad")
    for ledger in dict.fromkeys((found.ledger, "")):
        covered = signing.cover(ledger, record.run, record.id, body)
        try:
            seen = Seen(*signer.check(covered, armored, found.signers, signing.identities(by), at, signing.NAMESPACE))
        except signer.SshKeygenMissing:
            return Seen("unchecked")
        if seen.state != "bad":
            is_unnamed = seen.state == "good" and ledger != found.ledger
            return Seen("unnamed", seen.by) if is_unnamed else _placed(seen, found, armored)
    return seen


def _placed(seen: Seen, found: KnownSigners, armored: str) -> Seen:
    """Return what a sound signature comes to, with what in the files of keys makes it count for nothing."""
    if seen.state == "revoked":
        line = signing.line_of(found.signers.revoked or b"", armored)
        return seen._replace(why=f"by {found.revoked}" + (f":{line}" if line else ""))
    if seen.state not in ("unknown_key", "expired"):
        return seen
    line = signing.line_of(found.signers.allowed, armored)
    if not line:
        return seen._replace(why=f"no line of {found.path} has it")
    has = f"{found.path}:{line} has it"
    if seen.state == "expired":
        return seen._replace(why=has)
    if why := dict(signer.unread_lines(found.signers.allowed)).get(line):
        return Seen("unchecked", why=f"{found.path}:{line} has its key, and ssh-keygen cannot read that line: {why}")
    return seen._replace(why=f"{has}, and does not let it sign for the namespace {signing.NAMESPACE}")
