"""Talking to a remote: fetch one branch, push by compare-and-swap, never by force, never with a prompt."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NoReturn

from memento_git.errors import Moved, Refused
from memento_git.ledger.git import CannotWrite, Git
from memento_git.ledger.git_errors import complaints, ended, is_full
from memento_git.ledger.lock import RefLocked
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.model.objection import Objection

TIMEOUT: Final = 120.0
FETCHED: Final = "refs/worktree/memento/fetched"
FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
BY_PUSH: Final = "update by push"
QUIET: Final = {
    "GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never", "GIT_LITERAL_PATHSPECS": "0",
}  # fmt: skip
RACES: Final = (
    "fetch first", "non-fast-forward", "stale info", "cannot lock ref", "failed to update ref", "failed to lock",
    "incorrect old value", "reference already exists", "remote ref updated since checkout",
)  # fmt: skip
LOCKED_HERE: Final = re.compile(r"^error: cannot lock ref '(?P<ref>[^']+)': (?P<reason>.*File exists.*)$", re.MULTILINE)
THERE: Final = "[remote rejected]"  # by the remote itself, not by what it said of its refs before


class NoRemote(Refused):
    token = "no_remote"
    sentence = "this repository has no remote"
    hint_ = "git remote add origin URL"


class RemoteUnknown(Refused):
    """A name that is no remote's; addresses are not taken, for git knows forms of them that start programs."""

    token = "remote_unknown"
    sentence = "{given!r} is not a remote of this repository; there are: {known}"
    hint_ = "git remote add NAME URL makes one"


class NoUpstream(Refused):
    token = "no_upstream"
    sentence = "branch {branch} has no upstream"
    hint_ = "push it, and have that branch as its upstream: memento sync {remote!q} --set-upstream"


class NotOnBranch(Refused):
    token = "head_detached"
    sentence = "HEAD is detached: there is no branch to bring together with a remote"
    hint_ = "git switch BRANCH, or git switch -c NAME to keep these commits"


class BranchUnborn(Refused):
    token = "branch_unborn"
    sentence = "branch {branch} has no commit yet"
    hint_ = "git pull brings the remote's commits; memento init makes a ledger"


class BranchNameInvalid(Refused):
    token = "branch_invalid"
    sentence = "{given!r} cannot be the name of a branch"
    hint_ = "git branch --all lists those that there are"


class RemoteBranchMissing(Refused):
    token = "remote_branch_missing"
    sentence = "{remote} has no branch {branch}"
    hint_ = (
        "make it there: memento sync {remote!q} --branch {branch!q} --set-upstream; "
        "where it was renamed, follow it: memento sync {remote!q} --branch NAME --set-upstream"
    )


class RemoteUnreachable(Refused):
    token = "remote_unreachable"
    sentence = "{remote} cannot be reached: {reason}"
    hint_ = "try git fetch {remote!q}: Memento never asks for a password; nothing is lost, run the command again later"


class RemoteSilent(Refused):
    token = "remote_timeout"
    sentence = "{remote} did not answer within {seconds} s"
    hint_ = "see whether git fetch {remote!q} gets through, then run the command again"


class PushRejected(Refused):
    token = "push_rejected"
    sentence = "the push to {remote} was rejected: {reason}"
    hint_ = "nothing is lost here; remove the reason, or push another way (a pull request), then memento sync"


class RemoteRewritten(Moved):
    token = "remote_rewritten"
    sentence = "{branch} on {remote} was rewritten: it no longer has commits that came from there, up to {old}"
    hint_ = (
        "leave them out and keep your own: git rebase --onto {new} {old}; to bring them back all the same: "
        "git pull --no-rebase --no-edit {remote!q} {branch!q} && git push {remote!q} HEAD:{branch!q}"
    )


class Target(NamedTuple):
    """Where to: the remote's name, its branch, and the branch here."""

    remote: str
    branch: str
    local: str

    @property
    def where(self) -> dict[str, str]:
        return {"remote": self.remote, "branch": self.branch}

    @property
    def tracking(self) -> str:
        """Return the ref by which this clone knows the remote's branch."""
        return f"refs/remotes/{self.remote}/{self.branch}"


def target(git: Git, given: str = "", branch: str = "") -> Target:
    """Return what the current branch is brought together with: its upstream, or as given."""
    ref = git.answer("symbolic-ref", "--quiet", "HEAD")
    if not ref:
        raise NotOnBranch
    local = ref.removeprefix("refs/heads/")
    if git.head()[0] is None:
        raise BranchUnborn(branch=local)
    git.commit_of("HEAD")
    known = git.remotes()
    if not known:
        raise NoRemote
    if given and given not in known:
        raise RemoteUnknown(given=given, known=", ".join(known))
    bound = git.answer("config", "--get", f"branch.{local}.remote") or ""
    merges = (git.answer("config", "--get", f"branch.{local}.merge") or "").removeprefix("refs/heads/")
    remote = given or (bound if bound in known and merges else "")
    if not remote:
        raise NoUpstream(branch=local, remote=known[0])
    there = branch or (merges if remote == bound else "") or local
    if git.answer("check-ref-format", f"refs/heads/{there}") is None or there.startswith("-"):
        raise BranchNameInvalid(given=there)
    return Target(remote, there, local)


