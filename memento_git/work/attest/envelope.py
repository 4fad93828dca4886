"""Signed envelopes (DSSE) around attestations, made by securesystemslib with a key from a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused, adding

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from securesystemslib.signer import Signer

PAYLOAD: Final = "application/vnd.in-toto+json"
LARGEST: Final = 64 * 1024


class AttestExtraMissing(Refused):
    token = "attest_extra_missing"
    sentence = "signing an attestation needs the library {library}"
    hint_ = adding("attest")


class KeyUnfit(Refused):
    token = "key_invalid"
    sentence = "the key cannot be used: {problem}"
    hint_ = "give an Ed25519 or ECDSA private key without a passphrase: PEM, or as ssh-keygen writes it"


def sealed(payloads: Iterable[bytes], key: Path) -> list[bytes]:
    """Return each payload in an envelope that is signed with the key of a file; never a prompt."""
    signer = _signer(key)
    from securesystemslib.dsse import Envelope

    found = []
    for payload in payloads:
        envelope = Envelope(payload, PAYLOAD, {})
        envelope.sign(signer)
        found.append(json.dumps(envelope.to_dict(), sort_keys=True, separators=(",", ":")).encode())
    return found


def _signer(key: Path) -> Signer:
    try:
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from securesystemslib.signer import CryptoSigner
    except ImportError as error:
        raise AttestExtraMissing(library=error.name or "securesystemslib") from None
    found = _load(_bytes(key))
    if not isinstance(found, (Ed25519PrivateKey, EllipticCurvePrivateKey)):
        raise KeyUnfit(problem="it is neither Ed25519 nor ECDSA")
    try:
        return CryptoSigner(found)
    except (ValueError, TypeError) as error:
        raise KeyUnfit(problem=str(error)) from None


def _bytes(key: Path) -> bytes:
    try:
        if not key.is_file():
            raise KeyUnfit(problem="there is no such file")
        with key.open("rb") as stream:
            return stream.read(LARGEST)
    except (OSError, ValueError) as error:
        raise KeyUnfit(problem=getattr(error, "strerror", None) or "it cannot be read") from None


def _load(data: bytes) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in data else load_pem_private_key
    try:
        return load(data, password=None)
    except TypeError:
        raise KeyUnfit(problem="it has a passphrase") from None
    except (ValueError, UnsupportedAlgorithm):
        raise KeyUnfit(problem="it is no private key, or it has a passphrase") from None
