"""What a check looks at, and what it is compared with. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memento_git.model.work import Event, Prose


class Scope(NamedTuple):
    """What is looked at, and beside what: `groups` None is all of the run, `added` are the events of the branch.

    `code` tells what the code is now, with the ids of some paths; `before` what it was at the base, `was` what the
    text of a run's record was there. `ended` tells which commits brought the end of a run, `beyond` for a gate and such
    commits which ones of the branch change code after them that no other run with that gate has seen; None where git
    cannot tell. `laid` tells whether a commit is what a merge would have made of one of some trees of code.
    """

    groups: Collection[str] | None = None
    added: Collection[str] = ()
    code: Callable[[Sequence[str]], Mapping[str, Any]] | None = None
    before: Callable[[Sequence[str]], Mapping[str, Any]] | None = None
    was: Callable[[str, str], Prose | None] | None = None
    ended: Callable[[Event], Sequence[str]] | None = None
    beyond: Callable[[str, tuple[str, ...]], Sequence[str] | None] | None = None
    laid: Callable[[str, tuple[str, ...]], bool] | None = None

    def severity(self, *events: str) -> str:
        """Return how grave it is that events are below policy: older ones met the policy of their day."""
        return "error" if any(name in self.added for name in events) else "warning"
