"""What is said of notes that come to live otherwise than by being added: what is near to them, or against them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from memento_git.knowledge import pairs, similarity

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.knowledge.note_writer import NoteWriter
    from memento_git.knowledge.similarity import Similarity

FIRST: Final = 5
SAME: Final = "says the very same as"


def tell(writer: NoteWriter, note: str, known: Sequence[Similarity] | None = None) -> None:
    """Warn of the live notes that a note is near to, or may contradict."""
    read = writer.note_set.note(note)
    with writer.view.aside():
        same = {one.id for one in writer.note_set.saying(read.body)} - {note}
        near = near_to(writer.note_set, read.title, read.body, (note,)) if known is None else known
        found = [one for one in near if one.note not in same]
        against = set(writer.note_set.contradictions(read)) - {one.note for one in found}
    told = [*(f"{SAME} {one}" for one in sorted(same)), *(one.told() for one in found)]
    writer.tx.ledger.warn(*(f"{note} {one}" for one in (*told, *(f"contradicts {other}" for other in sorted(against)))))


def tell_all(writer: NoteWriter, new: Collection[str]) -> None:
    """Warn of what many new notes are near to, or may contradict: how many there are, and the first."""
    with writer.view.aside():
        texts = {note.id: similarity.said(note.title, note.body) for note in writer.note_set.live()} if new else {}
    found = [*pairs.duplicates(texts, new), *pairs.conflicts(texts, new)]
    lines = [_paired(pair, new) for pair in found[:FIRST]]
    more = f"{len(found)} pairs of what came in are near to, or may contradict, what is here: memento check duplicates"
    writer.tx.ledger.warn(*lines, *([f"{more}, memento check conflicts"] if len(found) > FIRST else []))


def near_to(note_set: NoteSet, title: str, body: str, but: Collection[str]) -> list[Similarity]:
    """Return the live notes that a text is near to, or may contradict, but for some."""
    text = similarity.said(title, body)
    return similarity.near(
        text, {one.id: similarity.said(one.title, one.body) for one in note_set.near(text) if one.id not in but}
    )


def _paired(pair: pairs.Pair, new: Collection[str]) -> str:
    one, other = (pair.one, pair.other) if pair.one in new else (pair.other, pair.one)
    told = similarity.Similarity(other, pair.share, pair.why == pairs.MAY_CONTRADICT).told()
    return f"{one} {f'{SAME} {other}' if pair.why == pairs.SAME_TEXT else told}"
