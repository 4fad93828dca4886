"""An inverted index: which notes bear which words, texts, keys and names of others; derived, deleted without harm.

It names each note that bears a mark, and may name some that no longer do: whoever asks looks at what it names. Nothing
is taken out of it; when it has seen twice as many files as there are, it is made anew.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.knowledge import similarity
from memento_git.ledger import atomic_file, cache, codec, layout, lock, tree_diff
from memento_git.model.progress import portions

if TYPE_CHECKING:
    import sqlite3

    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View

    Question = Callable[[sqlite3.Connection], Iterable[int]]
    Notes = set[str] | None

FEW: Final = 300  # notes that are sooner read than looked up
SPARE: Final = 1_000
TIMEOUT: Final = 1.0
AT_ONCE: Final = 4_096
LONG: Final = 400
BASE: Final = "notes.db"
STATE: Final = "state.json"
MOST_WORDS: Final = 255  # an entry is a note's number and, in its last byte, how many words it has, no more than these
BLOCK: Final = 1 << 18  # entries that may lie in one row: those of 1,024 notes
BLOCKS: Final = 1 << 20
UNREAD: Final = "unread"


class State(NamedTuple):
    """What is true of the index: what made it, of which tree it is, how many files it has seen, its size and time."""

    version: str
    tree: str
    seen: int
    weight: list[int]


def said(body: str) -> str:
    """Return the mark of a note that says just this."""
    return f"text {similarity.plain(body)}"


def keyed(key: str) -> str:
    """Return the mark of a note that has this key."""
    return f"key {key}"


def naming(record: str) -> str:
    """Return the mark of a note that names a record in a link, or in what happened to it."""
    return f"name {record.rpartition('_')[2]}"


def bearing(view: View, mark: str) -> Notes:
    """Return the notes that may bear a mark, and those that cannot be read; None where all must be looked at."""
    return _asked(view, lambda base: (*_entries(base, mark), *_entries(base, UNREAD)))


def near(view: View, text: str) -> Notes:
    """Return the notes that may be near to a text, or say the opposite; None where all must be looked at."""
    own = similarity.stems(text)

    def counted(base: sqlite3.Connection) -> Iterator[int]:
        counts: Counter[int] = Counter()
        for word in own:
            counts.update(_entries(base, word))
        return (one for one, count in counts.items() if count >= similarity.OPPOSED * min(len(own), one & MOST_WORDS))

    return _asked(view, counted)


def _asked(view: View, question: Question) -> Notes:
    """Return the notes that answer a question, and those that are not committed; they stand for all that there are."""
    count = view.table.count(f"{layout.KNOWLEDGE}/")
    if len(view.commits) != 1 or view.held or count <= FEW:
        return None
    tree = tree_diff.tree_of(view.git, view.commits[0])
    found = _answers(view.git, tree, 2 * count + SPARE, question)
    if found is None:
        return None
    view.used_folders.add(f"{layout.KNOWLEDGE}/")
    put = (layout.place_of(path) for path in view.contents if not view.blob(path))
    names = view.names("")
    return {note for note in (*found, *(place.of for place in put if place is not None)) if names.text_of(note)}


def _answers(git: Git, tree: str, most: int, question: Question) -> list[str] | None:
    """Bring the index to a tree and ask it; None where it cannot be written, or is damaged."""
    folder = git.common_dir / "memento" / "register"
    try:
        import sqlite3

        with lock.held(folder.with_name("register.lock"), TIMEOUT):
            state = _sound(folder, most)
            try:
                with contextlib.closing(sqlite3.connect(folder / BASE, isolation_level=None)) as base:
                    seen = _bring(git, base, folder, state, tree)
                    numbers = {one // (MOST_WORDS + 1) for one in question(base)}
                    found = [note for one in numbers for (note,) in base.execute(NOTE, (one,))]
            except (sqlite3.Error, ValueError, TypeError):
                _forget(folder)
                return None
            if seen:
                told = State(cache.VERSION, tree, state.seen + seen, _weight(folder))
                atomic_file.write(folder / STATE, json.dumps(told).encode())
            return found
    except (ImportError, lock.LockHeld, lock.NotWritable, OSError):
        return None


def _sound(folder: Path, most: int) -> State:
    """Return what is true of the index; one that is damaged, old, or has seen too much begins anew."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        state = State(*json.loads((folder / STATE).read_bytes()))
        if (state.version, state.weight) == (cache.VERSION, _weight(folder)) and state.seen <= most:
            return state
    folder.mkdir(parents=True, exist_ok=True)
    _forget(folder)
    (folder / BASE).unlink(missing_ok=True)
    return State(cache.VERSION, "", 0, [])


