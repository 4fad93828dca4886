"""Taking the knowledge of other tools in: one commit; what nobody vouches for and gives orders becomes a draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from memento_git.errors import MementoError, Misused
from memento_git.knowledge import neighbours, similarity
from memento_git.knowledge.actions.notes import write
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.foreign import entries, files, guidance, markdown, mnemo, namesake, pmb
from memento_git.knowledge.foreign.entries import Entry, Found
from memento_git.knowledge.injection import orders, why_draft
from memento_git.knowledge.note_input import NewNote, NoteInput, prepare
from memento_git.knowledge.note_set import digest_of_text
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.pinning import Meant, pin_meant
from memento_git.knowledge.tombstones import Tombstones, why_out
from memento_git.knowledge.transitions import LIVE
from memento_git.ledger import codec, revisions
from memento_git.ledger.layout import Place
from memento_git.ledger.store import Ledger
from memento_git.ledger.transaction import Transaction
from memento_git.model.enumeration import grouped, some
from memento_git.model.exchange import Brought, LeftOut, Taken
from memento_git.model.work import Prose
from memento_git.texts.secrets import SecretFound

GUIDANCE: Final = "claude-md"
NAMED: Final = 5
THERE: Final = "so it was where it came from"
READERS: Final[dict[str, Callable[[Path], Found]]] = {
    "markdown": markdown.read,
    GUIDANCE: guidance.read,
    "mnemo": mnemo.read,
    "memento-sqlite": namesake.read,
    "pmb": pmb.read,
}


class OriginFixed(Misused):
    token = "origin_fixed"
    sentence = "what is imported from {form} has the origin import, not {origin}"
    hint_ = "leave --origin out; a person who vouches for a note can add it again: memento note add TEXT"


def bring(ledger: Ledger, form: str, source: Path, *, dry_run: bool = False, origin: str = "") -> Brought:
    """Take in what a reader finds in a source, in one commit; with `dry_run` only say what would come in."""
    if origin not in ("", "import"):
        raise OriginFixed(form=form, origin=origin)
    source = source.resolve() if source.name in ("", "..") else source
    there = files.place_of(source, ledger.git.top)
    found = guidance.read(source, there) if form == GUIDANCE else READERS[form](source)
    return take_in(ledger, found, dry_run=dry_run)


def take_in(
    ledger: Ledger, found: Found, *, dry_run: bool = False, judge: Callable[[Brought], None] = lambda _: None
) -> Brought:
    """Take in what was found, in one commit; `judge` may refuse what it would come to, and nothing is written then."""
    if dry_run:
        brought = _Bringing(NoteWriter.apart(ledger, rehearsed=True), found).done(dry=True)
        judge(brought)
        return brought

    def act(tx: Transaction) -> tuple[Brought, list[NewNote]]:
        work = _Bringing(NoteWriter.of(tx), found)
        done = work.done(dry=False)
        judge(done)
        return done, [held.new_note for held in work.drafts]

    brought, drafts = ledger.change("import", act)
    kept = Drafts(ledger.git)
    for one in drafts:
        kept.add(one.data, one.body, one.domain)
    return brought


class _Held(NamedTuple):
    """An entry and the note that it comes to."""

    entry: Entry
    new_note: NewNote
    why: str = ""


class _Bringing:
    """One import at work: what comes in, what was there already, what becomes a draft, what stays out."""

    def __init__(self, writer: NoteWriter, found: Found) -> None:
        self.writer = writer
        self.found = found = found._replace(entries=[entries.cleaned(one) for one in found.entries])
        self.names: dict[str, str] = {}
        self.took: dict[str, str] = {}
        self.made: list[_Held] = []
        self.drafts: list[_Held] = []
        self.existing: list[Taken] = []
        self.skipped = list(found.skipped)
        self.beside: list[str] = []
        notes = [*writer.note_set.readable(), *Drafts(writer.tx.ledger.git).all()]
        self._texts = {similarity.plain(note.body): note for note in notes}
        self._better = {note.id: note.data["origin"] for note in notes if note.data["origin"] != "import"}
        self._sources = grouped((source, note) for note in notes for source in note.list("sources")[:1])
        self._first: dict[str, str] = {}
        self._is_known = self._mostly_known(found.entries)
        live = {note.id for note in writer.note_set.live()}
        self._gone = Tombstones(writer.note_set)
        self._places = self._placed(found.entries)
        self._keys = {str(note.data["key"]): note.id for note in notes if note.data.get("key") and note.id in live}

    def done(self, *, dry: bool) -> Brought:
        """Do it; return what came of it."""
        for entry in self.found.entries:
            self._take(entry)
        for held in self.made:
            self._connect(held)
            write(self.writer, held.new_note.data, held.new_note.body, held.new_note.domain)
        for held in self.drafts:
            self._connect(held)
        for held in self.made:
            self._follow(held)
        self._tell_beside()
        neighbours.tell_all(self.writer, {held.new_note.data["id"] for held in self.made})
        return Brought(
            [_taken(held, dry=dry) for held in self.made], self.existing,
            [_taken(held, dry=dry) for held in self.drafts], self.skipped,
        )  # fmt: skip

    def _take(self, entry: Entry) -> None:
        """Decide what becomes of an entry."""
        if self._is_there(entry):
            return
        try:
            options = {**entry.options, "origin": "import", "about": ()}
            new_note = prepare(self.writer, NoteInput(text=entry.text, **options))
            self._anchor(entry, new_note)
        except SecretFound as secret:
            where = f"{entry.where.partition(':')[0]}:{entry.line + int(str(secret.facts['line'])) - 1}"
            self._leave(
                where if entry.line else entry.where,
                f"it holds what looks like a secret ({secret.facts['rule']}). {secret.hint}",
            )
            return
        except MementoError as error:
            self._leave(entry.where, error.message)
            return
        if entry.at > self.writer.tx.now:
            self._leave(entry.where, f"its time {entry.at} is yet to come: it is dated now")
        elif entry.at:
            new_note.data["at"] = entry.at
        key = new_note.data.get("key", "") if entry.state in ("", "parked") else ""
        held = self._keys.get(key, "")
        if held and (held in self._better or held not in map(self.names.get, entry.supersedes)):
            self._leave(entry.where, f"note {held} has the key {key} already, with another text")
            return
        for why in entry.told:
            self._leave(entry.where, why)
        if signs := orders(new_note.data, new_note.body):
            self.drafts.append(_Held(entry, new_note, why_draft(signs)))
            return
        if key:
            self._keys[key] = new_note.data["id"]
        self.names[entry.name] = new_note.data["id"]
        self.made.append(_Held(entry, new_note))

    def _placed(self, given: Sequence[Entry]) -> dict[str, Meant]:
        """Return where the places that entries name are here."""
        wanted: dict[str, str] = {}
        for entry in given:
            for place in entry.options.get("about", ()):
                wanted[place] = entry.quotes.get(place) or wanted.get(place, "")
        return pin_meant(self.writer.view.git, wanted)

    def _anchor(self, entry: Entry, new_note: NewNote) -> None:
        """Say what code a note is about; refuse to quote a secret."""
        held = [self._places[place] for place in entry.options.get("about", ())]
        for one in held:
            if one.anchor.quote:
                self.writer.text(f"quote of {one.anchor}", one.anchor.quote)
        for one in held:
            if one.told:
                self._leave(entry.where, one.told)
        if held:
            new_note.data["about"] = [one.data() for one in dict.fromkeys(one.anchor for one in held)]

    def _is_there(self, entry: Entry) -> bool:
        """Tell whether a note or draft says the very same, or came from the same place."""
        came = self._came(entry)
        same = self._texts.get(similarity.plain(entry.text))
        if came is not None and not _agree(came, entry):
            self._leave(entry.where, f"it came in as {came.id} and reads differently now: better that note's wording")
        elif (there := came or same) is not None:
            self.existing.append(Taken(there.id, str(there.data["title"])))
            self.names[entry.name] = there.id
            return True
        elif gone := self._taken_out(entry):
            self._leave(entry.where, why_out(gone))
            return True
        else:
            self.beside += [one.id for one in self._named_so(entry)]
        return came is not None

    def _named_so(self, entry: Entry) -> list[Prose]:
        """Return the notes that came from a place of the same name, in whatever store it is."""
        return self._sources.get(_source(entry), []) if entry.lasting else []

    def _came(self, entry: Entry) -> Prose | None:
        """Return what an entry came in as before: it says or said the same, is as old, or of a store that is known."""
        held = self._named_so(entry)
        same = (one for one in held if _agree(one, entry))
        made = (one for one in held if (entry.at and one.data["at"] == entry.at) or self._agreed(one, entry))
        return next(same, None) or next(made, held[-1] if held and self._is_known else None)

    def _mostly_known(self, given: Sequence[Entry]) -> bool:
        """Tell whether a store was read before: of its names that came in once, most say now what they said then.

        Names such as `1` or `notes.md` are in many stores. What a note said then may have been revised here since.
        """
        named = [(entry, held) for entry in given if (held := self._named_so(entry))]

        def are_most() -> bool:
            agreed = sum(any(_agree(one, entry) or self._agreed(one, entry) for one in held) for entry, held in named)
            return 2 * agreed >= len(named)

        if named and not are_most():
            self._first = self._as_they_came([one for _, held in named for one in held])
        return bool(named) and are_most()

    def _agreed(self, note: Prose, entry: Entry) -> bool:
        """Tell whether a note said when it came in what an entry says."""
        return self._first.get(note.id) == similarity.plain(entry.text)

    def _as_they_came(self, notes: Sequence[Prose]) -> dict[str, str]:
        """Return note -> what it said when it came in, as git's history has it."""
        held = {note.path: note.id for note in notes}
        found: dict[str, str] = {}
        for path, data in revisions.first_texts(self.writer.tx.view, held).items():
            decoded = codec.decode(Place("note", "", held[path], held[path]), path, data)
            if isinstance(decoded, codec.Decoded):
                found[held[path]] = similarity.plain(decoded.body)
        return found

    def _taken_out(self, entry: Entry) -> str:
        """Return the note that said an entry, or came from its place, and was redacted or purged."""
        sources = [_source(entry), *([] if entry.lasting else [f"file:{entry.where}"])]
        found = (self._gone.find(entry.text, source, lasting=entry.lasting) for source in sources)
        return next(filter(None, found), "")

    def _tell_beside(self) -> None:
        """Warn of notes that have the names of what came in, and are taken for those of another store."""
        if ids := list(dict.fromkeys(self.beside)):
            told = f"came in beside notes that have the same names in another store: {some(ids, NAMED)}"
            self.writer.tx.ledger.warn(told)

    def _leave(self, where: str, why: str) -> None:
        self.skipped.append(LeftOut(where, why))

    def _connect(self, held: _Held) -> None:
        """Turn names of the source into ids; say which lead nowhere."""
        entry, data = held.entry, held.new_note.data
        named = ((rel, self._known(entry, name, "its link")) for rel, name in entry.links)
        links = [{"rel": rel, "to": to} for rel, to in dict.fromkeys(named) if to and to != data["id"]]
        old = self._succeeded(entry, data["id"], entry.supersedes, "what it supersedes,")
        data.update({key: value for key, value in (("links", links), ("supersedes", old)) if value})
        if merged := self._succeeded(entry, data["id"], entry.merges, "what it sums up,"):
            data["sources"] = [*data.get("sources", ())[:1], *merged]

    def _succeeded(self, entry: Entry, note: str, names: Sequence[str], what: str) -> list[str]:
        """Return the notes whose place a note takes; one that came after it, by whatever way, is none of them."""
        found = []
        for name in names:
            old, after = self._known(entry, name, what), note
            while after in self.took and after != old:
                after = self.took[after]
            if old and after == old:
                self._leave(entry.where, f"{what} {name} took its own place, so the note is without it")
            elif old in self._better:
                why = f"its origin here is {self._better[old]}, and an import takes no place of it"
                self._leave(entry.where, f"{what} {name}: {why}")
            elif old:
                self.took.setdefault(old, note)
                found.append(old)
        return found

    def _known(self, entry: Entry, name: str, what: str) -> str:
        if name not in self.names:
            self._leave(entry.where, f"{what} {name} did not come in, so the note is without it")
        return self.names.get(name, "")

    def _follow(self, held: _Held) -> None:
        """Let happen what had happened to the notes where they come from."""
        entry, note, note_set = held.entry, held.new_note.data["id"], self.writer.note_set
        reason = self._reason(entry)
        for old in held.new_note.data.get("supersedes") or ():
            if note_set.status(old) in LIVE:
                self.writer.append(note_set, old, "superseded", successor=note, reason=reason)
            else:
                self._leave(entry.where, f"{old} is {note_set.status(old)} already, so this note takes nobody's place")
        for old in dict.fromkeys(self.names.get(name, "") for name in entry.merges):
            if self.took.get(old) == note and note_set.status(old) in LIVE:
                said = note_set.find(old)
                text = digest_of_text(said.title, said.body)
                self.writer.append(note_set, old, "merged", into=note, text=text, reason=reason)
        if entry.state and note_set.status(note) == "active":
            why: dict[str, Any] = {"note" if entry.state == "finished" else "reason": reason or THERE}
            self.writer.append(note_set, note, entry.state, **why)

    def _reason(self, entry: Entry) -> str:
        """Return why something happened, where the source tells it in words that a ledger may hold."""
        try:
            return self.writer.optional("reason", entry.reason)
        except MementoError as error:
            self._leave(entry.where, f"its reason was left out: {error.message}")
            return ""


def _taken(held: _Held, *, dry: bool) -> Taken:
    return Taken("" if dry else held.new_note.data["id"], held.new_note.data["title"], held.why)


def _source(entry: Entry) -> str:
    return str(next(iter(entry.options.get("sources", ())), ""))


def _agree(note: Prose, entry: Entry) -> bool:
    return similarity.plain(note.body) == similarity.plain(entry.text)
