"""The files of one moment as a place to look for what left another file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from memento_git.code.symbols import Symbols, symbols
from memento_git.knowledge import passages
from memento_git.knowledge.passages import Match, Text
from memento_git.ledger import snapshots
from memento_git.ledger.snapshots import Reader, Snapshot

MOST_BYTES: Final = 64 * 1024 * 1024
MOST_FILES: Final = 5000
LONGEST_FILE: Final = 512 * 1024
ALONE: Final = 40


class Texts:
    """Contents as lines and as symbols, each looked at once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._texts: dict[str, Text] = {}
        self._symbols: dict[tuple[str, str], Symbols] = {}
        self._holding: dict[str, list[str]] = {}

    def text(self, blob: str) -> Text | None:
        """Return the lines of a content; None where it is not here, too large or no text."""
        if blob not in self._texts:
            data = self.reader.content(blob)
            if data is None or snapshots.is_binary(data):
                return None
            text = self._texts[blob] = Text(data)
            for line in text.places:
                if passages.weight(line):
                    self._holding.setdefault(line, []).append(blob)
        return self._texts[blob]

    def with_most(self, telling: Collection[str]) -> set[str]:
        """Return the contents looked at so far that may have most of some lines, by weight.

        One that has most of them has at least one of any of them that together weigh more than the rest may.
        """
        room = (1 - passages.MOST) * passages.weigh(telling)
        found: set[str] = set()
        for line in sorted(telling, key=lambda line: len(self._holding.get(line, ()))):
            found.update(self._holding.get(line, ()))
            room -= passages.weight(line)
            if room < 0:
                break
        return found

    def symbols(self, path: str, blob: str) -> Symbols:
        key = path.rpartition(".")[2], blob
        if key not in self._symbols:
            data = self.reader.content(blob)
            self._symbols[key] = symbols(path, data) if data is not None else Symbols({}, "it cannot be read")
        return self._symbols[key]


class OtherFiles:
    """Looks for passages and symbols in the files of one moment that are like a file they left."""

    def __init__(self, texts: Texts, now: Snapshot) -> None:
        self.texts = texts
        self.now = now
        self._of: dict[str, list[tuple[str, str]]] = {}

    def files(self, path: str) -> list[tuple[str, str]]:
        """Return path and blob of all files that end like a path, as many as are looked into."""
        ending = _ending(path)
        if ending not in self._of:
            found = [
                (one, entry.oid) for one, entry in self.now.entries.items()
                if entry.type == "blob" and _ending(one) == ending
            ][:MOST_FILES]  # fmt: skip
            sizes = self.texts.reader.sizes(blob for _, blob in found)
            fit, room = [], MOST_BYTES
            for one, blob in found:
                size = sizes.get(blob, room + 1)
                if size <= min(room, LONGEST_FILE):
                    fit.append((one, blob))
                    room -= size
            self.texts.reader.contents(blob for _, blob in fit)
            for _, blob in fit:
                self.texts.text(blob)
            self._of[ending] = fit
        return self._of[ending]

    def passage(self, passage: Sequence[str], left: str, commit: str) -> tuple[str, Match] | None:
        """Return the one file that now has most of a passage and did not have it at a commit."""
        telling = {line for line in passage if passages.weight(line)}
        if len(telling) < 2 and passages.weigh(telling) < ALONE:
            return None
        needed = passages.MOST * passages.weigh(telling)
        best: list[tuple[float, str, Match]] = []
        files = self.files(left)
        likely = self.texts.with_most(telling)
        for path, blob in files:
            text = self.texts.text(blob) if path != left and blob in likely else None
            if text is None or passages.weigh(telling & text.places.keys()) < needed * 0.99:
                continue
            eligible = self._new_lines(path, commit, text, telling)
            match = passages.find(passage, text, eligible)
            if match is not None:
                best.append((match.share, path, match))
        best.sort(key=lambda one: (-one[0], one[1].rpartition("/")[2] != left.rpartition("/")[2], one[1]))
        if not best or (len(best) > 1 and best[0][0] == best[1][0] and not _same_name(best[0][1], left)):
            return None
        return best[0][1], best[0][2]

    def _new_lines(self, path: str, commit: str, text: Text, telling: set[str]) -> set[int] | None:
        """Return the lines of a file that it did not have at a commit; None where nothing is known of that."""
        blob = self.texts.reader.at_path(commit, path) if commit else ""
        before = self.texts.text(blob) if blob else None
        if before is None:
            return None
        old = before.places.keys() & telling
        return {number for line in telling - old for number in text.places.get(line, ())} if old else None

    def symbol(self, name: str, left: str, commit: str) -> Iterator[tuple[str, Symbols, Text]]:
        """Yield the files that define a name and did not define it at a commit."""
        for path, blob in self.files(left):
            data = self.texts.reader.content(blob) if path != left else None
            text = self.texts.text(blob) if data and name.encode() in data else None
            if text is None:
                continue
            found = self.texts.symbols(path, blob)
            before = self.texts.reader.at_path(commit, path) if commit else ""
            old = self.texts.symbols(path, before).ranges if before else {}
            fresh = {one: lines for one, lines in found.ranges.items() if one not in old}
            if fresh:
                yield path, Symbols(fresh), text


def _ending(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2] if "." in name[1:] else name


def _same_name(one: str, other: str) -> bool:
    return one.rpartition("/")[2] == other.rpartition("/")[2]
