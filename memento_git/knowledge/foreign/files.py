"""Files of a foreign source: plain ones of a fair size only, no link is followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memento_git.knowledge.foreign.entries import LARGEST, MOST, SourceUnreadable
from memento_git.model.exchange import LeftOut

SQLITE: Final = b"SQLite format 3\0"


def below(folder: Path, suffixes: tuple[str, ...], skipped: list[LeftOut]) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files in a folder and below it, in the order of their names."""
    for count, path in enumerate(_walk(folder)):
        if count >= MOST:
            raise SourceUnreadable(where=folder.name, problem=f"it has more than {MOST} files")
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() and (path.is_dir() or path.suffix.lower() in suffixes):
            skipped.append(LeftOut(name, "it is a symbolic link, and none is followed"))
            continue
        if path.suffix.lower() not in suffixes:
            continue
        text = _read(path, name, skipped)
        if text is not None:
            yield name, text


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)
        else:
            yield path


def _read(path: Path, name: str, skipped: list[LeftOut]) -> str | None:
    if not path.is_file():
        skipped.append(LeftOut(name, "it is no plain file"))
        return None
    size = path.stat().st_size
    if size > LARGEST:
        skipped.append(LeftOut(name, f"its {size} bytes are more than a ledger file may have"))
        return None
    try:
        return _text(path)
    except UnicodeDecodeError:
        skipped.append(LeftOut(name, "it is no UTF-8 text"))
        return None


def is_database(path: Path) -> bool:
    """Tell by its first bytes whether a file is one of SQLite."""
    with path.open("rb") as stream:
        return stream.read(len(SQLITE)) == SQLITE


def existing(path: Path) -> Path:
    """Return a path; refuse what is no file."""
    if not path.is_file():
        raise SourceUnreadable(where=path.name, problem="it is no file")
    return path


def whole(path: Path, most: int = LARGEST) -> str:
    """Return the text of one file; refuse what is none, or too large."""
    if existing(path).stat().st_size > most:
        raise SourceUnreadable(where=path.name, problem=f"it has more than {most} bytes")
    try:
        return _text(path)
    except UnicodeDecodeError:
        raise SourceUnreadable(where=path.name, problem="it is no UTF-8 text") from None


def is_there(path: Path) -> bool:
    """Tell whether a name that somebody wrote is a file's; one that no file can have is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _text(path: Path) -> str:
    """Return the text of a file, whichever system's ends its lines have."""
    return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def place_of(path: Path, top: Path | None) -> str:
    """Return where a file is in the repository; of one outside of it the name alone, never where it lies."""
    there = path.parent.resolve() / path.name
    if top is None or not there.is_relative_to(top.resolve()):
        return path.name
    return there.relative_to(top.resolve()).as_posix()
