"""CLAUDE.md, AGENTS.md: a file of headings, bullets and paragraphs taken apart into one note each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.knowledge.digest import is_own
from memento_git.knowledge.foreign import entries, files
from memento_git.knowledge.foreign.entries import Entry, Found
from memento_git.knowledge.foreign.markdown import CODE
from memento_git.knowledge.managed_block import BEGIN, END, Broken, find
from memento_git.model.exchange import LeftOut

if TYPE_CHECKING:
    from markdown_it.token import Token

    from memento_git.model.objection import Objection

IMPORTED: Final = re.compile(r"\s*(?:(?:[-*+]\s+)?@\S+(?:\s+|\Z))+")
NAMES: Final = re.compile(r"(?<!\w)@([\w~./-]*\w)")
UNSEEN: Final = re.compile(r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>:]*>", re.DOTALL)
FENCE: Final = re.compile(r"(?m)^\s*(?:`{3,}|~{3,}).*$")
WRITTEN: Final = "memento export wrote this block: its notes are there"
EDITED: Final = (
    "memento export wrote this block and somebody edited it: what was added is taken, an edit of one of its lines is "
    "not (memento note revise)"
)
INSIDE: Final = "#memento"  # the next export drops what stands in the block, so its digest may tell it
BOXES: Final = {"": ("preference", ""), " ": ("goal", ""), "x": ("goal", "finished")}
LEAD: Final = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?")


class Block(NamedTuple):
    """A part of the file: its lines (from 0, the last not included), and whether it is a bullet."""

    start: int
    end: int
    heading: str
    level: int = 0


def read(path: Path, place: str = "") -> Found:
    """Return the notes of a file of guidance; `place` is where it is in the repository."""
    name = path.name
    skipped: list[LeftOut] = []
    lines, ours = _without_digest(files.whole(path).split("\n"), name, skipped)
    made = []
    for block in _blocks("\n".join(lines)):
        told = _text(lines[block.start : block.end])
        where = f"{name}:{block.start + 1}"
        if told and (why := _no_text(told)):
            skipped.append(LeftOut(where, why))
            continue
        inside = INSIDE if block.start in ours else ""
        lead = LEAD.match(lines[block.start])
        box = (lead[1] or "").lower() if lead else ""
        entry = _entry(block, told, where, f"{place or name}{inside}:{block.start + 1}", box, _folder(place))
        if others := [one for one in _named(told) if files.is_there(path.parent / one)]:
            entry = entry._replace(told=(f"it names other files, too: import each by itself: {', '.join(others)}",))
        made.append(entry)
    return entries.unique(made, skipped, "text", "it says what {} says")


def _no_text(told: str) -> Objection:
    """Return why a block is no text of its own; nothing where it is one."""
    if IMPORTED.fullmatch(told):
        names = _named(told)
        if len(names) > 1:
            return f"it names other files: import each by itself: {', '.join(names)}"
        return f"it names another file: import {told.strip().lstrip('-*+ @')} by itself"
    if UNSEEN.sub("", told).strip():
        return ""
    return "it is a comment" if told.startswith("<!--") else "it shows no text"


def _named(told: str) -> list[str]:
    """Return the files that an agent would read with a text."""
    return list(dict.fromkeys(NAMES.findall(CODE.sub("", told))))


def _folder(place: str) -> str:
    """Return the folder of the repository that guidance is for; nothing for what is for all of it."""
    parts = place.split("/")[:-1]
    return "/".join(parts[:-1] if parts and parts[-1].startswith(".") else parts)


def _entry(block: Block, told: str, where: str, source: str, box: str, folder: str) -> Entry:
    kind, state = BOXES[box]
    heading = " / ".join(filter(None, (folder, block.heading)))
    plain = FENCE.sub("", told).strip() or told
    title = f"{heading}: {plain}" if heading else plain
    options = entries.given(
        title=entries.one_line(title.replace("`", "").replace("**", "")), kind=kind,
        sources=(f"file:{source}",), tags=entries.words([block.heading.lower()]),
    )  # fmt: skip
    return Entry(where, where, told, options, state=state, line=block.start + 1, lasting=False)


def _without_digest(lines: Sequence[str], name: str, skipped: list[LeftOut]) -> tuple[list[str], set[int]]:
    """Return the lines with empty ones in the place of what our own export wrote there, and those it did not write.

    Of a block that somebody edited, what is no line of a digest stays.
    """
    kept, foreign, inside = [], set(), False
    edited = _is_edited("\n".join(lines))
    for number, line in enumerate(lines):
        if line.startswith(BEGIN):
            inside = True
            skipped.append(LeftOut(f"{name}:{number + 1}", EDITED if edited else WRITTEN))
        ours = inside and (not edited or line.startswith((BEGIN, END)) or is_own(line))
        kept.append("" if ours else line)
        if inside and not ours:
            foreign.add(number)
        if inside and line.startswith(END):
            inside = False
    return kept, foreign


def _is_edited(text: str) -> bool:
    try:
        block = find(text)
    except Broken:
        return False
    return block is not None and block.edited


def _blocks(text: str) -> Iterator[Block]:
    """Yield paragraphs with the code behind them, bullets, tables, each under the headings that it stands below.

    Code at the margin has ended the list before it, so it is no part of the last bullet.
    """
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    headings: list[tuple[int, str]] = []
    held: Block | None = None
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            level = int(token.tag[1:])
            headings = [*(one for one in headings if one[0] < level), (level, tokens[number + 1].content.strip())]
        block = _block(token, " / ".join(told for _, told in headings[-2:]))
        if block is None:
            continue
        is_code = token.type in ("fence", "code_block")
        if held is not None and is_code and not held.level and held.heading == block.heading:
            held = held._replace(end=block.end)
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held


def _block(token: Token, heading: str) -> Block | None:
    """Return the block that a token begins; nothing for what is part of another block."""
    tops = ("paragraph_open", "fence", "code_block", "html_block", "table_open", "blockquote_open")
    is_bullet = token.type == "list_item_open" and token.level == 1
    if token.map is None or not (is_bullet or (token.type in tops and token.level == 0)):
        return None
    return Block(token.map[0], token.map[1], heading, token.level)


def _text(lines: Sequence[str]) -> str:
    """Return a block as a text of its own: without the mark of its bullet, and not indented."""
    import textwrap

    first = LEAD.sub("", lines[0])
    rest = textwrap.dedent("\n".join(lines[1:]))
    return f"{first}\n{rest}".strip()
