"""A quick look whether a text could name anything destructive at all, before the parser is loaded for it."""

from __future__ import annotations

import re
from typing import Final

PROGRAM: Final = re.compile(
    r"(?<![\w-])(?:rm|rmdir|unlink|dd|mke2fs|mkfs|wipefs|blkdiscard|shred|truncate|chmod|chown|chgrp|gh|eval"
    r"|(?:ba|z|da|k|a|fi|rba)?sh)(?!\w)|-del|[|]\s*(?:sudo|python|perl|ruby|node|php)|\.(?:git|memento)|/dev/|[$(][(){]|\$\w|<\(|\$'"
)
GIT: Final = re.compile(r"(?<![\w-])(?:git|hub)(?!\w)|git-\w")
VERB: Final = (
    r"push|pack|reset|clean|checkout|switch|restore|branch|tag|stash|rebase|filter|reflog|gc|prune|ref|worktree"
    r"|submodule|bisect|config|tree|alias"
)
HIDING: Final = str.maketrans("", "", "\\'\"")


def is_risky(text: str) -> bool:
    """Tell whether a text holds words without which nothing in it is destructive; quotes do not hide one."""
    plain = text.translate(HIDING)
    if PROGRAM.search(text) or PROGRAM.search(plain):
        return True
    return GIT.search(plain) is not None and re.search(VERB, plain) is not None
