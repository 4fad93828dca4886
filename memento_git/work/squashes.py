"""Whether a commit is what a merge would have made of code that was seen, although it is a squash or a rebase of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from memento_git.ledger import scratch
from memento_git.ledger.commits import CODE, parents
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.introducing_commits import PLAIN_DIFF, changing_code
from memento_git.work.codestate import without_ledger

AS_PATCH: Final = (*PLAIN_DIFF, "--unified=1", "--binary", "--full-index")
MOST: Final = 50  # changes of code on the base's line, since the branch began


def brings(git: Git, commit: str, bases: Sequence[str], seen: Collection[str]) -> bool:
    """Tell whether a commit is what git makes of a base and of a branch whose code was one of the `seen` trees.

    Nobody knows the branch any more. But where what the commit changes, laid on an earlier commit of the base's own
    line, comes to just the code that was seen, the branch was that; and git is asked whether it merges the two so.
    """
    own = parents(git, commit)
    if not seen or len(own) != 1:
        return False
    onto = [*bases, *(one for one in own if any(git.is_before(one, base) for base in bases))]  # judged, be it earlier
    try:
        return any(_brings(git, commit, base, seen) for base in dict.fromkeys(onto) if git.is_before(base, commit))
    except GitFailed:  # as where a partial clone lacks what the commit changed
        return False


def _brings(git: Git, commit: str, base: str, seen: Collection[str]) -> bool:
    patch = git.run("diff-tree", *AS_PATCH, base, commit, "--", *CODE, extra=PATTERNS)
    told = git.run("rev-list", "--first-parent", f"--max-count={MOST}", base, "--", *CODE, extra=PATTERNS)
    with scratch.folder() as folder:
        extra = {**scratch.variables(git, Path(folder)), **scratch.NOBODY}
        for fork in told.decode().split():
            tree = _laid(git, fork, patch, extra)
            if tree and without_ledger(git.run("cat-file", "tree", tree, extra=extra), git.object_format) in seen:
                return _merges_to(git, commit, base, fork, tree, extra)
    return False


def _laid(git: Git, fork: str, patch: bytes, extra: Mapping[str, str]) -> str:
    """Return the tree of a commit with a patch; nothing where that does not fit."""
    git.run("read-tree", fork, extra=extra)
    try:
        if patch:
            git.run("apply", "--cached", "--whitespace=nowarn", "-", data=patch, extra=extra)
    except GitFailed:
        return ""
    return os.fsdecode(git.run("write-tree", "--missing-ok", extra=extra)).strip()


def _merges_to(git: Git, commit: str, base: str, fork: str, tree: str, extra: Mapping[str, str]) -> bool:
    """Tell whether git makes the code of a commit of a base and of a tree, both of which began at a fork."""

    def committed(tree: str, *parents: str) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        return os.fsdecode(git.run("commit-tree", tree, *words, data=b"laid\n", extra=extra)).strip()

    began = committed(f"{fork}^{{tree}}")
    sides = [committed(f"{base}^{{tree}}", began), committed(tree, began)]
    return changing_code(git, committed(f"{commit}^{{tree}}", *sides), sides, extra) == []
