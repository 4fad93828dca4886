"""Work trees of dispatches: made at HEAD on a branch of their own, committed without hooks, removed without loss."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused, reason_of
from memento_git.ledger import layout, publish, scratch
from memento_git.ledger.commits import CODE
from memento_git.ledger.environment import PATTERNS, at_home
from memento_git.ledger.git import BareRepository, Git, GitFailed
from memento_git.ledger.lock import NotWritable, writing
from memento_git.ledger.publish import TRUE
from memento_git.model.ids import random_part
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from memento_git.model.objection import Objection

QUARANTINE: Final = "refs/memento/quarantine"
CACHE: Final = re.compile(r"__pycache__/?|\.\w+_cache/?")  # for want of which nothing fails
MARK: Final = ".memento-worktrees"
SETTING: Final = "memento.worktrees"
MARK_TEXT: Final = "Worktrees of dispatches: memento makes and removes them. See git worktree list.\n"


class FolderForeign(Refused):
    token = "worktrees_foreign"
    sentence = "{path} is there already, and memento did not make it"
    hint_ = "choose another folder for worktrees: git config memento.worktrees FOLDER"


class NothingCommitted(Refused):
    token = "nothing_committed"
    sentence = "the branch has no commit that a worktree could start from"
    hint_ = "commit the code first"


class FolderClosed(NotWritable):
    sentence = "worktrees cannot be made in {folder}: {above} cannot be written"
    hint_ = (
        "mend its permissions, or name a folder for worktrees that can be written: git config memento.worktrees FOLDER"
    )


class WorktreeFailed(Refused):
    token = "worktree_failed"
    sentence = "the worktree {path} cannot be {what}: {reason}"
    hint_ = "git worktree list shows all worktrees, memento doctor those that were left behind"


class Checkout(NamedTuple):
    """A work tree of a dispatch: its folder, its branch, the commit that it started from."""

    path: Path
    branch: str
    base: str


class Work(NamedTuple):
    """What a work tree holds beside its HEAD: HEAD, the tree of all its code, what cannot be committed with that.

    That are repositories inside it, and submodules that are worked in.
    """

    head: str
    tree: str
    changed: bool
    inner: tuple[str, ...]


def branch_of(dispatch: str) -> str:
    return f"memento/{random_part(dispatch)}"


def folder_for(git: Git, settings: Mapping[str, str]) -> Path:
    """Return the folder that work trees are made in: beside the repository, or as git's configuration says."""
    given = settings.get(SETTING, "")
    main = git.common_dir.parent if git.common_dir.name == ".git" else None
    if given:
        return ((main or git.common_dir) / at_home(given)).absolute()
    if main is not None:
        return main.with_name(f"{main.name}.worktrees")
    if settings.get("core.bare", "").lower() in TRUE and "core.bare" in settings:
        return git.common_dir.with_name(f"{git.common_dir.name.removesuffix('.git')}.worktrees")
    return git.common_dir / "memento" / "worktrees"


def foresee(git: Git, settings: Mapping[str, str]) -> Path:
    """Refuse what a work tree could not be made from; return the folder that it will be made in."""
    if git.top is None:
        raise BareRepository
    if git.head()[0] is None:
        raise NothingCommitted
    folder = folder_for(git, settings)
    with writing(folder):
        taken = folder.is_dir() and any(folder.iterdir())
    above = next(one for one in (folder, *folder.parents) if one.exists())
    if not above.is_dir() or (taken and not (folder / MARK).is_file() and not settings.get(SETTING)):
        raise FolderForeign(path=above)
    if not os.access(above, os.W_OK):
        raise FolderClosed(folder=folder, above=above)
    return folder


def add(git: Git, dispatch: str, folder: Path) -> Checkout:
    """Make a branch at HEAD and a work tree on it."""
    base = git.head()[0]
    if base is None:
        raise NothingCommitted
    path = folder / random_part(dispatch)
    branch = branch_of(dispatch)
    if os.path.lexists(path):
        raise FolderForeign(path=path)
    try:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MARK).write_text(MARK_TEXT, encoding="utf-8")
            git.run("worktree", "add", "--quiet", "-b", branch, str(path), base)
    except GitFailed as failure:
        raise WorktreeFailed(path=path, what="made", reason=failure.facts["reason"]) from None
    return Checkout(path, branch, base)


def listed(git: Git) -> dict[Path, str]:
    """Return folder -> branch ('' when detached) of all work trees where git knows more than one, the main one too."""
    if not (git.common_dir / "worktrees").is_dir():
        return {}
    return {Path(one["worktree"]): one.get("branch", "").removeprefix("refs/heads/") for one in worktrees(git)}


def worktrees(git: Git) -> list[dict[str, str]]:
    """Return what git says of each work tree, by its words; git before 2.36 has no way to say all paths."""
    told, end = git.answer("worktree", "list", "--porcelain", "-z"), "\0"
    if told is None:
        told, end = os.fsdecode(git.run("worktree", "list", "--porcelain")), "\n"
    lines = (one.split(end) for one in told.split(end * 2) if one.startswith("worktree "))
    return [{word: rest for word, _, rest in (line.partition(" ") for line in one)} for one in lines]


def opened(git: Git, checkout: Checkout) -> Git | None:
    """Return the repository as its work tree sees it; None where the work tree is gone or is another repository's."""
    if not checkout.path.is_dir():
        return None
    try:
        inside = Git(checkout.path)
    except Refused:
        return None
    same = inside.top is not None and inside.top.resolve() == checkout.path.resolve()
    return inside if same and inside.common_dir.resolve() == git.common_dir.resolve() else None


