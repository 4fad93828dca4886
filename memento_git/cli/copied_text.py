"""What a chat or a document made of the words of a command line, taken back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

DASHES: Final = re.compile(
    r"^[-\u2010-\u2015\u2212]*[\u2010-\u2015\u2212][-\u2010-\u2015\u2212]*(?=[A-Za-z][\w-]*(?:=|$))"
)
QUOTES: Final = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
}
"""What opens a typographic quote, and what closes it."""


def as_typed(words: Sequence[str]) -> tuple[str, ...]:
    """Return words without what a chat or a document made of them: a dash for two, quotes that no shell reads."""
    end = words.index("--") if "--" in words else len(words)
    opened: list[str] = []
    found: list[str] = []
    for word in (DASHES.sub("--", one) for one in words[:end]):
        if opened or word[:1] in QUOTES:
            opened.append(word)
            if word and word[-1] in QUOTES[opened[0][0]]:
                found.append(" ".join(opened)[1:-1])
                opened = []
        else:
            found.append(word)
    return (*found, *opened, *words[end:])
