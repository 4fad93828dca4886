"""Why a ledger that is there cannot be read: its policy is gone, its folder is, or git does not give out objects."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Final, NoReturn

from memento_git.errors import Broken
from memento_git.ledger import commits, layout, policyfile
from memento_git.ledger.git import Git, GitFailed, ObjectsAway
from memento_git.ledger.git_operations import ending, in_progress
from memento_git.ledger.names import NoSuchRevision
from memento_git.ledger.policyfile import ELSEWHERE
from memento_git.ledger.ranges import TRUNKS, RemoteHeadUnknown
from memento_git.ledger.store import NoLedger
from memento_git.ledger.view import LedgerUnreadable, View
from memento_git.model.finding import AWAY, FETCHING, Finding

TREELESS: Final = (r"^remote\..*\.partialclonefilter$", "tree:")  # git would fetch what each commit has, one by one
KINDS: Final = {"120000": "a symbolic link", "160000": "a submodule"}
LATEST: Final = 2_000  # commits of HEAD's history in which a ledger that is gone is looked for
TYPED_REMOTE_HEAD: Final = re.compile(r"(?:refs/remotes/)?(?P<remote>[^/\s~^:@{]+)/HEAD(?:[~^]\d*)*")


class PolicyMissing(Broken):
    """Records without the policy that judges them: nobody may guess it."""

    token = "policy_missing"
    sentence = "the ledger at {where} has records, and {path}, which holds its policy, is gone"
    hint_ = "{fix}"


class FolderReplaced(Broken):
    token = "ledger_replaced"
    sentence = "{folder} at {where} is {kind}, not a folder, so there is no ledger in it"
    hint_ = "{fix}"


class NoLedgerThere(NoLedger):
    """A revision without a ledger, where HEAD has one."""

    hint_ = ELSEWHERE


class LedgerApart(NoLedger):
    """A branch that the ledger did not come to yet: a second one made on it would not merge with that."""

    sentence = "there is no ledger at {where}, but {branch} has one"
    hint_ = "bring it here: {how}"


class LedgerRemoved(NoLedger):
    sentence = "there is no ledger at {where}: commit {commit} removed it"
    hint_ = "bring it back: {how} (memento init would begin an empty one)"


class NoCommitYet(NoSuchRevision):
    token = "no_commit_yet"
    sentence = "this branch has no commit yet, so {rev} names none"
    hint_ = "commit something first, or make a ledger as its first commit: memento init"


class CommitAway(Broken):
    token = "commit_away"
    sentence = "{rev} is at {commit}, and git does not have that commit here"
    hint_ = "git fsck shows what is missing; bring it from where you cloned: git fetch --refetch"


def refuse_revision(git: Git, rev: str) -> NoReturn:
    """Say why a revision names no commit: there is none yet where it starts, or git does not know it."""
    if re.match(r"(HEAD|@)(?![\w/.-])", rev) and git.head()[0] is None:
        raise NoCommitYet(rev=rev)
    ref = re.split(r"[~^@:]", rev, maxsplit=1)[0] or "HEAD"
    named = None if ref.startswith("-") or "\0" in ref else git.object_id(ref)
    if named and named != ref.lower():
        _refuse_commit_away(git, ref, named)
    found = TYPED_REMOTE_HEAD.fullmatch(rev)
    if found and found["remote"] in git.remotes():
        raise RemoteHeadUnknown(rev=rev, remote=found["remote"])
    raise NoSuchRevision(rev=rev)


def _refuse_commit_away(git: Git, rev: str, commit: str) -> None:
    """Refuse a commit that a ref names and git does not have."""
    if git.objects([commit]) == [None]:
        raise CommitAway(rev=rev, commit=commit[:12])


def refuse_object(git: Git, name: str) -> NoReturn:
    """Say why git ended instead of giving out an object."""
    try:
        git.run("cat-file", "-t", name)
    except GitFailed as failure:
        reason = failure.facts["reason"]
        if git.is_partial:
            raise ObjectsAway(command="cat-file", reason=reason) from None
        if (commit := name.partition("^")[0]) == git.head()[0]:
            _refuse_commit_away(git, "HEAD", commit)
        raise GitFailed(command="cat-file", reason=reason) from None
    raise GitFailed(command="cat-file", reason="it ended before it answered")


def is_away(view: View, path: str) -> bool:
    """Tell whether a commit has a file whose bytes git does not have here."""
    return view.blob(path) is not None and view.read(path) is None


def refuse_away(view: View, *paths: str) -> None:
    """Refuse to put aside what is whole elsewhere: git does not have the bytes of a file here."""
    for path in paths:
        if is_away(view, path):
            raise LedgerUnreadable(finding=Finding("F001", path, 0, AWAY, FETCHING))


def is_broken(git: Git, name: str) -> bool:
    """Tell whether an object is there by its type, and git cannot read what it holds."""
    try:
        kind = os.fsdecode(git.run("cat-file", "-t", name)).strip()
    except GitFailed:
        return False
    try:
        git.run("cat-file", kind, name)
    except GitFailed:
        return True
    return False


def refuse(view: View, where: str) -> None:
    """Say what became of the ledger that a view does not have; nothing where there never was one."""
    here = view.commits[:1] == (view.git.head()[0],)
    for commit in view.commits:
        if kind := stranger(view.git, commit):
            fix = taking_out(view.git) if here else ELSEWHERE
            raise FolderReplaced(folder=layout.FOLDER, where=where, kind=kind, fix=fix)
    for found in policyfile.replaced(view):
        raise LedgerUnreadable(finding=found)
    if view.folders:
        if here:
            refuse_apart(view.git, where)
        raise PolicyMissing(where=where, path=layout.CONFIG, fix=policyfile.bringing_back(view))


def refuse_apart(git: Git, where: str) -> None:
    """Refuse where what HEAD is compared with has a ledger that came to be after the two parted.

    A branch without a commit parted from nothing, so there the ledger of any remote branch counts.
    """
    head = git.head()[0]
    for name in TRUNKS if head else (*TRUNKS, *git.lines("for-each-ref", "--format=%(refname)", "refs/remotes")):
        tip = git.commit(name)
        if tip is not None and policyfile.has_ledger(git, tip) and (head is None or _came_since(git, head, tip)):
            ref = git.answer("rev-parse", "--symbolic-full-name", name) or name
            branch = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
            is_remote = branch == ref.removeprefix("refs/remotes/")
            if busy := in_progress(git):
                how = f"{busy[0]} is in progress: {ending(git, busy[0])}"
            elif is_remote and head is None:
                how = _bringing(elsewhere(git), "git", "switch", "--track", branch)
            elif is_remote and name == TRUNKS[0]:
                how = _bringing(elsewhere(git), "memento", "sync")
            else:
                how = _bringing(elsewhere(git), "git", "merge", branch)
            raise LedgerApart(where=where, branch=branch, how=how)


def refuse_removed(git: Git, where: str) -> None:
    """Refuse where a commit among the latest of HEAD's history took the ledger out."""
    if found := removal(git):
        raise LedgerRemoved(where=where, commit=found[0][:12], how=found[1])


