"""Memory: short statements kept and recalled from Python, in a ledger of their own or a project's."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from memento_git.errors import Refused
from memento_git.ledger.environment import at_home
from memento_git.ledger.thread_safety import in_turn
from memento_git.model.arguments import ArgumentInvalid, checked, fit, fits
from memento_git.model.ids import NoSuchRecord
from memento_git.scopes import Held
from memento_git.texts.typed import TextEmpty

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.knowledge.note_writer import NoteWriter
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.work import Prose

PATH: Final = "MEMENTO_PATH"
FORGOTTEN: Final = "forgotten"
USUAL: Final = 0.5  # importance of a memory of which nobody says any


class HardForget(Refused):
    token = "hard_forget"
    sentence = "{note} stays in the history of {path}: what is forgotten is retired, and can be restored"
    hint_ = "a person lets it leave history on the command line, in {path}: purge {note}"


class MemoryRecord(NamedTuple):
    """One memory: what it says, under which key, from when, and how well it answers where it was asked for.

    `importance` is from 0 to 1, a time such as `2026-11-21T21:02:13.377Z`, `subject_key` empty where it has none, and
    `source` is `manual` where nobody named one. What is `archived` was forgotten or replaced. `score` has no unit: the
    higher, the better the answer; 0 where nothing was asked.

    `updated_at` is when something last happened to it: it was forgotten, restored, confirmed, linked. What it says may
    have been bettered since; the history of its file tells when, which is not read for this.
    """

    id: str
    kind: str
    content: str
    importance: float
    subject_key: str
    source: str
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    archived: bool
    score: float = 0.0


@in_turn
@checked
class Memory:
    """Memories in the ledger of a folder; without a path in the user's own, below the user's data folder.

    MEMENTO_PATH names the path where none is given, MEMENTO_ACTOR or git's user who acts where no `actor` is. Nothing
    is made before something is stored. A path to a data base file stands for a folder of its name without the suffix;
    the file is left alone. Every change is one commit. Threads may share one, and take turns.

    What cannot be done raises a `MementoError`, and changes nothing; an argument of a wrong type is a `TypeError`, too.
    """

    def __init__(self, path: str | Path | None = None, *, actor: str = "") -> None:
        given = path if path is not None else os.environ.get(PATH) or None
        self._held = Held(given, actor)
        self.path = self._held.folder
        self.turn = self._held.turn
        if given is not None and self.path != (file := at_home(given).absolute()) and file.is_file():
            self._tell(file)

    def _tell(self, file: Path) -> None:
        if self._held.reading() is None:
            told = f"{file} is left alone; to bring its memories here: memento import --from memento-sqlite {file}"
            warnings.warn(told, UserWarning, stacklevel=4)

    def store(
        self, content: str, kind: str = "", importance: float = USUAL, subject_key: str = "",
        metadata: Mapping[str, Any] | None = None, source: str = "",
    ) -> str:  # fmt: skip
        """Keep a memory, a fact unless `kind` says otherwise; return its id.

        A kind is one that notes have (decision, lesson, preference, …), an importance from 0 to 1, a key dotted words
        such as `user.theme`; `metadata` has values of JSON. An empty content, or a secret in it, is refused.

        The one that has the same key already says this from now on, is resumed where it was parked, and lasts where it
        would expire; where it is of another kind than is asked for, or has expired, a new memory takes its place.
        Without a key that goes for the one that says the same and has none: it takes what is given now.
        """
        item = {"content": content, "kind": kind, "importance": importance, "subject_key": subject_key}
        return self.store_many([{**item, "metadata": metadata, "source": source}])[0]

    def store_many(self, items: Iterable[Mapping[str, Any]]) -> list[str]:
        """Keep several memories, all or none; each is a mapping of what `store` takes. Return their ids."""
        wanted = [_item(item) for item in items]
        if not wanted:
            return []

        def act(tx: Transaction) -> list[str]:
            from memento_git.knowledge.note_writer import NoteWriter

            writer = NoteWriter.of(tx)
            return [_stored(writer, **item) for item in wanted]

        return self._held.keep(lambda ledger: ledger.change("note add", act))

    def recall(self, query: str, k: int = 10) -> list[MemoryRecord]:
        """Return at most `k` memories that answer a question, the best first; an empty list where none does."""
        return self.recall_many([query], k)[0]

    def recall_many(self, queries: Sequence[str], k: int = 10) -> list[list[MemoryRecord]]:
        """Return for each of several questions what `recall` would."""
        note_set = self._note_set()
        if note_set is None:
            return [[] for _ in queries]
        from memento_git.knowledge.recall import search

        live = {note.id: note for note in note_set.in_force()}
        answers = []
        for query in queries:
            found = search(
                note_set.view, [query], limit=2 * k,
                keep=lambda header: header.kind == "note" and note_set.current(header.id) in live,
            )  # fmt: skip
            told: dict[str, float] = {}
            for header, hit in found.told():
                told.setdefault(note_set.current(header.id), hit.score)
            answers.append([_record(note_set, live[name], round(score, 4)) for name, score in [*told.items()][:k]])
        return answers

    def get(self, id: str) -> MemoryRecord:  # noqa: A002 (the name that callers of the seed give)
        """Return one memory by its id, the beginning of it, or its key, also a forgotten one; refuse where none is."""
        note_set = _read(self._known(id))
        return _record(note_set, note_set.find(id))

    def _note_set(self) -> NoteSet | None:
        """Return all memories; None where nothing was kept yet."""
        ledger = self._held.reading()
        return _read(ledger) if ledger is not None else None

    def _known(self, given: str) -> Ledger:
        """Return the ledger in which a memory is looked for."""
        ledger = self._held.reading()
        if ledger is None:
            raise NoSuchRecord(kind="note", given=given)
        return ledger

    def update(
        self, id: str, content: str | None = None, importance: float | None = None,  # noqa: A002
        metadata: Mapping[str, Any] | None = None, subject_key: str | None = None,
    ) -> MemoryRecord:  # fmt: skip
        """Better a memory in place: what it says, how much it matters, what else is known of it; return it anew.

        What is not given stays. Metadata take the place of those that were there, and an empty mapping takes them away.
        """
        for where, given in (("content", content), ("subject_key", subject_key)):
            if given == "":
                raise TextEmpty(where=where, problem="it is empty")

        def act(tx: Transaction) -> str:
            from memento_git.knowledge.note_writer import NoteWriter

            return _bettered(NoteWriter.of(tx), id, content or "", importance, metadata, subject_key or "")

        return self.get(self._known(id).change("note revise", act))

    def forget(self, id: str, *, hard: bool = False) -> None:  # noqa: A002
        """Retire a memory: it is recalled no more, and `restore` takes it back; nothing leaves history here.

        `hard` is refused (`hard_forget`), and so is one that is forgotten already (`note_state`).
        """
        from memento_git.knowledge.actions.notes import retire_note

        if hard:
            raise HardForget(note=self.get(id).id, path=self.path)
        self._known(id).change("note retire", lambda tx: retire_note(tx, id, reason=FORGOTTEN))

    def forget_prefix(self, prefix: str) -> list[str]:
        """Retire all memories whose key is the prefix or lies below it; return their ids."""
        from memento_git.knowledge.actions.notes import retire_prefix
        from memento_git.model.knowledge import key_start

        key_start(prefix)
        ledger = self._held.reading()
        if ledger is None:
            return []
        return ledger.change("note retire", lambda tx: retire_prefix(tx, prefix, reason=FORGOTTEN))

    def restore(self, id: str) -> MemoryRecord:  # noqa: A002
        """Take a forgotten memory back and return it; one that is not forgotten is refused (`note_state`)."""
        from memento_git.knowledge.actions.notes import restore_note

        return self.get(self._known(id).change("note restore", lambda tx: restore_note(tx, id)))

    def browse(self, subject_key_prefix: str = "", limit: int = 0) -> list[MemoryRecord]:
        """Return the memories whose key begins so, in the order of their keys; all of them without a limit."""
        start = subject_key_prefix.rstrip("*")
        found = [one for one in self.recent() if one.subject_key.startswith(start) and (one.subject_key or not start)]
        found.sort(key=lambda one: (one.subject_key, one.id))
        return found[: limit or None]

    def recent(self, limit: int = 0) -> list[MemoryRecord]:
        """Return the memories, the latest first; all of them without a limit."""
        note_set = self._note_set()
        found = [_record(note_set, note) for note in reversed(note_set.in_force())] if note_set is not None else []
        return found[: limit or None]

    def stats(self) -> dict[str, Any]:
        """Return counts of memories: `total`, `active` (recalled), `archived` (others), `kinds`; and `path`."""
        note_set = self._note_set()
        notes = list(note_set.readable()) if note_set else []
        live = note_set.in_force() if note_set else []
        return {
            "path": str(self.path), "total": len(notes), "active": len(live), "archived": len(notes) - len(live),
            "kinds": dict(Counter(note.data["kind"] for note in live)),
        }  # fmt: skip

    def close(self) -> None:
        """End the processes that read for this memory."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _read(ledger: Ledger) -> NoteSet:
    from memento_git.knowledge.note_set import NoteSet

    note_set = NoteSet(ledger.view())
    note_set.load()
    return note_set


