"""The syntax tree of a Python file, and the imports in it. Pure."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Final

UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


def tree_of(data: bytes) -> ast.Module:
    """Return a file's syntax tree, or raise one of UNREADABLE; what the parser only warns of is not told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


def parse(data: bytes) -> tuple[list[str], str]:
    """Return what a file imports as `level:module:name`, and why it could not be read if it could not.

    Imports that only a type checker follows are no imports.
    """
    try:
        tree = tree_of(data)
    except SyntaxError as error:
        return [], f"line {error.lineno or 0}: {error.msg}"
    except UNREADABLE as error:
        return [], f"{type(error).__name__}: {error}"
    return sorted(set(_imports(tree))), ""


def _imports(tree: ast.AST) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (f"0:{alias.name}:" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.level}:{node.module or ''}:{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and _is_for_types(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.expr):
            waiting += ast.iter_child_nodes(node)


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"
