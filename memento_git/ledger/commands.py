"""Running a command of the user's on one text: what it prints, within a time and a size."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from memento_git.errors import Misused, Refused, reason_of

CHUNK: Final = 64 * 1024
COMPLAINT: Final = 2000
GRACE: Final = 2.0
HOLE: Final = "{path}"
SHELL: Final = re.compile(r"(?:.*/)?(?:ba|da|z|k|a|fi)?sh -\w*c")  # with a script behind it


class CommandUnclear(Misused):
    token = "command_unclear"
    sentence = "{given!r} is no command: {problem}"
    hint_ = "write it as one would in a shell, in quotes: --describe-with 'tool --option'"


class CommandNotFound(Refused):
    token = "command_not_found"
    sentence = "{program} could not be started: {reason}"
    hint_ = "check the name and PATH; a line for a shell is given as sh -c LINE"


class Answered(NamedTuple):
    """What a command printed, and why that is of no use if so."""

    text: bytes
    why: str = ""


def words_of(given: str) -> list[str]:
    """Return the words of a command line."""
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise CommandUnclear(given=given, problem=str(error)) from None
    if not words:
        raise CommandUnclear(given=given, problem="it is empty")
    return words


def ask(
    words: Sequence[str], path: str, data: bytes, *, cwd: Path, timeout: float, most: int,
    extra: Mapping[str, str] | None = None,
) -> Answered:  # fmt: skip
    """Give a command a file's bytes on its standard input; return what it prints.

    Its path stands for `{path}` in the words that are not a shell's. What takes too long or prints too much is ended,
    with all that it started.
    """
    is_script = SHELL.fullmatch(" ".join(words[:2]))
    argv = list(words) if is_script else [word.replace(HOLE, path) for word in words]
    try:
        process = subprocess.Popen(
            argv, cwd=cwd, env={**os.environ, **(extra or {})}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise CommandNotFound(program=argv[0], reason=reason_of(error)) from None
    return _Exchange(process, data, most).answer(timeout)


class _Exchange:
    """Feeds a process and reads what it prints, all at once, so that no pipe fills up."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes, most: int) -> None:
        self.process = process
        self.most = most
        self.out = bytearray()
        self.err = bytearray()
        self.threads = [
            threading.Thread(target=self._feed, args=(process.stdin, data), daemon=True),
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._complain, args=(process.stderr,), daemon=True),
        ]

    def answer(self, timeout: float) -> Answered:
        end = time.monotonic() + timeout
        for thread in self.threads:
            thread.start()
        try:
            self.threads[1].join(timeout)
            if self.threads[1].is_alive():
                return self._ended(f"it took more than {timeout:g} s")
            if len(self.out) > self.most:
                return self._ended(f"it printed more than {self.most} bytes")
            code = self.process.wait(max(GRACE, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return self._ended(f"it took more than {timeout:g} s")
        except BaseException:
            self._ended("")
            raise
        self._settle()
        if code:
            told = bytes(self.err).decode(errors="replace").strip().splitlines()[-1:]
            how = f"it ended with {code}" if code > 0 else f"it was ended by signal {-code}"
            return Answered(b"", ": ".join([how, *told]))
        return Answered(bytes(self.out))

    def _ended(self, why: str) -> Answered:
        with contextlib.suppress(ProcessLookupError, AttributeError):  # not every system has groups
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self._settle()
        return Answered(b"", why)

    def _settle(self) -> None:
        """Let what still reads or writes come to its end."""
        for thread in self.threads:
            thread.join(GRACE)

    def _feed(self, sink: IO[bytes], data: bytes) -> None:
        with contextlib.suppress(OSError), sink:  # it need not read all of it
            sink.write(data)

    def _read(self, source: IO[bytes]) -> None:
        with source:
            while len(self.out) <= self.most and (chunk := os.read(source.fileno(), CHUNK)):
                self.out += chunk

    def _complain(self, source: IO[bytes]) -> None:
        with source:
            while chunk := os.read(source.fileno(), CHUNK):
                self.err = (self.err + chunk)[-COMPLAINT:]
