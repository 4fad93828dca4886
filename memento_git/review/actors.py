"""Who acted on a branch: under another name than who committed it, or under one that looks like another's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memento_git.ledger import changes, layout
from memento_git.model.finding import Finding
from memento_git.model.ids import parse_ref
from memento_git.model.work import Event
from memento_git.work import persons

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from memento_git.ledger.changes import Authored
    from memento_git.ledger.view import View
    from memento_git.review.against import Comparison


class Act(NamedTuple):
    """What a branch says that somebody did, and who committed it: the record, and the file that tells of it."""

    actor: str
    author: str
    record: str
    path: str


def acts(comparison: Comparison, commits: Sequence[Authored]) -> list[Act]:
    """Return what some commits say that somebody did; also in archives, and in what a redaction keeps that is new.

    A file that is as the base has it says nothing, whoever took it out and put it back.
    Of a record that was redacted, or put into an archive, it is asked who committed that; only where none of the
    commits did, who redacted or archived it.
    """
    came: dict[str, set[str]] = {}
    for commit in commits:
        for place in map(layout.place_of, commit.paths):
            if place is not None and place.kind != "attachment":
                came.setdefault(place.id, set()).add(commit.author)
    packed = [path for path in comparison.unpacked() if comparison.base.read(path) is None]
    brought = {*comparison.brought()}
    found: list[Act] = []
    for one in commits:
        own = [path for path in one.paths if path in brought]
        for path in (*own, *_within(comparison, one, packed, came)):
            found += _told(comparison, path, one.author, came)
    return [*dict.fromkeys(found)]


def _within(comparison: Comparison, commit: Authored, packed: Iterable[str], came: Collection[str]) -> Iterator[str]:
    """Yield the files in archives of a commit that none of the commits added by themselves."""
    for path in packed:
        place = layout.place_of(path)
        archives = comparison.head.archived[place.run].get(path, ()) if place else ()
        if place is not None and place.id not in came and not {*commit.paths}.isdisjoint(archives):
            yield path


def _told(comparison: Comparison, path: str, author: str, came: Mapping[str, Collection[str]]) -> Iterator[Act]:
    place, head = layout.place_of(path), comparison.head
    found = head.record(path) if place and place.kind != "attachment" and path in head.files else None
    if place is None or found is None:
        return
    yield Act(found.by if isinstance(found, Event) else str(found.data["by"]), author, place.id, path)
    told = found.data if isinstance(found, Event) and found.do == "redacted" else {}
    while isinstance(kept := told.get("kept"), dict):
        target = parse_ref(str(told.get("target"))).id
        new = (author,) if comparison.is_added(place.run, target) else ()
        yield from (Act(str(kept.get("by")), one, target, path) for one in came.get(target, new))
        told = kept


def committed(found: Iterable[Act], agents: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Yield each actor whose records somebody of another name committed, with how many they are.

    Not of an agent whose records, as policy has it, may come in that author's commits, or in anyone's.
    """
    paths: dict[tuple[str, str], list[str]] = {}
    for act in found:
        known = agents.get(act.actor)
        is_known = known == [] or any(is_same(name, act.author) for name in known or ())
        if not is_known and not is_same(act.actor, act.author):
            paths.setdefault((act.actor, act.author), []).append(act.path)
    for (actor, author), theirs in sorted(paths.items()):
        message = f"{len(theirs)} record(s) by {actor} were committed by {author}"
        fix = "look whether that is as it should be"
        if "<" not in actor:
            fix += f"; where {actor} is an agent of {author}, policy.agents can say so"
        yield Finding("C002", theirs[0], 0, message, fix, "warning")


def lookalikes(names: Mapping[str, str], known: Collection[str]) -> Iterator[Finding]:
    """Yield each actor of the branch whose name can hardly be told from a known one, or from another actor's.

    `names` are the actors, each with a file.
    """
    for name, path in sorted(names.items()):
        if alike := sorted(other for other in {*known, *names} if persons.looks_like(name, other)):
            message = f"{name} looks like {alike[0]}, and is another name: {persons.spelled(name)}"
            yield Finding("C006", path, 0, message, "ask who that is; take back what they wrote")


def archived(view: View) -> set[str]:
    """Return who acts in the records that archives hold."""
    from memento_git.ledger import archive

    names: set[str] = set()
    for path in [path for path in view.files if path.startswith(f"{layout.ARCHIVE}/")]:
        files, _ = archive.unpack(path, layout.run_of_path(path) or "", view.read(path) or b"")
        names = names.union(*(changes.named(data.decode(errors="replace")) for data in files.values()))
    return names


def is_same(actor: str, author: str) -> bool:
    """Tell whether an actor and a commit's author have one name, or one address."""
    name, _, address = author.partition(" <")
    return actor in (author, name) or actor.partition(" <")[0] == name or (f"<{address}" in actor and address != ">")
