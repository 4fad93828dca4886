"""scan: what the code says of itself, or a command of the user's of files without notes, becomes drafts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.code.docstrings import Said, said
from memento_git.code.grammars import is_readable, language_of
from memento_git.code.symbols import symbols
from memento_git.errors import Refused
from memento_git.knowledge import overlay as overlays
from memento_git.knowledge import pinning
from memento_git.knowledge.drafts import SCANS, Drafts
from memento_git.knowledge.note_input import NoteInput, prepare, titled
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.tombstones import Tombstones, why_out
from memento_git.ledger import atomic_file, commands, lock, snapshots
from memento_git.model import anchors
from memento_git.model.anchors import GONE, Anchor
from memento_git.model.enumeration import grouped
from memento_git.model.progress import CODE
from memento_git.texts.secrets import SecretFound, refuse_secrets

if TYPE_CHECKING:
    from memento_git.knowledge.overlay import Overlay
    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.model.rows import Row

LARGEST: Final = 1024 * 1024
KEPT_EVERY: Final = 20
FORMAT: Final = 1
MOST_PRINTED: Final = 16 * 1024
VARIABLE: Final = "MEMENTO_FILE"


class Unanswered(Exception):
    """Nothing could be told of one file; why is said beside the others."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Unread(Unanswered):
    """What a file says of itself cannot be told as it is now; what it said before stands until it can be."""


class Source:
    """Where the texts of drafts come from: docstrings and comments, unless another kind says otherwise."""

    kept = "scanned"
    tag = SCANS[0]
    origin = "import"
    sure = "0.7"
    largest = LARGEST

    def takes(self, path: str) -> bool:
        """Tell whether a file is one to look at."""
        return is_readable(path)

    def mark(self, blob: str) -> str:
        """Return what is kept to know that a content was looked at."""
        return blob

    def passed_over(self, paths: Sequence[str]) -> Row:
        """Return how many files have notes, and the languages that are not read here, with the files of each."""
        told = Counter(language for path in paths if (language := language_of(path)) and not is_readable(path))
        return {"noted": 0, "not_parsed": dict(sorted(told.items()))}

    def said(self, path: str, data: bytes) -> Sequence[Said]:
        """Return what is said of a file and its parts; refuse where that cannot be told."""
        if snapshots.is_binary(data):
            return []
        told = said(path, data)
        if not told and (why := symbols(path, data).problem):
            raise Unread(why)
        return told


class _Described(Source):
    """What a command prints about a file."""

    kept = "described"
    tag = SCANS[1]
    origin = "command"
    sure = "0.5"
    largest = LARGEST // 4

    def __init__(self, ledger: Ledger, overlay: Overlay, words: Sequence[str], timeout: float) -> None:
        self.overlay = overlay
        self.words = words
        self.timeout = timeout
        self.allow_secrets = ledger.allow_secrets
        self._command = hashlib.sha256("\0".join(words).encode(errors="surrogateescape")).hexdigest()[:16]

    def takes(self, path: str) -> bool:
        """Tell whether no note is about a file or a part of it."""
        return not self.overlay.at(path)

    def passed_over(self, paths: Sequence[str]) -> Row:
        return {"noted": sum(not self.takes(path) for path in paths), "not_parsed": {}}

    def mark(self, blob: str) -> str:
        """Return content and command: another command may say something else of the same content."""
        return f"{blob} {self._command}"

    def said(self, path: str, data: bytes) -> Sequence[Said]:
        """Run the command on a text; what is binary or empty is nobody's to describe, a secret is given to no one."""
        if not data.strip() or snapshots.is_binary(data):
            return []
        refuse_secrets(path, data.decode(errors="replace"), self.allow_secrets)
        git = self.overlay.note_set.view.git
        answered = commands.ask(
            self.words, path, data, cwd=git.top or git.git_dir, timeout=self.timeout, most=MOST_PRINTED,
            extra={VARIABLE: path},
        )  # fmt: skip
        if answered.why:
            raise Unanswered(answered.why)
        try:
            text = answered.text.decode().strip()
        except UnicodeDecodeError as error:
            raise Unanswered(f"it printed what is no UTF-8: byte {error.start}") from None
        return [Said("", text)] if text else []


