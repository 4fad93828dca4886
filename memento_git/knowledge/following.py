"""Follows many anchors to one moment of a repository: a commit, the index or the work tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from memento_git.code.symbols import Symbols
from memento_git.knowledge import anchors, impact, occurrences, symbol_anchors, watched_paths
from memento_git.knowledge.anchors import Found, Hunk, Placed, Sides
from memento_git.knowledge.other_files import OtherFiles, Texts
from memento_git.knowledge.passages import Match, Text
from memento_git.ledger import snapshots
from memento_git.ledger.git import Git
from memento_git.ledger.snapshots import Reader, Snapshot
from memento_git.model.anchors import CHANGED, GONE, UNKNOWN, Anchor
from memento_git.model.enumeration import grouped

MOST_LOST: Final = 200
MOST_CANDIDATES: Final = 2000
LONGEST_CHAIN: Final = 20


class Step(NamedTuple):
    """The revision before a change, and from where to where that moved a file or folder."""

    before: str
    last: str
    new: str


class Follower:
    """Tells what became of anchors; contents and differences are read once, however many anchors and moments."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.texts = Texts(reader)
        self._elsewhere: dict[str, OtherFiles] = {}
        self._known: dict[tuple[object, ...], Found] = {}

    def at(self, rev: str) -> Snapshot:
        return self.reader.at(rev)

    def head(self) -> Snapshot | None:
        """Return the files of the commit that is checked out; None before the first."""
        commit, _ = self.reader.git.head()
        return self.reader.at(commit) if commit else None

    def staged(self) -> Snapshot:
        return self.reader.staged()

    def work_tree(self, about: Iterable[Anchor] = ()) -> Snapshot:
        """Return the work tree, with the files of these anchors although git may not track them."""
        return self.reader.work_tree(anchor.path for anchor in about if anchor.is_place)

    def follow(self, wanted: Sequence[Anchor], now: Snapshot) -> list[Found]:
        """Return what became of each anchor, in their order."""
        pinned = [anchor for anchor in wanted if anchor.is_place and anchor.blob]
        held = self.reader.sizes({anchor.blob for anchor in pinned})
        lost = [one for one in wanted if one.is_place and one.path not in now.entries]
        places = self._renamed(lost, now, held) if lost else {}
        pairs = {
            (anchor.blob, now.blob(path)) for anchor in pinned
            if (path := places.get(anchor.path, anchor.path)) in now.entries and (anchor.lines or anchor.symbol)
        }  # fmt: skip
        self.reader.hunks(pair for pair in pairs if pair[0] != pair[1] and pair[0] in held)
        found = [self._one(anchor, places.get(anchor.path, anchor.path), now) for anchor in wanted]
        watched_paths.keep_found(
            self.reader.git,
            (
                one.path
                for anchor, one in zip(wanted, found, strict=True)
                if anchor.is_place and one.path != anchor.path
            ),
        )
        return found

    def placed(self, notes: Sequence[tuple[str, Anchor]], now: Snapshot) -> list[Placed]:
        """Return what became of the places of notes, in their order; each note is given with one anchor."""
        found = self.follow([anchor for _, anchor in notes], now)
        return [Placed(note, anchor, one) for (note, anchor), one in zip(notes, found, strict=True)]

    def touched(self, notes: Sequence[tuple[str, Anchor]], older: Snapshot, newer: Snapshot) -> list[Placed]:
        """Return which notes a change from one moment to another touches."""
        was = self.placed(notes, older)
        starts = [impact.before(one, older.commit, older.blob(one.found.path)) for one in was]
        became = iter(self.follow([anchor for anchor in starts if anchor is not None], newer))
        return impact.touched(was, [None if anchor is None else next(became) for anchor in starts])

    def _one(self, anchor: Anchor, path: str, now: Snapshot) -> Found:
        if not anchor.is_place:
            return occurrences.found(anchor, now, self.reader)
        blob = now.blob(path)
        if not anchor.blob:
            return anchors.unpinned(anchor, path, self.texts.text(blob) if blob else None, there=bool(blob))
        if blob == anchor.blob or (blob and not anchor.lines and not anchor.symbol):
            return self._with_lines(anchors.whole_file(anchor, path, blob), anchor)
        if not self.reader.has(anchor.blob):
            return self._without_content(anchor, path, now, blob)
        if not blob:
            return self._left(anchor, now)
        return self._compared(anchor, path, blob, now)

    def _with_lines(self, found: Found, anchor: Anchor) -> Found:
        """Add where a symbol is in a file that is the same."""
        symbols = self.texts.symbols(found.path, found.new or anchor.blob) if anchor.symbol else symbol_anchors.NOTHING
        name = symbols.name_of(anchor.symbol)
        return found._replace(lines=symbols.span(name)) if name else found

    def _without_content(self, anchor: Anchor, path: str, now: Snapshot, blob: str) -> Found:
        """Judge a place whose content is not to be had: a folder, a submodule, or what a shallow clone lacks."""
        entry = now.entries.get(path)
        if entry is not None and entry.type != "blob":
            return Found(CHANGED, path, why="it is no file now", new=blob)
        if entry is None and self.reader.is_folder(anchor.blob):
            same = next((one for one, held in now.entries.items() if held.oid == anchor.blob), "")
            gone = Found(GONE, anchor.path, why="there is no such folder", old=anchor.blob)
            return anchors.whole_file(anchor, same, anchor.blob) if same else gone
        found = anchors.unknown(anchor, path, self.texts.text(blob) if blob else None, there=bool(blob))
        return found._replace(old=anchor.blob, new=blob)

    def _left(self, anchor: Anchor, now: Snapshot) -> Found:
        """Judge a place whose file is gone and was not renamed: its lines may be in another file."""
        old = self.texts.text(anchor.blob)
        if old is not None and (anchor.lines or anchor.symbol):
            nothing = Text(b"")
            sides = Sides(anchor.path, anchor.path, old, nothing, (Hunk(1, len(old), 0, 0),))
            found = self._judged(anchor, sides, "", now)
            if found.path != anchor.path:
                return found._replace(old=anchor.blob, new=now.blob(found.path))
        return Found(GONE, anchor.path, why="there is no such file", old=anchor.blob)

    def _compared(self, anchor: Anchor, path: str, blob: str, now: Snapshot) -> Found:
        pair = anchor.blob, blob
        old, new = self.texts.text(anchor.blob), self.texts.text(blob)
        numbers = self.reader.between(pair)
        if old is None or new is None or numbers is None:
            return self._opaque(anchor, path, blob)
        sides = Sides(anchor.path, path, old, new, [Hunk(*one) for one in numbers])
        found = self._judged(anchor, sides, blob, now)
        return found._replace(old=anchor.blob, new=now.blob(found.path))

    def _opaque(self, anchor: Anchor, path: str, blob: str) -> Found:
        """Judge contents without lines: a binary one differs, of one that is too large nothing can be said."""
        sizes = self.reader.sizes([anchor.blob, blob])
        if any(size > snapshots.LARGEST for size in sizes.values()):
            why = f"files above {snapshots.LARGEST // 1024 // 1024} MiB are not looked into"
            return Found(UNKNOWN, path, why=why, old=anchor.blob, new=blob)
        return Found(CHANGED, path, why="it is no text that can be compared", old=anchor.blob, new=blob)

    def _judged(self, anchor: Anchor, sides: Sides, blob: str, now: Snapshot) -> Found:
        key = (*anchor[:3], anchor.blob, anchor.commit, sides.now, blob)
        kept = self._known.get((*key, "")) or self._known.get((*key, now.tree))
        if kept is not None:
            return kept
        others = self._elsewhere.setdefault(now.tree, OtherFiles(self.texts, now))
        looked: list[str] = []

        def passage(lines: Sequence[str]) -> tuple[str, Match] | None:
            looked.append(now.tree)
            return others.passage(lines, sides.now, anchor.commit)

        def symbol(name: str) -> list[tuple[str, Symbols, Text]]:
            looked.append(now.tree)
            return list(others.symbol(name, sides.now, anchor.commit))

        def at(path: str) -> tuple[Symbols, Text | None]:
            return self.texts.symbols(path, now.blob(path)), self.texts.text(now.blob(path))

        if not anchor.symbol:
            found = anchors.lines(sides, anchor.lines or (1, 1), passage)
        else:
            new = self.texts.symbols(sides.now, blob) if blob else symbol_anchors.NOTHING
            named = symbol_anchors.Named(self.texts.symbols(sides.was, anchor.blob), new)
            found = symbol_anchors.symbol(anchor, sides, named, symbol_anchors.Others(passage, symbol, at))
        self._known[(*key, looked[0] if looked else "")] = found
        return found

    def _renamed(self, lost: Sequence[Anchor], now: Snapshot, held: Collection[str]) -> dict[str, str]:
        """Return old path -> new path: as history tells it, else the same content, else what git finds similar.

        Work that is not committed is the last step of history: of files as they are at HEAD the same is told.
        """
        by_path: dict[str, Anchor] = {}
        for anchor in sorted(lost, key=lambda one: one.blob not in held):
            by_path.setdefault(anchor.path, anchor)
        known = {path: anchor for path, anchor in by_path.items() if anchor.blob in held}
        head = now if now.commit else self.head()
        found = self._by_history(by_path, now, head) if head else {}
        left = {path: anchor for path, anchor in known.items() if path not in found}
        return found | self._by_content(left, now) if left else found

    def _by_history(self, lost: Mapping[str, Anchor], now: Snapshot, head: Snapshot) -> dict[str, str]:
        """Return where the changes that took paths away moved them, and again, until a path is there."""
        at = {path: path for path in list(lost)[:MOST_LOST]}
        found: dict[str, Step] = {}
        for _ in range(LONGEST_CHAIN):
            steps = self._steps(at, now, head)
            found |= {path: step for path, step in steps.items() if step.new in now.entries}
            at = {path: step.new for path, step in steps.items() if step.new not in now.entries}
        return {
            path: step.new for path, step in found.items()
            if now.entries[step.new].type == "blob" or self._holds(now, step, lost[path])
        }  # fmt: skip

    def _steps(self, at: Mapping[str, str], now: Snapshot, head: Snapshot) -> dict[str, Step]:
        """Return path -> the latest step from where it was: by a commit, or from HEAD to what is not committed."""
        old = [last for last in at.values() if last not in head.entries]
        removals = self.reader.removals(head.commit, old) if old else {}
        sides = {
            path: (head.commit, now.tree) if last in head.entries else (f"{removals[last]}^", removals[last])
            for path, last in at.items() if last in head.entries or last in removals
        }  # fmt: skip
        moved = {path: self.reader.moved(*sides[path], at[path]) for path in sides}
        return {path: Step(sides[path][0], at[path], new) for path, new in moved.items() if new}

    def _holds(self, now: Snapshot, step: Step, anchor: Anchor) -> bool:
        """Tell whether a folder has most of the files, by their names, that the pinned folder had.

        One that was not pinned is known by what it had when it went, as a whole, to where there was no folder.
        """
        before = f"{step.before}:"
        if anchor.blob:
            names = self.reader.names(anchor.blob)
        else:
            names = [] if self.reader.names(before + step.new) else self.reader.names(before + step.last)
        return 2 * sum(f"{step.new}/{name}" in now.entries for name in names) > len(names)

    def _by_content(self, lost: dict[str, Anchor], now: Snapshot) -> dict[str, str]:
        names, at_path = [path for path, entry in now.entries.items() if entry.type == "blob"], self.reader.at_path
        ends = {path.rpartition(".")[2] for path in lost}
        same = grouped((now.blob(path), path) for path in names)
        found = {
            path: _nearest(path, twins) for path, anchor in lost.items()
            if (twins := [one for one in same.get(anchor.blob, ()) if at_path(anchor.commit, one) != anchor.blob])
        }  # fmt: skip
        rest = [path for path in lost if path not in found]
        candidates = [path for path in names if path.rpartition(".")[2] in ends][:MOST_CANDIDATES]
        alike = self.reader.alike([lost[path].blob for path in rest], [now.blob(path) for path in candidates])
        for number, (other, _) in alike.items():
            path, new = rest[number], candidates[other]
            if not at_path(lost[path].commit, new):
                found[path] = new
        return found | self._by_name({path: lost[path] for path in rest if path not in found}, now)

    def _by_name(self, lost: dict[str, Anchor], now: Snapshot) -> dict[str, str]:
        """Return the one new file of the same name, or with the same end of its path, for each that was lost."""
        found = {}
        for path, anchor in lost.items():
            name = path.rpartition("/")[2]
            fresh = [
                one for one in now.entries
                if one.rpartition("/")[2] == name and not self.reader.at_path(anchor.commit, one)
            ] if anchor.commit else []  # fmt: skip
            deeper = [one for one in fresh if one.endswith(f"/{path}")]
            if len(deeper or fresh) == 1:
                found[path] = (deeper or fresh)[0]
        return found


def _nearest(path: str, twins: Sequence[str]) -> str:
    """Return the path of the same content that is most like a path: the same name first."""
    name = path.rpartition("/")[2]
    return min(twins, key=lambda twin: (twin.rpartition("/")[2] != name, twin))


@contextmanager
def opened(git: Git) -> Iterator[Follower]:
    """Yield what follows anchors in a repository; it leaves nothing behind."""
    with snapshots.reading(git) as reader:
        yield Follower(reader)
