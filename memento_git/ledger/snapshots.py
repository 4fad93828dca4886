"""Files as they are at a commit, in the index or in the work tree, and how two contents of one file differ.

Everything is read in a throw-away object store beside the real one, so that also what is not committed can be compared.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from memento_git.ledger import grep, scratch
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.staged import named_index
from memento_git.ledger.trees import Entry

LARGEST: Final = 4 * 1024 * 1024
SNIFFED: Final = 8000
HUNK: Final = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
DIFF: Final = (
    "diff-tree", "-r", "-p", "-U0", "--text", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv",
    "--no-indent-heuristic", "--diff-algorithm=histogram", "--ignore-space-at-eol", "--src-prefix=a/",
    "--dst-prefix=b/",
)  # fmt: skip
SIMILAR: Final = 50
SAME: Final = 100
Numbers = tuple[int, int, int, int]


class Snapshot(NamedTuple):
    """All files at one moment: the tree, the commit (nothing for what is not committed), path -> entry."""

    tree: str
    commit: str
    entries: Mapping[str, Entry]

    def blob(self, path: str) -> str:
        """Return the id of what is at a path, nothing where nothing is."""
        entry = self.entries.get(path)
        return entry.oid if entry else ""


class Reader:
    """Reads contents and differences, each of them once."""

    def __init__(self, git: Git, folder: Path) -> None:
        self.git = git
        self.folder = folder
        self.ignored: set[str] = set()  # what was asked for although git is told to ignore it
        self._sizes: dict[str, int] = {}
        self._contents: dict[str, bytes | None] = {}
        self._hunks: dict[tuple[str, str], tuple[Numbers, ...]] = {}
        self._of_commit = cache(lambda commit: self._stand(commit, commit))
        self._moved = cache(self._moves)
        self._removals: dict[str, dict[str, str]] = {}
        self.at_path = cache(self._at_path)

    def at(self, rev: str) -> Snapshot:
        """Return the files of a commit."""
        return self._of_commit(self.git.commit_of(rev))

    def staged(self) -> Snapshot:
        """Return the files as the index has them, also the one that a hook's caller names."""
        scratch.copy_index(self.git, self.folder / "index", named_index(self.git))
        return self._stand(self._line("write-tree"))

    def work_tree(self, paths: Iterable[str] = ()) -> Snapshot:
        """Return the files as they lie in the work tree: what git tracks, and those of `paths` that it does not."""
        scratch.copy_index(self.git, self.folder / "index")
        scratch.add_tracked(self.git, {}, ".")
        asked = sorted(set(paths))
        if asked:
            others = self.git.run("ls-files", "--others", "-z", "--", *asked)
            ignored = ("--ignored", "--exclude-standard", "-z", "--", *asked)
            told = self.git.run("ls-files", "--others", *ignored) if others else b""
            self.ignored.update(os.fsdecode(told).split("\0")[:-1])
            self.git.run("update-index", "--add", "-z", "--stdin", data=b"".join(_files(others, self.git.cwd)))
        return self._stand(self._line("write-tree"))

    def _line(self, *arguments: str) -> str:
        return os.fsdecode(self.git.run(*arguments)).strip()

    def _stand(self, tree: str, commit: str = "") -> Snapshot:
        return Snapshot(tree, commit, self.git.trees.listed("-r", "-t", tree))

    def here(self, snapshot: Snapshot) -> tuple[str, list[str]]:
        """Return a tree of those files of a snapshot that are here, and the paths that a partial clone lacks."""
        blobs = {path: one.oid for path, one in snapshot.entries.items() if one.type == "blob"}
        held = self.sizes(blobs.values()) if self.git.is_partial else {}
        away = [path for path, blob in blobs.items() if blob not in held] if held else []
        if not away:
            return snapshot.tree, []
        self.git.run("read-tree", snapshot.tree)
        self.git.run("update-index", "--force-remove", "-z", "--stdin", data=os.fsencode("\0".join([*away, ""])))
        return self._line("write-tree"), away

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the size of each object that is here."""
        wanted = set(ids)
        asked = sorted(wanted - self._sizes.keys())
        if asked:
            for line in self._checked(asked):
                name, _, rest = line.partition(" ")
                self._sizes[name] = int(rest.rpartition(" ")[2]) if rest.startswith("blob ") else -1
        return {one: self._sizes[one] for one in wanted if self._sizes.get(one, -1) >= 0}

    def _checked(self, ids: Sequence[str]) -> list[str]:
        """Return what git tells of objects; at one that a partial clone left out it ends, so these are not asked."""
        try:
            return self._lines("cat-file", "--batch-check", asked=ids)
        except GitFailed:
            walk = ("rev-list", "--objects", "--no-walk=unsorted", "--ignore-missing", "--missing=allow-any", "--stdin")
            here = {line.partition(" ")[0] for line in self._lines(*walk, asked=ids)}
            return self._lines("cat-file", "--batch-check", asked=[one for one in ids if one in here])

    def _lines(self, *arguments: str, asked: Iterable[str]) -> list[str]:
        told = self.git.run(*arguments, data="".join(f"{one}\n" for one in asked).encode())
        return os.fsdecode(told).splitlines()

    def contents(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of each blob that is here and not too large."""
        wanted = set(ids)
        asked = [one for one, size in self.sizes(wanted).items() if size <= LARGEST and one not in self._contents]
        self._contents.update(zip(asked, self.git.objects(asked), strict=True))
        return {one: data for one in wanted if (data := self._contents.get(one)) is not None}

    def has(self, blob: str) -> bool:
        """Tell whether a blob is here."""
        return (self._sizes[blob] if blob in self._sizes else self.sizes([blob]).get(blob, -1)) >= 0

    def is_folder(self, oid: str) -> bool:
        """Tell whether an object is here and a folder."""
        return self.git.answer("cat-file", "-t", oid) == "tree"

    def content(self, blob: str) -> bytes | None:
        """Return the bytes of a blob that is here and not too large."""
        return self._contents[blob] if blob in self._contents else self.contents([blob]).get(blob)

    def _at_path(self, commit: str, path: str) -> str:
        """Return the id of what was at a path of a commit; nothing where nothing was, or the commit is not here."""
        entry = self.git.trees.at(commit, path).get(path) if self.git.commit(commit) else None
        return entry.oid if entry else ""

    def between(self, pair: tuple[str, str]) -> tuple[Numbers, ...] | None:
        """Return the hunks between two texts; None where they cannot be compared."""
        return self._hunks[pair] if pair in self._hunks else self.hunks([pair]).get(pair)

    def hunks(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[Numbers, ...]]:
        """Return the hunks between two texts each, for those pairs that can be compared; one git process for all.

        What differs at the ends of lines alone, in white space or in how they end, is no difference.
        """
        wanted = set(pairs)
        fresh = sorted(wanted - self._hunks.keys())
        held = self.contents(one for pair in fresh for one in pair)
        able = [pair for pair in fresh if all(one in held and not is_binary(held[one]) for one in pair)]
        if able:
            old, new = self._trees({f"{number:06}": pair[0] for number, pair in enumerate(able)},
                                   {f"{number:06}": pair[1] for number, pair in enumerate(able)})  # fmt: skip
            found = _parse(self.git.run(*DIFF, old, new))
            self._hunks.update({pair: tuple(found.get(number, ())) for number, pair in enumerate(able)})
        return {pair: self._hunks[pair] for pair in wanted if pair in self._hunks}

    def _trees(self, *sides: Mapping[str, str]) -> list[str]:
        """Make a tree of each mapping from file name to blob; return the ids."""
        told = "\n".join("".join(f"100644 blob {blob}\t{name}\n" for name, blob in side.items()) for side in sides)
        return self.git.run("mktree", "--batch", data=told.encode()).decode().split()

    def alike(self, lost: Sequence[str], candidates: Sequence[str]) -> dict[int, tuple[int, int]]:
        """Return, by git's own measure, number of the lost blob -> number of the most similar one and per cent."""
        here = self.sizes([*lost, *candidates])
        old = {f"a{number:06}": blob for number, blob in enumerate(lost) if here.get(blob, LARGEST + 1) <= LARGEST}
        new = {
            f"b{number:06}": blob for number, blob in enumerate(candidates) if here.get(blob, LARGEST + 1) <= LARGEST
        }
        if not old or not new:
            return {}
        told = self.git.run(
            "diff-tree", "-r", "-z", "--name-status", f"-M{SIMILAR}%", "-l0", *self._trees(old, new)
        ).decode().split("\0")  # fmt: skip
        return {int(one[1:]): (int(other[1:]), score) for score, one, other in _renames(told)}

    def removals(self, tip: str, paths: Collection[str]) -> dict[str, str]:
        """Return path -> the latest commit before a tip that took it, or a file below it, away; one process for all."""
        held = self._removals.setdefault(tip, {})
        asked = sorted(set(paths) - held.keys())
        if asked:
            held.update(dict.fromkeys(asked, ""))
            told = self.git.run(
                "log", "--format=%x01%H", "--diff-filter=D", "--no-renames", "--name-only", "-z", tip, "--", *asked
            )
            for part in os.fsdecode(told).split("\x01")[1:]:
                commit, *names = (name.lstrip("\n") for name in part.split("\0"))
                for name in names:
                    for path in (name, *map(str, PurePosixPath(name).parents)):
                        held[path] = held.get(path) or commit
        return {path: commit for path in paths if (commit := held[path])}

    def moved(self, before: str, after: str, path: str) -> str:
        """Return where a change moved a file, or most of those that it moved out of a folder; nothing if nowhere."""
        moved = self._moved(before, after)
        rests = [(new, old.removeprefix(path)) for old, new in moved.items() if old.startswith(f"{path}/")]
        ends = Counter(new.removesuffix(rest) for new, rest in rests if new.endswith(rest))
        return moved.get(path) or (max(ends, key=lambda end: ends[end]) if ends else "")

    def _moves(self, before: str, after: str) -> dict[str, str]:
        """Return old -> new path of what a change moved: files alike, or where a partial clone lacks one, the same."""
        looks = (self.git.answer("diff-tree", "-r", "-z", "--name-status", f"-M{share}%", before, after)
                 for share in (SIMILAR, SAME))  # fmt: skip
        told = next((look for look in looks if look is not None), "")
        return {one: other for _, one, other in _renames(told.split("\0"))}

    def names(self, tree: str) -> list[str]:
        """Return the paths of all files in a tree, by its id or as COMMIT:FOLDER; none where it is not here."""
        told = self.git.answer("ls-tree", "-r", "-z", "--name-only", tree) or ""
        return [name for name in told.split("\0") if name]

    def holding(self, tree: str, text: str, *, partly: bool = False) -> list[str]:
        """Return the paths of a tree's text files that have a text in one of their lines; partly: of those here."""
        return grep.files(self.git, tree, "", [text], binary=False, partly=partly)


