"""The code as it is in the work tree or at a commit, by git's own ids, without the ledger's folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

from memento_git.errors import Refused
from memento_git.ledger import cache
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.reader import AT_ONCE, Stored
from memento_git.ledger.trees import mode_of, rows

FOLDER: Final = b".memento"
MOST_NAMES: Final = 50
MOST_FILES: Final = 1000
MOST_BYTES: Final = 32 * 1024 * 1024
LONGEST_NAME: Final = 1024
STEP: Final = 500
FIRST: Final = 50
KEPT: Final = "code"
COMMIT: Final = "git commit -a -m MESSAGE"


class CodeUnknown(Refused):
    token = "code_unknown"
    sentence = "git cannot name the code as it is: {reason}"
    hint_ = "fix what git reports (such as a file without read permission): git status; then run the command again"


class PathUnknown(Refused):
    token = "path_unknown"
    sentence = "{path} is not tracked by git"
    hint_ = "git add it first, or leave --covers away to cover all code"


class PathOfLedger(Refused):
    token = "path_of_ledger"
    sentence = "{path} is the ledger's, which is no part of the code"
    hint_ = "name what the command is about, or leave --covers away to cover all code"


def without_ledger(tree: bytes, object_format: str) -> str:
    """Return the id that a top-level tree would have without `.memento`, had git written it."""
    import hashlib

    kept = ((mode_of(octal).lstrip("0").encode(), name, oid) for octal, name, oid in rows(tree, object_format)
            if name != FOLDER)  # fmt: skip
    body = b"".join(b"%b %b\0%b" % row for row in kept)
    return hashlib.new(object_format, b"tree %d\0" % len(body) + body).hexdigest()


def history(git: Git, most: int, *revisions: str) -> Iterator[tuple[str, str]]:
    """Yield the latest commits, at most so many, newest first, with the trees of their code.

    Few are held at once, and what is asked of the latest alone is told without a look at the others.
    """
    for skip, count in ((0, FIRST), (FIRST, most - FIRST)):
        told = git.run("log", f"--skip={skip}", f"--max-count={count}", "--format=%H %T", *revisions)
        pairs = [line.split(" ") for line in os.fsdecode(told).splitlines()]
        for start in range(0, len(pairs), STEP):
            step = pairs[start : start + STEP]
            for (commit, _), data in zip(step, git.objects(tree for _, tree in step), strict=True):
                if data is not None:
                    yield commit, without_ledger(data, git.object_format)
        if len(pairs) < count:
            return


def tree_at(git: Git, commit: str) -> str:
    """Return the tree of the code of a commit."""
    return without_ledger(git.objects([f"{commit}^{{tree}}"])[0] or b"", git.object_format)


def _kept(git: Git, commit: str) -> str:
    """Return the tree of the code of a commit, kept under its tree: what reckons it takes longer to be loaded."""
    top = git.stored([f"{commit}^{{tree}}"])[0] or Stored("", "tree", b"")
    kept: str | None = cache.read(git, KEPT, top.oid)
    if kept is None:
        kept = without_ledger(top.data, git.object_format)
        cache.write(git, KEPT, top.oid, kept)
    return kept


def code_at(git: Git, commit: str, paths: Sequence[str] = ()) -> dict[str, Any]:
    """Return the code of a commit: its tree, and the ids of the given paths."""
    found: dict[str, Any] = {"tree": _kept(git, commit)}
    if paths:
        entries = git.entries(commit, *map(_plain, paths))
        found["paths"] = {path: entries[_plain(path)].oid for path in paths if _plain(path) in entries}
    return found


def _plain(path: str) -> str:
    return path.rstrip("/")


def code_now(git: Git, paths: Sequence[str] = (), known: Collection[str] = ()) -> dict[str, Any]:
    """Return the code of the work tree: tracked files as one tree, untracked ones beside it, first those `known`.

    Of the given paths it has those that are tracked. Untracked files that nobody may read are counted and left out.
    Works on a copy of the index and a throw-away object store, so nothing of the user's changes or stays behind.
    """
    with _reading(git) as reader:
        tracked = reader.tracked()
        head = git.head()[0]
        state: dict[str, Any] = {"tree": reader.code_id(tracked)}
        if paths:
            state["paths"] = reader.path_ids(tracked, paths)
        state["dirty"] = head is None or tree_at(git, head) != state["tree"]
        state |= {"head": head, "absent": reader.absent or None}
        if reader.untracked:
            paths_found = sorted(reader.untracked, key=lambda path: (path not in known, path))
            state |= reader.with_untracked(paths_found, known)
    return {key: value for key, value in state.items() if value not in (None, {})}


def code_as_seen(git: Git, seen: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the code of the work tree with the paths and untracked files that evidence saw."""
    codes = list(seen)
    paths = sorted({path for code in codes for path in code.get("paths", ())})
    return code_now(git, paths, known={path for code in codes for path in code.get("untracked", ())})