def _weight(folder: Path) -> list[int]:
    told = (folder / BASE).stat()
    return [told.st_size, told.st_mtime_ns]


def _forget(folder: Path) -> None:
    """Take back the word that the index is sound, so that it is made anew unless that is given again."""
    (folder / STATE).unlink(missing_ok=True)


TABLES: Final = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
    CREATE TABLE IF NOT EXISTS notes (number INTEGER PRIMARY KEY, id TEXT UNIQUE);
    CREATE TABLE IF NOT EXISTS rows (place INTEGER PRIMARY KEY, entries BLOB);
"""
NOTE: Final = "SELECT id FROM notes WHERE number = ?"


def _bring(git: Git, base: sqlite3.Connection, folder: Path, state: State, tree: str) -> int:
    """Let the index see what another tree has that its own has not; return how much that is, with one for itself."""
    if state.tree == tree:
        return 0
    changes = tree_diff.changed(git, state.tree, tree)
    if changes is None:  # git no longer has the tree
        changes = tree_diff.blobs(git, tree)
    _forget(folder)
    base.executescript(TABLES)
    files = {path: blob for path, blob in changes.items() if blob and path.startswith(f"{layout.KNOWLEDGE}/")}
    for some in portions(git.progress, [*files], AT_ONCE, LONG):
        _see(base, dict(zip(some, git.objects(files[path] for path in some), strict=True)))
    base.execute("COMMIT")
    return len(files) + 1


def _see(base: sqlite3.Connection, files: Mapping[str, bytes | None]) -> None:
    added: dict[int, array[int]] = {}
    for path, place in layout.placed(files):
        base.execute("INSERT OR IGNORE INTO notes (id) VALUES (?)", (place.of,))
        ((number,),) = base.execute("SELECT number FROM notes WHERE id = ?", (place.of,))
        words, marks = _borne(place, path, files[path])
        entry = number * (MOST_WORDS + 1) + min(len(words), MOST_WORDS)
        for mark in (*words, *marks):
            added.setdefault(_row(mark) + entry // BLOCK, array("Q")).append(entry)
    for row, entries in sorted(added.items()):
        before = b"".join(held for (held,) in base.execute("SELECT entries FROM rows WHERE place = ?", (row,)))
        base.execute("REPLACE INTO rows VALUES (?, ?)", (row, before + entries.tobytes()))


def _borne(place: layout.Place, path: str, data: bytes | None) -> tuple[frozenset[str], list[str]]:
    """Return the words of a note's text, and the marks that its file, or that of an event, gives it."""
    decoded = codec.decode(place, path, data) if data is not None else None
    if not isinstance(decoded, codec.Decoded) or isinstance(codec.record(place, path, decoded), list):
        return frozenset(), [UNREAD]
    told = decoded.data
    is_note = place.kind == "note"
    marks = [naming(part) for part in layout.random_parts(json.dumps(told.get("links") if is_note else told))]
    if not is_note:
        return frozenset(), marks
    marks += [said(decoded.body), *([keyed(told["key"])] if told.get("key") else [])]
    return similarity.stems(similarity.said(str(told["title"]), decoded.body)), marks


def _row(mark: str) -> int:
    return zlib.crc32(mark.encode(errors="surrogatepass")) * BLOCKS


def _entries(base: sqlite3.Connection, mark: str) -> array[int]:
    """Return the entries of the notes that bear a mark, or another of the same checksum."""
    first = _row(mark)
    rows = base.execute("SELECT entries FROM rows WHERE place BETWEEN ? AND ?", (first, first + BLOCKS - 1))
    return array("Q", b"".join(held for (held,) in rows))
