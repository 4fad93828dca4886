"""Which commit of this clone holds the code that evidence saw."""

from __future__ import annotations

from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.ledger import tree_diff
from memento_git.ledger.checkouts import NothingCommitted
from memento_git.work import codestate
from memento_git.work.proof.codes import agree, code_seen, wholly

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.ledger.git import Git

MOST: Final = 20_000
TREE: Final = "tree"
TRACKED: Final = "tracked"
HEAD: Final = "head"


class Place(NamedTuple):
    """What a commit holds of the code that was seen: all (tree), tracked files (tracked), who knows (head); and it."""

    where: str
    commit: str


class SeenCommits:
    """The code of HEAD, of its history and of the branches of dispatches, by its tree without the ledger."""

    def __init__(self, git: Git, *, here: bool = False) -> None:
        """With `here`, evidence of files that HEAD has, as they are there, is looked for at HEAD alone."""
        head = git.head()[0]
        if head is None:
            raise NothingCommitted
        self.git = git
        self.head = head
        self.here = here
        self._tree = cache(partial(codestate.tree_at, git))

    def of(self, evidence: Mapping[str, Any]) -> Place:
        """Return where the code is that evidence saw; HEAD where no commit holds it, or it names two codes at odds."""
        code = code_seen(evidence)
        if not code:
            return Place(HEAD, self.head)
        if self.here and code.get("tree") == self._tree(self.head) != wholly(evidence):
            return Place(TRACKED, self.head)
        named = self.git.commit(code["head"]) if code.get("head") else None  # no branch may lead to it
        near = {self._tree(commit): commit for commit in (named, self.head) if commit}
        tracked, whole = (
            near.get(tree) or self.trees.get(tree, "") if tree else "" for tree in (code.get("tree"), wholly(evidence))
        )
        if whole and not self._only_adds(tracked, whole):
            return Place(HEAD, self.head)
        for commit, where in ((whole, TREE), (tracked, TRACKED)):
            if commit and self._has_paths(commit, code):
                return Place(where, commit)
        return Place(TREE if "paths" in code and self._has_paths(self.head, code) else HEAD, self.head)

    def is_aside(self, place: Place) -> bool:
        """Tell whether a place is a commit that has other code than HEAD."""
        return place.commit != self.head and self._tree(place.commit) != self._tree(self.head)

    def _only_adds(self, tracked: str, whole: str) -> bool:
        """Tell whether a commit has all the code of another one, and files beside it, as where some were untracked."""
        if not tracked or tracked == whole:
            return True
        told = tree_diff.told(self.git, "--name-only", "--diff-filter=a", tracked, whole)
        return all(path.startswith(".memento/") for path in told)

    def _has_paths(self, commit: str, code: Mapping[str, Any]) -> bool:
        """Tell whether a commit has the paths that code is limited to as they were: who writes by hand names others."""
        return "paths" not in code or agree(code, codestate.code_at(self.git, commit, list(code["paths"])))

    @cached_property
    def trees(self) -> dict[str, str]:
        """Return tree of the code -> newest commit that holds it."""
        found: dict[str, str] = {}
        for commit, tree in codestate.history(self.git, MOST, "HEAD", "--glob=refs/heads/memento/*"):
            found.setdefault(tree, commit)
        return found
