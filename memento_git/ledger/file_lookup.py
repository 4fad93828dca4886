"""The names of the files of a run, or of all notes, looked for one at a time in what git lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.file_index import END, START, TEXTS, FileIndex, FileNames
from memento_git.ledger.filetable import A_SCAN
from memento_git.model.ids import is_id, kind_of, random_part

if TYPE_CHECKING:
    from memento_git.ledger.view import View


MANY: Final = 64  # notes whose events are looked for one note at a time; for more, those of all are
OWNERS: Final = (*TEXTS, "evidence")


class FileLookup(FileNames):
    """The same answers as those of the index, which gives them once an id is in two files, or much was asked.

    Without a run it is the notes, which lie below their domains.
    """

    def __init__(self, view: View, run: str) -> None:
        self._view = view
        self._run = run
        self._top = f"{layout.RUNS}/{run}" if run else layout.KNOWLEDGE
        self._about: dict[str, list[str]] = {}
        self._is_all_about = False
        self._events: dict[str, list[str]] = {}
        self._redacting: list[str] | None = None
        self._domains: list[str] | None = None

    def text_of(self, identity: str) -> str:
        """Return the path of the text of a run, plan, task or note."""
        if self._run:
            return self._there(layout.prose_path(self._run, identity)) if self._is_ours(identity, TEXTS) else ""
        found = [path for folder in self._folders(identity) if (path := self._there(f"{folder}.md"))]
        return self._index().text_of(identity) if len(found) > 1 else "".join(found)

    def evidence_at(self, identity: str) -> str:
        """Return the path of an evidence file."""
        ours = self._run and self._is_ours(identity, ("evidence",))
        return self._there(layout.evidence_path(self._run, identity)) if ours else ""

    def event_at(self, identity: str) -> str:
        """Return the path of an event; of several the index says which."""
        found = self._files_of(identity)
        return self._index().event_at(identity) if len(found) > 1 else "".join(found)

    def is_twin(self, event: str) -> bool:
        """Tell whether several files have the id of an event."""
        return len(self._files_of(event)) > 1

    def events_about(self, record: str) -> Sequence[str]:
        """Return the events that happened to a record, by their names."""
        if record not in self._about:
            if self._is_all_about:
                return ()
            if len(self._about) >= MANY and not self._run:
                return self._about_all().get(record, ())
            found = []
            for folder in self._folders(record):
                listed = self._view.table.looked()
                if listed is None:
                    return self._index().events_about(record)
                names = listed.inside(folder)
                found += [f"event_{name[START:END]}" for name in names if layout.EVENT_NAME.fullmatch(name)]
            self._about[record] = found
        return self._about[record]

    def _about_all(self) -> Mapping[str, Sequence[str]]:
        """Return note -> the events that happened to it, of all notes."""
        listed = self._view.table.looked(A_SCAN)
        if listed is None:
            return self._index().events_of
        self._about.clear()
        for path in listed.holding(self._top, ".yaml\0"):
            if _is_event(path):
                self._about.setdefault(layout.owner_of(path.rpartition("/")[0]), []).append(f"event_{path[START:END]}")
        self._is_all_about = True
        return self._about

    def redacting(self, record: str = "") -> list[str]:
        """Return the paths of the events that redact something; with a record, those that happened to it."""
        if record:
            return [path for path in map(self.event_at, self.events_about(record)) if "-redacted-" in path]
        listed = self._view.table.looked(A_SCAN)
        if listed is None:
            return self._index().redacting()
        if self._redacting is None:
            paths = [path for path in listed.holding(self._top, "-redacted-") if _is_event(path)]
            self._redacting = [self.event_at(f"event_{path[START:END]}") for path in paths]
        return self._redacting

    def plans(self) -> list[str]:
        """Return the plans that have a text or to which something happened."""
        listed = self._view.table.looked()
        if listed is None:
            return self._index().plans()
        found = [name[:-1] for name in listed.inside(f"{self._top}/plans") if is_id(name[:-1], "plan")]
        return [plan for plan in found if self.text_of(plan) or self.events_about(plan)]

    def _index(self) -> FileIndex:
        return self._view.index(self._run)

    def _there(self, path: str) -> str:
        return path if self._view.blob(path) is not None else ""

    def _is_ours(self, identity: str, kinds: tuple[str, ...]) -> bool:
        """Tell whether this is an id of one of these kinds, and of no other run."""
        kind = kind_of(identity)
        return kind in kinds and is_id(identity, kind) and (kind != "run" or identity == self._run)

    def _folders(self, record: str) -> list[str]:
        """Return where the events of a record may lie."""
        if self._run:
            return [layout.folder_of(self._run, record)] if self._is_ours(record, OWNERS) else []
        if not self._is_ours(record, ("note",)):
            return []
        if self._domains is None:
            listed = self._view.table.looked()
            found = (f"{layout.KNOWLEDGE}/{name}" for name in listed.inside(layout.KNOWLEDGE)) if listed else ()
            self._domains = [folder[:-1] for folder in found if folder.endswith("/")]
        folders = (f"{domain}/{random_part(record)[0]}/{record}" for domain in self._domains)
        return [folder for folder in folders if layout.owner_of(folder)]

    def _files_of(self, event: str) -> list[str]:
        """Return all files that have the id of an event."""
        if event not in self._events:
            listed = self._view.table.looked(A_SCAN)
            if listed is None:
                index = self._index()
                return [*index.twins.get(event, filter(None, [index.event_at(event)]))]
            held = listed.holding(self._top, f"-{random_part(event)}.yaml\0") if is_id(event, "event") else ()
            self._events[event] = [path for path in held if _is_event(path)]
        return self._events[event]


def _is_event(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return bool(layout.EVENT_NAME.fullmatch(name) and layout.owner_of(folder))
