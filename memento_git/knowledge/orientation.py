"""Where a project stands, for whoever begins to work: the last handoff, what is open, what was corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.knowledge.rows import note_row
from memento_git.knowledge.transitions import LIVE

if TYPE_CHECKING:
    from memento_git.folding.rows import Row
    from memento_git.knowledge.shelf import Shelf
    from memento_git.model.work import Prose

HANDOFF: Final = "handoff"
MOST: Final = 10


def orientation(shelf: Shelf, most: int = MOST) -> Row:
    """Return what one should know first; of each list the latest `most`, and how many more there are."""
    live = [note for note in shelf.live() if not shelf.is_expired(note)]
    handoffs = [note for note in shelf.readable() if HANDOFF in note.list("tags")]
    corrections = [note for note in live if note.list("supersedes")]
    lists = {
        "pinned": [note for note in live if note.data.get("pinned")],
        "questions": _of(live, "question"),
        "gaps": _of(live, "gap"),
        "goals": _of(live, "goal"),
        "checkpoints": _of(live, "checkpoint"),
        "corrections": corrections,
        "contested": [note for note in live if shelf.status(note.id) not in LIVE],
    }
    return {
        "handoff": note_row(shelf, handoffs[-1]) if handoffs else None,
        **{name: [note_row(shelf, note) for note in reversed(found[-most:])] for name, found in lists.items()},
        "omitted": {name: len(found) - most for name, found in lists.items() if len(found) > most},
    }


def _of(notes: list[Prose], kind: str) -> list[Prose]:
    return [note for note in notes if note.data["kind"] == kind]
