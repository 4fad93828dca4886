"""The parts of a file that people name and the lines that each takes: symbols of code, headings of Markdown. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from memento_git.code import grammars, tree_symbols
from memento_git.code.grammars import GRAMMARS, PYTHON, language_of
from memento_git.code.imports.python import UNREADABLE, tree_of
from memento_git.errors import adding
from memento_git.model.enumeration import grouped

Range = tuple[int, int]
MARKDOWN: Final = (".md", ".markdown")
HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


class Symbols(NamedTuple):
    """Dotted name -> its lines, several where it is defined more than once; and why there are none, if so."""

    ranges: Mapping[str, tuple[Range, ...]]
    problem: str = ""

    def name_of(self, wanted: str) -> str:
        """Return the full name that a name or the end of one means; nothing where it is none, or not only one."""
        names = self.names_of(wanted)
        return names[0] if len(names) == 1 else ""

    def names_of(self, wanted: str) -> list[str]:
        """Return the full names that a name or the end of one may mean."""
        return [wanted] if wanted in self.ranges else [name for name in self.ranges if name.endswith(f".{wanted}")]

    def span(self, name: str) -> Range:
        """Return the lines from the first to the last that a symbol takes."""
        return min(one[0] for one in self.ranges[name]), max(one[1] for one in self.ranges[name])

    def around(self, lines: Range) -> str:
        """Return the innermost symbol that covers a range of lines, or nothing."""
        covering = [
            (last - first, name)
            for name, ranges in self.ranges.items()
            for first, last in ranges
            if first <= lines[0] and lines[1] <= last
        ]
        return min(covering)[1] if covering else ""

    def innermost(self) -> dict[int, str]:
        """Return line -> the innermost part that the line is in."""
        found: dict[int, str] = {}
        spans = [(span, name) for name, spans in self.ranges.items() for span in spans]
        for (first, last), name in sorted(spans, key=lambda one: (one[0][0] - one[0][1], one[1])):
            found.update(dict.fromkeys(range(first, last + 1), name))
        return found


def parts(path: str, data: bytes) -> Symbols:
    """Return the named parts of a file; why there are none where its language is not known here."""
    if path.lower().endswith(MARKDOWN):
        return Symbols(_headings(data))
    return symbols(path, data)


def _headings(data: bytes) -> dict[str, tuple[Range, ...]]:
    """Return heading -> its lines, to the next heading of its level or above."""
    lines = data.decode(errors="replace").splitlines()
    open_ones: list[tuple[int, str, int]] = []
    found: dict[str, tuple[Range, ...]] = {}
    fence = ""

    def close(level: int, last: int) -> None:
        while open_ones and open_ones[-1][0] >= level:
            _, name, first = open_ones.pop()
            found[name] = (*found.get(name, ()), (first, last))

    for number, line in enumerate(lines, 1):
        if mark := FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and (heading := HEADING.match(line)) and heading[2]:
            close(len(heading[1]), number - 1)
            open_ones.append((len(heading[1]), heading[2], number))
    close(1, len(lines))
    return found


def symbols(path: str, data: bytes) -> Symbols:
    """Return the symbols of a file; where its language is not known or not installed, why there are none."""
    language = language_of(path)
    if language == PYTHON:
        return _python(data)
    if language in grammars.available():
        found = tree_symbols.symbols(language, data)
        return Symbols({name: tuple(sorted(set(ranges))) for name, ranges in found.items()})
    more = f"; {adding('graph')}" if language in GRAMMARS else ""
    return Symbols({}, f"symbols of {language or path.rpartition('/')[2]} are not known here{more}")


def _python(data: bytes) -> Symbols:
    try:
        tree = tree_of(data)
    except UNREADABLE as error:
        return Symbols({}, f"it is not Python that can be read: {error}")
    return Symbols({name: tuple(sorted(ranges)) for name, ranges in grouped(_named(tree)).items()})


def _named(tree: ast.Module) -> Iterator[tuple[str, Range]]:
    """Yield functions and classes at any depth, and the names that modules and classes give to values."""
    waiting: list[tuple[str, ast.AST, bool]] = [("", tree, True)]
    while waiting:
        prefix, node, gives_names = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield prefix + child.name, (first, child.end_lineno or first)
                waiting.append((f"{prefix}{child.name}.", child, isinstance(child, ast.ClassDef)))
            elif isinstance(child, ast.Assign | ast.AnnAssign):
                if gives_names:
                    yield from ((prefix + name, (child.lineno, child.end_lineno or 0)) for name in _targets(child))
            elif isinstance(child, ast.stmt | ast.excepthandler):
                waiting.append((prefix, child, gives_names))


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """Yield the plain names that an assignment gives."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        several = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        yield from (one.id for one in several if isinstance(one, ast.Name))
