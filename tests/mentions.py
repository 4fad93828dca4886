"""Commands that a text mentions, and whether they are there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli.main import memento

if TYPE_CHECKING:
    from collections.abc import Iterator

PROSE: Final = frozenset({"then"})
MENTION: Final = re.compile(r"(?<![\w./-])memento ((?:-|[a-z])[^`\n;()]*)")


def missing(text: str) -> list[str]:
    """Return what is wrong with the commands that a text mentions: words and options that are not there."""
    return [wrong for match in MENTION.finditer(text) for wrong in _wrong(match[1])]


def _wrong(line: str) -> Iterator[str]:
    """Yield what no command takes in one mention; prose may follow it, so only a noun's verb must be one."""
    words = line.partition(" -- ")[0].split()
    command: click.Command = memento
    path = ["memento"]
    options = {name for one in memento.params for name in one.opts}
    for word in words:
        if isinstance(command, click.Group) and re.fullmatch(r"[a-z][a-z-]*", word):
            found = command.get_command(click.Context(command), word)
            if found is None:
                if command is memento and word not in PROSE:
                    yield f"{line!r}: no command {word!r}"
                return
            command = found
            path.append(word)
            options |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        elif (option := re.match(r"--?[a-zA-Z][\w-]*", word)) and option[0] not in options | {"--help"}:
            yield f"{line!r}: {' '.join(path)} has no option {option[0]!r}"
