"""Answers that say the very same: shown once, with the others named. Pure."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from memento_git.knowledge.index_entries import Header

BEFORE: Final = "\"'`([\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
BEHIND: Final = f"{BEFORE})].,:;!\u2026"


class Said(NamedTuple):
    """What an answer says: title and text, but for case, white space and the punctuation around words."""

    header: Header
    title: str
    text: str


def said(header: Header, text: str) -> Said:
    """Return what a document says, ready to be compared."""
    return Said(header, _bare(header.title), _bare(text))


def _bare(text: str) -> str:
    """Return a text without what may be otherwise in a text that says the same.

    A sign that may count stays: one within a word, the dot before a name, a question mark, an operator.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    words = (word.rstrip(BEHIND).lstrip(BEFORE) for word in folded.split())
    return " ".join(word for word in words if word)


def are_alike(one: Said, other: Said) -> bool:
    """Tell whether two answers are the same in all but case, white space and punctuation.

    Words alone do not tell it: in another order, or with one more, they may say something else.
    """
    if (one.header.kind, one.header.sort, one.text) != (other.header.kind, other.header.sort, other.text):
        return False
    return _own_title(one) == _own_title(other) and not _are_set_apart(one.header, other.header)


def _own_title(one: Said) -> str:
    """Return a title, but for one that only repeats its text."""
    return "" if one.title in one.text else one.title


def _are_set_apart(one: Header, other: Header) -> bool:
    """Tell whether a link says that two notes contradict, or that one took the other's place."""
    apart = ("contradicts", "supersedes")
    return any(
        rel in apart and end == there.id for here, there in ((one, other), (other, one)) for rel, end in here.links
    )
