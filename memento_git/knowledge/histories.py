"""What happened to all notes, their additions included, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.knowledge.note_rows import history
from memento_git.knowledge.shelf import Shelf
from memento_git.ledger import cache, layout
from memento_git.model.events import MADE

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import EventRow
    from memento_git.model.work import Prose

KEPT = "notes.audit"


def histories(view: View, note: str = "") -> list[list[EventRow]]:
    """Return for each note, or for one, that it was added and what happened to it, in the order that was seen.

    What was redacted is told by its events alone: who added it, and when, stood in its text. All of them are kept
    under the tree of the notes.
    """
    shelf = Shelf(view)
    if note:
        is_told = shelf.path(note) and not shelf.is_redacted(note)
        return [_history(shelf, shelf.note(note)) if is_told else history(shelf, note)]
    entry = view.folders.get(layout.KNOWLEDGE)
    tree = entry.oid if entry is not None and len(view.commits) == 1 else ""
    held: list[list[EventRow]] | None = cache.read(view.git, KEPT, tree) if tree else None
    if held is None:
        shelf.load()
        told = shelf.readable()
        known = {one.id for one in told}
        held = [_history(shelf, one) for one in told]
        held += [history(shelf, one) for one in shelf.index.events_of if one not in known]
        if tree:
            cache.write(view.git, KEPT, tree, held)
    return held


def _history(shelf: Shelf, note: Prose) -> list[EventRow]:
    added: EventRow = {
        "id": note.id, "run_id": "", "record": note.id, "actor": note.data["by"], "action": f"note.{MADE['note']}",
        "created_at": note.data["at"], "summary": note.title, "legal": True, "problem": None, "payload": {},
    }  # fmt: skip
    return [added, *history(shelf, note.id)]