def fetch(git: Git, where: Target) -> str | None:
    """Bring the remote's branch into the objects here; return its commit, None where the remote lacks it.

    A server may hold a branch at an annotated tag: it stands for the tag's commit.
    """
    found = fetch_ref(git, where.remote, f"refs/heads/{where.branch}")
    return git.commit(found) if found else None


def seen(git: Git, where: Target) -> list[str]:
    """Return the commits that the remote's branch is known to have been at, as far back as git remembers.

    Where pushes go to another address, what was pushed says nothing of the one that is fetched from.
    """
    ref = where.tracking
    one_address = has_one_address(git, where.remote)
    log = git.lines("log", "-g", "--format=%H %gs", ref)
    moves = [line.partition(" ") for line in log]
    before = git.object_id(f"{ref}@{{{len(log)}}}" if log else ref)
    told = [commit for commit, _, how in moves if one_address or not how.startswith(BY_PUSH)]
    return list(dict.fromkeys([*told, *([before] if before and (log or one_address) else [])]))


def has_one_address(git: Git, remote: str) -> bool:
    """Tell whether a remote is fetched from where it is pushed to, as far as its addresses tell."""
    return git.answer("remote", "get-url", remote) == git.answer("remote", "get-url", "--push", "--all", remote)


def refuse_rewritten(git: Git, where: Target, known: Sequence[str], ours: str, theirs: str) -> None:
    """Refuse where the remote's branch lost commits that it had, and that are here: a merge or push revives them."""
    lost = git.merge_bases(ours, *known) if known else []
    if old := next((one for one in lost if not git.is_before(one, theirs)), ""):
        raise RemoteRewritten(old=old[:12], new=theirs[:12], **where.where)


def fetch_ref(git: Git, remote: str, ref: str) -> str | None:
    """Fetch one ref under a name of this work tree's own; return what it names, None where it is not there."""
    code, _, err = _talk(git, remote, *FETCH, remote, f"+{ref}:{FETCHED}")
    if code and "couldn't find remote ref" not in err:
        _refuse("fetch", remote, err, code)
    return None if code else git.object_id(FETCHED)


def fetch_all(git: Git, remote: str, folder: str, into: str) -> None:
    """Bring all refs below a folder of the remote here, below a folder of our own; those that are gone go here too."""
    known = git.remotes()
    if remote not in known:
        raise RemoteUnknown(given=remote, known=", ".join(known))
    code, _, err = _talk(git, remote, *FETCH, "--prune", remote, f"+{folder}/*:{into}/*")
    if code:
        _refuse("fetch", remote, err, code)


def push(git: Git, where: Target, commit: str) -> Objection:
    """Push a commit to the remote's branch, the user's pre-push hook included; return why it may have moved on."""
    return send(git, where.remote, f"{commit}:refs/heads/{where.branch}")


def bind(git: Git, where: Target) -> None:
    """Make the remote's branch the upstream of the one here, also where nothing here follows that branch."""
    wanted = {"remote": where.remote, "merge": f"refs/heads/{where.branch}"}
    for key, value in wanted.items():
        name = f"branch.{where.local}.{key}"
        if git.answer("config", "--get", name) != value:
            git.run("config", "--local", "--replace-all", name, value)


def send(git: Git, remote: str, refspec: str, *options: str) -> Objection:
    """Push one refspec; return nothing, or the refusal where somebody else may have been first; raise any other one."""
    code, out, err = _talk(git, remote, "push", "--porcelain", *options, remote, refspec)
    if not code:
        return ""
    refused = [line for line in out.splitlines() if line.startswith("!")]
    reason = "; ".join([*(line.rpartition("\t")[2] for line in refused), *complaints(err)[-6:]])
    if any(word in line for line in refused for word in RACES):
        return reason
    if not refused and code != 1:
        _refuse("push", remote, err, code)
    raise PushRejected(remote=remote, reason=reason)


def _refuse(command: str, remote: str, err: str, code: int) -> NoReturn:
    """Refuse what git could not do: for a lock or a full disk here, or else for the remote."""
    if held := LOCKED_HERE.search(err):
        raise RefLocked(ref=held["ref"], reason=held["reason"])
    reason = "; ".join(complaints(err)[-6:]) or ended(code)
    if is_full("\n".join(line for line in err.splitlines() if not line.startswith("remote:"))):
        raise CannotWrite(command=command, reason=reason)
    raise RemoteUnreachable(remote=remote, reason=reason)


def _talk(git: Git, remote: str, *arguments: str) -> tuple[int, str, str]:
    try:
        return git.talk(*arguments, extra={**QUIET, **_ssh(git)}, timeout=TIMEOUT)
    except TimeoutError:
        raise RemoteSilent(remote=remote, seconds=int(TIMEOUT)) from None


def _ssh(git: Git) -> Mapping[str, str]:
    """Have OpenSSH fail where it would ask; another program is the user's choice and is left as it is."""
    given = os.environ.get("GIT_SSH_COMMAND") or git.answer("config", "--get", "core.sshCommand") or ""
    if not given and "GIT_SSH" in os.environ:
        return {}
    command = given or "ssh"
    first = PurePath(command.split()[0]).name
    return {"GIT_SSH_COMMAND": f"{command} -oBatchMode=yes"} if first in ("ssh", "ssh.exe") else {}
