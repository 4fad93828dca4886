"""The import graph of the code at a commit, read from git's objects alone."""

from __future__ import annotations

import json
import re
from posixpath import dirname
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.code import grammars
from memento_git.code.languages import GRAMMARS, PYTHON, language_of
from memento_git.ledger import cache
from memento_git.work import codestate, graphs
from memento_git.work.imports import python, trees
from memento_git.work.imports.elsewhere import go_node
from memento_git.work.imports.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from memento_git.ledger.git import Git

    Row = dict[str, Any]
    Parsed = list[Any]

FORMAT: Final = 1
LARGEST: Final = 1024 * 1024
MOST_FILES: Final = 20_000
MOST_NAMED: Final = 50
AT_ONCE: Final = 500
KEPT_SNAPSHOTS: Final = 8
FILE_MODES: Final = ("100644", "100755")
MODULE: Final = re.compile(rb"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


class Source(NamedTuple):
    """One source file of a commit."""

    path: str
    language: str
    blob: str
    size: int


def snapshot(git: Git, commit: str, progress: Callable[[int, int], None] | None = None) -> Row:
    """Return the graph of the code at a commit; what was read before is not read again."""
    tree = codestate.code_at(git, commit)["tree"]
    key = f"{FORMAT}:{','.join(grammars.available())}"
    held: dict[str, Row] = cache.read(git, "graph.snapshots", key) or {}
    if tree not in held:
        held[tree] = _build(git, commit, progress)
        cache.write(git, "graph.snapshots", key, dict(list(held.items())[-KEPT_SNAPSHOTS:]))
    return held[tree]


def as_bytes(held: Row) -> bytes:
    """Return a snapshot as its file: the same graph is always the same bytes."""
    return json.dumps(held, sort_keys=True, indent=1, ensure_ascii=True).encode() + b"\n"


def _build(git: Git, commit: str, progress: Callable[[int, int], None] | None) -> Row:
    sources, go_files = _sources(git, commit)
    able = {PYTHON, *grammars.available()}
    known = [source for source in sources if source.language in able]
    fit = [source for source in known if source.size <= LARGEST][:MOST_FILES]
    parsed = _parse(git, fit, progress)
    modules = _go_modules(git, go_files)
    resolver = Resolver((source.path for source in fit), modules)
    edges: dict[str, set[str]] = {_node(source): set() for source in fit}
    outside: set[str] = set()
    unresolved = 0
    for source in fit:
        for told in parsed[_key(source)][0]:
            found = resolver.find(source.path, source.language, told)
            if found.inside in edges and found.inside != _node(source):
                edges[_node(source)].add(found.inside)
            elif found.outside:
                outside.add(f"{source.language}:{found.outside}")
            elif not found.inside and source.language != PYTHON:
                unresolved += 1
    left = {source.path: f"larger than {LARGEST} bytes" for source in known if source.size > LARGEST}
    left |= {source.path: problem for source in fit if (problem := parsed[_key(source)][1])}
    held = graphs.measure({path: sorted(others) for path, others in edges.items()})
    held["counts"] |= {
        "external": len(outside), "unresolved": unresolved, "not_readable": len(left),
        "not_parsed": len(sources) - len(known), "beyond_limit": max(0, len(known) - len(fit) - _large(known)),
    }  # fmt: skip
    return {
        "format": FORMAT,
        **held,
        "languages": _count(source.language for source in fit),
        "not_parsed": _count(source.language for source in sources if source.language not in able),
        "not_readable": dict(sorted(left.items())[:MOST_NAMED]),
    }


def export(git: Git, commit: str, folder: Path) -> None:
    """Write the source files of a commit into a folder, their bytes as git has them."""
    sources = [source for source in _sources(git, commit)[0] if source.size <= LARGEST][:MOST_FILES]
    for start in range(0, len(sources), AT_ONCE):
        some = sources[start : start + AT_ONCE]
        for source, data in zip(some, git.objects(source.blob for source in some), strict=True):
            place = folder / source.path
            if data is not None and place.resolve().is_relative_to(folder.resolve()):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)


def _large(sources: Iterable[Source]) -> int:
    return sum(1 for source in sources if source.size > LARGEST)


def _sources(git: Git, commit: str) -> tuple[list[Source], dict[str, str]]:
    """Return the source files of a commit without the ledger, and path -> blob of its go.mod files."""
    import os

    listed = os.fsdecode(git.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)).split("\0")
    found, go_files = [], {}
    for line in listed:
        head, _, path = line.partition("\t")
        if head[:6] not in FILE_MODES or path.startswith(".memento/"):
            continue
        _, _, blob, size = head.split()
        if path.rpartition("/")[2] == "go.mod":
            go_files[path] = blob
        if language := language_of(path):
            found.append(Source(path.encode(errors="replace").decode(), language, blob, int(size)))
    return sorted(found), go_files


def _go_modules(git: Git, files: dict[str, str]) -> dict[str, str]:
    told = {}
    for path, data in zip(files, git.objects(files.values()), strict=True):
        if data is not None and (match := MODULE.search(data[:LARGEST])):
            told[dirname(path)] = match[1].decode(errors="replace")
    return told


def _parse(git: Git, sources: list[Source], progress: Callable[[int, int], None] | None) -> dict[str, Parsed]:
    """Return what each file imports, and why it could not be read; kept by the id of its bytes."""
    held: dict[str, Parsed] = cache.read(git, "graph.imports", str(FORMAT)) or {}
    missing = list({_key(source): source for source in sources if _key(source) not in held}.values())
    for start in range(0, len(missing), AT_ONCE):
        some = missing[start : start + AT_ONCE]
        for source, data in zip(some, git.objects(source.blob for source in some), strict=True):
            held[_key(source)] = _read(source.language, data)
        if progress is not None and len(missing) > AT_ONCE:
            progress(min(start + AT_ONCE, len(missing)), len(missing))
    if missing:
        used = {_key(source) for source in sources}
        kept = held if len(held) <= 2 * MOST_FILES else {key: one for key, one in held.items() if key in used}
        cache.write(git, "graph.imports", str(FORMAT), kept)
    return held


def _read(language: str, data: bytes | None) -> Parsed:
    if data is None:
        return [[], "git does not have this object"]
    if language == PYTHON:
        return list(python.parse(data))
    return [trees.parse(language, data), ""]


def _key(source: Source) -> str:
    return f"{source.language}:{source.blob}"


def _node(source: Source) -> str:
    return go_node(dirname(source.path)) if source.language == "go" else source.path


def _count(languages: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for language in languages:
        found[language] = found.get(language, 0) + 1
    return dict(sorted(found.items()))


def lacking(held: Row) -> str:
    """Return what should be said of files that were not looked into, or nothing."""
    grammars = {language for language in held["not_parsed"] if language in GRAMMARS}
    told = ", ".join(f"{count} {language}" for language, count in held["not_parsed"].items())
    if not told:
        return ""
    hint = "; pip install 'memento-git[graph]' reads more of them" if grammars else ""
    return f"files that are not part of this graph: {told}{hint}"
