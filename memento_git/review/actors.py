"""Who acted on a branch: under another name than who committed it, or under one that looks like another's."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.ledger import codec, grep, layout
from memento_git.model.enumeration import many
from memento_git.model.finding import Finding
from memento_git.model.ids import parse_ref
from memento_git.model.work import Event, Evidence, Prose, is_agent
from memento_git.work import persons

if TYPE_CHECKING:
    from memento_git.ledger.branch_history import Authored
    from memento_git.ledger.view import View
    from memento_git.review.base_comparison import Comparison

BY: Final = "by: "
PLAIN: Final = re.compile(rf"{BY}\w[^#\r]*")


class Act(NamedTuple):
    """What a branch says that somebody did, and who committed it: the record, and the file that tells of it.

    Whoever judges approves, gives a verdict or an answer, settles or voids; all else is work.
    """

    actor: str
    author: str
    record: str
    path: str
    judges: bool = False


def acts(comparison: Comparison, commits: Sequence[Authored]) -> list[Act]:
    """Return what some commits say that somebody did; also in archives, and in what a redaction keeps that is new.

    A file that is as the base has it says nothing, whoever took it out and put it back.
    Of a record that was redacted, or put into an archive, it is asked who committed that; only where none of the
    commits did, who redacted or archived it.
    """
    came: dict[str, set[str]] = {}
    for commit in commits:
        for place in filter(None, map(layout.record_at, commit.paths)):
            came.setdefault(place.id, set()).add(commit.author)
    packed = [path for path in comparison.unpacked if comparison.base.read(path) is None]
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
    place, head = layout.record_at(path), comparison.head
    found = head.record(path) if place and path in head.files else None
    if place is None or found is None:
        return
    yield Act(_by(found), author, place.id, path, _judges(found.data))
    told = found.data if isinstance(found, Event) and found.do == "redacted" else {}
    while isinstance(kept := told.get("kept"), dict):
        target = parse_ref(str(told.get("target"))).id
        new = (author,) if comparison.is_added(place.run, target) else ()
        if (was := kept.get("by")) is not None:  # of evidence that is no answer, whose it was is not kept
            yield from (Act(str(was), one, target, path, _judges(kept)) for one in came.get(target, new))
        told = kept


def _judges(data: Mapping[str, Any]) -> bool:
    return data.get("do") in ("approved", "settled", "voided") or "gate" in data or "approves" in data


def committed(found: Iterable[Act], agents: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Yield each actor whose records somebody of another name committed, with how many they are.

    Not of the work of an agent whose records, as policy has it, may come in that author's commits, or in anyone's.
    """
    paths: dict[tuple[str, str], list[str]] = {}
    for act in found:
        known = agents.get(act.actor)
        is_known = known == [] or any(is_author(name, act.author) for name in known or ())
        if act.actor not in (act.author, _parts(act.author)[0]) and (act.judges or not is_known):
            paths.setdefault((act.actor, act.author), []).append(act.path)
    for (actor, author), theirs in sorted(paths.items()):
        records = many(len(theirs), f"record by {actor} was", f"records by {actor} were")
        message = f"{records} committed by {author}"
        fix = "look whether that is as it should be"
        if "<" not in actor:
            line = f": agents: {json.dumps({actor: [author]}, ensure_ascii=False)}" if is_agent(actor) else ""
            fix += f"; where {actor} is an agent of {author}, policy.agents can say so{line}"
        yield Finding("C002", theirs[0], 0, message, fix, "warning")


def bare(found: Iterable[Act]) -> list[Act]:
    """Return the judgements in a name without an address that who committed them bears as well."""
    return [act for act in found if act.judges and "<" not in act.actor and act.actor == _parts(act.author)[0]]


def namesakes(found: Iterable[Act], known: Collection[str]) -> Iterator[Finding]:
    """Yield each judgement in a bare name that somebody else of the base has, by the address of who committed it."""
    told: dict[tuple[str, str], Act] = {}
    for act in found:
        told.setdefault((act.actor, act.author), act)
    for (actor, author), act in sorted(told.items()):
        own = [name for name in sorted(known) if "<" in name and persons.is_same(actor, name)]
        if own and not any(persons.is_same(author, name) for name in own):
            message = f"{actor} judged, which is the name of {own[0]}, and {author} committed it"
            yield Finding("C002", act.path, 0, message, "look whether that is one person", "warning")


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
    for path in [path for path in view.files if layout.is_archive(path)]:
        files, _ = archive.unpack(path, layout.run_of_path(path), view.read(path) or b"")
        for name, data in files.items():
            if place := layout.record_at(name):
                line = next((line for line in data.decode(errors="replace").splitlines() if line.startswith(BY)), "")
                names |= _named(line) or _name(codec.made(place, name, data))
    return names


def acting(view: View) -> set[str]:
    """Return who acts in the records of a base, as a line of each names them; what has no such line is read."""
    folders = (layout.RUNS, layout.KNOWLEDGE)
    found = [grep.firsts(view.git, one, folder, f"^{BY}") for one in view.commits for folder in folders]
    told = [(path, name) for lines in found for path, line in lines.items() if (name := _named(line))]
    left = [path for path in view.files.keys() - dict(told).keys() if layout.record_at(path)]
    view.fetch(left)
    named = (name for path, name in told if layout.record_at(path))
    return set().union(*named, *(_name(view.record(path)) for path in left))


def _named(line: str) -> set[str]:
    """Return who a line names in plain letters; nobody where YAML alone can tell."""
    return {line.removeprefix(BY)} if PLAIN.fullmatch(line) else set()


def _name(record: Event | Evidence | Prose | None) -> set[str]:
    """Return who made a record; nobody where it cannot be read."""
    return set() if record is None else {_by(record)}


def _by(record: Event | Evidence | Prose) -> str:
    return record.by if isinstance(record, Event) else str(record.data["by"])


def is_author(one: str, other: str) -> bool:
    """Tell whether two names are one person's by their letters: by address where both have one, else by name.

    Of a commit's author the address may be empty; then it is nobody's who has one.
    """
    first, second = _parts(one), _parts(other)
    has_addresses = "<" in one and "<" in other and (first[1] or second[1])
    return first[1] == second[1] if has_addresses else first[0] == second[0]


def _parts(name: str) -> tuple[str, str]:
    """Return a name and its address, where it has one."""
    name, _, address = name.partition(" <")
    return name, address.removesuffix(">").lower()