def _record(note_set: NoteSet, note: Prose, score: float = 0.0) -> MemoryRecord:
    data = note.data
    events = note_set.folded(note.id).events
    return MemoryRecord(
        note.id, data["kind"], note.body, float(data.get("importance", USUAL)), str(data.get("key", "")),
        next(iter(note.list("sources")), "manual"), _metadata(note.list("tags")), data["at"],
        max([data["at"], *(one.event.at for one in events)]),
        not note_set.lives(note.id), score,
    )  # fmt: skip


def _metadata(tags: Iterable[str]) -> dict[str, Any]:
    """Return what tags of the form name=JSON say; other tags say that they are there."""
    return dict(_said(tag) for tag in tags)


def _said(tag: str) -> tuple[str, Any]:
    """Return name and value of a tag; a name may have a `=` in it, and what follows one may be no JSON."""
    for at in (place for place, letter in enumerate(tag) if letter == "="):
        with contextlib.suppress(ValueError):
            return tag[:at], json.loads(tag[at + 1 :])
    return tag.removesuffix("="), True


def _tags(metadata: Mapping[str, Any] | None) -> list[str]:
    try:
        return [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (metadata or {}).items()]
    except (TypeError, ValueError) as error:
        raise ArgumentInvalid(method="Memory.store", problem=f"metadata: {error}") from None


