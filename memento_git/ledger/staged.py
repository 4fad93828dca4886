"""What the next commit will be: the index as a tree, and what is being merged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.model.enumeration import some

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View

MERGING: Final = "MERGE_HEAD"
ABOUT: Final = "GITHEAD_"  # what git merge says of its sides to the programs that it starts
SHOWN: Final = 5


class IndexUnmerged(Refused):
    token = "index_unmerged"
    sentence = "these files are not merged yet: {paths}"
    hint_ = "resolve them, git add them, then run this again"


def is_read(git: Git) -> bool:
    """Tell whether git is asked about the index, inside `staged_tree`."""
    return "GIT_INDEX_FILE" in git.extra


def tips(view: View) -> Sequence[str]:
    """Return the commits whose past a view has: that of the index is HEAD's, where there is one yet."""
    head = view.git.head()[0] if is_read(view.git) else ""
    return [head] if head else view.commits


def named_index(git: Git) -> Path | None:
    """Return the index that a hook's caller names; git counts from the top of the work tree, wherever it is asked."""
    named = os.environ.get("GIT_INDEX_FILE", "")
    return Path(git.cwd, named) if named else None


@contextmanager
def staged_tree(git: Git) -> Iterator[str]:
    """Yield the tree of the index; its new objects lie in a folder that is thrown away, with a copy of the index.

    `git write-tree` would write down in the index itself which trees it made.
    """
    from memento_git.ledger import scratch

    with scratch.folder() as folder:
        git.close()
        extra = scratch.variables(git, Path(folder))
        scratch.copy_index(git, Path(extra["GIT_INDEX_FILE"]), named_index(git))
        before, git.extra = git.extra, git.extra | extra
        try:
            if unmerged := git.run("ls-files", "--unmerged", "-z"):
                paths = {os.fsdecode(entry).partition("\t")[2] for entry in unmerged.split(b"\0")[:-1]}
                raise IndexUnmerged(paths=some(sorted(paths), SHOWN))
            yield os.fsdecode(git.run("write-tree", "--missing-ok")).strip()
        finally:
            git.close()
            git.extra = before


def named_sides() -> list[str]:
    """Return what git merge, while it runs, names as its sides to the programs that it starts."""
    return [name.removeprefix(ABOUT) for name in sorted(os.environ) if name.startswith(ABOUT)]


def merging(git: Git) -> list[str]:
    """Return the commits that are being merged into HEAD, also before git has written down that they are.

    It does so after its hook pre-merge-commit, or when that refuses.
    """
    try:
        return (git.git_dir / MERGING).read_text(encoding="ascii").split()
    except OSError:
        return [one for one in named_sides() if git.commit(one) == one and not git.is_before(one, "HEAD")]
