"""Which language a source file is in; the grammars of those but Python, which this module alone loads."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

PYTHON: Final = "python"
GRAMMARS: Final = (
    "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "ruby", "c#", "php", "kotlin", "swift",
    "scala", "lua", "dart", "zig", "ocaml", "elixir",
)  # fmt: skip
ENDINGS: Final = {
    "py": PYTHON, "pyi": PYTHON,
    "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
    "go": "go", "rs": "rust", "java": "java", "rb": "ruby",
    "c": "c", "h": "cpp", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp",
    "cs": "c#", "fs": "f#", "php": "php", "kt": "kotlin", "kts": "kotlin", "swift": "swift", "scala": "scala",
    "m": "objective-c", "mm": "objective-c", "dart": "dart", "ex": "elixir", "exs": "elixir", "erl": "erlang",
    "hs": "haskell", "ml": "ocaml", "clj": "clojure", "lua": "lua", "pl": "perl", "pm": "perl", "jl": "julia",
    "zig": "zig", "vue": "vue", "svelte": "svelte",
}  # fmt: skip
PACK: Final = "tree_sitter_language_pack"
CALLED: Final = {"c#": "csharp"}  # which have another name there
BESIDE: Final = frozenset({"c#"})  # in a package of its own, which the pack cannot be imported without
CONDITIONS: Final = {"swift": re.compile(rb"^[ \t]*#(?:if|elseif|else|endif)\b[^\n]*", re.MULTILINE)}


def language_of(path: str) -> str:
    """Return the language of a file by its ending; nothing where it is no source code that is known here."""
    name = path.rpartition("/")[2]
    return ENDINGS.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


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
