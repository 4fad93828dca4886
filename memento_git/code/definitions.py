"""What the definitions of each language are in the trees of its grammar. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

BODIES: Final = frozenset({
    "function_declaration", "generator_function_declaration", "method_definition", "method_declaration",
    "function_item", "function_definition", "method", "singleton_method", "constructor_declaration",
    "arrow_function", "function_expression", "generator_function", "func_literal", "closure_expression",
    "lambda_expression",
})  # fmt: skip
LOCALS: Final = frozenset({
    "variable_declarator", "const_spec", "var_spec", "assignment", "assignment_expression", "const_item", "static_item",
})  # fmt: skip


MARKS: Final = frozenset({"decorator", "attribute_item"})
ANYTHING: Final = re.compile("")


class Kinds(NamedTuple):
    """Node type -> where the names of such definitions are; what is a function's own, and inside of what.

    Marks, which begin with what `marking` matches, stand before what they are about, tails after it, and wholes around
    it. Where names are is told as steps from node to node, each a field or a type, with `^` the first of these alone,
    with `$` the last. `|` stands between choices, of which the first that is there counts, `&` between parts of one
    name, and `=` before a word as it is. Where nothing is told, `tree_symbols` knows it.
    """

    named: Mapping[str, str]
    bodies: frozenset[str] = BODIES
    locals: frozenset[str] = LOCALS
    marks: frozenset[str] = MARKS
    wholes: frozenset[str] = frozenset()
    tails: frozenset[str] = frozenset()
    marking: re.Pattern[str] = ANYTHING


def _alike(*kinds: str, at: str = "") -> dict[str, str]:
    return dict.fromkeys(kinds, at)


SCRIPT: Final = _alike(
    "function_declaration", "generator_function_declaration", "class_declaration", "method_definition",
    "variable_declarator", "field_definition", "assignment_expression",
)  # fmt: skip
TYPED: Final = SCRIPT | _alike(
    "abstract_class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration",
    "public_field_definition", "method_signature", "abstract_method_signature", "internal_module", "module",
    "function_signature",
)  # fmt: skip
CLANG: Final = _alike(
    "function_definition", "struct_specifier", "union_specifier", "enum_specifier", "type_definition", "preproc_def",
    "preproc_function_def",
)  # fmt: skip
GO: Final = _alike(
    "function_declaration", "method_declaration", "method_elem", "type_spec", "type_alias", "const_spec", "var_spec"
)  # fmt: skip
RUST: Final = _alike(
    "function_item", "struct_item", "enum_item", "trait_item", "mod_item", "const_item", "static_item", "type_item",
    "macro_definition", "union_item", "impl_item", "function_signature_item",
)  # fmt: skip
JAVA: Final = _alike(
    "class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "method_declaration",
    "constructor_declaration", "annotation_type_declaration",
) | {"field_declaration": "declarator/name"}  # fmt: skip
CSHARP: Final = {
    **_alike(
        "class_declaration", "struct_declaration", "interface_declaration", "record_declaration", "enum_declaration",
        "delegate_declaration", "method_declaration", "constructor_declaration", "property_declaration",
        "event_declaration", "local_function_statement", at="name",
    ),
    **_alike("field_declaration", "event_field_declaration", at="variable_declaration/variable_declarator/name"),
    "destructor_declaration": "=~&name",
    "operator_declaration": "=operator&operator",
    "conversion_operator_declaration": "=operator",
    "indexer_declaration": "=this",
}  # fmt: skip
PHP: Final = {
    **_alike(
        "class_declaration", "interface_declaration", "trait_declaration", "enum_declaration", "method_declaration",
        "function_definition", at="name",
    ),
    "const_declaration": "const_element/name",
    "property_declaration": "property_element/variable_name/name",
}  # fmt: skip
KOTLIN: Final = {
    **_alike("class_declaration", "object_declaration", "companion_object", "type_alias", at="type_identifier^"),
    "function_declaration": "receiver_type/user_type&=.&simple_identifier"
    "|receiver_type/nullable_type/user_type&=.&simple_identifier|simple_identifier",
    "property_declaration": "receiver_type/user_type&=.&variable_declaration/simple_identifier"
    "|variable_declaration/simple_identifier|multi_variable_declaration/variable_declaration/simple_identifier",
    "secondary_constructor": "=constructor",
    "anonymous_initializer": "=init",
}
SWIFT: Final = {
    **_alike(
        "class_declaration", "protocol_declaration", "typealias_declaration", "function_declaration",
        "protocol_function_declaration", at="name^",
    ),
    **_alike(
        "property_declaration", "protocol_property_declaration",
        at="name/bound_identifier|name/pattern/simple_identifier",
    ),
    "init_declaration": "=init",
    "deinit_declaration": "=deinit",
    "subscript_declaration": "=subscript",
}  # fmt: skip
SCALA: Final = {
    **_alike(
        "class_definition", "object_definition", "trait_definition", "enum_definition", "package_object",
        "function_definition", "function_declaration", "type_definition", "given_definition", "val_declaration",
        "var_declaration", at="name",
    ),
    **_alike("val_definition", "var_definition", at="pattern/identifier|pattern"),
}  # fmt: skip
LUA: Final = {"function_declaration": "name/table&=.&name/method|name", **_alike("assignment_statement", "field")}
SIGNATURES: Final = _alike(
    "function_signature", "getter_signature", "setter_signature", "constructor_signature",
    "redirecting_factory_constructor_signature", "factory_constructor_signature", "constant_constructor_signature",
    at="name$|identifier$",
)  # fmt: skip
DART: Final = {
    **SIGNATURES,
    **_alike("enum_declaration", "extension_declaration", "extension_type_declaration", at="name"),
    "class_definition": "name|mixin_application_class/identifier",
    "mixin_declaration": "identifier^",
    "type_alias": "",
    "operator_signature": "=operator&binary_operator|=operator",
    **_alike("static_final_declaration", "initialized_identifier", at="identifier^"),
}
ZIG: Final = {"Decl": "FnProto/function|VarDecl/variable_type_function"}
OCAML: Final = {
    **_alike("type_binding", at="name"),
    "let_binding": "pattern/value_name|pattern",
    "value_specification": "value_name",
    "external": "value_name",
    "exception_definition": "constructor_declaration/constructor_name",
    "module_binding": "module_name",
    "module_type_definition": "module_type_name",
    "class_binding": "class_name",
    "method_definition": "method_name",
}
DEFINITIONS: Final = {
    "javascript": Kinds(SCRIPT),
    "typescript": Kinds(TYPED),
    "tsx": Kinds(TYPED),
    "go": Kinds(GO),
    "rust": Kinds(RUST),
    "java": Kinds(JAVA),
    "c": Kinds(CLANG),
    "cpp": Kinds(CLANG | _alike("class_specifier", "namespace_definition", "alias_declaration", "concept_definition")),
    "ruby": Kinds(_alike("class", "module", "method", "singleton_method", "assignment")),
    "c#": Kinds(CSHARP),
    "php": Kinds(PHP),
    "kotlin": Kinds(
        KOTLIN,
        bodies=frozenset({"function_body", "statements", "lambda_literal", "getter", "setter"}),
        locals=frozenset({"property_declaration"}),
        tails=frozenset({"getter", "setter"}),
    ),
    "swift": Kinds(
        SWIFT,
        bodies=frozenset({"function_body", "statements", "lambda_literal", "computed_property"}),
        locals=frozenset({"property_declaration"}),
    ),
    "scala": Kinds(
        SCALA,
        bodies=frozenset({"function_definition", "block", "indented_block", "lambda_expression", "case_clause"}),
        locals=frozenset({"val_definition", "var_definition"}),
    ),
    "lua": Kinds(
        LUA, bodies=BODIES | {"for_statement", "while_statement", "repeat_statement"},
        locals=frozenset({"assignment_statement", "field"}),
    ),
    "dart": Kinds(
        DART,
        bodies=frozenset({"function_body"}),
        locals=frozenset({*SIGNATURES, "static_final_declaration", "initialized_identifier"}),
        marks=frozenset({
            "annotation", "const_builtin", "final_builtin", "inferred_type", "type_identifier", "type_arguments",
            "nullable_type", "function_type", "void_type",
        }),
        wholes=frozenset({
            "method_signature", "declaration", "initialized_identifier_list", "static_final_declaration_list",
        }),
        tails=frozenset({"function_body"}),
    ),
    "zig": Kinds(ZIG),
    "ocaml": Kinds(
        OCAML, bodies=frozenset({"let_binding", "method_definition"}), locals=frozenset({"let_binding"})
    ),
    "elixir": Kinds(
        {"call": ""}, marks=frozenset({"unary_operator"}),
        marking=re.compile(r"@(?:doc|spec|impl|deprecated|since|dialyzer|moduledoc)\b"),
    ),
}  # fmt: skip

PARAMETERS: Final = re.compile(r"(?<=\w)<.*>", re.DOTALL)  # those of a generic type, which are no part of its name
TYPEABLE: Final = re.compile(r"[^\s:\"'`{}()]{1,400}")


def names_at(node: Any, places: str) -> list[str]:
    """Return the names of a definition, by where they are; none that could not be typed."""
    for choice in places.split("|"):
        parts = [[part[1:]] if part[0] == "=" else _texts(node, part) for part in choice.split("&")]
        if all(parts):
            names = parts[0] if len(parts) == 1 else ["".join(part[0] for part in parts)]
            return [name for name in names if TYPEABLE.fullmatch(name)]
    return []


def _texts(node: Any, place: str) -> list[str]:
    nodes: Sequence[Any] = [node]
    for step in place.split("/"):
        kind = step.rstrip("^$")
        nodes = [
            child
            for one in nodes
            for child in one.children_by_field_name(kind) or [child for child in one.children if child.type == kind]
        ]
        nodes = nodes[-1:] if step.endswith("$") else nodes[:1] if step.endswith("^") else nodes
    return [_clean(one.text.decode(errors="replace")) for one in nodes]


def _clean(name: str) -> str:
    """Return a name without parameters of its type; one in backticks, which may be a sentence, as one word."""
    return re.sub(r"\W+", "_", name.strip("`")) if name.startswith("`") else PARAMETERS.sub("", name).removeprefix("@")