def _item(given: Any) -> dict[str, Any]:
    """Return one of several memories as `store` takes it."""
    if not fits(given, Mapping[str, Any]):
        raise ArgumentInvalid(method="Memory.store_many", problem="each item is a mapping of what store takes")
    return fit(Memory.store, **given)


def _stored(
    writer: NoteWriter, content: str, kind: str = "", importance: float = USUAL, subject_key: str = "",
    metadata: Mapping[str, Any] | None = None, source: str = "",
) -> str:  # fmt: skip
    """Add a memory, or let the live one of the same key say this from now on: it is recalled in either case."""
    from memento_git.knowledge.actions.notes import add_note

    held = writer.note_set.keyed(subject_key) if subject_key else _unkeyed(writer, content)
    before = held if held is not None and writer.note_set.lives(held.id) else None
    if before is not None and kind in ("", before.data["kind"]) and not writer.note_set.is_expired(before):
        weight = importance if subject_key or importance != USUAL else None
        return _lasting(writer, _bettered(writer, before.id, content, weight, metadata, "", source))
    tags = before.list("tags") if before is not None and not metadata else _tags(metadata)
    sort = kind or (before.data["kind"] if before is not None else "fact")
    made = add_note(
        writer.tx, content, kind=sort, importance=str(importance), key=subject_key, tags=tags,
        sources=_sources(before, source), supersedes=[before.id] if before is not None else [], beside_keys=True,
    )  # fmt: skip
    return _lasting(writer, made.id)


def _unkeyed(writer: NoteWriter, content: str) -> Prose | None:
    """Return the memory that says the very same and has no key."""
    same = writer.note_set.saying(writer.text("text", content))
    return next((note for note in same if not note.data.get("key")), None)


def _lasting(writer: NoteWriter, note: str) -> str:
    """Take a note up again that was set aside, and let it last; who stores what it says wants it to be recalled."""
    from memento_git.knowledge.actions.notes import promote_note, resume_note

    if writer.note_set.status(note) == "parked":
        resume_note(writer.tx, note)
    return promote_note(writer.tx, note) if writer.note_set.expires(writer.note_set.note(note)) else note


def _sources(note: Prose | None, source: str) -> list[str]:
    """Return where a memory is from: what is said now, then what was said before."""
    before = note.list("sources") if note is not None else []
    return [source, *(one for one in before if one != source)] if source else before


def _bettered(
    writer: NoteWriter, note: str, content: str, importance: float | None, metadata: Mapping[str, Any] | None, key: str,
    source: str = "",
) -> str:  # fmt: skip
    """Better a note in place; asking for what it says already is no mistake."""
    from memento_git.knowledge.actions.notes import revise_note
    from memento_git.knowledge.note_input import titled
    from memento_git.ledger.store import NothingToCommit

    options: dict[str, Any] = {"tags": _tags(metadata)} if metadata else {}
    options |= {"clear": ["tags"]} if metadata is not None and not metadata else {}
    options |= {"importance": str(importance)} if importance is not None else {}
    options |= {"key": key} if key else {}
    options |= {"title": titled(content)} if content.strip() else {}
    options |= {"sources": _sources(writer.find(note), source)} if source else {}
    try:
        return revise_note(writer.tx, note, text=content, **options)
    except NothingToCommit:
        return writer.find(note).id
