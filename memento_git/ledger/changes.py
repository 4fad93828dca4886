"""What differs between two trees below `.memento`, or from what several come to together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.difference import raw
from memento_git.ledger.listed import FILE_MODES
from memento_git.ledger.trees import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memento_git.ledger.difference import Changed
    from memento_git.ledger.git import Git

RECORDS: Final = (f"{layout.RUNS}/", f"{layout.ARCHIVE}/", f"{layout.KNOWLEDGE}/")


def difference(git: Git, base: str, head: str) -> list[Changed]:
    """Return what differs below `.memento` between two trees, and whether git's attributes at the top do."""
    return raw(git, "--ignore-submodules=none", base, head, "--", layout.FOLDER, layout.TOP_ATTRIBUTES)


def note_base(git: Git, base: str, head: str, found: Iterable[Changed]) -> None:
    """Let it be known what a base has in the ledger, from what its head has and what differs, without asking git."""
    told = {one.path: f"{one.old_mode} {TYPES.get(one.old_mode, 'blob')} {one.old}" if one.old else "" for one in found}
    told.pop(layout.TOP_ATTRIBUTES, None)
    git.trees.differs(head, base, told)


def differences(git: Git, bases: Sequence[str], head: str) -> tuple[list[Changed], dict[str, str]]:
    """Return what differs from what several bases come to together, and path -> blob of that, '' where nothing is.

    Of a record that is what one of them made of what they had in common, so that what came from any of them is nothing
    that the head did; of anything else what the first base has.
    """
    told = [{change.path: change for change in difference(git, base, head)} for base in bases]
    if len(bases) == 1:
        return [*told[0].values()], {}
    common = git.answer("merge-base", "--octopus", *bases)
    there = git.files(common) if common else {}
    found: list[Changed] = []
    known: dict[str, str] = {}
    for path in sorted({path for one in told for path in one}):
        change = next(one[path] for one in told if path in one)
        sides = [(one[path].old_mode, one[path].old) if path in one else (change.mode, change.new) for one in told]
        if path.startswith(RECORDS):
            before = there[path].oid if path in there else ""
            sides = [side for side in sides if side[1] != before] or sides
            known[path] = sides[0][1] if sides[0][0] in FILE_MODES else ""
        else:
            sides = sides[:1]
        if (change.mode, change.new) not in sides:
            found.append(change._replace(old_mode=sides[0][0], old=sides[0][1]))
    return found, known
