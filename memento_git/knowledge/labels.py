"""What was found, as rows that carry their labels: state, places in the code, trust, origin, age, what contradicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from memento_git.knowledge import handoffs
from memento_git.knowledge.injection import instructive, orders
from memento_git.ledger import layout
from memento_git.model.anchors import CHANGED, GONE, MOVED, OK, UNKNOWN, UNPINNED
from memento_git.model.clock import seconds_of
from memento_git.model.knowledge import validity
from memento_git.model.states import TRUSTS

if TYPE_CHECKING:
    from memento_git.knowledge.anchor_locations import AnchorLocations
    from memento_git.knowledge.index_entries import Header
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.view import View
    from memento_git.model.note_rows import Answer, HitRow
    from memento_git.model.rows import AnyRow, Row
    from memento_git.model.work import Prose

    RecordStates = Callable[[View, Iterable[str]], dict[str, AnyRow]]

WORST: Final = (GONE, CHANGED, UNKNOWN, UNPINNED, MOVED, OK)
DAY: Final = 86400
SOME_FAILED: Final = "some_failed"
UNKNOWN_STATE: Final = {"trust": None, "outcome": None, "stale": None, "doubts": ()}


def nothing_known(view: View, ids: Iterable[str]) -> dict[str, Row]:  # noqa: ARG001 (the shape of what tells more)
    """Return nothing of any record: for who asks without the work's rules at hand."""
    return {}


def note_hit(note_set: NoteSet, note: Prose, drafts: Collection[str] = ()) -> HitRow:
    """Return a note as a hit; its places and its evidence are judged later, for all hits at once."""
    data, text = note.data, handoffs.told(note_set, note)
    answer, progress = _answer(note_set, note.id), note_set.progress(note.id)
    confirmed, _, before = note_set.confirmed(note)
    return {
        "id": note.id,
        "record": "note",
        "kind": data["kind"],
        "domain": layout.domain_of(note.path),
        "title": note.title,
        "key": data.get("key"),
        "path": note.path,
        "run": None,
        "status": "draft" if note.id in drafts else note_set.status(note.id),
        "expired": note_set.is_expired(note), "incomplete": note_set.is_incomplete(note.id),
        "validity": validity(data, note_set.view.now) or None,
        "draft": note.id in drafts,
        "origin": data["origin"],
        "actor": data["by"],
        "created_at": data["at"],
        "age_days": age(data["at"], note_set.view.now),
        "confirmed_at": confirmed or None,
        "confirmed_before": before or None,
        "importance": data.get("importance"), "confidence": data.get("confidence"),
        "thread": data.get("thread"), "to": data.get("to"),
        "tags": note.list("tags"),
        "pinned": bool(data.get("pinned")),
        "about": [{"anchor": str(one), "state": None} for one in note_set.anchors(note)],
        "anchors": None,
        "evidence": [{"id": str(ref).partition("@")[0], "ref": str(ref)} for ref in note.list("evidence")],
        "trust": None, "outcome": None, "stale": None, "proven": None, "run_status": None, "doubts": [],
        "successor": _successor(note_set, note.id), "answer": answer, "progress": progress,
        "instead_of": [], "contradicted_by": [],
        "may_contradict": [],
        "orders": orders(data, "\n\n".join([text, *_words_of(answer, progress)])),
        "text": text,
        "weak": False, "score": None, "query": None, "words": [], "alike": [], "parts": [], "events": [],
    }  # fmt: skip


def _answer(note_set: NoteSet, note: str) -> Answer | None:
    """Return what resolved a note: the note that answers it by now, if one does, and what was said of it."""
    if note_set.status(note) != "resolved":
        return None
    named = note_set.successor(note)
    said = [one.get("note") for one in note_set.folded(note).legal("resolved") if one.get("answer") == named]
    answer = note_set.current(named) if named else ""
    there = note_set.prose(answer)
    return {
        "note": answer or None,
        "status": note_set.status(answer) if answer else None,
        "title": there.title if there is not None else None,
        "said": said[-1] or None if said else None,
    }


