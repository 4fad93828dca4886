"""Places in the code that foreign notes name, held against the code as it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memento_git.knowledge import following, passages
from memento_git.knowledge.pinning import AnchorMissing, pin
from memento_git.model import anchors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memento_git.knowledge.following import Follower
    from memento_git.ledger.git import Git
    from memento_git.ledger.standing import Standing
    from memento_git.model.anchors import Anchor


class Placed(NamedTuple):
    """An anchor as it is kept, and what should be known of it."""

    anchor: Anchor
    told: str = ""


def placed(git: Git, wanted: Mapping[str, str]) -> dict[str, Placed]:
    """Return each place pinned where it is here; the text beside it, if any, says which lines were meant.

    What is not here is kept unpinned, for the note was about it; lines whose text is not here become the whole file.
    """
    if not wanted:
        return {}
    parsed = {place: anchors.parse(place) for place in wanted}
    with following.opened(git) as follower:
        now = follower.work_tree(list(parsed.values())) if git.top is not None else None
        head = follower.head()
        return {place: _one(anchor, wanted[place], follower, head, now) for place, anchor in parsed.items()}


def _one(anchor: Anchor, quote: str, follower: Follower, head: Standing | None, now: Standing | None) -> Placed:
    here, told = now or head, ""
    if quote and anchor.lines and here is not None:
        found = _found(anchor, quote, follower, here)
        if found != anchor:
            told = f"{anchor} is now {found}"
        anchor = found
    try:
        return Placed(pin(anchor, follower, head, now), told)
    except AnchorMissing as missing:
        return Placed(anchor, f"{anchor} is kept unpinned: {missing.facts['why']}")


def _found(anchor: Anchor, quote: str, follower: Follower, here: Standing) -> Anchor:
    """Return the lines that have the text that was meant; the file alone where they are not there, or not once."""
    text = follower.texts.text(here.blob(anchor.path)) if anchor.path in here.entries else None
    found = passages.find_quote(quote, text) if text is not None else []
    return anchor._replace(lines=found[0] if len(found) == 1 else None)
