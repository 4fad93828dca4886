"""One transaction at work on notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from memento_git.knowledge import watched_paths
from memento_git.knowledge.shelf import Shelf
from memento_git.ledger import desk
from memento_git.ledger.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.model.work import Prose


class Desk(desk.Desk):
    """What actions of knowledge share within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        super().__init__(tx)
        self.shelf = Shelf(tx.view)
        tx.after_commit.append(lambda: watched_paths.keep_written(tx))

    @classmethod
    def apart(cls, ledger: Ledger, allow_secrets: Sequence[str] = (), *, rehearsed: bool = False) -> Self:
        """Return a desk for what is judged like a note and not committed."""
        tx = Transaction(ledger, ledger.view(), rehearsed=rehearsed)
        tx.allow_secrets = tuple(allow_secrets)
        return cls(tx)

    def find(self, given: str) -> Prose:
        """Return the note that a prefix of its id, or its key, names."""
        return self.shelf.find(given)
