"""What passes for the code as it is, whichever task it proves: it shows the same of tasks that were done before."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from memento_git.model.ids import kind_of
from memento_git.model.states import DONE
from memento_git.work import codestate, trust

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.model.work import Evidence
    from memento_git.review.scope import Scope
    from memento_git.work.state import RunState

MOST_COMMITS: Final = 1000


def ran(evidence: Evidence) -> tuple[str, ...]:
    """Return the kind, folder and words by which two pieces of evidence are of one command."""
    command = evidence.data.get("command", {"cwd": "", "argv": ()})
    return (evidence.kind, command["cwd"], *command["argv"])


class Passes:
    """The commands that prove done tasks, of those that are looked at in a run, and that saw all code as it is."""

    def __init__(self, state: RunState, scope: Scope) -> None:
        self.state, self.scope = state, scope

    def since(self, earlier: Iterable[Evidence]) -> list[tuple[Evidence, str]]:
        """Return the passes of the commands of some evidence, each with the task that it proves.

        None counts where the code that the evidence saw is not in history, but on a branch that was never merged: what
        passes now has not seen that work.
        """
        held = [one for one in earlier if "code" in one.data]
        found = [pair for one in held for pair in self._held.get(ran(one), ())]
        return found if found and all(trust.seen_by(one).get("tree") in self._past for one in held) else []

    @cached_property
    def _held(self) -> dict[tuple[str, ...], list[tuple[Evidence, str]]]:
        """Command -> what passes."""
        state, code = self.state, self.scope.code
        if code is None:
            return {}
        names = state.counting() if self.scope.groups is None else self.scope.groups
        done = [name for name in names if kind_of(name) == "task" and state.task_status(name) in DONE]
        found: dict[tuple[str, ...], list[tuple[Evidence, str]]] = {}
        for task in done:
            for one in state.pieces(state.proof(task).by):
                is_whole = "command" in one.data and "paths" not in trust.seen_by(one)
                if is_whole and trust.saw(one, code):
                    found.setdefault(ran(one), []).append((one, task))
        return found

    @cached_property
    def _past(self) -> set[str]:
        """The trees of the code in the latest commits."""
        view = self.state.view
        return {tree for _, tree in codestate.history(view.git, MOST_COMMITS, *view.commits)}
