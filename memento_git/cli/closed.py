"""Standard input that was closed before memento began, as `<&-` does: who wants to read it is told so."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, cast

from memento_git.errors import Misused

if TYPE_CHECKING:
    from typing import TextIO


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


def stand_in() -> None:
    """Let reading from standard input be refused where there is none."""
    if sys.stdin is None:
        sys.stdin = cast("TextIO", Closed())
