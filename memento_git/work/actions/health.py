"""What of git and of this machine could keep the ledger from being written, each with its remedy."""

from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import MementoError
from memento_git.ledger import (
    atomic_file,
    cache,
    checkouts,
    claims,
    cleanroom,
    git_operations,
    git_status,
    journal,
    layout,
    scratch,
    settings,
    userindex,
    worktree,
    writable_paths,
)
from memento_git.ledger.commits import is_cut_off
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git import Git, GitFailed
from memento_git.model.clock import seconds_of
from memento_git.model.enumeration import many, some
from memento_git.work.actions import hooks, recovering, stale_claims
from memento_git.work.dispatch.live import has_handovers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View

OF_GIT: Final = "see what git says of it: git status; git fsck"
OF_FILES: Final = "look at the file, its folder, its permissions and the space on its disk"
OF_BORROWED: Final = "bring the folder back, or say where it is now in .git/objects/info/alternates"
OF_INDEX: Final = (
    "make it again from HEAD, your files stay as they are: "
    'mv "$(git rev-parse --git-path index)" "$(git rev-parse --git-path index).broken"; git reset -q'
)


class Answer(NamedTuple):
    """One check: `status` is ok, warn or fail."""

    name: str
    status: str
    message: str
    fix: str = ""


def mended(ledger: Ledger) -> list[Answer]:
    """Mend what needs no judgement, and tell of it."""
    return tried("interrupted changes", _mend(ledger))


def machine(ledger: Ledger) -> list[Answer]:
    """Return what git, this clone and its work tree are like."""
    return [
        *tried("git", _git(ledger)), *tried("identity", _identity(ledger)),
        *tried("git directory", _git_directory(ledger.git)), *tried("half-written files", _half_written(ledger)),
        *tried("work tree", _work_tree(ledger)),
    ]  # fmt: skip


def uncommitted(ledger: Ledger) -> list[Answer]:
    """Return what of the ledger is not committed."""
    return tried("uncommitted", _uncommitted(ledger))


def claimed(ledger: Ledger, view: View, remote: str = "") -> list[Answer]:
    """Return what is left of claims; only with a remote is one asked for those that it holds."""
    return tried("claims", _claims(ledger, view)) + tried("remote claims", _far_claims(ledger, view, remote))


def tried(name: str, answers: Iterator[Answer]) -> list[Answer]:
    """Return the answers of one check; where it comes to no end, that is the last of them, and the others go on."""
    found: list[Answer] = []
    try:
        found += answers
    except (MementoError, OSError) as error:
        found.append(failed(name, error))
    return found


def failed(name: str, error: MementoError | OSError) -> Answer:
    """Return what stopped a check, with a remedy that is not to ask doctor again."""
    if isinstance(error, MementoError):
        return Answer(name, "fail", error.message, OF_GIT if error.token == GitFailed.token else error.hint)
    return Answer(name, "fail", f"{error.filename or 'a file'}: {error.strerror or error}", OF_FILES)


def _mend(ledger: Ledger) -> Iterator[Answer]:
    if journal.pending(ledger.git) or (ledger.git.git_dir / userindex.LOCK).exists():
        mended = worktree.mend(ledger.git)
        for sentence in mended.sentences():
            yield Answer(
                "interrupted changes", "fail" if mended.waiting in sentence and mended.waiting else "ok", sentence
            )
    if folders := [str(path) for path in scratch.clear()]:
        told = f"removed {many(len(folders), 'folder')} that a kill left: {some(folders, 3)}"
        yield Answer("folders aside", "ok", told)
    for folder in cleanroom.clear(ledger.git):
        yield Answer("work trees", "ok", f"removed {folder}, in which a command was run again")
    if claims.listed(ledger.git):
        for (name, claim), why in stale_claims.left_here(ledger, ledger.view()):
            claims.release(ledger.git, name, claim)
            yield Answer("claims", "ok", f"removed the claim of {claim.by or 'nobody'} on {name}: {why}")
    yield from _cleared(ledger)
    if has_handovers(ledger.git):
        for told in recovering.mend(ledger, ledger.view()):
            yield Answer("work trees", "ok", told)


