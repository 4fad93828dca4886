"""The Whoosh index: derived from the ledger at one tree, kept in the git directory, deleted without harm.

Opening a Whoosh index unpickles its table of contents. So an index is opened only where no clone or pull can put
one, in the git directory, and only if nobody else could have written it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from whoosh import columns, fields, formats
from whoosh.filedb.filestore import FileStorage
from whoosh.reading import SegmentReader, TermNotFound

from memento_git.knowledge.corpus import Damaged
from memento_git.knowledge.index_entries import Entry, Header, packed, unpacked
from memento_git.ledger import atomic_file

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

FORMAT: Final = 11  # raised with every change of what is indexed or how: words, weights, marks, headers
STATE: Final = "state.json"
IN_MEMORY: Final = 600_000  # words of documents in one segment: the library sorts so many without files of its own
FULL: Final = 5_000  # documents from which a segment is not merged any more
FEW_SEGMENTS: Final = 12
KEPT_SEGMENTS: Final = 4
TRIES: Final = 5
PAUSE: Final = 0.02


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


@contextlib.contextmanager
def _sound() -> Iterator[None]:
    """Tell by one error that the index is damaged: damaged bytes raise whatever they lead to."""
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise Damaged from error


class Weighed(fields.FieldType):  # type: ignore[misc]
    """A field whose words come with their weights; nothing is analyzed by Whoosh."""

    def __init__(self) -> None:
        self.format = formats.Existence()

    def index(self, value: dict[str, int], **_: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        for word, weight in value.items():
            yield word.encode(errors="surrogatepass"), 1, float(weight), b""


class Lengths(columns.NumericColumn):  # type: ignore[misc]
    """A column of numbers whose reader loads all that a segment has at once."""

    def __init__(self) -> None:
        super().__init__("I")

    class Reader(columns.NumericColumn.Reader):  # type: ignore[misc]
        """Reads the bytes of all numbers in one go."""

        def load(self) -> Sequence[int]:
            """Return the numbers of all documents; those behind the last that has one have none."""
            held = self._dbfile.get_array(self._basepos, self._typecode, self._count)
            held.extend([self._default] * (self._doccount - self._count))
            return held  # type: ignore[no-any-return]


class State(NamedTuple):
    """What is true of an index: of which tree it is, what it holds, and the files that it is made of."""

    format: int
    tree: str
    generation: int
    documents: int
    length: int
    contents: str
    files: dict[str, tuple[int, int]]


def place(git: Git) -> Path:
    """Return the folder of the index: beside the caches, one for each user of a shared repository."""
    shared = git.common_dir / "memento" / "index"
    try:
        owner = shared.lstat().st_uid
    except OSError:
        return shared
    return shared if owner == _user() else shared.with_name(f"index-{_user()}")


def lock_path(git: Git) -> Path:
    folder = place(git)
    return folder.with_name(f"{folder.name}.lock")


def _own_files(folder: Path) -> dict[str, tuple[int, int]] | None:
    """Return name -> size and time of the index's files; None where somebody else may have had a hand in them."""
    try:
        top = folder.lstat()
        if not stat.S_ISDIR(top.st_mode) or top.st_uid != _user() or top.st_mode & stat.S_IWOTH:
            return None
        found = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode) or status.st_uid != _user():
                    return None
                if entry.name.endswith((".toc", ".seg")):
                    found[entry.name] = (status.st_size, status.st_mtime_ns)
    except OSError:
        return None
    return found


def _read_state(folder: Path) -> State | None:
    try:
        held = json.loads((folder / STATE).read_bytes())
        state = State(**{**held, "files": {name: tuple(value) for name, value in held["files"].items()}})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return state if state.format == FORMAT else None


def _contents(folder: Path) -> str:
    """Return the digest of the table of contents: no other bytes than those that were written are unpickled."""
    try:
        return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.toc")))).hexdigest()
    except OSError:
        return ""


class Index:
    """An index that is open: what it holds does not change while it is."""

    def __init__(self, state: State, reader: Any) -> None:
        self.tree = state.tree
        self.documents = state.documents
        self.length = state.length
        self._reader = reader
        self._leaves = [
            (leaf, base, leaf.column_reader("length", translate=False).load()) for leaf, base in reader.leaf_readers()
        ]

    def postings(self, word: str) -> list[tuple[int, float, int]]:
        """Return document, weight and document's length for each that has a word."""
        with _sound():
            return [
                (base + number, weight, lengths[number])
                for leaf, base, lengths in self._leaves
                for number, weight in _matches(leaf, "words", word)
            ]

    def doc_frequency(self, word: str) -> int:
        """Return how many documents have a word."""
        with _sound():
            return int(self._reader.doc_frequency("words", word.encode(errors="surrogatepass")))

    def marked(self, mark: str) -> list[int]:
        """Return the documents that bear a mark."""
        with _sound():
            return [base + number for leaf, base, _ in self._leaves for number, _ in _matches(leaf, "marks", mark)]

    def length_of(self, number: int) -> int:
        """Return how many words a document has."""
        with _sound():
            return next(int(lengths[number - base]) for _, base, lengths in reversed(self._leaves) if number >= base)

    def header(self, number: int) -> Header:
        """Return what a document is."""
        with _sound():
            return unpacked(self._reader.stored_fields(number)["header"])

    def numbers(self) -> list[int]:
        """Return the numbers of all documents."""
        with _sound():
            return list(self._reader.all_doc_ids())

    def close(self) -> None:
        self._reader.close()


