"""Adding to a JSON file that people edit, and taking out again: all else in it stays as it is, to the byte. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

Step = str | int

SPACE: Final = re.compile(r"[ \t\r\n]*")
INDENT: Final = re.compile(r"\n([ \t]+)\S")
UNIT: Final = "  "
MARK: Final = "\ufeff"


class _Node(NamedTuple):
    """A value of a text, from where to where it stands, and what it holds: key, where key or element begins, value."""

    start: int
    end: int
    value: Any
    kids: tuple[tuple[Step, int, _Node], ...] = ()

    def kid(self, step: Step) -> _Node | None:
        return next((node for key, _, node in self.kids if key == step), None)


def load(text: str) -> Any:
    """Return what a text holds; raise ValueError, with what is wrong, where it is no plain JSON."""
    json.loads(text.removeprefix(MARK))
    return _parsed(text).value


def put(text: str, where: Sequence[str], key: str, value: Any) -> str:
    """Return a text with a value below a key of the object at `where`, or without a key at the end of the list there.

    What is missing on the way is made. Raise ValueError where something of another kind is in the way.
    """
    node = _parsed(text)
    held: Any = [value] if not key else value
    steps = [*where, key] if key else list(where)
    for at, step in enumerate(steps):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(steps[:at]) or 'the whole'} is no object")  # noqa: TRY004 (one kind of error)
        kid = node.kid(step)
        if kid is None:
            for name in reversed(steps[at + 1 :]):
                held = {name: held}
            return _added(text, node, step, held)
        node = kid
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(steps)} is no list")  # noqa: TRY004 (one kind of error)
    return _added(text, node, None, value)


def drop(text: str, where: Sequence[Step]) -> str:
    """Return a text without the value at a place, and without what held nothing else."""
    nodes = [_parsed(text)]
    for step in where:
        nodes.append(next(node for key, _, node in nodes[-1].kids if key == step))
    depth = len(where) - 1
    while depth and len(nodes[depth].kids) == 1:
        depth -= 1
    return _removed(text, nodes[depth], where[depth])


def _parsed(text: str) -> _Node:
    start = 1 if text.startswith(MARK) else 0
    return _node(text, _skipped(text, start))


def _skipped(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def _node(text: str, start: int) -> _Node:
    """Read a value of a text that json has read already."""
    if text[start] not in "{[":
        value, end = json.JSONDecoder().raw_decode(text, start)
        return _Node(start, end, value)
    kids: list[tuple[Step, int, _Node]] = []
    values: dict[Step, Any] = {}
    is_object = text[start] == "{"
    at = _skipped(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, len(kids)
        if is_object:
            key, at = json.JSONDecoder().raw_decode(text, at)
            at = _skipped(text, _skipped(text, at) + 1)
        if key in values:
            raise ValueError(f"it has {key} twice in one object")
        kid = _node(text, at)
        kids.append((key, begin, kid))
        values[key] = kid.value
        at = _skipped(text, kid.end)
        at = _skipped(text, at + 1) if text[at] == "," else at
    return _Node(start, at + 1, values if is_object else list(values.values()), tuple(kids))


def _added(text: str, node: _Node, key: Step | None, value: Any) -> str:
    """Return a text with one more member at the end of an object or list, written as its others are."""
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    if node.kids:
        first, last = node.kids[0][1], node.kids[-1][2].end
        if "\n" not in text[node.start : first]:
            return f"{text[:last]}, {name}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
        inner = _margin(text, first)
        return f"{text[:last]},{_line(text)}{inner}{name}{_spread(text, value, inner)}{text[last:]}"
    outer = _margin(text, node.start)
    inner = f"{outer}{_unit(text)}"
    body = f"{_line(text)}{inner}{name}{_spread(text, value, inner)}{_line(text)}{outer}"
    return f"{text[: node.start + 1]}{body}{text[node.end - 1 :]}"


def _removed(text: str, node: _Node, step: Step) -> str:
    at = next(place for place, (key, _, _) in enumerate(node.kids) if key == step)
    if len(node.kids) == 1:
        return f"{text[: node.start + 1]}{text[node.end - 1 :]}"
    if at == len(node.kids) - 1:
        return f"{text[: node.kids[at - 1][2].end]}{text[node.kids[at][2].end :]}"
    return f"{text[: node.kids[at][1]]}{text[node.kids[at + 1][1] :]}"


def _spread(text: str, value: Any, margin: str) -> str:
    """Return a value over lines, as a text that is indented as this one has it."""
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", f"{_line(text)}{margin}")


def _unit(text: str) -> str:
    found = INDENT.search(text)
    return found[1] if found else UNIT


def _line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _margin(text: str, at: int) -> str:
    """Return the white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
