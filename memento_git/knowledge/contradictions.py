"""What contradicts the notes that an answer shows, and what may do so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.competing_notes import competing
from memento_git.knowledge.pairs import conflicts, disputes
from memento_git.knowledge.similarity import plain, said
from memento_git.knowledge.transitions import LIVING

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.note_rows import HitRow
    from memento_git.model.work import Prose

COMPARED: Final = 500
NEAREST: Final = 5
HOLDING: Final = (*LIVING, "draft")


def linked(note_set: NoteSet, row: HitRow) -> list[str]:
    """Return the notes that contradict a note by a link or as competing ones."""
    is_note = row["record"] == "note" and not row["draft"]
    return note_set.contradictions(note_set.note(row["id"])) if is_note else []


def contradicting(note_set: NoteSet, row: HitRow, others: Sequence[str]) -> list[str]:
    """Return the live notes that contradict a note: by a standing link, in either direction, or as competing ones."""
    own = note_set.prose(row["id"])
    led = [there for other in others if (there := note_set.prose(note_set.current(other)))]
    found = competing(note_set, own, led) if own is not None else set()
    for there in led:
        if there.id == row["id"] or not note_set.lives(there.id):
            continue
        ends = {(row["id"], there.id), (there.id, row["id"])}
        if any(_says(note_set, one, ends) for one in (row["id"], there.id, *others, *row["instead_of"])):
            found.add(there.id)
    return sorted(found)


def _says(note_set: NoteSet, identity: str, ends: set[tuple[str, str]]) -> bool:
    note = note_set.prose(identity)
    return note is not None and any(
        link.rel == "contradicts" and (note_set.current(note.id), note_set.current(link.to)) in ends
        for link in note_set.links(note)
    )


def perhaps(note_set: NoteSet, row: HitRow, others: Sequence[str]) -> list[str]:
    """Return those of the notes that may contradict a note that hold now, as it does."""
    known = (row["id"], *row["contradicted_by"])
    held = [other for other in others if other not in known]
    read = (note_set.prose(other) for other in held if row["status"] in HOLDING)
    return sorted(there.id for there in read if there is not None and _holds(note_set, there))


def compare(note_set: NoteSet, rows: Sequence[HitRow], notes: Sequence[Prose]) -> None:
    """Say of rows which notes may contradict them, by their words, of those that were asked for and hold now."""
    held = [note for note in notes[:COMPARED] if _holds(note_set, note)]
    known = {row["id"]: row["contradicted_by"] for row in rows}
    found = disputes({note.id: said(note.title, note.body) for note in held}, known, NEAREST)
    for row in rows:
        row["may_contradict"] = found.get(row["id"], [])


def across(answers: Iterable[Sequence[HitRow]]) -> None:
    """Say of notes that several ledgers answer with which of another's contradict them: by a key, or by their words."""
    held = [
        (at, row) for at, rows in enumerate(answers) for row in rows
        if row["record"] == "note" and row["status"] in HOLDING and not row["expired"]
    ]  # fmt: skip
    texts = {row["id"]: said(row["title"], row["text"]) for _, row in held}
    opposed = {frozenset((pair.one, pair.other)) for pair in conflicts(texts)}
    for (at, one), (there, other) in combinations(held, 2):
        lives = not (one["draft"] or other["draft"])
        claims_same = lives and one["key"] == other["key"] is not None and _body(one) != _body(other)
        if at == there or not (claims_same or frozenset((one["id"], other["id"])) in opposed):
            continue
        for row, against in ((one, other), (other, one)):
            known = row["contradicted_by"] if claims_same else row["may_contradict"]
            known.append(against["id"])


def _body(row: HitRow) -> str:
    """Return what a note says, as far as an answer shows it, or else its title."""
    return plain(row["text"] or row["title"])


def _holds(note_set: NoteSet, note: Prose) -> bool:
    return note_set.status(note.id) in HOLDING and not note_set.is_expired(note)
