"""The standard streams, as those who started us gave them: one may be closed, one may not wait for its other end."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO, cast

from memento_git.errors import Misused

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class InputClosed(Misused):
    token = "input_closed"
    sentence = "standard input is closed; there is nothing to read"
    hint_ = "pipe the text into the command, or name a file in the place of -"


class Closed(io.RawIOBase):
    """Stands where standard input is missing."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:  # noqa: ARG002 (the io module's shape)
        raise InputClosed

    @property
    def buffer(self) -> Closed:
        return self


class Patient(io.RawIOBase):
    """A descriptor that is waited for where it says that it cannot be read or written now."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor

    def isatty(self) -> bool:
        return os.isatty(self.descriptor)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer)
        while True:
            try:
                data = os.read(self.descriptor, len(room))
            except BlockingIOError:
                select.select([self.descriptor], [], [])
            else:
                room[: len(data)] = data
                return len(data)

    def write(self, data: ReadableBuffer) -> int:
        while True:
            try:
                return os.write(self.descriptor, data)
            except BlockingIOError:
                select.select([], [self.descriptor], [])


def stand_in() -> None:
    """Let reading from standard input be refused where there is none, and what nobody wants to read be written."""
    if sys.stdin is None:
        sys.stdin = cast("TextIO", Closed())
    sys.stdout, sys.stderr = (
        open(os.devnull, "w", encoding="utf-8") if stream is None else stream  # noqa: PTH123, SIM115 (it stays open)
        for stream in (sys.stdout, sys.stderr)
    )


def wait_for_all() -> None:
    """Let the standard streams of this process carry all that is written and read, also where they do not block."""
    for name in ("stdin", "stdout", "stderr"):
        old = getattr(sys, name)
        if type(old) is io.TextIOWrapper:
            raw = Patient(old.fileno())
            buffer = io.BufferedReader(raw) if name == "stdin" else io.BufferedWriter(raw)
            new = io.TextIOWrapper(buffer, old.encoding, old.errors, line_buffering=old.line_buffering)
            setattr(sys, name, new)
