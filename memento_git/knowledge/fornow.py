"""The short tier as notes: what is remembered for now is searched like what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.knowledge.drafting import titled
from memento_git.knowledge.shortterm import ShortTerm
from memento_git.ledger import codec, layout
from memento_git.model.knowledge import DOMAIN_OF

if TYPE_CHECKING:
    from memento_git.ledger.view import View

KIND: Final = "event"  # what an agent saw or said; a text is not found by the word for its kind alone


def shown(view: View) -> dict[str, str]:
    """Show the items of the short tier in a view as if they were notes; return their texts."""
    found = ShortTerm(view.git, view.policy().short).items()
    for item in found:
        front = {"id": item.id, "kind": KIND, "title": titled(item.text), "at": item.at, "by": item.by}
        view.put(
            layout.note_path(DOMAIN_OF[KIND], item.id), codec.encode_prose({**front, "origin": item.whence}, item.text)
        )
    return {item.id: item.text for item in found}
