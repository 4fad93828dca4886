"""Which files of a run were changed or removed although a ledger only grows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memento_git.model.rows import Row


class TwoSides(NamedTuple):
    """One file of the ledger at the two revisions: what it holds, its ids there (nothing: absent), whose it is."""

    kind: str
    record: str
    old: str
    new: str


def forbidden(files: Mapping[str, TwoSides], redacted: Collection[str], same: Callable[[str], bool]) -> Iterator[Row]:
    """Yield the files of events and evidence that changed, and all that were removed and not redacted.

    `same` tells whether a path has the same bytes at both revisions: an archive holds files under no id of their own.
    """
    for path, held in sorted(files.items()):
        if held.old == held.new and held.old:
            continue
        if not held.new:
            if held.record not in redacted:
                yield {"path": path, "change": "removed", "kind": held.kind, "record": held.record}
        elif held.kind in ("event", "evidence", "attachment") and not same(path):
            yield {"path": path, "change": "changed", "kind": held.kind, "record": held.record}
