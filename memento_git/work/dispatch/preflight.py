"""Preflight: what of the work tree speaks against beginning, as policy weighs it."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import MementoError, Refused
from memento_git.ledger import git_status, layout, publish, settings
from memento_git.model.enumeration import some
from memento_git.model.policy import FREE, Policy
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import text_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from memento_git.ledger.git import Git
    from memento_git.ledger.git_status import WorkTree
    from memento_git.ledger.transaction import Transaction

DOING: Final = {"start": "starting a run", "dispatch": "handing out", "run": "running an executor"}
LEVELS: Final = ("dirty", "untracked", "detached", "protected")
SHOWN: Final = 3


class Check(NamedTuple):
    """One thing that was looked at; `level` is ok, warn or refuse."""

    name: str
    level: str
    message: str
    fix: str = ""


class DirtyWorktree(Refused):
    token = "dirty_worktree"
    sentence = "{message}"
    hint_ = "commit or stash them first: git status"


class EditsLeftBehind(DirtyWorktree):
    """Policy has no objection, but an executor in a worktree of its own would not see the changes."""

    hint_ = "commit or stash them first: git status; or have it work without them: the same with --allow-dirty"


class UntrackedFiles(Refused):
    token = "untracked_files"
    sentence = "{message}"
    hint_ = "add, ignore or move them first: git status"


class DetachedHead(Refused):
    token = "detached_head"
    sentence = "{message}"
    hint_ = "git switch -c NAME"


class ProtectedBranch(Refused):
    token = "protected_branch"
    sentence = "{message}"
    hint_ = "work on a branch of its own: git switch -c NAME"


class DiskSpace(Refused):
    token = "disk_space"
    sentence = "{message}"
    hint_ = "free some space, or lower policy.preflight.disk"


SMALL: Final = 16  # of a small disk such a part is asked
REMEDIES: Final[dict[str, type[Refused]]] = {
    "dirty": DirtyWorktree,
    "untracked": UntrackedFiles,
    "detached": DetachedHead,
    "protected": ProtectedBranch,
}


def examine(git: Git, policy: Policy, *, act: str) -> list[Check]:
    """Look at all of it, also at what policy ignores: that is told, and is ok."""
    asked = policy.preflight
    first = [_operation(git), _identity(git)]
    tree = _tree(git_status.StatusFuture(git, untracked=True).seen(), asked, act) if git.top is not None else []
    return [*first, *tree, _disk(git, asked)]


def refuse_unfit(tx: Transaction, policy: Policy, *, act: str, insist: Collection[str] = ()) -> None:
    """Look at what policy does not ignore; raise the first refusal, note the warnings.

    A merge in progress and a missing identity refuse every transaction already. A detached HEAD that only warns is
    told by the transaction itself. Where the work tree is only warned of, git looks at it while the change is made.
    """
    asked = {**policy.preflight, **dict.fromkeys(insist, "refuse")}
    if asked.get("disk") != 0 and (check := _disk(tx.ledger.git, asked)).level == "refuse":
        _refuse(check)
    levels, untracked = {asked[name] for name in LEVELS}, asked["untracked"] != "ignore"
    if levels == {"ignore"}:
        return
    if tx.status is None or (untracked and not tx.status.untracked):
        tx.status = git_status.StatusFuture(tx.ledger.git, untracked=untracked)
        tx.after_failure.append(tx.status.drop)
    status = tx.status
    if "refuse" not in levels:
        tx.after_commit.append(lambda: _tell(tx, _tree(status.seen(), asked, act)))
        return
    checks = _tree(status.seen(), asked, act)
    for check in checks:
        if check.level == "refuse":
            if act == "run" and check.name == "dirty" and policy.preflight["dirty"] != "refuse":
                raise EditsLeftBehind(message=check.message)
            _refuse(check)
    _tell(tx, checks)


def _tell(tx: Transaction, checks: Iterable[Check]) -> None:
    tx.ledger.warn(*(check.message for check in checks if check.level == "warn" and check.name != "detached"))


def _refuse(check: Check) -> None:
    if check.name == "dirty":
        raise DirtyWorktree(message=check.message)
    if check.name == "untracked":
        raise UntrackedFiles(message=check.message)
    if check.name == "detached":
        raise DetachedHead(message=check.message)
    if check.name == "protected":
        raise ProtectedBranch(message=check.message)
    raise DiskSpace(message=check.message)


def _tree(seen: WorkTree, asked: Mapping[str, Any], act: str) -> list[Check]:
    others = [one for one in seen.changes if not one.path.startswith(f"{layout.FOLDER}/")]
    dirty = [one.path for one in others if one.letters != "??"]
    new = [one.path for one in others if one.letters == "??"]
    doing = DOING[act]
    return [
        _check("dirty", asked["dirty"], dirty, f"before {doing}: changes that are not committed", "no changes"),
        _check("untracked", asked["untracked"], new, f"before {doing}: files that git does not track", "no files"),
        _on_branch(seen.branch, asked, doing),
        _free_branch(seen.branch, asked, doing),
    ]


def _check(name: str, level: str, paths: Sequence[str], found: str, none: str) -> Check:
    if not paths:
        return Check(name, "ok", none)
    return _weigh(name, level, f"{found}: {some([*map(_plain, paths)], SHOWN)}")


def _plain(path: str) -> str:
    """Return a file's name as text that can be shown and kept."""
    return ascii(path) if any(text_problems(path, lines=False)) or not path.isprintable() else path[:200]


def _weigh(name: str, level: str, message: str) -> Check:
    if level == "ignore":
        return Check(name, "ok", f"{message.partition(': ')[2]} (ignored by policy)")
    return Check(name, level, message, REMEDIES[name].hint_)


def _on_branch(branch: str | None, asked: Mapping[str, Any], doing: str) -> Check:
    if branch is not None:
        return Check("detached", "ok", f"on branch {branch}")
    return _weigh("detached", asked["detached"], f"before {doing}: HEAD is detached, on no branch")


def _free_branch(branch: str | None, asked: Mapping[str, Any], doing: str) -> Check:
    pattern = next((one for one in asked["branches"] if branch is not None and fnmatchcase(branch, one)), None)
    if pattern is None:
        return Check("protected", "ok", "not on a protected branch")
    return _weigh("protected", asked["protected"], f"before {doing}: {branch} is a protected branch ({pattern})")


def _space(folder: Path) -> tuple[int, int]:
    """Return how many bytes a user may still write, and the disk's size; the short way where there is one."""
    if hasattr(os, "statvfs"):  # shutil loads slowly
        told = os.statvfs(folder)
        return told.f_bavail * told.f_frsize, told.f_blocks * told.f_frsize
    import shutil

    used = shutil.disk_usage(folder)
    return used.free, used.total


def _disk(git: Git, asked: Mapping[str, Any]) -> Check:
    free, whole = _space(git.git_dir)
    least = asked.get("disk", min(FREE, whole // SMALL))
    if free < least:
        return Check("disk", "refuse", f"{free} bytes are free, policy asks for {least}", DiskSpace.hint_)
    return Check("disk", "ok", f"{free} bytes are free")


def _operation(git: Git) -> Check:
    try:
        publish.guard(git)
    except MementoError as refusal:
        return Check("operation", "refuse", refusal.message, refusal.hint)
    return Check("operation", "ok", "no git operation is in progress")


def _identity(git: Git) -> Check:
    try:
        author = settings.identities(git, settings.told(settings.ask(git)))[0]
    except MementoError as refusal:
        return Check("identity", "refuse", refusal.message, refusal.hint)
    return Check("identity", "ok", author.rpartition(">")[0] + ">")
