"""A graph that was written down as JSON: by this tool, or by another as a summary. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Misused
from memento_git.work.cycles import turned
from memento_git.work.graph import graphs

if TYPE_CHECKING:
    from memento_git.model.rows import Row

LONGEST: Final = 64 * 1024 * 1024
COUNTS: Final = {
    "nodes": "nodes", "edges": "edges", "components": "components", "cross_community_edges": "crossing",
}  # fmt: skip
KNOWN: Final = ("hot_spots", "god_nodes", "cycles", "modularity", *COUNTS)


class SnapshotInvalid(Misused):
    token = "graph_snapshot_invalid"
    sentence = "{where} is not a snapshot of a graph: {problem}"
    hint_ = "give what memento graph update attached, or a summary with some of: " + ", ".join(KNOWN)


def read(where: str, text: bytes) -> Row:
    """Return a snapshot that `compare` takes; whatever it says of its own edges is measured again."""
    if len(text) > LONGEST:
        raise SnapshotInvalid(where=where, problem=f"it has more than {LONGEST} bytes")
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotInvalid(where=where, problem=f"it is not JSON ({error})") from None
    if not isinstance(held, dict):
        raise SnapshotInvalid(where=where, problem="an object is expected")
    if isinstance(held.get("edges"), dict):
        return graphs.measure(_edges(where, held["edges"]))
    if not any(key in held for key in KNOWN):
        raise SnapshotInvalid(where=where, problem="it has none of the keys of one")
    return {
        "hot_spots": [{"path": path} for path in _names(where, held)],
        "cycles": [turned(cycle) for cycle in _cycles(where, held.get("cycles", []))],
        "modularity": _number(where, "modularity", held.get("modularity", 0), whole=False),
        "counts": {
            ours: _number(where, theirs, held[theirs], whole=True) for theirs, ours in COUNTS.items() if theirs in held
        },
    }


def _edges(where: str, held: Row) -> dict[str, list[str]]:
    for path, others in held.items():
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise SnapshotInvalid(where=where, problem=f"the edges of {path!r:.60} are not a list of paths")
        if strange := [other for other in others if other not in held]:
            raise SnapshotInvalid(where=where, problem=f"an edge leads to {strange[0]!r:.60}, which is not in it")
    return held


def _names(where: str, held: Row) -> list[str]:
    found = held.get("hot_spots", held.get("god_nodes", []))
    names = [one.get("path") if isinstance(one, dict) else one for one in found] if isinstance(found, list) else [None]
    if not all(isinstance(name, str) and name for name in names):
        raise SnapshotInvalid(where=where, problem="its hot spots are not a list of names")
    return [str(name) for name in names]


def _cycles(where: str, found: Any) -> list[list[str]]:
    ok = isinstance(found, list) and all(
        isinstance(cycle, list) and cycle and all(isinstance(one, str) for one in cycle) for cycle in found
    )
    if not ok:
        raise SnapshotInvalid(where=where, problem="its cycles are not lists of paths")
    return list(found)


def _number(where: str, key: str, value: Any, *, whole: bool) -> Any:
    fits = isinstance(value, int) and value >= 0 if whole else isinstance(value, (int, float)) and -1 <= value <= 1
    if isinstance(value, bool) or not fits:
        raise SnapshotInvalid(where=where, problem=f"{key} is {value!r:.40}")
    return value
