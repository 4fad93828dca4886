"""MemoryManager: three tiers of memory behind two calls; short in this clone, medium and long in the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from memento_git.errors import Misused
from memento_git.ledger.thread_safety import in_turn
from memento_git.model.arguments import checked
from memento_git.scopes import Held

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger

TIERS: Final = ("short", "medium", "long")


class NoSuchTier(Misused):
    token = "tier_unknown"
    sentence = "{tier!r} is no tier of memory; there are short, medium and long"
    hint_ = "take one of them"


class Remembered(str):
    """A text that was remembered, with its `id` and its `tier`: short, medium or long."""

    __slots__ = ("id", "tier")
    id: str
    tier: str

    @classmethod
    def of(cls, text: str, identity: str, tier: str) -> Self:
        made = cls(text)
        made.id, made.tier = identity, tier
        return made


@in_turn
@checked
class MemoryManager:
    """Memory in three tiers: the latest for now, what expires, what lasts; everything is on the disk at once.

    `root` is a folder of its own, or of a project with a ledger; `actor` is who acts, as for `Memory`. Threads may
    share one, and take turns. What cannot be done raises a `MementoError`, and changes nothing.
    """

    def __init__(self, root: str | Path = "agent_memory", *, actor: str = "") -> None:
        self._held = Held(root, actor)
        self.root = self._held.folder
        self.turn = self._held.turn

    def add(self, text: str, tier: str = "short") -> str:
        """Remember a text in a tier; return its id. Short is a ring of the latest, medium expires, long lasts.

        The ring holds `knowledge.short`, 200 where policy says nothing; one more takes the place of the oldest. Medium
        expires after `knowledge.medium`, 90 days where policy says nothing. Another tier is refused (`tier_unknown`).

        A text that is there already, and would expire, lasts once it is added as long; one that was parked is resumed.
        """
        if tier not in TIERS:
            raise NoSuchTier(tier=tier)
        return self._held.keep(lambda ledger: _kept(ledger, text, tier))

    def retrieve(self, query: str, k: int = 5) -> list[Remembered]:
        """Return at most `k` texts of all three tiers that answer a question, the best first; none where none does."""
        ledger = self._held.reading()
        if ledger is None:
            return []
        from memento_git.knowledge.note_set import NoteSet
        from memento_git.knowledge.recall import search
        from memento_git.knowledge.shortterm import shown

        view = ledger.view()
        note_set = NoteSet(view)
        notes = note_set.in_force()
        tiers = {note.id: note_set.tier(note) for note in notes}
        texts = {note.id: note.body for note in notes}
        short = shown(view)
        tiers |= dict.fromkeys(short, "short")
        texts |= short
        found = search(view, [query], limit=k, keep=lambda header: header.kind == "note" and header.id in tiers)
        told: dict[str, str] = {}  # text -> the best that says it, to the letter
        for header, _ in found.told():
            told.setdefault(texts[header.id], header.id)
        return [Remembered.of(text, name, tiers[name]) for text, name in list(told.items())[:k]]

    def close(self) -> None:
        """End the processes that read for this memory."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _kept(ledger: Ledger, text: str, tier: str) -> str:
    from memento_git.knowledge.actions import notes
    from memento_git.knowledge.actions.remembering import keep_note
    from memento_git.knowledge.shortterm import KIND

    if tier == "short":
        return str(keep_note(ledger, text, short=True).row["id"])
    kept = keep_note(ledger, text, tier=tier, kind=KIND)
    if kept.added.existing and kept.row["status"] == "parked":
        ledger.change("note resume", lambda tx: notes.resume_note(tx, kept.added.id))
    if tier == "long" and kept.added.existing and kept.row["expires"]:
        ledger.change("note promote", lambda tx: notes.promote_note(tx, kept.added.id))
    return kept.added.id
