"""note: add revise link unlink confirm park resume retire restore merge resolve progress finish promote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from memento_git.knowledge import neighbours, similarity
from memento_git.knowledge import refusals as no
from memento_git.knowledge.injection import unvouched
from memento_git.knowledge.note_input import NoteInput, anchored, link, merged_origin, prepare, revised
from memento_git.knowledge.note_set import NoteSet, digest_of_places, digest_of_text
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.similarity import Coverage, Similarity
from memento_git.knowledge.transitions import refuse_known
from memento_git.ledger import layout
from memento_git.ledger.store import NothingToCommit
from memento_git.ledger.transaction import Transaction
from memento_git.model.anchors import from_data
from memento_git.model.knowledge import key_start, under
from memento_git.model.work import Prose
from memento_git.texts.typed import Reason

LOST: Final = (
    "not pinned, for the commit does not have it as it was: {places}; "
    "say where it is: memento note revise {note} --about PLACE"
)
UNNAMED: Final = (
    "lines alone, for no symbol there is like it: {places}; "
    "say what it is about: memento note revise {note} --about PLACE"
)
OVER: Final = "it has expired already, so it is not recalled: memento note revise {note} --expires WHEN"
PAST: Final = "it is {status}, so it is not recalled; what stands in its place is {after}: memento note show {after}"


class Added(NamedTuple):
    """A note that was added, or was there already; the live notes that are near to it.

    `carried` and `left` are the keys that it has and has not taken over from the notes whose place it takes;
    `expired` is when one that was there would have expired, where it lasts longer now.
    """

    id: str
    existing: bool
    alike: list[Similarity]
    carried: Sequence[str] = ()
    left: Sequence[str] = ()
    expired: str = ""


def add_note(
    tx: Transaction, text: str, *, beside_keys: bool = False, always: bool = False, compared: bool = True,
    **options: Any,
) -> Added:  # fmt: skip
    """Add a note; one with the very same text stays, and expires later where it is medium and so is this.

    `options` are those of `NoteInput`; with `beside_keys` one that has a key is not taken for a text without one, with
    `always` none is, for who said it and when is what counts; not `compared`, nothing is said to be near to it.
    """
    writer = NoteWriter.of(tx)
    new_note = prepare(writer, NoteInput(text=text, **options))
    _refuse_orders(new_note.data, new_note.body)
    made = admit(writer, new_note.data, new_note.body, beside_keys=beside_keys, always=always, compared=compared)
    if made.existing:
        return made._replace(expired=_prolonged(writer, made.id, new_note.data))
    write(writer, new_note.data, new_note.body, new_note.domain)
    for old in new_note.data["supersedes"]:
        writer.append(writer.note_set, old, "superseded", successor=new_note.data["id"], reason=new_note.reason)
    return made._replace(carried=new_note.carried, left=new_note.left)


def _refuse_orders(data: Mapping[str, Any], body: str) -> None:
    """Refuse to let live what reads like orders and is vouched for by nobody."""
    if signs := unvouched(data, body):
        raise no.GivesOrders(origin=data["origin"], why=", ".join(signs))


def _prolonged(writer: NoteWriter, note: str, data: Mapping[str, Any]) -> str:
    """Let a note of the medium tier last to the day to which the same would that is told now; return its end before."""
    found, end = writer.note_set.note(note), str(data.get("expires", ""))
    before = writer.note_set.expires(found)
    if {data.get("tier"), writer.note_set.tier(found)} != {"medium"} or not "" < before[:10] < end[:10]:
        return ""
    writer.rewrite(found.path, found.data, {"expires": end}, "")
    writer.tx.touch("", note)
    return before


def admit(
    writer: NoteWriter, data: dict[str, Any], body: str, *, beside_keys: bool = False, always: bool = False,
    compared: bool = True,
) -> Added:  # fmt: skip
    """Return the live note that says the very same, else what is near to a new one; refuse a key that is taken."""
    gone = data.get("supersedes") or []
    key = data.get("key")
    keys = (key,) if key or beside_keys else ()
    with writer.view.aside():
        same = [] if always else [note for note in writer.note_set.saying(body) if note.id not in gone]
    held = next((note for note in same if not keys or note.data.get("key") in keys), None)
    if held is not None:
        writer.view.used.add(held.path)
        return Added(held.id, existing=True, alike=[])
    _refuse_key(writer, str(key or ""), gone)
    with writer.view.aside():
        near = neighbours.near_to(writer.note_set, data["title"], body, gone) if compared else []
    return Added(str(data["id"]), existing=False, alike=near)


def write(writer: NoteWriter, data: dict[str, Any], body: str, domain: str) -> None:
    """Write a note's file."""
    writer.write(layout.note_path(domain, data["id"]), data, body)
    writer.tx.touch("", data["id"])


def _refuse_key(writer: NoteWriter, key: str, gone: Sequence[str], own: str = "", *, back: bool = False) -> None:
    """Refuse a key that another live note has; of a note that is to come `back` it tells how that can be."""
    with writer.view.aside():
        holders = writer.note_set.holders(key) if key else []
    for holder in [one for one in holders if one.id not in (*gone, own)]:
        if back:
            raise no.KeyTakenSince(note=holder.id, key=key, title=holder.title, own=own)
        raise no.KeyTaken(note=holder.id, key=key, title=holder.title)


