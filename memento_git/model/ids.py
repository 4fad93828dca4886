"""Ids: a kind and twelve random characters; nothing sequential, nothing derived."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from memento_git.errors import Refused
from memento_git.model.enumeration import some
from memento_git.model.tuples import NamedTuple

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH: Final = 12
SHORTEST: Final = 4
KINDS: Final = ("run", "plan", "task", "dispatch", "evidence", "note", "event")

ID: Final = re.compile(rf"({'|'.join(KINDS)})_([{ALPHABET}]{{{LENGTH}}})")

SLUG: Final = "[a-z][a-z0-9-]{0,60}"

BEGINNING: Final = rf"({'|'.join(KINDS)})_[{ALPHABET}]{{1,{LENGTH}}}"

NOT_FOUND: Final = {kind: f"{kind}_not_found" for kind in KINDS}
LISTED: Final = {
    **{
        kind: f"memento {kind} list, of another run with --run RUN" for kind in ("plan", "task", "dispatch", "evidence")
    },
    "run": "memento run list",
    "note": "memento note list; drafts: memento session status",
    "event": "memento log --json",  # what people are shown of a log names no events
}
ANYWHERE: Final = "memento status and memento log; notes: memento note list; drafts: memento session status"


class Ref(NamedTuple):
    """A link to an immutable file: its id, and the first 32 hex digits of the SHA-256 of its bytes."""

    id: str
    digest: str

    def __str__(self) -> str:
        return f"{self.id}@{self.digest}"


def parse_ref(text: str) -> Ref:
    """Return the reference that a schema-checked text holds."""
    identity, _, digest = text.partition("@")
    return Ref(identity, digest)


def begins_an_id(text: str) -> bool:
    """Tell whether a text is written like an id, or like the beginning of one, with its kind."""
    return re.fullmatch(BEGINNING, text) is not None


def option(identity: str) -> str:
    """Return how a command line names a record where it takes one of several kinds."""
    return f"--{kind_of(identity)} {identity}"


def kind_of(identity: str) -> str:
    return identity.partition("_")[0]


def is_id(text: str, kind: str) -> bool:
    match = ID.fullmatch(text)
    return match is not None and match[1] == kind


def random_part(identity: str) -> str:
    return identity.partition("_")[2]


def action_of(record: str, verb: str) -> str:
    """Return how an event of a record is called where events of all kinds stand together, such as task.blocked."""
    return f"{kind_of(record)}.{verb}"


def verb_of(action: str) -> str:
    """Return the verb of an action."""
    return action.partition(".")[2]


def dispatch_of(event: str) -> str:
    """Return the dispatch that an event opens."""
    return event.replace("event", "dispatch", 1)


def opening_of(dispatch: str) -> str:
    """Return the event that opens a dispatch; what is no dispatch is returned as it is."""
    return dispatch.replace("dispatch", "event", 1)


def make_id(kind: str, entropy: bytes) -> str:
    """Return an id of the kind from at least eight random bytes."""
    number = int.from_bytes(entropy, "big")
    letters = []
    for _ in range(LENGTH):
        number, digit = divmod(number, 32)
        letters.append(ALPHABET[digit])
    return f"{kind}_{''.join(letters)}"


class NoSuchRecord(Refused):
    sentence = "no {kind} {given}"
    hint_ = "see {where}"

    def __init__(self, *, kind: str, given: str) -> None:
        super().__init__(kind=kind, given=given, where=LISTED.get(kind, ANYWHERE))
        self.token = NOT_FOUND.get(kind, "record_not_found")  # type: ignore[misc]


class AmbiguousId(Refused):
    token = "id_ambiguous"
    sentence = "{given} could be {candidates}"
    hint_ = "give more characters"


class WrongKind(Refused):
    token = "wrong_kind"
    sentence = "{given} is no {kind}"
    hint_ = "show it: memento show {given}; to find {wanted}: {where}"

    def __init__(self, *, kind: str, given: str) -> None:
        wanted = kind if kind.startswith("evidence") else f"{'an' if kind == 'event' else 'a'} {kind}"
        super().__init__(kind=kind, given=given, wanted=wanted, where=LISTED.get(kind, ANYWHERE))


class EvidenceWithdrawn(Refused):
    """Evidence that was taken back or out, and on which nothing new can rest."""

    token = "evidence_withdrawn"
    sentence = "evidence {evidence} is {status}"
    hint_ = "record new evidence: memento evidence run -- CMD"


class IdInvalid(Refused):
    token = "id_invalid"
    sentence = "{given!r} is not a valid {kind} id: after {kind}_ come 12 of 0-9 a-z, without i l o u"
    hint_ = "copy it from {where}"

    def __init__(self, *, kind: str, given: str) -> None:
        super().__init__(kind=kind, given=given, where=LISTED.get(kind, ANYWHERE))


def resolve(given: str, kind: str, known: Iterable[str]) -> str:
    """Return the one known id of the kind that begins with what was given, with or without its kind."""
    prefix, _, rest = given.strip().lower().rpartition("_")
    if prefix and prefix != kind:
        if prefix in KINDS:
            raise WrongKind(given=given, kind=kind)
        raise IdInvalid(given=given, kind=kind)
    if not rest or any(letter not in ALPHABET for letter in rest) or len(rest) > LENGTH:
        raise IdInvalid(given=given, kind=kind)
    start = f"{kind}_{rest}"
    found = sorted({identity for identity in known if identity.startswith(start)})
    if not found:
        raise NoSuchRecord(kind=kind, given=given)
    if len(found) > 1:
        raise AmbiguousId(given=given, candidates=some(found, 5))
    return found[0]


def shortest(known: Iterable[str]) -> Mapping[str, str]:
    """Return for each id the shortest prefix, of at least four characters, that no other of its kind has."""
    ordered = sorted(known)
    short: dict[str, str] = {}
    for index, identity in enumerate(ordered):
        neighbours = ordered[max(0, index - 1) : index] + ordered[index + 1 : index + 2]
        head = identity.index("_") + 1
        length = head + SHORTEST
        while any(other[:length] == identity[:length] for other in neighbours):
            length += 1
        short[identity] = identity[:length]
    return short
