"""What is typed: texts, or files that are named instead; places in the code."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.errors import Misused

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.ledger.store import Ledger

MOST_READ: Final = 1 << 20
LITERAL: Final[ContextVar[bool]] = ContextVar("literal", default=False)  # a text is itself, and names no file


class FileUnreadable(Misused):
    token = "file_unreadable"
    sentence = "@{path} cannot be read: {problem}"
    hint_ = "name a file of UTF-8 text after the @, or @- for standard input; a text that begins with @ is typed as @@"


class NoSuchFile(FileUnreadable):
    sentence = "{option} takes the name of a file, and {path!r:.200} cannot be read: {problem}"
    hint_ = "name a file; or give - there, and the text on standard input"


def read_file(option: str, name: str, most: int) -> bytes:
    """Return what is in the file that an option names, up to one byte more than it may have; `-` is standard input."""
    try:
        with click.open_file(name, "rb") as stream:
            return bytes(stream.read(most + 1))
    except OSError as error:
        raise NoSuchFile(option=option, path=name, problem=error.strerror or type(error).__name__) from None


def read_text(given: str, call: Call | None = None) -> str:
    """Return a text that was typed (`@@` is one @), or that of the file that `@FILE` names; `-` is standard input.

    Where what was typed is the name of a file, the call tells it; who types @@ knows of files.
    """
    if LITERAL.get():
        return given
    if given.startswith("@@"):
        return given.removeprefix("@")
    if given != "-" and not given.startswith("@"):
        if call is not None and call.scope == "project" and _is_file(given):
            call.ledger.warn(f"the text is {given!r}, which is a file here: @{given} takes what is in it")
        return given
    name = given.removeprefix("@")
    try:
        with click.open_file(name, "rb") as stream:
            data = stream.read(MOST_READ + 1)
        if len(data) > MOST_READ:
            raise FileUnreadable(path=name, problem=f"it has more than {MOST_READ} bytes")
        return str(data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    except OSError as error:
        raise FileUnreadable(path=name, problem=error.strerror or type(error).__name__) from None
    except UnicodeDecodeError as error:
        raise FileUnreadable(path=name, problem=f"byte {error.start + 1} is not UTF-8 text") from None


def _is_file(given: str) -> bool:
    try:
        return bool(given) and Path(given).is_file()
    except (OSError, ValueError):  # no name of a file
        return False


def from_top(ledger: Ledger, paths: Iterable[str]) -> list[str]:
    """Return typed paths of code as they are from the top."""
    given = [*paths]
    if not given:
        return []
    from memento_git.knowledge import code_paths

    return [code_paths.from_top(ledger.git, path) for path in given]


def rooted(ledger: Ledger, options: dict[str, Any]) -> dict[str, Any]:
    """Return options whose places in the code have their paths from the top."""
    if not options.get("about"):
        return options
    from memento_git.knowledge.code_paths import places

    return {**options, "about": places(ledger.git, options["about"])}
