"""What past work adds to what verification asks: failures of the files touched, and hot spots of the code. Pure.

It only ever adds. A command is asked again only if policy, a plan or a task names it: evidence may come from anywhere,
and must not be able to have a command of its own choice run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import some
from memento_git.model.markup import code
from memento_git.model.states import RUN_KINDS
from memento_git.work.proof.trust import outcome_of
from memento_git.work.proof.verdict import leaves
from memento_git.work.proof.verification import Source, is_below, named, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from memento_git.model.work import Evidence

MOST_COMMANDS: Final = 5


def overlap(one: Iterable[str], other: Sequence[str]) -> bool:
    """Tell whether two lists of files have a file in common, a folder being all that is in it."""
    return any(is_below(a, b) or is_below(b, a) for a in one for b in other)


def from_failures(runs: Iterable[Evidence], commands: Iterable[Mapping[str, Any]]) -> list[Source]:
    """Return what the latest of some runs ask where they failed; `commands` are those that texts name."""
    latest: dict[tuple[str, ...], Evidence] = {}
    for run in sorted(runs, key=lambda one: (one.data["at"], one.id)):
        key = (run.kind, run.data["command"]["cwd"], *run.data["command"]["argv"])
        if not leaves(run, latest.get(key)):
            latest[key] = run
    known = {(command.get("kind") or "test", ".", *named(command["run"])): command for command in commands}
    failed = [(key, found) for key, found in latest.items() if outcome_of(found.data) == "failed"]
    return _asks(sorted(failed, key=lambda one: one[1].data["at"], reverse=True), known)


def _asks(
    failed: Sequence[tuple[tuple[str, ...], Evidence]], known: Mapping[tuple[str, ...], Mapping[str, Any]]
) -> list[Source]:
    """Return the latest failures' commands where texts name them, and the kinds of all others, each once."""
    told: list[Source] = []
    again, kinds = 0, {"command"}
    for key, found in failed:
        rule = f"a failure of {found.id} for the same files ({code(shown(found.data['command']['argv']))})"
        if key in known and again < MOST_COMMANDS:
            again += 1
            told.append((rule, {"commands": [known[key]]}))
        elif found.kind in RUN_KINDS and found.kind not in kinds:
            kinds.add(found.kind)
            told.append((rule, {"evidence": [found.kind]}))
    return told


def from_graph(files: Sequence[str], evidence: str, hot_spots: Collection[str]) -> list[Source]:
    """Return what a graph of the code asks of a task about its hot spots."""
    touched = sorted(spot for spot in hot_spots if overlap(files, [spot]))
    if not touched:
        return []
    return [(f"the hot spot {some(touched, 1)} of {evidence}", {"evidence": ["test"]})]


def hot_spots(data: bytes) -> list[str]:
    """Return the hot spots that a graph names; none where it cannot be read: it can only ever add."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return []
    found = told.get("hot_spots") if isinstance(told, dict) else None
    paths = [one.get("path") if isinstance(one, dict) else one for one in found] if isinstance(found, list) else []
    return [path for path in paths if isinstance(path, str)]
