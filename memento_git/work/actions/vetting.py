"""What a branch may bring to a remote, and what came from one: judged as `check` judges a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.errors import Moved, Refused
from memento_git.ledger import layout, merging, remotes
from memento_git.review import judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.git import Git
    from memento_git.ledger.remotes import Target
    from memento_git.ledger.store import Ledger
    from memento_git.model.finding import Finding

SHOWN: Final = 3
SETTLED: Final = "D011"  # of those who share a branch, whoever settles decides
OF_TWO_SIDES: Final = (SETTLED, "N002", "N003", "N005", "T001", "T003", "T006")
PURGED: Final = "R001"
TOLD_AS_TROUBLE: Final = ("T001", "T002", "T003", "E001", "E002", "E003")


class PushUnsound(Refused):
    """A state of the ledger that a remote shall not get."""

    token = "sync_unsound"
    sentence = "{branch} on {remote} does not get what is wrong here: {told}"
    hint_ = "memento check {how} shows all of it, --fix mends some; nothing was merged or pushed"


class RemoteRewritten(Moved):
    """Commits that were taken off a remote are still here."""

    token = "remote_rewritten"
    sentence = "{branch} on {remote} was rewritten: it has {fork} no more, on which the branch here is built"
    hint_ = (
        "take your own commits over: git rebase --autostash --onto {theirs} {fork}, then memento sync; "
        "git pull --no-rebase {remote} {branch} and git push bring back what was taken away"
    )


class BroughtBack(Moved):
    """One side has the file of a note that the other purged."""

    token = "purged_brought_back"
    sentence = "merged with {branch} on {remote}, what one side purged would be back: {told}"
    hint_ = (
        "if it was purged here: git push --force-with-lease={branch}:{theirs} {remote} HEAD:{branch}, after asking all "
        "who have it; if there: git rebase --interactive --autostash {theirs}, with your own commits alone"
    )


class LedgerRemoved(Moved):
    """Somebody took the ledger out of a branch."""

    token = "ledger_removed"
    sentence = "{branch} on {remote} has no ledger any more: {commit} took {path} away"
    hint_ = "git pull --no-rebase {remote} {branch} follows it; git revert {commit} then brings the ledger back"


def refuse_rewritten(git: Git, where: Target, theirs: str, before: str) -> None:
    """Refuse to bring back what the remote had once: it may have been taken away for a reason, as by a purge."""
    if fork := remotes.dropped(git, where, theirs, before):
        raise RemoteRewritten(fork=fork[:12], theirs=theirs[:12], **where.where)


def refuse_brought_back(ledger: Ledger, where: Target, theirs: str, made: str) -> None:
    """Refuse a merge in which a note is back that one side has purged: both sides' histories hold it no more."""
    paths = [change.path for change in merging.incoming(ledger.git, theirs, made).ledger]
    if not any(path.startswith(layout.KNOWLEDGE) for path in paths):
        return
    report = judging.added(ledger.git, [theirs], made, theirs[:12], ledger.now())
    found = [one for one in report.findings if one.code == PURGED and one.path.startswith(layout.KNOWLEDGE)]
    if found:
        raise BroughtBack(told=_told(found), theirs=theirs[:12], **where.where)


def refuse_without_ledger(git: Git, where: Target, ours: str, theirs: str, made: str) -> None:
    """Refuse a commit, made of both sides, in which the ledger that is here is gone."""
    if merging.has_ledger(git, ours) and not merging.has_ledger(git, made):
        found = git.answer("log", "-1", "--format=%h", "--diff-filter=D", "-m", theirs, "--", layout.CONFIG)
        raise LedgerRemoved(commit=found or theirs[:12], path=layout.CONFIG, **where.where)


def refuse_unsound(ledger: Ledger, where: Target, ours: str, common: Sequence[str], *, is_new: bool) -> None:
    """Refuse a commit that has errors which its base, what the remote has already, does not have.

    What two sides make of each other, such as two claims, is nobody's error: it is pushed, told and settled.
    """
    base = _nearest(ledger.git, where.remote, ours) if is_new else next(iter(common), "")
    if not base and not is_new:
        return
    if base:
        report = judging.added(ledger.git, [base] if is_new else common, ours, base[:12], ledger.now())
    else:
        report = judging.alone(ledger.git, ours, ledger.now(), None)
    if found := [one for one in report.findings if one.severity == "error" and one.code not in OF_TWO_SIDES]:
        how = f"--base {base[:12]}" if base else "--no-base"
        raise PushUnsound(told=_told(found), how=how, **where.where)


def _nearest(git: Git, remote: str, commit: str) -> str:
    """Return the commit at which a branch left what is known of a remote; nothing where they have none in common."""
    known = (git.answer("for-each-ref", "--format=%(objectname)", f"refs/remotes/{remote}/") or "").split()
    found = git.answer("merge-base", commit, *known) if known else ""
    return (found or "").partition("\n")[0]


def _told(found: Sequence[Finding]) -> str:
    shown = "; ".join(str(one) for one in found[:SHOWN])
    return f"{shown}; and {len(found) - SHOWN} more" if len(found) > SHOWN else shown


def came_wrong(ledger: Ledger, before: str, after: str) -> list[str]:
    """Return the errors that a sync brought here or made by merging, but for those that the fold tells of."""
    report = judging.added(ledger.git, [before], after, before[:12], ledger.now())
    told = [one for one in report.findings if one.code in TOLD_AS_TROUBLE and layout.run_of_path(one.path)]
    wrong = [one for one in report.findings if one.severity == "error" and one.code != SETTLED]
    return [str(one) for one in wrong if one not in told]
