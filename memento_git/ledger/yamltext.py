"""YAML as the ledger uses it: read strictly with positions, every scalar as text; written stably."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from memento_git.model.tuples import NamedTuple

DEEPEST: Final = 12
SAFE_DEPTH: Final = 200
MAPPING_TAG: Final = "tag:yaml.org,2002:map"
DEFAULT_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))
MERGE_MARKS: Final = (b"<<<<<<< ", b">>>>>>> ")


UNFIT: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]"
_LOADER: Final[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Unreadable(Exception):
    """A text that is not YAML of the kind the ledger takes; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class Loaded(NamedTuple):
    """A value made of text, lists and mappings, and the line of each path into it."""

    value: Any
    lines: dict[tuple[str | int, ...], int]


class _Reader:
    """Builds the value from composed nodes, refusing what makes a ledger file ambiguous or hostile."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.lines: dict[tuple[str | int, ...], int] = {}

    def value(self, node: Any, at: tuple[str | int, ...]) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(at, line)
        if id(node) in self.seen:
            raise Unreadable(line, "an anchor is used twice, aliases are not part of the ledger's YAML")
        if len(at) > DEEPEST:
            raise Unreadable(line, "nested too deeply")
        if node.tag not in DEFAULT_TAGS:
            raise Unreadable(line, f"tag {node.tag} is not part of the ledger's YAML")
        self.seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return [self.value(member, (*at, index)) for index, member in enumerate(node.value)]
        return self.mapping(node, at)

    def mapping(self, node: Any, at: tuple[str | int, ...]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, member in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in DEFAULT_TAGS:
                raise Unreadable(line, "a key must be plain text")
            if key.value in members:
                raise Unreadable(line, f"key {key.value!r:.60} stands here twice")
            self.lines[*at, key.value] = line
            members[key.value] = self.value(member, (*at, key.value))
        return members


def _plain(text: bytes) -> str:
    """Return the text as UTF-8; other encodings, which the parser would guess, and their marks are refused."""
    if text.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(1, "a byte order mark is not part of the ledger's YAML")
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(text.count(b"\n", 0, error.start) + 1, "not UTF-8 text") from None


def _could_be_deep(text: str) -> bool:
    """Tell whether the composer, which recurses in C and would crash, might be led too deep.

    Each level needs a bracket, or an indicator ('-', '?', ':') with white space behind it, or one more space of
    indentation after what YAML takes for the end of a line.
    """
    marks = sum(text.count(mark) for mark in ("[", "{", "- ", "? ", "-\t", "?\t", ": :", ":\t"))
    indents = max((len(line) - len(line.lstrip(" ")) for line in text.splitlines()), default=0)
    return marks + indents > SAFE_DEPTH


def _refuse_depth(text: bytes) -> None:
    depth = 0
    events: Any = yaml.parse(text, Loader=_LOADER)
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > SAFE_DEPTH:
            raise Unreadable(event.start_mark.line + 1, "nested too deeply")


def _first_unfit(text: str) -> int:
    """Return the line of the first character that YAML cannot hold, 0 where there is none."""
    found = re.search(UNFIT, text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def load(text: bytes) -> Loaded:
    """Return the value of a YAML text; raise Unreadable with the line of what is wrong."""
    for number, content in enumerate(text.split(b"\n"), 1) if b"<<<<<<<" in text or b">>>>>>>" in text else ():
        if content.startswith(MERGE_MARKS):
            raise Unreadable(number, "a merge conflict is left in this file")
    plain = _plain(text)
    try:
        if _could_be_deep(plain):
            _refuse_depth(text)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise Unreadable(line, f"not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(_first_unfit(plain), f"not YAML: {str(error).splitlines()[0]}") from None
    reader = _Reader()
    value = {} if node is None else reader.value(node, ())
    return Loaded(value, reader.lines)


class _Writer(getattr(yaml, "CDumper", yaml.Dumper)):  # type: ignore[misc]
    """Writes plain data without reflow; quotes what another reader would take for a number or a date."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _text(writer: Any, text: str) -> Any:
    if not text.isascii():
        from memento_git.texts.typed import refuse_not_utf8

        refuse_not_utf8(text)
    style = "|" if "\n" in text else None
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _mapping(writer: Any, value: dict[str, Any]) -> Any:
    return writer.represent_mapping(MAPPING_TAG, value.items(), flow_style=False if value else None)


_Writer.add_representer(str, _text)
_Writer.add_representer(dict, _mapping)
_Writer.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith(":timestamp")]
    for first, pairs in _Writer.yaml_implicit_resolvers.items()
}


def dump(value: dict[str, Any]) -> str:
    """Return the YAML of a mapping: keys in the order given, no line broken."""
    return str(
        yaml.dump(value, Dumper=_Writer, allow_unicode=True, sort_keys=False, width=10**9, default_flow_style=False)
    )
