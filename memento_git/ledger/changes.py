"""What differs between two trees below `.memento`: git's own list, and who committed it."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger import layout
from memento_git.ledger.difference import ABSENT
from memento_git.ledger.environment import environment
from memento_git.ledger.git import OPTIONS
from memento_git.ledger.listed import FILE_MODES
from memento_git.ledger.names import SHORT_ID
from memento_git.ledger.trees import TYPES
from memento_git.model.enumeration import some

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from memento_git.ledger.git import Git

RECORDS: Final = (f"{layout.RUNS}/", f"{layout.ARCHIVE}/", f"{layout.KNOWLEDGE}/")
MERGING: Final = "MERGE_HEAD"
SHOWN: Final = 5


class IndexUnmerged(Refused):
    """An index of which git makes no commit."""

    token = "index_unmerged"
    sentence = "these files are not merged yet: {paths}"
    hint_ = "resolve them, git add them, then run this again"


class Changed(NamedTuple):
    """One path that differs: the mode and blob of both sides, nothing where it is absent."""

    path: str
    old_mode: str
    mode: str
    old: str
    new: str

    @property
    def is_added(self) -> bool:
        return not self.old

    @property
    def is_removed(self) -> bool:
        return not self.new


class Authored(NamedTuple):
    """A commit of the range: its author, since when (seconds since 1970), and the ledger files that it added."""

    commit: str
    author: str
    paths: tuple[str, ...]
    at: int = 0


class Written(NamedTuple):
    """Bytes that a commit gave a file: what none of its parents has, or a merge that drops what a side made of it.

    `at` is when its author wrote it, in seconds since 1970, also where it was picked for the branch later.
    """

    commit: str
    author: str
    blob: str
    is_new: bool
    at: int = 0


class Story(NamedTuple):
    """What the commits of a range did to ledger files.

    `authored` are those that added some; `touched` is path -> the first commit that changed it or took it away, a merge
    that has not what one of its parents had among them; `taken` is path -> the last one that took it away; `came` is
    path -> the blobs that what was touched came with; `written` is path -> who gave it which bytes, parents first;
    `held` is path -> all blobs that what was touched ever was.
    """

    authored: list[Authored]
    touched: dict[str, str]
    taken: dict[str, str]
    came: dict[str, set[str]]
    written: dict[str, list[Written]]
    held: dict[str, set[str]]


class Step(NamedTuple):
    """What one commit did to one path, seen from one of its parents."""

    commit: str
    old: str
    new: str


NOTHING: Final = Story([], {}, {}, {}, {}, {})


def unchanged(start: Path, *, base: str = "", staged: bool = False) -> bool:
    """Tell, with few git calls, that no ledger file differs, nor one that policy may name; False where git cannot tell.

    `base...HEAD` is from the merge base on; `staged` is the index that GIT_INDEX_FILE names against HEAD: one git call,
    for a hook. What git warns of, a base whose name a tag has as well, or that has several merge bases, needs a closer
    look; so does a merge in progress, which may drop what its other side added.
    """
    if staged and (Path(os.environ.get("GIT_DIR") or start / ".git") / MERGING).exists():
        return False
    what = ["--cached"] if staged else [f"{base}...HEAD"]
    extra = {"GIT_LITERAL_PATHSPECS": "0", **index_of()} if staged else {"GIT_LITERAL_PATHSPECS": "0"}
    command = ["git", *OPTIONS, "-c", "core.warnAmbiguousRefs=true", "diff", "--quiet", "--no-ext-diff", *what]
    command += ["--ignore-submodules=none", "--", f":(top,icase){layout.FOLDER}", f":/{layout.TOP_ATTRIBUTES}"]
    if base.startswith("-") or SHORT_ID.fullmatch(base):
        return False
    try:
        done = subprocess.run(command, cwd=start, env=environment(extra), capture_output=True, check=False)
    except OSError:
        return False
    if done.returncode or b"warning: " in done.stderr:
        return False
    return staged or not (_was_touched(start, base) or _names_files(start))


def _was_touched(start: Path, base: str) -> bool:
    """Tell whether commits of a branch touched the ledger although it is as at the base: something was taken back."""
    command = ["git", *OPTIONS, "rev-list", "-1", "--full-history", f"{base}..HEAD", "--", f":/{layout.FOLDER}"]
    extra = {"GIT_LITERAL_PATHSPECS": "0"}
    done = subprocess.run(command, cwd=start, env=environment(extra), capture_output=True, check=False)
    return done.returncode != 0 or bool(done.stdout.strip())


def _names_files(start: Path) -> bool:
    """Tell whether policy may name files elsewhere that count, such as whose keys do."""
    command = ["git", *OPTIONS, "cat-file", "blob", f"HEAD:{layout.CONFIG}"]
    done = subprocess.run(command, cwd=start, env=environment(), capture_output=True, check=False)
    return b"signatures" in done.stdout or b"\\" in done.stdout


def index_of() -> dict[str, str]:
    """Return the index that a hook's caller names, as git takes it."""
    named = os.environ.get("GIT_INDEX_FILE", "")
    return {"GIT_INDEX_FILE": str(Path(named).absolute())} if named else {}


