"""What may reach a terminal: text, newlines, tabs and our own colours; nothing that steers it."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Iterable
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, Final, TextIO

import click

from memento_git.model.enumeration import ends
from memento_git.model.tuples import NamedTuple

UNFIT: Final = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
BUT_COLOURS: Final = f"(\x1b\\[(?:0|1|3[1236]|90)m)|{UNFIT}"
ANYWHERE: Final = "##["  # before `debug]`: what a runner of GitHub's obeys wherever it stands in a line
BEFORE_ALL: Final = r"(?m)^(\s*:)(?=:)"
RAW_IN_JSON: Final = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
MOST_SAID: Final = 1000
DEFAULT_COLUMNS: Final = 80
LEAST_COLUMNS: Final = 50


class Kept(NamedTuple):
    """What a caller in this process is told instead of a terminal: the answers, and what is said besides, if kept."""

    out: list[str]
    err: list[str] | None = None


KEPT: Final[ContextVar[Kept | None]] = ContextVar("kept", default=None)


class CannotPrint(OSError):
    """The answer of a command that standard output does not take."""


def wants_json(arguments: list[str]) -> bool:
    """Tell whether JSON is asked for, by the option of all commands or as a format."""
    formats = ("--format=json" in arguments, ("--format", "json") in pairwise(arguments))
    return "--json" in arguments or any(formats)


def clean(text: str) -> str:
    """Return a text of somebody else's without control and bidirectional characters; newlines and tabs stay."""
    shown = re.sub(UNFIT, "", text)
    return _disobeyed(re.sub(BEFORE_ALL, r"\1 ", shown) if "GITHUB_ACTIONS" in os.environ else shown)


def guarded(text: str) -> str:
    """Return a text of ours, in which the colours that we use stay too."""
    plain = text.replace("\n", "").isprintable()
    return _disobeyed(text if plain else re.sub(BUT_COLOURS, lambda found: found[1] or "", text))


def _disobeyed(text: str) -> str:
    """Return a text in which a runner that obeys what it reads in a log finds nothing to obey."""
    return text.replace(ANYWHERE, "## [") if "GITHUB_ACTIONS" in os.environ else text


def width() -> int:
    """Return how many columns help has, by click's own rule; to let click ask imports all that opens archives."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(1).columns
        except OSError:
            columns = DEFAULT_COLUMNS
    return max(min(columns, DEFAULT_COLUMNS) - 2, LEAST_COLUMNS)


def shortened(text: str) -> str:
    """Return a sentence that repeats what was given in a size that can be read: its beginning and its end."""
    return ends(text, MOST_SAID)


def envelope(answer: Iterable[tuple[str, Any]]) -> list[str]:
    """Return an answer, key by key, as the pieces of one line of JSON; what could steer a terminal is escaped.

    A value that has to be waited for may be a function: it is called once what stands before it is text.
    """
    import json

    from memento_git.ledger.cache import Ready

    plain = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "") != "utf8"
    pieces: list[str] = []
    for key, value in answer:
        told = value() if callable(value) else value
        text = told if isinstance(told, Ready) else json.dumps(told, ensure_ascii=plain)
        pieces += [", " if pieces else "{", f'"{key}": ', _escaped(text)]
    return [*pieces, "}"]


def _escaped(text: str) -> str:
    if (text.isascii() and "\x7f" not in text) or text.isprintable():
        return text
    return re.sub(RAW_IN_JSON, lambda found: f"\\u{ord(found[0]):04x}", text)


def prepare() -> None:
    """Let no character that a stream cannot encode end a command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def put(*pieces: str, err: bool = False) -> None:
    """Print a line; once nobody reads any more, print into the void, so that the command's verdict stays.

    An answer that cannot be written is an error; what is told besides, on stderr, is not worth one.
    """
    kept = KEPT.get()
    lines = None if kept is None else kept.err if err else kept.out
    if lines is not None:
        lines.append("".join(pieces))
        return
    try:
        for piece in (*pieces, "\n"):
            click.echo(piece, nl=False, err=err, color=_coloured() if "\x1b" in piece else True)
    except OSError as error:
        silence(sys.stderr if err else sys.stdout)
        if not err and not isinstance(error, BrokenPipeError):
            raise CannotPrint(error.errno, error.strerror) from None


def _coloured() -> bool | None:
    """Return that colours are left out where that is asked for, else nothing: a terminal has them, a pipe has not."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def is_read(seconds: float) -> bool:
    """Wait; tell whether somebody still reads what is printed, as soon as nobody does where the system can say so."""
    try:
        watched = select.poll()
        watched.register(sys.stdout.fileno(), 0)
        return not watched.poll(seconds * 1000)
    except (AttributeError, OSError, ValueError):
        time.sleep(seconds)
        return True


def silence(stream: TextIO) -> None:
    """Lead a stream that cannot be written into the void."""
    try:
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, stream.fileno())
        os.close(void)
    except (OSError, ValueError):
        return
