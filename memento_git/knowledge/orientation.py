"""Where a project stands, for whoever begins to work: the last handoff, what is open, what was corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.handoffs import is_handoff
from memento_git.knowledge.labels import UNKNOWN_STATE, nothing_known
from memento_git.knowledge.note_rows import note_row
from memento_git.knowledge.transitions import CURRENT, LIVE

if TYPE_CHECKING:
    from memento_git.knowledge.labels import RecordStates
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.note_rows import NoteRow
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose

MOST: Final = 10
KINDS: Final = ("question", "gap", "goal", "checkpoint")


def session_orientation(note_set: NoteSet, by: str, record_states: RecordStates = nothing_known) -> Row:
    """Return what one should know first of what holds now, and how many were left out because of their state.

    Where others handed over since `by` did, what they left themselves is told as well. `record_states` tells what the
    evidence of a note comes to; each note has in `doubts` what was taken back of it.
    """
    now = note_set.in_force()
    held = {note.id for note in now}
    interest = _of_interest(note_set, note_set.readable(), held)
    counts = Counter(_state(note_set, note) for note in interest if note.id not in held)
    handoffs = _handoffs(now)
    own = next((note for note in reversed(handoffs) if note.data["by"] == by), None)
    told = {
        **orientation(note_set, now),
        "own_handoff": note_row(note_set, own) if own is not None and own is not handoffs[-1] else None,
    }
    lists = [told[name] for name in _lists(note_set, ())]
    _doubt(
        note_set, [*filter(None, (told["handoff"], told["own_handoff"])), *chain.from_iterable(lists)], record_states
    )
    return {**told, "left_out": dict(counts)}


def _doubt(note_set: NoteSet, rows: Sequence[NoteRow], record_states: RecordStates) -> None:
    """Say in rows of notes what they rest on and was taken back since."""
    refs = {row["id"]: [str(ref) for ref in note_set.note(row["id"]).list("evidence")] for row in rows}
    wanted = list(chain.from_iterable(refs.values()))
    told = record_states(note_set.view, wanted) if wanted else {}
    for row in rows:
        stand = [(ref.partition("@")[0], told.get(ref, UNKNOWN_STATE)) for ref in refs[row["id"]]]
        back = [(name, one["status"]) for name, one in stand if one["trust"] and one["status"] != "recorded"]
        row["doubts"] = [f"rests on {name}: {status}" for name, status in back]


def orientation(note_set: NoteSet, notes: Sequence[Prose], most: int = MOST) -> Row:
    """Return what one should know first of some notes; of each list the latest `most`, and how many more there are."""
    handoffs, lists = _handoffs(notes), _lists(note_set, notes)
    return {
        "handoff": note_row(note_set, handoffs[-1]) if handoffs else None,
        **{name: [note_row(note_set, note) for note in reversed(found[-most:])] for name, found in lists.items()},
        "omitted": {name: len(found) - most for name, found in lists.items() if len(found) > most},
    }


def _lists(note_set: NoteSet, notes: Sequence[Prose]) -> dict[str, list[Prose]]:
    return {
        "pinned": [note for note in notes if note.data.get("pinned")],
        **{f"{kind}s": [note for note in notes if note.data["kind"] == kind] for kind in KINDS},
        "corrections": [note for note in notes if note.list("supersedes")],
        "contested": [note for note in notes if note_set.status(note.id) == "contested"],
    }


def _of_interest(note_set: NoteSet, notes: Sequence[Prose], held: set[str]) -> list[Prose]:
    """Return the notes that stand in a list, or would but for their state, and the handoffs later than the last."""
    live = [note for note in notes if note_set.status(note.id) in (*LIVE, *CURRENT)]
    listed = [note for found in _lists(note_set, live).values() for note in found]
    later = takewhile(lambda note: note.id not in held, reversed(_handoffs(notes)))
    return list({note.id: note for note in (*listed, *later)}.values())


def _handoffs(notes: Sequence[Prose]) -> list[Prose]:
    return [note for note in notes if is_handoff(note)]


def _state(note_set: NoteSet, note: Prose) -> str:
    """Return why a note is left out."""
    status = note_set.status(note.id)
    return "expired" if status in CURRENT else status