def _words_of(answer: Answer | None, progress: Row | None) -> list[str]:
    told = [answer["title"], answer["said"]] if answer else []
    return [one for one in (*told, *(progress or {}).values()) if one]


def _successor(note_set: NoteSet, note: str) -> str | None:
    current = note_set.current(note)
    return None if current == note else current


def record_hit(header: Header, text: str, now: str, events: Sequence[tuple[Header, str]]) -> HitRow:
    """Return a record that is no note as a hit, with the same keys; what `events` of it say stands before its text."""
    text = "\n".join([*(f"{one.title} {one.time[:10]}, {one.id}: {said}" for one, said in events), text])
    return {
        "weak": False, "score": None, "query": None, "words": [], "alike": [], "parts": [],
        "events": [one.id for one, _ in events],
        "id": header.id, "record": header.kind, "kind": header.kind, "domain": None, "title": header.title,
        "path": header.path, "run": header.run or None, "status": None, "expired": False, "incomplete": False,
        "draft": False,
        "origin": header.origin or None,
        "actor": header.by or None, "created_at": header.time or None, "age_days": age(header.time, now),
        "validity": None, "key": None, "confirmed_at": None, "confirmed_before": None, "importance": None,
        "confidence": None, "thread": None, "to": None, "proven": None, "run_status": None, "doubts": [],
        "successor": None,
        "answer": None, "progress": None, "trust": None, "outcome": None, "stale": None,
        "tags": list(header.tags), "pinned": False,
        "about": [{"anchor": path, "state": None} for path in header.files], "anchors": None, "evidence": [],
        "instead_of": [], "contradicted_by": [], "may_contradict": [], "text": text,
        "orders": instructive(text, header.title, wrapped=header.kind != "evidence"),
    }  # fmt: skip


def age(at: str | None, now: str) -> int | None:
    """Return how many whole days ago something was; none where its time cannot be read."""
    try:
        return max(int((seconds_of(now) - seconds_of(at)) // DAY), 0) if at else None
    except ValueError:
        return None


def vouch(view: View, hits: Sequence[HitRow], record_states: RecordStates) -> None:
    """Say in hits how far their evidence is trusted, how it ended, whether it is stale; of other records the state."""
    wanted = [one["ref"] for hit in hits for one in hit["evidence"]]
    wanted += [hit["id"] for hit in hits if hit["record"] not in ("note", "skill")]
    told = record_states(view, wanted) if wanted else {}
    for hit in hits:
        hit["evidence"] = [
            {"id": one["id"], **told.get(one["ref"], {"status": None, **UNKNOWN_STATE})} for one in hit["evidence"]
        ]
        held = [one for one in hit["evidence"] if one["trust"] and one["status"] == "recorded"]
        ends = {one["outcome"] for one in held}
        if held:
            hit["trust"] = min((one["trust"] for one in held), key=_place_in(TRUSTS))
            stale = [one["stale"] for one in held]
            hit["stale"] = None if None in stale and False not in stale else all(stale)
            hit["outcome"] = ends.pop() if len(ends) == 1 else SOME_FAILED if "failed" in ends else None
        if hit["id"] in told and hit["record"] != "note":
            hit.update(told[hit["id"]])


def _place_in(words: Sequence[str]) -> Callable[[str], int]:
    return lambda word: words.index(word) if word in words else len(words)


def locate(hits: Sequence[HitRow], locations: AnchorLocations) -> None:
    """Say in hits what became of the places in the code that they are about."""
    notes = [hit for hit in hits if hit["record"] == "note" and hit["about"]]
    held = locations.of(hit["id"] for hit in notes)
    for hit in notes:
        if places := held[hit["id"]]:
            hit["about"] = [one.data() for one in places]
            hit["anchors"] = min((one["state"] for one in hit["about"]), key=_place_in(WORST))