def removal(git: Git) -> tuple[str, str] | None:
    """Return the commit that took the ledger out of HEAD, and the commands that bring it back; None for none known."""
    if git.answer("config", "--get-regexp", *TREELESS):
        return None
    older = git.answer("rev-list", "-1", f"--skip={LATEST}", "HEAD")
    within = [f"^{older}"] if older else []
    removed = git.answer("rev-list", "-1", "HEAD", *within, "--", layout.CONFIG)
    above = [one for one in commits.parents(git, removed) if policyfile.has_ledger(git, one)] if removed else []
    if not removed or not above:
        return None
    top = elsewhere(git)
    program = shlex.join(["git", *(["-C", str(top)] if top else [])])
    folder = f":/{layout.FOLDER}"
    back = f"{program} checkout {above[0][:12]} -- {folder}"
    return removed, f"{back} && {program} commit -m 'Bring the ledger back' -- {folder}"


def _bringing(folder: Path | None, program: str, *words: str) -> str:
    """Return the command that brings what a branch has, to be run outside of a folder if one is given."""
    place = ["-C", str(folder)] if folder else []
    return shlex.join([program, *place, *words] if program == "git" else [program, *words, *place])


def _came_since(git: Git, head: str, tip: str) -> bool:
    """Tell whether a merge brings the tip's ledger: there was none yet where the two parted."""
    common = git.merge_bases(head, tip)
    return bool(common) and not any(policyfile.has_ledger(git, one) for one in common)


def elsewhere(git: Git) -> Path | None:
    """Return the folder of a repository in which the command is not run; nothing where nobody knows."""
    try:
        return None if git.top is None or Path.cwd().is_relative_to(git.top) else git.top
    except OSError:
        return None


def stranger(git: Git, commit: str) -> str:
    """Return what a commit has in the place of the ledger's folder; nothing where it has the folder, or nothing."""
    entry = git.entries(commit, layout.FOLDER).get(layout.FOLDER)
    return "" if entry is None or entry.type == "tree" else KINDS.get(entry.mode, "a file")


def taking_out(git: Git) -> str:
    """Return the words that put a folder, if there ever was one, where something else was committed."""
    if not policyfile.was_here(git):
        return f"take it out and make a ledger: git rm -q {layout.FOLDER} && git commit -m 'No link' && memento init"
    before = f'"$(git rev-list -1 HEAD -- {layout.CONFIG})^"'
    return (
        f"put the folder back, and commit that: git rm -q {layout.FOLDER} && git checkout {before} -- {layout.FOLDER}"
    )
