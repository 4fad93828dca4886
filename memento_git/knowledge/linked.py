"""Which notes have to do with some records: by a link, or because they rest on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.knowledge.shelf import Shelf
from memento_git.knowledge.transitions import LIVE

if TYPE_CHECKING:
    from collections.abc import Collection

    from memento_git.ledger.view import View
    from memento_git.model.rows import Row


def linked(view: View, records: Collection[str]) -> list[Row]:
    """Return the notes that a link, or the evidence that they rest on, leads from to one of the records."""
    shelf = Shelf(view)
    shelf.load()
    rows = []
    for note in shelf.readable():
        links = [(link.rel, link.to) for link in shelf.links(note) if link.to in records]
        rests = [("rests_on", name) for ref in note.list("evidence") if (name := ref.partition("@")[0]) in records]
        if links or rests:
            status = shelf.status(note.id)
            rows.append({
                "id": note.id, "kind": note.data["kind"], "title": note.title, "status": status,
                "live": status in LIVE, "expired": shelf.is_expired(note), "origin": note.data["origin"],
                "links": [{"rel": rel, "to": to} for rel, to in (*links, *rests)],
            })  # fmt: skip
    return rows
