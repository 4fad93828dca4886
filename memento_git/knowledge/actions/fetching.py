"""import --from-project: single notes of another project's ledger, each with a source that says where it is from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from memento_git.errors import Refused
from memento_git.knowledge.actions.importing import take_in
from memento_git.knowledge.foreign.entries import Entry, Found, domain, given
from memento_git.knowledge.note_input import SHARES
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.refusals import KeyUnknown
from memento_git.knowledge.transitions import LIVE
from memento_git.ledger import layout
from memento_git.ledger.git import Git
from memento_git.ledger.store import Ledger
from memento_git.model.exchange import Brought, LeftOut
from memento_git.model.ids import ID, NoSuchRecord
from memento_git.model.work import Prose

SCHEME: Final = "project:"
KEPT: Final = ("kind", "key", "tags", "aliases", "valid_from", "valid_to", "thread", "to", "pinned")
TOLD_OTHERWISE: Final = ("anchored", "linked", "unlinked", "promoted")


class NoteHereAlready(Refused):
    token = "note_here_already"
    sentence = "{notes} of {project}: here already, so nothing was taken"
    hint_ = "see it: memento recall QUERY; leave it out, or better the note that is here: memento note revise NOTE"


class NoteNotTaken(Refused):
    token = "note_not_taken"
    sentence = "{note} of {project} cannot be taken: {why}"
    hint_ = "see what is there: memento note list --project PATH; memento note show NOTE --project PATH"


def fetch_notes(ledger: Ledger, other: Ledger, names: Sequence[str], *, dry_run: bool = False) -> Brought:  # fmt: skip
    """Take notes of another ledger, named by id or key, in one commit: all of them, or none.

    Their origin is import; one that is parked there is parked here. What else happened to them, the evidence and the
    code that they rest on stay there.
    """
    project = name_of(other.git)
    other.git.progress = ledger.git.progress
    note_set = NoteSet(other.view())
    notes = {note.id: note for note in (_found(note_set, name, project) for name in names)}
    skipped: list[LeftOut] = []
    entries = [_entry(note_set, note, project, skipped) for note in notes.values()]

    def judge(brought: Brought) -> None:
        if brought.existing:
            titles = ", ".join(repr(one.title) for one in brought.existing)
            raise NoteHereAlready(notes=titles, project=project)
        for entry in entries if len(brought.added) + len(brought.drafts) < len(entries) else ():
            for one in brought.skipped:
                if one.where == entry.where and one not in skipped:
                    raise NoteNotTaken(note=entry.name, project=project, why=one.why)

    return take_in(ledger, Found(entries, skipped), dry_run=dry_run, judge=judge)


def _found(note_set: NoteSet, name: str, project: str) -> Prose:
    """Return a note of the other project; where it has none of that name, say so of that project."""
    try:
        return note_set.find(name)
    except (KeyUnknown, NoSuchRecord) as missing:
        raise NoteNotTaken(note=name, project=project, why=f"{missing.message} there") from None


def name_of(git: Git) -> str:
    """Return what a project is called: its repository at the remote, else its folder; never where that lies."""
    url = git.answer("config", "--get", "remote.origin.url") or ""
    parts = (part.removesuffix(".git") for part in reversed(re.split(r"[/\\:]", url)))
    there = next((part for part in parts if part not in ("", ".", "..")), "")
    return there or (git.top or git.common_dir).name.removesuffix(".git") or "project"


def _entry(note_set: NoteSet, note: Prose, project: str, skipped: list[LeftOut]) -> Entry:
    status = note_set.status(note.id)
    if status not in LIVE:
        after = note_set.current(note.id)
        why = f"it is {status} there" + (f"; {after} took its place" if after != note.id else "")
        raise NoteNotTaken(note=note.id, project=project, why=why)
    where = f"{project}/{note.id}"
    told = list(_left(note_set, note))
    skipped += [LeftOut(where, f"{what} stayed there") for what in told]
    sources = (f"{SCHEME}{where}", *(one for one in note.list("sources") if not ID.match(one)))
    options: dict[str, Any] = {key: note.data.get(key) for key in KEPT}
    options |= {"tier": note_set.tier(note), "expires": note_set.expires(note)}
    options |= {key: str(note.data[key]) for key in SHARES if note.data.get(key) is not None}
    return Entry(
        where, note.id, note.body,
        given(title=note.title, domain=domain(layout.domain_of(note.path)), sources=sources, **options),
        at=str(note.data["at"]),
        links=tuple((link.rel, note_set.current(link.to)) for link in note_set.links(note) if note_set.path(link.to)),
        state="parked" if status == "parked" else "", reason=_why_parked(note_set, note) if status == "parked" else "",
    )  # fmt: skip


def _why_parked(note_set: NoteSet, note: Prose) -> str:
    """Return why a note was parked last."""
    reasons = [event.get("reason") for event in note_set.folded(note.id).legal("parked")]
    return reasons[-1] if reasons else ""


def _left(note_set: NoteSet, note: Prose) -> Iterator[str]:
    """Yield what of a note is of no use in another project."""
    if note_set.about(note):
        yield "the places in the code that it is about"
    if note.list("evidence"):
        yield "the evidence that it rests on"
    if any(not note_set.path(link.to) for link in note_set.links(note)):
        yield "its links to runs, tasks and evidence"
    verbs = [event.do for event in note_set.folded(note.id).legal() if event.do not in TOLD_OTHERWISE]
    if verbs and note_set.status(note.id) == "parked":
        verbs.pop(len(verbs) - 1 - verbs[::-1].index("parked"))
    if verbs:
        yield f"what happened to it ({', '.join(dict.fromkeys(verbs))})"
