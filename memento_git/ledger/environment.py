"""How git is called: a git that is new enough, options and an environment by which all of its answers are alike.

Nothing in it leads to another repository or index, asks a question, or follows the taste of who configured git.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from memento_git.errors import Broken

OLDEST: Final = (2, 31)
VERSION: Final = r"(?m)^git version (([0-9]{1,9})\.([0-9]{1,9})\S*)"
LOCAL_VARIABLES: Final = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
})  # fmt: skip
QUARANTINE: Final = ("GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
QUIET: Final = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull,
}  # fmt: skip
PATTERNS: Final = {"GIT_LITERAL_PATHSPECS": "0"}  # for a command whose paths are not meant to the letter
WITH_HOOKS: Final = (
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
    "-c", "core.quotePath=false",
    "-c", "core.fsmonitor=false",
    "-c", "core.trustctime=true",
    "-c", "core.checkStat=default",
    "-c", "reftable.lockTimeout=3000",
    "-c", "core.safecrlf=false",
    "-c", "i18n.commitEncoding=UTF-8",
)  # fmt: skip
EVENTS: Final = ("post-checkout", "post-index-change", "reference-transaction")
"""What of our git would start hooks that are no files: those that the configuration names, from git 2.54 on."""
PLAINLY: Final = (
    "-c", f"core.hooksPath={os.devnull}",
    *(word for event in EVENTS for word in ("-c", f"hook.{event}.enabled=false")),
    "-c", "i18n.logOutputEncoding=UTF-8",
    "-c", "log.follow=false",
    "-c", "log.showRoot=true",
    "-c", "log.showSignature=false",
    "-c", f"diff.orderFile={os.devnull}",
    "-c", "diff.relative=false",
    "-c", "grep.column=false",
    "-c", "grep.lineNumber=false",
    "-c", "grep.patternType=basic",
    "-c", "grep.threads=1",
    "-c", "submodule.recurse=false",
)  # fmt: skip
"""What git answers without the keys by which somebody has it answer otherwise, or threads that wait for each other."""
OPTIONS: Final = (*WITH_HOOKS, *PLAINLY)
IN_ONE: Final = ("-c", "core.splitIndex=false")  # an index of ours: its other part would lie in the git directory


class GitMissing(Broken):
    token = "git_missing"
    sentence = "git was not found on PATH"
    hint_ = "install git 2.31 or newer"


class GitTooOld(Broken):
    token = "git_too_old"
    sentence = "git {version} is older than 2.31"
    hint_ = "install a newer git"


def at_home(given: str | os.PathLike[str]) -> Path:
    """Return a path whose `~` is the home folder; as it is given where there is no such home."""
    return Path(os.path.expanduser(given))  # noqa: PTH111 (that of pathlib raises there)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return our environment without what ties git to another repository or index."""
    left_out = LOCAL_VARIABLES if QUARANTINE[0] not in os.environ else LOCAL_VARIABLES.difference(QUARANTINE)
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, **QUIET, **(extra or {})}


def git_dir_of(top: Path) -> Path:
    """Return the git directory of a work tree: its `.git`, or what that names, as in a linked worktree."""
    link = top / ".git"
    return top / os.fsdecode(link.read_bytes().removeprefix(b"gitdir: ").rstrip(b"\r\n")) if link.is_file() else link


def configured(git_dir: Path, common_dir: Path) -> list[tuple[int, int, int]]:
    """Return what is other once somebody has written where git is told of its work tree."""
    found = []
    for path in (common_dir / "config", git_dir / "config.worktree"):
        with contextlib.suppress(OSError):
            told = path.stat()
            found.append((told.st_ino, told.st_size, told.st_mtime_ns))
    return found


def run_in(folder: Path, *words: str, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder of which nobody knows yet whether it is in a repository, or of which one."""
    try:
        return subprocess.run(
            ["git", *words], cwd=folder, env=environment(extra), capture_output=True, check=False, restore_signals=False
        )
    except FileNotFoundError as error:
        if error.filename == "git":
            raise GitMissing from None
        raise


def refuse_old(told: str) -> None:
    """Refuse a git that is too old, by what `git version` told; any other answer says nothing of its age."""
    version = re.search(VERSION, told)
    if version and (int(version[2]), int(version[3])) < OLDEST:
        raise GitTooOld(version=version[1])
