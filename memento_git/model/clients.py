"""The clients that a project can be set up for: what belongs into which of its files, and which events they tell.

A file of a project is committed and read on other machines: it names `memento` as PATH has it.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

NAME: Final = "memento"
HOOK: Final = "memento client hook || exit 0"  # whatever happens there: some clients take a 2 for an order to stop
IS_HOOK: Final = re.compile(r"\bmemento\b.*\bclient hook\b")
IS_MEMENTO: Final = re.compile(r"(?:^|[/\\])memento(?:[._-]git)?(?:\.exe)?(?:\[|$)")  # not the server of a namesake
SECONDS: Final = 10


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
        return found == self.value or (
            isinstance(found, dict)
            and "mcp" in _words(found.get("args"))
            and any(IS_MEMENTO.search(word) for word in (str(found.get("command")), *_words(found.get("args"))))
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


def program(entry: dict[str, Any]) -> str:
    """Return what an entry of ours starts: the command of a server, or of a hook its first word if that is Memento."""
    if "args" in entry:
        return str(entry.get("command", ""))
    called = [entry if at is None else entry["hooks"][at] for at in calls(entry)]
    first = " ".join(str(one.get("command")) for one in called).split(maxsplit=1)[:1]
    return first[0] if first and IS_MEMENTO.search(first[0]) else ""


def _is_call(found: dict[str, Any]) -> bool:
    return bool(IS_HOOK.search(str(found.get("command"))))


def _words(found: Any) -> list[str]:
    return [str(one) for one in found] if isinstance(found, list) else []


def _server(file: str, below: str = "mcpServers", *, at: str = "", **more: Any) -> Part:
    """Return the server; `at` is what a client that starts it elsewhere has for the project's folder."""
    args = ["-C", at, "mcp"] if at else ["mcp"]
    return Part(file, (below,), NAME, {**more, "command": "memento", "args": args})


def _hooks(file: str, events: dict[str, str], *, second: int = 1) -> tuple[Part, ...]:
    """Return a hook for each event; of tools, for those that a pattern names. `second` is one in a client's unit."""
    call = {"type": "command", "command": HOOK, "timeout": SECONDS * second}
    return tuple(
        Part(file, ("hooks", event), "", {**({"matcher": tools} if tools else {}), "hooks": [call]})
        for event, tools in events.items()
    )


CLAUDE: Final = Client(
    "claude-code", "Claude Code",
    (
        _server(".mcp.json"),
        *_hooks(".claude/settings.json", {
            "SessionStart": "", "UserPromptSubmit": "", "PreToolUse": "Read|Edit|MultiEdit|Write|NotebookEdit",
        }),
    ),
    "start claude, which asks whether the server of .mcp.json may be used",
)  # fmt: skip
CODEX: Final = Client(
    "codex", "Codex",
    (
        _server(".codex/config.toml", "mcp_servers"),
        *_hooks(".codex/hooks.json", {"SessionStart": "", "UserPromptSubmit": "", "PreToolUse": "apply_patch"}),
    ),
    "start codex, which asks whether the project is trusted; then trust the hooks: /hooks",
)  # fmt: skip
CURSOR: Final = Client(
    "cursor", "Cursor",
    (
        _server(".cursor/mcp.json", at="${workspaceFolder}"),
        Part(".cursor/hooks.json", (), "version", 1, frame=True),
        Part(".cursor/hooks.json", ("hooks", "sessionStart"), "", {"command": HOOK, "timeout": SECONDS}),
        Part(".cursor/hooks.json", ("hooks", "postToolUse"), "",
             {"command": HOOK, "timeout": SECONDS, "matcher": "Read|Write"}),
    ),
    "switch the server on in Cursor's settings, where it asks for that",
)  # fmt: skip
GEMINI: Final = Client(
    "gemini", "Gemini CLI",
    (
        _server(".gemini/settings.json"),
        *_hooks(
            ".gemini/settings.json",
            {"SessionStart": "", "BeforeAgent": "", "AfterTool": "read_file|read_many_files|write_file|replace"},
            second=1000,
        ),
    ),
    "start gemini, which asks whether the folder and its hooks are trusted",
)  # fmt: skip
VSCODE: Final = Client(
    "vscode", "VS Code", (_server(".vscode/mcp.json", "servers", at="${workspaceFolder}", type="stdio"),),
    "start the server in VS Code, which asks whether it is trusted",
)  # fmt: skip
CLIENTS: Final = {one.name: one for one in (CLAUDE, CODEX, CURSOR, GEMINI, VSCODE)}
