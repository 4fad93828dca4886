"""What a check will say of the work that a run's end or its release relies on, told to who asks for that."""

from __future__ import annotations

from functools import cache, partial

from memento_git.ledger.view import View
from memento_git.review import runs
from memento_git.review.scope import Scope
from memento_git.work import codestate
from memento_git.work.state import RunState


def remark(view: View, run: str) -> str:
    """Return in a line what a check of the branch will warn of, and what mends it; nothing where it will not."""
    state, git = RunState(view, run), view.git
    found = runs.relied_on(state, Scope(code=partial(codestate.code_at, git, view.commits[0])))
    if not found:
        return ""
    told = f"{found[0].message}, and of {len(found) - 1} more like it" if found[1:] else found[0].message
    to_come = cache(lambda *paths: codestate.code_to_commit(git, [{"paths": paths}]))
    left = runs.relied_on(state, Scope(code=lambda paths: to_come(*paths))) if git.top is not None else found
    if all(one.code == "C007" for one in left):
        adding = "git add what is needed of what git does not track, then " if left else ""
        return f"check will warn until the code is committed: {told}: {adding}{codestate.COMMIT}"
    return f"check will warn: {told}: {found[0].fix}"
