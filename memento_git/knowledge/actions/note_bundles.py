"""export and import of bundles: all notes of a ledger, their state and what took their place, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.knowledge import named_records, neighbours, similarity
from memento_git.knowledge import refusals as no
from memento_git.knowledge.actions.drafts import draft_note
from memento_git.knowledge.actions.notes import Added, add_note
from memento_git.knowledge.bundle import (
    HEAD,
    BundleInvalid,
    File,
    Gone,
    Packed,
    Typed,
    gone_line,
    line_of,
    lines_of,
    values_of,
)  # fmt: skip
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.injection import orders, unvouched, why_draft
from memento_git.knowledge.note_input import titled
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.tombstones import Tombstones, why_out
from memento_git.ledger import layout, prosefile
from memento_git.ledger.transaction import Transaction
from memento_git.model.enumeration import some
from memento_git.model.exchange import Brought, LeftOut, Taken
from memento_git.model.knowledge import ORIGINS
from memento_git.texts.secrets import SecretFound
from memento_git.texts.typed import TextInvalid

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection
    from memento_git.model.work import Prose

SHOWN: Final = 5
AFTER: Final = ("successor", "into", "answer")
NOT_HERE: Final = "not in this ledger, so the note is without it"
UNREAD: Final = ("id", "at", "after", "evidence", "do", "of", "blob", "commit")


class NotesDiffer(Refused):
    token = "notes_differ"
    sentence = "notes of these ids are here already with other texts: {ids}"
    hint_ = "see one: memento note show NOTE; take its line out of the bundle, or merge the branches with git instead"


class Bundle(NamedTuple):
    """All notes as JSON lines, how many they are and how many redacted ones beside, and what could not be read."""

    text: str
    notes: int
    redacted: int
    skipped: list[LeftOut]


def export_bundle(view: View) -> Bundle:
    """Return the notes of a view with all of their events; the same notes give the same lines."""
    note_set = NoteSet(view)
    note_set.load()
    lines, skipped, count = [json.dumps(HEAD)], [], 0
    view.fetch([*note_set.index.prose.values(), *note_set.index.events.values()])
    for name in sorted({*note_set.index.prose, *note_set.index.events_of}):
        path = note_set.path(name) or f"{note_set.event_folder(name)}.md"
        events = [note_set.index.events[one] for one in note_set.index.events_of.get(name, [])]
        try:
            lines.append(_line(note_set, name, path, [File(one, view.read(one) or b"") for one in sorted(events)]))
            count += name in note_set.index.prose and not note_set.is_redacted(name)
        except BundleInvalid as damaged:
            skipped.append(LeftOut(str(damaged.facts["where"]), str(damaged.facts["problem"])))
    return Bundle("".join(f"{line}\n" for line in lines), count, len(lines) - 1 - count, skipped)


def _line(note_set: NoteSet, note: str, path: str, events: Sequence[File]) -> str:
    """Return the line of a note; of a redacted one what happened to it."""
    domain = layout.domain_of(path)
    if note_set.path(note) and not note_set.is_redacted(note):
        return line_of(domain, note_set.status(note), File(path, note_set.view.read(path) or b""), events)
    if not note_set.is_redacted(note):
        raise BundleInvalid(where=path, problem="the text of this note is missing")
    return gone_line(note, domain, events)


def import_bundle(ledger: Ledger, source: Path, *, dry_run: bool = False, origin: str = "") -> Brought:
    """Take the notes of a bundle in, in one commit; all or nothing, and nothing twice."""
    with source.open("rb") as stream:
        return take_in(ledger, list(lines_of(source.name, stream)), dry_run=dry_run, origin=origin)


def take_in(
    ledger: Ledger, lines: Sequence[Packed | Gone | Typed], *, dry_run: bool = False, origin: str = ""
) -> Brought:
    """Take lines of a bundle in."""
    kept: list[Callable[[], object]] = []

    def act(tx: Transaction) -> Brought:
        kept.clear()
        return _Intake(tx, origin, kept).all(lines)

    if dry_run:
        return act(Transaction(ledger, ledger.view(), rehearsed=True))
    brought = ledger.change("import", act)
    for keep in kept:
        keep()
    return brought


class _Intake:
    """One import at work in one transaction."""

    def __init__(self, tx: Transaction, origin: str, kept: list[Callable[[], object]]) -> None:
        self.tx = tx
        self.origin = origin
        self.kept = kept
        self.writer = NoteWriter.of(tx)
        self.before = NoteSet(tx.view)
        self.drafts = Drafts(tx.ledger.git)
        self.gone = Tombstones(self.before)
        self.brought = Brought([], [], [], [])
        self.differ: list[str] = []
        self.new: set[str] = set()
        self.coming: set[str] = set()
        self.held: dict[str, Packed] = {}
        self.lines: dict[str, str] = {}

    def all(self, lines: Sequence[Packed | Gone | Typed]) -> Brought:
        told = [one for one in lines if isinstance(one, Packed)]
        gone = [one for one in lines if isinstance(one, Gone)]
        self.tx.view.fetch(path for note in told for path in (note.text.path, *(one.path for one in note.events)))
        self.tx.view.fetch(one.path for note in gone for one in note.events)
        packed = [one for one in told if not self._stays_out(one)]
        self.coming = {one.id for one in packed} | {one.id for one in gone}
        for waits in self.held.values():
            self._wait(waits)
        taken = [one for one in gone if self._gone(one)]
        came = [one for one in packed if self._packed(one)]
        self.lines = {one.id: one.where for one in came if one.id in self.new}
        if self.differ:
            raise NotesDiffer(ids=some(self.differ, SHOWN))
        self._judge(came, taken)
        with self.writer.view.aside():
            self.writer.note_set.load()
        for one in lines:
            if isinstance(one, Typed):
                self._typed(one)
        neighbours.tell_all(self.writer, {one.id for one in self.brought.added if one.id in self.lines})
        return self.brought

    def _stays_out(self, note: Packed) -> bool:
        """Tell whether a note is not to be one here: it was redacted, or gives orders that nobody vouches for."""
        if self.before.path(note.id):
            return False
        if self.before.is_redacted(note.id):
            self.brought.skipped.append(LeftOut(note.where, f"{note.id} was redacted in this ledger"))
            return True
        if why := self._orders(note):
            self.brought.drafts.append(Taken(note.id, note.title, why))
            self.held[note.id] = note
        return note.id in self.held

    def _gone(self, note: Gone) -> bool:
        """Put what happened to a redacted note where it belongs; tell whether something came in."""
        if self.before.path(note.id):
            self.differ.append(note.id)
        told = Taken(note.id, "(redacted)", "it is redacted")
        new = [one for one in note.events if not self._is_here(note, one)]
        self._scan(note.where, note.events)
        for one in new:
            self.tx.put(one.path, one.data)
            self.tx.touch("", note.id)
        (self.brought.added if new else self.brought.existing).append(told)
        return bool(new)

    def _packed(self, note: Packed) -> bool:
        """Put the files of a note where they belong; tell whether something came in."""
        told = Taken(note.id, note.title)
        file = self._lowered(note)
        here = self.before.path(note.id)
        if here and not self._says_the_same(note.id, here, (file, note.text)):
            self.differ.append(note.id)
        new = [one for one in note.events if not self._is_here(note, one)]
        if here and (not new or self._has_no_say(note)):
            self.brought.existing.append(told)
            return False
        self._scan(note.where, note.events, note)
        self.new |= set() if here else {note.id}
        for one in ([] if here else [self._without(note, file)]) + new:
            self.tx.put(one.path, one.data)
        self.tx.touch("", note.id)
        self.brought.added.append(told._replace(why="what happened to it since" if here else ""))
        return True

    def _has_no_say(self, note: Packed) -> bool:
        """Tell, and say, that what happened to a note that is here counts for nothing in what comes as less."""
        if not (own := self._better(note.id)):
            return False
        why = f"what happened to {note.id}: its origin here is {own}, and what comes in as {self.origin} has no say"
        self.brought.skipped.append(LeftOut(note.where, why))
        return True

    def _better(self, note: str) -> str:
        """Return the origin of a note that is here, where it is better than the one that the import is given."""
        here = self.before.path(note)
        if not (here and self.origin):
            return ""
        own = str(values_of(File(here, self.tx.view.read(here) or b""))[0]["origin"])
        return "" if similarity.lowest([own, self.origin]) == own else own

    def _says_the_same(self, note: str, here: str, files: Sequence[File]) -> bool:
        """Tell whether a note that is here is the one that comes; records that were left out make no difference."""
        own = File(here, self.tx.view.read(here) or b"")
        if own in files:
            return True
        self.before.note(note)  # what cannot be read here is no fault of the bundle
        front, _ = values_of(own)
        return any(
            named_records.say_the_same(own.data, front, one.data, values_of(one)[0])
            for one in files if one.path == here
        )  # fmt: skip

    def _without(self, note: Packed, file: File) -> File:
        """Return the file of a note without the records that it names and that are not in this ledger; tell which."""
        for one in named_records.named(note.front):
            if why := self._unfit(one):
                self._leave(note.where, named_records.SAID[one.key], one.id, why)
        return file._replace(data=named_records.without(file.data, note.front, lambda one: bool(self._unfit(one))))

    def _unfit(self, one: named_records.Named) -> Objection:
        """Return why a note comes in without a record that it names, or nothing."""
        if not self._known(one.id):
            return NOT_HERE
        own = self._better(one.id) if one.key == "supersedes" else ""
        return f"its origin here is {own}, and what comes in as {self.origin} takes no place of it" if own else ""

    def _leave(self, where: str, what: str, identity: str, why: str = NOT_HERE) -> None:
        self.brought.skipped.append(LeftOut(where, f"{what} {identity}: {why}"))

    def _known(self, identity: str) -> bool:
        """Tell whether a record is in this ledger, or comes with the bundle."""
        return identity in self.coming or self.before.knows(identity)

    def _is_here(self, note: Packed | Gone, event: File) -> bool:
        place = layout.place_of(event.path)
        here = self.before.index.events.get(place.id, "") if place else ""
        if here and (here != event.path or self.tx.view.read(here) != event.data):
            self.differ.append(note.id)
        return bool(here)

    def _lowered(self, note: Packed) -> File:
        """Return a note's file with the lower of its own origin and the one that the import is given."""
        own = str(note.front["origin"])
        lowest = similarity.lowest([own, self.origin or own])
        told = note.text.data if lowest == own else prosefile.rewrite(note.text.data, {"origin": lowest}, "")
        return note.text._replace(data=told)

    def _orders(self, note: Packed) -> Objection:
        """Return why a note is to be a draft: it gives orders. Where an origin is given, nobody vouches elsewhere."""
        origin = similarity.lowest([str(note.front["origin"]), self.origin or ORIGINS[0]])
        signs = unvouched({**note.front, "origin": origin}, note.body) if self.origin or not note.draft else []
        if not signs:
            return ""
        self._scan(note.where, note.events, note)
        return why_draft(signs)

    def _wait(self, note: Packed) -> None:
        """Keep a note as a draft, without the records that a note would come in without."""
        front, body = values_of(self._without(note, self._lowered(note)))
        self.kept.append(lambda: self.drafts.add(front, body, layout.domain_of(note.text.path)))

    def _scan(self, where: str, events: Sequence[File], note: Packed | None = None) -> None:
        """Refuse control characters and secrets in whatever a note, and what happened to it, says."""
        told = [values_of(one)[0] for one in events]
        if note is not None:
            self.writer.optional(f"{where} text", note.body)
            told.insert(0, note.front)
        for values in told:
            for key, text in _texts(values):
                self.writer.optional(f"{where} {key}", text)

    def _judge(self, came: Sequence[Packed], gone: Sequence[Gone]) -> None:
        """Refuse a bundle whose events do not come to the state that it tells, and a key that two live notes have."""
        after = NoteSet(self.tx.view)
        both: list[Packed | Gone] = [*came, *gone]
        for note in both:
            if after.is_redacted(note.id) != isinstance(note, Gone):
                problem = "has a text, and is redacted" if isinstance(note, Packed) else "has no text, unredacted"
                raise BundleInvalid(where=note.where, problem=f"{note.id} {problem}")
        for one in came:
            if one.state and one.id in self.new and one.state != (state := after.status(one.id)):
                raise BundleInvalid(where=one.where, problem=f"{one.id} is said to be {one.state}, it is {state}")
            self._judge_names(after, one)
        self._judge_keys(after, {note.id for note in came})
        self._refuse_errors(both)

    def _refuse_errors(self, came: Sequence[Packed | Gone]) -> None:
        """Refuse what `check` calls an error in what comes; what is contested, or names a draft, is settled here."""
        from memento_git.review import scope, tree_check

        at = {note.id: note.where for note in came}
        for found in tree_check.of_notes(self.tx.view, scope.Scope(groups=at), self.writer.policy):
            if found.severity == "error" and found.path in self.tx.changes and found.code not in ("T001", "L004"):
                where = next(at[note] for note in at if note in found.path)
                fix = "" if found.lost else f": {found.fix}"
                raise BundleInvalid(where=where, problem=f"{found.code} {found.message}{fix}")

    def _judge_names(self, after: NoteSet, note: Packed) -> None:
        """Take links that lead nowhere away; refuse a note whose place another took that is in neither ledger."""
        folded = after.folded(note.id)
        undone = folded.undone
        for seen in folded.events:
            for key in AFTER if seen.verdict == "legal" and seen.event.id not in undone else ():
                other = seen.event.get(key)
                if not other or self._known(other):
                    continue
                if other not in self.held:
                    problem = f"{note.id} was {seen.event.do} by {other}, which is neither in it nor in this ledger"
                    raise BundleInvalid(where=note.where, problem=problem)
                self.brought.skipped.append(LeftOut(note.where, f"{other}, which took its place, waits as a draft"))
        for name, value in list(folded.lanes.named("link").items()):
            rel, _, to = name.partition(":")
            if value[0] == "linked" and not self._known(to):
                self._leave(note.where, named_records.SAID["links"], to)
                self.writer.append(after, note.id, "unlinked", rel=rel, to=to, reason=f"{to} is not in this ledger")

    def _judge_keys(self, after: NoteSet, came: set[str]) -> None:
        holders: dict[str, Prose] = {}
        for note in after.live():
            key = str(note.data.get("key") or "")
            other = holders.setdefault(key, note) if key else note
            if other is not note and came & {note.id, other.id}:
                held, new = (other, note) if note.id in came else (note, other)
                if held.id in self.new:
                    problem = f"{new.id} has the key {key}, and so has {held.id}: settle that where they come from"
                    raise BundleInvalid(where=self.lines[held.id], problem=problem)
                raise no.KeyTaken(note=held.id, key=key, title=held.title)

    def _typed(self, line: Typed) -> None:
        """Add a note that was written by hand; its origin is import, whatever else it says."""
        options = {key: str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
                   for key, value in line.options.items()}  # fmt: skip
        options |= {"origin": "import"}
        if gone := self.gone.find(line.text, next(iter(options.get("sources") or ()), "")):
            self.brought.skipped.append(LeftOut(line.where, why_out(gone)))
            return
        if not (signs := orders(options, line.text)):
            made = self._added(line, options)
            told = Taken(made.id, titled(line.text))
            (self.brought.existing if made.existing else self.brought.added).append(told)
            return
        same = self._waiting.get(similarity.plain(line.text), "")
        if not same:
            self.writer.text(line.where, line.text)
            self.kept.append(lambda: draft_note(self.tx.ledger, line.text, **options))
        self.brought.drafts.append(Taken(same, titled(line.text), why_draft(signs)))

    @cached_property
    def _waiting(self) -> dict[str, str]:
        """Return what the drafts of this clone say -> the first that says it."""
        return {similarity.plain(one.body): one.id for one in reversed(self.drafts.all())}

    def _added(self, line: Typed, options: dict[str, Any]) -> Added:
        """Add a note of a line; what is wrong with it is told with its number."""
        try:
            made = add_note(self.tx, line.text, compared=False, **options)
        except SecretFound as found:
            raise SecretFound(**{**found.facts, "where": f"{line.where} {found.facts['where']}"}) from None
        except no.KeyTaken as taken:
            other = self.lines.get(str(taken.facts["note"]))
            if other is None:
                raise
            problem = f"the key {taken.facts['key']} is that of {other} too, and one live note has it"
            raise BundleInvalid(where=line.where, problem=problem) from None
        except (Misused, TextInvalid) as wrong:
            raise BundleInvalid(where=line.where, problem=wrong.message) from None
        self.lines.setdefault(made.id, line.where)
        return made


def _texts(front: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a note's front matter that somebody wrote."""
    for key, value in front.items():
        if key in UNREAD:
            continue
        for member in value if isinstance(value, list) else [value]:
            if isinstance(member, str):
                yield key, member
            elif isinstance(member, dict):
                yield from _texts(member)
