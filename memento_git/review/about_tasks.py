"""Which notes are about the files of a task: for its brief. Joins both domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import layout

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row


def notes_of(view: View, given: str) -> list[Row]:
    """Return the live notes that are about the files of the task that a prefix names, as these are at the commit."""
    from memento_git.work.state import RunState

    identity, state = RunState.find(view, given, "task")
    paths = state.told(identity).list("files")
    if not paths or layout.KNOWLEDGE not in view.folders:
        return []
    from memento_git.knowledge.overlay import opened

    with opened(view, view.commits[0]) as overlay:
        placed = [one for path in paths for place in (path, *overlay.below(path)) for one in overlay.at(place)]
        titles = {one.note: overlay.note_set.note(one.note).title for one in placed}
        found = {one.note: {"id": one.note, "title": titles[one.note], "path": one.path} for one in placed}
    return list(found.values())
