"""Taking paths of the ledger out of a branch's history: commits that held them, and all after them, are made anew.

git's own fast-export and fast-import do it, over a stream in which the lines of these paths are missing. Nothing but
the branch is moved, by compare-and-swap, after the new history was held against the old one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from memento_git.errors import Broken, Refused
from memento_git.ledger import atomic_file, checkouts, git_status, layout, lock, publish, tree_diff, worktree
from memento_git.ledger.commits import MARK, is_cut_off
from memento_git.ledger.git import Git
from memento_git.ledger.journal import Path3
from memento_git.ledger.publish import SCRATCH
from memento_git.model.enumeration import some
from memento_git.model.ids import is_id

BACKUPS: Final = "refs/memento/purged"
BEGUN: Final = "memento/purging"  # in the git directory that worktrees share: a file for each note
SIGNATURE: Final = (b"\ngpgsig ", b"\ngpgsig-sha256 ")


def begin(git: Git, note: str, event: str) -> None:
    """Write down that a note is purged, and the file that says so once it has left the ledger."""
    atomic_file.write(_begun(git) / note, event.encode(), durable=True)


def finish(git: Git, notes: Iterable[str]) -> None:
    """Forget that notes were being purged; where none is any more, no command has to look."""
    for note in notes:
        (_begun(git) / note).unlink(missing_ok=True)
    with suppress(OSError):  # as where another one is
        _begun(git).rmdir()


def broken_off(git: Git) -> list[str]:
    """Say which notes left the ledger by a purge that did not come to the history of the branch."""
    begun = {place.name: place.read_text() for place in sorted(_begun(git).glob("note_*")) if is_id(place.name, "note")}
    found = [note for note, event in begun.items() if git.answer("cat-file", "-e", f"HEAD:{event}") is not None]
    told = f"a purge of {' and '.join(found)} was broken off: the branch's history still has what it held; "
    return [f"{told}go on: memento purge {' '.join(found)} --yes"] if found else []


def _begun(git: Git) -> Path:
    return git.common_dir / BEGUN


class ShallowHistory(Refused):
    token = "shallow_history"
    sentence = "this clone is shallow: what is cut off cannot be rewritten"
    hint_ = "fetch the rest first: git fetch --unshallow"


class NoBranch(Refused):
    token = "no_branch"
    sentence = "HEAD is detached, so there is no branch whose history could be rewritten"
    hint_ = "go to the branch first: git switch BRANCH"


class BranchElsewhere(Refused):
    token = "branch_elsewhere"
    sentence = "the branch {branch} is checked out in another worktree too: {path}"
    hint_ = "remove that worktree, or switch it to another branch: git worktree list"


class PathEdited(Refused):
    token = "purge_edited"
    sentence = "these files have edits that are not committed, and purging would drop them: {paths}"
    hint_ = "put them back: git checkout HEAD -- PATH"


class HistoryDiffers(Broken):
    token = "purge_failed"
    sentence = "the rewritten history is not what it should be ({problem}); nothing was changed"
    hint_ = "memento doctor says more of this repository; git-filter-repo can remove the paths too"


class Reach(NamedTuple):
    """What a purge rewrites, and what it cannot reach: other refs, and branches of remotes with the commit of each."""

    branch: str
    head: str
    paths: list[str]
    commits: list[str]
    signed: int
    elsewhere: list[str]
    pushed: dict[str, str]


class Rewritten(NamedTuple):
    """The branch's new commit, and the ref that keeps the old one."""

    head: str
    backup: str


def history_of_notes(git: Git) -> set[str]:
    """Return every path of notes that any commit of HEAD's history has touched."""
    told = git.run(
        "log", "--format=", "--name-only", "--no-renames", "--full-history", "--diff-merges=separate", "-z",
        "HEAD", "--", layout.KNOWLEDGE,
    )  # fmt: skip
    return {path for path in os.fsdecode(told).replace("\n", "\0").split("\0") if path}


