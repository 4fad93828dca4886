"""The file that an answer is written to: whole or not at all, never where git and the ledger keep what is theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memento_git.cli.boundary import FileSystemFailed
from memento_git.errors import Refused

if TYPE_CHECKING:
    from memento_git.cli.boundary import Door


class OutUnfit(Refused):
    """A file that an answer must not be written to."""

    token = "out_invalid"
    sentence = "nothing can be written to {path}: {problem}"
    hint_ = (
        "name a file outside of .git and .memento, in a folder that exists; "
        "one that git tracks takes a block of --format agents-md alone"
    )


def put(door: Door, out: str, data: bytes) -> int:
    """Write a file, whole or not at all; return its size in bytes."""
    place = _place(door, out)
    try:
        if place.exists() and not place.is_file():
            place.write_bytes(data)
        else:
            _replace(place, place.with_name(f".{place.name}.{door.ledger.new_id('event')}"), data)
    except OSError as error:
        raise FileSystemFailed(path=out, problem=error.strerror or type(error).__name__) from error
    return len(data)


def refuse_kept(door: Door, path: Path) -> None:
    """Refuse a file of git's or the ledger's own."""
    if door.ledger.keeps(path):
        raise OutUnfit(path=path, problem="that is where git and the ledger keep what is theirs")


def _place(door: Door, out: str) -> Path:
    """Return where a file is written; refuse folders, and those of git and the ledger."""
    path = Path(out)
    if "\0" in out or path.is_dir() or not path.parent.is_dir():
        raise OutUnfit(path=out, problem="it is no file in a folder that exists")
    refuse_kept(door, path)
    place, git = path.resolve(), door.ledger.git
    top = git.top.resolve() if git.top is not None else None
    if top and place.is_relative_to(top) and git.staged([place.relative_to(top).as_posix()]):
        raise OutUnfit(path=out, problem="git tracks that file")
    return place


def _replace(place: Path, beside: Path, data: bytes) -> None:
    try:
        beside.write_bytes(data)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
