"""The file that an answer is written to: one that is free, or that was written here before and is as it was."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memento_git.errors import Refused
from memento_git.ledger import atomic_file

if TYPE_CHECKING:
    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger

KEPT: Final = "written.json"


class OutUnfit(Refused):
    token = "out_invalid"
    sentence = "nothing can be written to {path}: {problem}"
    hint_ = "name a file outside of .git and .memento, in a folder that exists, and behind no link that leads elsewhere"


class FileTaken(Refused):
    token = "file_exists"
    sentence = "{path} exists and holds something that memento did not write there"
    hint_ = "give another name, or move that file away first; export and task bundle replace it with --force"


def put(ledger: Ledger, out: str | Path, data: bytes, *, force: bool = False) -> int:
    """Write a file, whole or not at all; return its size in bytes. What somebody else wrote is not replaced unasked."""
    path = Path(out)
    refuse_nowhere(path)
    refuse_place(ledger, path)
    place = path.resolve()
    try:
        if path.exists() and not path.is_file():
            _pour(path, data)
        else:
            if not force and _is_taken(ledger.git, place, data):
                raise FileTaken(path=out)
            replace(place, data)
            _remember(ledger.git, place, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror or type(error).__name__, str(out)) from error
    return len(data)


def _pour(path: Path, data: bytes) -> None:
    """Write to a device or a pipe; refuse a pipe that nobody reads, which would be waited for."""
    try:
        opened = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OutUnfit(path=path, problem="nobody reads that pipe" if path.is_fifo() else "it is a socket") from None
    with os.fdopen(opened, "wb") as stream:
        if os.name == "posix":
            os.set_blocking(opened, True)
        stream.write(data)


def refuse_nowhere(path: Path) -> None:
    """Refuse what is no file in a folder that is there."""
    if "\0" in str(path) or path.is_dir() or not path.parent.is_dir():
        raise OutUnfit(path=path, problem="it is no file in a folder that exists")


def refuse_place(ledger: Ledger, path: Path) -> None:
    """Refuse a file of git's or the ledger's own, and what a link leads out to."""
    if ledger.keeps(path):
        raise OutUnfit(path=path, problem="that is where git and the ledger keep what is theirs")
    refuse_link(path)


def refuse_link(path: Path) -> None:
    """Refuse a path on which a symbolic link leads out of the work tree that the link lies in."""
    here = Path(path.absolute().anchor)
    for part in path.absolute().parts[1:]:
        there = here.parent if part == ".." else (here / part).resolve()
        top = _top(here) if part != ".." and (here / part).is_symlink() else None
        if top is not None and not there.is_relative_to(top):
            raise OutUnfit(path=path, problem=f"{part} is a symbolic link that leads out of the work tree")
        here = there


def _top(folder: Path) -> Path | None:
    """Return the work tree that a folder lies in."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def _is_taken(git: Git, place: Path, data: bytes) -> bool:
    """Tell whether a file holds anything but what was last written to it here, or is to be written now."""
    held = place.read_bytes() if place.exists() else b""
    return held not in (b"", data) and _written(git).get(str(place)) != hashlib.sha256(held).hexdigest()


def _written(git: Git) -> dict[str, str]:
    """Return file -> the digest of what was last written to it."""
    try:
        held = json.loads((git.common_dir / "memento" / KEPT).read_bytes())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _remember(git: Git, place: Path, data: bytes) -> None:
    """Keep what was written; where the file system refuses, the next answer asks for another file."""
    written = {**_written(git), str(place): hashlib.sha256(data).hexdigest()}
    with contextlib.suppress(OSError):
        atomic_file.write(git.common_dir / "memento" / KEPT, json.dumps(written).encode())


def replace(place: Path, data: bytes) -> None:
    """Put a file in place whole, by way of one beside it, with the permissions that it had."""
    _clear(place)
    beside = place.with_name(f".{place.name}.memento-{os.urandom(8).hex()}")
    try:
        beside.write_bytes(data)
        if place.exists():
            shutil.copymode(place, beside)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _clear(place: Path) -> None:
    """Take away what a kill left beside a file, once nobody writes it any more."""
    half = re.compile(rf"\.{re.escape(place.name)}\.memento-[0-9a-f]{{16}}")
    with contextlib.suppress(OSError):
        for path in place.parent.iterdir():
            if half.fullmatch(path.name) and path.lstat().st_mtime < time.time() - atomic_file.LONG:
                path.unlink()
