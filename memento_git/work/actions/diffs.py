"""What changed in the code between two commits, as evidence names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.errors import Misused
from memento_git.work import codediff
from memento_git.work.actions.attaching import FileUnfit

if TYPE_CHECKING:
    from memento_git.ledger.git import Git


class RangeInvalid(Misused):
    """Two revisions were expected."""

    token = "range_invalid"
    sentence = "{given!r} is not a range of commits"
    hint_ = "write A..B"


class NothingChanged(FileUnfit):
    """Two commits that differ in nothing but the ledger."""

    hint_ = "name two commits between which the code changed: the ledger is no part of it"


def diff_of(git: Git, given: str) -> dict[str, Any]:
    """Return what changed in the code between the commits of a range `A..B`."""
    base, dots, tip = given.partition("..")
    if not dots or not base or not tip or tip.startswith("."):
        raise RangeInvalid(given=given)
    first, last = git.commit_of(base), git.commit_of(tip)
    held = codediff.between(git, first, last)
    if not held.paths:
        raise NothingChanged(path=given, problem="the two commits hold the same code")
    told = {
        "range": given,
        "base": first,
        "tip": last,
        "patch_id": codediff.patch_id(git, first, last),
        "files": list(held.files),
        "added": held.added,
        "removed": held.removed,
    }
    return told | ({"files_more": held.unnamed} if held.unnamed else {})
