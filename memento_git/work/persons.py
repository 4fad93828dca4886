"""Whether two names of actors may be one person's. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from memento_git.model.types import NOTHING

UNSEEN: Final = ("Cf", "Cc", "Cn", "Co")
ALIKE: Final = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"  # Greek
    "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b3\u03c9"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408"  # Cyrillic
    "\u0430\u0435\u043a\u043c\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u051b\u051d\u0475"
    "\u0131\u0251\u0261\u0585\u0578"  # Latin without a dot or of phonetics, Armenian
    "\u2010\u2012\u2013\u2014\u2212\u02d7\u2018\u2019\u02b9\u02bc\u2032\u2236\ua789\u02d0",  # marks
    "ABEZHIKMNOPTYXaeikvoptuxywABEKMHOPCTYXSIJaekmopctyxsijdhqwviagon------''''':::",
)
CRUD: Final = " .,:;\"\\'"  # what git takes off both ends of a name and of an address


def is_same(one: str, other: str) -> bool:
    """Tell whether two actors may be one person: by address where both have one, else by name or address.

    Case, spaces, forms of letters, letters that look alike and points at either end make no other person of anybody.
    """
    if one == other:
        return True
    first, second = _parts(skeleton(one)), _parts(skeleton(other))
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


def looks_like(one: str, other: str) -> bool:
    """Tell whether two different names can hardly be told apart by reading them, and have not one address."""
    first, second = _plain(one), _plain(other)
    has_one_address = _parts(first)[1] == _parts(second)[1] != ""
    return first != second and skeleton(one) == skeleton(other) and not has_one_address


def may_look_like(name: str) -> bool:
    """Tell whether a name has letters that could be taken for those of another alphabet."""
    return _plain(name) != skeleton(name)


def skeleton(name: str) -> str:
    """Return a name as it looks: without what cannot be seen, with Latin letters for those that look like them."""
    drawn = re.sub(NOTHING, "", unicodedata.normalize("NFKC", name))
    seen = (letter for letter in drawn if unicodedata.category(letter) not in UNSEEN)
    return _plain("".join(seen).translate(ALIKE))


def spelled(name: str) -> str:
    """Return the characters of a name that are not plain ASCII, by their own names."""
    odd = dict.fromkeys(letter for letter in name if not letter.isascii())
    return ", ".join(unicodedata.name(letter, f"U+{ord(letter):04X}").lower() for letter in odd) or "in plain letters"


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _parts(text: str) -> tuple[str, str]:
    """Return the name and the address of an actor, written as it is compared; a bare address has no name."""
    name, bracket, rest = text.partition("<")
    address = "".join(rest.rstrip("> ").split())
    if not bracket and "@" in text and " " not in text:
        name, address = "", text
    return name.strip(CRUD), address.strip(CRUD)