def _cleared(ledger: Ledger) -> Iterator[Answer]:
    """Remove files of ours that nobody writes or reads any more, and say how many."""
    older = cache.of_others(ledger.git, seconds_of(ledger.now()))
    for name, files, told in (
        ("half-written files", _halves(ledger), "a kill left half written"),
        ("cache", older, "another version of Memento kept, and renews no more"),
    ):
        for path in files:
            path.unlink(missing_ok=True)
        if files:
            yield Answer(name, "ok", f"removed {many(len(files), 'file')} that {told}")


def _half_written(ledger: Ledger) -> Iterator[Answer]:
    if halves := _halves(ledger):
        told = f"{many(len(halves), 'file')} in the git directory that a kill left half written, as {halves[0]}"
        yield Answer("half-written files", "warn", told, "memento doctor --fix")


def _halves(ledger: Ledger) -> list[Path]:
    return atomic_file.left(ledger.git.common_dir / "memento", seconds_of(ledger.now()), but=checkouts.MARK)


def _git(ledger: Ledger) -> Iterator[Answer]:
    git = ledger.git
    yield Answer(
        "git", "ok", f"{(git.answer('version') or '').removeprefix('git version ')}, {git.object_format} objects"
    )
    if git.top is None:
        yield Answer("repository", "warn", "bare: the ledger can be read, not written", "write in a clone and push")
    else:
        yield Answer("repository", "ok", "has a work tree")
    if is_cut_off(git):
        yield Answer("history", "ok", "shallow clone: state needs no history, log --commits shows less")
    yield from _borrowed(git.common_dir / "objects")
    if idle := hooks.passed_over(git):
        yield Answer(
            "hooks", "warn", f"git does not run {' and '.join(idle)} of .git/hooks: core.hooksPath leads elsewhere",
            "memento hook install",
        )  # fmt: skip
    if git.answer("rev-parse", "--show-superproject-working-tree"):
        message = "this is a submodule: each ledger commit moves the link that its superproject records"
        yield Answer("submodule", "warn", message, "commit the new link in the superproject when you mean to")


def _borrowed(objects: Path) -> Iterator[Answer]:
    """Tell of folders that git has objects from and that are gone; of the objects it says only that it lacks them."""
    with contextlib.suppress(OSError):
        for line in os.fsdecode((objects / "info" / "alternates").read_bytes()).splitlines():
            if line and line[0] not in '#"' and not (objects / line).is_dir():
                yield Answer("objects", "fail", f"this clone borrows objects from {line}, which is gone", OF_BORROWED)


def _identity(ledger: Ledger) -> Iterator[Answer]:
    try:
        settings.identities(ledger.git, ledger.settings)
    except MementoError as error:
        yield Answer("identity", "fail", error.message, error.hint)
    else:
        yield Answer("identity", "ok", ledger.actor)


def _work_tree(ledger: Ledger) -> Iterator[Answer]:
    git = ledger.git
    if git.top is None:
        return
    under_way = git_operations.in_progress(git)
    for busy in under_way[:1]:
        told = f"{busy} is in progress: writing is refused meanwhile"
        yield Answer("operation", "warn", told, git_operations.ending(git, busy))
    if (left := git.git_dir / userindex.LOCK).exists():
        yield _locked("index", left, userindex.LOCK)
    if journal.pending(git):
        yield Answer(
            "interrupted changes", "fail", "a change was not finished in the work tree", "memento doctor --fix"
        )
    for folder in cleanroom.left(git):
        told = f"{folder} was left by a process that was ended while it ran a command again"
        yield Answer("work trees", "warn", told, "the next rerun removes it, or this does: memento doctor --fix")
    yield from _folder(git, git.top, under_way)
    try:
        git.staged([layout.CONFIG])
    except GitFailed as failure:
        yield Answer("index", "fail", f"git cannot read its index: {failure.facts['reason']}", OF_INDEX)
    else:
        git.run("status", "--porcelain", "--untracked-files=no", "--no-renames")  # fails as a filter does


