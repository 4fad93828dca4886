"""What a note is connected with: what it came from, what is around it, and the others of its thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memento_git.errors import Misused
from memento_git.knowledge.changes import why
from memento_git.knowledge.note_rows import history
from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose

MOST: Final = 40
DEPTH: Final = 2


def sources(note_set: NoteSet, note: Prose) -> list[Row]:
    """Return all that a note came from, down to the ends: notes it supersedes or sums up, evidence, addresses.

    Of evidence `ref` names the very file that is meant.
    """
    rows: list[Row] = []
    seen, waiting = {note.id}, deque([(note, 1)])
    while waiting and len(rows) < MOST:
        here, depth = waiting.popleft()
        for rel, end in _ends(here):
            found = note_set.written(end)
            rows.append({**_row(note_set, end, found), "rel": rel, "of": here.id, "depth": depth})
            if rel == "evidence":
                rows[-1]["ref"] = next(str(ref) for ref in here.list("evidence") if str(ref).startswith(end))
            if found is not None and end not in seen:
                seen.add(end)
                waiting.append((found, depth + 1))
    return rows[:MOST]


def _ends(note: Prose) -> Iterable[tuple[str, str]]:
    """Yield relation and what is named of all that a note rests on."""
    for key in ("supersedes", "sources", "evidence"):
        yield from ((key, str(name).partition("@")[0] if key == "evidence" else str(name)) for name in note.list(key))


def _row(note_set: NoteSet, identity: str, note: Prose | None) -> Row:
    known = {"kind": note.data["kind"], "title": note.title, "status": note_set.status(identity)} if note else {}
    return {"id": identity, "kind": None, "title": None, "status": None, **known}


def graph(
    note_set: NoteSet, note: Prose, depth: int = DEPTH, *, direction: str = "both", rels: Sequence[str] = ()
) -> Row:  # fmt: skip
    """Return the records within some steps of a note, the nearest first, and the links between them.

    `direction` says whether links are followed from a note (out), to it (in) or both ways, `rels` which ones. At most
    40 records are told; how many more the links lead to is `omitted`.
    """
    found: dict[str, int] = {note.id: 0}
    left: set[str] = set()
    links: dict[tuple[str, str, str], None] = {}
    waiting = deque([note.id])
    resting = _resting(note_set) if direction != "out" else {}
    while waiting:
        here = waiting.popleft()
        if found[here] >= depth:
            continue
        for source, rel, end in _around(note_set, here, direction, resting):
            other = end if source == here else source
            if rels and rel not in rels:
                continue
            if other not in found and len(found) >= MOST:
                left.add(other)
                continue
            links[source, rel, end] = None
            if other not in found:
                found[other] = found[here] + 1
                waiting.append(other)
    nodes = [{**_row(note_set, name, note_set.written(name)), "depth": steps} for name, steps in found.items()]
    told = [{"from": one, "rel": rel, "to": other} for one, rel, other in links]
    return {"nodes": nodes, "links": told, "omitted": len(left)}


def _around(
    note_set: NoteSet, here: str, direction: str, resting: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[tuple[str, str, str]]:  # fmt: skip
    """Yield (from, relation, to) of the links of a record; of what is no note here only those that lead to it."""
    known = note_set.written(here)
    if direction != "in" and known is not None:
        yield from ((here, link.rel, link.to) for link in note_set.links(known))
        yield from ((here, rel, end) for rel, end in _records(note_set, known))
    if direction != "out":
        yield from ((other, rel, here) for rel, other in (*note_set.backlinks(here), *resting.get(here, ())))


def _resting(note_set: NoteSet) -> dict[str, list[tuple[str, str]]]:
    """Return record -> (relation, note) of the notes that supersede it, sum it up or rest on it."""
    return grouped((end, (rel, note.id)) for note in note_set.readable() for rel, end in _records(note_set, note))


def _records(note_set: NoteSet, note: Prose) -> Iterator[tuple[str, str]]:
    """Yield what a note rests on, but for the addresses among its sources."""
    return ((rel, end) for rel, end in _ends(note) if rel != "sources" or note_set.path(end))


def thread(note_set: NoteSet, note: Prose) -> list[Row]:
    """Return the notes of a note's thread in the order of their making, dead ends too: who said each, why one ended."""
    name = note.data.get("thread")
    members = [one for one in note_set.readable() if one.data.get("thread") == name] if name else [note]
    return [{**_row(note_set, one.id, one), **_story(note_set, one)} for one in members]


def _story(note_set: NoteSet, note: Prose) -> Row:
    """Return who said what, when and how sure, and why the note came to the state that it is in."""
    led = f"note.{note_set.status(note.id)}"
    return {
        "created_at": note.data["at"],
        "actor": note.data["by"],
        "confidence": note.data.get("confidence"),
        "text": note.body,
        "reason": why(row for row in history(note_set, note.id) if row["action"] == led),
    }


class GraphOnly(Misused):
    token = "options_of_graph"
    sentence = "--depth, --direction and --rel are for --what graph"
    hint_ = "memento note show NOTE --what graph --depth 3"


class NothingOfThat(Misused):
    token = "what_of_notes"
    sentence = "--what {what} shows notes, and {record} is not a note"
    hint_ = "leave --what out: memento show {record}"
