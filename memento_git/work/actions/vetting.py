"""What a branch may bring to a remote, and what came from one: judged as `check` judges a branch."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from memento_git.errors import MementoError, Moved, Refused
from memento_git.ledger import layout, merging, purging, ranges, tree_diff
from memento_git.model.enumeration import some
from memento_git.review import branch_check, tree_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.remotes import Target
    from memento_git.ledger.store import Ledger
    from memento_git.model.finding import Finding
    from memento_git.review.outcome import Report

SHOWN: Final = 3
SETTLED: Final = "D011"  # of those who share a branch, whoever settles decides
OF_REQUESTS: Final = (SETTLED, "D007")  # what several brought is no request of one
TOLD_AS_TROUBLE: Final = ("T001", "T002", "T003", "E001", "E002", "E003")


class PushUnsound(Refused):
    token = "sync_unsound"
    sentence = "{branch} on {remote} does not get what is wrong here: {told}"
    hint_ = "memento check {how} shows all of it, --fix mends some; nothing was merged or pushed"


class PushOutrun(PushUnsound):
    """A run that was completed in order, and code that went on before the remote had it."""

    hint_ = "the code went on since a run was completed; let {remote} have it as it was then: {push}, then memento sync"


class RemoteUnreadable(Moved):
    token = "remote_unreadable"
    sentence = "{branch} on {remote} would leave no ledger here that can be read: {reason}"
    hint_ = (
        "git log -3 {theirs} -- .memento/config.yaml shows how it came to that; mend it there, or take it as it is: "
        "git pull --no-rebase --no-edit {remote!q} {branch!q}"
    )


class RedactionUndone(Moved):
    token = "redaction_undone"
    sentence = "merged with {branch} of {remote}, what was redacted would be back: {told}"
    hint_ = "{step}"


def refuse_unreadable(ledger: Ledger, where: Target, commit: str, theirs: str) -> None:
    """Refuse a commit whose ledger no command could read, or compare, before the branch is moved to it."""
    try:
        ledger.view([commit]).policy()
    except MementoError as error:
        raise RemoteUnreadable(reason=error.message, theirs=theirs[:12], **where.where) from None
    tree_diff.in_ledger(ledger.git, "HEAD", commit)


def refuse_revived(ledger: Ledger, where: Target, made: str, theirs: str, common: Sequence[str]) -> None:
    """Refuse a merge after which a redacted file is there again, though neither side alone has both."""
    git = ledger.git
    if not any("-redacted-" in one.path and one.new for one in merging.incoming(git, common[0], made).ledger):
        return
    report = branch_check.added(git, [theirs], made, theirs[:12], ledger.now())
    if found := [one for one in report.findings if one.code == "R001"]:
        raise RedactionUndone(told=_told(found), step=_step(git, where, theirs), **where.where)


def _step(git: Git, where: Target, theirs: str) -> str:
    """Return what brings a purge to its end where it was made here, else how to merge by hand."""
    if git.answer("rev-list", "-1", theirs, "--not", "HEAD", f"--glob={purging.BACKUPS}/*") == "":
        lease, there = f"--force-with-lease={where.branch}:{theirs}", f"HEAD:{where.branch}"
        push = shlex.join(["git", "push", lease, where.remote, there])
        return f"the purged history takes the place of what is there: {push}"
    by_hand = shlex.join(["git", "pull", "--no-rebase", "--no-edit", where.remote, where.branch])
    again = "then take it out again: memento purge NOTE, or memento check --fix"
    return f"merge by hand ({by_hand}), {again}, before you push"


def refuse_unsound(ledger: Ledger, where: Target, ours: str, theirs: str = "") -> None:
    """Refuse a commit that has errors which its base, what the remote has already, does not have.

    The base is where it left the remote's branch, whose own line has the policy, or else what is known of the remote.
    What two sides make of each other, such as two claims, is nobody's error: it is pushed, told and settled. Where they
    have no commit in common, nothing is asked: they cannot be brought together.
    """
    git = ledger.git
    if theirs and not git.merge_bases(ours, theirs):
        return
    if base := theirs or _nearest(git, where.remote, ours):
        forks, tip, _ = ranges.parting(git, base, ours)
        rules = ranges.ruling(git, forks, tip)
        report = branch_check.added(git, forks, ours, base[:12], ledger.now(), ruling=rules)
    else:
        report = tree_check.alone(git, ours, ledger.now())
    if found := _wrong(report):
        if push := _outrun(ledger, where, ours, found) if theirs else "":
            raise PushOutrun(told=_told(found), push=push, **where.where)
        how = f"--base {base[:12]}" if base else "--no-base"
        raise PushUnsound(told=_told(found), how=how, **where.where)


def _wrong(report: Report) -> list[Finding]:
    return [one for one in report.findings if one.severity == "error" and one.code not in branch_check.OF_TWO_SIDES]


def _outrun(ledger: Ledger, where: Target, ours: str, found: Sequence[Finding]) -> str:
    """Return the command that pushes as far as the end of a run at which nothing was wrong; nothing without one."""
    git = ledger.git
    tip = git.commit(where.tracking)
    if tip is None:
        return ""
    ends = [git.answer("rev-list", "-1", ours, "--", one.path) or ours for one in found if one.code == "P004"]
    for end in dict.fromkeys(ends):
        is_between = end != ours and git.is_before(tip, end)
        if is_between and not _wrong(branch_check.added(git, [tip], end, tip[:12], ledger.now())):
            return shlex.join(["git", "push", where.remote, f"{end[:12]}:{where.branch}"])
    return ""


def _nearest(git: Git, remote: str, commit: str) -> str:
    """Return the commit at which a branch left what is known of a remote; nothing where they have none in common."""
    known = git.lines("for-each-ref", "--format=%(objectname)", f"refs/remotes/{remote}/")
    found = git.answer("merge-base", commit, *known) if known else ""
    return (found or "").partition("\n")[0]


def _told(found: Sequence[Finding]) -> str:
    return some([str(one) for one in found], SHOWN, "; ")


def came_wrong(ledger: Ledger, before: str, after: str) -> list[str]:
    """Return the errors that a sync brought here or made by merging, but for those that the fold tells of."""
    report = branch_check.added(ledger.git, [before], after, before[:12], ledger.now())
    told = [one for one in report.findings if one.code in TOLD_AS_TROUBLE and layout.run_of_path(one.path)]
    wrong = [one for one in report.findings if one.severity == "error" and one.code not in OF_REQUESTS]
    return [str(one) for one in wrong if one not in told]
