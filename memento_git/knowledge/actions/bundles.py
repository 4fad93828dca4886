"""export and import of bundles: all notes of a ledger, their state and what took their place, as JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.knowledge import alike
from memento_git.knowledge import refusals as no
from memento_git.knowledge.actions.drafting import draft_note
from memento_git.knowledge.actions.notes import add_note
from memento_git.knowledge.bundle import HEAD, BundleInvalid, File, Packed, Typed, line_of, lines_of, values_of
from memento_git.knowledge.desk import Desk
from memento_git.knowledge.drafting import titled
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.injection import LOW, instructive
from memento_git.knowledge.shelf import Shelf
from memento_git.ledger import layout, prosefile
from memento_git.ledger.store import Transaction
from memento_git.model.exchange import Brought, LeftOut, Taken
from memento_git.model.knowledge import ORIGINS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View
    from memento_git.model.work import Prose

SHOWN: Final = 5
UNREAD: Final = ("id", "at", "after", "evidence", "do", "of", "blob", "commit")


class NotesDiffer(Refused):
    token = "notes_differ"
    sentence = "notes of these ids are here already and say something else: {ids}"
    hint_ = "see one: memento note show NOTE; take its line out of the bundle, or merge the branches with git instead"


class Bundle(NamedTuple):
    """All notes as JSON lines, how many they are, and what could not be read."""

    text: str
    notes: int
    skipped: list[LeftOut]


def export_bundle(view: View) -> Bundle:
    """Return the notes of a view with all of their events; the same notes give the same lines."""
    shelf = Shelf(view)
    shelf.load()
    lines, skipped = [json.dumps(HEAD)], []
    view.fetch([*shelf.index.prose.values(), *shelf.index.events.values()])
    for name in sorted(shelf.index.prose):
        path = shelf.path(name)
        events = [shelf.index.events[one] for one in shelf.index.events_of.get(name, [])]
        try:
            files = [File(one, view.read(one) or b"") for one in sorted(events)]
            lines.append(line_of(layout.domain_of(path), shelf.status(name), File(path, view.read(path) or b""), files))
        except BundleInvalid as damaged:
            skipped.append(LeftOut(path, damaged.message))
    return Bundle("".join(f"{line}\n" for line in lines), len(lines) - 1, skipped)


def import_bundle(
    ledger: Ledger, source: Path, *, dry_run: bool = False, origin: str = "", allow_secrets: Sequence[str] = ()
) -> Brought:
    """Take the notes of a bundle in, in one commit; all or nothing, and nothing twice."""
    with source.open("rb") as stream:
        return take_in(
            ledger, list(lines_of(source.name, stream)), dry_run=dry_run, origin=origin, allow_secrets=allow_secrets
        )


def take_in(
    ledger: Ledger, lines: Sequence[Packed | Typed], *, dry_run: bool = False, origin: str = "",
    allow_secrets: Sequence[str] = (),
) -> Brought:  # fmt: skip
    """Take lines of a bundle in."""
    kept: list[Callable[[], object]] = []

    def act(tx: Transaction) -> Brought:
        kept.clear()
        tx.allow_secrets = tuple(allow_secrets)
        return _Intake(tx, origin, kept).all(lines)

    if dry_run:
        return act(Transaction(ledger, ledger.view()))
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
        self.desk = Desk.of(tx)
        self.before = Shelf(tx.view)
        self.drafts = Drafts(tx.ledger.git)
        self.brought = Brought([], [], [], [])
        self.differ: list[str] = []
        self.new: set[str] = set()

    def all(self, lines: Sequence[Packed | Typed]) -> Brought:
        packed = [one for one in lines if isinstance(one, Packed)]
        self.tx.view.fetch(path for note in packed for path in (note.text.path, *(one.path for one in note.events)))
        came = [one for one in packed if self._packed(one)]
        if self.differ:
            more = f" and {len(self.differ) - SHOWN} more" if len(self.differ) > SHOWN else ""
            raise NotesDiffer(ids=", ".join(self.differ[:SHOWN]) + more)
        self._judge(came)
        for one in lines:
            if isinstance(one, Typed):
                self._typed(one)
        return self.brought

    def _packed(self, note: Packed) -> bool:
        """Put the files of a note where they belong; tell whether something came in."""
        told = Taken(note.id, note.title)
        file = self._lowered(note)
        here = self.before.path(note.id)
        if not here and (why := self._orders(note, file)):
            self.brought.drafts.append(told._replace(why=why))
            return False
        if here and (here != file.path or self.tx.view.read(here) not in (file.data, note.text.data)):
            self.differ.append(note.id)
        new = [one for one in note.events if not self._is_here(note, one)]
        if here and not new:
            self.brought.existing.append(told)
            return False
        self._scan(note)
        self.new |= set() if here else {note.id}
        for one in ([] if here else [file]) + new:
            self.tx.put(one.path, one.data)
        self.tx.touch("", note.id)
        self.brought.added.append(told._replace(why="what happened to it since" if here else ""))
        return True

    def _is_here(self, note: Packed, event: File) -> bool:
        place = layout.place_of(event.path)
        here = self.before.index.events.get(place.id, "") if place else ""
        if here and (here != event.path or self.tx.view.read(here) != event.data):
            self.differ.append(note.id)
        return bool(here)

    def _lowered(self, note: Packed) -> File:
        """Return a note's file with the lower of its own origin and the one that the import is given."""
        own = str(note.front["origin"])
        lowest = alike.lowest([own, self.origin or own], ORIGINS)
        return note.text if lowest == own else note.text._replace(
            data=prosefile.rewrite(note.text.data, {"origin": lowest}, "")
        )  # fmt: skip

    def _orders(self, note: Packed, file: File) -> str:
        """Keep a note that gives orders, and that nobody vouches for, as a draft; say why."""
        lowered = file is not note.text
        origin = alike.lowest([str(note.front["origin"]), self.origin or ORIGINS[0]], ORIGINS)
        signs = instructive(note.body) if origin in LOW and (lowered or not note.draft) else []
        if not signs:
            return ""
        self._scan(note)
        front = {**note.front, "origin": origin}
        self.kept.append(lambda: self.drafts.add(front, note.body, layout.domain_of(file.path)))
        return f"it {', '.join(signs)}, and nobody vouches for it"

    def _scan(self, note: Packed) -> None:
        """Refuse control characters and secrets in whatever a note says."""
        self.desk.optional(f"{note.where} text", note.body)
        told = [note.front, *(values_of(layout.place_of(one.path), one)[0] for one in note.events)]
        for values in told:
            for where, text in _texts(values):
                self.desk.optional(f"{note.where} {where}", text)

    def _judge(self, came: Sequence[Packed]) -> None:
        """Refuse a bundle whose events do not come to the state that it tells, and a key that two live notes have."""
        after = Shelf(self.tx.view)
        for note in came:
            folded = after.folded(note.id)
            for seen in folded.dangling:
                raise BundleInvalid(where=note.where, problem=f"what happened to {note.id} does not fit: {seen.why}")
            state = after.status(note.id)
            if note.state and note.state != state and note.id in self.new:
                raise BundleInvalid(where=note.where, problem=f"{note.id} is said to be {note.state}, it is {state}")
        self._judge_keys(after, {note.id for note in came})

    def _judge_keys(self, after: Shelf, came: set[str]) -> None:
        holders: dict[str, Prose] = {}
        for note in after.live():
            key = str(note.data.get("key") or "")
            other = holders.setdefault(key, note) if key else note
            if other is not note and came & {note.id, other.id}:
                held = other if note.id in came else note
                raise no.KeyTaken(note=held.id, key=key, title=held.title)

    def _typed(self, line: Typed) -> None:
        """Add a note that was written by hand; its origin is import, whatever else it says."""
        options = {key: str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
                   for key, value in line.options.items()}  # fmt: skip
        options |= {"origin": "import"}
        if not (signs := instructive(line.text)):
            made = add_note(self.tx, line.text, **options)
            told = Taken(made.id, titled(line.text))
            (self.brought.existing if made.existing else self.brought.added).append(told)
            return
        same = next((one.id for one in self.drafts.all() if alike.plain(one.body) == alike.plain(line.text)), "")
        if not same:
            self.desk.text(line.where, line.text)
            ledger, allowed = self.tx.ledger, self.tx.allow_secrets
            self.kept.append(lambda: draft_note(ledger, line.text, allow_secrets=allowed, **options))
        why = f"it {', '.join(signs)}, and nobody vouches for it"
        self.brought.drafts.append(Taken(same, titled(line.text), why))


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
