"""What the machine does not do, told as a refusal: a file that fails, or no more memory, process or open file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from memento_git.errors import SPENT, Refused
from memento_git.model.clock import ClockUnfit

FAILURES: Final = (OSError, MemoryError, RuntimeError, ImportError)
NO_MORE: Final = ("can't start new thread", "failed to map segment")  # of a thread's stack, of an extension module
LOOP: Final = "Symlink loop from "  # what Path.resolve raises until Python 3.13
TOO_LATE: Final = "PyTime_t"  # what Python says of a time that its nanoseconds do not reach: after the year 2262


class FileSystemFailed(Refused):
    token = "file_system"
    sentence = "{path}: {problem}"
    hint_ = "look at the file, its folder, its permissions and the space on its disk, then run the command again"


class MachineSpent(Refused):
    token = "machine_spent"
    sentence = "the system gives this process no more: {problem}"
    hint_ = "end other programs, or raise the limit (ulimit -a shows each), then run the command again"


class ModuleCutShort(Refused):
    token = "installation_damaged"
    sentence = "Python cannot read what it compiled, for the file was cut short, as by a full disk: {path}"
    hint_ = "free some space, remove that file, then run the command again: Python makes it anew"


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Let what the machine does not do be a refusal like any other."""
    try:
        yield
    except FAILURES as error:
        if not is_of_machine(error):
            raise
        if is_spent(error):
            raise MachineSpent(problem=told_of(error)["problem"]) from error
        raise FileSystemFailed(**told_of(error)) from error
    except EOFError as error:
        refuse_cut_short(error)
        raise
    except OverflowError as error:
        if TOO_LATE not in str(error):
            raise
        raise ClockUnfit(seconds="more than 9223372036") from error


def refuse_cut_short(error: EOFError) -> None:
    """Refuse where Python came to the end of a compiled module too soon; its importer knows the file."""
    import traceback

    for frame, _ in traceback.walk_tb(error.__traceback__):
        if path := frame.f_locals.get("bytecode_path"):
            raise ModuleCutShort(path=path) from error


def is_of_machine(error: Exception) -> bool:
    """Tell whether an error is the machine's, and no fault of ours."""
    return isinstance(error, OSError) or is_spent(error) or str(error).startswith(LOOP)


def is_spent(error: Exception) -> bool:
    """Tell whether an error says that there is no more memory, process, thread or open file to be had."""
    if isinstance(error, OSError):
        return error.errno in SPENT
    return isinstance(error, MemoryError) or any(words in str(error) for words in NO_MORE)


def told_of(error: Exception) -> dict[str, str]:
    """Return what the machine would not do, and for which file: of a copy or a move, the one that it makes."""
    if str(error).startswith(LOOP):
        return {"path": str(error)[len(LOOP) :].strip("'"), "problem": "this symbolic link leads to itself"}
    if not isinstance(error, OSError):
        return {"path": "this process", "problem": str(error) or "out of memory"}
    name = next((one for one in (error.filename2, error.filename) if one is not None), "a file or stream")
    path = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return {"path": path, "problem": error.strerror or type(error).__name__}
