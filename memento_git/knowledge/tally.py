"""How many notes live, are contested, have expired: from names and events; no text of a note is read for it.

What is not plain is kept under the tree of the notes, and brought up to date by what differs from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.knowledge.shelf import Shelf
from memento_git.knowledge.transitions import LIVE, LIVING
from memento_git.ledger import cache, difference, layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.ledger.view import View

KEPT: Final = "notes.all"
PLAIN: Final = frozenset({"linked", "unlinked", "confirmed", "progressed", "anchored"})


def tallied(view: View) -> dict[str, Any]:
    """Return how many notes there are, which do not simply live (id -> state), and when those that expire do."""
    entry = view.folders.get(layout.KNOWLEDGE)
    tree = entry.oid if entry is not None and len(view.commits) == 1 and not view.changed else ""
    held = cache.read(view.git, KEPT, "1") if tree else None
    shelf, notes = Shelf(view), view.index("").prose
    touched = _touched(view, held["tree"], tree) if held else None
    if held is None or touched is None:
        held, touched, expiring = {"states": {}, "expires": {}}, {*notes}, {*_expiring(view)}
    else:
        expiring = touched
    for name in touched:
        held["states"].pop(name, None)
        held["expires"].pop(name, None)
        if name in notes:
            _tally(shelf, name, held, may_expire=name in expiring)
    told = {"tree": tree, "states": held["states"], "expires": held["expires"]}
    if tree:
        cache.write(view.git, KEPT, "1", told)
    return {**told, "notes": len(notes)}


def _tally(shelf: Shelf, note: str, held: dict[str, Any], *, may_expire: bool) -> None:
    """Keep what is not plain of a note."""
    places = (layout.place_of(shelf.index.events[name]) for name in shelf.index.events_of.get(note, ()))
    verbs = {place.do for place in places if place is not None}
    state = shelf.status(note) if verbs - PLAIN else "active"
    if state not in LIVE:
        held["states"][note] = state
    lives = state in LIVING
    if may_expire and lives and shelf.view.record(shelf.path(note)) and (ends := shelf.expires(shelf.note(note))):
        held["expires"][note] = ends


def _touched(view: View, old: str, new: str) -> set[str] | None:
    """Return the notes that differ between two trees of notes; None where git no longer has the older one."""
    found = difference.changed(view.git, old, new)
    if found is None:
        return None
    start = len(layout.FOLDER)
    paths = [f"{layout.KNOWLEDGE}{path[start:]}" for path in found]
    return {place.of for path in paths if (place := layout.place_of(path)) is not None}


def _expiring(view: View) -> Iterable[str]:
    """Return the notes with a line that may say when they expire; git looks for it, without any being read here.

    Where git cannot read them all, any may expire.
    """
    from memento_git.ledger import grep

    paths: list[str] = []
    for commit in view.commits:
        try:
            paths += grep.files(view.git, commit, f"{layout.KNOWLEDGE}/", ["^expires:"], plain=False)
        except grep.GrepIncomplete:
            return [*view.index("").prose]
    return [note for path in paths if (note := layout.note_of(path))]