@contextmanager
def staged_tree(git: Git) -> Iterator[str]:
    """Yield the tree of the index; its new objects lie in a folder that is thrown away, with a copy of the index.

    `git write-tree` would write down in the index itself which trees it made.
    """
    import shutil
    import tempfile

    from memento_git.ledger import scratch

    with tempfile.TemporaryDirectory(prefix="memento-") as folder:
        git.close()
        extra = scratch.variables(git, Path(folder))
        real = Path(index_of().get("GIT_INDEX_FILE") or git.git_dir / "index")
        if real.exists():
            shutil.copyfile(real, extra["GIT_INDEX_FILE"])
        git.extra = extra
        try:
            if unmerged := git.run("ls-files", "--unmerged", "-z"):
                paths = {os.fsdecode(entry).partition("\t")[2] for entry in unmerged.split(b"\0")[:-1]}
                raise IndexUnmerged(paths=some(sorted(paths), SHOWN))
            yield os.fsdecode(git.run("write-tree")).strip()
        finally:
            git.close()
            git.extra = {}


def difference(git: Git, base: str, head: str) -> list[Changed]:
    """Return what differs below `.memento` between two trees, and whether git's attributes at the top do."""
    options = ("-r", "-z", "--no-renames", "--full-index", "--ignore-submodules=none")
    text = os.fsdecode(git.run("diff-tree", *options, base, head, "--", layout.FOLDER, layout.TOP_ATTRIBUTES))
    parts = iter(text.split("\0"))
    found = []
    for head_line in parts:
        if head_line:
            old_mode, mode, old, new, _ = head_line[1:].split(" ")
            absent = old_mode == ABSENT, mode == ABSENT
            found.append(Changed(next(parts), old_mode, mode, "" if absent[0] else old, "" if absent[1] else new))
    return found


def note_base(git: Git, base: str, head: str, found: Iterable[Changed]) -> None:
    """Let it be known what a base has in the ledger, from what its head has and what differs, without asking git."""
    told = {one.path: f"{one.old_mode} {TYPES.get(one.old_mode, 'blob')} {one.old}" if one.old else "" for one in found}
    told.pop(layout.TOP_ATTRIBUTES, None)
    git.trees.differs(head, base, told)


def differences(git: Git, bases: Sequence[str], head: str) -> tuple[list[Changed], dict[str, str]]:
    """Return what differs from what several bases come to together, and path -> blob of that, '' where nothing is.

    Of a record that is what one of them made of what they had in common, so that what came from any of them is nothing
    that the head did; of anything else what the first base has.
    """
    told = [{change.path: change for change in difference(git, base, head)} for base in bases]
    if len(bases) == 1:
        return [*told[0].values()], {}
    common = git.answer("merge-base", "--octopus", *bases)
    there = git.files(common) if common else {}
    found: list[Changed] = []
    known: dict[str, str] = {}
    for path in sorted({path for one in told for path in one}):
        change = next(one[path] for one in told if path in one)
        sides = [(one[path].old_mode, one[path].old) if path in one else (change.mode, change.new) for one in told]
        if path.startswith(RECORDS):
            before = there[path].oid if path in there else ""
            sides = [side for side in sides if side[1] != before] or sides
            known[path] = sides[0][1] if sides[0][0] in FILE_MODES else ""
        else:
            sides = sides[:1]
        if (change.mode, change.new) not in sides:
            found.append(change._replace(old_mode=sides[0][0], old=sides[0][1]))
    return found, known


def merging(git: Git) -> list[str]:
    """Return the commits that are being merged into HEAD."""
    try:
        return (git.git_dir / MERGING).read_text(encoding="ascii").split()
    except OSError:
        return []