def _git_directory(git: Git) -> Iterator[Answer]:
    """Tell of what would refuse every change: a folder that cannot be written, a lock that was left behind."""
    ours = [git.git_dir / "memento", *([git.top / layout.FOLDER] if git.top is not None else [])]
    below = (Path(folder) for top in ours for folder, _, _ in os.walk(top))
    folders = (git.git_dir, git.common_dir / "objects", git.common_dir / "refs", *below)
    closed = [folder for folder in folders if folder.is_dir() and not os.access(folder, os.W_OK)]
    if closed:
        more = f", and {many(len(closed) - 1, 'more folder')}," if closed[1:] else ""
        yield Answer(
            "permissions", "fail", f"{closed[0]}{more} cannot be written: changes are refused",
            "mend permissions or the file system, or work in a clone of your own",
        )  # fmt: skip
    shared = (git.head()[1], "packed-refs", "reftable/tables.list")
    for folder, name in ((git.git_dir, "HEAD"), *((git.common_dir, name) for name in shared)):
        if (left := folder / f"{name}.lock").exists():
            yield _locked("branch", left, f"{name}.lock")


def _locked(what: str, left: Path, name: str) -> Answer:
    """Tell of a lock that refuses changes; whether a git of another machine holds it, nobody here knows."""
    message = f"{name} exists: another git is running, or one crashed"
    return Answer(what, "warn", message, f"where no git runs, remove it: rm {shlex.quote(str(left))}")


def _folder(git: Git, top: Path, under_way: list[str]) -> Iterator[Answer]:
    if (top / layout.FOLDER).is_symlink():
        yield Answer("folder", "fail", ".memento is a symbolic link", writable_paths.replacing(git))
    if told := _ignored(git):
        yield Answer("ignored", "warn", "git ignores .memento: hand edits there go unnoticed", f"take it out: {told}")
    if git.answer("config", "--bool", "core.sparseCheckout") == "true":
        yield Answer("sparse checkout", "ok", "the ledger is read from commits, so absent files are not missing")
    if not under_way and git.answer("symbolic-ref", "--quiet", "HEAD") is None:
        yield Answer(
            "branch", "warn", "HEAD is detached: ledger commits are lost on the next checkout", "git switch -c NAME"
        )


def _ignored(git: Git) -> str:
    """Return the file, line and pattern that make git ignore the ledger, or nothing."""
    try:
        told = git.run("check-ignore", "-v", "--no-index", layout.CONFIG, extra=PATTERNS)
    except GitFailed:
        return ""
    return os.fsdecode(told).partition("\t")[0]


def _uncommitted(ledger: Ledger) -> Iterator[Answer]:
    changes = ledger.uncommitted
    paths = [change.path for change in changes]
    if ledger.watch.unseen:
        yield Answer("uncommitted", "fail", ledger.watch.unseen, OF_GIT)
    elif paths:
        how = git_status.PUT_BACK if all(one.is_unstaged for one in changes) else "commit them, or put them back"
        yield Answer("uncommitted", "warn", f"not counted: {some(paths, 5)}", how)
    else:
        yield Answer("uncommitted", "ok", "no ledger file differs from HEAD")


def _claims(ledger: Ledger, view: View) -> Iterator[Answer]:
    if claims.listed(ledger.git):
        for (name, claim), why in stale_claims.left_here(ledger, view):
            message = f"{claim.by} left a claim on {name}: {why}"
            message = message if claim.by else f"a claim on {name} cannot be read, so nobody holds it"
            yield Answer("claims", "warn", message, "memento doctor --fix")
    if has_handovers(ledger.git):
        for told, fix in recovering.left_behind(ledger, view):
            yield Answer("work trees", "warn", told, fix)


def _far_claims(ledger: Ledger, view: View, remote: str) -> Iterator[Answer]:
    """Tell of claims on remotes that hold nobody's work any more."""
    if claims.may_be_on_remotes(ledger.git):
        for told, fix in stale_claims.held_for_nothing(ledger, view):
            yield Answer("remote claims", "warn", told, fix)
    if remote:
        for told, fix in stale_claims.left_on(ledger, view, remote):
            yield Answer("remote claims", "warn", told, fix)
