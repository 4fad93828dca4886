"""The files around what was found: those that notes are about, that a question names, or that have its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from memento_git.knowledge.lexicon import ASKING, EMPTY
from memento_git.knowledge.words import words as tokens

if TYPE_CHECKING:
    from memento_git.knowledge.anchor_locations import AnchorLocations
    from memento_git.knowledge.following import Follower
    from memento_git.ledger.snapshots import Snapshot
    from memento_git.model.note_rows import HitRow
    from memento_git.model.rows import Row

NAME: Final = re.compile(r"[\w$]+(?:[.\-/]+[\w$]+)*")
SHORTEST: Final = 3
MOST_WORDS: Final = 6
MOST_FILES: Final = 20
LOOKED_INTO: Final = 10
MOST_SYMBOLS: Final = 5
LEDGER: Final = ".memento/"


def around(places: AnchorLocations, hits: Sequence[HitRow], queries: Sequence[str]) -> list[Row]:
    """Return the files that hits are about and those that a question names, and whether they are there."""
    with places.opened() as (_, now):
        return list(_around(hits, queries, set(now.entries) if now is not None else set()).values())


def _around(hits: Sequence[HitRow], queries: Sequence[str], there: set[str]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for hit in hits:
        for place in hit["about"]:
            path = place.get("path") or _path(place["anchor"])
            if path and "*" not in path:
                _beside(_row(rows, path, there), hit["id"])
    names = [name for query in queries for name in NAME.findall(query) if "/" in name or "." in name]
    for name in names:
        matching = [path for path in there if path == name or path.endswith(f"/{name}")]
        for path in sorted(matching) or ([name] if "/" in name else []):
            _row(rows, path, there)
    return dict(islice(rows.items(), MOST_FILES))


def traced(places: AnchorLocations, hits: Sequence[HitRow], queries: Sequence[str]) -> list[Row]:
    """Return the files that the question leads to, through notes or by its words; those without a note first."""
    with places.opened() as (follower, now):
        rows = _around(hits, queries, set(now.entries) if now is not None else set())
        if now is None:
            return list(rows.values())
        _grep(rows, follower, now, _words(queries))
        _define(rows, follower, now, _words(queries))
        held = places.of((note.id for note in places.note_set.live()), (follower, now))
    for one in chain.from_iterable(held.values()):
        if row := rows.get(one.path):
            _beside(row, one.note)
    return sorted(rows.values(), key=lambda row: (bool(row["notes"]), -len(row["symbols"]), -len(row["words"])))


def _beside(row: Row, note: str) -> None:
    if note not in row["notes"]:
        row["notes"].append(note)


def _row(rows: dict[str, Row], path: str, there: Iterable[str]) -> Row:
    return rows.setdefault(path, {"path": path, "exists": path in there, "notes": [], "words": [], "symbols": []})


def _path(anchor: str) -> str:
    return "" if anchor.startswith(("pattern:", "dep:")) else anchor.partition(":")[0]


def _words(queries: Sequence[str]) -> list[str]:
    """Return the words of a question that code may have, the longest first."""
    found = [name for query in queries for name in NAME.findall(query)]
    telling = [one for one in found if len(one) >= SHORTEST and one.lower() not in ASKING | EMPTY]
    return sorted(dict.fromkeys(telling), key=lambda one: (-len(one), one))[:MOST_WORDS]


def _grep(rows: dict[str, Row], follower: Follower, now: Snapshot, words: Sequence[str]) -> None:
    """Add the files that have most of the words, those first that are named for one."""
    having: dict[str, list[str]] = {}
    called = set()
    tree = follower.reader.here(now)[0] if words else ""
    for word in words:
        named = _named_for(word, now.entries)
        called.update(named)
        for path in sorted({*named, *follower.reader.holding(tree, word, partly=True)}):
            if not path.startswith(LEDGER):
                having.setdefault(path, []).append(word)
    best = sorted(having, key=lambda path: (-len(having[path]), path not in called, path))[:MOST_FILES]
    for path in [*best, *(path for path in rows if path in having)]:
        _row(rows, path, now.entries)["words"] = having[path]


def _named_for(word: str, paths: Iterable[str]) -> list[str]:
    """Return the files in whose name a word is, in any form: billing in test_billing.py and BillingService.java."""
    start, sought = word[:SHORTEST].lower(), set(tokens(word))
    names = ((path, path.rpartition("/")[2].partition(".")[0]) for path in paths)
    return [path for path, name in names if sought and start in name.lower() and sought <= set(tokens(name))]


def _define(rows: dict[str, Row], follower: Follower, now: Snapshot, words: Sequence[str]) -> None:
    """Say which of the files define something by the name of a word."""
    wanted = [word.lower() for word in words]
    for path, row in list(rows.items())[:LOOKED_INTO]:
        if not row["exists"]:
            continue
        names = follower.texts.symbols(path, now.blob(path)).ranges
        row["symbols"] = [
            name for name in names if any(word in name.rpartition(".")[2].lower() for word in wanted)
        ][:MOST_SYMBOLS]  # fmt: skip
