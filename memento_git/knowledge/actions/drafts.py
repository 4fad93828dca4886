"""Drafts: made without a commit, promoted in one."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from memento_git.errors import Refused
from memento_git.knowledge import neighbours
from memento_git.knowledge.actions.notes import Added, admit, write
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.injection import unvouched
from memento_git.knowledge.note_input import NewNote, NoteInput, prepare
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.refusals import DraftTakenOut
from memento_git.knowledge.sessions import Sessions
from memento_git.knowledge.shortterm import Item, ShortTerm
from memento_git.knowledge.tombstones import Tombstones, why_out
from memento_git.ledger import layout
from memento_git.ledger.store import Ledger
from memento_git.ledger.transaction import Transaction
from memento_git.model import anchors
from memento_git.model.ids import NoSuchRecord, resolve
from memento_git.model.work import Prose

INSTEAD: Final = "{note} takes the place of {old} ({origin}): {title}; take it back: memento note restore {old}"


def draft_note(ledger: Ledger, text: str, **options: Any) -> Prose:
    """Keep a note as a draft of this clone: nothing is committed, nothing else is judged than its own content.

    One that is in all the same, but for when it was made, stays.
    """
    drafts = Drafts(ledger.git)
    made = prepare(NoteWriter.apart(ledger), NoteInput(text=text, **options))
    same = _content(made.data, made.body, made.domain)
    for held in drafts.all():
        if _content(held.data, held.body, layout.domain_of(held.path)) == same:
            return held
    return drafts.find(drafts.add(made.data, made.body, made.domain))


def _content(data: Mapping[str, Any], body: str, domain: str) -> tuple[object, ...]:
    told = {key: value for key, value in data.items() if value and key not in ("id", "at")}
    return told, body, domain


def promote_drafts(tx: Transaction, given: Sequence[str] = (), *, everything: bool = False) -> list[Added]:
    """Make drafts, or items of the short tier, notes of the ledger; without a name those of who acts.

    Of these, none of a scan, and none of before the session that is open; with `everything` all, but for those that
    give orders. What says what was imported and then redacted stays a draft: named, it is refused.
    They go from where they were once that is committed, or at once where notes say it all already. An item becomes a
    fact of the tier medium, or a draft of one where it gives orders and nobody vouches for it. Who wrote it, and where
    it comes from, stay with either.
    """
    writer, held = NoteWriter.of(tx), Drafts(tx.ledger.git)
    short = ShortTerm(tx.ledger.git, writer.policy.short)
    items = {item.id: item for item in short.items()}
    drafts = {one.id: NewNote(one.data, one.body, layout.domain_of(one.path), "") for one in held.all()}
    gone = _taken_out(writer, drafts)
    there = {one: note for one in given if (note := _promoted_before(writer, one, {*drafts, *items}))}
    named = dict.fromkeys(resolve(one, "note", {*drafts, *items}) for one in given if one not in there)
    chosen = list(named) if given else _unnamed(tx, drafts, gone, everything=everything)
    for one in chosen:
        if one in gone:
            raise DraftTakenOut(draft=one, note=gone[one])
    told = (f"{one} stays a draft: {why_out(note)}, or memento session discard {one}" for one, note in gone.items())
    tx.ledger.warn(*(() if given else told))
    found = {one: drafts[one] if one in drafts else _fact(writer, items[one]) for one in chosen}
    turned = [draft for one, draft in found.items() if one not in drafts and unvouched(draft.data, draft.body)]
    added = [_promoted(writer, draft, chosen) for draft in _placed(tx, found.values()) if draft not in turned]
    for made in added:
        if not made.existing:
            neighbours.tell(writer, made.id, made.alike)

    def leave() -> None:
        held.remove(chosen)
        for draft in turned:
            held.add(*draft[:3])
        short.drop(set(chosen))

    if tx.changes:
        tx.after_commit.append(leave)
    else:
        leave()
    return [*added, *(Added(note, existing=True, alike=[]) for note in there.values())]


def _unnamed(
    tx: Transaction, drafts: Mapping[str, NewNote], gone: Collection[str], *, everything: bool
) -> list[str]:  # fmt: skip
    """Return the drafts that are promoted where none is named."""
    own = Sessions(tx.ledger.git).own(tx.actor, tx.ledger.now())
    kept = ("orders",) if everything else ("orders", "scanned", "others", "earlier")
    return [one for one, it in drafts.items() if one not in gone and own.left_out(it.data, it.body) not in kept]


def _promoted_before(writer: NoteWriter, given: str, waiting: Collection[str]) -> str:
    """Return the note that a name means which means no draft any more, for it was promoted, perhaps meanwhile."""
    with contextlib.suppress(NoSuchRecord):
        resolve(given, "note", waiting)
        return ""
    with contextlib.suppress(NoSuchRecord):
        note = writer.tx.view.find(given, "note")[0]
        happened = (one.event for one in writer.note_set.folded(note).events)
        return note if any(one.do == "promoted" and one.data.get("draft") for one in happened) else ""
    return ""


def _taken_out(writer: NoteWriter, drafts: Mapping[str, NewNote]) -> dict[str, str]:
    """Return draft -> the note that said the same and was redacted."""
    held = Tombstones(writer.note_set)
    found = {
        one: held.said(draft.data["origin"], draft.body, draft.data.get("sources") or ())
        for one, draft in drafts.items()
    }
    return {one: note for one, note in found.items() if note}


def _fact(writer: NoteWriter, item: Item) -> NewNote:
    """Return the note that an item of the short tier comes to: by whom, when and of what origin it was written."""
    made = prepare(writer, NoteInput(text=item.text, tier="medium"))
    return made._replace(data={**made.data, "id": item.id, "at": item.at, "by": item.by, "origin": item.whence})


def _placed(tx: Transaction, drafts: Iterable[NewNote]) -> list[NewNote]:
    """Return drafts with those of their places pinned whose code was committed since they were made."""
    from memento_git.knowledge.pinning import pin_quoted

    held = [*drafts]
    places = [anchors.from_data(place) for draft in held for place in draft.data.get("about") or ()]
    pinned = iter(pin_quoted(tx.ledger.git, places))
    return [
        draft._replace(data={**draft.data, "about": [next(pinned).data() for _ in draft.data["about"]]})
        if draft.data.get("about") else draft for draft in held
    ]  # fmt: skip


def _promoted(writer: NoteWriter, draft: NewNote, chosen: Sequence[str]) -> Added:
    """Promote one of the chosen; where it is refused, all are, and how to go on with it and the others is told."""
    try:
        return _kept(writer, draft)
    except Refused as error:
        one = draft.data["id"]
        others = " ".join(other for other in chosen if other != one)
        alone = f"; promote the others alone: memento session promote {others}" if others else ""
        error.hint = f"{error.hint}; drop the draft: memento session discard {one}{alone}"
        raise


def _kept(writer: NoteWriter, draft: NewNote) -> Added:
    made = admit(writer, draft.data, draft.body)
    if made.existing:
        return made
    write(writer, draft.data, draft.body, draft.domain)
    for name in draft.data.get("supersedes") or ():
        old = writer.find(name)
        writer.append(writer.note_set, old.id, "superseded", successor=made.id)
        writer.tx.ledger.warn(INSTEAD.format(note=made.id, old=old.id, origin=old.data["origin"], title=old.title))
    writer.append(writer.note_set, made.id, "promoted", draft=True)
    return made


def discard_drafts(ledger: Ledger, given: Sequence[str]) -> list[str]:
    """Drop drafts, or items of the short tier; return their ids."""
    held, short = Drafts(ledger.git), ShortTerm(ledger.git, ledger.view().policy().short)
    known = {*held.ids(), *(item.id for item in short.items())}
    gone = [resolve(one, "note", known) for one in given]
    held.remove(gone)
    short.drop({*gone})
    return gone
