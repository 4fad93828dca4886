"""The one door to ssh-keygen: sign bytes with an SSH key, and tell whose a signature is. It never prompts."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Broken, Refused
from memento_git.ledger import scratch
from memento_git.ledger.environment import at_home
from memento_git.ledger.process_groups import told_by

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.model.objection import Objection

SIGNING_TIMEOUT: Final = 30.0
CHECKING_TIMEOUT: Final = 10.0
LARGEST: Final = 1024 * 1024
BOM: Final = b"\xef\xbb\xbf"
KRL: Final = b"SSHKRL\n\0"
LITERAL: Final = ("key::", "ssh-", "ecdsa-", "sk-")
UNTIMELY: Final = ("key has expired", "key is not yet valid", "invalid: expired", "invalid: not yet valid")
TIME: Final = rb"valid-(?:after|before)=[^, \t]*"
VALIDITY: Final = re.compile(rb"(?i),%b|(?<=[ \t])%b(?:,%b)*,?" % (TIME, TIME, TIME))
UNREAD: Final = re.compile(r"(?m)^.*:(\d+): (.+)$")
NOBODYS: Final = """\
-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAghgoms7KRzEgxPZoJXYcBRsuncp
yY7QzIEHkLUVAIjDUAAAABeAAAAAAAAAAGc2hhNTEyAAAAUwAAAAtzc2gtZWQyNTUxOQAA
AED22EGuaRcWAMRQM4f4s41MBYqpMOipVl8OcGyJLKsaMREuPmaNimGcLFf8dhyg8pJLGN
gV07gDHyMevvITzXYF
-----END SSH SIGNATURE-----
"""
"""A signature whose key was thrown away: to tell whose it is, ssh-keygen reads each line of a file of signers."""
WITHHELD: Final[ContextVar[bool]] = ContextVar("withheld", default=False)  # who asks is nobody whom a key stands for
WITHOUT: Final = ("DISPLAY", "WAYLAND_DISPLAY", "SSH_ASKPASS")


class SigningKeyMissing(Refused):
    token = "signing_key_missing"
    sentence = "there is no key to sign with: {why}"
    hint_ = (
        "give one with --key FILE, or set git's gpg.format=ssh and user.signingKey, or MEMENTO_SIGNING_KEY; "
        "what must be signed, and by whom, policy.signatures in .memento/config.yaml says"
    )


class SigningRefused(Refused):
    token = "signing_refused"
    sentence = "{key} signs nothing: {reason}"
    hint_ = "name a private key, or a public one whose private key an agent holds (ssh-add); nothing was changed"


class SigningWithheld(Refused):
    token = "signing_withheld"
    sentence = "this needs a signature, and nothing is signed for an MCP client"
    hint_ = "whoever may sign does it in a shell, with --sign"


class SshKeygenMissing(Broken):
    token = "ssh_keygen_missing"
    sentence = "ssh-keygen was not found on PATH"
    hint_ = "install OpenSSH 8.9 or newer"


class Signers(NamedTuple):
    """The files that say whose keys count, and what identifies them."""

    allowed: bytes
    revoked: bytes | None
    key: str


def as_written(data: bytes) -> bytes:
    """Return a file of keys as its lines mean it, whatever an editor put before and after them; a KRL as it is."""
    return data if data.startswith(KRL) else data.removeprefix(BOM).replace(b"\r\n", b"\n")


def at_any_time(signers: Signers) -> Signers:
    """Return the same signers, each of them for all time: what was, or will be, somebody's key is theirs."""
    return signers._replace(allowed=VALIDITY.sub(b"", signers.allowed))


def unread(revoked: bytes) -> Objection:
    """Return why a list of revoked keys cannot be read, or nothing: by such a one, ssh-keygen trusts no key."""
    if revoked.startswith(KRL):
        return "" if _is_krl(revoked) else "which ssh-keygen cannot read as a KRL"
    lines = revoked.split(b"\n")
    odd = (at for at, line in enumerate(lines, 1) if line.strip(b" \t\0") and not _is_key(line.split()))
    return next((f"where line {at} is no public key" for at in odd), "")


