"""The grammars of languages other than Python, where they are installed; only this module loads them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from memento_git.code.languages import GRAMMARS


@cache
def available() -> tuple[str, ...]:
    """Return the languages whose grammars are installed."""
    if find_spec("tree_sitter") is None:
        return ()
    return tuple(language for language, module in GRAMMARS.items() if find_spec(module) is not None)


@cache
def grammar(language: str) -> Any:
    """Return the grammar of an available language."""
    from tree_sitter import Language

    module = import_module(GRAMMARS[language])
    maker = getattr(module, f"language_{language}" if language in ("typescript", "tsx") else "language")
    return Language(maker())


@cache
def parser(language: str) -> Any:
    from tree_sitter import Parser

    return Parser(grammar(language))
