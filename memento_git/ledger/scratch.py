"""A throw-away index and object store, in which git can look at a work tree or an index and leave nothing behind."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.environment import PATTERNS
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from memento_git.ledger.git import Git

SUBMODULE: Final = "160000"
SPECIAL: Final = re.compile(rf"(?:^|\0)([a-z]|S|H(?= {SUBMODULE})) (\d+) \S+ \d\t([^\0]+)")
"""An entry of `git ls-files -v -s -z` that git is told not to look at, or that is a submodule."""
OF_CODE: Final = re.compile(rf"(?:^|\0)[^?] \d+ \S+ \d\t(?!{re.escape(layout.FOLDER)}/)")
UNTRACKED: Final = re.compile(r"(?:^|\0)\? ([^\0]+)")
EXPANDED: Final = re.compile(rb"\$Id:(?! [0-9a-f]{40,64} \$)[^$\n]*\$")
NOBODY: Final = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "memento"), ("EMAIL", "memento@localhost"), ("DATE", "1700000000 +0000"))
}
PREFIX: Final = "memento-aside-"
UNTOUCHED: Final = 24 * 3600  # seconds after which nobody works in a folder any more
STORE: Final = "GIT_OBJECT_DIRECTORY"
WHOLE: Final = ("-c", "core.sparseCheckout=false")


def folder() -> TemporaryDirectory[str]:
    """Make a folder for what is thrown away after a block; one that cannot be removed spoils nothing."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)


def clear() -> list[Path]:
    """Remove, and return, the folders that killed processes left: nobody has put anything into them for a day."""
    import shutil
    import tempfile
    import time

    found = []
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # another's, or removed by now
            if path.lstat().st_mtime < time.time() - UNTOUCHED:
                shutil.rmtree(path)
                found.append(path)
    return found


def variables(git: Git, folder: Path) -> dict[str, str]:
    """Make an object store in a folder; return what leads git to it, to `index` beside it and to the real objects."""
    objects = folder / "objects"
    objects.mkdir()
    pushed = [os.environ[STORE]] if "GIT_QUARANTINE_PATH" in os.environ and STORE in os.environ else []
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        STORE: str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(map(_quoted, (str(git.common_dir / "objects"), *pushed))),
    }


def copy_index(git: Git, place: Path, real: Path | None = None) -> bool:
    """Copy an index, git's own where none is named, with its time; tell whether there is one.

    By its time git tells files that were edited right after it was written.
    """
    import shutil

    real = real or git.git_dir / "index"
    place.unlink(missing_ok=True)
    if not real.exists():
        return False
    shutil.copy2(real, place)
    return True


class Beside(NamedTuple):
    """What is in a work tree besides the files that git tracks: paths, those of inner repositories with a slash.

    `laid` are files in the folders of submodules that are not checked out, where git itself sees none. `absent` is how
    many of the code's tracked files and submodules are not there, as in a sparse checkout.
    """

    submodules: list[str]
    untracked: list[str]
    laid: list[str]
    absent: int


def add_tracked(git: Git, extra: Mapping[str, str], *where: str, untracked: bool = False) -> Beside:
    """Bring what lies in the work tree at tracked paths into a copied index, also what git was told not to look at.

    Commands see files that are marked assume-unchanged or skip-worktree. What a sparse checkout leaves out is not
    there, and stays what the index says; submodules stay the commits that they are. Untracked files are looked for
    where that is asked for; those that git ignores, and the ledger's, are left out.
    """
    others = ("-o", "--exclude-standard") if untracked else ()
    listed = os.fsdecode(git.run(*WHOLE, "ls-files", "-v", "-s", *others, "-z", extra=extra))
    special = SPECIAL.findall(listed)
    top = git.top or git.git_dir
    away = {path for tag, _, path in special if tag in "Ss" and not os.path.lexists(top / path)}
    hidden = [path for tag, _, path in special if tag != "H" and path not in away]
    for option in ("--no-skip-worktree", "--no-assume-unchanged") if hidden else ():
        data = os.fsencode("\0".join(hidden) + "\0")
        git.run(*WHOLE, "update-index", option, "-z", "--stdin", data=data, extra=extra)
    if OF_CODE.search(listed):  # newer gits refuse to look where nothing is tracked
        git.run(*WHOLE, "add", "-u", "--", *where, extra=extra)
        add_expanded(git, extra)
    submodules = [path for _, mode, path in special if mode == SUBMODULE]
    bare = [path for path in submodules if not (top / path / ".git").exists()]
    laid = _laid(git, extra, [path for path in bare if untracked and _holds(top / path)])
    away.update(path for path in bare if not any(file.startswith(f"{path}/") for file in laid))
    return Beside(
        submodules,
        [path for path in UNTRACKED.findall(listed) if path.partition("/")[0] != layout.FOLDER],
        laid,
        sum(path.partition("/")[0] != layout.FOLDER for path in away),
    )


def _holds(folder: Path) -> bool:
    """Tell whether a folder is there, and no link to one, with something in it."""
    return folder.is_dir() and not folder.is_symlink() and any(folder.iterdir())


def _laid(git: Git, extra: Mapping[str, str], folders: list[str]) -> list[str]:
    """Return the files that lie, not ignored, in the folders of submodules that are not checked out.

    git looks for none there as long as the index has the submodule, so it is asked with one that has not.
    """
    if not folders:
        return []
    less = {**extra, "GIT_INDEX_FILE": f"{extra['GIT_INDEX_FILE']}.less"}
    copy_index(git, Path(less["GIT_INDEX_FILE"]), Path(extra["GIT_INDEX_FILE"]))
    data = os.fsencode("\0".join(folders) + "\0")
    git.run(*WHOLE, "update-index", "--force-remove", "-z", "--stdin", data=data, extra=less)
    told = git.run("ls-files", "-o", "--exclude-standard", "-z", "--", *folders, extra=less)
    return os.fsdecode(told).split("\0")[:-1]


def add_expanded(git: Git, extra: Mapping[str, str]) -> None:
    """Take files as they lie that have something else between `$Id:` and `$` than git itself writes there.

    Commands see it, and where a file has the attribute ident, git takes it away.
    """
    told = git.run("ls-files", "-s", "-z", "--", ":(top,attr:ident)", extra={**extra, **PATTERNS})
    for line in told.split(b"\0")[:-1]:
        head, _, path = line.partition(b"\t")
        there = Path(git.top or git.git_dir) / os.fsdecode(path)
        if there.is_symlink() or not there.is_file() or not EXPANDED.search(data := there.read_bytes()):
            continue
        oid = git.run("hash-object", "-w", "--stdin", data=data, extra=extra).strip()
        entry = b"%b %b\t%b\0" % (head.split(b" ")[0], oid, path)
        git.run("update-index", "-z", "--index-info", data=entry, extra=extra)


def _quoted(path: str) -> str:
    """Return a path as git reads it in a list that colons separate."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if os.name == "posix" else path
