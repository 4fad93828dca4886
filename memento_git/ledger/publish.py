"""One ledger commit, all or nothing: build it aside, move the branch if nobody else did, then show it."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Moved, Refused
from memento_git.ledger import worktree
from memento_git.ledger.git import GitFailed
from memento_git.ledger.worktree import Path3, reached

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.ledger.git import Git

SCRATCH: Final = "refs/memento/scratch"
SIGNING_PATIENCE: Final = 60
INDEX_PATIENCE: Final = 10.0
TRUE: Final = ("true", "yes", "on", "1", "")
UNDER_WAY: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
    "sequencer": "a sequence of picks",
}


class LedgerMoved(Moved):
    """The branch got another commit while ours was being made."""

    token = "ledger_moved"
    sentence = "{ref} moved on while the change was being made"
    hint_ = "run the command again"


class OperationUnderWay(Moved):
    """git is in the middle of something that a commit would disturb."""

    token = "operation_in_progress"
    sentence = "{what} is in progress in this work tree"
    hint_ = "finish or abort it first; reading works meanwhile"


class InsideHook(Moved):
    """A hook of git called us while git itself is writing."""

    token = "inside_hook"
    sentence = "the ledger cannot be written from within a git hook or an editor that git opened"
    hint_ = "run the command after git has finished"


class IndexLocked(Moved):
    """Another git process holds the index."""

    token = "index_locked"
    sentence = "another git process holds {path}"
    hint_ = "finish that git command; if none is running, a crash left the file: remove it"


class BareRepository(Refused):
    """A bare repository has no checkout to keep in step."""

    token = "bare_repository"
    sentence = "this repository is bare: the ledger can be read here, not written"
    hint_ = "write in a clone and push"


class IdentityMissing(Refused):
    """git does not know who commits."""

    token = "identity_missing"
    sentence = "git does not know who you are: {reason}"
    hint_ = "git config user.name NAME && git config user.email ADDRESS"


class SigningFailed(Refused):
    """The repository asks for signed commits and the signature could not be made."""

    token = "signing_failed"
    sentence = "the ledger commit could not be signed: {reason}"
    hint_ = "unlock the key, or see git config commit.gpgSign; nothing was changed"


class NotWritable(Refused):
    """The file system does not take what must be written."""

    token = "not_writable"
    sentence = "cannot write: {reason}"
    hint_ = "free some space or mend the permissions; nothing was changed"


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
    for name, what in UNDER_WAY.items():
        if (git.git_dir / name).exists():
            raise OperationUnderWay(what=what)


def await_index(git: Git) -> None:
    """Wait while another git holds the index, for moving the branch now would make its commit fail."""
    lock = git.git_dir / "index.lock"
    deadline = time.monotonic() + INDEX_PATIENCE
    while lock.exists():
        if time.monotonic() > deadline:
            raise IndexLocked(path=lock)
        time.sleep(worktree.PAUSE)


def identities(git: Git, settings: Mapping[str, str]) -> tuple[str, str]:
    """Return author and committer as git would write them now; refuse where git would."""
    names = [settings.get(f"GIT_{role}_IDENT", "") for role in ("AUTHOR", "COMMITTER")]
    known = "user.email" in settings or {"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} <= set(os.environ)
    if not known or not all(names):
        for role in ("AUTHOR", "COMMITTER"):
            try:
                git.run("var", f"GIT_{role}_IDENT")
            except GitFailed as failure:
                raise IdentityMissing(reason=failure.facts["reason"]) from None
    return _dated(names[0], "GIT_AUTHOR_DATE"), _dated(names[1], "GIT_COMMITTER_DATE")


def _dated(identity: str, variable: str) -> str:
    """Return an identity with the time of this moment, for settings are read once and commits are many."""
    if variable in os.environ:
        return identity
    who, _, when = identity.rpartition("> ")
    return f"{who}> {int(time.time())} {when.rpartition(' ')[2]}"


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
    parts.append(f"\nget-mark :1\nreset {SCRATCH}\nfrom {git.zero}\n\ndone\n".encode())
    commit = git.run("fast-import", "--quiet", "--done", "--date-format=raw", data=b"".join(parts)).decode().strip()
    if settings.get("commit.gpgsign", "false").lower() in TRUE:
        return _signed(git, commit, base, message)
    return commit


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _signed(git: Git, commit: str, base: Base, message: str) -> str:
    """Make the same commit again with a signature, without ever waiting for a prompt."""
    parents = ("-p", base.commit) if base.commit else ()
    try:
        return git.run(
            "commit-tree", "-S", f"{commit}^{{tree}}", *parents, data=message.encode(),
            extra={"GPG_TTY": "", "SSH_ASKPASS_REQUIRE": "never", "PINENTRY_USER_DATA": "USE_CURSES=0"},
            timeout=SIGNING_PATIENCE,
        ).decode().strip()  # fmt: skip
    except GitFailed as failure:
        raise SigningFailed(reason=failure.facts["reason"]) from None
    except subprocess.TimeoutExpired:
        raise SigningFailed(reason=f"no answer within {SIGNING_PATIENCE} s") from None


def publish(
    git: Git, base: Base, message: str, changes: Mapping[str, bytes | None], olds: Mapping[str, str | None],
    settings: Mapping[str, str],
) -> str:  # fmt: skip
    """Make the commit, move the branch, bring work tree and index along; return the commit's id."""
    paths = [Path3(path, olds.get(path), None if data is None else git.blob_id(data)) for path, data in changes.items()]
    for change in paths:
        if git.top is not None:
            worktree.refuse_links(git.top, change.path)
    try:
        commit = build(git, base, message, changes, settings)
        reached("commit_built")
        journal = worktree.write_journal(git, commit, paths)
    except OSError as error:
        raise NotWritable(reason=error.strerror or error) from None
    reached("journal_written")
    try:
        await_index(git)
        move(git, base, commit, message)
    except BaseException:
        if git.answer("rev-parse", "--verify", "--quiet", base.ref) != commit:
            journal.unlink(missing_ok=True)
        raise
    reached("ref_moved")
    if _still_here(git, base) and worktree.finish(git, paths):
        journal.unlink(missing_ok=True)
    return commit


def _still_here(git: Git, base: Base) -> bool:
    return base.detached or git.answer("symbolic-ref", "--quiet", "HEAD") == base.ref


def move(git: Git, base: Base, commit: str, message: str) -> None:
    """Move the branch by compare-and-swap."""
    subject = message.partition("\n")[0]
    try:
        git.run("update-ref", "-m", subject, "--no-deref", base.ref, commit, base.commit or git.zero)
    except GitFailed as failure:
        now = git.answer("rev-parse", "--verify", "--quiet", base.ref)
        if now != base.commit or "cannot lock ref" in failure.message:
            raise LedgerMoved(ref=base.ref) from None
        raise NotWritable(reason=failure.facts["reason"]) from None
