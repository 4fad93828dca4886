"""Which record is meant, where it may be a note: that is named by its key, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger.naming import begun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.view import View


def any_of(view: View, given: str, kinds: Sequence[str]) -> str:
    """Return the one id of these kinds that begins as given, or of the note that has this key."""
    return (_keyed(view, given) if "note" in kinds else "") or begun(view, given, kinds)


def _keyed(view: View, given: str) -> str:
    """Return the note that a text names as its key, the live one where there are several."""
    from memento_git.knowledge.note_set import NoteSet

    found = NoteSet(view).named(given)
    return found.id if found is not None else ""
