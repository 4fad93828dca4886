"""A small file of this machine, put in its place whole: who reads it sees the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HALF: Final = r".+\.\d+-[0-9a-f]{8}"
LONG: Final = 3600  # seconds after which nobody writes a file any more


def write(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file beside its place and put it there; with `durable` it is on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")  # two containers may have one number
    try:
        with named(path), temporary.open("wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an error in writing a file name it: a full disk says of none what it has no room for."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def left(folder: Path, now: float, *, but: str) -> list[Path]:
    """Return the files below a folder that a kill left half written, by the time of now in seconds since 1970.

    Folders that have a file named `but` are somebody's own.
    """
    found = []
    for place, folders, names in os.walk(folder):
        if but in names:
            folders.clear()
            continue
        for path in (Path(place, name) for name in names if re.fullmatch(HALF, name)):
            with contextlib.suppress(FileNotFoundError):  # it has just been put in its place
                if path.lstat().st_mtime < now - LONG:
                    found.append(path)
    return sorted(found)
