"""The names of the files of one run, or of all notes, sorted by what they are; nothing is read for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from memento_git.ledger import layout
from memento_git.model.finding import Finding
from memento_git.model.ids import dispatch_of, kind_of, opening_of
from memento_git.model.tuples import NamedTuple

EVENT_LENGTH: Final = len("-123456789012.yaml")
START: Final = 1 - EVENT_LENGTH
END: Final = -len(".yaml")
REDACTED: Final = "-redacted-"
TEXTS: Final = ("run", "plan", "task")  # they lie in the folder of what happened to them
REDACTABLE: Final = ("evidence", "note")  # their events stay when they go


class FileNames(Protocol):
    """What is asked of the names of the files of a run, or of all notes; nothing is '' or empty."""

    def holds(self, identity: str, kind: str) -> bool:
        """Tell whether there is a record of this id."""
        if kind == "event":
            return bool(self.event_at(identity))
        if kind == "dispatch":
            return "-dispatched-" in self.event_at(opening_of(identity))
        there = self.text_of(identity) or self.evidence_at(identity)
        return bool(there or (kind in REDACTABLE and self.events_about(identity)))

    def text_of(self, identity: str) -> str: ...

    def evidence_at(self, identity: str) -> str: ...

    def event_at(self, identity: str) -> str: ...

    def is_twin(self, event: str) -> bool: ...

    def events_about(self, record: str) -> Sequence[str]: ...

    def redacting(self, record: str = "") -> Sequence[str]: ...

    def plans(self) -> list[str]: ...


class FileIndex(NamedTuple):
    """The names of one run's files: id -> path, record -> its events, evidence -> its attachments; what redacts."""

    prose: dict[str, str]
    evidence: dict[str, str]
    events: dict[str, str]
    events_of: dict[str, list[str]]
    attachments: dict[str, list[str]]
    twins: dict[str, list[str]]
    redactions: list[str]

    def holds(self, identity: str, kind: str) -> bool:
        """Tell whether the run has a record of this id."""
        return FileNames.holds(self, identity, kind)

    def text_of(self, identity: str) -> str:
        """Return the path of a record's text, nothing where there is none."""
        return self.prose.get(identity, "")

    def evidence_at(self, identity: str) -> str:
        """Return the path of an evidence file, nothing where there is none."""
        return self.evidence.get(identity, "")

    def event_at(self, identity: str) -> str:
        """Return the path of an event, of several with its id the first, nothing where there is none."""
        return self.events.get(identity, "")

    def is_twin(self, event: str) -> bool:
        """Tell whether several files have the id of an event."""
        return event in self.twins

    def events_about(self, record: str) -> Sequence[str]:
        """Return the events that happened to a record."""
        return self.events_of.get(record, ())

    def plans(self) -> list[str]:
        """Return the plans that have a text or to which something happened."""
        return [name for name in {**self.prose, **self.events_of} if kind_of(name) == "plan"]

    def of_kind(self, kind: str) -> list[str]:
        """Return the ids of all records of a kind."""
        if kind == "event":
            return list(self.events)
        if kind == "dispatch":
            opened = [identity for identity, path in self.events.items() if "-dispatched-" in path]
            return [dispatch_of(identity) for identity in opened]
        held = self.evidence if kind == "evidence" else (name for name in self.prose if name.startswith(kind))
        return [*held, *(self.left_of(kind) if kind in REDACTABLE else ())]

    def left_of(self, kind: str) -> list[str]:
        """Return the ids of the records of a kind of which nothing but events is left."""
        held = self.evidence if kind == "evidence" else self.prose
        return [name for name in self.events_of if name not in held and name.startswith(f"{kind}_")]

    def redacting(self, record: str = "") -> list[str]:
        """Return the paths of the events that redact something; with a record, those that happened to it."""
        if not record:
            return self.redactions
        return [path for name in self.events_of.get(record, ()) if REDACTED in (path := self.events[name])]


def build(paths: Iterable[str]) -> tuple[FileIndex, list[Finding]]:
    """Return the index of a run's files in the order given, and what is wrong with their ids."""
    index = FileIndex({}, {}, {}, {}, {}, {}, [])
    findings: list[Finding] = []
    last = owner = ""
    is_event = layout.EVENT_NAME.fullmatch
    events, events_of, prose = index.events, index.events_of, index.prose
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder != last:
            last, owner = folder, layout.owner_of(folder)
        if owner and is_event(name) and (identity := f"event_{name[START:END]}") not in events:
            events[identity] = path
            events_of.setdefault(owner, []).append(identity)
            if REDACTED in name:
                index.redactions.append(path)
        elif not owner and (note := layout.note_of(path)) and note not in prose:
            prose[note] = path
        else:
            findings += add(index, path, owner, name)
    return index, findings


def add(index: FileIndex, path: str, owner: str, name: str) -> Sequence[Finding]:
    """Add one file's name to the index; return what is wrong with its id."""
    kind = kind_of(owner)
    if not owner:
        if evidence := layout.evidence_of(path):
            index.evidence[evidence] = path
        elif note := layout.note_of(path):
            return _add_note(index, path, note)
    elif kind in TEXTS and name == f"{kind}.md":
        index.prose[owner] = path
    elif layout.EVENT_NAME.fullmatch(name):
        return _add_event(index, path, owner, f"event_{name[START:END]}")
    elif kind == "evidence" and layout.FILE_NAME.fullmatch(name):
        index.attachments.setdefault(owner, []).append(path)
    return ()


def _add_note(index: FileIndex, path: str, note: str) -> Sequence[Finding]:
    first = index.prose.setdefault(note, path)
    if first == path:
        return ()
    fix = f"git rm the copy; which of them came later: git log --format='%h %an %ad' --name-status -- {first} {path}"
    return [Finding("F008", path, 0, f"{note} is in {first} too; an id belongs to one file", fix)]


def _add_event(index: FileIndex, path: str, owner: str, identity: str) -> Sequence[Finding]:
    first = index.events.setdefault(identity, path)
    index.events_of.setdefault(owner, []).append(identity)
    if first == path:
        if REDACTED in path:
            index.redactions.append(path)
        return ()
    index.twins.setdefault(identity, [first]).append(path)
    return [Finding("F008", path, 0, f"{identity} is in {first} too; an id belongs to one file", f"git rm {path}")]
