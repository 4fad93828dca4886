"""What a note is connected with: what it came from, what is around it, and the others of its thread."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from memento_git.errors import Misused
from memento_git.model.work import Prose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.folding.rows import Row
    from memento_git.knowledge.shelf import Shelf

MOST: Final = 40
DEPTH: Final = 2


def sources(shelf: Shelf, note: Prose) -> list[Row]:
    """Return all that a note came from, down to the ends: notes it supersedes or sums up, evidence, addresses."""
    rows: list[Row] = []
    seen, waiting = {note.id}, deque([(note, 1)])
    while waiting and len(rows) < MOST:
        here, depth = waiting.popleft()
        for rel, end in _ends(here):
            found = _note(shelf, end)
            rows.append({**_row(shelf, end, found), "rel": rel, "of": here.id, "depth": depth})
            if found is not None and end not in seen:
                seen.add(end)
                waiting.append((found, depth + 1))
    return rows[:MOST]


def _ends(note: Prose) -> Iterable[tuple[str, str]]:
    """Yield relation and what is named of all that a note rests on."""
    for key in ("supersedes", "sources", "evidence"):
        yield from ((key, str(name).partition("@")[0] if key == "evidence" else str(name)) for name in note.list(key))


def _note(shelf: Shelf, identity: str) -> Prose | None:
    path = shelf.path(identity)
    found = shelf.view.record(path) if path else None
    return found if isinstance(found, Prose) else None


def _row(shelf: Shelf, identity: str, note: Prose | None) -> Row:
    known = {"kind": note.data["kind"], "title": note.title, "status": shelf.status(identity)} if note else {}
    return {"id": identity, "kind": None, "title": None, "status": None, **known}


def graph(shelf: Shelf, note: Prose, depth: int = DEPTH) -> Row:
    """Return the records within some steps of a note, the nearest first, and the links between them."""
    found: dict[str, int] = {note.id: 0}
    links: dict[tuple[str, str, str], None] = {}
    waiting = deque([note.id])
    while waiting:
        here = waiting.popleft()
        known = _note(shelf, here)
        if known is None or found[here] >= depth:
            continue
        out = [(here, link.rel, link.to) for link in shelf.links(known)]
        out += [(here, rel, end) for rel, end in _ends(known) if rel != "sources" or end in shelf.index.prose]
        back = [(other, rel, here) for rel, other in shelf.backlinks(here)]
        for source, rel, end in (*out, *back):
            other = end if source == here else source
            if other not in found and len(found) >= MOST:
                continue
            links[source, rel, end] = None
            if other not in found:
                found[other] = found[here] + 1
                waiting.append(other)
    nodes = [{**_row(shelf, name, _note(shelf, name)), "depth": steps} for name, steps in found.items()]
    return {"nodes": nodes, "links": [{"from": one, "rel": rel, "to": other} for one, rel, other in links]}


def thread(shelf: Shelf, note: Prose) -> list[Row]:
    """Return the notes of a note's thread in the order of their making, dead ends too."""
    name = note.data.get("thread")
    members = [one for one in shelf.readable() if one.data.get("thread") == name] if name else [note]
    return [{**_row(shelf, one.id, one), "created_at": one.data["at"], "text": one.body} for one in members]


class NothingOfThat(Misused):
    """A part of a note's story that other records do not have."""

    token = "what_of_notes"
    sentence = "--what {what} tells of notes, and {record} is none"
    hint_ = "leave --what out: memento show {record}"
