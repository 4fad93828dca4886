"""Writing the digest into a file of guidance that others own: the marked block alone is ours."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final, NamedTuple

from memento_git.errors import Refused
from memento_git.knowledge import managed_block
from memento_git.ledger import outfile

TEXTS: Final = ("", ".md", ".markdown", ".mdc", ".mdx", ".txt", ".rst")


class BlockEdited(Refused):
    token = "block_edited"
    sentence = "somebody edited the block of memento in {path}"
    hint_ = "take what is new: memento import --from claude-md {path!q}; then --force drops it; or move it out of there"


class BlockBroken(Refused):
    token = "block_broken"
    sentence = "{path} has marks of memento's block that have no end, no beginning, or stand there twice"
    hint_ = "repair or remove the lines that begin with <!-- memento: in it"


class BlockUnreadable(Refused):
    token = "block_unreadable"
    sentence = "{path} is written in UTF-16, in which nobody would read a block of UTF-8"
    hint_ = "save it as UTF-8 first: iconv -f UTF-16 -t UTF-8"


class BlockUnfit(Refused):
    token = "block_unfit"
    sentence = "{path} is no Markdown or plain text, in which a block of Markdown would be read"
    hint_ = "name a file such as AGENTS.md; or print the digest: memento export --format agents-md"


class Written(NamedTuple):
    """Whether the file differs now, and whether it was made."""

    changed: bool
    made: bool


def write_block(path: Path, body: str, *, force: bool = False) -> Written:
    """Put a text into the marked block of a file; every byte outside of it stays."""
    if path.suffix.lower() not in TEXTS or (path.exists() and not path.is_file()):
        raise BlockUnfit(path=path.name)
    target = path.resolve()
    before = target.read_bytes() if target.exists() else b""
    if before.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BlockUnreadable(path=path.name)
    text = before.decode(errors="surrogateescape")
    try:
        block = managed_block.find(text)
        if block is not None and block.edited and not force:
            raise BlockEdited(path=path.name)
        after = managed_block.put(text, body).encode(errors="surrogateescape")
    except managed_block.Broken:
        raise BlockBroken(path=path.name) from None
    if after != before:
        outfile.replace(target, after)
    return Written(after != before, not before)
