"""The clients that Memento can be set up for: what belongs into which of a project's files, and which events they tell.

A file of a project is committed and read on other machines: it names `memento` as PATH has it.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

NAME: Final = "memento"
HOOK: Final = "memento client hook || exit 0"  # whatever happens there: some clients take a 2 for an order to stop
IS_HOOK: Final = re.compile(r"\bmemento\b.*\bclient hook\b")
SECONDS: Final = 10
SERVER: Final = {"command": "memento", "args": ["mcp"]}


class Part(NamedTuple):
    """A value that belongs into a JSON file: below a key of the object at `where`, or without one into the list there.

    A `frame` is what a file needs besides: it is no sign of us, and stays while something else does.
    """

    file: str
    where: tuple[str, ...]
    key: str
    value: Any
    frame: bool = False

    def is_ours(self, found: Any) -> bool:
        """Tell whether a value in its place is ours, also where somebody has adjusted it."""
        if not self.key:
            return bool(calls(found))
        return found == self.value or (
            isinstance(found, dict)
            and "mcp" in _words(found.get("args"))
            and any(NAME in word for word in (str(found.get("command")), *_words(found.get("args"))))
        )


class Client(NamedTuple):
    """A client: its name here and elsewhere, what belongs into its files, and what a person has to do by hand."""

    name: str
    title: str
    parts: tuple[Part, ...]
    then: str = ""

    @property
    def files(self) -> list[str]:
        return [*dict.fromkeys(part.file for part in self.parts)]


def calls(found: Any) -> list[int | None]:
    """Return where an element of a list of hooks calls ours: None for itself, else which of the `hooks` within it."""
    if not isinstance(found, dict):
        return []
    within = found.get("hooks")
    held = within if isinstance(within, list) else []
    told: list[int | None] = [at for at, one in enumerate(held) if isinstance(one, dict) and _is_call(one)]
    return [*([None] if _is_call(found) else []), *told]


def _is_call(found: dict[str, Any]) -> bool:
    return bool(IS_HOOK.search(str(found.get("command"))))


def _words(found: Any) -> list[str]:
    return [str(one) for one in found] if isinstance(found, list) else []


def _server(file: str, *, below: str = "mcpServers", **more: Any) -> Part:
    return Part(file, (below,), NAME, {**more, **SERVER})


def _hooks(file: str, events: dict[str, str], *, seconds: int = SECONDS) -> tuple[Part, ...]:
    """Return a hook for each event; of tools, those that a pattern names."""
    call = {"type": "command", "command": HOOK, "timeout": seconds}
    return tuple(
        Part(file, ("hooks", event), "", {**({"matcher": tools} if tools else {}), "hooks": [call]})
        for event, tools in events.items()
    )


CLIENTS: Final = {
    one.name: one
    for one in (
        Client(
            "claude-code",
            "Claude Code",
            (
                _server(".mcp.json"),
                *_hooks(
                    ".claude/settings.json",
                    {
                        "SessionStart": "",
                        "UserPromptSubmit": "",
                        "PreToolUse": "Read|Edit|MultiEdit|Write|NotebookEdit",
                    },
                ),
            ),
            "Claude Code asks once whether it may use the server of .mcp.json",
        ),
    )
}