def revise_note(tx: Transaction, note: str, *, text: str = "", **options: Any) -> str:
    """Better a note's wording or its front matter in place; another decision is a note that supersedes it.

    `clear` are the parts of the front matter that it loses.
    """
    writer = NoteWriter.of(tx)
    found = writer.find(note)
    if writer.note_set.is_promoted(found.id) and (options.get("expires") or options.get("tier") == "medium"):
        raise no.NotePromoted(note=found.id)
    changes, body = revised(writer, found, text, options)
    _refuse_key(writer, changes.get("key", ""), (), found.id)
    _refuse_orders({**changes, "origin": found.data["origin"]}, body)
    writer.rewrite(found.path, found.data, changes, body)
    tx.touch("", found.id)
    if body or changes.get("expires"):
        _tell_unheard(writer, found.id)
    places, note_set = changes.get("about"), writer.note_set
    if places and note_set.about(note_set.note(found.id)) != places:  # an older event overrules what the text names
        writer.append(writer.note_set, found.id, "anchored", about=places, named=digest_of_places(places))
    if body or "title" in changes or "key" in changes:
        neighbours.tell(writer, found.id)
    return found.id


class Confirmed(NamedTuple):
    """A note that was confirmed, and what each of its places that was pinned anew was called and is now."""

    id: str
    pinned: list[tuple[str, str]]


def confirm_note(tx: Transaction, note: str, *, note_text: str = "") -> str:
    """Say that a note was looked at and holds; its places in the code are anchored again."""
    return confirm_places(tx, note, note_text=note_text).id


def confirm_places(tx: Transaction, note: str, *, note_text: str = "") -> Confirmed:
    """Confirm a note, and return which of its places were anchored again."""
    writer = NoteWriter.of(tx)
    found = writer.find(note)
    before = writer.note_set.about(found)
    places, lost, unnamed = anchored(writer, before)
    named = digest_of_places(found.data.get("about") or [])
    moved: dict[str, Any] = {"about": places, "named": named} if places != before else {}
    said = digest_of_text(found.title, found.body)
    writer.append(writer.note_set, found.id, "confirmed", text=said, note=writer.optional("note", note_text), **moved)
    if lost:
        tx.ledger.warn(LOST.format(places=", ".join(lost), note=found.id))
    if unnamed:
        tx.ledger.warn(UNNAMED.format(places=", ".join(unnamed), note=found.id))
    _tell_unheard(writer, found.id)
    moved_places = ((old, new) for old, new in zip(before, places, strict=True) if old != new)
    return Confirmed(found.id, [(str(from_data(old)), str(from_data(new))) for old, new in moved_places])


def _tell_unheard(writer: NoteWriter, note: str) -> None:
    """Warn that a note which somebody cares for is recalled no more, though nobody retired it."""
    status, after = writer.note_set.status(note), writer.note_set.current(note)
    if after != note:
        writer.tx.ledger.warn(PAST.format(status=status, after=after))
    elif writer.note_set.is_expired(writer.note_set.note(note)):
        writer.tx.ledger.warn(OVER.format(note=note))


def park_note(tx: Transaction, note: str, *, reason: str = "") -> str:
    """Set a note aside: it is kept, and recalled only when asked for."""
    return _moved(tx, note, "parked", reason=reason)


def resume_note(tx: Transaction, note: str, *, reason: str = "") -> str:
    """Take a parked note up again."""
    return _moved(tx, note, "resumed", reason=reason)


def retire_note(tx: Transaction, note: str, *, reason: Reason = "") -> str:
    """Say that a note does not hold any more and nothing took its place."""
    writer = NoteWriter.of(tx)
    return _moved(tx, note, "retired", reason=writer.reason("retiring a note", reason))


def restore_note(tx: Transaction, note: str, *, reason: str = "") -> str:
    """Take a retired, superseded, merged, resolved or finished note back."""
    return _moved(tx, note, "restored", reason=reason)


def _moved(tx: Transaction, note: str, do: str, *, reason: str) -> str:
    writer = NoteWriter.of(tx)
    found = writer.find(note)
    if do in ("resumed", "restored"):
        _refuse_key(writer, found.data.get("key", ""), (), found.id, back=True)
    writer.append(writer.note_set, found.id, do, reason=writer.optional("reason", reason))
    if do in ("resumed", "restored"):
        _tell_unheard(writer, found.id)
    if do == "restored":
        neighbours.tell(writer, found.id)
    return found.id


def retire_prefix(tx: Transaction, prefix: str, *, reason: Reason = "") -> list[str]:
    """Retire all live notes whose key is the prefix or begins with it and a dot."""
    writer = NoteWriter.of(tx)
    found = below_prefix(writer.note_set, prefix)
    why = writer.reason("retiring notes", reason)
    for note in found:
        writer.append(writer.note_set, note, "retired", reason=why)
    return found


