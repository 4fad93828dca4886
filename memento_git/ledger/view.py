"""The ledger at one commit, or the union of several: a snapshot that nothing changes while it is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memento_git.errors import Broken
from memento_git.ledger import file_index, layout
from memento_git.ledger.file_lookup import FileLookup
from memento_git.ledger.filetable import FileTable
from memento_git.model.finding import AWAY, FETCHING, WHOLE, Finding, removing
from memento_git.model.ids import is_id, resolve

if TYPE_CHECKING:
    from memento_git.ledger.codec import Decoded
    from memento_git.ledger.file_index import FileIndex, FileNames
    from memento_git.ledger.git import Git
    from memento_git.ledger.trees import Entry
    from memento_git.model.policy import Policy
    from memento_git.model.work import Event, Evidence, Prose

    Record = Prose | Evidence | Event

THIS_FORMAT: Final = re.compile(rb"^version: *1 *\r?$", re.MULTILINE)


class LedgerUnreadable(Broken):
    token = "ledger_broken"
    sentence = "{finding}"
    hint_ = "{fix}"

    def __init__(self, *, finding: Finding) -> None:
        super().__init__(finding=finding, fix=finding.fix or "memento doctor lists all that is wrong")
        self.finding = finding


class View:
    """Files by path, and the records that they hold, decoded when they are asked for."""

    def __init__(self, git: Git, commits: tuple[str, ...], now: str) -> None:
        self.git = git
        self.commits = commits
        self.now = now
        self.findings: list[Finding] = []
        self.table = FileTable(git, commits, self.note)
        self._sought: dict[str, FileLookup] = {}
        self._runs: list[str] | None = None
        self.contents: dict[str, bytes] = {}
        self.decoded: dict[str, Decoded] = {}
        self.digests: dict[str, str] = {}
        self.used: set[str] = set()
        self.used_folders: set[str] = set()
        self.unread: set[str] = set()  # notes that were asked for and cannot be read; those of a ledger share it
        self._records: dict[str, Record | None] = {}
        self._index: dict[str, FileIndex] = {}
        self.archived: dict[str, dict[str, list[str]]] = {}
        self._shown: dict[str, set[str]] = {}
        self.puts: list[str] = []
        self.held = False
        self.prior: View | None = None  # what this view is compared with
        self.ruled: Policy | None = None  # in the place of a policy that nobody can read

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let a change read in the block what it only compares with: it does not rely on that, whoever edits it."""
        used, folders = set(self.used), set(self.used_folders)
        try:
            yield
        finally:
            self.used, self.used_folders = used, folders

    def note(self, *findings: Finding) -> None:
        """Add findings that are not known yet."""
        self.findings += [finding for finding in findings if finding not in self.findings]

    @property
    def files(self) -> dict[str, str]:
        """Return path -> blob of all files below `.memento`; '' for what is not committed."""
        return self.table.files

    def blob(self, path: str) -> str | None:
        """Return a file's blob, '' for what is not committed, None where there is no such file."""
        return self.table.blob(path)

    @cached_property
    def folders(self) -> dict[str, Entry]:
        """Return path -> entry of the config file, of the notes' folder and each run's, not listing what is in them."""
        places = (layout.CONFIG, layout.KNOWLEDGE, f"{layout.RUNS}/", f"{layout.ARCHIVE}/")
        found: dict[str, Entry] = {}
        for commit in self.commits:
            found |= self.git.entries(commit, *places)
        return found

    def tree_key(self, run: str) -> str | None:
        """Return what a run's state depends on, as ids of git; None where a cache cannot know it."""
        if len(self.commits) != 1 or self.changed or self.ruled:
            return None
        parts = [self.folders.get(path) for path in (f"{layout.RUNS}/{run}", f"{layout.ARCHIVE}/{run}", layout.CONFIG)]
        return ":".join(entry.oid if entry else "" for entry in parts) + self.signers

    @cached_property
    def signers(self) -> str:
        """Return git's ids of the files that say whose reruns count; nothing where policy lists no runners."""
        _, paths = self._of_policy()
        entries = self.git.entries(self.commits[0], *paths) if paths and self.commits else {}
        return "".join(f":{entry.mode} {entry.oid}" if (entry := entries.get(path)) else ":" for path in paths)

    def _of_policy(self) -> tuple[bool, list[str]]:
        """Return whether the policy's file is sound, and which files say whose reruns count; kept by git's id of it."""
        from memento_git.ledger import cache

        config = self.folders.get(layout.CONFIG)
        if config is None or not config.mode.startswith("100"):
            return False, []
        kept: tuple[bool, list[str]] | None = cache.read(self.git, "config", config.oid)
        if kept is None:
            from memento_git.ledger import codec

            data = self.git.objects([config.oid])[0]
            if data is None:
                return False, []
            policy, amiss = codec.read_config(data)
            kept = not amiss, policy.key_files if policy.reproduce["runners"] else []
            cache.write(self.git, "config", config.oid, kept)
        return kept

    def hold(self, blobs: Mapping[str, str]) -> None:
        """Let files be those of these blobs, '' where there shall be none; before any record is read."""
        self.held = self.held or bool(blobs)
        for path, blob in blobs.items():
            self._forget(layout.run_of_path(path))
            self.contents.pop(path, None)
            self.table.show(path, blob or None)

    def put(self, path: str, data: bytes | None) -> None:
        """Show a file as it will be; None takes it away."""
        self._records.pop(path, None)
        self.decoded.pop(path, None)
        run = layout.run_of_path(path)
        index = self._index.get(run) if run or path.startswith(f"{layout.KNOWLEDGE}/") else None
        new = self.blob(path) is None
        self.table.show(path, None if data is None else "")
        self._sought.clear()
        if data is None:
            self.contents.pop(path, None)
        else:
            self.contents[path] = data
        self.puts.append(path)
        if run and self._runs is not None and run not in self._runs:
            self._runs = None
        if data is None or path.startswith(layout.ARCHIVE):
            self._forget(run)
        elif index is not None and new:
            folder, _, name = path.rpartition("/")
            self.note(*file_index.add(index, path, layout.owner_of(folder), name))

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
        missing = self.table.blobs([path for path in paths if path not in self.contents])
        found = self.git.objects(missing.values())
        for path, data in zip(missing, found, strict=True):
            if data is not None:
                self.contents[path] = data

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, None where it is absent."""
        self.used.add(path)
        if path not in self.contents:
            self.fetch([path])
        return self.contents.get(path)

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of a file's bytes, nothing where it is absent; computed once for each blob."""
        import hashlib

        blob = self.blob(path)
        if blob and blob in self.digests:
            return self.digests[blob]
        data = self.read(path)
        digest = "" if data is None else hashlib.sha256(data).hexdigest()
        if blob:
            self.digests[blob] = digest
        return digest

    def record(self, path: str) -> Record | None:
        """Return the record in a file; None, and findings, where the file is wrong."""
        self.used.add(path)
        if path not in self._records:
            self._records[path] = self._decode(path)
            lost = self._records[path] is None and layout.note_of(path) and self.blob(path)
            self.unread |= {path} if lost else set()
        return self._records[path]

    def _decode(self, path: str) -> Record | None:
        from memento_git.ledger import codec

        place = layout.place_of(path)
        if place is None:
            return None
        if path not in self.decoded:
            data = self.read(path)
            if data is None:
                told = ("this file is missing", WHOLE) if self.blob(path) is None else (AWAY, FETCHING)
                self.note(Finding("F001", path, 0, *told))
                return None
            decoded = codec.decode(place, path, data)
            if isinstance(decoded, list):
                self.note(*decoded)
                return None
            self.decoded[path] = decoded
        found = codec.record(place, path, self.decoded[path])
        if isinstance(found, list):
            self.note(*found)
            return None
        self.note(*codec.remarks(path, self.decoded[path].body, self.read))
        return found

    def policy(self) -> Policy:
        """Return the policy in force; refuse where its file is wrong."""
        from memento_git.ledger import policyfile

        policy, findings = (self.ruled, []) if self.ruled else policyfile.read(self)
        for finding in findings:
            raise LedgerUnreadable(finding=finding)
        return policy

    def refuse_unsound_policy(self) -> None:
        """Refuse where the policy's file is wrong; that it is not, is remembered."""
        if len(self.commits) != 1 or self.changed or not self._of_policy()[0]:
            self.policy()

    def refuse_newer(self) -> None:
        """Refuse a ledger that a newer version of this tool has written: what it says may mean something else."""
        held = self.git.objects(f"{commit}:{layout.CONFIG}" for commit in self.commits)
        for data in held:
            if data is None or THIS_FORMAT.search(data):
                continue
            from memento_git.ledger import codec

            for finding in codec.read_config(data)[1]:
                if finding.code == codec.NEWER:
                    raise LedgerUnreadable(finding=finding)

    @property
    def changed(self) -> bool:
        return bool(self.puts)

    @property
    def exists(self) -> bool:
        return layout.CONFIG in self.folders if self._is_unread else self.blob(layout.CONFIG) is not None

    @property
    def _is_unread(self) -> bool:
        """Tell whether the folders say what is there: no file was put, and not all are listed."""
        return not self.changed and not self.table.is_whole

    def runs(self) -> list[str]:
        """Return the ids of all runs, archived ones too."""
        if self._runs is None:
            if self._is_unread:
                names = {path.rpartition("/")[2] for path, entry in self.folders.items() if entry.type == "tree"}
            elif (listed := self.table.looked()) is not None:
                names = {name[:-1] for top in (layout.RUNS, layout.ARCHIVE) for name in listed.inside(top)}
            else:
                starts = {path[: layout.RUN_START] for path in self.files}
                names = {*map(layout.run_of_path, starts)}
            self._runs = sorted(name for name in names if is_id(name, "run"))
        return self._runs

    def index(self, run: str) -> FileIndex:
        """Return the names of one run's files, those in its archives included; without a run those of all notes."""
        if run not in self._index:
            start = f"{layout.RUNS}/{run}/" if run else f"{layout.KNOWLEDGE}/"
            if run:
                self._unpack(run)
            paths = sorted(path for path in self.files if path.startswith(start))
            self._index[run], findings = file_index.build(paths)
            if findings and self.prior is not None:
                self.prior.index(run)
                self._index[run], findings = file_index.build(sorted(paths, key=self.is_newer))
            self.note(*findings)
        return self._index[run]

    def is_newer(self, path: str) -> bool:
        """Tell whether what this view is compared with lacks a file: of two with one id, that one is the copy."""
        return self.prior is not None and self.prior.blob(path) is None

    def names(self, run: str) -> FileNames:
        """Return what tells the names of one run's files, or of notes, not listing all of them where it need not be."""
        if run in self._index or self.table.listed is None or f"{layout.ARCHIVE}/{run}" in self.folders:
            return self.index(run)
        return self._sought.setdefault(run, FileLookup(self, run))

    def _unpack(self, run: str) -> None:
        """Show the files of a run's archives beside those that are still there."""
        start = f"{layout.ARCHIVE}/{run}/"
        held = self.archived[run] = {}
        shown = self._shown[run] = set()
        for packed in sorted(path for path in self.files if path.startswith(start) and layout.is_archive(path)):
            from memento_git.ledger import archive

            files, findings = archive.unpack(packed, run, self.read(packed) or b"")
            self.note(*findings)
            for path, data in files.items():
                if path not in self.files:
                    self.files[path] = ""
                    self.contents[path] = data
                    shown.add(path)
                elif self.read(path) != data and (path in shown or not path.endswith(".md")):
                    severity = "warning" if path.endswith(".md") else "error"
                    out = "" if path in shown else removing(path)
                    self.note(Finding("F006", path, 0, f"differs from the same file in {packed}", out, severity))
                held.setdefault(path, []).append(packed)

    def unpack_holders(self, parts: Collection[str]) -> None:
        """Show the files of archives, of runs that nobody asked for yet, that may hold ids with these random parts."""
        from memento_git.ledger import archive

        for path in [path for path in self.files if layout.is_archive(path)]:
            run = layout.run_of_path(path)
            if is_id(run, "run") and run not in self.archived and archive.may_hold(self.read(path) or b"", parts):
                self.index(run)

    def only_archived(self, run: str, path: str) -> bool:
        """Tell whether only an archive holds a file."""
        self.index(run)
        return path in self._shown.get(run, ())

    def place_of(self, run: str, path: str) -> str:
        """Return where a file lies: at its own path, or in the archive that alone holds it."""
        return self.archived[run][path][0] if self.only_archived(run, path) else path

    def _folders_of(self, kind: str) -> list[str]:
        """Return the runs that can have records of a kind; '' stands for the notes."""
        return [""] if kind == "note" else [*self.runs(), ""] if kind == "event" else self.runs()

    def known(self, kind: str) -> dict[str, str]:
        """Return id -> run of every record of a kind; notes, and what happened to them, have none."""
        found: dict[str, str] = {}
        for run in self._folders_of(kind):
            names = [run] if kind == "run" else [*self.index(run).of_kind(kind), *self._removed(run, kind)]
            for name in names:
                if (first := found.setdefault(name, run)) != run:
                    message = f"{name} is in run {first} too; that one counts where only the id is given"
                    fix = "an id belongs to one run: git rm the copy"
                    self.note(Finding("F008", f"{layout.RUNS}/{run}", 0, message, fix))
        return found

    def _removed(self, run: str, kind: str) -> list[str]:
        """Return the ids of events, or of dispatches that they opened, of which a redaction is all that is left."""
        if kind not in ("event", "dispatch") or not self.names(run).redacting():
            return []
        from memento_git.ledger.events import EventLog

        left = EventLog(self, run).tombstones.values()
        if kind == "event":
            return [event.id for event in left]
        return [event.dispatch for event in left if event.do == "dispatched"]

    def holds(self, run: str, identity: str, kind: str) -> bool:
        """Tell whether a run, or the notes, have a record of this id; a redacted event is still one."""
        return self.names(run).holds(identity, kind) or identity in self._removed(run, kind)

    def _refuse_lost(self, given: str, kind: str) -> None:
        """Refuse a task or plan to which something happened and whose text is gone."""
        for run in self.runs() if kind in ("task", "plan") else ():
            if self.names(run).events_about(given):
                message = f"{given} is in the ledger, but its text is missing"
                raise LedgerUnreadable(finding=Finding("F007", layout.prose_path(run, given), 0, message, WHOLE))

    def find(self, given: str, kind: str) -> tuple[str, str]:
        """Return the id that a prefix names, and its run."""
        if is_id(given, kind):
            for run in self._folders_of(kind):
                if run == given or (kind != "run" and self.holds(run, given, kind)):
                    return given, run
            self._refuse_lost(given, kind)
            resolve(given, kind, ())
        known = self.known(kind)
        identity = resolve(given, kind, known)
        return identity, known[identity]