@contextmanager
def reading(git: Git) -> Iterator[Reader]:
    """Yield what reads files at any moment; what it makes lies in a folder that is thrown away."""
    own = Git(git.start)
    with scratch.folder() as folder:
        own.extra = {**scratch.variables(own, Path(folder)), "GIT_NO_LAZY_FETCH": "1"}
        try:
            yield Reader(own, Path(folder))
        finally:
            own.close()


def is_binary(data: bytes) -> bool:
    """Tell what git tells: a text has no NUL byte near its beginning."""
    return b"\0" in data[:SNIFFED]


def _files(listed: bytes, top: Path) -> Iterator[bytes]:
    """Yield those of the listed names that are files or links, as git takes them."""
    for name in listed.split(b"\0"):
        place = top / os.fsdecode(name)
        if name and (place.is_symlink() or place.is_file()):
            yield name + b"\0"


def _parse(told: bytes) -> dict[int, list[Numbers]]:
    """Return number of the file -> its hunks; without context no line of a content begins like these."""
    found: dict[int, list[Numbers]] = {}
    current: list[Numbers] = []
    for line in told.split(b"\n"):
        if line.startswith(b"diff --git a/"):
            current = found.setdefault(int(line[13:19]), [])
        elif line.startswith(b"@@ ") and (match := HUNK.match(line)):
            start, count, new_start, new_count = match.groups()
            current.append((int(start), int(count or 1), int(new_start), int(new_count or 1)))
    return found


def _renames(told: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield similarity, old and new path of each rename that `--name-status -z` tells."""
    parts = iter(told)
    for letter in parts:
        if letter.startswith("R"):
            yield int(letter[1:] or 0), next(parts), next(parts)
        elif letter:
            next(parts, "")