def survey(git: Git, paths: Collection[str]) -> Reach:
    """Return what taking these paths out of the branch would come to; refuse where it cannot be done."""
    head, ref = git.head()
    if head is None or not ref.startswith("refs/heads/"):
        raise NoBranch
    if is_cut_off(git):
        raise ShallowHistory
    branch = ref.removeprefix("refs/heads/")
    _refuse_elsewhere(git, ref, branch)
    wanted = sorted(paths)
    if real := git_status.edited(git, [one for one in git_status.changes(git, layout.FOLDER) if one.path in wanted]):
        raise PathEdited(paths=some([one.path for one in real], 5))
    commits = _descendants(git, head, set(_lines(git, "rev-list", "--full-history", head, "--", *wanted)))
    others = [name for name in _holding(git, wanted) if name != ref]
    return Reach(
        branch, head, wanted, commits, _signed(git, commits),
        [name for name in others if not name.startswith("refs/remotes/")],
        {
            name.removeprefix("refs/remotes/"): git.commit_of(name)
            for name in others if name.startswith("refs/remotes/")
        },
    )  # fmt: skip


def _lines(git: Git, *arguments: str) -> list[str]:
    return os.fsdecode(git.run(*arguments)).split("\n")[:-1]


def _refuse_elsewhere(git: Git, ref: str, branch: str) -> None:
    """Refuse where another work tree stands on the branch: its index would not know what happened.

    Of this one git names the git directory where core.worktree leads elsewhere, as in a submodule.
    """
    place = str(git.git_dir).removesuffix("/.git")
    here = {os.path.realpath(git.top or place), os.path.realpath(place)}
    for one in checkouts.worktrees(git):
        if one.get("branch") == ref and os.path.realpath(path := one["worktree"]) not in here:
            raise BranchElsewhere(branch=branch, path=path)


def _descendants(git: Git, head: str, touching: set[str]) -> list[str]:
    """Return the commits that must be made anew, the oldest first: those that touch the paths, and all after them."""
    anew: dict[str, None] = {}
    for line in _lines(git, "rev-list", "--parents", "--topo-order", "--reverse", head):
        commit, *parents = line.split()
        if commit in touching or any(parent in anew for parent in parents):
            anew[commit] = None
    return list(anew)


def _signed(git: Git, commits: Sequence[str]) -> int:
    held = (data or b"" for data in git.objects(commits))
    return sum(any(sign in data.partition(b"\n\n")[0] for sign in SIGNATURE) for data in held)


def _holding(git: Git, paths: Collection[str]) -> list[str]:
    """Return the refs whose history has any of these files, others of their records, or copies of them."""
    records = {place.of for path in paths if (place := layout.place_of(path))}
    found = [(*one, one[1] in paths or _is_of(one[1], records)) for one in _everywhere(git)]
    copies = {blob for _, _, blobs, is_theirs in found if is_theirs for blob in blobs}
    commits = {commit for commit, _, blobs, is_theirs in found if is_theirs or not copies.isdisjoint(blobs)}
    named = [f"--contains={commit}" for commit in sorted(commits)]
    return _lines(git, "for-each-ref", "--format=%(refname)", *named) if named else []


def _everywhere(git: Git) -> Iterator[tuple[str, str, set[str]]]:
    """Yield commit, path and blobs of each change of a note in any ref's history.

    A squash, a cherry-pick or an earlier purge has the same files in other commits.
    """
    told = git.run(
        "log", "--all", "--full-history", "--diff-merges=combined", "--no-renames", "--raw", "--no-abbrev", "-z",
        f"--format={MARK}%H", "--", layout.KNOWLEDGE,
    )  # fmt: skip
    for part in os.fsdecode(told).split(MARK)[1:]:
        commit, *words = part.split("\0")
        for change, path in zip(words[::2], words[1::2], strict=False):
            yield commit, path, {word for word in change.split() if len(word) == len(git.zero)} - {git.zero}


def _is_of(path: str, records: Collection[str]) -> bool:
    """Tell whether a file is of one of these records; what a redaction leaves of it is not looked for."""
    place = layout.place_of(path)
    return place is not None and place.of in records and place.do != "redacted"


