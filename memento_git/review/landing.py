"""What a branch changes of the code after its runs have ended, so that their gates have not seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger.brought import changing_code
from memento_git.model.ids import is_id
from memento_git.work.gates import gatehold, gates

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.ledger.brought import Ends
    from memento_git.review.against import Comparison


def is_laid(comparison: Comparison, commit: str, seen: tuple[str, ...]) -> bool:
    """Tell whether a commit of a branch is what a merge would have made of one of the trees of code that were seen."""
    from memento_git.work import squashes

    return squashes.brings(comparison.base.git, commit, comparison.base.commits, seen)


def beyond(
    comparison: Comparison, ends: Ends, laid: Callable[[str, tuple[str, ...]], bool], gate: str, seen: tuple[str, ...]
) -> list[str] | None:
    """Return the commits of a branch that change code, but for those that lead to commits which a gate has seen.

    Those are the `seen` ones, and the ends of the other runs that the branch touched, that were completed, and that the
    gate had passed for, on the code that each of them ended with: of one that was cancelled nobody asks whether its
    work was done. Commits of the base are the base's. It is None where git cannot tell.
    """
    states = [comparison.state(run) for run in comparison.touched() if is_id(run, "run")]
    done = [state for state in states if state.status == "completed"]
    given = [(state, event) for state in done for event in gates.passes(state, state.id, gate)]
    own = ((state, event, laid if event.id in comparison.added else None) for state, event in given)
    others = {one for state, event, how in own for one in gatehold.fresh_ends(state, event, ends.of, how)}
    return changing_code(comparison.base.git, comparison.head.commits[0], [*comparison.base.commits, *seen, *others])
