"""Which commits brought events, and code: what that was when something happened is told by these, and by no clock."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.ledger.environment import PATTERNS
from memento_git.ledger.git import Git, GitFailed

if TYPE_CHECKING:
    from memento_git.model.work import Event

COMMIT: Final = "\x01"
OF_CODE: Final = re.compile(r'^diff --git (?!"?a/{0}(?:/| b/{0}$))'.format(re.escape(layout.FOLDER)), re.MULTILINE)
PLAIN_DIFF: Final = (
    "--patch", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short",
    "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
"""Each file that differs has a line of its own that names it, whatever is configured."""


def bringing(git: Git, commits: Sequence[str], event: Event) -> Iterator[str]:
    """Yield the commits that added an event's own file, or an archive with it, whatever is left of either."""
    own = own_path(event)
    for commit, names in _additions(git, commits, own, f"{layout.ARCHIVE}/{event.run}"):
        if own in names or _holds(git, commit, names, event):
            yield commit


def firsts(git: Git, brought: Iterable[str]) -> list[str]:
    """Return the first of some commits: what was taken away and put back came with the first of them."""
    known = list(dict.fromkeys(brought))
    return [one for one in known if not any(git.is_before(other, one) for other in known if other != one)]


def own_path(event: Event) -> str:
    """Return where the file of an event lies, or lay."""
    return f"{layout.folder_of(event.run, event.of)}/{layout.event_name(event.at, event.do, event.id)}"


def changing_code(
    git: Git, head: str, known: Iterable[str], extra: Mapping[str, str] | None = None
) -> list[str] | None:
    """Return the commits up to a head, but for those of known ones, that change code by themselves; newest first.

    A merge does where it is not what git makes of its two sides, and one of more sides always. It is None where git
    cannot tell, as before 2.35.
    """
    try:
        told = git.run(
            "log", "--remerge-diff", "--root", *PLAIN_DIFF, f"--format={COMMIT}%H %P", head, "--not", *known, "--",
            extra=extra,
        )  # fmt: skip
    except GitFailed:
        return None
    found = []
    for part in f"\n{os.fsdecode(told)}".split(f"\n{COMMIT}")[1:]:
        line, _, rest = part.partition("\n")
        commit, *parents = line.split()
        if len(parents) > 2 or OF_CODE.search(rest):
            found.append(commit)
    return found


class EndCommits:
    """The commits that brought the ends of runs; git is asked for all of them once, when one is wanted."""

    def __init__(self, git: Git, commits: Sequence[str]) -> None:
        self.git, self.commits = git, commits

    def of(self, event: Event) -> list[str]:
        """Return the first commits that brought the end of a run, in a file of its own if it ever had one."""
        own, packed = own_path(event), f"{layout.ARCHIVE}/{event.run}/"
        loose = [commit for commit, names in self._added if own in names]
        within = (
            commit for commit, names in self._added
            if _holds(self.git, commit, [name for name in names if name.startswith(packed)], event)
        )  # fmt: skip
        return firsts(self.git, loose or within)

    @cached_property
    def _added(self) -> list[tuple[str, list[str]]]:
        known = [commit for commit in self.commits if self.git.commit(commit)]
        ends = (f"{layout.GLOB}{layout.RUNS}/*/*-{verb}-*.yaml" for verb in ("completed", "cancelled"))
        return [*_additions(self.git, known, *ends, layout.ARCHIVE)] if known else []


def _additions(git: Git, commits: Sequence[str], *paths: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commits that added files, each with those files."""
    told = git.run(
        "log", "-c", "--root", "--full-history", "--no-renames", "--diff-filter=A", "--name-only",
        f"--format={COMMIT}%H", *commits, "--", *paths, extra=PATTERNS,
    )  # fmt: skip
    for part in os.fsdecode(told).split(COMMIT)[1:]:
        commit, *names = part.rstrip("\n").split("\n")
        yield commit, names


def _holds(git: Git, commit: str, names: Iterable[str], event: Event) -> bool:
    """Tell whether one of the files that a commit added is an archive with an event."""
    packed = [name for name in names if layout.is_archive(name)]
    if not packed:
        return False
    from memento_git.ledger import archive

    held = zip(packed, git.objects(f"{commit}:{name}" for name in packed), strict=True)
    return any(own_path(event) in archive.unpack(name, event.run, data or b"")[0] for name, data in held)
