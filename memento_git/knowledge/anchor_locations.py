"""Where the places are now that notes are about: followed to the work tree, or to the commit that is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

from memento_git.knowledge import impact
from memento_git.ledger.git import GitFailed
from memento_git.model.anchors import Anchor, spell

if TYPE_CHECKING:
    from memento_git.knowledge.anchors import Placed
    from memento_git.knowledge.following import Follower
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.snapshots import Snapshot
    from memento_git.model.rows import Row


NO_SYMBOL: Final = "{path} has no symbol {symbol}: notes of any part of the file may be shown"


class AnchorLocations:
    """The anchors of notes, each followed once; `missed` tells of symbols that were asked for and are not there."""

    def __init__(self, note_set: NoteSet, *, at_commit: bool = False) -> None:
        self.note_set = note_set
        self.at_commit = at_commit
        self.missed: list[str] = []
        self._known: dict[str, list[Placed]] = {}

    @property
    def followed(self) -> bool:
        return bool(self._known)

    def of(self, notes: Iterable[str], within: tuple[Follower, Snapshot] | None = None) -> dict[str, list[Placed]]:
        """Return note -> each of its anchors and what became of it; `within` what is open already, where that has all.

        What is open must have been opened with nothing `wanted`, so that it has no more files than git tracks.
        """
        names = list(dict.fromkeys(notes))
        fresh = self._fresh(names)
        if fresh and self.note_set.view.commits:
            wanted = [anchor for _, anchor in fresh]
            there = within if within is not None and _has_all(within[1], wanted) else None
            with nullcontext(there) if there is not None else self.opened(wanted) as (follower, now):
                self._follow(fresh, follower, now)
        return {name: self._known[name] for name in names}

    def _fresh(self, names: Sequence[str]) -> list[tuple[str, Anchor]]:
        """Return the anchors of the notes that are not known yet; they are taken for known from now on."""
        new = [name for name in dict.fromkeys(names) if name not in self._known]
        self._known.update((name, []) for name in new)
        return self.note_set.places(map(self.note_set.note, new))

    def _follow(self, fresh: Sequence[tuple[str, Anchor]], follower: Follower, now: Snapshot | None) -> None:
        for one in follower.placed(fresh, now) if now is not None else ():
            self._known[one.note].append(one)

    @contextmanager
    def opened(self, wanted: Iterable[Anchor] = ()) -> Iterator[tuple[Follower, Snapshot | None]]:
        """Yield what follows anchors, and the files that these are followed to; None before the first commit.

        They are those of the work tree, or of the revision that is read.
        """
        from memento_git.knowledge import following

        with following.opened(self.note_set.view.git) as follower:
            yield follower, self._now(follower, wanted)

    def _now(self, follower: Follower, wanted: Iterable[Anchor]) -> Snapshot | None:
        view = self.note_set.view
        if self.at_commit:
            return follower.at(view.commits[0]) if view.commits else None
        if view.git.top is None:
            return follower.head()
        try:
            return follower.work_tree(wanted)
        except GitFailed:  # a merge under way leaves no tree to write
            return follower.head()

    def states(self, notes: Iterable[str]) -> dict[str, set[str]]:
        """Return note -> the states of its anchors."""
        return {name: {one.found.state for one in held} for name, held in self.of(notes).items()}

    def near(self, notes: Sequence[str], place: Anchor) -> dict[str, int]:
        """Return the notes that are about a place as it is now, or that were about its path before, and how far beyond.

        A symbol that is not there now leads to the notes that named it, before all others.
        """
        wanted = [place]
        if place.symbol and self.note_set.view.commits:
            fresh = self._fresh(notes)
            with self.opened([anchor for _, anchor in fresh] or [place]) as (follower, now):
                self._follow(fresh, follower, now)
                wanted = self._spelt_out(place, follower, now)
        nearest: dict[str, int] = {}
        for name, held in self.of(notes).items():
            named = any(_names(one.anchor, target) for one in held for target in wanted)
            beyond = [
                _beyond(there, target)
                for one in held
                for there in _places(one)
                for target in wanted
                if _meet(there, target)
            ]
            if named or beyond:
                nearest[name] = 0 if named else min(beyond)
        return nearest

    def _spelt_out(self, place: Anchor, follower: Follower, now: Snapshot | None) -> list[Anchor]:
        """Return a place with its symbol's whole name and lines; several where the name may mean several symbols."""
        if now is not None and place.path not in now.entries:
            now = self._now(follower, [place])
        if now is None or place.path not in now.entries:
            return [place]
        there = follower.texts.symbols(place.path, now.blob(place.path))
        names = there.names_of(place.symbol)
        if not names and not there.problem:
            self.missed.append(NO_SYMBOL.format(path=place.path, symbol=place.symbol))
        return [place._replace(symbol=name, lines=there.span(name)) for name in names] or [place]

    def rows(self, note: str) -> list[Row]:
        """Return the anchors of a note and what became of each."""
        return [
            {
                "place": str(one.anchor), "state": one.found.state, "path": one.found.path or None,
                "lines": spell(one.found.lines) if one.found.lines else None, "why": one.found.why or None,
            }
            for one in self.of([note])[note]
        ]  # fmt: skip


def _has_all(now: Snapshot, wanted: Iterable[Anchor]) -> bool:
    """Tell whether the files of some anchors are all there as files: then git tracks them, or was led to them."""
    entries = (now.entries.get(anchor.path) for anchor in wanted if anchor.is_place)
    return all(entry is not None and entry.type == "blob" for entry in entries)


def _places(one: Placed) -> list[Anchor]:
    """Return where an anchor is now, by the path that it has and by the one that it had; a text where it stands, too.

    Where that is not known it is as it was.
    """
    anchor, found = one.anchor, one.found
    if not anchor.is_place:
        return [anchor, *([Anchor(found.path, found.lines)] if found.path else [])]
    now = anchor._replace(lines=found.lines or anchor.lines, symbol=found.symbol or anchor.symbol)
    return [now._replace(path=path) for path in dict.fromkeys((one.path, anchor.path))]


def _names(anchor: Anchor, target: Anchor) -> bool:
    """Tell whether an anchor itself names a symbol that is asked for and is nowhere now."""
    return bool(anchor.symbol and target.symbol and not target.lines) and impact.overlap(anchor, target)


def _beyond(one: Anchor, target: Anchor) -> int:
    """Return how far a place reaches beyond one that is asked for: 0 not, 1 over its file, 2 over a folder above."""
    if one.path != target.path and target.path.startswith(f"{one.path}/"):
        return 2
    return int(not one.lines) if target.lines else int(bool(target.symbol))


def _meet(one: Anchor, other: Anchor) -> bool:
    """Tell whether two places of one moment have something in common: lines say more than names."""
    if one.lines and other.lines:
        one, other = one._replace(symbol=""), other._replace(symbol="")
    return impact.overlap(one, other)
