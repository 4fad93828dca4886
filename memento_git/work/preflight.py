"""Preflight: what of the work tree speaks against beginning, as policy weighs it."""

from __future__ import annotations

import shutil
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import MementoError, Refused
from memento_git.ledger import layout, publish

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from memento_git.ledger.git import Change, Git
    from memento_git.ledger.store import Transaction
    from memento_git.model.policy import Policy

ACTS: Final = ("start", "dispatch", "run")
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


class Seen(NamedTuple):
    """What one `git status` of the whole work tree says; untracked files only where they were asked for."""

    branch: str | None
    changes: Sequence[Change]
    untracked: bool


REFUSALS: Final[dict[str, type[Refused]]] = {
    "dirty": DirtyWorktree,
    "untracked": UntrackedFiles,
    "detached": DetachedHead,
    "protected": ProtectedBranch,
    "disk": DiskSpace,
}


def examine(git: Git, policy: Policy, *, act: str, insist: Collection[str] = ()) -> list[Check]:
    """Look at all of it, also at what policy ignores: that is told, and is ok. What is insisted on refuses."""
    asked = _weighed(policy, insist)
    seen = _look(git, untracked=True)
    return [_operation(git), _identity(git), *_tree(seen, asked, act), *_disk(git, asked)]


def refuse_unfit(tx: Transaction, policy: Policy, *, act: str, insist: Collection[str] = ()) -> list[Check]:
    """Look at what policy does not ignore; raise the first refusal, note the warnings, return what is not ok.

    A merge in progress and a missing identity refuse every transaction already. A detached HEAD that only warns is
    told by the transaction itself.
    """
    asked = _weighed(policy, insist)
    checks: list[Check] = _disk(tx.ledger.git, asked)
    if any(asked[name] != "ignore" for name in ("dirty", "untracked", "detached", "protected")):
        if tx.seen is None or (asked["untracked"] != "ignore" and not tx.seen.untracked):
            tx.seen = _look(tx.ledger.git, untracked=asked["untracked"] != "ignore")
        checks = [*_tree(tx.seen, asked, act), *checks]
    for check in checks:
        if check.level == "refuse":
            raise REFUSALS[check.name](message=check.message)
    told = [check for check in checks if check.level == "warn" and check.name != "detached"]
    tx.ledger.warnings += [check.message for check in told if check.message not in tx.ledger.warnings]
    return told


def _weighed(policy: Policy, insist: Collection[str]) -> dict[str, Any]:
    return {**policy.preflight, **dict.fromkeys(insist, "refuse")}


def _look(git: Git, *, untracked: bool) -> Seen:
    """Ask git once about the whole work tree; what lies below .memento is the ledger's own affair."""
    _, branch, changes = git.status_of_all(untracked=untracked)
    return Seen(branch, changes, untracked)


def _tree(seen: Seen, asked: Mapping[str, Any], act: str) -> list[Check]:
    others = [one for one in seen.changes if not one.path.startswith(f"{layout.FOLDER}/")]
    dirty = [one.path for one in others if one.letters != "??"]
    new = [one.path for one in others if one.letters == "??"]
    doing = {"start": "starting a run", "dispatch": "handing out", "run": "running an executor"}[act]
    checks = [
        _check("dirty", asked["dirty"], dirty, f"before {doing}: changes that are not committed", "no changes"),
        _check("untracked", asked["untracked"], new, f"before {doing}: files that git does not track", "no files"),
        _on_branch(seen.branch, asked, doing),
    ]
    return [*checks, _free_branch(seen.branch, asked, doing)]


def _check(name: str, level: str, paths: Sequence[str], found: str, none: str) -> Check:
    if not paths:
        return Check(name, "ok", none)
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    message = f"{found}: {', '.join(paths[:SHOWN])}{more}"
    return _weigh(name, level, message)


def _weigh(name: str, level: str, message: str) -> Check:
    fix = "" if level == "ignore" else REFUSALS[name].hint_
    return Check(name, "ok" if level == "ignore" else level, message + (" (ignored by policy)" * (not fix)), fix)


def _on_branch(branch: str | None, asked: Mapping[str, Any], doing: str) -> Check:
    if branch is not None:
        return Check("detached", "ok", f"on branch {branch}")
    return _weigh("detached", asked["detached"], f"before {doing}: HEAD is detached, on no branch")


def _free_branch(branch: str | None, asked: Mapping[str, Any], doing: str) -> Check:
    pattern = next((one for one in asked["branches"] if branch is not None and fnmatchcase(branch, one)), None)
    if pattern is None:
        return Check("protected", "ok", "not on a protected branch")
    return _weigh("protected", asked["protected"], f"before {doing}: {branch} is a protected branch ({pattern})")


def _disk(git: Git, asked: Mapping[str, Any]) -> list[Check]:
    free, least = shutil.disk_usage(git.git_dir).free, asked["disk"]
    if free < least:
        return [Check("disk", "refuse", f"{free} bytes are free, policy asks for {least}", DiskSpace.hint_)]
    return [Check("disk", "ok", f"{free} bytes are free")]


def _operation(git: Git) -> Check:
    try:
        publish.guard(git)
    except MementoError as refusal:
        return Check("operation", "refuse", refusal.message, refusal.hint)
    return Check("operation", "ok", "git is in the middle of nothing")


def _identity(git: Git) -> Check:
    try:
        author = publish.identities(git, git.settings())[0]
    except MementoError as refusal:
        return Check("identity", "refuse", refusal.message, refusal.hint)
    return Check("identity", "ok", author.rpartition(">")[0] + ">")