def rewrite(git: Git, paths: Callable[[], Collection[str]], stamp: str) -> Rewritten:
    """Do it: keep the old history under a backup ref, and move the branch to one without the paths.

    `paths` is asked once no other writer can come between.
    """
    publish.guard(git)
    with lock.held(worktree.lock_path(git)):
        publish.guard(git)
        worktree.mend_held(git, publish.INDEX_TIMEOUT)
        reach = survey(git, paths())
        made = _anew(git, reach)
        _compare(git, reach, made)
        backup = f"{BACKUPS}/{stamp}-{reach.head[:12]}"
        git.run_apart("update-ref", "-m", "memento: purge", backup, reach.head, git.zero)
        held = git.trees.listed("-r", reach.head, *reach.paths)
        gone = [Path3(path, entry.oid, None) for path, entry in held.items()]
        base = publish.Base(reach.head, f"refs/heads/{reach.branch}")
        try:
            with publish.holding_index(git) as index:
                publish.land(git, publish.adopt(git, base, made, "memento: purge", gone), index)
        except BaseException:
            if not publish.has_landed(git, base, made):
                git.run_apart("update-ref", "-d", backup, reach.head)
            raise
        return Rewritten(made, backup)


def _anew(git: Git, reach: Reach) -> str:
    """Return the branch's last commit as it is without the paths; no ref points to it yet."""
    known = set(reach.commits)
    parents = (line.split() for line in _lines(git, "rev-list", "--parents", reach.head))
    bases = {one for commit, *before in parents if commit in known for one in before if one not in known}
    stream = git.run(
        "fast-export", "--no-data", "--reencode=no", "--reference-excluded-parents", "--signed-tags=strip",
        f"--refspec=refs/heads/{reach.branch}:{SCRATCH}", f"refs/heads/{reach.branch}", *(f"^{one}" for one in bases),
    )  # fmt: skip
    kept: list[bytes] = []
    last = b""
    for part in _parts(stream, {path.encode() for path in reach.paths}):
        last = part if part.startswith(b"mark ") else last
        kept.append(part)
    mark = last.split()[1]
    kept.append(b"get-mark %s\nreset %s\nfrom %s\n\ndone\n" % (mark, SCRATCH.encode(), git.zero.encode()))
    done = git.run("fast-import", "--quiet", "--done", "--force", "--date-format=raw-permissive", data=b"".join(kept))
    return done.decode().split()[-1]


def _parts(stream: bytes, paths: Collection[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream and the texts in it, without the lines that write or remove one of the paths."""
    at = 0
    while at < len(stream):
        end = stream.find(b"\n", at) + 1 or len(stream)
        line = stream[at:end]
        if line.startswith(b"data "):
            end += int(line[5:])
            yield stream[at:end]
        elif not (line.startswith((b"M ", b"D ")) and _path_of(line) in paths):
            yield line
        at = end


def _path_of(line: bytes) -> bytes:
    """Return the path that a line of a stream is about; the ledger's own paths are never quoted."""
    return line.rstrip(b"\n").split(b" ", 1 if line.startswith(b"D ") else 3)[-1]


def _compare(git: Git, reach: Reach, made: str) -> None:
    """Refuse a new history that is not the old one without the paths."""
    if strays := {*tree_diff.told(git, "--name-only", reach.head, made)} - set(reach.paths):
        raise HistoryDiffers(problem=f"{min(strays)} differs")
    if _lines(git, "rev-list", "--full-history", made, "--", *reach.paths):
        raise HistoryDiffers(problem="a path is still in it")
    before, after = _commits(git, reach.head), _commits(git, made)
    if before != after:
        raise HistoryDiffers(problem=f"it has {len(after)} different commits, not {len(before)}")


def _commits(git: Git, head: str) -> set[bytes]:
    """Return author, committer, their times and the message of each commit of a history.

    Two may become one: the copy of a commit on a branch that was purged before, and merged since.
    """
    form = "--format=%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B"
    return set(git.run("log", "-z", form, head).split(b"\0"))
