"""A stream of a command: recorded as the command wrote it, and passed on to whoever reads ours."""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, Final, NamedTuple, TextIO

from memento_git.texts.secrets import MARGIN

CHUNK: Final = 64 * 1024
UNBLOCKED: Final[int] = getattr(select, "PIPE_BUF", 512)  # what a pipe that can be written takes without a wait
GRACE: Final = 2.0
STEP: Final = 0.1


class Stream(NamedTuple):
    """What one stream carried: digest and size of all of it, its beginning and its end.

    Of each `half` bytes are kept where it is longer than both; head and tail reach further into what is left out, so
    that a secret at a cut is seen whole.
    """

    sha256: str
    size: int
    head: bytes
    tail: bytes
    half: int

    @property
    def cut(self) -> int:
        """Return how many bytes of it are left out."""
        return max(0, self.size - 2 * self.half)

    @property
    def end(self) -> bytes:
        """Return the end of the stream, as far as it is there."""
        return self.tail if len(self.head) + len(self.tail) < self.size else self.head + self.tail


class Tee(threading.Thread):
    """Passes a stream on as it comes, hashing all and keeping head and tail."""

    def __init__(self, source: IO[bytes], sink: int | None, keep: int) -> None:
        super().__init__(daemon=True)
        self.source, self.sink, self.half = source, sink, max(1, keep // 2)
        self.digest = hashlib.sha256()
        self.size = 0
        self.head = bytearray()
        self.tail: deque[bytes] = deque()
        self.tail_size = 0
        self.passed = self.end = 0
        self.lock = threading.Lock()

    def run(self) -> None:
        while (chunk := self._next()) != b"":
            if chunk is None:
                _is_ready(self.source.fileno(), "POLLIN")
                continue
            self._pass_on(chunk)
            self.passed = self.size
        with self.lock:
            self.source.close()

    def pass_all_on(self, is_over: Callable[[], bool]) -> None:
        """Wait until all that a command wrote before it ended is recorded and passed on.

        Who reads it may be as slow as they like until it `is_over`; what they have not read then, they do not see.
        """
        with self.lock:
            self.end = self.size + _pending(self.source)
        while self.passed < self.end and self.is_alive() and not is_over():
            self.join(STEP)

    def close(self, seconds: float) -> None:
        """Wait a little for what the command left running; then record only what it wrote itself."""
        self.join(max(0.0, seconds))
        self.sink = None
        while self.size < self.end and self._next():
            pass

    def _next(self) -> bytes | None:
        """Take what lies in the pipe and return it: nothing at its end, None where more may come."""
        with self.lock:
            if not _is_ready(self.source.fileno(), "POLLIN", 0):
                return None
            chunk = os.read(self.source.fileno(), CHUNK)
            self._take(chunk)
            return chunk

    def _pass_on(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest and (sink := self.sink) is not None:
            try:
                if _is_ready(sink, "POLLOUT", STEP):
                    rest = rest[os.write(sink, rest[:UNBLOCKED]) :]
            except BlockingIOError:
                continue
            except OSError:
                self.sink = None

    def _take(self, chunk: bytes) -> None:
        self.digest.update(chunk)
        self.size += len(chunk)
        room = self.half + MARGIN - len(self.head)
        self.head += chunk[:room]
        rest = chunk[room:] if room > 0 else chunk
        if rest:
            self.tail.append(rest)
            self.tail_size += len(rest)
        while self.tail and self.tail_size - len(self.tail[0]) >= self.half + MARGIN:
            self.tail_size -= len(self.tail.popleft())

    def result(self) -> Stream:
        with self.lock:
            tail = b"".join(self.tail)[-self.half - MARGIN :]
            return Stream(self.digest.hexdigest(), self.size, bytes(self.head), tail, self.half)


def finish(tees: Sequence[Tee], is_over: Callable[[], bool]) -> None:
    """Let the streams of a command that has ended come to their end, and with them a line of our terminal."""
    shown = [(tee, tee.sink) for tee in tees if tee.sink is not None and os.isatty(tee.sink)]
    for tee in tees:
        tee.pass_all_on(is_over)
    until = time.monotonic() + GRACE
    for tee in tees:
        tee.close(until - time.monotonic())
    is_open = any(tee.result().end[-1:] not in (b"", b"\n") for tee, _ in shown)
    if is_open and shown[-1][0] is tees[-1]:  # where we tell more, and where standard output may be a file
        with contextlib.suppress(OSError):
            os.write(shown[-1][1], b"\n")


def sink_of(stream: TextIO) -> int | None:
    """Return where a stream of ours leads, once it has written what it holds; nothing where it leads nowhere."""
    try:
        stream.flush()
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None


def _is_ready(descriptor: int, event: str, seconds: float | None = None) -> bool:
    """Wait until a descriptor can be read or written at once; tell whether it can."""
    if sys.platform == "win32":
        return True
    waiting = select.poll()
    waiting.register(descriptor, getattr(select, event))
    return bool(waiting.poll(None if seconds is None else seconds * 1000))


def _pending(source: IO[bytes]) -> int:
    """Return how many bytes lie in a pipe that nobody has read."""
    if sys.platform == "win32" or source.closed:
        return 0
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(source, termios.FIONREAD, bytes(4)), sys.byteorder)
