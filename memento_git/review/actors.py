"""Who acted on a branch: under another name than who committed it, or under one that looks like another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_git.ledger import layout
from memento_git.model.finding import Finding
from memento_git.model.ids import parse_ref
from memento_git.model.work import Event
from memento_git.work import persons

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from memento_git.ledger.changes import Authored
    from memento_git.ledger.view import View


def committed(head: View, commits: Iterable[Authored]) -> Iterator[Finding]:
    """Yield each actor whose events somebody of another name committed, with how many they are."""
    counts: dict[tuple[str, str], list[str]] = {}
    for commit in commits:
        for path in commit.paths:
            place = layout.place_of(path)
            if place is None or place.kind == "attachment" or path not in head.files:
                continue
            found = head.record(path)
            actor = "" if found is None else found.by if isinstance(found, Event) else str(found.data["by"])
            if actor and not is_same(actor, commit.author):
                counts.setdefault((actor, commit.author), []).append(path)
    for (actor, author), paths in sorted(counts.items()):
        message = f"{len(paths)} record(s) by {actor} were committed by {author}"
        yield Finding("C002", paths[0], 0, message, "look whether that is as it should be", "warning")


def may_look_like_others(head: View, commits: Iterable[Authored], new: Collection[str]) -> bool:
    """Tell whether an actor of the branch has letters that look like those of another alphabet."""
    return any(persons.may_look_like(name) for name in _names(head, commits, new))


def lookalikes(
    head: View, commits: Sequence[Authored], known: Iterable[str], new: Collection[str]
) -> Iterator[Finding]:
    """Yield each actor of the branch whose name can hardly be told from an author's, or from a known one.

    `new` are the events of the branch.
    """
    names = _names(head, commits, new)
    authors = {name for commit in commits for name in (commit.author, commit.author.partition(" <")[0])}
    for name, path in sorted(names.items()):
        if alike := sorted(other for other in {*known, *authors, *names} if persons.looks_like(name, other)):
            message = f"{name} looks like {alike[0]}, and is another name: {persons.spelled(name)}"
            yield Finding("C006", path, 0, message, "ask who that is; take back what they wrote")


def _names(head: View, commits: Iterable[Authored], new: Collection[str]) -> dict[str, str]:
    """Return the actors of what some commits added, each with a file; of what they redacted, too, where it was new."""
    names: dict[str, str] = {}
    for path in (path for commit in commits for path in commit.paths):
        place = layout.place_of(path)
        found = head.record(path) if place and place.kind != "attachment" and path in head.files else None
        if found is not None:
            names.setdefault(found.by if isinstance(found, Event) else str(found.data["by"]), path)
        told = found.data if isinstance(found, Event) and found.do == "redacted" else {}
        while parse_ref(told.get("target", "")).id in new and isinstance(kept := told.get("kept"), dict):
            names.setdefault(str(kept.get("by")), path)
            told = kept
    return names


def is_same(actor: str, author: str) -> bool:
    """Tell whether an actor and a commit's author have one name, or one address."""
    name, _, address = author.partition(" <")
    return actor in (author, name) or actor.partition(" <")[0] == name or (f"<{address}" in actor and address != ">")
