"""Which files are source code, and in which language. Pure."""

from __future__ import annotations

from typing import Final

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


def language_of(path: str) -> str:
    """Return the language of a file by its ending; nothing where it is no source code that is known here."""
    name = path.rpartition("/")[2]
    return ENDINGS.get(name.rpartition(".")[2].lower(), "") if "." in name else ""
