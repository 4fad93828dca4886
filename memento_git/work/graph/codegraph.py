"""The import graph of the code at a commit, read from git's objects alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memento_git.code.grammars import PYTHON
from memento_git.code.imports import syntax_trees
from memento_git.errors import adding
from memento_git.ledger import cache, imports
from memento_git.work import codestate
from memento_git.work.graph import graphs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memento_git.ledger.git import Git

    Row = dict[str, Any]

FORMAT: Final = 1
MOST_NAMED: Final = 50
KEPT_SNAPSHOTS: Final = 8


def snapshot(git: Git, commit: str) -> Row:
    """Return the graph of the code at a commit; what was read before is not read again."""
    tree = codestate.tree_at(git, commit)
    key = f"{FORMAT}:{','.join(syntax_trees.available())}"
    held: dict[str, Row] = cache.read(git, "graph.snapshots", key) or {}
    if tree not in held:
        held[tree] = _build(git, commit)
        cache.write(git, "graph.snapshots", key, dict(list(held.items())[-KEPT_SNAPSHOTS:]))
    return held[tree]


def as_bytes(held: Row) -> bytes:
    """Return a snapshot, or what else is told of a graph, as its file: the same is always the same bytes."""
    return json.dumps(held, sort_keys=True, indent=1, ensure_ascii=True).encode() + b"\n"


def _build(git: Git, commit: str) -> Row:
    found = imports.imports(git, commit)
    able = {PYTHON, *syntax_trees.available()}
    known = [source for source in found.sources if source.language in able]
    held = graphs.measure({path: sorted(others) for path, others in found.edges.items()})
    held["counts"] |= {
        "external": len(found.outside), "unresolved": found.unresolved, "not_readable": len(found.left),
        "not_parsed": len(found.sources) - len(known), "beyond_limit": found.beyond,
    }  # fmt: skip
    return {
        "format": FORMAT,
        **held,
        "languages": _count(source.language for source in found.read),
        "not_parsed": _count(source.language for source in found.sources if source.language not in able),
        "not_readable": dict(sorted(found.left.items())[:MOST_NAMED]),
    }


def export(git: Git, commit: str, folder: Path) -> None:
    """Write the source files of a commit into a folder, their bytes as git has them."""
    sources = [source for source in imports.sources(git, commit)[0] if source.size <= imports.LARGEST]
    sources = sources[: imports.MOST_FILES]
    for start in range(0, len(sources), imports.AT_ONCE):
        some = sources[start : start + imports.AT_ONCE]
        for source, data in zip(some, git.objects(source.blob for source in some), strict=True):
            place = folder / source.path
            if data is not None and place.resolve().is_relative_to(folder.resolve()):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)


def _count(languages: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(languages).items()))


def lacking(held: Row) -> str:
    """Return what should be said of files that were not looked into, or nothing."""
    installable = syntax_trees.QUERIES.keys() & held["not_parsed"].keys()
    told = ", ".join(f"{count} {language}" for language, count in held["not_parsed"].items())
    if not told:
        return ""
    hint = f"; to read more of them, {adding('graph')}" if installable else ""
    return f"files that are not part of this graph: {told}{hint}"