@cache
def _is_krl(revoked: bytes) -> bool:
    """Tell whether ssh-keygen can list a KRL; where it gives no answer, nothing is checked by that KRL either."""
    with scratch.folder() as folder, suppress(SshKeygenMissing, subprocess.TimeoutExpired):
        path = Path(folder) / "revoked"
        path.write_bytes(revoked)
        return not _keygen("-Q", "-l", "-f", str(path), data=b"", timeout=CHECKING_TIMEOUT).code
    return True


def _is_key(words: Sequence[bytes]) -> bool:
    """Tell whether the words of a line are a public key, or a comment."""
    import base64
    import binascii

    if words and words[0].startswith(b"#"):
        return True
    try:
        blob = base64.b64decode(words[1], validate=True)
    except (IndexError, binascii.Error):
        return False
    return blob[4 : 4 + int.from_bytes(blob[:4])] == words[0]


class _Done(NamedTuple):
    code: int
    out: str
    err: str


def _keygen(*arguments: str, data: bytes, timeout: float) -> _Done:
    """Run ssh-keygen without our terminal or a window; end it, and all that it started, when it takes too long."""
    kept = {name: value for name, value in os.environ.items() if name not in WITHOUT}
    try:
        process = subprocess.Popen(
            ["ssh-keygen", *arguments], start_new_session=True,
            env={**kept, "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except (FileNotFoundError, PermissionError):
        raise SshKeygenMissing from None
    out, err = told_by(process, data, timeout)
    return _Done(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def key_of(settings: Mapping[str, str], given: str, git: Git) -> str:
    """Return the key to sign with: as given, else git's own for SSH, else MEMENTO_SIGNING_KEY.

    What git's configuration names begins at the top of the work tree, where git signs, whatever folder one is in.
    """
    if WITHHELD.get():
        raise SigningWithheld
    found, start = given, git.start
    if not found and settings.get("gpg.format") == "ssh" and (found := settings.get("user.signingkey", "")):
        start = git.cwd
    found = found or os.environ.get("MEMENTO_SIGNING_KEY", "")
    if not found:
        raise SigningKeyMissing(why="none is named")
    if found.startswith(LITERAL):
        return found
    path = start / at_home(found)
    if not path.is_file():
        raise SigningKeyMissing(why=f"there is no file {found}")
    return str(path)


def sign(payload: bytes, key: str, namespace: str) -> str:
    """Return the armored signature of bytes by a key file, a public key whose private one an agent holds, or a literal.

    A passphrase is never asked for: what is encrypted, and in no agent, signs nothing.
    """
    with scratch.folder() as folder:
        used, told = key, Path(key).name
        if key.startswith(LITERAL):
            used, told = str(Path(folder) / "key.pub"), "the key that is given as text"
            Path(used).write_text(key.removeprefix("key::") + "\n", encoding="utf-8")
        try:
            done = _keygen("-Y", "sign", "-n", namespace, "-P", "", "-f", used, data=payload, timeout=SIGNING_TIMEOUT)
        except subprocess.TimeoutExpired:
            raise SigningRefused(key=told, reason=f"no answer within {SIGNING_TIMEOUT:.0f} s") from None
    if done.code or "BEGIN SSH SIGNATURE" not in done.out:
        raise SigningRefused(key=told, reason=_reason(done.err, used))
    return done.out.strip() + "\n"


def _reason(err: str, key: str) -> str:
    if "incorrect passphrase" in err:
        return "it is encrypted, and no agent holds it"
    lines = [line.replace(key, Path(key).name) for line in err.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


def _is_pattern(principal: str) -> bool:
    return principal.startswith("!") or not {"*", "?"}.isdisjoint(principal)


def check(
    payload: bytes, armored: str, signers: Signers, identities: Sequence[str], at: str, namespace: str
) -> tuple[str, str]:
    """Return what a signature comes to and whose it is, by git's own rules for allowed signers at a time.

    `at` is the time in UTC, as YYYYMMDDHHMMSS. What has no answer within some seconds is unchecked.
    """
    with _laid(armored, signers.allowed) as folder:
        if signers.revoked is not None:
            (folder / "revoked").write_bytes(signers.revoked)
        try:
            return _Check(folder, payload, at, namespace, revoking=signers.revoked is not None).verdict(identities)
        except subprocess.TimeoutExpired:
            return "unchecked", ""


def unread_lines(allowed: bytes) -> list[tuple[int, str]]:
    """Return the lines of allowed signers that ssh-keygen cannot read, and why; none where it gives no answer."""
    told = ""
    with _laid(NOBODYS, allowed) as folder, suppress(SshKeygenMissing, subprocess.TimeoutExpired):
        told = _Check(folder, b"", "", "", revoking=False).whose().err
    lines = allowed.split(b"\n")
    found = [(int(line), why.strip()) for line, why in UNREAD.findall(told)]
    return [(line, why) for line, why in found if lines[line - 1].strip()]


@contextmanager
def _laid(armored: str, allowed: bytes) -> Iterator[Path]:
    """Yield a folder that has a signature and the allowed signers, as files for ssh-keygen."""
    with scratch.folder() as name:
        folder = Path(name)
        (folder / "signature").write_text(armored, encoding="ascii")
        (folder / "allowed").write_bytes(allowed)
        yield folder


class _Check:
    """One signature, asked about in as many ways as it takes: one process where it is good."""

    def __init__(self, folder: Path, payload: bytes, at: str, namespace: str, *, revoking: bool) -> None:
        self.folder, self.payload, self.at, self.namespace, self.revoking = folder, payload, at, namespace, revoking

    def verdict(self, identities: Sequence[str]) -> tuple[str, str]:
        told = ""
        for identity in identities:
            done = self._verify(identity)
            if not done.code:
                return "good", identity
            told += done.err
        if self._ask("check-novalidate", "-n", self.namespace).code:
            return "bad", ""
        for identity in identities if self.revoking else ():
            if not self._verify(identity, revoking=False).code:
                return "revoked", identity
        return self._foreign(told)

    def _foreign(self, told: str) -> tuple[str, str]:
        """Return what a sound signature is that is not the actor's; `told` was said of it as theirs.

        A pattern of the file is no person's name.
        """
        found = self.whose(f"-Overify-time={self.at}")
        if found.code:
            return ("expired" if any(words in told + found.err for words in UNTIMELY) else "unknown_key"), ""
        for principal in sorted(found.out.splitlines(), key=_is_pattern):
            whose = "" if _is_pattern(principal) else principal
            if not self._verify(principal).code:
                return "other_actor", whose
            if self.revoking and not self._verify(principal, revoking=False).code:
                return "revoked", whose
        return "unknown_key", ""

    def whose(self, *options: str) -> _Done:
        """Ask for the names that the file of signers has for the key of the signature."""
        return self._ask("find-principals", "-f", str(self.folder / "allowed"), *options)

    def _verify(self, identity: str, *, revoking: bool = True) -> _Done:
        allowed = ("-f", str(self.folder / "allowed"), "-I", identity, "-n", self.namespace)
        revoked = ("-r", str(self.folder / "revoked")) if self.revoking and revoking else ()
        return self._ask("verify", *allowed, *revoked, f"-Overify-time={self.at}")

    def _ask(self, what: str, *options: str) -> _Done:
        arguments = ("-Y", what, *options, "-s", str(self.folder / "signature"))
        return _keygen(*arguments, data=self.payload, timeout=CHECKING_TIMEOUT)
