"""graphify, where it is installed: run beside the user's files, and what it wrote in short."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Refused
from memento_git.ledger import scratch
from memento_git.work.graph import codegraph
from memento_git.work.running import capture

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

    Row = dict[str, Any]

COMMAND: Final = "graphify"
OUT: Final = "graphify-out/graph.json"
LARGEST: Final = 256 * 1024 * 1024
KEEP: Final = 64 * 1024
TIMEOUT: Final = 900.0
MOST: Final = 20


class GraphifyMissing(Refused):
    token = "graphify_missing"
    sentence = "graphify was not found on PATH"
    hint_ = "pip install graphifyy, or leave --graphify away: imports are read without it"


class GraphifyFailed(Refused):
    token = "graphify_failed"
    sentence = "graphify failed: {reason}"
    hint_ = "nothing was recorded; run graphify update by hand to see more"


def status(git: Git) -> Row:
    """Return whether graphify is installed, and what it left in the work tree."""
    place = git.top / OUT if git.top is not None else None
    found = place is not None and place.is_file()
    installed = shutil.which(COMMAND) is not None
    state = "not_installed" if not installed and not found else "missing"
    if place is not None and found:
        state = "current" if _built_at(place) == git.answer("rev-parse", "HEAD") else "stale"
    return {"installed": installed, "command": COMMAND if installed else None, "state": state,
            "graph_json": OUT if found else None}  # fmt: skip


def _built_at(place: Path) -> str:
    """Return the commit that a graph of graphify's says it is of; it stands near the end of the file."""
    with place.open("rb") as stream:
        stream.seek(max(0, place.stat().st_size - KEEP))
        tail = stream.read().decode(errors="replace")
    return tail.rpartition('"built_at_commit"')[2].lstrip(': "')[:64].partition('"')[0]


def run(git: Git, commit: str) -> bytes:
    """Return in short what graphify says of the code at a commit; it works on a copy, outside the user's tree."""
    command = shutil.which(COMMAND)
    if command is None:
        raise GraphifyMissing
    with scratch.folder() as name:
        top = Path(name)
        codegraph.export(git, commit, top)
        ran = capture.run_command([command, "update", str(top)], top, keep=KEEP, timeout=TIMEOUT, quiet=True)
        if ran.exit or ran.timed_out:
            words = ran.stderr.end.decode(errors="replace").split("\n")
            said = next((line.strip() for line in reversed(words) if line.strip()), "it said nothing")
            raise GraphifyFailed(reason="it took too long" if ran.timed_out else f"exit code {ran.exit}: {said:.200}")
        return codegraph.as_bytes(_short(top / OUT))


def _short(place: Path) -> Row:
    """Return the counts, the busiest symbols and the communities of a graph of graphify's."""
    if not place.is_file() or place.stat().st_size > LARGEST:
        raise GraphifyFailed(reason=f"it left no {OUT}, or a huge one")
    try:
        held = json.loads(place.read_bytes())
        nodes = {str(node["id"]): node for node in held["nodes"]}
        links = held["links"] if "links" in held else held["edges"]
        relations = Counter(str(link["relation"]) for link in links)
        degree = Counter(str(link[end]) for link in links for end in ("source", "target"))
        groups: dict[str, set[str]] = {}
        for node in nodes.values():
            groups.setdefault(str(node.get("community")), set()).add(str(node.get("source_file")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GraphifyFailed(reason=f"its {OUT} is not as expected ({type(error).__name__}: {error})") from None
    busiest = sorted(nodes, key=lambda name: (-degree[name], name))[:MOST]
    return {
        "nodes": len(nodes),
        "links": len(links),
        "relations": relations,
        "communities": sorted((sorted(files) for files in groups.values()), key=lambda files: (-len(files), files)),
        "god_nodes": [
            {"label": str(nodes[name].get("label")), "path": str(nodes[name].get("source_file")), "links": degree[name]}
            for name in busiest
        ],
    }
