"""What is wrong with one tree of the ledger, with no word on how it came to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple, NoReturn

from memento_git.errors import Misused
from memento_git.ledger import layout, policyfile, staged
from memento_git.ledger.git import Git
from memento_git.ledger.introducing_commits import EndCommits
from memento_git.ledger.view import View
from memento_git.model.finding import Finding
from memento_git.model.policy import Policy
from memento_git.review import files, last_readable, recipes, runs, signed
from memento_git.review.outcome import Report, ordered
from memento_git.review.scope import Scope
from memento_git.work import codestate
from memento_git.work.loading import load
from memento_git.work.proof.runners import Runners
from memento_git.work.state import RunState

Code = Callable[[Sequence[str]], dict[str, Any]]

FILES: Final = "files"
NOTES: Final = "notes"


class NothingToCheck(Misused):
    """A revision that holds no ledger, and no base that held one."""

    token = "nothing_to_check"
    sentence = "there is no ledger at {where}"
    hint_ = "memento init makes one"


class Part(NamedTuple):
    """One look at a whole tree, and what it is at."""

    name: str
    look: Callable[[], Iterable[Finding]]


def alone(git: Git, head: str, now: str) -> Report:
    """Check one tree, with no word on how it came to be."""
    view = View(git, (head,), now)
    if layout.CONFIG not in view.folders:
        refuse_nothing(view, "the index" if staged.is_read(git) else head[:12])
    policy, found = policyfile.judging(view)
    for part in parts(view, policy):
        found += part.look()
    records = sum(1 for path in view.files if layout.place_of(path) is not None)
    told = ordered(with_fixes(view, last_readable.unpacked([*view.findings, *found])))
    return Report(files.placed(view, told), [], "", head, records, policy)


def parts(view: View, policy: Policy) -> Iterator[Part]:
    """Yield all that a whole tree is looked at for; what cannot be read meanwhile is among the view's findings."""
    head = view.commits[0]
    scope = Scope(code=code_of(view.git, head), ended=EndCommits(view.git, view.commits).of)
    yield Part(FILES, partial(_names, view, policy))
    for run in view.runs():
        yield Part(f"run {run}", partial(_whole_run, view, run, policy, scope))
    yield Part("secrets", lambda: files.check_secrets(view, list(view.files), policy.allow_secrets))
    yield Part("recipes", lambda: recipes.check_recipes(view, view.files, policy.allow_secrets))
    yield Part("signatures", partial(_signatures, view, policy))
    if view.index("").prose or view.index("").events_of:
        yield Part(NOTES, partial(of_notes, view, Scope(), policy))


def with_fixes(view: View, found: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a whole tree, in their order, with the fixes that its history knows."""
    return files.never_back(last_readable.told_whole(view, found))


def _names(view: View, policy: Policy) -> Iterator[Finding]:
    """Yield what is wrong with the names of a tree; of ids that two files have the view tells."""
    yield from files.check_names(view, view.files, policy)
    for commit in view.commits:
        yield from files.check_top(view.git.trees.top(commit))
    for kind in ("task", "plan", "evidence"):
        view.known(kind)


def _signatures(view: View, policy: Policy) -> list[Finding]:
    head = view.commits[0]
    found = signed.older(signed.check(view, head, policy, list(view.files)))
    return [*found, *signed.keys_away(view.git, head, policy)]


def _whole_run(view: View, run: str, policy: Policy, scope: Scope) -> list[Finding]:
    state = RunState(view, run, Runners(view, policy), policy)
    load(state)
    return runs.check_run(state, scope)


def refuse_nothing(view: View, where: str) -> NoReturn:
    from memento_git.ledger import missing_ledger

    missing_ledger.refuse(view, where)
    if not staged.is_read(view.git) and view.commits[:1] == (view.git.head()[0],):
        missing_ledger.refuse_apart(view.git, where)
        missing_ledger.refuse_removed(view.git, where)
    raise NothingToCheck(where=where)


def of_notes(view: View, scope: Scope, policy: Policy) -> list[Finding]:
    """Return what is wrong with notes; where all are asked for, they are brought at once."""
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.review import notes

    note_set = NoteSet(view)
    if scope.groups is None:
        note_set.load()
    return notes.check_notes(note_set, scope, policy.domains)


def code_of(git: Git, commit: str) -> Code:
    """Return what tells the code of a commit, asked of git when it is wanted."""
    code = cache(lambda *paths: codestate.code_at(git, commit, paths))
    return lambda paths: code(*paths)
