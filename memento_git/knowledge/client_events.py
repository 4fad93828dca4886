"""What a client tells a hook, and in which form it wants its answer. All of it is somebody else's. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

START: Final = "start"
PROMPT: Final = "prompt"
FILE: Final = "file"
NESTED: Final = {
    "SessionStart": START, "UserPromptSubmit": PROMPT, "BeforeAgent": PROMPT, "PreToolUse": FILE, "PostToolUse": FILE,
    "AfterTool": FILE,
}  # fmt: skip
FLAT: Final = {"sessionStart": START, "postToolUse": FILE}
FRESH: Final = ("startup", "clear", "compact")  # a context in which nothing that was shown is left
PLACES: Final = ("file_path", "filePath", "notebook_path", "absolute_path", "path", "target_file")
PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
BROUGHT: Final = re.compile("<hook_context>.*?</hook_context>", re.DOTALL)  # what hooks said before, as Gemini tells it
LONGEST_PATH: Final = 4096
LOOKED_AT: Final = 20_000
LONGEST_PROMPT: Final = 4000
MOST_PATHS: Final = 20


class Event(NamedTuple):
    """One event of a client's session; what is empty it did not tell.

    An agent that another one started has a context, and so a session, of its own.
    """

    name: str
    kind: str
    session: str = ""
    folder: str = ""
    prompt: str = ""
    paths: tuple[str, ...] = ()
    fresh: bool = False

    def answer(self, context: str) -> dict[str, Any]:
        """Return a context in the form that the client takes it in."""
        if self.name in FLAT:
            return {"additional_context": context}
        return {"hookSpecificOutput": {"hookEventName": self.name, "additionalContext": context}}


def read(data: bytes) -> Event | None:
    """Return what a client tells, None where it is no event that is answered; raise ValueError for what is no JSON."""
    told = json.loads(data)
    if not isinstance(told, dict):
        return None
    name = _text(told, "hook_event_name", "hookEventName")
    kind = NESTED.get(name) or FLAT.get(name)
    if kind is None:
        return None
    session = _text(told, "session_id", "sessionId", "conversation_id")
    return Event(
        name,
        kind,
        f"{session} {agent}" if session and (agent := _text(told, "agent_id")) else session,
        _text(told, "cwd") or _first(told.get("workspace_roots")),
        BROUGHT.sub("", _text(told, "prompt")[:LOOKED_AT]).strip()[:LONGEST_PROMPT],
        _paths(told.get("tool_input")) if kind == FILE else (),
        fresh=_text(told, "source") in FRESH,
    )


def _text(told: Mapping[str, Any], *keys: str) -> str:
    return next((told[key] for key in keys if told.get(key) and isinstance(told[key], str)), "")


def _first(found: Any) -> str:
    return found[0] if isinstance(found, list) and found and isinstance(found[0], str) else ""


def _paths(given: Any) -> tuple[str, ...]:
    """Return the files that a tool is given: by one of the names that clients have for them, or in a patch."""
    if not isinstance(given, dict):
        return ()
    files = given.get("files")
    several = files if isinstance(files, list) else []
    patch = PATCHED.findall(_text(given, "command", "input"))
    told = [_text(given, *PLACES), *(one for one in several if isinstance(one, str)), *map(str.strip, patch)]
    fit = (one for one in told if one and len(one) <= LONGEST_PATH and one.isprintable())
    return tuple(dict.fromkeys(fit))[:MOST_PATHS]
