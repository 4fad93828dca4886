"""What a branch may bring to a remote, and what came from one: judged as `check` judges a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger import layout
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
TOLD_AS_TROUBLE: Final = ("T001", "T002", "T003", "E001", "E002", "E003")


class PushUnsound(Refused):
    """A state of the ledger that a remote shall not get."""

    token = "sync_unsound"
    sentence = "{branch} on {remote} does not get what is wrong here: {told}"
    hint_ = "memento check {how} shows all of it, --fix mends some; nothing was merged or pushed"


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
