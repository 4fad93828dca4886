"""Which evidence of a run is a second run of which, and what that says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.model.enumeration import grouped
from memento_git.model.ids import parse_ref
from memento_git.work.proof import evidence_prefilter, rerun_comparison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.model.objection import Objection
    from memento_git.model.work import Evidence
    from memento_git.work.state import RunState


def of(state: RunState, evidence: Evidence) -> list[Evidence]:
    """Return the evidence of a run that says it ran another's command again."""
    if "command" not in evidence.data:
        return []
    return state.pieces(_table(state).get(evidence.id, ()))


def seen(state: RunState, evidence: Evidence) -> rerun_comparison.Seen:
    """Return what standing, witnessed reruns of its command say of evidence."""
    return rerun_comparison.judged(evidence, _witnessed(state, evidence), lambda one: runner(state, one))


def contradiction(state: RunState, evidence: Evidence) -> Objection:
    """Return what speaks against evidence, or nothing; whose signature a rerun bears does not matter for that."""
    return rerun_comparison.judged(evidence, _witnessed(state, evidence)).contradicted


def denying(state: RunState, evidence: Evidence) -> list[Evidence]:
    """Return the second runs, of other evidence, in which the same command ended otherwise on the same code."""
    names = [name for first, names in _table(state).items() if first != evidence.id for name in names]
    return [one for one in _holding(state, state.pieces(names)) if rerun_comparison.denies(one.data, evidence.data)]


def _witnessed(state: RunState, evidence: Evidence) -> list[Evidence]:
    return _holding(state, of(state, evidence))


def _holding(state: RunState, found: Iterable[Evidence]) -> list[Evidence]:
    """Return the evidence that stands, and that Memento has witnessed."""
    standing = [one for one in found if state.evidence_status(one.id) == "recorded"]
    return [one for one in standing if state.witnessed(one) == "witnessed"]


def runner(state: RunState, rerun: Evidence) -> rerun_comparison.Runner:
    """Return who ran a command again; whose signatures count is read only where there is one."""
    if "signature" not in rerun.data:
        return rerun_comparison.NOBODY
    if state.runners is None:
        from memento_git.work.proof.runners import Runners

        state.runners = Runners(state.view, keep=state.shown)
    return state.runners.of(rerun)


def is_sure(state: RunState) -> bool:
    """Keep what was found of signatures, and tell whether all could be checked here."""
    if state.runners is not None:
        state.runners.close()
    return state.runners is None or not state.runners.unsure


def _table(state: RunState) -> dict[str, list[str]]:
    """Return id -> ids of what names it as run again; listed anew where the run has more evidence than it had."""
    paths = state.index.evidence
    if state.reruns[0] != len(paths):
        found = state.pieces(evidence_prefilter.suspects(state))
        named = grouped((parse_ref(ref).id, one.id) for one in found if (ref := one.data.get("reproduces")))
        state.reruns = (len(paths), named)
    return state.reruns[1]
