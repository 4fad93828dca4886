"""Merging two histories of a ledger without a work tree: the ledger's folder by git's rules, code from one side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from memento_git.errors import Moved, Refused
from memento_git.ledger import codec, layout, scratch, tree_diff
from memento_git.ledger.commits import is_cut_off
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.journal import Path3
from memento_git.ledger.trees import Entry
from memento_git.model.enumeration import some

SHOWN: Final = 5
PLAIN: Final = "100644"
OURS: Final = "2"
THEIRS: Final = "3"


class MergeConflict(Moved):
    token = "merge_conflict"
    sentence = "changed on both sides in ways that do not merge: {files}"
    hint_ = "merge by hand: git pull --no-rebase {remote!q} {branch!q}; then memento sync"


class CodeDiverged(Moved):
    token = "code_diverged"
    sentence = "code changed on both sides, and Memento merges no code: {files}"
    hint_ = "merge it yourself: git pull --no-rebase {remote!q} {branch!q}; then memento sync"


class HistoriesUnrelated(Refused):
    token = "histories_unrelated"
    sentence = "the branch here and {branch} on {remote} have no commit in common"
    hint_ = "check that the remote is the right one: git remote -v"


class HistoryTooShort(Refused):
    token = "history_too_short"
    sentence = "this shallow clone does not reach back to where it and {branch} on {remote} parted"
    hint_ = "git fetch --deepen=100 {remote!q} {branch!q}, or git fetch --unshallow {remote!q}; then memento sync"


class Incoming(NamedTuple):
    """What a commit changes against another: paths of the ledger, and whether only its plain files."""

    ledger: list[Path3]
    plain: bool


def incoming(git: Git, old: str, new: str) -> Incoming:
    """Return what one commit changes against another; code is only looked at, not listed."""
    changes, plain = [], _code(git.entries(old)) == _code(git.entries(new))
    for one in tree_diff.raw(git, old, new, "--", layout.FOLDER):
        plain = plain and one.mode in (PLAIN, tree_diff.ABSENT)
        changes.append(Path3(one.path, one.old or None, one.new or None))
    return Incoming(changes, plain)


def _code(root: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries of a commit's top folder but for the ledger's."""
    return {path: entry for path, entry in root.items() if path != layout.FOLDER}


def merge(git: Git, ours: str, theirs: str, common: Sequence[str], where: Mapping[str, str]) -> str:
    """Return the tree that two commits merge to; refuse where code on both sides, or a text, stands against it.

    Code is taken whole from the side that changed it, so the cost does not depend on its size.
    """
    if not common:
        if is_cut_off(git):
            raise HistoryTooShort(**where)
        raise HistoriesUnrelated(**where)
    roots = [git.entries(commit) for commit in (*common, ours, theirs)]
    code = _side([_code(root) for root in roots])
    if code is None:
        apart = _changed(git, common[0], ours) | _changed(git, common[0], theirs)
        raise CodeDiverged(files=some(sorted(apart), SHOWN), **where)
    tree = _ledger(git, [_folder(git, root, where) for root in roots], (ours, theirs), where)
    entries = {**code, layout.FOLDER: Entry("040000", "tree", tree)}
    lines = "".join(f"{entry.mode} {entry.type} {entry.oid}\t{path}\0" for path, entry in entries.items())
    return git.run("mktree", "-z", data=os.fsencode(lines)).decode().strip()


def _side(codes: list[dict[str, Entry]]) -> dict[str, Entry] | None:
    """Return the code of the side that changed it, given that of the bases and both sides; None where both did."""
    *before, mine, other = codes
    if mine == other or all(other == one for one in before):
        return mine
    return other if all(mine == one for one in before) else None


def _changed(git: Git, old: str, new: str) -> set[str]:
    """Return the paths of code in which two commits differ."""
    names = tree_diff.told(git, "--name-only", old, new)
    return {name for name in names if not name.startswith(f"{layout.FOLDER}/")}


def _folder(git: Git, root: Mapping[str, Entry], where: Mapping[str, str]) -> str:
    """Return the tree of a commit's ledger, the empty one where there is none."""
    entry = root.get(layout.FOLDER)
    if entry is None:
        return git.run("mktree").decode().strip()
    if entry.type != "tree":
        raise MergeConflict(files=layout.FOLDER, **where)
    return entry.oid


def _ledger(git: Git, trees: Sequence[str], sides: tuple[str, str], where: Mapping[str, str]) -> str:
    """Return the merged tree of the ledger's folder, made in an index of its own as git's `resolve` strategy does."""
    with scratch.folder() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.run("read-tree", "-i", "-m", "--aggressive", *trees, extra=index)
        stages = _unmerged(git, index)
        merged = {path: _text(git, Path(folder), path, found, sides) for path, found in stages.items()}
        if conflicts := {f"{layout.FOLDER}/{path}" for path, blob in merged.items() if not blob}:
            raise MergeConflict(files=some(sorted(conflicts), SHOWN), **where)
        lines = "".join(f"{PLAIN} {blob}\t{path}\0" for path, blob in merged.items())
        if lines:
            git.run("update-index", "-z", "--index-info", data=os.fsencode(lines), extra=index)
        return git.run("write-tree", extra=index).decode().strip()


def _unmerged(git: Git, index: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return path -> stage -> blob of what an index could not merge."""
    stages: dict[str, dict[str, str]] = {}
    for line in os.fsdecode(git.run("ls-files", "-u", "-z", extra=index)).split("\0")[:-1]:
        head, _, path = line.partition("\t")
        _, oid, stage = head.split(" ")
        stages.setdefault(path, {})[stage] = oid
    return stages


def _text(git: Git, folder: Path, path: str, stages: Mapping[str, str], sides: tuple[str, str]) -> str:
    """Return the blob that a text which both sides changed merges to; nothing where it does not, or could not be read.

    What people do not write, events and evidence, is never merged by its lines.
    """
    full = f"{layout.FOLDER}/{path}"
    if full != layout.CONFIG and not path.endswith(".md"):
        return ""
    if not {OURS, THEIRS} <= set(stages):
        return _kept(git, full, stages, sides)
    names = [folder / stage for stage in (OURS, "1", THEIRS)]
    found = git.objects([stages[name.name] for name in names if name.name in stages])
    contents = dict(zip([name for name in names if name.name in stages], found, strict=True))
    for name in names:
        name.write_bytes(contents.get(name) or b"")
    try:
        data = git.run("merge-file", "-p", "-q", *(str(name) for name in names))
    except GitFailed:
        return ""
    if codec.check(full, data):
        return ""
    return git.run("hash-object", "-w", "--no-filters", "--stdin", data=data).decode().strip()


def _kept(git: Git, path: str, stages: Mapping[str, str], sides: tuple[str, str]) -> str:
    """Return the text that one side changed and the other put into an archive: it is kept beside the archive."""
    ours, theirs = sides
    stage, archiver = (OURS, theirs) if OURS in stages else (THEIRS, ours)
    run = layout.run_of_path(path)
    archived = run and git.entries(archiver, f"{layout.ARCHIVE}/{run}")
    return stages.get(stage, "") if archived else ""
