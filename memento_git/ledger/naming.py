"""Which record is meant: a unique prefix is enough, also without the kind where several kinds could be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memento_git.model.enumeration import some
from memento_git.model.ids import (
    ALPHABET,
    KINDS,
    LENGTH,
    AmbiguousId,
    IdInvalid,
    NoSuchRecord,
    WrongKind,
    kind_of,
    opening_of,
)

if TYPE_CHECKING:
    from memento_git.ledger.view import View

SHOWN: Final = 5


class RecordInvalid(IdInvalid):
    sentence = "{given!r} is not the id of a record, nor the beginning of one"

    def __init__(self, *, given: str) -> None:
        super().__init__(kind="record", given=given)


def begun(view: View, given: str, kinds: Sequence[str]) -> str:
    """Return the one id of these kinds that begins as given; what names one of them is left to the verb to look up."""
    prefix = given.strip().lower()
    if (kind := kind_of(prefix)) in KINDS:
        if kind not in kinds:
            raise WrongKind(given=given, kind=f"{', '.join(kinds[:-1])} or {kinds[-1]}")
        return prefix
    if not prefix or len(prefix) > LENGTH or not set(prefix) <= set(ALPHABET):
        raise RecordInvalid(given=given)
    found = {kind: [name for name in view.known(kind) if name.startswith(f"{kind}_{prefix}")] for kind in kinds}
    opened = {opening_of(name) for name in found.get("dispatch", ())}
    names = sorted({name for listed in found.values() for name in listed} - opened)
    if not names:
        raise NoSuchRecord(kind="record", given=given)
    if len(names) > 1:
        raise AmbiguousId(given=given, candidates=some(names, SHOWN))
    return names[0]
