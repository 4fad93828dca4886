"""What lies in commits, as git tells it; of the last few it is remembered, for a commit never changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memento_git.ledger.names import WHOLE_ID

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memento_git.ledger.git import Git

T = TypeVar("T")
MOST: Final = 8
MOST_FOLDERS: Final = 64
LONGEST: Final = 4 << 20
WIDTHS: Final = {"sha1": 20, "sha256": 32}
TYPES: Final = {"040000": "tree", "160000": "commit"}


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


class Trees:
    """The answers of one repository."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._told: dict[tuple[str, ...], str] = {}
        self._due: dict[tuple[str, ...], tuple[str, Mapping[str, str]]] = {}
        self._folders: dict[str, dict[str, Entry]] = {}

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

    def _folder(self, tree: str) -> dict[str, Entry]:
        """Return name -> entry of what is in a tree."""
        if (known := self._folders.get(tree)) is not None:
            return known
        data = self._git.objects([tree])[0]
        if data is None:
            from memento_git.ledger import absence

            absence.refuse_object(self._git, tree)
        found: dict[str, Entry] = {}
        for octal, name, oid in rows(data, self._git.object_format):
            mode = octal.decode().zfill(6)
            found[os.fsdecode(name)] = Entry(mode, TYPES.get(mode, "blob"), oid.hex())
        if WHOLE_ID.fullmatch(tree.removesuffix("^{tree}")):
            self._folders[tree] = found
        while len(self._folders) > MOST_FOLDERS:
            del self._folders[next(iter(self._folders))]
        return found

    def text(self, *what: str) -> str:
        """Return lines `mode type id<tab>path`, each with a NUL behind it, for a commit or tree and some paths."""
        if (known := self._told.get(what)) is not None:
            return known
        due = self._due.pop(what, None)
        told = _changed(*due) if due else None
        if told is None:
            told = os.fsdecode(self._git.run("ls-tree", "-z", "--full-tree", *what))
        if len(told) <= LONGEST and any(WHOLE_ID.fullmatch(word) for word in what):
            _keep(self._told, what, told)
        return told

    def listed(self, *what: str) -> dict[str, Entry]:
        """Return path -> entry of what `git ls-tree` lists for a commit and some paths."""
        entries: dict[str, Entry] = {}
        for line in self.text(*what).split("\0")[:-1]:
            head, _, path = line.partition("\t")
            entries[path] = Entry(*head.split(" ", 2))
        return entries

    def below(self, commit: str, folder: str) -> str:
        """Return the lines of all files below a folder."""
        return self.text("-r", commit, "--", f"{folder}/")

    def differs(self, known: str, commit: str, folder: str, paths: Mapping[str, str]) -> None:
        """Take note of how a commit differs from a known one below a folder: path -> `mode type id`, '' for no file."""
        told = self._told.get(("-r", known, "--", f"{folder}/"))
        if told is not None:
            _keep(self._due, ("-r", commit, "--", f"{folder}/"), (told, paths))


def _changed(told: str, paths: Mapping[str, str]) -> str | None:
    """Return what is told of a folder with some files changed; None where a broken tree names a file twice."""
    listed = told.split("\0")[:-1]
    files = {line.partition("\t")[2]: line for line in listed}
    if len(files) < len(listed):
        return None
    for path, head in paths.items():
        files.pop(path, None)
        files.update({path: f"{head}\t{path}"} if head else {})
    return "".join(f"{files[path]}\0" for path in sorted(files, key=os.fsencode))


def _keep(told: dict[tuple[str, ...], T], what: tuple[str, ...], value: T) -> None:
    """Remember one thing more, and forget the oldest."""
    told[what] = value
    while len(told) > MOST:
        del told[next(iter(told))]
