"""The imports of PHP: names of classes, files beside, and where composer.json says that classes lie. Pure."""

from __future__ import annotations

import json
import re
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERY: Final = " ".join(
    f"({kind}) @from"
    for kind in (
        "namespace_use_declaration", "require_expression", "require_once_expression", "include_expression",
        "include_once_expression",
    )
)  # fmt: skip
COMMENT: Final = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
HERE: Final = {"__DIR__": "./", "dirname(__FILE__)": "./", "dirname(__DIR__)": "./../"}
REQUIRED: Final = re.compile(
    r"""\w+[\s(]*(?:(?P<here>__DIR__|dirname\((?:__FILE__|__DIR__)\))\s*\.\s*)?(['"])(?P<name>[^'"${}]+)\2[\s)]*"""
)


def told(text: str) -> Iterator[str]:
    """Yield what a `use` or `require` names: a class, `./` and a file, or `file:` and one that is looked for."""
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


def folders(path: str, data: bytes) -> list[tuple[str, str]]:
    """Return the beginnings of classes' names and the folders that they stand for, as a composer.json says."""
    try:
        read: Any = json.loads(data)
    except (ValueError, RecursionError):
        return []
    found = []
    for part in ("autoload", "autoload-dev"):
        loaded = read.get(part) if isinstance(read, dict) else None
        named = loaded.get("psr-4") if isinstance(loaded, dict) else None
        for prefix, places in named.items() if isinstance(named, dict) else ():
            for place in places if isinstance(places, list) else [places]:
                if isinstance(place, str):
                    found.append((prefix, normpath(join(dirname(path), place))))
    return found
