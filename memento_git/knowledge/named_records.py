"""The records that a note's front matter names: links, evidence, sources, the notes whose place it took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from memento_git.ledger import prosefile
from memento_git.model.ids import ID, parse_ref

SAID: Final = {
    "links": "its link to", "supersedes": "what it took the place of,", "sources": "what it was made of,",
    "evidence": "its evidence",
}  # fmt: skip


class Named(NamedTuple):
    """A record that a note names: under which key, its id, and the whole member of the list."""

    key: str
    id: str
    member: Any


def named(front: Mapping[str, Any]) -> list[Named]:
    """Return the records that a front matter names."""
    return [
        Named(key, identity, member)
        for key in SAID
        for member in front.get(key) or ()
        if (identity := _id_of(key, member))
    ]


def _id_of(key: str, member: Any) -> str:
    if key == "links":
        return str(member["to"])
    if key == "evidence":
        return parse_ref(str(member)).id
    return str(member) if ID.fullmatch(str(member)) else ""


def without(data: bytes, front: Mapping[str, Any], leaves: Callable[[Named], bool]) -> bytes:
    """Return a note's file without some of the records that it names; all else keeps its bytes."""
    gone = [one for one in named(front) if leaves(one)]
    changes = {
        key: [member for member in front[key] if (key, member) not in [(one.key, one.member) for one in gone]]
        for key in dict.fromkeys(one.key for one in gone)
    }
    return prosefile.rewrite(data, changes, "") if changes else data


def say_the_same(one: bytes, front: Mapping[str, Any], other: bytes, others: Mapping[str, Any]) -> bool:
    """Tell whether two files of a note differ in nothing but in records that only one of them names."""
    if one == other:
        return True
    here, there = ([(told.key, told.member) for told in named(said)] for said in (front, others))
    return without(one, front, lambda told: (told.key, told.member) not in there) == without(
        other, others, lambda told: (told.key, told.member) not in here
    )