def scan_docstrings(ledger: Ledger, path: str = "", *, limit: int = 200) -> Row:
    """Make a draft of what each file and each public part of it says of itself; return what came of it.

    A content that was read is not read again. A place that says something else now has its draft replaced; one that
    says what a note or a draft says already makes none. It ends after the file with which `limit` drafts are reached.
    """
    with overlays.opened(ledger.view(), path=path) as overlay:
        return Scan(ledger, overlay, Source()).run(path, limit)


def scan_described(ledger: Ledger, given: str, path: str = "", *, limit: int = 20, timeout: float = 60.0) -> Row:
    """Make a draft of what a command prints about each file that no note is about; return what came of it.

    The command is run once for each content, with the file's text on its standard input. Where it fails that is told
    of the file, and the others go on; it is asked about that file again the next time.
    """
    words = commands.words_of(given)
    with overlays.opened(ledger.view(), path=path) as overlay:
        source = _Described(ledger, overlay, words, timeout)
        return Scan(ledger, overlay, source).run(path, limit)


class Scanned:
    """The contents that were read, the last one of each file, and what each place said and which draft that became.

    It is kept below the common git directory, so that nothing is told twice in a clone.
    """

    def __init__(self, git: Git, name: str) -> None:
        self.path: Path = git.common_dir / "memento" / f"{name}.json"
        self.blobs: set[str] = set()
        self.last: dict[str, str] = {}
        self.said: dict[str, tuple[str, str]] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let one process at a time read code; what it found is kept also where it ends early."""
        with lock.held(self.path.with_suffix(".lock")):
            self._load()
            try:
                yield
            finally:
                self.keep()

    def _load(self) -> None:
        """Read what was kept; where that cannot be read, all is new, and drafts that are there are found by text."""
        try:
            told = json.loads(self.path.read_bytes())
            if told["format"] == FORMAT:
                self.blobs = {str(blob) for blob in told["blobs"]}
                self.last = {str(path): str(blob) for path, blob in told.get("last", {}).items()}
                self.said = {str(place): (str(text), str(draft)) for place, (text, draft) in told["said"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self.blobs, self.last, self.said = set(), {}, {}

    def keep(self) -> None:
        told = {"format": FORMAT, "blobs": sorted(self.blobs), "last": self.last, "said": self.said}
        atomic_file.write(self.path, json.dumps(told).encode())

    def of(self, path: str) -> dict[str, tuple[str, str]]:
        """Return place -> what it said and its draft, of one file."""
        return {place: one for place, one in self.said.items() if place.partition("::")[0] == path}


class Scan:
    """One scan at work: which files are looked at, and what becomes of what is said of them."""

    def __init__(self, ledger: Ledger, overlay: Overlay, source: Source) -> None:
        git = ledger.git
        self.overlay = overlay
        self.source = source
        self.writer = NoteWriter.apart(ledger)
        self.drafts = Drafts(git)
        self.record = Scanned(git, source.kept)
        self.head = overlay.follower.head()
        self.now = overlay.now if git.top is not None else None
        self.waiting = set(self.drafts.ids())
        self.made: list[Row] = []
        self.left_out: list[Row] = []
        self.failed: list[Row] = []
        self.replaced: list[str] = []

    @cached_property
    def known(self) -> dict[str, list[Anchor]]:
        """Return text -> places of all that notes and drafts said of one place when the scan began."""
        note_set = self.overlay.note_set
        return grouped(
            (note.body.strip(), anchors.from_data(about))
            for note in (*self.drafts.all(), *note_set.readable())
            for about in (*(note.data.get("about") or ()), *note_set.about(note))
        )

    @cached_property
    def gone(self) -> Tombstones:
        return Tombstones(self.overlay.note_set)

    def _is_said(self, place: str, text: str) -> bool:
        """Tell whether a note or a draft says a text of a place, or of one that has moved there since."""
        held = self.known.get(text, [])
        if any(_place(anchor) == place for anchor in held):
            return True
        return any(
            found.state != GONE
            and _place(anchor._replace(path=found.path, symbol=found.symbol or anchor.symbol)) == place
            for anchor, found in zip(held, self.overlay.follower.follow(held, self.overlay.now), strict=True)
        )

    def run(self, path: str, limit: int) -> Row:
        """Look at the files below a path, one process at a time; return what came of it."""
        paths = self.overlay.below(self.overlay.folder(path))
        with self.record.held():
            files = self._looked_at(paths, limit)
        return {
            "code": self.overlay.code(), "drafts": self.made, "replaced": self.replaced, "left_out": self.left_out,
            "failed": self.failed, "files": {**files, **self.source.passed_over(paths)},
        }  # fmt: skip

    def _looked_at(self, paths: Sequence[str], limit: int) -> dict[str, int]:
        """Look at files; return how many were read, and how many were not and why."""
        reader, now = self.overlay.follower.reader, self.overlay.now
        readable = [path for path in paths if self.source.takes(path)]
        sizes = reader.sizes(now.blob(path) for path in readable)
        fit = [path for path in readable if sizes.get(now.blob(path), LARGEST + 1) <= self.source.largest]
        fresh = [path for path in fit if self._is_fresh(path, now.blob(path))]
        read = 0
        for path in fresh:
            if limit and len(self.made) >= limit:
                break
            self._read(path, reader.git.objects([now.blob(path)])[0] or b"")
            read += 1
            if read % KEPT_EVERY == 0:
                self.record.keep()
            if len(fresh) > KEPT_EVERY:
                reader.git.progress(read, len(fresh), CODE)
        return {
            "read": read, "unchanged": len(fit) - len(fresh), "left": len(fresh) - read,
            "too_large": len(readable) - len(fit),
        }  # fmt: skip

    def _is_fresh(self, path: str, blob: str) -> bool:
        """Tell whether a content was never read, or comes back to a file that said something else since."""
        return self.source.mark(blob) not in self.record.blobs or self.record.last.get(path, blob) != blob

    def _read(self, path: str, data: bytes) -> None:
        """Look at one file; one of which nothing could be told is looked at again the next time."""
        try:
            told = self.source.said(path, data)
        except Unread as refusal:
            self._leave(path, "", refusal.why)
        except Unanswered as failure:
            self.failed.append({"path": path, "why": failure.why})
        except SecretFound as refusal:
            self._leave(path, "", refusal.message)
        else:
            if self._file(path, told):
                blob = self.overlay.now.blob(path)
                self.record.blobs.add(self.source.mark(blob))
                self.record.last[path] = blob

    def _leave(self, path: str, symbol: str, why: str) -> None:
        self.left_out.append({"path": path, "symbol": symbol or None, "why": why})

    def _file(self, path: str, told: Sequence[Said]) -> bool:
        """Bring the drafts of one file to what it says now; tell whether nothing was left out."""
        left = len(self.left_out)
        before = self.record.of(path)
        now = {str(Anchor(path, symbol=one.symbol)): one for one in told}
        for place in before.keys() - now.keys():
            self._withdraw(self.record.said.pop(place)[1])
        for place, one in now.items():
            digest = hashlib.sha256(one.text.encode(errors="replace")).hexdigest()
            if before.get(place, ("", ""))[0] == digest:
                continue
            draft = "" if self._is_said(place, one.text) else self._draft(path, one)
            if draft is None:
                continue
            if place in before:
                self._withdraw(before[place][1])
            self.record.said[place] = (digest, draft)
        return len(self.left_out) == left

    def _withdraw(self, draft: str) -> None:
        """Drop a draft that nobody has promoted or dropped since."""
        if draft in self.waiting:
            self.drafts.remove([draft])
            self.replaced.append(draft)

    def _draft(self, path: str, one: Said) -> str | None:
        """Keep a draft; return its id, None where the text is not fit for one."""
        try:
            anchor = pinning.pin(Anchor(path, symbol=one.symbol), self.overlay.follower, self.head, self.now)
            title = f"{one.symbol or path}: {titled(one.text)}"
            made = prepare(
                self.writer,
                NoteInput(
                    one.text,
                    title,
                    confidence=self.source.sure,
                    tags=(self.source.tag,),
                    sources=(str(anchor),),
                    origin=self.source.origin,
                ),
            )
        except Refused as refusal:
            self._leave(path, one.symbol, refusal.message)
            return None
        if gone := self.gone.said(made.data["origin"], made.body, made.data["sources"]):
            self._leave(path, one.symbol, why_out(gone))
            return None
        draft = self.drafts.add({**made.data, "about": [anchor.data()]}, made.body, made.domain)
        self.made.append({"id": draft, "title": made.data["title"], "path": path, "symbol": one.symbol or None})
        return draft


def _place(anchor: Anchor) -> str:
    return str(anchor._replace(lines=None) if anchor.symbol else anchor)
