"""Which evidence may answer for something, or be a second run: found by words in its bytes, so that few are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.work.state import RunState

MARKS: Final = ("approves", "reproduces", "\\")  # by an escape YAML could write either word otherwise
MANY: Final = 50  # files that git looks through in less time than it takes to read them


def suspects(state: RunState) -> list[str]:
    """Return the evidence that may name what it approves or reran."""
    view, paths = state.view, state.index.evidence
    marked = _marked(view, state.id) if len(paths) > MANY else None
    read = {path for path in paths.values() if marked is None or path in marked or path in view.contents}
    view.fetch(path for path in read if path not in view.decoded)
    return [one for one, path in paths.items() if path in view.decoded or (path in read and _may_name(view, path))]


def _marked(view: View, run: str) -> set[str] | None:
    """Return the files of evidence in which git finds a mark; None where it cannot read all, or the view has others."""
    from memento_git.ledger import grep

    if view.held:
        return None
    where = layout.evidence_pattern(run)
    try:
        return {path for commit in view.commits for path in grep.files(view.git, commit, where, MARKS)}
    except grep.GrepIncomplete:
        return None


def _may_name(view: View, path: str) -> bool:
    """Tell whether a file may name other evidence; one that is absent is for its reader to tell."""
    data = view.contents.get(path)
    return data is None or any(mark.encode() in data for mark in MARKS)
