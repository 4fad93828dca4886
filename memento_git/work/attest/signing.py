"""What a signature covers, whose it must be, and what it is worth: rules about signed events and approvals. Pure."""

from __future__ import annotations

import base64
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.model.finding import Finding
from memento_git.model.ids import kind_of
from memento_git.model.work import Event, Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memento_git.model.objection import Objection


NAMESPACE: Final = "memento-git"
BLOCK: Final = rb"(?s)(.*\n)signature: \|\n((?:  [ -~]+\n)+)"
HEAD: Final = len(b"SSHSIG") + 4
CERTIFICATE: Final = b"-cert-v01@"
ADDRESS: Final = re.compile(r"[^<>]*<([^<>\s]+)>")

WORDS: Final = {
    "none": "it is not signed",
    "good": "its signature is good",
    "unknown_key": "its key is not among the allowed signers",
    "bad": "its signature is not for these bytes in this place",
    "expired": "its key was not valid at that time",
    "revoked": "its key is revoked",
    "unnamed": "its signature is good, but names no ledger",
    "other_actor": "its signature is somebody else's",
    "unchecked": "its signature could not be checked here",
}
DOUBTFUL: Final = ("unknown_key", "unchecked")
"""What a signature that nothing demands may come to without being wrong."""
AGAIN: Final = "do it again with --sign, as one who may"
KEYS: Final = "name the file in policy.signatures of .memento/config.yaml, and commit it as ssh-keygen reads it"
LOOK: Final = "memento check where ssh-keygen is on PATH"
GATES: Final = {"final_acceptance": "final_acceptance", "release": "release", "approval": "approvals"}


class Seen(NamedTuple):
    """What a signature comes to: a word of WORDS, the principal whose it is where that is known, and what says so."""

    state: str
    by: str = ""
    why: str = ""

    @property
    def told(self) -> str:
        """What it comes to in words, with the file and line that make it so."""
        return WORDS[self.state] + (f": {self.why}" if self.why else "")


UNSIGNED: Final = Seen("none")


class Signer(NamedTuple):
    """Whose a good signature is: the principal, the key, and whether that may sign as one of those who did the work."""

    principal: str = ""
    key: bytes = b""
    is_author: bool = False


def cover(ledger: str, run: str, identity: str, body: bytes) -> bytes:
    """Return what a signature covers: where the record lies, then the bytes of its file without the signature.

    A ledger that policy gives no name is not among it: such signatures hold wherever the same keys count.
    """
    named = f"ledger: {ledger}\n" if ledger else ""
    return f"{NAMESPACE} signature 1\n{named}run: {run}\nid: {identity}\n\n".encode() + body


def seal(body: bytes, armored: str) -> bytes:
    """Return the bytes of a signed file: the signature is its last key."""
    lines = "".join(f"  {line}\n" for line in armored.splitlines())
    return body + f"signature: |\n{lines}".encode()


def split(data: bytes) -> tuple[bytes, str] | None:
    """Return a signed file's bytes without its signature, and the signature; None where it is not the last key."""
    found = re.fullmatch(BLOCK, data)
    if found is None:
        return None
    return found[1], "".join(line[2:] + "\n" for line in found[2].decode("ascii").splitlines())


def key_in(armored: str) -> bytes:
    """Return the public key that made a sound signature; of a certificate, the key that it is for."""
    blob = base64.b64decode("".join(armored.splitlines()[1:-1]))
    kind, *fields = _strings(next(_strings(blob[HEAD:])))
    nonce, several = CERTIFICATE in kind, b"ed25519" not in kind
    return b"\0".join(islice(fields, nonce, nonce + 1 + several))


def line_of(keys: bytes, armored: str) -> int:
    """Return the line of a file of keys that has the one which made a sound signature; 0 where none has."""
    blob = base64.b64decode("".join(armored.splitlines()[1:-1]))
    key = base64.b64encode(next(_strings(blob[HEAD:])))
    lines = enumerate(keys.split(b"\n"), 1)
    return next((at for at, line in lines if key in line.split() and not line.startswith(b"#")), 0)


def _strings(blob: bytes) -> Iterator[bytes]:
    """Yield the strings at the beginning of what SSH writes: each follows its length."""
    while len(blob) >= (end := 4 + int.from_bytes(blob[:4])):
        yield blob[4:end]
        blob = blob[end:]


def identities(actor: str) -> tuple[str, ...]:
    """Return the principals that an actor may sign as: the address of `Name <address>`, or the whole name."""
    found = ADDRESS.fullmatch(actor)
    return (found[1], actor) if found else (actor,)


def demanded(signatures: Mapping[str, Any], record: Event | Evidence) -> tuple[str, ...] | None:
    """Return who must have signed a record by policy (nobody named: any allowed signer), None where nobody must."""
    require = signatures.get("require") or {}
    key = _key(record, require)
    return tuple(require[key]) if key in require else None


def _key(record: Event | Evidence, require: Mapping[str, Any]) -> str:
    """Return the key of policy that a record falls under; a waiver of what must be signed must be signed itself."""
    if isinstance(record, Evidence):
        return "approvals" if record.kind == "approval" and record.data["outcome"] != "failed" else ""
    if record.do == "approved" and kind_of(record.of) == "plan":
        return "plan_approval"
    gate = GATES.get(record.get("gate"), "")
    if record.do == "waived":
        return "waivers" if "waivers" in require else gate
    return gate if record.do == "passed" else ""


def fault(seen: Seen, names: Sequence[str]) -> Objection:
    """Return why a signature is not what policy demands, or nothing."""
    if seen.state != "good":
        whose = f": it is of {seen.by}" if seen.by else ""
        return seen.told + whose
    allowed = {identity for name in names for identity in identities(name)}
    if not names or seen.by in allowed:
        return ""
    return f"it is signed by {seen.by}, and policy asks for {', '.join(names)}"


def none_signed(
    signatures: Mapping[str, Any], candidates: Sequence[Event], check: Callable[[Event], Seen]
) -> Objection:
    """Return why none of some events of equal standing is signed as policy demands, or nothing."""
    worst = "no event that stands says so"
    for event in candidates:
        names = demanded(signatures, event)
        worst = "" if names is None else fault(check(event), names)
        if not worst:
            break
    return worst


def unsigned(
    records: Iterable[Event | Evidence], signatures: Mapping[str, Any], check: Callable[[Event | Evidence], Seen]
) -> list[Finding]:
    """Return a finding for each record that lacks the signature policy demands, or has one that is not good."""
    found = []
    for record in records:
        names = demanded(signatures, record)
        if names is None and "signature" not in record.data:
            continue
        seen = check(record)
        why = "" if names is None else fault(seen, names)
        if why:
            asked = f" of {', '.join(names)}" if names else ""
            told = f"policy demands a signature{asked} here: {why}"
            found.append(Finding("K001", record.path, 0, told, _looking(seen) if seen.state == "unchecked" else AGAIN))
        elif names is None and seen.state != "good":
            found.append(_doubtful(record.path, seen))
    return found


def _doubtful(path: str, seen: Seen) -> Finding:
    if seen.state in DOUBTFUL:
        how = _looking(seen) if seen.state == "unchecked" else "look at the allowed signers that policy names"
        return Finding("K002", path, 0, seen.told, how, "warning")
    how = "sign again what shall count" if seen.state == "unnamed" else "restore the file as it was signed"
    return Finding("K002", path, 0, seen.told, how)


def _looking(seen: Seen) -> str:
    """Return how a signature is checked that could not be: what is amiss with the files of keys is told with it."""
    return KEYS if seen.why else LOOK
