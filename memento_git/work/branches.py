"""Where the work of a task lies: on branches of dispatches that HEAD does not have, or here."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from memento_git.ledger import checkouts, dispatch_branches
from memento_git.work.proof import proofs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memento_git.ledger.git import Git
    from memento_git.model.rows import Row
    from memento_git.work.state import RunState


def lacking(git: Git, state: RunState, task: str) -> list[str]:
    """Return the branches that hold the work of a task, each the same, where HEAD has none of them; else nothing."""
    counting = [event.dispatch for event in proofs.counting(state, task)]
    proving = proofs.proving(state, task) if counting[1:] else []
    return dispatch_branches.lacking(git, proving or counting)


def unmerged(git: Git, state: RunState, tasks: Iterable[str]) -> Iterator[Row]:
    """Yield the step for each task whose work HEAD lacks; where all branches are merged, git is asked once."""
    off = dispatch_branches.off_head(git)
    if not off:
        return
    for task in tasks:
        names = [event.dispatch for event in proofs.counting(state, task)]
        if any(checkouts.branch_of(name) in off for name in names) and (found := lacking(git, state, task)):
            title = state.told(task).title
            if found[1:]:
                yield {"why": f"“{title}” was done {len(found)} times", "command": f"memento dispatch select {task}"}
            else:
                yield {"why": f"“{title}” is not merged yet", "command": f"git merge {shlex.quote(found[0])}"}
