"""Which files are source code, and in which language. Pure."""

from __future__ import annotations

from typing import Final

PYTHON: Final = "python"
GRAMMARS: Final = {
    "javascript": "tree_sitter_javascript",
    "typescript": "tree_sitter_typescript",
    "tsx": "tree_sitter_typescript",
    "go": "tree_sitter_go",
    "rust": "tree_sitter_rust",
    "java": "tree_sitter_java",
    "c": "tree_sitter_c",
    "cpp": "tree_sitter_cpp",
    "ruby": "tree_sitter_ruby",
}
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


def language_of(path: str) -> str:
    """Return the language of a file by its ending; nothing where it is no source code that is known here."""
    name = path.rpartition("/")[2]
    return ENDINGS.get(name.rpartition(".")[2].lower(), "") if "." in name else ""
