"""What another project had, whose history a merge put into a folder of this one: it was never on the branch."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

from memento_git.ledger import commits, origin

if TYPE_CHECKING:
    from memento_git.review.against import Comparison


class JoinedProjects:
    """Tells what was another project's alone."""

    def __init__(self, comparison: Comparison) -> None:
        self.git, self.story = comparison.git, comparison.story
        self.base, self.head = comparison.base, comparison.head
        self._history = cache(self._own_history)

    def had(self, file: str, taker: str) -> bool:
        """Tell whether all that ever had a file, which a commit took away, are commits of another project."""
        sides = [one for one in commits.parents(self.git, taker) if self.git.entries(one, file)]
        histories = [self._history(side) for side in sides]
        writers = {one.commit for one in self.story.written.get(file, ())}
        return bool(sides) and all(histories) and writers <= frozenset().union(*histories)

    def _own_history(self, side: str) -> frozenset[str]:
        """Return the commits of a side that is another project's, none of one that is not."""
        is_other = origin.began_elsewhere(self.git, side, self._roots) and not self._shares(side)
        return frozenset(self.git.run("rev-list", side).decode().split() if is_other else ())

    def _shares(self, side: str) -> bool:
        """Tell whether a commit has a record that the base or the head has as well, or one of a run of theirs."""
        return origin.shares(self.git, side, self._runs, self.base.files, self.head.files)

    @cached_property
    def _roots(self) -> list[str]:
        return origin.roots(self.git, self.base.commits)

    @cached_property
    def _runs(self) -> frozenset[str]:
        return frozenset([*self.base.runs(), *self.head.runs()])
