"""What threads of a process do in turn, and a fork of the process does for itself."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final, TypeVar

Kind = TypeVar("Kind")
Process = TypeVar("Process")


class Turn:
    """A lock that one thread holds at a time, as often as it likes; in a fork of the process nobody holds it."""

    def __init__(self) -> None:
        self.renew()
        TURNS.add(self)

    def renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


TURNS: Final[weakref.WeakSet[Turn]] = weakref.WeakSet()


def renew_all() -> None:
    for turn in list(TURNS):
        turn.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=renew_all)


def at_end(kept: object, end: Callable[[Process], None], process: Process) -> weakref.finalize[..., Any]:
    """Let a process end with what keeps it, or when that is called; in a fork of this process nothing is ended."""
    return weakref.finalize(kept, _ended_here, os.getpid(), end, process)


def _ended_here(owner: int, end: Callable[[Process], None], process: Process) -> None:
    if owner == os.getpid():
        end(process)


def in_turn(kind: type[Kind]) -> type[Kind]:
    """Let threads call the public methods of a class in turn; each object has its `turn`."""
    for name, method in list(vars(kind).items()):
        if callable(method) and not name.startswith("_"):
            setattr(kind, name, _alone(method))
    return kind


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        with self.turn:
            return method(self, *arguments, **options)

    return called
