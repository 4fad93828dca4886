"""One ledger commit, all or nothing: build it aside, move the branch if nobody else did, then show it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from memento_git.errors import MementoError, Moved, Refused, reason_of
from memento_git.ledger import journal, layout, userindex, worktree, writable_paths
from memento_git.ledger.git import BareRepository, Git, GitFailed
from memento_git.ledger.git_errors import was_killed
from memento_git.ledger.git_operations import ending, in_progress
from memento_git.ledger.journal import Path3
from memento_git.ledger.lock import LOCKED, NotWritable, refuse_ref, writing
from memento_git.ledger.settings import identities
from memento_git.ledger.userindex import HeldIndex
from memento_git.model.tuples import NamedTuple

FEW: Final = 10
SCRATCH: Final = "refs/memento/scratch"
WHOLE: Final = b"END OF CRASH REPORT"
SIGNING_TIMEOUT: Final = 60
INDEX_TIMEOUT: Final = 10.0
REF_TIMEOUT: Final = 3.0
REF_PAUSE: Final = 0.05
TRUE: Final = ("true", "yes", "on", "1", "")


class LedgerMoved(Moved):
    token = "ledger_moved"
    sentence = "{ref} moved on while the change was being made"
    hint_ = "run the command again"


class CommitTaken(LedgerMoved):
    sentence = "what the change had written was removed before {ref} named it, as git gc --prune=now does"
    hint_ = "run the command again while nothing prunes here"


class OperationUnderWay(Moved):
    token = "operation_in_progress"
    sentence = "{what} is in progress in this worktree"
    hint_ = "{how}; reading works meanwhile"


class InsideHook(Moved):
    token = "inside_hook"
    sentence = "the ledger cannot be written from within a git hook or an editor that git opened"
    hint_ = "run the command after git has finished"


class SigningFailed(Refused):
    token = "signing_failed"
    sentence = "the ledger commit could not be signed: {reason}"
    hint_ = "unlock the key, or see git config commit.gpgSign; nothing was changed"


class Base(NamedTuple):
    """Where a change starts: the commit (None: unborn), the ref to move, and how to name it to people."""

    commit: str | None
    ref: str

    @property
    def detached(self) -> bool:
        return self.ref == "HEAD"


def guard(git: Git) -> None:
    """Refuse to write where git is busy, before anything is written."""
    if git.top is None:
        raise BareRepository
    if "GIT_INDEX_FILE" in os.environ or "GIT_QUARANTINE_PATH" in os.environ:
        raise InsideHook
    _refuse_under_way(git)
    writable_paths.refuse_links(git, layout.CONFIG)


def _refuse_under_way(git: Git) -> None:
    for what in in_progress(git):
        raise OperationUnderWay(what=what, how=ending(git, what))


def build(git: Git, base: Base, message: str, changes: Mapping[str, bytes | None], settings: Mapping[str, str]) -> str:
    """Return the id of a commit with the changes on top of the base; no ref points to it yet."""
    author, committer = identities(git, settings)
    text = message.encode()
    parts = [
        f"commit {SCRATCH}\nmark :1\nauthor {author}\ncommitter {committer}\ndata {len(text)}\n".encode(),
        text,
        f"\nfrom {base.commit}\n".encode() if base.commit else b"\n",
    ]
    for path, data in changes.items():
        name = _quoted(path)
        if data is None:
            parts.append(f"D {name}\n".encode())
        else:
            parts += [f"M 100644 inline {name}\ndata {len(data)}\n".encode(), data, b"\n"]
    parts.append(f"\nget-mark :1\nreset {SCRATCH}\n\ndone\n".encode())
    with writing():
        return _import(git, b"".join(parts), loose=len(changes) <= FEW)


def signed(git: Git, base: Base, commit: str, message: str, settings: Mapping[str, str]) -> str:
    """Return the id of the same commit with a signature, where the repository asks for one."""
    if not signs(settings):
        return commit
    return _signed(git, f"{commit}^{{tree}}", ["-p", base.commit] if base.commit else [], message)


def commit_tree(git: Git, tree: str, parents: tuple[str, ...], message: str, settings: Mapping[str, str]) -> str:
    """Return the id of a commit of a tree that is there already, signed where that is asked for; no ref names it."""
    identities(git, settings)
    named = [word for parent in parents for word in ("-p", parent)]
    if signs(settings):
        return _signed(git, tree, named, message)
    return git.run("commit-tree", tree, *named, data=message.encode()).decode().strip()


def signs(settings: Mapping[str, str]) -> bool:
    """Tell whether the repository asks for signed commits."""
    return settings.get("commit.gpgsign", "false").lower() in TRUE


def _import(git: Git, stream: bytes, *, loose: bool) -> str:
    """Run fast-import, and leave none of the crash reports that it writes when it or its caller dies.

    A small pack is unpacked at once into loose objects, so only a large one is worth being forced to the disk.
    """
    durable = ("-c", "core.fsync=-pack,-pack-metadata", "-c", "fastimport.unpackLimit=100") if loose else ()
    try:
        done = git.run(*durable, "fast-import", "--quiet", "--done", "--date-format=raw", data=stream)
        return done.decode().strip()
    except GitFailed as failure:
        if was_killed(failure.facts["reason"]):
            raise
        raise NotWritable(reason=failure.facts["reason"]) from None
    finally:
        for report in git.git_dir.glob("fast_import_crash_*"):
            text = report.read_bytes()
            if SCRATCH.encode() in text or WHOLE not in text:  # of a report that was cut short nobody learns anything
                report.unlink(missing_ok=True)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _signed(git: Git, tree: str, named: list[str], message: str) -> str:
    """Make a commit with a signature, without ever waiting for a prompt; its parents are named as git takes them."""
    try:
        return git.run_apart(
            "commit-tree", "-S", tree, *named, data=message.encode(),
            extra={"GPG_TTY": "", "SSH_ASKPASS_REQUIRE": "never", "PINENTRY_USER_DATA": "USE_CURSES=0"},
            timeout=SIGNING_TIMEOUT,
        ).decode().strip()  # fmt: skip
    except GitFailed as failure:
        raise SigningFailed(reason=failure.facts["reason"]) from None
    except subprocess.TimeoutExpired:
        raise SigningFailed(reason=f"no answer within {SIGNING_TIMEOUT} s") from None


class PreparedCommit(NamedTuple):
    """A commit that no ref names yet, and the journal of what it will change in the work tree."""

    base: Base
    commit: str
    subject: str
    paths: list[Path3]
    journal: Path


def adopt(git: Git, base: Base, commit: str, subject: str, paths: list[Path3]) -> PreparedCommit:
    """Write down what a commit that is made already, on top of the base, will change in the work tree."""
    writable_paths.refuse_unwritable(git, (change.path for change in paths))
    with writing():
        return PreparedCommit(base, commit, subject, paths, journal.write(git, commit, paths))


@contextmanager
def holding_index(git: Git) -> Iterator[HeldIndex]:
    """Hold the user's index, as whoever lands a commit must; refuse what git began while the change was made.

    A rebase that is aborted would take the branch back to before the change.
    """
    with userindex.held(git, INDEX_TIMEOUT) as index:
        _refuse_under_way(git)
        worktree.reached("index_held")
        yield index


def land(git: Git, prepared: PreparedCommit, index: HeldIndex) -> str:
    """Move the branch, then show the commit; return what people should know of it."""
    try:
        here = _is_here(git, prepared.base)
        _move(git, prepared)
        worktree.reached("ref_moved")
        return _show(git, prepared, index) if here else _elsewhere(prepared)
    except Exception:  # after an interrupt the git that moves the branch may be at work yet: the next command looks
        if not has_landed(git, prepared.base, prepared.commit):
            prepared.journal.unlink(missing_ok=True)
        raise


def _is_here(git: Git, base: Base) -> bool:
    """Tell whether the work tree is still at the branch; a HEAD that is detached no more must not be moved."""
    here = git.is_on(base.ref)
    if base.detached and not here:
        raise LedgerMoved(ref=base.ref)
    return here


def has_landed(git: Git, base: Base, commit: str) -> bool:
    """Tell whether the ref names the commit."""
    return git.is_before(commit, base.ref)


def _show(git: Git, prepared: PreparedCommit, index: HeldIndex) -> str:
    """Bring work tree and index along; what fails here undoes nothing, for the commit is there."""
    try:
        worktree.finish(git, prepared.paths, index)
        if not git.is_on(prepared.base.ref):
            worktree.take_back(git, prepared.paths)
            return _elsewhere(prepared)
        prepared.journal.unlink(missing_ok=True)
    except (OSError, MementoError) as error:
        return f"the change is committed; work tree or index could not follow yet: {reason_of(error)}"
    worktree.reached("done")
    return ""


def _elsewhere(prepared: PreparedCommit) -> str:
    prepared.journal.unlink(missing_ok=True)
    return f"HEAD went to another branch meanwhile: the change is committed to {prepared.base.ref}"


def _move(git: Git, prepared: PreparedCommit) -> None:
    """Move the branch by compare-and-swap."""
    ref, old = prepared.base.ref, prepared.base.commit
    deadline = time.monotonic() + REF_TIMEOUT
    while True:
        try:
            git.run_apart("update-ref", "-m", prepared.subject, "--no-deref", ref, prepared.commit, old or git.zero)
        except GitFailed as failure:
            now = git.object_id(ref)
            reason = str(failure.facts["reason"])
            if now == prepared.commit:
                return
            if now != old:
                raise LedgerMoved(ref=ref) from None
            if git.objects([prepared.commit]) == [None]:
                raise CommitTaken(ref=ref) from None
            if time.monotonic() > deadline or not any(words in reason for words in LOCKED):
                refuse_ref(ref, failure)
            time.sleep(REF_PAUSE)
        else:
            return
