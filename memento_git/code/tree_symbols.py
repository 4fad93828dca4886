"""The named parts of files in other languages, by tree-sitter. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any, Final

from memento_git.code import grammars
from memento_git.code.definitions import BODIES, DEFINITIONS, Kinds, names_at

Range = tuple[int, int]

WRAPPERS: Final = frozenset({
    "export_statement", "decorated_definition", "template_declaration", "lexical_declaration", "variable_declaration",
    "type_declaration", "const_declaration", "var_declaration",
})  # fmt: skip
MODULES: Final = frozenset({"defmodule", "defprotocol", "defimpl"})
FUNCTIONS: Final = frozenset({
    "def", "defp", "defmacro", "defmacrop", "defguard", "defguardp", "defdelegate", "defn", "defnp",
})  # fmt: skip
PARAMETERS: Final = re.compile(r"(?<=\w)<.*?>+(?=::)")  # those of a template whose member is defined outside of it
EXPORTED: Final = re.compile(r"(?:module\.)?exports\.|\bprototype\.")
DEEPEST: Final = 200


def symbols(language: str, data: bytes) -> dict[str, list[Range]]:
    """Return dotted name -> lines of what a file defines; wrong parts of a file are passed over."""
    found: dict[str, list[Range]] = {}
    kinds = DEFINITIONS[language]
    waiting: list[tuple[Any, str, bool, int]] = [(grammars.root(language, data), "", False, 0)]
    while waiting:
        node, prefix, is_local, depth = waiting.pop()
        for child in node.named_children:
            inner = prefix
            if child.type in kinds.named and not (is_local and child.type in kinds.locals):
                places = kinds.named[child.type]
                for name in names_at(child, places) if places else _names(child):
                    inner = f"{prefix}{name}."
                    if not _is_more_of_a_type(child):
                        found.setdefault(prefix + name, []).append(_lines(child, kinds))
            local = is_local or child.type in kinds.bodies
            if depth < DEEPEST:
                waiting.append((child, inner, local, depth + 1))
    return found


def _is_more_of_a_type(node: Any) -> bool:
    """Tell whether what is defined here belongs to a type that is defined elsewhere."""
    return node.type == "impl_item" or _text(node.child_by_field_name("declaration_kind")) == "extension"


def _names(node: Any) -> Iterable[str]:
    """Return the names of a definition whose place in the tree is not told in the table."""
    return NAMING.get(node.type, _plain)(node)


def _method(node: Any) -> Iterator[str]:
    """Yield the name of a method, in Go with the type that it is of."""
    if (receiver := node.child_by_field_name("receiver")) is None:
        yield from _plain(node)
    else:
        owner = _text(receiver).strip("()").partition("[")[0].split()[-1].lstrip("*")
        yield f"{owner}.{_text(node.child_by_field_name('name'))}"


def _several(node: Any) -> Iterator[str]:
    yield from (_text(one) for one in node.children_by_field_name("name") if one.is_named)


def _exported(node: Any) -> Iterator[str]:
    """Yield the name that JavaScript gives to a function or class that is written here."""
    named = EXPORTED.sub("", _text(node.child_by_field_name("left")))
    if _is_made(node.child_by_field_name("right")) and re.fullmatch(r"(?!this\b|module\b)[\w$.]+", named):
        yield named


def _constant(node: Any) -> Iterator[str]:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "constant":
        yield _text(left)


def _assigned(node: Any) -> Iterator[str]:
    """Yield the names that Lua assigns to: plain ones, and those in a table whose function or table is written here."""
    names, values = (
        [one for child in node.named_children if child.type == kind for one in child.named_children]
        for kind in ("variable_list", "expression_list")
    )
    names = [one for one in names if one.type != "attribute"]
    for name, value in zip_longest(names, values[: len(names)]):
        if name.type == "identifier" or (_is_written(value) and name.type == "dot_index_expression"):
            yield _text(name)


def _entry(node: Any) -> Iterator[str]:
    """Yield the key of a function or table in a table of Lua."""
    if _is_written(node.child_by_field_name("value")):
        yield from names_at(node, "name/content|name")


def _is_written(value: Any) -> bool:
    """Tell whether a value of Lua is a function or table that is written here."""
    return value is not None and value.type in ("function_definition", "table_constructor")


def _is_made(value: Any) -> bool:
    """Tell whether a value is a function or class that is written here."""
    return value is not None and (value.type in BODIES or value.type == "class")


def _implemented(node: Any) -> Iterator[str]:
    """Yield the name of the type that an `impl` is of, without its path, its borrow and its parameters."""
    while (inner := next(filter(None, map(node.child_by_field_name, ("type", "trait", "name"))), None)) is not None:
        node = inner
    yield "".join(_text(node).split())


def _plain(node: Any) -> Iterator[str]:
    """Yield the name of a definition that has it in a field, or, as in C, inside of its declarator."""
    named = node.child_by_field_name("name") or node.child_by_field_name("property")
    while named is None and (inner := node.child_by_field_name("declarator")) is not None:
        node = inner
        named = None if node.child_by_field_name("declarator") else node
    if named is not None and "{" not in (text := _text(named)):
        yield ".".join(part for part in PARAMETERS.sub("", text.strip("\"'")).replace("::", ".").split(".") if part)


def _alias(node: Any) -> Iterator[str]:
    """Yield the name of an alias; in Dart it is the first word of the new form, the last of the old one."""
    if node.child_by_field_name("name") is not None:
        yield from _plain(node)
    else:
        new = any(child.type == "=" for child in node.children)
        yield from names_at(node, "type_identifier^" if new else "type_identifier$")


def _called(node: Any) -> Iterator[str]:
    """Yield what a call of `def` or its like defines in Elixir."""
    target = _text(node.child_by_field_name("target"))
    arguments = next((child for child in node.named_children if child.type == "arguments"), None)
    head = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if target in MODULES and head is not None and head.type == "alias":
        owner = names_at(arguments, "keywords/pair/value") if target == "defimpl" else ()
        yield ".".join((_text(head), *owner))
    elif target in FUNCTIONS:
        while head is not None and _text(head.child_by_field_name("operator")) == "when":
            head = head.child_by_field_name("left")
        if head is not None and head.type == "call":
            head = head.child_by_field_name("target")
        if head is not None and head.type == "identifier":
            yield _text(head)


NAMING: Final[dict[str, Callable[[Any], Iterable[str]]]] = {
    "impl_item": _implemented,
    "method_declaration": _method,
    "const_spec": _several,
    "var_spec": _several,
    "assignment_expression": _exported,
    "assignment": _constant,
    "assignment_statement": _assigned,
    "field": _entry,
    "type_alias": _alias,
    "call": _called,
}


def _lines(node: Any, kinds: Kinds) -> Range:
    """Return the lines of a definition, with the `export`, `template`, decorators and attributes before it."""
    outer = node
    while (parent := outer.parent) is not None and (
        (parent.type in WRAPPERS and len(parent.named_children) == 1) or parent.type in kinds.wholes
    ):
        outer = parent
    begin = end = outer
    while (mark := begin.prev_named_sibling) is not None and _is_mark(mark, kinds):
        begin = mark
    while (tail := end.next_named_sibling) is not None and tail.type in kinds.tails:
        end = tail
    last = end.end_point[0] + 1 if end.end_point[1] else end.start_point[0] + 1 + end.text.rstrip().count(b"\n")
    return begin.start_point[0] + 1, max(begin.start_point[0] + 1, last)


def _is_mark(node: Any, kinds: Kinds) -> bool:
    return node.type in kinds.marks and kinds.marking.match(_text(node)) is not None


def _text(node: Any) -> str:
    return "" if node is None else str(node.text.decode(errors="replace"))
