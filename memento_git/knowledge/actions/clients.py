"""client: a project's settings for an agent's client, with what belongs to Memento in them, or without it again."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Moved, Refused, reason_of
from memento_git.ledger import outfile
from memento_git.ledger.git import BareRepository, Git
from memento_git.model import clients
from memento_git.texts import jsonedit, tomledit

if TYPE_CHECKING:
    from types import ModuleType

    from memento_git.ledger.store import Ledger
    from memento_git.model.clients import Client, Part


SCRIPT: Final = re.compile(r"""#!\s*(/\S+)[^\n]*(?:\n'''exec' "?(/[^"$\n]+?)"? "\$0")?""")  # as pip has it, too
OUT_BY_HAND: Final = "take out of it yourself what calls memento"


class ClientFileUnfit(Refused):
    token = "client_file_unfit"
    sentence = "{path} is not changed: {problem}"
    hint_ = "{way}"


class NoCheckout(BareRepository):
    sentence = "this repository is bare, or a git directory: a client is set up in files of a checkout"
    hint_ = "run the command in a checkout of it, or in a clone"


class ClientFileMoved(Moved):
    token = "client_file_moved"
    sentence = "{path} was changed meanwhile, and is left as it is"
    hint_ = "run the command again; what it would write is shown first"


class Edit(NamedTuple):
    """A file of a client: what it holds, and what it would hold; None where there is none."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """Return the difference as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was, becomes = (
            f"{side}/{self.path}" if text is not None else "/dev/null"
            for side, text in (("a", self.before), ("b", self.after))
        )
        lines = difflib.unified_diff(old, new, was, becomes)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def setup_status(git: Git, client: Client) -> str:
    """Return whether a client is set up here: installed, server, hooks (each alone), partly, absent, or unreadable."""
    told: dict[str, set[bool]] = {}
    try:
        for part, entry in _entries(git, client):
            told.setdefault("server" if part.key else "hooks", set()).add(entry is not None)
    except (ClientFileUnfit, ValueError, RecursionError):
        return "unreadable"
    if any(len(found) > 1 for found in told.values()):
        return "partly"
    there = [name for name, found in told.items() if found == {True}]
    return "installed" if len(there) == len(told) else there[0] if there else "absent"


def lost(git: Git, client: Client) -> list[str]:
    """Return the programs that a client which is set up here would start for us, and that are not found from here.

    A word with a variable or a home folder in it the client, or its shell, alone can read.
    """
    starts = {clients.program(entry) for _, entry in _entries(git, client) if entry}
    known = sorted(word for word in starts if word and word.isprintable() and not {"$", "~"} & {*word})
    return [gone for word in known if (gone := _gone(word, shutil.which(_top(git) / word if "/" in word else word)))]


def _gone(word: str, place: str | None) -> str:
    """Return a program that is not there, or a script with what should run it and is not; nothing for a whole one."""
    if place is None:
        return word
    try:
        with Path(place).open(encoding="utf-8", errors="replace") as stream:
            script = SCRIPT.match(stream.read(4096))
    except OSError:
        return ""
    runs = script[2] or script[1] if script else ""
    return f"{word} by {runs}" if runs and shutil.which(runs) is None else ""


def _entries(git: Git, client: Client) -> Iterator[tuple[Part, Any]]:
    """Yield each part of a client's files, with what is ours there, None where it is not."""
    for path, parts in _by_file(client).items():
        held = _editor(path).load(_held(path, _read(_top(git) / path, path, "")))
        for part in (one for one in parts if not one.frame):
            steps = _found(held, part)
            yield part, reduce(getitem, steps, held) if steps else None


def installation(git: Git, client: Client) -> list[Edit]:
    """Return what its files would be with what is ours; what is there already is left as it is."""
    way = _by_hand(client)
    return [_edit(git, path, parts, _with, way) for path, parts in _by_file(client).items()]


def removal(git: Git, client: Client) -> list[Edit]:
    """Return what its files would be without what is ours; a file that then holds nothing goes."""
    return [_edit(git, path, parts, _without, OUT_BY_HAND) for path, parts in _by_file(client).items()]


def write(ledger: Ledger, edits: Iterable[Edit]) -> None:
    """Write what differs, each file whole or not at all; nothing is staged or committed."""
    top = _top(ledger.git)
    for edit in edits:
        if edit.after == edit.before:
            continue
        place = top / edit.path
        if _text(place) != edit.before:
            raise ClientFileMoved(path=edit.path)
        if edit.after is None:
            place.unlink()
            _tidy(place.parent, top)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        outfile.put(ledger, place, edit.after.encode(), force=True)


