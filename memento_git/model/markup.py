"""Texts of others within our Markdown: nothing in them acts as markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

ACTIVE: Final = r"[\\`*\[\]<>|#~&]|(?<![^\W_])_|_(?![^\W_])"
LEADING: Final = r"^(?:(\d+)([.)])|([-+=]))(?=\s|$|[-=])"
LINKING: Final = (
    r"(?<!\w)@(?=[\w-])|@(?=[\w-])(?![\w-]+\.\w)"  # the at sign of an address calls nobody
    r"|(?<!&)#(?=\d)|\b(?i:gh)-(?=\d)|[!$](?=\d)|[~%](?=\w|\"|&quot;)|(?:(?<=\\)&|&amp;)(?=\d)|\[(?=\w+:)"
    r"|:(?=//)|\b(?i:www)(?=\.)"
)
MOST_COMMENT: Final = 65_536
SPAN: Final = r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)"
MARKUP: Final = r"\\(.)|" + SPAN.replace(r"\1", r"\2") + r"|\*\*|&#8203;|</?span>"


def plain(text: str) -> str:
    """Return one line of text without what Markdown or HTML would act upon."""
    line = re.sub(ACTIVE, r"\\\g<0>", one_line(text))
    return re.sub(LEADING, lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", line)


def unlinked(markdown: str) -> str:
    """Return Markdown that calls nobody and refers to nothing: hosting services link URLs, `@name`, `#1`, `!1`."""
    return re.sub(LINKING, r"\g<0>&#8203;", markdown)


def said(text: str) -> str:
    r"""Return one line of text as it may stand in a comment: it does not act there, calls nobody and is no formula.

    Some services read `\$` so, others one in a `<span>`.
    """
    return unlinked(plain(text)).replace("$", r"<span>\$</span>")


def worded(text: str, style: Callable[[str], str] | None = None) -> str:
    """Return a sentence of ours as it may stand in a comment: what it has as code is code, the rest is said."""
    told, at, line = "", 0, one_line(text)
    for found in re.finditer(SPAN, line):
        told += _said_within(line[at : found.start()]) + (style or code)(found[2])
        at = found.end()
    return told + _said_within(line[at:])


def _said_within(part: str) -> str:
    """Return a part of a line as it may stand in a comment, with the space that parts it from what is beside it."""
    bare = part.strip()
    before, _, after = part.partition(bare) if bare else (part, "", "")
    return f"{before}{said(bare)}{after}"


def code(text: str) -> str:
    """Return a text as a code span that nothing in it can end; one of nothing would begin another span."""
    line = one_line(text) or " "
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if longest else f"`{line}`"


def spoken(text: str) -> str:
    """Return a line of this report's Markdown as it reads without any."""
    return re.sub(MARKUP, lambda found: found[1] or found[3] or "", text)


def one_line(text: str) -> str:
    """Return a text on one line, without characters that steer how it is shown."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def units(text: str) -> int:
    """Return a text's length in UTF-16 units: never fewer than characters, nor than a third of its UTF-8 bytes.

    A hosting service counts one of the three, so what fits by this count fits.
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def space(lines: Iterable[str]) -> int:
    """Return the room that lines take, each with its end."""
    return sum(units(line) + 1 for line in lines)


def fitting(lines: Iterable[str], room: int) -> list[str]:
    """Return as many of the first lines as there is room for."""
    shown = []
    for line in lines:
        room -= units(line) + 1
        if room < 0:
            break
        shown.append(line)
    return shown


def block(text: str) -> list[str]:
    """Return a text of several lines as an indented block, in which no line is a heading, a list or a fence."""
    from memento_git.model.types import FORBIDDEN

    kept = FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    return [f"    {line}" if line.strip() else "" for line in kept.split("\n")]
