"""Two revisions to compare, out of what a user typed: A..B, A...B, one revision, or nothing."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.ledger import origin
from memento_git.ledger.commits import is_cut_off, parents
from memento_git.ledger.names import NoSuchRevision, in_full, is_ref

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

TRUNKS: Final = ("@{upstream}", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
LEAST_DEPTH: Final = 50
SIDES: Final = "^@"
WAY_BACK: Final = re.compile("[~^]|@{")  # counted from a commit that is here: no remote knows it by that
REMOTE_BRANCH: Final = re.compile(r"(?:refs/remotes/)?(?P<remote>[^/\s]+)/(?P<branch>[^\s~^:@{]+)")
PLAIN_NAME: Final = re.compile(r"(?!.*\.\.)[\w@][\w./@{}~^+-]*")


class RangeUnclear(Misused):
    token = "range_unclear"
    sentence = "{given!r} is not a range: {problem}"
    hint_ = "write A..B, A...B for their merge base, or one revision"


class TrunkUnknown(Misused):
    token = "trunk_unknown"
    sentence = "this branch has no upstream, and there is no branch main or master to compare with"
    hint_ = "name what to compare with: memento diff A..B"


class ForkMissing(Refused):
    token = "fork_missing"
    sentence = "this clone is shallow (depth {depth}) and does not have {what}"
    hint_ = "git fetch {fetch}; or all of it: git fetch --unshallow (actions/checkout: fetch-depth: 0)"


class BranchNotFetched(NoSuchRevision):
    """A branch of a remote that this clone never fetched, as a clone of one branch does not."""

    hint_ = "git fetch {fetch}"


class RemoteHeadUnknown(NoSuchRevision):
    """What a remote calls its own branch, in a clone that was never told, or whose answer is out of date."""

    hint_ = "ask the remote: git remote set-head {remote} --auto"


class NoMergeBase(Refused):
    token = "merge_base_missing"
    sentence = "{one} and {other} have no common commit"
    hint_ = "name another revision, or compare them as they are: memento diff {one}..{other}"


class Range(NamedTuple):
    """The commits to compare: both sides (several commits: their union), and what to know of them.

    `older` is the commit that was named for the older side, which the bases are of.
    """

    bases: tuple[str, ...]
    tips: tuple[str, ...]
    notes: tuple[str, ...]
    older: str

    @property
    def base(self) -> str:
        """Return the commit whose code is that of the older side."""
        return self.bases[0]


class Parting(NamedTuple):
    """Where a branch left a revision: the commits, the revision's own and the branch's own."""

    forks: list[str]
    tip: str
    head: str


def resolve(git: Git, given: str, tips: Sequence[str] = ()) -> Range:
    """Return the commits that a range names; with `tips`, `given` is where they began."""
    if tips:
        if ".." in given:
            raise RangeUnclear(given=given, problem="--at names the newer side already")
        ends = tuple(commit(git, rev) for rev in tips)
        return _parted(git, given or _trunk(git, ends[0]), ends)
    if "..." in given:
        one, other = _sides(given, "...")
        return _parted(git, one, (commit(git, other),))
    if ".." in given:
        one, other = _sides(given, "..")
        base, tip = commit(git, one), commit(git, other)
        return Range((base,), (tip,), _apart(git, one, base, other, tip), base)
    tip = commit(git, "HEAD")
    return _parted(git, given or _trunk(git, tip), (tip,))


def _parted(git: Git, rev: str, tips: tuple[str, ...]) -> Range:
    """Return what came to tips since they left a revision; where both merged each other, since all they have of it."""
    older = commit(git, rev)
    forks = tuple(_forks(git, older, tips[0]))
    told = f"both sides merged each other: {len(forks)} merge bases count together, and the code of {forks[0][:12]}"
    return Range(forks, tips, (told,) if len(forks) > 1 else (), older)


def _sides(given: str, dots: str) -> tuple[str, str]:
    one, _, other = given.partition(dots)
    if ".." in other or other.startswith("."):
        raise RangeUnclear(given=given, problem="it has more than two sides")
    return one or "HEAD", other or "HEAD"


def _trunk(git: Git, tip: str) -> str:
    """Return the revision that a branch is compared with when none is named: its upstream, or main once it is there."""
    found = (name for name in TRUNKS if (is_ref(git, name) if name.startswith("refs/") else git.commit(name)))
    if (own := next(found, None)) is None:
        raise TrunkUnknown
    if own != TRUNKS[0] or git.merge_bases(own, tip) != [tip]:
        return own
    main = next(found, own)
    return main if git.merge_bases(main, tip) not in ([], [tip]) else own


def parting(git: Git, rev: str, head: str) -> Parting:
    """Return the commits at which a branch left a revision, and both of their own; refuse what this clone lacks.

    There are several where both sides merged each other; that on the revision's own line is the first. `HEAD^@` are the
    sides of a merge, as git writes it. A branch that has the name of a tag must be named in full.
    """
    if rev.endswith(SIDES):
        sides = parents(git, commit(git, rev.removesuffix(SIDES), history=True))
        forks = [commit(git, side, history=True) for side in sides] or [git.commit_of(rev)]
        return Parting(forks, forks[0], git.commit_of(head))
    head = in_full(git, head)
    if not PLAIN_NAME.fullmatch(head):
        head = git.commit_of(head)
    if PLAIN_NAME.fullmatch(rev):  # one question to git, where those below tell what is amiss
        told = (git.answer("rev-parse", "--revs-only", f"{rev}^{{commit}}...{head}^{{commit}}") or "").split()
        if forks := [line[1:] for line in told if line.startswith("^")]:
            return Parting(_main_first(git, forks, told[1], told[0]), told[1], told[0])
    head = git.commit_of(head)
    tip = commit(git, rev, history=True)
    return Parting(_forks(git, tip, head), tip, head)


def commit(git: Git, rev: str, *, history: bool = False) -> str:
    """Return the commit that a revision names; where a shallow clone lacks it, say how to fetch it, or up to it."""
    try:
        return git.commit_of(rev)
    except RemoteHeadUnknown:
        raise
    except NoSuchRevision:
        there = _where(git, rev)
        if (depth := depth_of(git)) is None:
            if there:
                raise BranchNotFetched(rev=rev, fetch=there) from None
            raise
        name = there or f"origin {rev if rev[:1].isalnum() else 'REV'}"
        fetch = f"--depth=1 {name}"
        if history or WAY_BACK.search(rev):
            fetch = f"{_deeper(depth)} {there}".rstrip()
        raise ForkMissing(depth=depth, what=repr(rev), fetch=fetch) from None


def _where(git: Git, rev: str) -> str:
    """Return what brings a branch of a remote, also into a clone of another branch alone; nothing of other names."""
    found = REMOTE_BRANCH.fullmatch(rev)
    if not found or found["remote"] not in git.remotes():
        return ""
    remote, branch = found.groups()
    return shlex.join((remote, f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"))


def _deeper(depth: int) -> str:
    return f"--deepen={max(depth, LEAST_DEPTH)}"


def _forks(git: Git, one: str, other: str) -> list[str]:
    """Return the commits where two histories parted, that on the own line of the first one before all others."""
    if found := git.merge_bases(one, other):
        return _main_first(git, found, one, other)
    if (depth := depth_of(git)) is None:
        raise NoMergeBase(one=one[:12], other=other[:12])
    what = f"the commit where {one[:12]} and {other[:12]} parted"
    raise ForkMissing(depth=depth, what=what, fetch=_deeper(depth))


def _main_first(git: Git, forks: list[str], tip: str, other: str) -> list[str]:
    """Return forks in the order in which the own line of a tip, that of first parents, has them; then the rest.

    That of another project, which both sides merged, is none.
    """
    forks = origin.own(git, forks, tip, other)
    if len(forks) == 1:
        return forks
    line = (git.answer("rev-list", "--first-parent", tip) or "").split()
    return [*(one for one in line if one in forks), *(one for one in forks if one not in line)]


def ruling(git: Git, forks: list[str], tip: str) -> str:
    """Return the commit whose policy judges: the oldest on the own line of a tip that has all forks, or is the fork.

    A fork need not be on that line: a request may have had any policy on its way, and of several forks dates that
    anybody can choose decide which one git tells first.
    """
    if forks == [tip]:
        return tip
    ours = ("rev-list", "--first-parent", "--reverse", "--parents", tip, *(f"^{one}" for one in forks))
    told = [line.split() for line in git.run(*ours).decode().splitlines()]
    if not told or told[0][1:2] == forks:
        return forks[0]
    line = [words[0] for words in told]
    return line[bisect_left(line, True, key=lambda one: all(git.is_before(fork, one) for fork in forks))]


def depth_of(git: Git) -> int | None:
    """Return how many commits a shallow clone has; None where the clone is whole."""
    if not is_cut_off(git):
        return None
    return int(git.answer("rev-list", "--count", "HEAD") or 0)


def refuse_cut(git: Git, bases: Sequence[str], head: str) -> None:
    """Refuse where a shallow clone lacks some of the commits between bases and a head."""
    depth = depth_of(git)
    if depth is None:
        return
    cut = {*(git.common_dir / "shallow").read_text(encoding="ascii").split()}
    told = git.run("rev-list", head, *(f"^{base}" for base in bases)).decode()
    if cut & {*told.split()}:
        raise ForkMissing(depth=depth, what="all commits of this branch", fetch=_deeper(depth))


def _apart(git: Git, one: str, base: str, other: str, tip: str) -> tuple[str, ...]:
    """Say where the older side is no part of the newer one, so that what only it has looks removed."""
    found = git.answer("merge-base", base, tip)
    if found == base or (found is None and depth_of(git) is not None):
        return ()
    told = f"{other} does not contain {one}: what only {one} has looks removed; "
    if found is None:
        return (f"{told}they have no common commit: to see what came to {other}, name a commit of its own history",)
    return (f"{told}{one}...{other} compares from where they parted",)
