"""An import graph, measured and compared: cycles, hot spots, components, communities. Pure; only here is networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused, adding
from memento_git.work.cycles import turned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memento_git.model.rows import Row

Edges = dict[str, list[str]]
HOT: Final = 8
MOST_CYCLES: Final = 100
MOST_COUNTED: Final = 2000
MOST_CHECKED: Final = 500
LEAST_GROWTH: Final = 10
LEAST_DROP: Final = 0.05


class GraphExtraMissing(Refused):
    token = "graph_extra_missing"
    sentence = "this needs networkx, which is not installed"
    hint_ = adding("graph")


def _networkx() -> Any:
    try:
        import networkx as nx
    except ImportError:
        raise GraphExtraMissing from None
    return nx


def _digraph(edges: Mapping[str, Iterable[str]]) -> Any:
    graph = _networkx().DiGraph()
    graph.add_nodes_from(sorted(edges))
    graph.add_edges_from((path, other) for path in sorted(edges) for other in sorted(edges[path]))
    return graph


def measure(edges: Edges) -> Row:
    """Return what a graph comes to: the same edges always give the same answer."""
    nx, graph = _networkx(), _digraph(edges)
    cycles, knots = _cycles(graph)
    parts = sorted(
        (sorted(part) for part in nx.weakly_connected_components(graph)), key=lambda part: (-len(part), part)
    )
    groups, hot, has_edges = _communities(graph), hot_spots(graph), graph.number_of_edges() > 0
    modularity = nx.community.modularity(graph.to_undirected(), groups) if has_edges else 0.0
    return {
        "edges": {path: sorted(others) for path, others in sorted(edges.items())},
        "cycles": cycles[:MOST_CYCLES],
        "hot_spots": hot,
        "components": sorted((len(part) for part in parts if len(part) > 1), reverse=True),
        "communities": [group for group in groups if len(group) > 1],
        "modularity": float(round(modularity, 3)),
        "counts": {
            "nodes": graph.number_of_nodes(),
            "edges": graph.number_of_edges(),
            "cycles": len(cycles),
            "in_cycles": knots,
            "components": len(parts),
            "hot_spots": len(hot),
            "communities": len(groups),
        },
    }


def hot_spots(graph: Any) -> list[Row]:
    """Return the files that many import and that import many: at least eight both ways, by the product of both."""
    rows = [
        {"path": path, "fan_in": graph.in_degree(path), "fan_out": graph.out_degree(path),
         "score": graph.in_degree(path) * graph.out_degree(path)}
        for path in graph if graph.in_degree(path) >= HOT and graph.out_degree(path) >= HOT
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row["score"], row["path"]))


def _cycles(graph: Any) -> tuple[list[list[str]], int]:
    """Return cycles so that each file that is in one is in one of them, and how many files that are.

    Of each file not listed yet, the shortest cycle through it, from its least path on.
    """
    nx, found = _networkx(), list[list[str]]()
    knotted = 0
    for part in sorted(sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1):
        knotted += len(part)
        inner = graph.subgraph(part)
        listed: set[str] = set()
        for path in part:
            if path not in listed and len(found) < MOST_COUNTED:
                back = nx.single_target_shortest_path(inner, path)
                ways = [back[other] for other in sorted(inner.successors(path)) if other in back]
                cycle = turned(min(ways, key=lambda way: (len(way), way)))
                listed.update(cycle)
                found.append(cycle)
    return sorted(found, key=lambda cycle: (len(cycle), cycle)), knotted


def _communities(graph: Any) -> list[list[str]]:
    """Return the groups of files that import one another more than others, largest first."""
    if not graph.number_of_edges():
        return [[path] for path in graph]
    groups = _networkx().community.louvain_communities(graph.to_undirected(), seed=0)
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group))


def compare(before: Row, after: Row, policy: Mapping[str, Any]) -> Row:
    """Return what changed from one graph to another, and what of it policy warns of or refuses.

    Both are snapshots of `measure`, or summaries without edges, of which counts alone are compared.
    """
    whole = "edges" in before and "edges" in after
    known, now = (one.get("cycles", ()) for one in (before, after))
    fresh = new_cycles(before["edges"], after["edges"]) if whole else sorted(one for one in now if one not in known)
    gone = [cycle for cycle in known if not (_still(cycle, after["edges"]) if whole else cycle in now)]
    hot_before = {row["path"] for row in before.get("hot_spots", ())}
    hot_after = {row["path"] for row in after.get("hot_spots", ())}
    warnings = [
        *_warned("new_cycle", policy["cycles"], [(" -> ".join([*cycle, cycle[0]]), cycle) for cycle in fresh]),
        *_warned(
            "new_hot_spot", policy["hot_spots"],
            [(f"{path} is now imported by many and imports many", [path]) for path in sorted(hot_after - hot_before)],
        ),
        *_grown(before["counts"], after["counts"], policy),
        *_looser(before, after, policy),
    ]  # fmt: skip
    refused = any(row["level"] == "refuse" for row in warnings)
    return {
        "warnings": warnings,
        "risk": "high" if refused else "medium" if warnings else "low",
        "blocking": refused,
        "advisory": not refused,
        "before": before["counts"],
        "after": after["counts"],
        "new_cycles": fresh,
        "vanished_cycles": gone,
        "new_hot_spots": sorted(hot_after - hot_before),
        "vanished_hot_spots": sorted(hot_before - hot_after),
        "components": _joined(before["edges"], after["edges"]) if whole else {"merged": [], "split": []},
    }


def _warned(kind: str, level: str, found: Sequence[tuple[str, list[str]]]) -> list[Row]:
    if level == "ignore":
        return []
    return [{"kind": kind, "level": level, "message": message, "paths": paths} for message, paths in found]


def new_cycles(before: Edges, after: Edges) -> list[list[str]]:
    """Return the shortest cycle through each edge that was not there before; the first 500 such edges are looked at."""
    nx, graph = _networkx(), _digraph(after)
    where = {path: number for number, part in enumerate(nx.strongly_connected_components(graph)) for path in part}
    fresh = [
        (path, other)
        for path, other in graph.edges
        if where[path] == where[other] and other not in before.get(path, ())
    ]
    found = {tuple(turned(nx.shortest_path(graph, other, path))) for path, other in fresh[:MOST_CHECKED]}
    return sorted((list(cycle) for cycle in found), key=lambda cycle: (len(cycle), cycle))


def _still(cycle: Sequence[str], edges: Edges) -> bool:
    return all(other in edges.get(path, ()) for path, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def _grown(before: Row, after: Row, policy: Mapping[str, Any]) -> list[Row]:
    found: list[tuple[str, list[str]]] = []
    for key, told, least in (("edges", "imports", LEAST_GROWTH), ("crossing", "edges between communities", 1)):
        old, new = before.get(key), after.get(key)
        if old and new and new - old >= least and new * 100 > old * (100 + policy["growth"]):
            found.append((f"{told} grew from {old} to {new}, by more than {policy['growth']} %", []))
    return _warned("edges_grew", policy["edges"], found)


def _looser(before: Row, after: Row, policy: Mapping[str, Any]) -> list[Row]:
    old, new = before.get("modularity") or 0, after.get("modularity") or 0
    if not old or old - new <= LEAST_DROP:
        return []
    level = "ignore" if policy["edges"] == "ignore" else "warn"
    return _warned("modularity_decreased", level, [(f"the code falls apart into groups less well: {old} to {new}", [])])


def _joined(before: Edges, after: Edges) -> Row:
    """Return the connected parts that came together and fell apart, as the first paths of each; new files join none."""
    both = before.keys() & after.keys()
    old, new = _parts(before), _parts(after)
    return {"merged": _across(both, old, new), "split": _across(both, new, old)}


def _parts(edges: Edges) -> dict[str, str]:
    return {path: min(part) for part in _networkx().weakly_connected_components(_digraph(edges)) for path in part}


def _across(paths: Iterable[str], one: Mapping[str, str], other: Mapping[str, str]) -> list[list[str]]:
    """Return the groups of parts of one graph that are a single part of the other."""
    held: dict[str, set[str]] = {}
    for path in paths:
        held.setdefault(other[path], set()).add(one[path])
    return sorted(sorted(group) for group in held.values() if len(group) > 1)
