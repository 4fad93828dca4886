"""What changed in the code between two commits, as evidence names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.errors import Misused
from memento_git.model.types import PLACE
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
    patterns = {"GIT_LITERAL_PATHSPECS": "0"}
    scope = ("--", ".", ":(exclude,top).memento")
    patch = git.run("diff-tree", "-r", "-p", "--no-textconv", first, last, *scope, extra=patterns)
    counts = git.run("diff-tree", "-r", "--numstat", "-z", "--no-renames", first, last, *scope, extra=patterns).decode(
        errors="replace"
    )
    rows = [line.split("\t", 2) for line in counts.split("\0") if line]
    from memento_git.texts.secrets import find_secrets

    if not rows:
        raise NothingChanged(path=given, problem="the two commits hold the same code")
    named = [row[2] for row in rows if PLACE.fits(row[2]) and not find_secrets(row[2])]
    held = {
        "range": given,
        "base": first,
        "tip": last,
        "patch_id": git.run("patch-id", "--stable", data=patch).decode().split()[0],
        "files": named,
        "added": sum(int(row[0]) for row in rows if row[0].isdigit()),
        "removed": sum(int(row[1]) for row in rows if row[1].isdigit()),
    }
    return held | ({"files_more": len(rows) - len(named)} if len(named) < len(rows) else {})
