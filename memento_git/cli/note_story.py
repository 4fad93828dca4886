"""A note as it is shown: all of it, or one part of its story."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import naming, output, terminal
from memento_git.knowledge.quoting import MARGIN, fenced
from memento_git.model.anchors import MOVED, OK
from memento_git.model.enumeration import many
from memento_git.model.ids import IdInvalid, NoSuchRecord, WrongKind, is_id
from memento_git.model.knowledge import RELATIONS

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose


def walked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how far, and along which links, a graph goes."""
    options = (
        click.option("--depth", type=click.IntRange(1, 10), default=None, help="Of the graph: how far, 2 by default."),
        click.option("--direction", type=click.Choice(("both", "out", "in")), default=None,
                     help="Of the graph: along links from a note, to it, or both, the default."),
        click.option("--rel", "rels", type=click.Choice((*RELATIONS, "supersedes", "sources", "evidence")),
                     multiple=True, help="Of the graph: along these links alone; repeatable."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def shown(call: Call, given: str, what: str | None = None, walk: Mapping[str, Any] | None = None) -> None:
    """Show a note and its history, or one part of its story."""
    from memento_git.knowledge import note_rows
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.knowledge.refusals import NoteRedacted

    view = call.view()
    note_set = NoteSet(view)
    options = {key: value for key, value in (walk or {}).items() if value}
    if options and what != "graph":
        from memento_git.knowledge.connections import GraphOnly

        raise GraphOnly
    try:
        found = note_set.find(given)
        call.ledger.warn(*note_rows.remarks(note_set, found.id))
    except NoteRedacted as gone:
        if what in TOLD:
            raise
        _story(call, note_set, note_rows.redacted_row(note_set, str(gone.facts["note"])), what)
        return
    except NoSuchRecord:
        draft = draft_of(call, given)
        if draft is None or what not in (None, "entry"):
            raise
        _story(call, note_set, note_rows.as_note(call.view(), draft), "entry", draft.list("evidence"))
        return
    if what in TOLD:
        _part(call, note_set, found, what, options)
        return
    _story(call, note_set, note_rows.note_row(note_set, found), what, found.list("evidence"))


def shown_beside(call: Call, given: str, what: str | None, walk: Mapping[str, Any]) -> bool:
    """Show what a name means that is of no record, a draft of this clone or a place; tell whether it is one."""
    if draft_of(call, given) is not None:
        shown(call, given, what, walk)
        return True
    if is_place(given, what):
        shown_place(call, given)
        return True
    return False


def draft_of(call: Call, given: str) -> Prose | None:
    """Return the draft of this clone that an id, or the beginning of one, names; none is part of any revision."""
    from memento_git.knowledge.drafts import Drafts

    with contextlib.suppress(NoSuchRecord, IdInvalid, WrongKind):
        return None if call.at else Drafts(call.ledger.git).find(given)
    return None


def _story(
    call: Call, note_set: NoteSet, row: Mapping[str, Any], what: str | None, refs: Sequence[object] = ()
) -> None:
    from memento_git.knowledge import note_rows
    from memento_git.ledger import revisions

    events = [] if what == "entry" else note_rows.history(note_set, row["id"])
    revised = revisions.changed(note_set.view, note_set.path(row["id"])) if what == "history" else []
    more: dict[str, Any] = {"changed": revised} if what == "history" else {}
    evidence = [{"id": str(ref).partition("@")[0], "ref": str(ref)} for ref in refs]
    _stand(note_set.view, evidence)
    places = _places(call, note_set, row)

    def text() -> str:
        names = output.Names(note_set.view)
        told = {key: value for key, value in row.items() if key not in _fenced(row)}
        told |= {"about": [f"{one['state']}: {naming.place(one)}" for one in places]} if places else {}
        told |= {"evidence": [f"{one['id']}: {_facts(one)}" for one in evidence]} if evidence else {}
        parts = [] if what == "history" else [*output.fields(told, names), *_said(row, naming.whose())]
        happened = output.happened(events, names)
        told_of = [*happened, *_rewritten(row["id"], revised)]
        told_of = told_of or ([] if parts else ["nothing happened to it since it was added"])
        return "\n".join([*parts, *([""] if happened and parts else []), *told_of])

    call.show({"note": row, "audit": events, "evidence": evidence, "places": places, **more}, text)


def _places(call: Call, note_set: NoteSet, row: Mapping[str, Any]) -> list[Row]:
    """Return what became of the places that a note is about; a draft's are as they were written."""
    from memento_git.knowledge.anchor_locations import AnchorLocations

    if row["status"] == "draft" or not row.get("about"):
        return []
    held = AnchorLocations(note_set, at_commit=bool(call.at)).of([row["id"]])
    return [one.data() for one in held[row["id"]]]


def _rewritten(note: str, commits: Sequence[Row]) -> list[str]:
    """Return in lines which commits changed the file of a note: that it was revised is no event."""
    told = ((one["date"][:10], one["commit"][:10], one["author"], one["subject"]) for one in commits)
    lines = output.columns([output.printable(cell) for cell in row] for row in told)
    return ["its file was changed by:", *lines, f"and how: memento note show {note} --what diff"] if lines else []


def _stand(view: View, rows: Sequence[Row]) -> None:
    """Say in rows of records that are no notes what these come to; `ref` names the very file that is meant."""
    from memento_git.review.records import record_states

    refs = [row.pop("ref", row["id"]) for row in rows]
    told = record_states(view, [ref for ref, row in zip(refs, rows, strict=True) if _is_record(row["id"])])
    for ref, row in zip(refs, rows, strict=True):
        row.update(told.get(ref, {}))


def _is_record(identity: str) -> bool:
    return any(is_id(identity, kind) for kind in ("run", "plan", "task", "evidence"))


def _facts(row: Row) -> str:
    told = [row[key] for key in row if key not in ("id", "title") and isinstance(row[key], str)]
    return ", ".join([*told, *_doubts(row)])


def _doubts(row: Row) -> list[str]:
    return row.get("doubts") or (["stale"] if row.get("stale") else [])


def _fenced(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which words of a row stand apart: of a draft, for which nobody may vouch, the title too."""
    return ("title", "text") if row["status"] == "draft" else ("text",)


def _said(row: Mapping[str, Any], whose: str) -> list[str]:
    if row["status"] != "draft":
        return ["", terminal.clean(row["text"])] if row.get("text") else []
    words = row["text"] if row["text"].startswith(row["title"]) else f"{row['title']}\n\n{row['text']}"
    draft = f"{row['id']}{whose}"
    ways = f"memento session promote {draft} makes a note of it, memento session discard {draft} drops it"
    return ["", MARGIN, *fenced(words), "", f"a draft, of one clone alone: {ways}"]


def _part(call: Call, note_set: NoteSet, found: Prose, what: str, walk: Mapping[str, Any]) -> None:
    """Show what a note came from, what is around it, its thread, who wrote its lines, what was changed of it."""
    from memento_git.knowledge import connections
    from memento_git.ledger import revisions

    view = note_set.view
    tell: dict[str, Callable[[], Any]] = {
        "sources": lambda: connections.sources(note_set, found),
        "graph": lambda: connections.graph(note_set, found, **walk),
        "thread": lambda: connections.thread(note_set, found),
        "blame": lambda: revisions.blame(view, found.path),
        "diff": lambda: revisions.revisions(view, found.path),
    }
    told = tell[what]()
    members = told["nodes"] if what == "graph" else told
    if what in ("sources", "graph"):
        _stand(view, [row for row in members if row["status"] is None])
    lines = [*map(TOLD[what], members)]
    if what == "graph":
        lines += ["", *(f"{one['from']} {one['rel']} {one['to']}" for one in told["links"])]
        lines += [f"{many(told['omitted'], 'more record')}: take fewer steps, or --rel"] if told["omitted"] else []
    call.show({"id": found.id, what: told}, lambda: "\n".join(lines) or f"{found.id} has no {what}")


def _near(row: Row) -> str:
    from memento_git.knowledge.rendering import proof

    state = ", ".join(filter(None, (row["status"], proof(row), row.get("trust"), row.get("outcome"), *_doubts(row))))
    told = [row.get("rel") or "", output.printable(row["id"]), state, output.printable(row["title"] or "")]
    return f"{'  ' * row.get('depth', 0)}{'  '.join(one for one in told if one)}"


def _member(row: Row) -> str:
    sure, why = _sure(row), f"\n  why: {output.printable(row['reason'])}" if row["reason"] else ""
    return f"{_dated(row)}  {row['id']}  {row['status']}  {output.printable(row['title'])}{sure}{why}"


def _blamed(row: Row) -> str:
    return f"{row['commit'][:10]}  {output.printable(row['author'])[:20]:<20}  {terminal.clean(row['text'])}"


def _revised(row: Row) -> str:
    head = f"{row['commit'][:10]}  {row['date'][:10]}  {output.printable(row['author'])}  "
    return f"{head}{output.printable(row['subject'])}\n{terminal.clean(row['patch'])}\n"


TOLD: Final[dict[str, Callable[[Any], str]]] = {
    "sources": _near, "graph": _near, "thread": _member, "blame": _blamed, "diff": _revised,
}  # fmt: skip
PARTS: Final = ("entry", "history", *TOLD)


def is_place(given: str, what: str | None) -> bool:
    """Tell whether a text that names no record is meant as a place in the code, whose notes' writers are asked for."""
    return what == "blame" and any(sign in given for sign in "/.:")


def shown_place(call: Call, given: str) -> None:
    """Show who wrote the notes that are about a file, or lines of it."""
    from memento_git.cli.code import opened
    from memento_git.knowledge import reading

    with opened(call, reading.path_of(given)) as overlay:
        told = reading.blame(overlay, given)
    call.show(told, lambda: "\n".join(map(_placed, told["blame"])) or f"no note is about {told['place']}")


def _placed(row: Row) -> str:
    place = f"{row['path']}:{row['lines']}" if row["lines"] else naming.spot(row, row["path"])
    state = "" if row["state"] in (OK, MOVED) else f" ({row['state']})"
    told = f"{output.printable(place)}{state}  {output.printable(row['title'])}"
    return f"{_dated(row)}  {row['id']}  {told}{_sure(row)}"


def _dated(row: Row) -> str:
    return f"{row['created_at'][:10]}  {output.printable(row['actor'].partition(' <')[0]):<20}"


def _sure(row: Row) -> str:
    return "" if row["confidence"] is None else f"  confidence {row['confidence']}"


def shown_event(call: Call, identity: str) -> None:
    """Show one thing that happened to a note."""
    from memento_git.knowledge import note_rows
    from memento_git.knowledge.note_set import NoteSet

    view = call.view()
    row = note_rows.happened(NoteSet(view), identity)
    output.record(call, view, row, {"event": row, "audit": []})
