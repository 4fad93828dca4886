"""The process that gives out a repository's objects: one serves all that is asked, by one thread at a time."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from memento_git.ledger.thread_safety import Turn, at_end
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    import subprocess

    from memento_git.ledger.git import Git

AT_ONCE: Final = 200


class Stored(NamedTuple):
    """One object: its id, type and content."""

    oid: str
    type: str
    data: bytes


class Reader:
    """Started with the first question; a fork of this process starts one of its own."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._turn = Turn()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def read(self, names: list[str]) -> list[Stored | None]:
        """Return each object, None where it is missing or broken."""
        names = [self._on_one_line(name) for name in names]
        found: list[Stored | None] = []
        with self._turn:
            try:
                for start in range(0, len(names), AT_ONCE):
                    found += self._exchange(names[start : start + AT_ONCE])
            except BaseException:  # what it still has to say answers no question of anybody else
                self.close()
                raise
        return found

    def _on_one_line(self, name: str) -> str:
        """Return a name that is one question: a path may have line ends, and each would be a question of its own."""
        return name if "\n" not in name else self._git.object_id(name) or self._git.zero

    def close(self) -> None:
        """End the process."""
        with self._turn:
            if self._process is not None:
                self._end()
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            self._process, self._owner = self._git.start_reader(), os.getpid()
            self._end = at_end(self, _end, self._process)
        return self._process

    def _exchange(self, names: list[str]) -> list[Stored | None]:
        """Ask for so few objects that their names fit into the pipe while git is writing."""
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the reader has no pipes")
        with contextlib.suppress(BrokenPipeError):  # the answer will be missing
            process.stdin.write(os.fsencode("".join(f"{name}\n" for name in names)))
            process.stdin.flush()
        found: list[Stored | None] = []
        for number, name in enumerate(names):
            header = process.stdout.readline().split()
            if header and (len(header) != 3 or not header[2].isdigit()):  # missing, or ambiguous
                found.append(None)
                continue
            data = process.stdout.read(int(header[2])) if header else b""
            if not header or len(data) < int(header[2]):
                self._end_over(name)
                return [*found, None, *self._exchange(names[number + 1 :])]
            found.append(Stored(header[0].decode(), header[1].decode(), data))
            process.stdout.read(1)
        return found

    def _end_over(self, name: str) -> None:
        """End what is left of a git that has ended over an object; refuse where that is not because it is broken."""
        from memento_git.ledger import missing_ledger

        self.close()
        if not missing_ledger.is_broken(self._git, name):
            missing_ledger.refuse_object(self._git, name)


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    process.wait()
