"""mnemo's store: nodes, the active set and chains, all of them JSON files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from memento_git.knowledge.foreign import entries, files
from memento_git.knowledge.foreign.entries import Entry, Found, SourceUnreadable
from memento_git.knowledge.foreign.values import Values
from memento_git.model.clock import seconds_of
from memento_git.model.enumeration import many
from memento_git.model.exchange import LeftOut

ADDRESS: Final = re.compile(r"[0-9a-f]{12}")
KINDS: Final = {"architecture": "fact", "decisions": "decision", "patterns": "lesson", "tasks": "fact",
                "issues": "lesson", "history": "event", "feedback": "preference"}  # fmt: skip
MARKS: Final = {"gap": "gap", "ask": "question", "checkpoint": "checkpoint", "handoff": "checkpoint", "arc": "goal"}
ARCS: Final = {"completed": ("finished", "so it was where it came from"), "paused": ("parked", "its arc was paused")}
CHAIN: Final = ("chain_id", "members", "summary", "status", "stash_reason", "domain", "head", "tail", "last_extended",
                "created", "score", "authority")  # fmt: skip
SURVEYS: Final = "feedback"
NOT_NOTES: Final = {
    "root": "it is a root: a list of what was active",
    "pipeline": "it is a pipeline, not knowledge: save it with memento recipe",
    "vector": "it is a vector of pipelines, not knowledge: save it with memento recipe",
}


def read(folder: Path) -> Found:
    """Return the notes of a store: of the folder `.mnemo` itself, or of the project that it lies in."""
    store = folder if (folder / "nodes").is_dir() else folder / ".mnemo"
    if not (store / "nodes").is_dir():
        raise SourceUnreadable(where=folder.name, problem="it has no folder nodes, so it is no store of mnemo")
    skipped: list[LeftOut] = []
    nodes = _nodes(store / "nodes", skipped)
    active = _active(store, nodes)
    threads, stashed = _threads(store, skipped)
    succeeded = {old for node in nodes.values() for old in _taken(node)}
    made = []
    for name, node in nodes.items():
        if why := NOT_NOTES.get(node["type"], ""):
            skipped.append(LeftOut(f"nodes/{name}.json", why))
            continue
        entry = _entry(name, node, threads.get(name, ""))
        if name not in active and name not in succeeded:
            state = "parked" if name in stashed else "retired"
            entry = entry._replace(state=state, reason=stashed.get(name, "mnemo did not count it as active"))
        elif name in succeeded:
            entry = entry._replace(state="")
        elif node["meta"].get("domain") == SURVEYS:
            entry = entry._replace(state="parked", reason="what was said of a session is kept apart")
        made.append(entry)
    drafts = [one.name for one in sorted((store / "sessions").glob("*/nodes"))] if (store / "sessions").is_dir() else []
    if drafts:
        told = f"{many(len(drafts), 'session')} may have drafts of their own: import each by its path"
        skipped.append(LeftOut("sessions", told))
    return Found(sorted(made, key=lambda entry: (entry.at, entry.name)), skipped)


def _nodes(folder: Path, skipped: list[LeftOut]) -> dict[str, dict[str, Any]]:
    nodes: dict[str, dict[str, Any]] = {}
    for file, text in files.below(folder, (".json",), skipped):
        where = f"nodes/{file}"
        try:
            node = json.loads(text)
        except (ValueError, RecursionError) as error:
            skipped.append(LeftOut(where, f"it is no JSON: {error}"))
            continue
        name = str(node.get("addr") or file.removesuffix(".json")) if isinstance(node, dict) else ""
        if not ADDRESS.fullmatch(name) or not isinstance(node.get("content"), str) or not node["content"].strip():
            skipped.append(LeftOut(where, "it has no address of mnemo, or no content"))
            continue
        meta = node.get("meta")
        nodes[name] = {**node, "type": str(node.get("type")), "meta": meta if isinstance(meta, dict) else {}}
    return nodes


def _active(store: Path, nodes: Mapping[str, Any]) -> set[str]:
    """Return the addresses that count; all of them where the store does not say."""
    path = store / "active.json"
    if not path.exists():
        return set(nodes)
    held = _json(path)
    if not isinstance(held, list):
        raise SourceUnreadable(where=path.name, problem="it is no list")
    return {str(one) for one in held}


def _json(path: Path) -> Any:
    try:
        return json.loads(files.whole(path, 64 * entries.LARGEST))
    except (ValueError, RecursionError) as error:
        raise SourceUnreadable(where=path.name, problem=f"it is no JSON: {error}") from None


def _threads(store: Path, skipped: list[LeftOut]) -> tuple[dict[str, str], dict[str, str]]:
    """Return for each member of a chain the chain's name, and for those of stashed chains alone the reason."""
    path = store / "chains.json"
    held = _json(path) if path.exists() else {}
    if not isinstance(held, dict):
        raise SourceUnreadable(where=path.name, problem="it is no mapping")
    threads: dict[str, str] = {}
    stashed: dict[str, str] = {}
    kept: set[str] = set()
    for name, chain in held.items():
        if not isinstance(chain, dict) or not isinstance(chain.get("members"), list):
            skipped.append(LeftOut(f"chains.json: {name}", "it is no chain with members"))
            continue
        beside = Values({key: value for key, value in chain.items() if value})
        beside.rest(*CHAIN)
        skipped += [LeftOut(f"chains.json: {name}", why) for why in beside.told]
        told = entries.one_line(str(chain.get("summary") or name))
        for member in map(str, chain["members"]):
            if member in threads and threads[member] != told:
                skipped.append(LeftOut(f"chains.json: {name}", f"{member} is in the thread {threads[member]} already"))
            threads.setdefault(member, told)
            if chain.get("status") == "stashed":
                stashed[member] = str(chain.get("stash_reason") or "its chain was stashed")
            else:
                kept.add(member)
    return threads, {name: why for name, why in stashed.items() if name not in kept}


