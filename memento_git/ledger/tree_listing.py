"""The files of the ledger at a commit as git lists them, looked into rather than taken apart."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from operator import lt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

FILE_MODES: Final = ("100644", "100755")
PLAIN_STARTS: Final = tuple(f"{mode} blob " for mode in FILE_MODES)
ID_START: Final = len(PLAIN_STARTS[0])
AFTER_SLASH: Final = "0"
KEPT: Final = "listing"
SMALL: Final = 1 << 15  # what is written in less time than git takes to tell what differs
FAR: Final = 256


class TreeListing:
    """Lines `mode type id<tab>path`, each with a NUL behind it, in git's order of paths."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def is_small(self) -> bool:
        return len(self.text) < SMALL

    def lines(self) -> list[str]:
        return self.text.split("\0")[:-1]

    @cached_property
    def ordered(self) -> bool:
        """Tell whether each path is named once, in order; a broken tree may do otherwise."""
        paths = [line.partition(b"\t")[2] for line in os.fsencode(self.text).split(b"\0")[:-1]]
        return all(map(lt, paths, paths[1:]))

    @cached_property
    def plain(self) -> bool:
        """Tell whether all are files of their own, each named once: only then the methods below tell the truth."""
        return self.ordered and all(line.startswith(PLAIN_STARTS) for line in self.lines())

    def blobs(self) -> dict[str, str]:
        """Return path -> id of all files, '' of what is not committed."""
        return {path: head[ID_START:] for head, _, path in (line.partition("\t") for line in self.lines())}

    def blob(self, path: str) -> str | None:
        """Return the id of a file, None where there is none."""
        start = self._place(path)
        end = self.text.find("\0", start)
        line = self.text[start:end] if end >= 0 else ""
        return line[ID_START : -len(path) - 1] if line.endswith(f"\t{path}") else None

    def inside(self, folder: str) -> Iterator[str]:
        """Yield the names of what is in a folder: those of files, and those of folders with a slash behind."""
        start = f"{folder}/"
        place = self._place(start)
        while (path := self._path(place)).startswith(start):
            name, slash, _ = path[len(start) :].partition("/")
            yield name + slash
            last = f"{start}{name}{AFTER_SLASH}" if slash else ""
            place = self._place(last) if last else self.text.index("\0", place) + 1

    def count(self, folder: str) -> int:
        """Return how many files lie below a folder."""
        return self.text.count("\0", self._place(f"{folder}/"), self._place(folder + AFTER_SLASH))

    def holding(self, folder: str, part: str) -> Iterator[str]:
        """Yield the paths below a folder that hold a part, which may end with the NUL behind them."""
        end = self._place(folder + AFTER_SLASH)
        place = self.text.find(part, self._place(f"{folder}/"), end)
        while place >= 0:
            start = self.text.rfind("\0", 0, place) + 1
            yield self._path(start)
            place = self.text.find(part, self.text.index("\0", place), end)

    def changed(self, heads: Mapping[str, str]) -> TreeListing | None:
        """Return the lines with some files changed: path -> `mode type id`, '' for no file; None if out of order."""
        if not self.ordered:
            return None
        parts, last = [], 0
        for path in sorted(heads, key=os.fsencode):
            place = self._place(path)
            parts += [self.text[last:place], f"{heads[path]}\t{path}\0" if heads[path] else ""]
            last = self.text.index("\0", place) + 1 if self._path(place) == path else place
        found = TreeListing("".join([*parts, self.text[last:]]))
        found.ordered = True
        found.plain = self.plain and all(head.startswith(PLAIN_STARTS) for head in heads.values() if head)
        return found

    def _path(self, place: int) -> str:
        """Return the path of the line that begins at a place, nothing at the end."""
        end = self.text.find("\0", place)
        return self.text[self.text.index("\t", place) + 1 : end] if end >= 0 else ""

    def _place(self, path: str) -> int:
        """Return where the line of a path begins, or would."""
        text, low, high, wanted = self.text, 0, len(self.text), os.fsencode(path)
        while low < high:
            start = max(low, text.rfind("\0", low, (low + high) // 2) + 1)
            if os.fsencode(self._path(start)) < wanted:
                low = text.index("\0", start) + 1
            else:
                high = start
        return low


def near(git: Git, commit: str) -> TreeListing | None:
    """Return what a commit's ledger has, from the listing that was kept and how it differs; None where it is far."""
    from memento_git.ledger import cache, tree_diff

    kept = cache.latest_text(git, KEPT)
    tree = tree_diff.tree_of(git, commit) if kept else ""
    if kept is None or not tree:
        return None
    known = TreeListing(kept[1])
    known.ordered = known.plain = True
    if kept[0] == tree:
        return known
    heads = tree_diff.heads(git, kept[0], tree, known)
    found = known.changed(heads) if heads is not None and len(heads) <= FAR else None
    if found is not None and found.is_small:
        keep(git, commit, found)
    return found


def keep(git: Git, commit: str, listed: TreeListing) -> None:
    """Keep what a commit's ledger has, where it has one, and that is plain."""
    from memento_git.ledger import cache, tree_diff

    if listed.text and listed.plain:
        cache.write_text(git, KEPT, tree_diff.tree_of(git, commit), listed.text)
