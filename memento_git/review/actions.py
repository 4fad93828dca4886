"""check: what is wrong with a ledger, and what a branch did to the one that it began with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Protocol

from memento_git.errors import Misused
from memento_git.ledger import codec, layout, ranges, tree_diff
from memento_git.ledger.git import BareRepository, Git
from memento_git.ledger.names import in_full
from memento_git.ledger.staged import merging, staged_tree
from memento_git.ledger.view import View
from memento_git.model.ids import is_id
from memento_git.model.states import DONE
from memento_git.review import base_comparison, branch_check, jobs, last_readable, tree_check
from memento_git.review.jobs import PARENT
from memento_git.review.outcome import REMOVED, RESTORED, Fixed, Report, ordered
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction


class Again(Protocol):
    """Runs again, once its base is known, what a branch rests on, and returns what that confirmed.

    `hoped` are all that it may confirm.
    """

    def hoped(self, base: str) -> Collection[str]: ...

    def __call__(self, base: str) -> Collection[str]: ...


class FixElsewhere(Misused):
    token = "fix_elsewhere"
    sentence = "only the ledger of this checkout can be mended, not {what}"
    hint_ = "leave --fix away, or check out what you want to mend"


class NothingStaged(BareRepository):
    sentence = "this repository is bare, or a git directory: nothing can be staged in it"
    hint_ = "check a commit: memento check --at HEAD"


class ReproducedAlone(Misused):
    """A tree alone adds nothing that could be run again, and must not look as if it had been."""

    token = "reproduce_needs_base"
    sentence = "nothing says what this branch adds, so nothing can be run again"
    hint_ = "name its base: memento check --base REV --reproduce; or a run: memento evidence reproduce --run RUN"


def check(
    ledger: Ledger, *, base: str = "", no_base: bool = False, at: str = "", staged: bool = False, fix: bool = False,
    again: Again | None = None,
) -> Report:  # fmt: skip
    """Check a ledger: the tree alone, or what it adds to a base; with fix, mend first what needs no judgement.

    `again` runs again, once the base is known, what the branch rests on.
    """
    if fix and (at or staged):
        raise FixElsewhere(what="the index" if staged else at)
    report = _look(ledger, base=base, no_base=no_base, at=at, staged=staged, again=again).weighed()
    if not fix:
        return report
    held = _held(ledger.git, base, no_base=no_base) or report.base
    fixed = _fix(ledger, report)
    if not fixed:
        return report
    mended = _look(ledger, base=held, no_base=not held, at="", staged=False, again=again)
    return mended.weighed()._replace(fixed=fixed, chosen=report.chosen)


def _held(git: Git, base: str, *, no_base: bool) -> str:
    """Return the commit that a base is, whatever HEAD becomes; nothing of a merge's sides, and where there is none."""
    name = base or ("" if no_base else jobs.default_base(git, git.commit_of("HEAD")))
    return "" if name in ("", PARENT) or name.endswith(ranges.SIDES) else ranges.commit(git, name)


def _look(ledger: Ledger, *, base: str, no_base: bool, at: str, staged: bool, again: Again | None) -> Report:
    git = ledger.git
    git.trees.anew = True
    with ExitStack() as stack:
        if staged:
            if git.top is None:
                raise NothingStaged
            tree = stack.enter_context(staged_tree(git))
            first = git.commit("HEAD") or ""
            if not first:
                return tree_check.alone(git, tree, ledger.now())
            return branch_check.merged(git, [first, *merging(git)], tree, base_comparison.STAGED, ledger.now())
        base = in_full(git, base) if base else ""
        if base and base != PARENT:
            forks, tip, head = ranges.parting(git, base, at or "HEAD")
            if base.endswith(ranges.SIDES):
                return _judged(partial(branch_check.merged, git, forks, head, base, ledger.now()), again, forks[0])
            rules = ranges.ruling(git, forks, tip)
            return _judged(
                partial(branch_check.added, git, forks, head, base, ledger.now(), ruling=rules), again, rules
            )
        head = git.commit_of(at or "HEAD")
        name = base or ("" if no_base or at else jobs.default_base(git, head))
        if not name:
            if again:
                raise ReproducedAlone
            if not (no_base or at) and jobs.is_unexplained(git):
                ledger.warn(jobs.UNNAMED)
            if not at and git.top is not None:
                ledger.watch.begin()
            git.trees.anew = False  # nobody relies on it for what others bring
            return tree_check.alone(git, head, ledger.now())
        forks, tip = _forks(git, name, head)
        rules = ranges.ruling(git, forks, tip)
        found = _judged(partial(branch_check.added, git, forks, head, name, ledger.now(), ruling=rules), again, rules)
        return found._replace(chosen="" if base else name)


def _judged(judge: Callable[..., Report], again: Again | None, base: str) -> Report:
    """Judge a branch by what running again confirms, and before any of its code runs as if that confirmed everything.

    For its code may change what is looked at, as the objects of this clone: what was found before that stays found.
    """
    if again is None:
        return judge()
    before = judge(confirmed=again.hoped(base)).findings
    report = judge(confirmed=again(base))
    known = {(one.code, one.path) for one in report.findings}
    lost = (one for one in before if (one.code, one.path) not in known)
    return report._replace(findings=ordered([*report.findings, *lost]))


def _forks(git: Git, name: str, head: str) -> tuple[list[str], str]:
    """Return the commits to compare with: a parent as it is, of any other revision the merge bases; and its own."""
    if name == PARENT:
        parent = ranges.commit(git, f"{head}^1", history=True)
        return [parent], parent
    found = ranges.parting(git, in_full(git, name), head)
    return found.forks, found.tip


def undone(ledger: Ledger, fixed: Iterable[Fixed]) -> list[dict[str, str]]:
    """Return the steps that follow where tasks are done again by what was put back: a revert took their code, too."""
    view = ledger.view()
    places = [layout.place_of(one.path) for one in fixed if one.did == RESTORED]
    ended = {(one.run, one.of) for one in places if one is not None and one.do == "completed"}
    tasks = sorted((run, task) for run, task in ended if is_id(task, "task"))
    states = {run: RunState(view, run) for run in dict(tasks)}
    return [
        {"why": "if its code was taken back too", "command": f"memento task reopen {task} --reason WHY"}
        for run, task in tasks if not states[run].is_final and states[run].task_status(task) in DONE
    ]  # fmt: skip


def _fix(ledger: Ledger, report: Report) -> tuple[Fixed, ...]:
    """Put back what the base holds and take away what was redacted, in one commit; return what was done."""
    back = sorted({one.path for one in report.findings if report.base and one.code in base_comparison.RESTORED})
    gone = sorted({one.path for one in (*report.findings, *report.already) if one.code == "R001"})
    if not back and not gone:
        return ()
    from memento_git.ledger import corrections

    base = View(ledger.git, report.bases, ledger.now()) if report.bases else None
    if base is not None:
        base.hold(tree_diff.from_bases(ledger.git, report.bases, report.head)[1])

    def act(tx: Transaction) -> tuple[Fixed, ...]:
        told = []
        for path in back:
            data = last_readable.bytes_of(base, path) if base is not None else None
            if data is not None and not codec.check(path, data):
                tx.put(path, data)
                told.append(Fixed(RESTORED, path))
        told += [Fixed(REMOVED, path) for path in corrections.remove(tx, gone)]
        return tuple(told)

    return ledger.change("check fix", act)
