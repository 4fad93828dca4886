"""Which evidence of a run is a second run of which: found by a word in its bytes, so that few files are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.model.ids import parse_ref

if TYPE_CHECKING:
    from memento_git.model.work import Evidence
    from memento_git.work.state import RunState

MARK: Final = b"reproduces"


def of(state: RunState, evidence: Evidence) -> list[Evidence]:
    """Return the evidence of a run that says it ran another's command again."""
    if "command" not in evidence.data:
        return []
    found = (state.evidence(name) for name in _table(state).get(evidence.id, ()))
    return [one for one in found if one is not None]


def _table(state: RunState) -> dict[str, list[str]]:
    """Return id -> ids of what names it as run again; listed anew where the run has more evidence than it had."""
    paths, view = state.index.evidence, state.view
    if state.reruns[0] != len(paths):
        view.fetch(path for path in paths.values() if path not in view.decoded)
        found: dict[str, list[str]] = {}
        for name, path in paths.items():
            if path in view.decoded or MARK in view.contents.get(path, b""):
                one = state.evidence(name)
                if one is not None and (ref := one.data.get("reproduces")):
                    found.setdefault(parse_ref(ref).id, []).append(name)
        state.reruns = (len(paths), found)
    return state.reruns[1]
