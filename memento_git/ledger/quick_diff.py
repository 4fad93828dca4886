"""The quick answer of a hook: whether anything of the ledger differs at all."""

from __future__ import annotations

import os
import re
from pathlib import Path

from memento_git.ledger import layout
from memento_git.ledger.environment import OPTIONS, PATTERNS, GitMissing, git_dir_of, run_in
from memento_git.ledger.names import NAME, SHORT_ID
from memento_git.ledger.staged import MERGING, named_sides


def unchanged(start: Path, *, base: str = "", staged: bool = False) -> bool:
    """Tell, with few git calls, that no ledger file differs, nor one that policy may name; False where git cannot tell.

    `base...HEAD` is from the merge base on; `staged` is the index that GIT_INDEX_FILE names against HEAD: one git call,
    for a hook. What git warns of, a base whose name a tag has as well, or that has several merge bases, needs a closer
    look; so does a merge in progress, which may drop what its other side added.
    """
    if staged and (named_sides() or _may_merge(start)):
        return False
    what = ["--cached"] if staged else [f"{base}...HEAD"]
    extra = dict(PATTERNS)
    if staged and (index := os.environ.get("GIT_INDEX_FILE")):
        extra["GIT_INDEX_FILE"] = index
    asked = ["-c", "core.warnAmbiguousRefs=true", "diff", "--quiet", "--no-ext-diff", *what]
    asked += ["--ignore-submodules=none", "--", f":(top,icase){layout.FOLDER}", f":/{layout.TOP_ATTRIBUTES}"]
    if base.startswith(("-", ":")) or re.fullmatch(SHORT_ID, base):
        return False
    try:
        done = run_in(start, *OPTIONS, *asked, extra=extra)
    except (OSError, ValueError, GitMissing):  # a base that no command line can hold
        return False
    if done.returncode or b"warning: " in done.stderr:
        return False
    return staged or not (_stands_in(start, base) or _was_touched(start, base) or _names_files(start, base))


def _may_merge(start: Path) -> bool:
    """Tell whether a merge is in progress, by git's own files; or may be, where these are not found from a start."""
    try:
        places = map(git_dir_of, (top := start.resolve(), *top.parents))
        place = next((one for one in places if (one / "HEAD").exists()), None)
    except OSError:
        return True
    return place is None or (place / MERGING).exists()


def _stands_in(start: Path, base: str) -> bool:
    """Tell whether git takes something for a base that has but its name: a closer look refuses that.

    Of a full name it is another ref that is called so, of a remote a branch of it that is called HEAD.
    """
    found = re.fullmatch(NAME, base)
    if found is None:
        return False
    done = run_in(start, *OPTIONS, "rev-parse", "--symbolic-full-name", found["name"])
    ref = done.stdout.decode(errors="replace").strip()
    return done.returncode != 0 or ref.endswith("/HEAD") or (found["name"].startswith("refs/") and ref != found["name"])


def _was_touched(start: Path, base: str) -> bool:
    """Tell whether commits of a branch touched the ledger although it is as at the base: something was taken back."""
    asked = ("rev-list", "-1", "--full-history", f"{base}..HEAD", "--", f":/{layout.FOLDER}")
    done = run_in(start, *OPTIONS, *asked, extra=PATTERNS)
    return done.returncode != 0 or bool(done.stdout.strip())


def _names_files(start: Path, base: str) -> bool:
    """Tell whether policy, the branch's or the base's own, may name files elsewhere that count, such as whose keys do.

    A branch that left the base's line before that had such a policy has none, and is judged by it.
    """
    asked = ("grep", "--quiet", "--fixed-strings", "--text", "-e", "signatures", "-e", "\\", "HEAD", base)
    done = run_in(start, *OPTIONS, *asked, "--", f":/{layout.CONFIG}", extra=PATTERNS)
    return done.returncode != 1 or b"error: " in done.stderr
