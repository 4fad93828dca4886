"""One transaction at work on notes."""

from __future__ import annotations

from contextlib import suppress
from typing import Self

from memento_git.knowledge import watched_paths
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.note_set import NoteSet
from memento_git.ledger import event_writer
from memento_git.ledger.store import Ledger
from memento_git.ledger.transaction import Transaction
from memento_git.model.ids import IdInvalid, NoSuchRecord, WrongKind
from memento_git.model.work import Prose


class NoteWriter(event_writer.EventWriter):
    """What actions of knowledge share within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        super().__init__(tx)
        self.note_set = NoteSet(tx.view)
        tx.after_commit.append(lambda: watched_paths.keep_written(tx))

    @classmethod
    def apart(cls, ledger: Ledger, *, rehearsed: bool = False) -> Self:
        """Return a writer for what is judged like a note and not committed."""
        return cls(Transaction(ledger, ledger.view(), rehearsed=rehearsed))

    def find(self, given: str) -> Prose:
        """Return the note that a prefix of its id, or its key, names; of a draft say what makes a note of it."""
        try:
            return self.note_set.find(given)
        except NoSuchRecord as unknown:
            with suppress(NoSuchRecord, IdInvalid, WrongKind):
                draft = Drafts(self.tx.ledger.git).find(given).id
                way = f"memento session promote {draft} makes a note of it, memento session discard {draft} drops it"
                unknown.hint = f"it is a draft, of this clone alone: {way}"
            raise
