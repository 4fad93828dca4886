"""What passes for the code as it is, whichever task it proves: it shows the same of tasks that were done before."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from memento_git.work import codestate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from memento_git.ledger.view import View

One = TypeVar("One")
MOST_COMMITS: Final = 1000


class Passes(Generic[One]):
    """The commands that prove done tasks, and that saw all code as it is; each by its kind, folder and words."""

    def __init__(self, view: View, held: Callable[[], Mapping[tuple[str, ...], Sequence[One]]]) -> None:
        self.view, self._tell = view, held
        self._known: set[str] = set()

    def since(self, earlier: Collection[tuple[tuple[str, ...], str]]) -> list[One]:
        """Return the passes of some commands, each of which is told with the tree of the code that it saw before.

        None counts where that code is not in history, but on a branch that was never merged: what passes now has not
        seen that work.
        """
        found = [one for command, _ in earlier for one in self._held.get(command, ())]
        return found if found and self._had({tree for _, tree in earlier}) else []

    @cached_property
    def _held(self) -> Mapping[tuple[str, ...], Sequence[One]]:
        return self._tell()

    @cached_property
    def _past(self) -> Iterator[tuple[str, str]]:
        return codestate.history(self.view.git, MOST_COMMITS, *self.view.commits)

    def _had(self, trees: set[str]) -> bool:
        """Tell whether the latest commits had all of these trees of code; no more are read than it takes."""
        while trees - self._known and (pair := next(self._past, None)):
            self._known.add(pair[1])
        return trees <= self._known
