"""Bringing the branch forward to a commit that is made already: ours by its journal, with code as git does it."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger import git_status, merging, publish, tree_diff, userindex
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git import CannotWrite, Git, GitFailed
from memento_git.ledger.git_errors import complaints, ended, is_full
from memento_git.ledger.tree_listing import FILE_MODES
from memento_git.model.enumeration import some

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger

TIMEOUT: Final = 600.0
MERGE: Final = "merge --ff-only"
SHOWN: Final = 5


class ForwardRefused(Refused):
    token = "fast_forward_refused"
    sentence = "git does not bring the work tree forward: {reason}"
    hint_ = "commit those files or put them aside (git stash), then run the command again; nothing was changed"


class ForwardHalfDone(Refused):
    """Files hold what comes in, and neither index nor branch say so: git was stopped in between."""

    token = "fast_forward_half_done"
    sentence = (
        "git does not bring the work tree forward: {reason}; what comes in is there already, or a part of it: {files}"
    )
    hint_ = "an earlier try that was broken off left that; put those files back, then run the command again: {command}"


class ForwardHangs(Refused):
    token = "fast_forward_hangs"
    sentence = (
        "git merge --ff-only was ended after {seconds} s: a hook or a filter of this clone may wait for something"
    )
    hint_ = "mend that, put away what it left behind (git status), then: git merge --ff-only {commit}"


def bring_forward(ledger: Ledger, base: publish.Base, commit: str, subject: str) -> None:
    """Move the branch from the base to a descendant of it, the user's staged and unstaged work left as it is."""
    found = merging.incoming(ledger.git, base.commit or "", commit)
    if found.plain:
        _adopt(ledger, base, commit, subject, found)
    else:
        _as_git_does(ledger, base, commit)


def _adopt(ledger: Ledger, base: publish.Base, commit: str, subject: str, found: merging.Incoming) -> None:
    git = ledger.git
    with ledger.alone() as here:
        with git_status.unedited(git, {change.path for change in found.ledger}):
            if here != base:
                raise publish.LedgerMoved(ref=base.ref)
        with publish.holding_index(git) as index:
            told = publish.land(git, publish.adopt(git, base, commit, subject, found.ledger), index)
    if told:
        ledger.warn(told)


def _as_git_does(ledger: Ledger, base: publish.Base, commit: str) -> None:
    """Let git fast-forward where code comes in, hooks included; our lock is not held, for a hook may call us."""
    git = ledger.git
    ledger.refuse_while_busy()
    ledger.watch.wait()
    try:
        code, _, err = git.talk(
            "merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--quiet", commit,
            extra=PATTERNS, timeout=TIMEOUT,
        )  # fmt: skip
    except TimeoutError:
        if git.head()[0] != commit:
            raise ForwardHangs(seconds=round(TIMEOUT), commit=commit) from None
        ledger.warn(f"the branch is brought forward, but its post-merge hook was ended after {TIMEOUT:.0f} s")
        return
    if not code:
        return
    if publish.Base(*git.head()) != base:
        raise publish.LedgerMoved(ref=base.ref)
    reason = " ".join(complaints(err)[:6]) or ended(code)
    if half := _half_done(git, base.commit or "", commit):
        back = shlex.join(["git", "checkout", "--", *(f":(top,literal){path}" for path in half)])
        raise ForwardHalfDone(reason=reason, files=some(half, SHOWN), command=back)
    if userindex.LOCK in err and (left := git.git_dir / userindex.LOCK).exists():
        raise userindex.IndexLocked(path=left)
    if is_full(err):
        raise CannotWrite(command=MERGE, reason=reason)
    if code < 0:
        raise GitFailed(command=MERGE, reason=reason)
    raise ForwardRefused(reason=reason)


def _half_done(git: Git, old: str, new: str) -> list[str]:
    """Return files of the work tree that hold what comes in, if one is whole, while the index has them as before."""
    edited = {*os.fsdecode(git.run("diff-files", "--name-only", "--diff-filter=M", "-z")).split("\0")}
    plain = {*FILE_MODES}
    top = git.top or git.cwd
    changed = [
        one for one in tree_diff.raw(git, old, new)
        if one.path in edited and {one.old_mode, one.mode} <= plain and (top / one.path).is_file()
    ]  # fmt: skip
    pairs = {
        one.path: ((top / one.path).read_bytes(), blob or b"")
        for one, blob in zip(changed, git.objects([one.new for one in changed]), strict=True)
    }
    is_there = any(here == there for here, there in pairs.values())
    return [path for path, (here, there) in pairs.items() if is_there and there.startswith(here)]