def _by_file(client: Client) -> dict[str, list[Part]]:
    return {part.file: [one for one in client.parts if one.file == part.file] for part in client.parts}


def _edit(git: Git, path: str, parts: list[Part], change: Callable[[str, list[Part]], str | None], way: str) -> Edit:
    place = _top(git) / path
    before = _read(place, path, way)
    held = _held(path, before)
    try:
        after = change(held, parts)
    except (json.JSONDecodeError, TOMLDecodeError) as error:
        problem = f"it is no plain {Path(path).suffix[1:].upper()} ({error})"
        raise ClientFileUnfit(path=path, problem=problem, way=way) from error
    except ValueError as error:
        raise ClientFileUnfit(path=path, problem=error, way=way) from error
    except RecursionError as error:
        raise ClientFileUnfit(path=path, problem="it is nested too deeply", way=way) from error
    if after == held:
        return Edit(path, before, before)
    there = next(one for one in (place, *place.parents) if one.exists()).resolve()
    if not there.stat().st_mode & 0o222 or not os.access(there, os.W_OK):
        raise ClientFileUnfit(path=path, problem=f"{there.name} is write-protected", way=way)
    return Edit(path, before, _held(path, None) if after is None and place.is_symlink() else after)


def _by_hand(client: Client) -> str:
    """Return what a person puts into the files, for then none is written: of JSON all on one line."""
    told = ["put this in yourself, where it is missing"]
    for path, parts in _by_file(client).items():
        text = _with(_held(path, None), parts)
        said = f"\n{text}" if path.endswith(".toml") else json.dumps(json.loads(text), ensure_ascii=False)
        told.append(f"{path}: {said.rstrip()}")
    return "\n".join(told)


def _editor(path: str) -> ModuleType:
    return tomledit if path.endswith(".toml") else jsonedit


def _held(path: str, text: str | None) -> str:
    """Return what a file holds, of none and of an empty one what may be added to."""
    return text if text and text.strip() else "" if path.endswith(".toml") else "{}\n"


def _with(text: str, parts: list[Part]) -> str:
    for part in parts:
        editor = _editor(part.file)
        held = editor.load(text)
        if _found(held, part):
            continue
        at = _at(held, part.where)
        if part.key and isinstance(at, dict) and part.key in at:
            if part.frame:
                continue
            raise ValueError(f"its {'.'.join((*part.where, part.key))} is something else")
        text = editor.put(text, part.where, part.key, part.value)
    return text


def _without(text: str, parts: list[Part]) -> str | None:
    """Return a text without what is ours; None where it holds nothing else."""
    kept, editor = text, _editor(parts[0].file)
    for part in (one for one in parts if not one.frame):
        while found := _found(editor.load(text), part):
            text = editor.drop(text, found)
    frame = {part.key: part.value for part in parts if part.frame}
    is_bare = editor.load(text) in ({}, frame) and "#" not in text
    return None if text != kept and is_bare else text


def _found(held: Any, part: Part) -> tuple[str | int, ...]:
    """Return the steps to what is ours of a part; none where it is not there."""
    at = _at(held, part.where)
    if part.key:
        there = isinstance(at, dict) and part.key in at and part.is_ours(at[part.key])
        return (*part.where, part.key) if there else ()
    for place, element in enumerate(at if isinstance(at, list) else []):
        for within in clients.calls(element):
            if within is None or len(element["hooks"]) == 1:
                return (*part.where, place)
            return (*part.where, place, "hooks", within)
    return ()


def _at(held: Any, where: tuple[str, ...]) -> Any:
    for step in where:
        held = held.get(step) if isinstance(held, dict) else None
    return held


def _read(place: Path, path: str, way: str) -> str | None:
    """Return what a file holds, None where there is none; refuse what is no text, or no file of the project."""
    try:
        outfile.refuse_link(place)
        if place.exists() and not place.is_file():  # what a pipe holds would be waited for
            raise ClientFileUnfit(path=path, problem="it is no file", way=way)
        text = _text(place)
    except outfile.OutUnfit as error:
        raise ClientFileUnfit(path=path, problem=error.facts["problem"], way=way) from error
    except UnicodeDecodeError as error:
        raise ClientFileUnfit(path=path, problem="it is no text in UTF-8", way=way) from error
    except OSError as error:
        raise ClientFileUnfit(path=path, problem=reason_of(error), way=way) from error
    return text


def _text(place: Path) -> str | None:
    try:
        return place.read_bytes().decode()
    except FileNotFoundError:
        return None


def _top(git: Git) -> Path:
    if git.top is None:
        raise NoCheckout
    return git.top


def _tidy(folder: Path, top: Path) -> None:
    """Take away the folders that are empty now."""
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