def parents(git: Git, commit: str) -> list[str]:
    """Return the parents that a commit names, whether this clone has them or not."""
    head = (git.objects([commit])[0] or b"").partition(b"\n\n")[0]
    return [line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent ")]


def story(git: Git, bases: Iterable[str], head: str, nothing: Container[tuple[str, str]] = ()) -> Story:
    """Return what the commits from the bases to the head did, one by one; a squash leaves fewer of them.

    `nothing` are paths with blobs that count as no file there: who replaces one adds it.
    """
    told = git.run(
        "log", "--diff-merges=separate", "--full-history", "--topo-order", "--no-renames", "--ignore-submodules=none",
        "--raw", "--no-abbrev", "-z", "--format=%H %at %P%x00%an <%ae>",
        head, *(f"^{base}" for base in bases), "--", layout.FOLDER,
    )  # fmt: skip
    added: dict[tuple[str, str], list[list[str]]] = {}
    parents: dict[str, int] = {}
    dates: dict[str, int] = {}
    steps: dict[str, list[Step]] = {}
    parts = iter(os.fsdecode(told).split("\0"))
    commit = author = ""
    for part in (part.lstrip("\n") for part in parts):
        if part.startswith(":"):
            path = next(parts)
            old, new = ("" if (path, one) in nothing else one.strip("0") and one for one in part.split(" ")[2:4])
            if old or new:
                steps.setdefault(path, []).append(Step(commit, old, new))
            if new and not old:
                added[commit, author][-1].append(path)
        elif part:
            commit, at, *named = part.split()
            author = next(parts)
            added.setdefault((commit, author), []).append([])
            parents[commit], dates[commit] = max(1, len(named)), int(at)
    own = {key: _in_all(lists) for key, lists in added.items() if len(lists) == parents[key[0]]}
    authored = [Authored(commit, author, paths, dates[commit]) for (commit, author), paths in own.items() if paths]
    touched = {path: step.commit for path, told in steps.items() for step in told if step.old}  # the last is the first
    taken = {path: step.commit for path, told in steps.items() for step in reversed(told) if step.old and not step.new}
    came = _came(git, authored, {path: steps[path] for path in touched})
    held = {path: {blob for step in steps[path] for blob in (step.old, step.new) if blob} for path in touched}
    authors = dict(added.keys())
    made = {path: _written(git, told, parents, authors) for path, told in steps.items()}
    written = {path: [one._replace(at=dates[one.commit]) for one in told] for path, told in made.items()}
    return Story(authored, touched, taken, came, written, held)


def _written(git: Git, told: Sequence[Step], parents: Mapping[str, int], authors: Mapping[str, str]) -> list[Written]:
    """Return who gave a path which bytes, from what commits did to it; one that adds it anew is not the first."""
    found: list[Written] = []
    was_there = False
    for commit, group in groupby(reversed(told), lambda step: step.commit):
        steps = [*group]
        was_there = was_there or any(step.old for step in steps)
        is_own = len(steps) == parents[commit] or any(_is_dropped(git, found, step) for step in steps)
        if steps[0].new and is_own:
            found.append(Written(commit, authors[commit], steps[0].new, not was_there))
        was_there = True
    return found


def _is_dropped(git: Git, found: Sequence[Written], step: Step) -> bool:
    """Tell whether a merge leaves out what one of its sides made of a file, and what it has did not come after that."""
    made, kept = ([one.commit for one in found if one.blob == blob] for blob in (step.old, step.new))
    return bool(made) and not any(git.is_before(one, other) for one in made for other in kept)


def _came(git: Git, authored: Iterable[Authored], touched: Mapping[str, Sequence[Step]]) -> dict[str, set[str]]:
    """Return path -> the blobs that it came with: those of commits before which no other one had added it."""
    bringing: dict[str, set[str]] = {}
    for commit in authored:
        for path in touched.keys() & {*commit.paths}:
            bringing.setdefault(path, set()).add(commit.commit)
    came = {}
    for path, steps in touched.items():
        first: dict[str, str] = {}
        for step in reversed(steps):  # the parents come before their children
            if step.commit in bringing.get(path, ()) and not any(git.is_before(one, step.commit) for one in first):
                first[step.commit] = step.new
        came[path] = {*first.values()} or {steps[-1].old}
    return came


def to_commit(git: Git, differing: Iterable[Changed]) -> list[Authored]:
    """Return what is staged as the commit that it will be."""
    return [Authored("", _author(git), tuple(change.path for change in differing if change.is_added))]


def to_write(git: Git, differing: Iterable[Changed]) -> dict[str, list[Written]]:
    """Return path -> what the commit that what is staged will be gives it, where it is changed."""
    author = _author(git)
    return {one.path: [Written("", author, one.new, is_new=False)] for one in differing if one.old and one.new}


def _author(git: Git) -> str:
    name, _, address = (git.answer("var", "GIT_AUTHOR_IDENT") or "").rpartition("> ")[0].partition(" <")
    return f"{name} <{address}>"


def actors(git: Git, tree: str) -> set[str]:
    """Return who acts in the records of a tree, as their files name them."""
    from memento_git.ledger import grep

    return named(os.fsdecode(grep.lines(git, tree, layout.FOLDER, ["^by: "], plain=False)))


def named(text: str) -> set[str]:
    """Return who acts by the lines of records."""
    return {line[4:].strip("'\"") for line in text.splitlines() if line.startswith("by: ")}


def _in_all(lists: list[list[str]]) -> tuple[str, ...]:
    """Return what a commit added to each of its parents: of a merge, what came from no side."""
    return tuple(path for path in lists[0] if all(path in other for other in map(set, lists[1:])))
