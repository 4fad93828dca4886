"""How many notes live, are contested, have expired: from names and events; no text of a note is read for it.

What is not plain is kept under the tree of the notes, and brought up to date by what differs from it. Where nothing
changed, neither notes nor what knows of them is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import cache, layout

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row

KEPT: Final = "notes"
PLAIN: Final = frozenset({"linked", "unlinked", "confirmed", "progressed", "anchored"})


def note_counts(view: View) -> Row:
    """Return the counts at a view."""
    entry = view.folders.get(layout.KNOWLEDGE)
    if entry is None:
        return {"live": 0, "contested": 0, "expired": 0}
    held = _tallied(view, entry.oid if len(view.commits) == 1 and not view.changed else "")
    return {
        "live": held["notes"] - len(held["states"]),
        "contested": sum(state == "contested" for state in held["states"].values()),
        "expired": sum(end <= view.now for end in held["expires"].values()),
    }


def told_of(counts: Row) -> list[str]:
    """Return the counts in words, those that are none left out."""
    return [f"{count} {state}" for state, count in counts.items() if count]


def _tallied(view: View, tree: str) -> dict[str, Any]:
    """Return how many notes there are, which do not simply live (id -> state), and when those that expire do."""
    held: dict[str, Any] | None = cache.read(view.git, KEPT, "2") if tree else None
    if held is not None and held["tree"] == tree:
        return held
    from memento_git.knowledge.note_set import NoteSet

    note_set, notes = NoteSet(view), view.index("").prose
    touched = _touched(view, held["tree"], tree) if held else None
    if held is None or touched is None:
        held, touched, expiring = {"states": {}, "expires": {}}, {*notes}, {*_expiring(view)}
    else:
        expiring = touched
    for name in touched:
        held["states"].pop(name, None)
        held["expires"].pop(name, None)
        if name in notes:
            _tally(note_set, name, held, may_expire=name in expiring)
    told = {**held, "tree": tree, "notes": len(notes)}
    if tree:
        cache.write(view.git, KEPT, "2", told)
    return told


def _tally(note_set: NoteSet, note: str, held: dict[str, Any], *, may_expire: bool) -> None:
    """Keep what is not plain of a note."""
    from memento_git.knowledge.transitions import LIVE, LIVING

    places = (layout.place_of(note_set.index.events[name]) for name in note_set.index.events_of.get(note, ()))
    verbs = {place.do for place in places if place is not None}
    state = note_set.status(note) if verbs - PLAIN else "active"
    if state not in LIVE:
        held["states"][note] = state
    can_expire = may_expire and state in LIVING and note_set.view.record(note_set.path(note))
    if can_expire and (ends := note_set.expires(note_set.note(note))):
        held["expires"][note] = ends


def _touched(view: View, old: str, new: str) -> set[str] | None:
    """Return the notes that differ between two trees of notes; None where git no longer has the older one."""
    from memento_git.ledger import tree_diff

    found = tree_diff.changed(view.git, old, new)
    if found is None:
        return None
    start = len(layout.FOLDER)
    paths = [f"{layout.KNOWLEDGE}{path[start:]}" for path in found]
    return {place.of for path in paths if (place := layout.place_of(path)) is not None}


def _expiring(view: View) -> Iterable[str]:
    """Return the notes that may say when they expire; git looks for the word, without any being read here.

    Where git cannot read them all, any may expire.
    """
    from memento_git.ledger import grep

    paths: set[str] = set()
    for commit in view.commits:
        try:
            paths |= grep.naming(view.git, commit, f"{layout.KNOWLEDGE}/", ["expires"])
        except grep.GrepIncomplete:
            return [*view.index("").prose]
    return [note for path in paths if (note := layout.note_of(path))]