def _entry(name: str, node: Mapping[str, Any], thread: str) -> Entry:
    values, whole = Values(node["meta"]), Values(node)
    inputs = node.get("inputs")
    sources = [str(one) for one in inputs] if isinstance(inputs, list) else []
    domain = values.domain("domain")
    quotes = _quotes(values)
    is_summary = node["type"] == "compress"
    marked = [kind for mark, kind in MARKS.items() if values.flag(mark)]
    state, reason = ARCS.get(str(values.first("arc_status")[1]), ("", ""))
    made = whole.moment("created")
    options = entries.given(
        kind="summary" if is_summary else next(iter(marked), KINDS.get(domain, "fact")),
        domain=domain,
        importance=values.share("priority"),
        confidence=values.share("confidence"),
        expires=_expires(values, made),
        thread=thread,
        about=tuple(quotes),
        sources=(f"mnemo:{name}", *(f"mnemo:{one}" for one in sources)),
    )
    old = _taken(node)
    entry = Entry(
        f"nodes/{name}.json", name, node["content"], options, at=made, links=values.links("links", "addr"),
        state=state, reason=str(values.first("reason")[1] or reason), supersedes=() if is_summary else old,
        merges=old if is_summary else (), quotes=quotes,
    )  # fmt: skip
    values.rest("supersedes")
    whole.rest("addr", "type", "content", "inputs", "meta")
    return entry._replace(told=(*values.told, *whole.told))


def _quotes(values: Values) -> dict[str, str]:
    """Return each place in the code that a node is anchored to, and the text that stood there."""
    found = {}
    for one in values.members("anchors"):
        place = _anchor(one) if isinstance(one, dict) else ""
        if place:
            found[place] = str(one.get("context_lines") or "")
        else:
            values.without("anchors", one, "names no place in the code")
    return found


def _taken(node: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the nodes whose place a node took; of an arc, what it says beside is copied from the one before."""
    inputs = node.get("inputs")
    if node["type"] == "compress" and isinstance(inputs, list):
        return tuple(dict.fromkeys(map(str, inputs)))
    old = inputs[0] if isinstance(inputs, list) and inputs else node["meta"].get("supersedes")
    return (str(old),) if node["type"] == "supersede" and old else ()


def _expires(values: Values, made: str) -> str:
    """Return when a node's time is over."""
    name, days = values.first("ttl_days")
    if days in (None, 0):
        return values.moment("expires", "expires_at")
    is_length = isinstance(days, (int, float)) and days > 0
    expires = entries.moment(seconds_of(made) + days * 86_400) if made and is_length else ""
    if not expires:
        values.lacks(name, days, "no length of time from when it was made")
    return expires


def _anchor(anchor: Mapping[str, Any]) -> str:
    """Return a place in the code as it is typed; nothing where an anchor names none."""
    path, hint = str(anchor.get("path") or anchor.get("file") or "").replace("\\", "/"), anchor.get("line_hint")
    match anchor.get("type"):
        case "file":
            told = path
        case "grep":
            told = f"pattern:{path or '**'}:{anchor.get('pattern') or ''}"
        case "dependency":
            told = f"dep:{anchor.get('name') or ''}"
        case "content_hash":
            count = len(str(anchor.get("context_lines") or "").strip("\n").splitlines()) or 1
            told = f"{path}:{hint}-{hint + count - 1}" if isinstance(hint, int) and hint > 0 else path
        case _:
            return ""
    return next(iter(entries.places(told)), "")