def below_prefix(note_set: NoteSet, prefix: str) -> list[str]:
    """Return the notes that retire_prefix would retire."""
    start = key_start(prefix)
    return [note.id for note in note_set.live() if under(str(note.data.get("key", "")), start)]


def resolve_note(tx: Transaction, note: str, *, answer: str = "", note_text: str = "") -> str:
    """Say that a question or a gap is answered, and by which note."""
    writer = NoteWriter.of(tx)
    found = _of_kind(writer, note, ("question", "gap"), "resolved")
    told = writer.find(answer).id if answer else ""
    if told == found.id:
        raise no.AnswersItself(note=found.id)
    writer.append(writer.note_set, found.id, "resolved", answer=told, note=writer.optional("note", note_text))
    return found.id


def progress_note(tx: Transaction, note: str, *, progress: str, next: str = "") -> str:  # noqa: A002 (the option's name)
    """Say how far a goal is, and what comes next."""
    writer = NoteWriter.of(tx)
    found = _of_kind(writer, note, ("goal",), "progressed")
    after = writer.optional("next", next, lines=False)
    writer.append(writer.note_set, found.id, "progressed", note=writer.text("progress", progress), next=after)
    return found.id


def finish_note(tx: Transaction, note: str, *, note_text: str = "") -> str:
    """Say that a goal or a checkpoint is behind us."""
    writer = NoteWriter.of(tx)
    found = _of_kind(writer, note, ("goal", "checkpoint"), "finished")
    writer.append(writer.note_set, found.id, "finished", note=writer.optional("note", note_text))
    return found.id


def promote_note(tx: Transaction, note: str, *, note_text: str = "") -> str:
    """Make a note that would expire last."""
    writer = NoteWriter.of(tx)
    found = writer.find(note)
    if writer.note_set.tier(found) == "long" and not writer.note_set.expires(found):
        raise NothingToCommit
    writer.append(writer.note_set, found.id, "promoted", note=writer.optional("note", note_text))
    return found.id


def _of_kind(writer: NoteWriter, given: str, wanted: Sequence[str], verb: str) -> Prose:
    found = writer.find(given)
    if found.data["kind"] not in wanted:
        raise no.WrongNoteKind(note=found.id, kind=found.data["kind"], wanted=" or a ".join(wanted), verb=verb)
    return found


def link_note(tx: Transaction, note: str, rel: str, to: str, *, reason: str = "") -> str:
    """Link a note to another note, a run, a plan, a task or evidence."""
    return _linked(tx, note, rel, to, reason=reason, adding=True)


def unlink_note(tx: Transaction, note: str, rel: str, to: str, *, reason: str = "") -> str:
    """Take a link away."""
    return _linked(tx, note, rel, to, reason=reason, adding=False)


def _linked(tx: Transaction, note: str, rel: str, to: str, *, reason: str, adding: bool) -> str:
    writer = NoteWriter.of(tx)
    found = writer.find(note)
    links: set[tuple[str, str]] = set(writer.note_set.links(found))
    target = to if not adding and (rel, to) in links else link(writer, f"{rel}:{to}", found.id)["to"]
    refuse_known(found.id, rel, target, links, adding=adding)
    do = "linked" if adding else "unlinked"
    writer.append(writer.note_set, found.id, do, rel=rel, to=target, reason=writer.optional("reason", reason))
    return found.id


class Merged(NamedTuple):
    """The note that takes the place of others, and how much of them it keeps."""

    id: str
    coverage: Coverage
    carried: Sequence[str] = ()
    left: Sequence[str] = ()


def merge_notes(tx: Transaction, notes: Sequence[str], text: str, *, reason: str = "", **options: Any) -> Merged:
    """Put one note in the place of several; they stay, marked as merged, and the new one names them."""
    writer = NoteWriter.of(tx)
    found = list({one.id: one for one in (writer.find(given) for given in notes)}.values())
    if len(found) < 2:
        raise no.TooFewNotes
    given = {"kind": "summary", "domain": _common(layout.domain_of(one.path) for one in found), **options}
    given["origin"] = merged_origin(writer, found, str(given.get("origin", "")))
    given["sources"] = [*(one.id for one in found), *given.get("sources", ())]
    new_note = prepare(writer, NoteInput(text=text, **given), found)
    _refuse_orders(new_note.data, new_note.body)
    _refuse_key(writer, new_note.data.get("key", ""), [one.id for one in found])
    write(writer, new_note.data, new_note.body, new_note.domain)
    for one in found:
        said, why = digest_of_text(one.title, one.body), writer.optional("reason", reason)
        writer.append(writer.note_set, one.id, "merged", into=new_note.data["id"], text=said, reason=why)
    kept = similarity.coverage(new_note.body, [one.body for one in found])
    return Merged(new_note.data["id"], kept, new_note.carried, new_note.left)


def _common(domains: Any) -> str:
    """Return the domain of all notes, where they have one in common."""
    found = set(domains)
    return found.pop() if len(found) == 1 else ""
