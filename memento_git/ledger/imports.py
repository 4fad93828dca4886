"""Which source files of a tree import which others, read from git's objects alone; what was read is kept."""

from __future__ import annotations

import os
import re
from posixpath import dirname
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.code.grammars import PYTHON, language_of
from memento_git.code.imports import python, syntax_trees
from memento_git.code.imports.resolve import Resolver, go_node, php_folders
from memento_git.ledger import cache
from memento_git.ledger.tree_listing import FILE_MODES
from memento_git.model.enumeration import grouped
from memento_git.model.progress import CODE, portions

if TYPE_CHECKING:
    from memento_git.ledger.git import Git

    Parsed = list[Any]

FORMAT: Final = 1
LARGEST: Final = 1024 * 1024
MOST_FILES: Final = 20_000
AT_ONCE: Final = 500
MANIFESTS: Final = ("go.mod", "composer.json")  # which say where imports lead
MODULE: Final = re.compile(rb"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


class Source(NamedTuple):
    """One source file of a tree."""

    path: str
    language: str
    blob: str
    size: int

    @property
    def node(self) -> str:
        """Return what stands for the file in the graph: itself, in Go its package."""
        return go_node(dirname(self.path)) if self.language == "go" else self.path


class Imports(NamedTuple):
    """All source files, those that were read, who imports whom, and what was not read and why."""

    sources: list[Source]
    read: list[Source]
    edges: dict[str, set[str]]
    outside: set[str]
    unresolved: int
    left: dict[str, str]
    beyond: int

    @property
    def nodes(self) -> dict[str, str]:
        """Return what stands for each file that was read."""
        return {source.path: source.node for source in self.read}

    @property
    def importers(self) -> dict[str, list[str]]:
        """Return for each that is imported those that import it."""
        return grouped((target, source) for source, targets in sorted(self.edges.items()) for target in targets)


def imports(git: Git, tree: str) -> Imports:
    """Return the imports between the source files of a commit or tree."""
    found, manifests = sources(git, tree)
    able = {PYTHON, *syntax_trees.available()}
    known = [source for source in found if source.language in able]
    fit = [source for source in known if source.size <= LARGEST][:MOST_FILES]
    parsed = _parse(git, fit)
    resolver = Resolver((source.path for source in fit), *_told_by(git, manifests))
    edges: dict[str, set[str]] = {source.node: set() for source in fit}
    outside: set[str] = set()
    unresolved = 0
    for source in fit:
        for told in parsed[_key(source)][0]:
            target = resolver.find(source.path, source.language, told)
            if target.inside in edges and target.inside != source.node:
                edges[source.node].add(target.inside)
            elif target.outside:
                outside.add(f"{source.language}:{target.outside}")
            elif not target.inside and source.language != PYTHON:
                unresolved += 1
    left = {source.path: f"larger than {LARGEST} bytes" for source in known if source.size > LARGEST}
    beyond = max(0, len(known) - len(fit) - len(left))
    left |= {source.path: problem for source in fit if (problem := parsed[_key(source)][1])}
    return Imports(found, fit, edges, outside, unresolved, left, beyond)


def sources(git: Git, tree: str) -> tuple[list[Source], dict[str, str]]:
    """Return the source files of a commit or tree without the ledger, and path -> blob of its manifests."""
    listed = os.fsdecode(git.run("ls-tree", "-r", "-l", "-z", "--full-tree", tree)).split("\0")
    found, manifests = [], {}
    for line in listed:
        head, _, path = line.partition("\t")
        if head[:6] not in FILE_MODES or path.startswith(".memento/"):
            continue
        _, _, blob, size = head.split()
        if path.rpartition("/")[2] in MANIFESTS:
            manifests[path] = blob
        if language := language_of(path):
            found.append(Source(path.encode(errors="replace").decode(), language, blob, int(size)))
    return sorted(found), manifests


def _told_by(git: Git, manifests: dict[str, str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return folder -> module of Go, and the beginnings of PHP's classes with their folders."""
    modules: dict[str, str] = {}
    folders: list[tuple[str, str]] = []
    for path, data in zip(manifests, git.objects(manifests.values()), strict=True):
        if data is None or len(data) > LARGEST:
            continue
        if not path.endswith("go.mod"):
            folders += php_folders(path, data)
        elif match := MODULE.search(data):
            modules[dirname(path)] = match[1].decode(errors="replace")
    return modules, folders


def _parse(git: Git, sources: list[Source]) -> dict[str, Parsed]:
    """Return what each file imports, and why it could not be read; kept by the id of its bytes."""
    held: dict[str, Parsed] = cache.read(git, "graph.imports", str(FORMAT)) or {}
    missing = list({_key(source): source for source in sources if _key(source) not in held}.values())
    for some in portions(git.progress, missing, AT_ONCE, few=AT_ONCE, what=CODE):
        for source, data in zip(some, git.objects(source.blob for source in some), strict=True):
            held[_key(source)] = _read(source.language, data)
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
    return [syntax_trees.parse(language, data), ""]


def _key(source: Source) -> str:
    return f"{source.language}:{source.blob}"
