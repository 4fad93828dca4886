"""Recall beside SQLite FTS5: `python benchmarks/recall_speed.py [--notes 1000 10000] [--rounds N]`, prints a table."""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from measure import call, environment, processor_seconds, seconds

from memento_git.knowledge import index
from memento_git.knowledge.recall import search
from memento_git.ledger.store import Ledger

SIZES: Final = (1_000, 10_000, 50_000)
WARM: Final = 200
WHOLE: Final = 11
OWN: Final = (20, 1_000, 10_000, 50_000)
VOCABULARY: Final = 20_000
WORDS: Final = 60
RARE: Final = 1.1  # how steeply words get rarer, as in natural text
ASK: Final = (
    "import sys; from memento_git.ledger.store import Ledger; from memento_git.knowledge.recall import search\n"
    "print(len(search(Ledger.open(sys.argv[1]), [sys.argv[2]]).hits))"
)
ASK_FTS: Final = (
    "import sqlite3, sys; found = sqlite3.connect(sys.argv[1]).execute("
    "'SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10', [sys.argv[2]]).fetchall(); print(len(found))"
)


class Texts:
    """Notes and questions of invented words, some common and most rare; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        sounds = ["ba", "ko", "ri", "tu", "len", "mor", "sid", "pag", "nev", "dux", "fam", "gil"]
        made = {"".join(self.random.choices(sounds, k=self.random.randint(2, 5))) for _ in range(3 * VOCABULARY)}
        self.words = sorted(made)[:: max(len(made) // VOCABULARY, 1)]
        self.random.shuffle(self.words)
        self.weights = list(accumulate(1 / (rank + 20) ** RARE for rank in range(len(self.words))))
        self.rarer = [weight - self.weights[39] for weight in self.weights[40:]]

    def note(self, number: int) -> tuple[str, str, str]:
        """Return path, title and text of a note."""
        identity = f"{number:012}"[::-1]
        words = self.random.choices(self.words, cum_weights=self.weights, k=WORDS)
        return f".memento/knowledge/decisions/{identity[0]}/note_{identity}.md", " ".join(words[:6]), " ".join(words)

    def question(self) -> str:
        """Return three words: as often used as those of the notes, the commonest left out."""
        return " ".join(self.random.choices(self.words[40:], cum_weights=self.rarer, k=3))


def bytes_of(path: str, title: str, text: str) -> bytes:
    identity = path.rpartition("/")[2].removesuffix(".md")
    return (
        f"---\nid: {identity}\nkind: decision\ntitle: {title}\nat: 2026-11-22T10:00:00.000Z\nby: Ada <a@x>\n"
        f"origin: person\n---\n{text}\n"
    ).encode()


def commit(place: Path, env: dict[str, str], files: dict[str, bytes]) -> None:
    """Commit files to main through fast-import: no work tree, no index."""
    has_parent = subprocess.run(
        ["git", "rev-parse", "-q", "--verify", "main"], cwd=place, env=env, capture_output=True, check=False
    )
    stream = [b"commit refs/heads/main\ncommitter Ada <a@x> 1790000000 +0000\ndata 1\nx\n"]
    stream += [b"from refs/heads/main^0\n"] if has_parent.returncode == 0 else []
    stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data) for path, data in files.items()]
    subprocess.run(["git", "fast-import", "--quiet"], cwd=place, env=env, input=b"".join(stream), check=True)


def fts(path: Path, notes: list[tuple[str, str, str]]) -> sqlite3.Connection:
    base = sqlite3.connect(path)
    base.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, title, body, tokenize='porter unicode61')")
    base.executemany("INSERT INTO notes VALUES (?, ?, ?)", notes)
    base.commit()
    return base


def times(act: Callable[[], object], count: int) -> list[float]:
    return [clock(act) * 1000 for _ in range(count)]


clock: Callable[[Callable[[], object]], float] = seconds


def spread(taken: list[float]) -> str:
    return f"{median(taken):,.1f} / {quantiles(taken, n=20)[-1]:,.1f} ms"


def size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def row(what: str, count: int, ours: list[float], theirs: list[float]) -> None:
    ratio = median(ours) / max(median(theirs), 1e-6)
    print(f"| {what} | {count:,} | {spread(ours)} | {spread(theirs)} | {ratio:.2f} | {len(ours)} |", flush=True)


def measure(folder: Path, env: dict[str, str], count: int, whole: int) -> None:
    """Print the rows of one size; ours and theirs take turns where they are asked more than once."""
    texts = Texts(count)
    notes = [texts.note(number) for number in range(count)]
    place, database = folder / f"repo{count}", folder / f"fts{count}.db"
    call(("git", "init", "-q", "-b", "main", "--bare", str(place)), folder, env)
    commit(place, env, {".memento/config.yaml": b"version: 1\n", **{note[0]: bytes_of(*note) for note in notes}})
    ledger = Ledger.open(place)
    built = times(lambda: search(ledger, [texts.question()]), 1)
    theirs_built = times(partial(fts, database, notes), 1)
    print(f"| index from nothing | {count:,} | {built[0] / 1000:,.2f} s | {theirs_built[0] / 1000:,.2f} s "
          f"| {built[0] / theirs_built[0]:.2f} | 1 |", flush=True)  # fmt: skip
    base = sqlite3.connect(database)
    ours: list[float] = []
    theirs: list[float] = []
    for question in (texts.question() for _ in range(WARM)):
        ours += times(partial(search, ledger, [question]), 1)
        theirs += times(partial(ask_fts, base, question), 1)
    row("question, warm", count, ours, theirs)
    added = iter(range(count, count + 10_000))
    updated, kept = changed(ledger, base, texts, list(islice(added, whole)), env)
    row("one note more, and a question, warm", count, updated, kept)
    row("question, whole process", count, *processes(place, database, texts, env, whole))
    held = size(index.place(ledger.git))
    print(f"| size on disk | {count:,} | {held:.1f} MB | {database.stat().st_size / 1e6:.1f} MB "
          f"| {held / (database.stat().st_size / 1e6):.2f} | 1 |", flush=True)  # fmt: skip
    ledger.close()


def ask_fts(base: sqlite3.Connection, question: str) -> list[tuple[str]]:
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
    asked = "SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10"
    return base.execute(asked, [words]).fetchall()


def changed(
    ledger: Ledger, base: sqlite3.Connection, texts: Texts, numbers: list[int], env: dict[str, str]
) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    theirs: list[float] = []
    for number in numbers:
        note = texts.note(number)
        commit(ledger.git.git_dir, env, {note[0]: bytes_of(*note)})
        ours += times(lambda: search(ledger, [texts.question()]), 1)

        def add(note: tuple[str, str, str] = note) -> None:
            base.execute("INSERT INTO notes VALUES (?, ?, ?)", note)
            base.commit()
            ask_fts(base, texts.question())

        theirs += times(add, 1)
    return ours, theirs


def processes(
    place: Path, database: Path, texts: Texts, env: dict[str, str], count: int
) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(count):
        question = texts.question()
        ours += times(partial(call, (sys.executable, "-c", ASK, str(place), question), place, env), 1)
        words = " OR ".join(question.split())
        theirs += times(partial(call, (sys.executable, "-c", ASK_FTS, str(database), words), place, env), 1)
    return ours, theirs


def remembered(folder: Path, env: dict[str, str], count: int, whole: int) -> None:
    """Print what one note added, and recalled by the next process, takes beside the help and one state change."""
    texts, place = Texts(count), folder / f"own{count}"
    memento = (sys.executable, "-m", "memento_git", "-C", str(place))
    call(("git", "init", "-q", "-b", "main", str(place)), folder, env)
    call((*memento, "init"), folder, env)
    commit(place, env, {note[0]: bytes_of(*note) for note in map(texts.note, range(count))})
    call(("git", "reset", "-q", "--hard"), place, env)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(count, count + whole):
        _, title, text = texts.note(number)
        asked = (*memento, "recall", title, "--view", "list", "--limit", "1")
        ours.append(sum(
            clock(partial(call, line, place, env)) * 1000 for line in ((*memento, "remember", text), asked)
        ))  # fmt: skip
        change = (*memento, "run", "start", "--goal", text)
        theirs.append(sum(clock(partial(call, line, place, env)) * 1000 for line in ((*memento, "--help"), change)))
    row("one note added and recalled, against help and a state change", count, ours, theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=WHOLE, help="updates and whole processes of each kind")
    parser.add_argument(
        "--only", choices=["own", "index"], help="one note remembered, or the index and questions alone"
    )
    parser.add_argument("--processor", action="store_true", help="tell time of the processor instead of the clock's")
    given = parser.parse_args()
    if given.processor:
        global clock  # noqa: PLW0603 (one choice for the whole run)
        clock = processor_seconds
    print("| what | notes | ours, median / p95 | FTS5, median / p95 | ratio | N |\n|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        for count in OWN if given.only != "index" else ():
            remembered(Path(folder), environment(home), count, given.rounds)
        for count in given.notes if given.only != "own" else ():
            measure(Path(folder), environment(home), count, given.rounds)


if __name__ == "__main__":
    main()
