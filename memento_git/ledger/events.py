"""The events of one run, or of all notes, at a view: those that are there, and what is left of redacted ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memento_git.folding.fold import Fold, Folded, group_in
from memento_git.ledger import codec, layout
from memento_git.ledger.codec import Decoded, decode, event_of
from memento_git.ledger.layout import Place
from memento_git.model.finding import Finding
from memento_git.model.ids import Ref, kind_of, parse_ref
from memento_git.model.work import Event

if TYPE_CHECKING:
    from memento_git.ledger.file_index import FileIndex, FileNames
    from memento_git.ledger.view import View


NOTHING: Final = codec.digest_of(b"")
UNREAD: Final = ("F001", "F002", "F003")


def is_purge(event: Event) -> bool:
    """Tell whether an event is all that a purge left of its record: it follows nothing, and knows nothing of it."""
    return event.do == "redacted" and not event.after and event.get("target") == f"{event.of}@{NOTHING}"


class EventLog:
    """What a fold draws its events from; `id` is that of a run, or nothing for the notes."""

    fold: Fold

    def __init__(self, view: View, run: str) -> None:
        self.view = view
        self.id = run
        self._tombstones: dict[str, Event] | None = None
        self._twins: dict[str, str] = {}

    def records(self, key: str) -> Sequence[str]:
        """Return the records whose events are folded together under a key."""
        return [key]

    def folded(self, key: str) -> Folded:
        """Return what the events of a group come to."""
        return self.fold.group(key)

    def event_folder(self, of: str) -> str:
        """Return where the events of a record lie."""
        return layout.folder_of(self.id, of)

    @property
    def names(self) -> FileNames:
        """Return what tells the names of single files as the view has them now."""
        return self.view.names(self.id)

    @property
    def index(self) -> FileIndex:
        """Return the names of the files as the view has them now."""
        return self.view.index(self.id)

    def event(self, identity: str) -> Event | None:
        """Return an event; of a redacted one whose file is there, by a merge or in a union, no more than of others."""
        path, left = self._path(identity), self._removed().get(identity)
        if path is None:
            return left
        found = self.view.record(path)
        if not isinstance(found, Event):
            return None
        return found if left is None else found._replace(data=codec.redact_event(found.data))

    def unreadable(self, identity: str) -> Event | None:
        path = self._path(identity)
        place = layout.place_of(path) if path else None
        if path is None or place is None:
            return None
        return Event(identity, self.id, place.do, place.of, codec.time_of(place.stamp), "", (), {}, "", path)

    def _path(self, identity: str) -> str | None:
        """Return an event's file; of several with its id the base's, the one that others name, else the first."""
        names = self.names
        return self._twin(identity) if names.is_twin(identity) else names.event_at(identity) or None

    def _twin(self, identity: str) -> str:
        if identity not in self._twins:
            paths = self.index.twins[identity]
            others = [path for name, path in self.index.events.items() if name not in self.index.twins]
            self.view.fetch([*paths, *others])
            named = {
                ref.digest
                for path in others
                if isinstance(found := self.view.record(path), Event)
                for ref in found.after
                if ref.id == identity
            }
            older = [path for path in sorted(paths) if not self.view.is_newer(path)] or sorted(paths)
            held = {path: codec.digest_of(self.view.read(path) or b"") for path in older}
            self._twins[identity] = next((path for path in held if held[path] in named), older[0])
        return self._twins[identity]

    def group(self, key: str) -> Sequence[str]:
        records, asked = self.records(key), self.names
        names = [
            name
            for record in records
            for name in asked.events_about(record)
            if not asked.is_twin(name) or f"/{record}/" in (self._path(name) or "")
        ]
        self.view.fetch(path for path in map(asked.event_at, names) if path not in self.view.decoded)
        removed = [event.id for event in self.tombstones.values() if event.of in records]
        return names + [name for name in removed if name not in names]

    @property
    def tombstones(self) -> dict[str, Event]:
        """Return what redacted events still say: id -> event without its free texts, digest of the original.

        A file that is there speaks for itself, but for its free texts.
        """
        return {name: event for name, event in self._removed().items() if self._path(name) is None}

    def is_withheld(self, event: str) -> bool:
        """Tell whether the free texts of an event were redacted, be its file there or not."""
        return event in self._removed()

    def redactions(self) -> list[Event]:
        """Return the events that redact, also those of which another redaction is all that is left."""
        return [*self._redacting(), *(event for event in self._removed().values() if event.do == "redacted")]

    def _redacting(self) -> list[Event]:
        """Return the events that redact and whose files are there."""
        return [found for path in self.names.redacting() if isinstance(found := self.view.record(path), Event)]

    def _removed(self) -> dict[str, Event]:
        if self._tombstones is None:
            self._tombstones = {}
            chains = [self._chain(redaction) for redaction in self._redacting()]
            targets = {parse_ref(one.get("target")) for chain in chains for one in chain if one.do == "redacted"}
            for chain in chains:
                self._came_back(chain[0])
                for redaction, kept in pairwise(chain):
                    if not all(ref in targets or self._is_there(ref) for ref in redaction.after):
                        break
                    self._tombstones[kept.id] = kept
                    if kept.do == "redacted":
                        self._came_back(kept)
        return self._tombstones

    def _chain(self, redaction: Event) -> list[Event]:
        """Return a redaction and what it keeps of an event; if that is one too, also what that one kept, and so on."""
        chain = [redaction]
        while chain[-1].do == "redacted" and "kept" in chain[-1].data:
            last = chain[-1]
            own = kind_of(last.of) == "evidence" and parse_ref(last.get("target")).id == last.of
            kept = None if own else self._kept(last, redaction.path)
            if kept is None:
                break
            chain.append(kept)
        return chain

    def _is_there(self, ref: Ref) -> bool:
        path = self._path(ref.id)
        found = self.view.record(path) if path else None
        return isinstance(found, Event) and found.digest == ref.digest

    def _came_back(self, redaction: Event) -> None:
        """Note a redacted file that is in the ledger again; in a union, the revisions may simply differ."""
        target = parse_ref(redaction.get("target")).id
        for path in (
            self.index.event_at(target),
            self.index.evidence_at(target),
            self.index.text_of(target),
            *self.index.attachments.get(target, ()),
            *(self._happened(target) if is_purge(redaction) else ()),
        ):
            if path and len(self.view.commits) == 1:
                packed = bool(self.id) and self.view.only_archived(self.id, path)
                fix = "memento check --fix" if packed else f"git rm {path}"
                self.view.note(Finding("R001", path, 0, f"{target} was redacted, and this file is back", fix))

    def _happened(self, purged: str) -> Iterator[str]:
        """Yield the files of what happened to a record that was purged, which took them out, too."""
        for path in map(self.names.event_at, self.names.events_about(purged)):
            found = self.view.record(path)
            if not (isinstance(found, Event) and is_purge(found)):
                yield path

    def _kept(self, redaction: Event, path: str) -> Event | None:
        target = parse_ref(redaction.get("target"))
        kept = redaction.data["kept"]
        if not isinstance(kept, dict) or kept.get("of") != redaction.of or kind_of(target.id) != "event":
            message = f"{target.id} is not an event of {redaction.of}"
            self.view.note(Finding("F003", path, 0, message, f"put back what it said: git log -p -- {path}"))
            return None
        place = Place("event", self.id, target.id, str(kept.get("of")), "", str(kept.get("do")))
        decoded = decode(place, path, codec.encode(kept))
        if not isinstance(decoded, Decoded):
            self.view.note(*decoded)
            return None
        return event_of(target.id, self.id, decoded._replace(digest=target.digest), path)

    def lightened(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings, as warnings those on files which cannot be read of events that a void took out."""
        return [one._replace(severity="warning") if self._is_put_aside(one) else one for one in findings]

    def _is_put_aside(self, finding: Finding) -> bool:
        place = layout.place_of(finding.path) if finding.code in UNREAD else None
        if place is None or place.kind != "event" or place.run != self.id:
            return False
        return place.id in self.fold.group(group_in(self.id, place.of)).put_aside

    def added(self, event: Event, group: str) -> None:
        """Take note of an event that the transaction has just written."""
        self.fold.renew(event.id, group)
        if event.do == "redacted":
            self._tombstones = None
