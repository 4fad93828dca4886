"""What redactions leave of answers and checks: whose they were, about what, and how they ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento_git.folding.settling import takes_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memento_git.work.state import RunState

    Gone = Mapping[str, list[dict[str, Any]]]


def taken_away(state: RunState) -> Gone:
    """Return what redacted answers and checks still say, by their id."""
    return {name: left_of(state, name) for name in state.index.left_of("evidence")}


def left_of(state: RunState, evidence: str) -> list[dict[str, Any]]:
    """Return what redactions of an answer or a check say that it was, each differing one; nothing of other evidence."""
    told = [seen.event for seen in state.folded(evidence).events if seen.verdict == "legal" and takes_out(seen.event)]
    found: list[dict[str, Any]] = []
    for kept in (one.data.get("kept") for one in told):
        if isinstance(kept, dict) and kept not in found:
            found.append(kept)
    return found


def said(gone: Gone) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each thing that is left, with the id that it is left of."""
    return ((name, kept) for name, left in gone.items() for kept in left)
