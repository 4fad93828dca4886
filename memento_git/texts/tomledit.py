"""Adding a table to a TOML file that people edit, and taking it out again: all else stays as it is, to the byte. Pure.

What comes out is read again: it has what was meant, or nothing is changed.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, Final

MARK: Final = "\ufeff"
TABLE: Final = r"(?P<gap>^[ \t]*\r?\n)?^\[{name}\][ \t]*\r?\n(?:[^\[#\s][^\n]*(?:\n|\Z))*"
BY_HAND: Final = "{name} is not written as a table of its own"


def load(text: str) -> Any:
    """Return what a text holds; raise ValueError, with what is wrong, where it is no TOML."""
    return tomllib.loads(text.removeprefix(MARK).replace("\r\n", "\n"))


def put(text: str, where: tuple[str], key: str, value: dict[str, Any]) -> str:
    """Return a text with a table at its end; raise ValueError where it cannot be put there.

    One that does not end with a newline does not end with one then, and has no gap before the table, so that dropping
    it leaves what was there.
    """
    line = "\r\n" if "\r\n" in text else "\n"
    name = f"{where[0]}.{key}"
    lines = [f"[{name}]", *(f"{one} = {json.dumps(held, ensure_ascii=False)}" for one, held in value.items())]
    lines += [""] if not text or text.endswith("\n") else []
    after = f"{text}{line if text else ''}{line.join(lines)}"
    wanted = load(text)
    if not isinstance(wanted.setdefault(where[0], {}), dict):
        raise ValueError(f"{where[0]} is no table")  # noqa: TRY004 (one kind of error)
    wanted[where[0]][key] = value
    return _checked(after, where[0], wanted)


def drop(text: str, where: tuple[str, str]) -> str:
    """Return a text without a table, and the gap before it; raise ValueError where that is no text of its own."""
    name = ".".join(where)
    found = re.search(TABLE.format(name=re.escape(name)), text, re.MULTILINE)
    if found is None:
        raise ValueError(BY_HAND.format(name=name))
    before = text[: found.start()]
    if not (found["gap"] or found[0].endswith("\n")):
        before = before.removesuffix("\n").removesuffix("\r")
    after = before + text[found.end() :]
    outer, inner = where
    wanted = load(text)
    del wanted[outer][inner]
    bare = [] if wanted[outer] else [{key: held for key, held in wanted.items() if key != outer}]
    return _checked(after, name, wanted, *bare)


def _checked(text: str, name: str, *wanted: Any) -> str:
    try:
        found = load(text)
    except ValueError:
        found = None
    if found not in wanted:
        raise ValueError(BY_HAND.format(name=name))
    return text
