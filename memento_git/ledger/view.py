"""The ledger at one commit, or the union of several: a snapshot that nothing changes while it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Broken
from memento_git.ledger import codec, layout
from memento_git.ledger.git import Entry
from memento_git.model.finding import Finding
from memento_git.model.ids import is_id, resolve
from memento_git.model.work import Event, Evidence, Prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memento_git.ledger.codec import Decoded
    from memento_git.ledger.git import Git
    from memento_git.ledger.layout import Place
    from memento_git.model.policy import Policy

Record = Prose | Evidence | Event
FILE_MODES: Final = ("100644", "100755")


class LedgerUnreadable(Broken):
    """A file that the request relies on is wrong."""

    token = "ledger_broken"
    sentence = "{finding}"
    hint_ = "{fix}"

    def __init__(self, *, finding: Finding) -> None:
        super().__init__(finding=finding, fix=finding.fix or "memento doctor lists all that is wrong")


class Index(NamedTuple):
    """The names of one run's files: id -> path, record -> its events, evidence -> its attachments."""

    prose: dict[str, str]
    evidence: dict[str, str]
    events: dict[str, str]
    events_of: dict[str, list[str]]
    attachments: dict[str, list[str]]
    strangers: list[str]
    twins: dict[str, list[str]]

    def dispatches(self) -> list[str]:
        return [
            "dispatch" + identity.removeprefix("event")
            for identity, path in self.events.items()
            if "-dispatched-" in path
        ]


