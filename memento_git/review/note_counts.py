"""How many notes live, are contested, have expired, for a look at the whole; where nothing changed, nothing is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import cache, layout

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

KEPT: Final = "notes"


def note_counts(view: View) -> Row:
    """Return the counts at a view; kept under the tree of the notes, but for what has expired by now."""
    entry = view.folders.get(layout.KNOWLEDGE)
    if entry is None:
        return {"live": 0, "contested": 0, "expired": 0}
    tree = entry.oid if len(view.commits) == 1 else ""
    held: dict[str, Any] | None = cache.read(view.git, KEPT, tree) if tree else None
    if held is None:
        held = _counted(view)
        if tree:
            cache.write(view.git, KEPT, tree, held)
    expired = sum(1 for end in held["ends"] if end <= view.now)
    return {"live": held["live"], "contested": held["contested"], "expired": expired}


def told_of(counts: Row) -> list[str]:
    """Return the counts in words, those that are none left out."""
    return [f"{count} {state}" for state, count in counts.items() if count]


def _counted(view: View) -> dict[str, Any]:
    from memento_git.knowledge.tally import tallied

    told = tallied(view)
    contested = sum(1 for state in told["states"].values() if state == "contested")
    return {
        "live": told["notes"] - len(told["states"]),
        "contested": contested,
        "ends": sorted(told["expires"].values()),
    }
