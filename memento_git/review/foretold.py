"""What a check will say of the work that a run's end or its release relies on, told to who asks for that."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memento_git.review import runs
from memento_git.review.scope import Scope
from memento_git.work import codestate
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.view import View


def remark(view: View, run: str) -> str:
    """Return in a line what a check of the branch will warn of, and what mends it; nothing where it will not."""
    code = partial(codestate.code_at, view.git, view.commits[0])
    found = runs.relied_on(RunState(view, run), Scope(code=code))
    if not found:
        return ""
    more = f", and of {len(found) - 1} more like it" if found[1:] else ""
    return f"check will warn: {found[0].message}{more}: {found[0].fix}"