def code_to_commit(git: Git, seen: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the code that a commit of all edits would have, with the paths that evidence saw.

    It is nothing where there are no edits, or git cannot name the code.
    """
    try:
        code = code_as_seen(git, seen)
    except CodeUnknown:
        return {}
    return {key: code[key] for key in ("tree", "paths") if key in code} if code["dirty"] else {}


def is_fit(path: str) -> bool:
    """Tell whether the ledger can hold a file's name as text, and may: it holds no secret."""
    from memento_git.model.types import text_problems
    from memento_git.texts.secrets import find_secrets

    return (
        len(path) <= LONGEST_NAME
        and "\t" not in path
        and not any(text_problems(path, lines=False))
        and not find_secrets(path)
    )


def _nested(folder: Path) -> tuple[str, str]:
    """Return the trees of a submodule: that of its tracked files as they lie, and that of its commit."""
    with _reading(Git(folder)) as reader:
        head = reader.git.object_id("HEAD^{tree}")
        return reader.code_id(reader.tracked()), reader.code_id(head) if head else ""


@contextmanager
def _reading(git: Git) -> Iterator[_Reader]:
    from memento_git.ledger import scratch as scratch_space

    with scratch_space.folder() as place:
        yield _Reader(git, Path(place))


class _Reader:
    def __init__(self, git: Git, scratch: Path) -> None:
        from memento_git.ledger import scratch as scratch_space

        self.git = git
        self.index = scratch / "index"
        self.extra = scratch_space.variables(git, scratch)
        self.untracked: list[str] = []
        self.absent = 0

    def run(self, *arguments: str, data: bytes = b"") -> str:
        try:
            return os.fsdecode(self.git.run(*arguments, data=data, extra=self.extra))
        except GitFailed as failure:
            raise CodeUnknown(reason=failure.facts["reason"]) from None

    def tracked(self) -> str:
        from memento_git.ledger import scratch as scratch_space

        if not scratch_space.copy_index(self.git, self.index):
            self.run("read-tree", "--empty")
        try:
            beside = scratch_space.add_tracked(self.git, self.extra, ".", untracked=True)
        except GitFailed as failure:
            raise CodeUnknown(reason=failure.facts["reason"]) from None
        self.untracked, self.absent = beside.untracked + beside.laid, beside.absent
        top = self.git.top or Path()
        for path in (path for path in beside.submodules if (top / path / ".git").exists()):
            tree, commits = _nested(top / path)
            if tree != commits:
                self.run("update-index", "--cacheinfo", f"{scratch_space.SUBMODULE},{tree},{path}")
        return self.run("write-tree").strip()

    def code_id(self, tree: str) -> str:
        head = self.git.stored(["HEAD^{tree}"])[0]
        if head is None or head.oid != tree:
            return without_ledger(self.git.run("cat-file", "tree", tree, extra=self.extra), self.git.object_format)
        return without_ledger(head.data, self.git.object_format)

    def path_ids(self, tree: str, paths: Sequence[str]) -> dict[str, str]:
        """Return the ids of what a tree has at some paths, as `code_at` does of a commit."""
        found: dict[str, str] = {}
        asked = [_plain(path) for path in paths]
        for start in range(0, len(asked), AT_ONCE):
            told = self.run("ls-tree", "-z", "-t", "--full-tree", tree, "--", *asked[start : start + AT_ONCE])
            heads = [line.partition("\t") for line in told.split("\0")[:-1]]
            found |= {path: head.split(" ")[2] for head, _, path in heads}
        return {path: found[_plain(path)] for path in paths if _plain(path) in found}

    def with_untracked(self, paths: Sequence[str], known: Collection[str]) -> dict[str, Any]:
        """Return the ids of untracked files, and the tree with all of them.

        There is no such tree where they are too many or too large, or one may not be read.
        """
        top = self.git.top or Path()
        locked = {path for path in paths if _is_locked(top / path)}
        sizes = {path: size for path in paths if path not in locked and (size := _size(top / path)) is not None}
        fit = (path for path in sizes if path in known or is_fit(path))
        named = _within([*islice(fit, min(max(MOST_NAMES, len(known)), MOST_FILES))], sizes)
        whole = not locked and len(sizes) <= MOST_FILES and sum(sizes.values()) <= MOST_BYTES
        self.add([*sizes] if whole else named)
        ids = self.ids(sorted(named))
        return {
            "untracked": ids,
            "untracked_more": len(paths) - len(ids) or None,
            "full": self.code_id(self.run("write-tree").strip()) if whole else None,
        }

    def add(self, files: Sequence[str]) -> None:
        """Add files to the index; one that is gone again by now is passed over."""
        if files:
            from memento_git.ledger import scratch as scratch_space

            data = os.fsencode("\0".join(files) + "\0")
            self.run("update-index", "--add", "--replace", "--remove", "-z", "--stdin", data=data)
            scratch_space.add_expanded(self.git, self.extra)

    def ids(self, files: Sequence[str]) -> dict[str, str]:
        """Return the ids of files that were added."""
        listed = self.run("ls-files", "--stage", "-z", "--", *files).split("\0") if files else []
        return {line.partition("\t")[2]: line.split(" ")[1] for line in listed if line}


def _size(path: Path) -> int | None:
    """Return the size of a file; nothing of what is none, or gone by now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _is_locked(path: Path) -> bool:
    """Tell whether a file is there that git may not read; of a link it reads where it leads."""
    return not os.access(path, os.R_OK) and os.path.lexists(path) and not path.is_symlink()


def _within(files: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """Return those of the files, from the first, that are not too large together."""
    chosen, room = [], MOST_BYTES
    for path in files:
        if sizes[path] <= room:
            chosen.append(path)
            room -= sizes[path]
    return chosen
