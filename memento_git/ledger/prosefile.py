"""Changing a file that people edit too: their comments and the order of their keys stay."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

FENCE: Final = "---\n"


def rewrite(data: bytes, changes: Mapping[str, Any], body: str) -> bytes:
    """Return a run, plan or task with other values, and another body if one is given."""
    from ruamel.yaml import YAML

    text = data.decode().replace("\r\n", "\n")
    end = text.index("\n---\n", 3)
    yaml = YAML(typ="rt")
    yaml.width = 10**9
    yaml.preserve_quotes = True
    front = yaml.load(text[len(FENCE) : end + 1])
    for key, value in changes.items():
        if value in ("", [], None):
            front.pop(key, None)
        else:
            front[key] = value
    stream = io.StringIO()
    yaml.dump(front, stream)
    rest = f"{body}\n" if body else text[end + len("\n---\n") :]
    return f"{FENCE}{stream.getvalue()}{FENCE}{rest}".encode()
