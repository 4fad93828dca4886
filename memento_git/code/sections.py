"""The parts of a file that people name: symbols of source code, headings of Markdown. Pure."""

from __future__ import annotations

import re
from typing import Final

from memento_git.code.symbols import Range, Symbols, symbols

MARKDOWN: Final = (".md", ".markdown")
HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


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


def innermost(ranges: Symbols) -> dict[int, str]:
    """Return line -> the innermost part that the line is in."""
    found: dict[int, str] = {}
    spans = [(span, name) for name, spans in ranges.ranges.items() for span in spans]
    for (first, last), name in sorted(spans, key=lambda one: (one[0][0] - one[0][1], one[1])):
        found.update(dict.fromkeys(range(first, last + 1), name))
    return found
