"""A small file of this machine, put in its place whole: who reads it sees the old one or the new one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file beside its place and put it there; with `durable` it is on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")  # two containers may have one number
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
