"""The imports of files in other languages, by tree-sitter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from memento_git.code import grammars

SCRIPT: Final = """
(import_statement source: (string) @from) (export_statement source: (string) @from)
(call_expression function: (import) arguments: (arguments . (string) @from))
(call_expression function: (identifier) @called arguments: (arguments . (string) @from) (#eq? @called "require"))
"""
TYPED: Final = SCRIPT + "(import_require_clause source: (string) @from)"
INCLUDES: Final = "(preproc_include path: [(string_literal) (system_lib_string)] @from)"
PHP: Final = " ".join(
    f"({kind}) @from"
    for kind in (
        "namespace_use_declaration", "require_expression", "require_once_expression", "include_expression",
        "include_once_expression",
    )
)  # fmt: skip
QUERIES: Final = {
    "javascript": SCRIPT,
    "typescript": TYPED,
    "tsx": TYPED,
    "go": "(import_spec path: (_) @from)",
    "rust": "(use_declaration argument: (_) @from)",
    "java": "(import_declaration) @from",
    "c": INCLUDES,
    "cpp": INCLUDES,
    "ruby": '(call method: (identifier) @called arguments: (argument_list . (string) @from)'
    ' (#any-of? @called "require" "require_relative")) @whole',
    "lua": "(function_call name: (identifier) @called arguments: (arguments . (string content: (_) @from))"
    ' (#any-of? @called "require" "dofile" "loadfile"))',
    "php": PHP,
}  # fmt: skip
COMMENT: Final = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
HERE: Final = {"__DIR__": "./", "dirname(__FILE__)": "./", "dirname(__DIR__)": "./../"}
REQUIRED: Final = re.compile(
    r"""\w+[\s(]*(?:(?P<here>__DIR__|dirname\((?:__FILE__|__DIR__)\))\s*\.\s*)?(['"])(?P<name>[^'"${}]+)\2[\s)]*"""
)


def available() -> tuple[str, ...]:
    """Return the languages whose imports can be read here, which are not all that have a grammar."""
    return tuple(language for language in grammars.available() if language in QUERIES)


@cache
def _query(language: str) -> Any:
    from tree_sitter import Query

    return Query(grammars.grammar(language), QUERIES[language])


def parse(language: str, data: bytes) -> list[str]:
    """Return what a file imports, in the words of its language; wrong parts of a file are passed over."""
    from tree_sitter import QueryCursor

    root = grammars.root(language, data)
    found: set[str] = set()
    for _, captured in QueryCursor(_query(language)).matches(root):
        for node in captured.get("from", ()):
            found.update(_told(language, node, captured))
    return sorted(found)


def _told(language: str, node: Any, captured: Any) -> Iterator[str]:
    text = node.text.decode(errors="replace")
    if language == "rust":
        yield from _uses(text)
    elif language == "java":
        words = text.strip().rstrip(";").split()
        yield " ".join(words[1:]).replace(" . ", ".")
    elif language == "php":
        yield from _php(text)
    elif language in ("c", "cpp"):
        yield text.strip()[:-1]
    elif language == "ruby":
        relative = captured["called"][0].text == b"require_relative"
        yield ("./" if relative else "") + text[1:-1]
    elif language == "lua":
        yield text if captured["called"][0].text == b"require" else f"./{text}"
    elif language == "go" or not _is_for_types(node.parent):
        yield text[1:-1]


def _is_for_types(statement: Any) -> bool:
    """Tell whether an import or export of TypeScript is erased when it is compiled."""
    return statement is not None and any(child.type == "type" for child in statement.children)


def _uses(tree: str) -> Iterator[str]:
    """Yield the paths of a `use` tree: `a::{b, c::*}` is a::b and a::c."""
    flat = re.sub(r"\bas\s+\w+|//[^\n]*|/\*.*?\*/|\s+", "", tree, flags=re.DOTALL)
    stack, prefix, word = [], "", ""
    for letter in f"{flat},":
        if letter == "{":
            stack.append(prefix)
            prefix, word = prefix + word, ""
        elif letter in ",}":
            if word:
                yield (prefix + word).removesuffix("::*").removesuffix("::self")
            word = ""
            if letter == "}" and stack:
                prefix = stack.pop()
        else:
            word += letter


def _php(text: str) -> Iterator[str]:
    """Yield what a `use` or `require` of PHP names: a class, `./` and a file, or `file:` and one that is looked for."""
    if re.match(r"use\b", text) is None:
        if match := REQUIRED.fullmatch(text):
            yield HERE.get(match["here"], "file:") + match["name"].lstrip("/")
        return
    clean = COMMENT.sub(" ", text)[3:].strip().rstrip(";")
    prefix, brace, inner = clean.partition("{")
    kind = prefix.split()[0] if prefix.split() else ""
    if kind in ("function", "const"):
        return
    for item in (inner.rstrip("} \n") if brace else clean).split(","):
        words = item.split()
        if words and words[0] not in ("function", "const"):
            yield f"{prefix.strip() if brace else ''}{words[0]}".lstrip("\\")
