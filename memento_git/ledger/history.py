"""Ledger commits as git's history has them: who, when, what for. A convenience; nothing depends on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.ledger import layout
from memento_git.ledger.commits import author_in, author_of
from memento_git.ledger.git import Git, GitFailed
from memento_git.model.clock import seconds_of, stamp

if TYPE_CHECKING:
    from memento_git.ledger.view import View

ACTED: Final = "%x00%H%x00%an <%ae>%x00%at%x00%e%x00%(trailers:key=Memento-Actor,valueonly)"
"""A commit, what `author_of` goes by, and the actors that it names, as git's log tells them."""
TRAILER: Final = re.compile(r"(?m)^(Memento-[A-Za-z-]+): *(.*?) *$")


def commit_names(view: View, *, run: str = "", who: str = "", since: str = "", until: str = "") -> list[str]:
    """Return the commits of a view's revisions that touched `.memento`, latest first; a shallow clone has fewer.

    `run`: only those that touched its files; `who`: only those whose author or actor contains this; `since` (with it)
    and `until` (without it) are times of the commit.
    """
    if not view.commits:
        return []
    ages = [f"--max-age={int(seconds_of(since))}"] if since else []
    ages += [f"--min-age={int(seconds_of(until)) - 1}"] if until else []
    paths = [f"{layout.RUNS}/{run}", f"{layout.ARCHIVE}/{run}"] if run else [layout.FOLDER]
    rows = _acted(view.git.run("log", f"--format={ACTED}", *ages, *view.commits, "--", *paths), 5)
    found = ((row[0], f"{author_of(view.git, *row[:4])[0]} {row[4]}" if who else "") for row in rows)
    return [name for name, persons in found if who.lower() in persons.lower()]


def _acted(told: bytes, wide: int) -> Iterator[tuple[str, ...]]:
    """Return commits as `ACTED` has git tell them, and with so many parts each."""
    parts = told.decode(errors="replace").split("\0")[1:]
    return zip(*(parts[start::wide] for start in range(wide)), strict=True)


class Revised(NamedTuple):
    """Who changed a file, the last at the end, and when it was changed last."""

    actors: list[str]
    at: str


def revised(git: Git, since: Sequence[str], until: Sequence[str]) -> dict[str, Revised]:
    """Return by whom each file of a note was changed in the commits that came since, and when last.

    It is the actors that a commit names, or its author. After a squash it is whoever squashed, and where commits are
    missing nobody.
    """
    form = f"--format={ACTED}%x00"
    told = git.run("log", "--reverse", "--name-only", form, *until, "--not", *since, "--", layout.KNOWLEDGE)
    found: dict[str, Revised] = {}
    for commit, author, seconds, encoding, actor, paths in _acted(told, 6):
        wrote, when = author_of(git, commit, author, seconds, encoding)
        names, at = [*filter(None, actor.split("\n"))] or [wrote], stamp(when)
        for path in paths.split("\n"):
            before = found.get(path, Revised([], ""))
            found[path] = Revised([*before.actors, *names], max(before.at, at))
    return found


def branches_with_notes(git: Git, since: str) -> list[str]:
    """Return the branches on which notes were committed after a time, in commits that HEAD does not have."""
    told = git.answer(
        "log", "--format=%S", f"--max-age={int(seconds_of(since))}", "--branches", "--not", "HEAD", "--",
        layout.KNOWLEDGE,
    )  # fmt: skip
    return sorted(set((told or "").split()))


def ledger_commits(view: View, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return commits with author, date, subject and the trailers that the ledger wrote."""
    wanted = list(names)
    held = zip(wanted, view.git.objects(wanted), strict=True)
    return [_row(name, data) for name, data in held if data is not None]


def _row(name: str, data: bytes) -> dict[str, Any]:
    """Return what a commit's own bytes say; GitPython's `Repo` would know no ids but those of 20 bytes."""
    try:
        from git.objects.util import from_timestamp, parse_actor_and_date
    except ImportError as error:  # it asks git for its version
        raise GitFailed(command="version", reason=str(error)) from error
    head, _, body = data.partition(b"\n\n")
    headers = {key: line for line in reversed(head.split(b"\n")) if (key := line.partition(b" ")[0])}
    encoding = headers.get(b"encoding", b"").decode("ascii", "replace").partition(" ")[2]
    _, seconds, offset = parse_actor_and_date(headers.get(b"committer", b"").decode(errors="replace"))
    message = _text(body, encoding).strip("\n")
    trailers: dict[str, list[str]] = {}
    for key, value in TRAILER.findall(message.rpartition("\n\n")[2]):
        trailers.setdefault(key, []).append(value)
    try:
        date = from_timestamp(seconds, offset).isoformat()
    except (OverflowError, OSError, ValueError):
        date = ""
    return {
        "commit": name,
        "author": author_in(data)[0],
        "date": date,
        "subject": message.partition("\n")[0],
        "trailers": trailers,
    }


def _text(data: bytes, encoding: str) -> str:
    """Return bytes as text in the encoding that a commit names, in UTF-8 where that is none for texts."""
    try:
        return data.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")