def _matches(leaf: Any, field: str, word: str) -> Iterator[tuple[int, float]]:
    """Yield number and weight of each document of a segment that has a word, those deleted left out."""
    try:
        matcher = leaf.postings(field, word.encode(errors="surrogatepass"))
    except TermNotFound:
        return
    while matcher.is_active():
        yield matcher.id(), matcher.weight()
        matcher.next()


def _files_of(folder: Path) -> FileStorage:
    """Return the files of an index, read where they are asked: mapped into memory, Whoosh copies them as a whole."""
    return FileStorage(str(folder), supports_mmap=False)


def opened(git: Git) -> Index | None:
    """Return the index that is there; None where there is none, or none that can be relied on."""
    folder = place(git)
    for attempt in range(TRIES):
        files = _own_files(folder)
        if files is None or not files:
            return None
        state = _read_state(folder)
        if state is not None and state.files == files and state.contents == _contents(folder):
            with contextlib.suppress(Damaged, OSError), _sound():
                found = _files_of(folder).open_index()
                if found.latest_generation() == state.generation:
                    return _open(state, found.reader())
        if attempt + 1 < TRIES:
            time.sleep(PAUSE)  # a writer replaces the files, then says so
    return None


def _open(state: State, reader: Any) -> Index:
    try:
        return Index(state, reader)
    except BaseException:
        reader.close()
        raise


def forget(git: Git) -> None:
    """Take back the word that the index is sound, so that it is built anew."""
    with contextlib.suppress(OSError):
        (place(git) / STATE).unlink()


def build(git: Git, tree: str, entries: Iterable[tuple[str, Entry]]) -> None:
    """Write the index anew; `entries` are the source file of each and what is kept of it."""
    folder = place(git)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in folder.iterdir():
        path.unlink()
    with _sound():
        found = {"words": Weighed(), "marks": Weighed(), "length": fields.COLUMN(Lengths()), "header": fields.STORED()}
        writer = _files_of(folder).create_index(fields.Schema(**found)).writer()
    _write(folder, writer, entries, State(FORMAT, tree, 0, 0, 0, "", {}), _keep)


def update(git: Git, old: Index, tree: str, gone: Sequence[str], entries: Iterable[tuple[str, Entry]]) -> None:
    """Take out what came from files that are gone or differ, and add what they hold now."""
    folder = place(git)
    documents, length = old.documents, old.length
    with _sound():
        writer = _files_of(folder).open_index().writer()
        for number in (number for source in gone for number in old.marked(f"source:{source}")):
            writer.delete_document(number)
            size = old.length_of(number)
            documents, length = documents - bool(size), length - size
    _write(folder, writer, entries, State(FORMAT, tree, 0, documents, length, "", {}), _compact)


def _write(
    folder: Path, writer: Any, entries: Iterable[tuple[str, Entry]], state: State,
    merge: Callable[[Any, list[Any]], list[Any]],
) -> None:  # fmt: skip
    documents, length, held = state.documents, state.length, 0
    try:
        for source, entry in entries:
            if held > IN_MEMORY:
                with _sound():
                    writer.commit(mergetype=_keep)
                    writer, held = _files_of(folder).open_index().writer(), 0
            documents, length, held = documents + bool(entry.length), length + entry.length, held + len(entry.weights)
            marks = dict.fromkeys((*entry.marks, f"source:{source}"), 1)
            writer.add_document(words=entry.weights, marks=marks, length=entry.length, header=packed(entry.header))
    except BaseException:
        writer.cancel()
        raise
    with _sound():
        writer.commit(mergetype=merge)
    generation = _files_of(folder).open_index().latest_generation()
    told = state._replace(
        generation=generation, documents=documents, length=length, contents=_contents(folder),
        files=_own_files(folder) or {},
    )  # fmt: skip
    atomic_file.write(folder / STATE, json.dumps(told._asdict()).encode())


def _keep(_: Any, segments: list[Any]) -> list[Any]:
    return segments


def _compact(writer: Any, segments: list[Any]) -> list[Any]:
    """Keep the segments as they are; where many are small, make one of the smallest."""
    alive = sorted((segment for segment in segments if segment.doc_count()), key=lambda segment: -segment.doc_count())
    kept = sum(segment.doc_count() >= FULL for segment in alive)
    if len(alive) - kept < FEW_SEGMENTS:
        return alive
    kept += KEPT_SEGMENTS
    for segment in alive[kept:]:
        reader = SegmentReader(writer.storage, writer.schema, segment)
        writer.add_reader(reader)
        reader.close()
    return alive[:kept]
