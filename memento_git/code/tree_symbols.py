"""The named parts of files in other languages, by tree-sitter. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memento_git.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

Range = tuple[int, int]

SCRIPT: Final = frozenset({
    "function_declaration", "generator_function_declaration", "class_declaration", "method_definition",
    "variable_declarator", "field_definition", "assignment_expression",
})  # fmt: skip
TYPED: Final = SCRIPT | {
    "abstract_class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration",
    "public_field_definition", "method_signature", "abstract_method_signature", "internal_module", "module",
    "function_signature",
}  # fmt: skip
CLANG: Final = frozenset({
    "function_definition", "struct_specifier", "union_specifier", "enum_specifier", "type_definition", "preproc_def",
    "preproc_function_def",
})  # fmt: skip
DEFINITIONS: Final = {
    "javascript": SCRIPT,
    "typescript": TYPED,
    "tsx": TYPED,
    "go": frozenset({
        "function_declaration", "method_declaration", "method_elem", "type_spec", "type_alias", "const_spec",
        "var_spec",
    }),
    "rust": frozenset({
        "function_item", "struct_item", "enum_item", "trait_item", "mod_item", "const_item", "static_item",
        "type_item", "macro_definition", "union_item", "impl_item", "function_signature_item",
    }),
    "java": frozenset({
        "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "method_declaration",
        "constructor_declaration", "field_declaration", "annotation_type_declaration",
    }),
    "c": CLANG,
    "cpp": CLANG | {"class_specifier", "namespace_definition", "alias_declaration", "concept_definition"},
    "ruby": frozenset({"class", "module", "method", "singleton_method", "assignment"}),
}  # fmt: skip
WRAPPERS: Final = frozenset({
    "export_statement", "decorated_definition", "template_declaration", "lexical_declaration", "variable_declaration",
    "type_declaration", "const_declaration", "var_declaration",
})  # fmt: skip
BODIES: Final = frozenset({
    "function_declaration", "generator_function_declaration", "method_definition", "method_declaration",
    "function_item", "function_definition", "method", "singleton_method", "constructor_declaration",
    "arrow_function", "function_expression", "generator_function", "func_literal", "closure_expression",
    "lambda_expression",
})  # fmt: skip
LOCALS: Final = frozenset({
    "variable_declarator", "const_spec", "var_spec", "assignment", "assignment_expression", "const_item", "static_item",
})  # fmt: skip
MARKS: Final = frozenset({"decorator", "attribute_item"})  # they stand before what they are about
PARAMETERS: Final = re.compile(r"(?<=\w)<.*?>+(?=::)")  # those of a template whose member is defined outside of it
EXPORTED: Final = re.compile(r"(?:module\.)?exports\.|\bprototype\.")
DEEPEST: Final = 200


def symbols(language: str, data: bytes) -> dict[str, list[Range]]:
    """Return dotted name -> lines of what a file defines; wrong parts of a file are passed over."""
    found: dict[str, list[Range]] = {}
    kinds = DEFINITIONS[language]
    waiting: list[tuple[Any, str, bool, int]] = [(grammars.parser(language).parse(data).root_node, "", False, 0)]
    while waiting:
        node, prefix, is_local, depth = waiting.pop()
        for child in node.named_children:
            inner = prefix
            if child.type in kinds and not (is_local and child.type in LOCALS):
                for name in _names(child):
                    inner = f"{prefix}{name}."
                    if child.type != "impl_item":
                        found.setdefault(prefix + name, []).append(_lines(child))
            local = is_local or child.type in BODIES
            if depth < DEEPEST:
                waiting.append((child, inner, local, depth + 1))
    return found


def _names(node: Any) -> Iterator[str]:
    if node.type == "impl_item":
        yield _implemented(node)
    elif node.type == "method_declaration" and (receiver := node.child_by_field_name("receiver")) is not None:
        owner = _text(receiver).strip("()").partition("[")[0].split()[-1].lstrip("*")
        yield f"{owner}.{_text(node.child_by_field_name('name'))}"
    elif node.type == "field_declaration":
        for declarator in node.children_by_field_name("declarator"):
            yield _text(declarator.child_by_field_name("name"))
    elif node.type in ("const_spec", "var_spec"):
        yield from (_text(one) for one in node.children_by_field_name("name") if one.is_named)
    elif node.type == "assignment_expression":
        named = EXPORTED.sub("", _text(node.child_by_field_name("left")))
        if _is_made(node.child_by_field_name("right")) and re.fullmatch(r"(?!this\b|module\b)[\w$.]+", named):
            yield named
    elif node.type == "assignment":
        left = node.child_by_field_name("left")
        if left is not None and left.type == "constant":
            yield _text(left)
    else:
        yield from _plain(node)


def _is_made(value: Any) -> bool:
    """Tell whether a value is a function or class that is written here."""
    return value is not None and (value.type in BODIES or value.type == "class")


def _implemented(node: Any) -> str:
    """Return the name of the type that an `impl` is of, without its path, its borrow and its parameters."""
    while (inner := next(filter(None, map(node.child_by_field_name, ("type", "trait", "name"))), None)) is not None:
        node = inner
    return "".join(_text(node).split())


def _plain(node: Any) -> Iterator[str]:
    """Yield the name of a definition that has it in a field, or, as in C, inside of its declarator."""
    named = node.child_by_field_name("name") or node.child_by_field_name("property")
    while named is None and (inner := node.child_by_field_name("declarator")) is not None:
        node = inner
        named = None if node.child_by_field_name("declarator") else node
    if named is not None and "{" not in (text := _text(named)):
        yield ".".join(part for part in PARAMETERS.sub("", text.strip("\"'")).replace("::", ".").split(".") if part)


def _lines(node: Any) -> Range:
    """Return the lines of a definition, with the `export`, `template`, decorators and attributes before it."""
    outer = node
    while (parent := outer.parent) is not None and parent.type in WRAPPERS and len(parent.named_children) == 1:
        outer = parent
    last = outer.end_point[0] + (1 if outer.end_point[1] else 0)
    begin = outer
    while (mark := begin.prev_named_sibling) is not None and mark.type in MARKS:
        begin = mark
    return begin.start_point[0] + 1, max(begin.start_point[0] + 1, last)


def _text(node: Any) -> str:
    return "" if node is None else str(node.text.decode(errors="replace"))
