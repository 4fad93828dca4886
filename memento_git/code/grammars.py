"""The grammars of languages other than Python, where they are installed; only this module loads them."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from memento_git.code.languages import GRAMMARS, PYTHON, language_of

PACK: Final = "tree_sitter_language_pack"
CALLED: Final = {"c#": "csharp"}  # which have another name there
BESIDE: Final = frozenset({"c#"})  # in a package of its own, which the pack cannot be imported without
CONDITIONS: Final = {"swift": re.compile(rb"^[ \t]*#(?:if|elseif|else|endif)\b[^\n]*", re.MULTILINE)}


@cache
def available() -> tuple[str, ...]:
    """Return the languages whose grammars are installed; none is loaded for that.

    A pack from 1.0 on has no grammars in it, and downloads them when they are used. It counts as none.
    """
    pack = find_spec(PACK) if find_spec("tree_sitter") is not None else None
    for folder in (pack and pack.submodule_search_locations) or ():
        if (bindings := Path(folder, "bindings")).is_dir():
            carried = {file.name.partition(".")[0] for file in bindings.iterdir()} | BESIDE
            return tuple(language for language in GRAMMARS if language in carried)
    return ()


def is_readable(path: str) -> bool:
    """Tell whether a file is in a language that can be read here."""
    return language_of(path) in {PYTHON, *available()}


@cache
def grammar(language: str) -> Any:
    """Return the grammar of an available language."""
    from tree_sitter_language_pack import get_language

    named: Any = CALLED.get(language, language)
    return get_language(named)


@cache
def parser(language: str) -> Any:
    from tree_sitter import Parser

    return Parser(grammar(language))


def root(language: str, data: bytes) -> Any:
    """Return the tree of a file; its lines of conditions are as blank where the grammar has no place for them."""
    if conditions := CONDITIONS.get(language):
        data = conditions.sub(lambda match: b" " * len(match[0]), data)
    return parser(language).parse(data).root_node
