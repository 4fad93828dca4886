"""The plugin for Hermes: the lifecycle ledger's commands, registered by name, over the same command line.

A context needs `register_command(name, handler)`. A handler takes a mapping, a JSON object as text, or words
`key=value`; it answers a mapping with a mapping, and a text with JSON text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HINT: Final = "a JSON object, or words key=value"


def register(ctx: Any) -> dict[str, Any]:
    """Register `memento.<command>` for each of the lifecycle ledger's commands; return what was registered."""
    from memento_git.cli.seed_names import NAMES

    registrar = getattr(ctx, "register_command", None)
    commands = []
    for name in NAMES if callable(registrar) else ():
        _register(registrar, f"memento.{name}", _handler(name), {"description": _help(name), "args_hint": HINT})
        commands.append(f"memento.{name}")
    return {"ok": True, "plugin": "memento", "registered": bool(commands), "commands": commands}


def _register(registrar: Any, name: str, handler: Callable[..., Any], about: Mapping[str, str]) -> None:
    """Register a handler, with what is told about it where the context takes that."""
    import inspect

    taken = inspect.signature(registrar).parameters
    anything = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    registrar(name, handler, **{key: text for key, text in about.items() if anything or key in taken})


def _help(name: str) -> str:
    from memento_git.cli.seed_names import TABLE

    return f"Same as memento {TABLE[name].path if name in TABLE else name}."


def _handler(name: str) -> Callable[..., dict[str, Any] | str]:
    def handle(args: Any = None, **_: Any) -> dict[str, Any] | str:
        import json

        told = _answer(name, args)
        return json.dumps(told, ensure_ascii=False) if isinstance(args, str) else told

    return handle


def _answer(name: str, args: Any) -> dict[str, Any]:
    from memento_git.cli import boundary, seed_names
    from memento_git.errors import MementoError

    try:
        arguments = seed_names.arguments(name, seed_names.given(args))
    except MementoError as error:
        return {"ok": False, "error": error.token, "message": error.message, "hint": error.hint}
    return boundary.answer(arguments)