class View:
    """Files by path, and the records that they hold, decoded when they are asked for."""

    def __init__(self, git: Git, commits: tuple[str, ...], now: str) -> None:
        self.git = git
        self.commits = commits
        self.now = now
        self.findings: list[Finding] = []
        self._files: dict[str, Entry] | None = None
        self._folders: dict[str, Entry] | None = None
        self.contents: dict[str, bytes] = {}
        self.decoded: dict[str, Decoded] = {}
        self.used: set[str] = set()
        self._records: dict[str, Record | None] = {}
        self._index: dict[str, Index] = {}
        self.archived: dict[str, dict[str, list[str]]] = {}
        self._shown: dict[str, list[str]] = {}

    def note(self, *findings: Finding) -> None:
        """Add findings that are not known yet."""
        self.findings += [finding for finding in findings if finding not in self.findings]

    @property
    def files(self) -> dict[str, Entry]:
        """Return path -> entry of all files below `.memento`, listed once."""
        if self._files is None:
            self._files = {}
            for commit in self.commits:
                self._add(self._files, self.git.files(commit, layout.FOLDER))
        return self._files

    @property
    def folders(self) -> dict[str, Entry]:
        """Return path -> entry of the config file and of each run's folders, without listing what is in them."""
        if self._folders is None:
            places = (layout.CONFIG, f"{layout.RUNS}/", f"{layout.ARCHIVE}/")
            self._folders = {}
            for commit in self.commits:
                self._folders.update(self.git.entries(commit, *places))
        return self._folders

    def tree_key(self, run: str) -> str | None:
        """Return what a run's state depends on, as ids of git; None where a cache cannot know it."""
        if len(self.commits) != 1 or (self._files is not None and "" in {entry.oid for entry in self._files.values()}):
            return None
        parts = [self.folders.get(path) for path in (f"{layout.RUNS}/{run}", f"{layout.ARCHIVE}/{run}", layout.CONFIG)]
        return ":".join(entry.oid if entry else "" for entry in parts)

    def _add(self, listed: dict[str, Entry], files: Mapping[str, Entry]) -> None:
        for path, entry in files.items():
            if entry.mode not in FILE_MODES:
                kind = "symbolic link" if entry.mode == "120000" else "submodule"
                self.note(Finding("F004", path, 0, f"a {kind} has no place in the ledger", f"git rm {path}"))
                continue
            known = listed.setdefault(path, entry)
            if known.oid != entry.oid and path.startswith(layout.RUNS):
                prose = path.endswith(".md")
                shown = "; the first is shown" if prose else ""
                message = f"two revisions hold different bytes for this file{shown}"
                self.note(Finding("F006", path, 0, message, severity="warning" if prose else "error"))

    def put(self, path: str, data: bytes | None) -> None:
        """Show a file as it will be; None takes it away."""
        self._records.pop(path, None)
        self.decoded.pop(path, None)
        run = layout.run_of_path(path)
        index = self._index.get(run or "")
        new = path not in self.files
        if data is None:
            self.files.pop(path, None)
            self.contents.pop(path, None)
        else:
            self.files[path] = Entry("100644", "blob", "")
            self.contents[path] = data
        if run and (data is None or path.startswith(layout.ARCHIVE)):
            self._forget(run)
        elif index is not None and new:
            self.note(*_sort_in(index, path))

    def _forget(self, run: str) -> None:
        """List a run anew when it is asked for: what only an archive showed may be gone with it."""
        self._index.pop(run, None)
        self.archived.pop(run, None)
        for path in self._shown.pop(run, ()):
            self._records.pop(path, None)
            self.files.pop(path, None)
            self.contents.pop(path, None)

    def fetch(self, paths: Iterable[str]) -> None:
        """Bring the bytes of many files at once."""
        missing = [path for path in paths if path not in self.contents and path in self.files]
        found = self.git.objects(self.files[path].oid for path in missing)
        for path, data in zip(missing, found, strict=True):
            if data is not None:
                self.contents[path] = data

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, None where it is absent."""
        self.used.add(path)
        if path not in self.contents:
            self.fetch([path])
        return self.contents.get(path)

    def record(self, path: str) -> Record | None:
        """Return the record in a file; None, and findings, where the file is wrong."""
        self.used.add(path)
        if path not in self._records:
            self._records[path] = self._decode(path)
        return self._records[path]

    def _decode(self, path: str) -> Record | None:
        place = layout.place_of(path)
        if place is None:
            return None
        decoded = self.decoded.get(path)
        if decoded is None:
            data = self.read(path)
            if data is None:
                absent = "git does not have this object" if path in self.files else "this file is missing"
                self.note(Finding("F001", path, 0, absent, "git fetch it"))
                return None
            result = codec.decode(place, path, data)
            if isinstance(result, list):
                self.note(*result)
                return None
            decoded = self.decoded[path] = result
        return self._recorded(place, path, decoded)

    def _recorded(self, place: Place, path: str, decoded: Decoded) -> Record | None:
        result = codec.record(place, path, decoded)
        if isinstance(result, list):
            self.note(*result)
            return None
        self.note(*codec.remarks(path, decoded.body, self.read))
        return result

    def policy(self) -> Policy:
        """Return the policy in force; refuse where its file is wrong."""
        data = self.read(layout.CONFIG)
        if data is None and layout.CONFIG in self.folders:
            raise LedgerUnreadable(finding=Finding("F001", layout.CONFIG, 0, "this is not a plain file", "git rm it"))
        policy, findings = codec.read_config(data)
        for finding in findings:
            raise LedgerUnreadable(finding=finding)
        return policy

    @property
    def exists(self) -> bool:
        return layout.CONFIG in (self.folders if self._files is None else self._files)

    def runs(self) -> list[str]:
        """Return the ids of all runs, archived ones too."""
        if self._files is None:
            names = {path.rpartition("/")[2] for path, entry in self.folders.items() if entry.type == "tree"}
        else:
            names = {layout.run_of_path(path) or "" for path in self._files}
        return sorted(name for name in names if is_id(name, "run"))

    def index(self, run: str) -> Index:
        """Return the names of one run's files, those in its archives included."""
        if run not in self._index:
            self._unpack(run)
            index = Index({}, {}, {}, {}, {}, [], {})
            start = f"{layout.RUNS}/{run}/"
            for path in sorted(path for path in self.files if path.startswith(start)):
                self.note(*_sort_in(index, path))
            self._index[run] = index
        return self._index[run]

    def _unpack(self, run: str) -> None:
        """Show the files of a run's archives beside those that are still there."""
        from memento_git.ledger import archive

        start = f"{layout.ARCHIVE}/{run}/"
        held = self.archived[run] = {}
        shown = self._shown[run] = []
        for packed in sorted(path for path in self.files if path.startswith(start)):
            files, findings = archive.unpack(packed, run, self.read(packed) or b"")
            self.note(*findings)
            for path, data in files.items():
                if path not in self.files:
                    self.files[path] = Entry("100644", "blob", "")
                    self.contents[path] = data
                    shown.append(path)
                elif not path.endswith(".md") and self.read(path) != data:
                    self.note(Finding("F006", path, 0, f"differs from the same file in {packed}"))
                held.setdefault(path, []).append(packed)

    def only_archived(self, run: str, path: str) -> bool:
        """Tell whether only an archive holds a file."""
        self.index(run)
        return path in self._shown[run]

    def known(self, kind: str) -> dict[str, str]:
        """Return id -> run of every record of a kind."""
        found: dict[str, str] = {}
        for run in self.runs():
            if kind == "run":
                found[run] = run
                continue
            index = self.index(run)
            names: Iterable[str] = {
                "dispatch": index.dispatches,
                "event": index.events.keys,
                "evidence": index.evidence.keys,
            }.get(kind, index.prose.keys)()
            names = [*names, *index.events_of] if kind == "evidence" else names
            for name in names:
                if name.startswith(kind):
                    self._known_in(found, name, run)
        return found

    def _known_in(self, found: dict[str, str], identity: str, run: str) -> None:
        if found.setdefault(identity, run) != run:
            message = f"{identity} is in run {found[identity]} too; that one counts where only the id is given"
            self.note(Finding("F008", f"{layout.RUNS}/{run}", 0, message, "an id belongs to one run: git rm the copy"))

    def find(self, given: str, kind: str) -> tuple[str, str]:
        """Return the id that a prefix names, and its run."""
        known = self.known(kind)
        identity = resolve(given, kind, known)
        return identity, known[identity]


def _sort_in(index: Index, path: str) -> list[Finding]:
    """Add a file's name to the index; return what is wrong with its id."""
    place = layout.place_of(path)
    first = path
    if place is None:
        index.strangers.append(path)
    elif place.kind == "event":
        first = index.events.setdefault(place.id, path)
        index.events_of.setdefault(place.of, []).append(place.id)
    elif place.kind == "evidence":
        index.evidence[place.id] = path
    elif place.kind == "attachment":
        index.attachments.setdefault(place.id, []).append(path)
    else:
        index.prose[place.id] = path
    if place is not None and path != first:
        index.twins.setdefault(place.id, [first]).append(path)
        return [Finding("F008", path, 0, f"{place.id} is in {first} too; an id belongs to one file", f"git rm {path}")]
    return []
