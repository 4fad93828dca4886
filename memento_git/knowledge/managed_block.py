"""A marked block in a file that others own: written, found, replaced; what stands outside keeps every byte. Pure."""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple

BEGIN: Final = "<!-- memento:begin"
END: Final = "<!-- memento:end"
OPENING: Final = re.compile(rf"(?m)^{BEGIN} sha256=(?P<digest>[0-9a-f]{{16}})(?: [^\n]*?)? -->\r?\n")
CLOSING: Final = re.compile(rf"(?m)^{END} -->(?:\r?\n|\Z)")
TOLD: Final = "written by memento export; edits here are refused, edits outside are kept"


class Block(NamedTuple):
    """Where a marked block lies in a text, and whether somebody edited it."""

    start: int
    end: int
    edited: bool


class Broken(Exception):
    """A text has the marks of a block that has no end, no beginning, or several of them."""


def find(text: str) -> Block | None:
    """Return the marked block of a text."""
    begins, ends = _count(text, BEGIN), _count(text, END)
    if not begins and not ends:
        return None
    opening = OPENING.search(text)
    closing = CLOSING.search(text, opening.end()) if opening else None
    if (begins, ends) != (1, 1) or opening is None or closing is None:
        raise Broken
    held = text[opening.end() : closing.start()]
    return Block(opening.start(), closing.end(), digest(held) != opening["digest"])


def _count(text: str, mark: str) -> int:
    return len(re.findall(rf"(?m)^{re.escape(mark)}", text))


def digest(body: str) -> str:
    """Return what tells an edited block; ends of lines do not count, for git may have changed them."""
    return hashlib.sha256(body.replace("\r\n", "\n").encode()).hexdigest()[:16]


def put(text: str, body: str) -> str:
    """Return a text with the block in place of its old one, or after all else."""
    written = f"{BEGIN} sha256={digest(body)} ({TOLD}) -->\n{body}{END} -->\n"
    line = "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"
    written = written.replace("\n", line)
    block = find(text)
    if block is not None:
        return text[: block.start] + written + text[block.end :]
    gap = "" if not text else line if text.endswith("\n") else line * 2
    return f"{text}{gap}{written}"
