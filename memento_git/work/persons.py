"""Whether two names of actors may be one person's. Pure."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from memento_git.work.signing import ADDRESS

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_same(one: str, other: str) -> bool:
    """Tell whether two actors may be one person: by address where both have one, else by name or address.

    Case, spaces and forms of letters make no other person of anybody.
    """
    first, second = _parts(one), _parts(other)
    if first[1] and second[1]:
        return first[1] == second[1]
    return bool({*first} & {*second} - {""})


def alike(actors: Iterable[str]) -> dict[str, str]:
    """Return for each actor one name that stands for all who may be the same person, also by way of a third name."""
    stands: dict[str, str] = {}
    for actor in sorted(set(actors)):
        own = {stands[other] for other in stands if is_same(actor, other)}
        first = min(own, default=actor)
        stands = {other: first if one in own else one for other, one in stands.items()}
        stands[actor] = first
    return stands


def is_among(actor: str, others: Iterable[str]) -> bool:
    """Tell whether an actor may be one of several."""
    return any(is_same(actor, other) for other in others)


def _parts(actor: str) -> tuple[str, str]:
    """Return a name and an address as they are compared; a bare address has no name."""
    text = " ".join(unicodedata.normalize("NFKC", actor).casefold().split())
    if found := ADDRESS.fullmatch(text):
        return text.partition("<")[0].strip(), found[1]
    return ("", text) if "@" in text and " " not in text else (text, "")
