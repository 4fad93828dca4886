"""Branches of dispatches: which of them this clone has, what knows of a dispatch, and of which HEAD lacks the work."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from memento_git.errors import Broken
from memento_git.ledger import scratch, tree_diff
from memento_git.ledger.checkouts import branch_of, worktrees
from memento_git.ledger.commits import CODE
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git import Git, GitFailed
from memento_git.model.ids import random_part

BRANCHES: Final = "refs/heads/memento"


def knowing(git: Git, dispatch: str, folder: str) -> list[str]:
    """Return the branches, and the detached work trees, whose files in a folder hold a dispatch."""
    told = git.lines("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/remotes/")
    refs = [line.partition(" ") for line in told]
    places = {ref.removeprefix("refs/heads/"): tip for tip, _, ref in refs}
    for one in worktrees(git):
        if (head := one.get("HEAD")) and head not in places.values():
            places[one["worktree"]] = head
    end = f"-dispatched-{random_part(dispatch)}.yaml"
    files: dict[str, list[str]] = {}
    for tip in places.values():
        with contextlib.suppress(Broken):  # git lacks the files of a branch that nobody asked for
            files[tip] = files_in(git, tip, folder)
    return [name for name, tip in places.items() if any(file.endswith(end) for file in files.get(tip, ()))]


def files_in(git: Git, rev: str, folder: str) -> list[str]:
    """Return the paths of what a commit has in a folder, none where there is no such commit."""
    commit = git.commit(rev)
    return list(git.entries(commit, f"{folder}/")) if commit else []


def off_head(git: Git) -> set[str]:
    """Return the branches of dispatches that HEAD's history does not have; their work may be there by a squash."""
    patterns = (f"{BRANCHES}/", "refs/remotes/*/memento/*")
    told = git.lines("for-each-ref", "--no-merged=HEAD", "--format=%(refname)", *patterns)
    return {f"memento/{ref.rpartition('/')[2]}" for ref in told}


def lacking(git: Git, dispatches: Sequence[str]) -> list[str]:
    """Return the branches of dispatches that did the same where HEAD has the work of none of them, else nothing."""
    branches = [unmerged(git, name) for name in dispatches]
    return branches if all(branches) else []


def unmerged(git: Git, dispatch: str) -> str:
    """Return the branch of a dispatch whose work HEAD does not have, or nothing; a squash of it counts as having it."""
    ref = ref_of(git, dispatch)
    if not ref or git.is_before(ref, "HEAD"):
        return ""
    missing = _not_picked(git, ref)
    if not missing or _is_squashed(git, ref, missing):
        return ""
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def _not_picked(git: Git, commit: str, extra: Mapping[str, str] | None = None) -> int:
    """Return how many commits of a line HEAD's history has neither as they are nor as a rebase leaves them."""
    try:
        return git.run("cherry", "HEAD", commit, extra=extra).count(b"+")
    except GitFailed:
        return 1


def _is_squashed(git: Git, ref: str, commits: int) -> bool:
    """Tell whether HEAD has all files as a branch left them, or one commit of it does what all of the branch's do."""
    base = git.answer("merge-base", "HEAD", ref)
    if not base:
        return False
    paths = tree_diff.told(git, "--name-only", base, ref, "--", *CODE, extra=PATTERNS)
    if not paths or not tree_diff.told(git, "--name-only", ref, "HEAD", "--", *paths):
        return True
    if commits == 1:
        return False
    with scratch.folder() as folder:
        extra = {**scratch.variables(git, Path(folder)), **scratch.NOBODY}
        told = git.run("commit-tree", f"{ref}^{{tree}}", "-p", base, data=b"squashed\n", extra=extra)
        return not _not_picked(git, told.decode().strip(), extra)


def ref_of(git: Git, dispatch: str) -> str:
    """Return the branch of a dispatch that this clone has, its own or else one of a remote; nothing for neither."""
    branch = branch_of(dispatch)
    own = f"refs/heads/{branch}"
    if git.object_id(own):
        return own
    far = git.answer("for-each-ref", "--count=1", "--format=%(refname)", f"refs/remotes/*/{branch}")
    return far or ""
