"""What one run's files say: its texts, and its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memento_git.folding.event_rows import UNKNOWN
from memento_git.folding.lanes import STATUS
from memento_git.ledger import layout
from memento_git.ledger.events import EventLog
from memento_git.ledger.view import LedgerUnreadable
from memento_git.model.finding import WHOLE, Finding
from memento_git.model.ids import kind_of
from memento_git.model.work import Evidence, Prose

NEVER: Final = "1970-01-01T00:00:00.000Z"


class RunRecords(EventLog):
    """The records of one run at one view, as their files have them."""

    def prose(self, identity: str) -> Prose:
        """Return a run, plan or task; refuse where its file is wrong or missing.

        A run's text is the only one that all of its records lean on, so a stand-in takes its place.
        """
        if found := self.text(identity):
            return found
        if identity != self.id and (finding := self.unread(identity)) is not None:
            raise LedgerUnreadable(finding=finding)
        return self.told(identity)

    def text(self, identity: str) -> Prose | None:
        """Return a run, plan or task; None where its file is wrong or missing."""
        path = self.names.text_of(identity)
        found = self.view.record(path) if path else None
        return found if isinstance(found, Prose) else None

    def unread(self, identity: str) -> Finding | None:
        """Return why the text of a record cannot be read, or nothing."""
        path = self._text_path(identity)
        if isinstance(self.view.record(path), Prose):
            return None
        missing = Finding("F007", path, 0, f"{identity} is in the ledger, but its text is missing", WHOLE)
        finding = next((one for one in self.view.findings if one.path == path), missing)
        self.view.note(finding)
        return finding

    def told(self, identity: str) -> Prose:
        """Return a run, plan or task to be shown; a stand-in where its text cannot be read."""
        if found := self.text(identity):
            return found
        self.unread(identity)
        kind = kind_of(identity)
        shown = f"(the {kind}'s text cannot be read)"
        data = {"id": identity, "goal" if kind == "run" else "title": shown, "at": NEVER, "by": UNKNOWN}
        return Prose(identity, self.id, data, "", "", self._text_path(identity))

    def _text_path(self, identity: str) -> str:
        return self.names.text_of(identity) or layout.prose_path(self.id, identity)

    def is_disputed(self, identity: str) -> bool:
        """Tell whether several revisions of a union have changed a record's text, each otherwise."""
        return self._text_path(identity) in self.view.table.disputed

    def evidence(self, identity: str) -> Evidence | None:
        """Return evidence that can be read and is not redacted; a merge or a union may have a redacted one's file."""
        if self.is_redacted(identity):
            return None
        path = self.names.evidence_at(identity)
        found = self.view.record(path) if path else None
        return found if isinstance(found, Evidence) else None

    def is_redacted(self, evidence: str) -> bool:
        """Tell whether evidence was taken out, be its file there or not."""
        return bool(self.names.redacting(evidence)) and self.fold.group(evidence).lanes.word(STATUS, "") == "redacted"

    def redacted(self) -> list[str]:
        """Return the evidence of which nothing but events counts; a redacted one's file may be there."""
        return [*self.index.left_of("evidence"), *filter(self.is_redacted, self.index.evidence)]

    def pieces(self, names: Iterable[str]) -> list[Evidence]:
        """Return the evidence of some ids, as far as it is there and can be read."""
        return [found for name in names if (found := self.evidence(name)) is not None]

    def keeping(self, file: str) -> list[Evidence]:
        """Return the evidence whose folder keeps a file of this name; other evidence is not even read."""
        held = self.index.attachments.items()
        return self.pieces(name for name, paths in held if any(path.endswith(f"/{file}") for path in paths))

    def faults(self) -> list[Finding]:
        """Return what is wrong in the files of the run, all of which are read for it."""
        index, inside, packed = self.index, f"/{self.id}/", f"/{self.id}"
        for path in (*index.prose.values(), *index.evidence.values(), *index.events.values()):
            self.view.record(path)
        for name in (self.id, *index.left_of("plan"), *index.left_of("task")):
            self.unread(name)
        found = self.lightened(self.view.findings)
        return [one for one in found if one.path.endswith(packed) or inside in one.path]

    def loose(self) -> list[str]:
        """Return the files of the run's records that lie outside of its archives."""
        index = self.index
        paths = [path for held in (index.prose, index.evidence, index.events) for path in held.values()]
        paths += [path for held in (*index.attachments.values(), *index.twins.values()) for path in held]
        return [path for path in dict.fromkeys(paths) if not self.view.only_archived(self.id, path)]

    def ids(self, kind: str) -> list[str]:
        """Return the records of a kind in the order of their making."""
        found = {name for name in (*self.index.prose, *self.index.evidence) if kind_of(name) == kind}
        return sorted(found, key=lambda name: (self._made(name), name))

    def tasks(self) -> list[str]:
        """Return all tasks, with those to which something happened and whose text is gone."""
        return [*self.ids("task"), *sorted(self.index.left_of("task"))]

    def _made(self, identity: str) -> str:
        found = self.text(identity) or self.evidence(identity)
        return found.data["at"] if found else ""
