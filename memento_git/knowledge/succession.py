"""What a note goes on saying of those whose place it takes, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.model.anchors import from_data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.knowledge.desk import Desk
    from memento_git.model.work import Prose

STANDING: Final = ("fact", "decision", "lesson", "preference")
CARRIED: Final = ("about", "tags", "thread", "pinned")
LEFT: Final = ("key", "aliases", "links", "evidence", "importance", "confidence", "expires", "valid_from", "valid_to")


class Anchored(NamedTuple):
    """Places of the code as they are now, the parts of files that were not found and stay, what became mere lines."""

    about: list[dict[str, Any]]
    lost: list[str]
    unnamed: list[str]


def kind_of_all(old: Sequence[Prose]) -> str:
    """Return the kind that notes have in common, if it is one that goes on: an answer to a question is none."""
    kinds = {note.data["kind"] for note in old}
    return kinds.pop() if len(kinds) == 1 and kinds <= {*STANDING} else ""


def carried(desk: Desk, old: Sequence[Prose], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a note takes over where it says nothing of it itself: its places in the code as they are now."""
    threads = {note.data["thread"] for note in old if note.data.get("thread")}
    about = {str(from_data(place)): place for note in old for place in desk.shelf.about(note)}
    found: dict[str, Any] = {
        "about": anchored(desk, list(about.values())).about if "about" not in said else [],
        "tags": list(dict.fromkeys(tag for note in old for tag in note.list("tags"))),
        "thread": threads.pop() if len(threads) == 1 else "",
        "pinned": any(note.data.get("pinned") for note in old),
    }
    return {key: value for key, value in found.items() if value and key not in said}


def left_behind(desk: Desk, old: Sequence[Prose], data: Mapping[str, Any]) -> list[str]:
    """Return which keys of notes the one that takes their place has not: whoever wants them names them."""
    shelf = desk.shelf
    held = [
        {**note.data, "about": shelf.about(note), "links": shelf.links(note), "expires": shelf.expires(note)}
        for note in old
    ]
    return [key for key in (*CARRIED, *LEFT) if not data.get(key) and any(one.get(key) for one in held)]


def anchored(desk: Desk, about: list[dict[str, Any]]) -> Anchored:
    """Return places of the code as they are at HEAD now, and which of them are not what they were."""
    if not about:
        return Anchored([], [], [])
    from memento_git.knowledge.pinning import confirm_here

    old = [from_data(place) for place in about]
    new = confirm_here(desk.view.git, old)
    known = {one.quote for one in old}
    named = {str(one) for one in old}
    for one in new:
        if one is not None and str(one) not in named:
            desk.name("the name of a place", str(one))
        if one is not None and one.quote not in (*known, ""):
            desk.text(f"quote of {one}", one.quote)
    pairs = list(zip(old, new, strict=True))
    return Anchored(
        [(here or before).data() for before, here in pairs],
        [str(before) for before, here in pairs if before.is_place and here is None],
        [f"{before} is {here}" for before, here in pairs if before.symbol and here is not None and not here.symbol],
    )
