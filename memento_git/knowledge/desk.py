"""One transaction at work on notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.knowledge.shelf import Shelf
from memento_git.ledger import desk

if TYPE_CHECKING:
    from memento_git.ledger.store import Transaction
    from memento_git.model.work import Prose


class Desk(desk.Desk):
    """What actions of knowledge share within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        super().__init__(tx)
        self.shelf = Shelf(tx.view)

    def find(self, given: str) -> Prose:
        """Return the note that a prefix of its id, or its key, names."""
        return self.shelf.find(given)