def lacks(git: Git, checkout: Checkout) -> list[str]:
    """Return what git ignores at the top of this checkout and the worktree of a dispatch does not have, but caches."""
    told = os.fsdecode(git.run("ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z")).split("\0")
    return [
        name for name in told
        if "/" not in name[:-1] and not CACHE.fullmatch(name) and not os.path.lexists(checkout.path / name)
    ]  # fmt: skip


def look(inside: Git, base: str) -> Work:
    """Return what a work tree holds; its objects are written, and an index of them beside git's own."""
    head = inside.head()[0] or base
    copy = _index(inside)
    with writing():
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.with_name(f"{copy.name}.lock").unlink(missing_ok=True)
        scratch.copy_index(inside, copy)
    extra = {"GIT_INDEX_FILE": str(copy), **PATTERNS}
    found = _add(inside, extra)
    worked = [path for path in found.submodules if _is_worked_in(inside, path, base)]
    inner = (*(path for path in found.untracked if path.endswith("/")), *found.laid, *worked)
    tree = inside.run("write-tree", extra=extra).decode().strip()
    changed = tree != inside.answer("rev-parse", f"{head}^{{tree}}")
    return Work(head, tree, changed, inner)


def _index(inside: Git) -> Path:
    return inside.git_dir / "memento" / "work.index"


def _is_worked_in(inside: Git, path: str, base: str) -> bool:
    """Tell whether a submodule has tracked files that differ, or is at a commit that only this work tree may have."""
    folder = (inside.top or inside.git_dir) / path
    if not (folder / ".git").exists():
        return False
    git = Git(folder)
    if git.run("status", "--porcelain", "--untracked-files=no"):
        return True
    is_as_begun = git.head()[0] == inside.object_id(f"{base}:{path}")
    return not is_as_begun and not git.answer("for-each-ref", "--contains=HEAD", "--count=1", "refs/remotes")


def _add(inside: Git, extra: Mapping[str, str]) -> scratch.Beside:
    """Bring all tracked and unignored code into an index, the ledger as HEAD has it; return what is beside it."""
    found = scratch.add_tracked(inside, extra, *CODE, untracked=True)
    files = [path for path in found.untracked if not path.endswith("/")]
    if files:
        data = os.fsencode("\0".join(files) + "\0")
        inside.run("update-index", "--add", "-z", "--stdin", data=data, extra=extra)
    inside.run("rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", layout.FOLDER, extra=extra)
    if inside.object_id(f"HEAD:{layout.FOLDER}"):
        inside.run("read-tree", f"--prefix={layout.FOLDER}/", f"HEAD:{layout.FOLDER}", extra=extra)
    return found


def commit(inside: Git, checkout: Checkout, work: Work, message: str, settings: Mapping[str, str]) -> str:
    """Put what the work tree holds on its branch; return the branch's new tip."""
    tip = publish.commit_tree(inside, work.tree, (work.head,), message, settings) if work.changed else work.head
    ref = f"refs/heads/{checkout.branch}"
    inside.run_apart("update-ref", "-m", "memento: work of a dispatch", ref, tip)
    inside.run("symbolic-ref", "HEAD", ref)
    (inside.git_dir / "index.lock").unlink(missing_ok=True)
    _index(inside).replace(inside.git_dir / "index")
    return tip


def quarantine(inside: Git, checkout: Checkout, dispatch: str) -> str:
    """Keep what a work tree holds in a commit that only a ref of ours names; return it, or nothing for no work."""
    work = look(inside, checkout.base)
    if not work.changed and work.head == checkout.base:
        return ""
    tip = work.head
    if work.changed:
        tip = publish.commit_tree(inside, work.tree, (work.head,), f"memento: partial work of {dispatch}\n", {})
    inside.run_apart("update-ref", "-m", "memento: partial work", f"{QUARANTINE}/{dispatch}", tip)
    return tip


def keep_branch(git: Git, checkout: Checkout, dispatch: str) -> str:
    """Keep what a branch holds whose work tree is gone in a ref of ours; return its tip, or nothing for no work."""
    tip = git.object_id(f"refs/heads/{checkout.branch}") or ""
    if not tip or tip == checkout.base:
        return ""
    git.run_apart("update-ref", "-m", "memento: partial work", f"{QUARANTINE}/{dispatch}", tip)
    return tip


def remove(git: Git, checkout: Checkout, *, branch: bool) -> Objection:
    """Remove a work tree, with `branch` its branch as well; return why it was left, or nothing."""
    known = {path.resolve(): name for path, name in listed(git).items()}
    here = checkout.path.resolve()
    if here in known:
        try:
            git.run("worktree", "remove", "--force", str(checkout.path))
        except GitFailed as failure:
            return str(failure.facts["reason"])
    elif checkout.path.exists():
        return f"{checkout.path.name} is no worktree of this repository"
    others = {name for path, name in known.items() if path != here}
    if branch and checkout.branch not in others:
        git.drop_ref(f"refs/heads/{checkout.branch}")
    _drop_folder(checkout.path.parent)
    return ""


def _drop_folder(folder: Path) -> None:
    """Remove our folder of work trees when the last of them is gone."""
    with contextlib.suppress(OSError):
        if {path.name for path in folder.iterdir()} == {MARK}:
            (folder / MARK).unlink()
            folder.rmdir()


def discard(git: Git, checkout: Checkout) -> str:
    """Remove what is there of a work tree that was never finished, so that nobody can have worked in it."""
    try:
        if (checkout.path.parent / MARK).is_file() and checkout.path.is_dir():
            import shutil

            shutil.rmtree(checkout.path)
    except OSError as error:
        return reason_of(error)
    if checkout.path.resolve() in {path.resolve() for path in listed(git)}:
        git.answer("worktree", "remove", "--force", "--force", str(checkout.path))
    git.drop_ref(f"refs/heads/{checkout.branch}")
    _drop_folder(checkout.path.parent)
    return ""
