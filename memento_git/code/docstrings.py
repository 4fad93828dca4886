"""What a source file says of itself: docstrings of Python, comments before definitions in other languages. Pure."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from memento_git.code import grammars
from memento_git.code.grammars import PYTHON, language_of
from memento_git.code.imports.python import UNREADABLE, tree_of
from memento_git.code.symbols import symbols

FEWEST_WORDS: Final = 4
LONGEST: Final = 1200
DEEPEST: Final = 200
LICENCE: Final = re.compile(
    r"copyright|licen[cs]ed?\b|spdx-|all rights reserved|eslint|prettier|@ts-|phpcs|luacheck|swiftlint|ignore_for_file",
    re.IGNORECASE,
)
MARKS: Final = re.compile(
    r"^\s*(?:/\*+!?|\*+/|\*(?!\*)|/{2,}!?|#+!?|-{2,}(?:\[=*\[)?|\]=*\]|\(\*+(?!\))|\*+\))\s?|\s*(?:\*+[/)]|\]=*\])\s*$"
)
WHOLE: Final = ("/*", "(*", "--[")  # how comments begin that have an end of their own
SUMMARY: Final = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
NAMED: Final = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"([^\"]*)\"\s*/>")
ATTRIBUTE: Final = re.compile(rb"\s*(?:#\[|@\w)")


class Said(NamedTuple):
    """What is said of a symbol, or of the whole file where it has no name."""

    symbol: str
    text: str


def said(path: str, data: bytes) -> list[Said]:
    """Return the first paragraph that a file says of itself and of each public part; what is too short is nothing."""
    found = _python(data) if language_of(path) == PYTHON else _comments(path, data)
    told: dict[str, str] = {}
    for one in found:
        text = _first(one.text)
        if len(text.split()) >= FEWEST_WORDS:
            told.setdefault(one.symbol, text)
    return [Said(symbol, text) for symbol, text in told.items()]


def _first(text: str) -> str:
    """Return the first paragraph of a text, not longer than a note should be."""
    paragraph = re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0].strip()
    if len(paragraph) <= LONGEST:
        return paragraph
    return f"{paragraph[:LONGEST].rsplit(None, 1)[0]} …"


def _python(data: bytes) -> Iterator[Said]:
    try:
        tree = tree_of(data)
    except UNREADABLE:
        return
    yield Said("", ast.get_docstring(tree) or "")
    waiting: list[tuple[str, ast.Module | ast.ClassDef]] = [("", tree)]
    while waiting:
        prefix, node = waiting.pop(0)
        for child in node.body:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and child.name[0] != "_":
                yield Said(prefix + child.name, ast.get_docstring(child) or "")
                if isinstance(child, ast.ClassDef):
                    waiting.append((f"{prefix}{child.name}.", child))


def _comments(path: str, data: bytes) -> Iterator[Said]:
    """Yield the comment at a file's beginning, and those that end right before a definition."""
    lines = data.split(b"\n")
    ends, first = _blocks(grammars.root(language_of(path), data), lines)
    starts = {spans[0][0]: name for name, spans in symbols(path, data).ranges.items()}
    used = set()
    for start, name in sorted(starts.items()):
        above = start - 1
        while above > 1 and above not in ends and ATTRIBUTE.match(lines[above - 1]):
            above -= 1
        if above in ends and not name.rpartition(".")[2].startswith("_"):
            used.add(above)
            yield Said(name, _plain(ends[above]))
    if first and first not in used and not LICENCE.search(ends[first]):
        yield Said("", _plain(ends[first]))


def _blocks(root: Any, lines: Sequence[bytes]) -> tuple[dict[int, str], int]:
    """Return last line -> text of the comments that stand alone, those in a row as one; the end of a file's first."""
    found: list[tuple[int, int, str]] = []
    waiting: list[tuple[Any, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        for child in node.named_children:
            if "comment" in child.type and not lines[child.start_point[0]][: child.start_point[1]].strip():
                text = child.text.decode(errors="replace").rstrip()
                found.append((child.start_point[0] + 1, child.start_point[0] + 1 + text.count("\n"), text))
            elif depth < DEEPEST:
                waiting.append((child, depth + 1))
    blocks: list[tuple[int, int, str]] = []
    for start, last, text in sorted(found):
        if blocks and blocks[-1][1] + 1 == start and not text.startswith(WHOLE):
            blocks[-1] = (blocks[-1][0], last, f"{blocks[-1][2]}\n{text}")
        else:
            blocks.append((start, last, text))
    first = next((last for start, last, _ in blocks[:1] if start <= 2), 0)
    return {last: text for _, last, text in blocks}, first


def _plain(text: str) -> str:
    """Return a comment without what marks it as one."""
    told = inspect.cleandoc("\n".join(MARKS.sub("", line) for line in text.splitlines()))
    if summary := SUMMARY.search(told):
        return NAMED.sub(r"\1", summary[1]).strip()
    return told
