"""What lies in commits, as git tells it; of the last few it is remembered, for a commit never changes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memento_git.errors import Broken
from memento_git.ledger.layout import FOLDER
from memento_git.ledger.names import WHOLE_ID
from memento_git.ledger.tree_listing import TreeListing, keep, near
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

T = TypeVar("T")
MOST: Final = 8
MOST_FOLDERS: Final = 64
LONGEST: Final = 4 << 20
WIDTHS: Final = {"sha1": 20, "sha256": 32}
TREE: Final = "040000"
TYPES: Final = {TREE: "tree", "160000": "commit"}
OCTAL: Final = re.compile(b"[0-7]+")
KIND: Final = 0o170000
FILE: Final = 0o100000
OF_OTHERS: Final = {0o040000: TREE, 0o120000: "120000"}


class TreeOdd(Broken):
    """A tree that git would not make: it tells less of it than differs, or than a checkout or a merge takes."""

    token = "tree_odd"
    sentence = (
        "git cannot tell what differs at {path}: a tree there is out of order, or has a name twice or with a slash"
    )
    hint_ = (
        "leave out the commit that brought it: git fsck shows such trees; where all build on it by now, have the trees "
        "made anew there, by a commit of its own: "
        "git rm -rq --cached .memento && git add -f .memento && git commit --allow-empty"
    )


class Entry(NamedTuple):
    """One entry of a tree: octal mode, type, object id."""

    mode: str
    type: str
    oid: str


def rows(tree: bytes, object_format: str) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield mode, name and id of what is in a tree, given as git stores it."""
    width, start = WIDTHS[object_format], 0
    while start < len(tree):
        middle = tree.index(b"\0", start)
        mode, _, name = tree[start:middle].partition(b" ")
        start = middle + 1 + width
        yield mode, name, tree[middle + 1 : start]


def mode_of(octal: bytes) -> str:
    """Return a mode as git reads it: whoever makes a tree by hand may write any rights beside what an entry is."""
    mode = int(octal, 8) if OCTAL.fullmatch(octal) else 0
    if mode & KIND == FILE:
        return "100755" if mode & 0o100 else "100644"
    return OF_OTHERS.get(mode & KIND, "160000")


class Trees:
    """The answers of one repository."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._ledgers: dict[str, TreeListing] = {}
        self._due: dict[str, tuple[TreeListing, Mapping[str, str]]] = {}
        self._folders: dict[str, dict[str, Entry]] = {}
        self.anew = False  # what is judged is asked of git, not taken from what was kept
        self.kept: dict[str, tuple[str, Any]] = {}  # what was computed since then, by name, after its key

    def at(self, commit: str, path: str) -> dict[str, Entry]:
        """Return path -> entry of what is at a path of a commit, of `a/` what is in `a`, of '' what is at the top."""
        entries = self._folder(f"{commit}^{{tree}}")
        *way, last = path.split("/")
        for name in way:
            entry = entries.get(name)
            if entry is None or entry.type != "tree":
                return {}
            entries = self._folder(entry.oid)
        if last:
            return {path: entries[last]} if last in entries else {}
        return {f"{path}{name}": entry for name, entry in entries.items()}

    def top(self, commit: str) -> dict[str, Entry]:
        """Return name -> entry of what is at the top of a commit; refuse one that git would not make.

        git looks there no further than a name could be, and what comes behind that is taken by a checkout and a merge.
        """
        held = self._rows(f"{commit}^{{tree}}")
        found = dict(held)
        names = [os.fsencode(name) + b"/" * (one.type == "tree") for name, one in held]  # as git puts folders in order
        if names != sorted(names) or len(found) < len(names) or any("/" in name for name in found):
            raise TreeOdd(path=f"the top of {commit[:12]}")
        return found

    def _folder(self, tree: str) -> dict[str, Entry]:
        """Return name -> entry of what is in a tree: the first that has a name, as git finds it."""
        if (known := self._folders.get(tree)) is not None:
            return known
        found: dict[str, Entry] = {}
        for name, entry in self._rows(tree):
            found.setdefault(name, entry)
        if WHOLE_ID.fullmatch(tree.removesuffix("^{tree}")):
            _keep(self._folders, tree, found, MOST_FOLDERS)
        return found

    def _rows(self, tree: str) -> list[tuple[str, Entry]]:
        """Return each name that a tree has, in its order, with what is there."""
        data = self._git.objects([tree])[0]
        if data is None:
            from memento_git.ledger import missing_ledger

            missing_ledger.refuse_object(self._git, tree)
        told = ((mode_of(octal), name, oid) for octal, name, oid in rows(data, self._git.object_format))
        return [(os.fsdecode(name), Entry(mode, TYPES.get(mode, "blob"), oid.hex())) for mode, name, oid in told]

    def listed(self, *what: str) -> dict[str, Entry]:
        """Return path -> entry of what `git ls-tree` lists for a commit or tree and some paths."""
        return entries(os.fsdecode(self._git.run("ls-tree", "-z", "--full-tree", *what)))

    def ledger(self, commit: str) -> TreeListing:
        """Return the lines of all files of the ledger."""
        if (known := self._ledgers.get(commit)) is not None:
            return known
        due = self._due.pop(commit, None)
        found = due[0].changed(due[1]) if due else None
        if found is None and (self.anew or (found := near(self._git, commit)) is None):
            found = TreeListing(os.fsdecode(self._git.run("ls-tree", "-rz", "--full-tree", commit, "--", f"{FOLDER}/")))
            if not self.anew:
                keep(self._git, commit, found)
        if len(found.text) <= LONGEST and WHOLE_ID.fullmatch(commit):
            _keep(self._ledgers, commit, found)
        return found

    def differs(self, known: str, commit: str, heads: Mapping[str, str]) -> None:
        """Take note of how a commit's ledger differs from a known one: path -> `mode type id`, '' for no file."""
        listed = self._ledgers.get(known)
        if listed is not None:
            _keep(self._due, commit, (listed, heads))

    def landed(self, base: str, commit: str, heads: Mapping[str, str]) -> None:
        """Take note of what a new commit's ledger has; where that is little, it is kept for the next command."""
        self.differs(base, commit, heads)
        if commit in self._due and self._due[commit][0].is_small:
            keep(self._git, commit, self.ledger(commit))


def entries(told: str) -> dict[str, Entry]:
    """Return path -> entry of lines `mode type id<tab>path`, each with a NUL behind it."""
    found: dict[str, Entry] = {}
    for line in told.split("\0")[:-1]:
        head, _, path = line.partition("\t")
        found[path] = Entry(*head.split(" ", 2))
    return found


def _keep(told: dict[str, T], what: str, value: T, most: int = MOST) -> None:
    """Remember one thing more, and forget the oldest."""
    told[what] = value
    while len(told) > most:
        del told[next(iter(told))]
