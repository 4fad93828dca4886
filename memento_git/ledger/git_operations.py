"""What git is in the middle of: nothing is written then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

UNDER_WAY: Final = {
    "rebase-merge": "a rebase",  # it picks and merges itself, so its own name comes first
    "rebase-apply": "a rebase or am",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
    "sequencer": "a sequence of picks",
}

QUIT: Final = "git rebase --quit"


def in_progress(git: Git) -> list[str]:
    """Return what git is in the middle of, in this worktree: files tell it, and a reftable where one holds the refs."""
    heads = [name for name in UNDER_WAY if name.endswith("HEAD")] if (git.git_dir / "reftable").exists() else []
    held = git.lines("for-each-ref", "--include-root-refs", "--format=%(refname)", *heads) if heads else []
    return [what for name, what in UNDER_WAY.items() if name in held or (git.git_dir / name).exists()]


def is_stuck(git: Git) -> bool:
    """Tell whether a rebase stopped before its first step, where git itself cannot go on with it, nor abort it."""
    folder = git.git_dir / "rebase-merge"
    return folder.is_dir() and not (folder / "head-name").exists()


def ending(git: Git, what: str) -> str:
    """Return what ends an operation that git is in the middle of."""
    if is_stuck(git):
        return f"{QUIT}; what it had put aside is in git stash list then"
    verb = what.removeprefix("a ")
    if verb in ("merge", "cherry-pick", "revert", "rebase"):
        return f"git {verb} --continue, or git {verb} --abort"
    return "finish or abort it: git status says how"
