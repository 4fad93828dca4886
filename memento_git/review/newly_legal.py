"""What a base holds and could not fold, and what a branch brings lets it: that happens with the branch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from memento_git.ledger import grep, layout

if TYPE_CHECKING:
    from memento_git.ledger.events import EventLog
    from memento_git.ledger.view import View
    from memento_git.review.base_comparison import Comparison

FEW: Final = 100  # more of them make a command line longer than a reading of all that is named
NAMED: Final = re.compile(rb"event_[0-9a-z]+(?=@)")


def newly_legal(comparison: Comparison, runs: Iterable[str], arrived: Collection[str]) -> dict[str, frozenset[str]]:
    """Return run -> the events that are legal at the head and were not at the base, where the base named some arrived.

    Where it named none, all that it holds comes to what it came to there.
    """
    found = {}
    for run in sorted(runs):
        if _names(comparison.base, run, arrived):
            before = comparison.was(run)
            now = comparison.log(run)
            names = (*now.index.events, *now.tombstones)
            found[run] = frozenset(one for one in names if _is_legal(now, one) and not _is_legal(before, one))
    return found


def _names(base: View, run: str, events: Collection[str]) -> bool:
    """Tell whether an event of the base, or a file of an archive there, names one of some events by its digest.

    It may name any where YAML could spell that with other letters.
    """
    if not events or (run and run not in base.runs()):
        return False
    asked = [*(sorted(events) if len(events) <= FEW else ["event_"]), "\\"]
    told = [grep.lines(base.git, commit, layout.events_pattern(run), asked) for commit in base.commits]
    if f"{layout.ARCHIVE}/{run}" in base.folders:
        base.index(run)
        told += [base.read(path) or b"" for path in base.archived[run]]
    return any(
        re.search(layout.HIDING, text) or any(name.decode() in events for name in NAMED.findall(text)) for text in told
    )


def _is_legal(log: EventLog, event: str) -> bool:
    seen = log.fold.judged(event)
    return seen is not None and seen.verdict == "legal"
