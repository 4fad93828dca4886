"""Which notes a change of the code touches, and which notes rest on a note. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.model.anchors import CHANGED, GONE, MOVED, UNKNOWN, UNPINNED, Anchor
from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from memento_git.knowledge.anchors import Found, Placed

FOLLOWED: Final = ("depends_on", "derived_from", "supersedes")
REASONS: Final = {
    "depends_on": "depends on", "derived_from": "was made from", "supersedes": "supersedes",
    "relates_to": "relates to", "caused_by": "was caused by", "blocks": "blocks", "enables": "enables",
    "contradicts": "contradicts",
}  # fmt: skip
BACK: Final = {
    "depends_on": "is needed by", "derived_from": "is a source of", "supersedes": "is superseded by",
    "relates_to": "relates to", "caused_by": "caused", "blocks": "is blocked by", "enables": "is enabled by",
    "contradicts": "contradicts",
}  # fmt: skip


class Link(NamedTuple):
    """`source` says this of `target`: two ids of notes, and a relation."""

    source: str
    relation: str
    target: str


class Dependent(NamedTuple):
    """A note to look at when another one turns out wrong: why, through which note, how many steps away."""

    note: str
    reason: str
    through: str
    steps: int


def dependents(
    note: str, links: Sequence[Link], about: Sequence[tuple[str, Anchor]] = (), uses: Iterable[Dependent] = ()
) -> list[Dependent]:  # fmt: skip
    """Return what to look at when a note no longer holds, the nearest first; each note once, by its strongest reason.

    First what rests on it, step by step (depends_on, made from, supersedes), then what it is linked with either way,
    then what is about the same code, then the `uses`, which are about code that imports it.
    """
    found: dict[str, Dependent] = {}
    for one in (*_resting(note, links), *_linked(note, links), *_beside(note, about), *uses):
        if one.note != note:
            found.setdefault(one.note, one)
    return list(found.values())


def _resting(note: str, links: Sequence[Link]) -> Iterator[Dependent]:
    onto = grouped((link.target, link) for link in links if link.relation in FOLLOWED)
    waiting, seen = deque([(note, 0)]), {note}
    while waiting:
        target, steps = waiting.popleft()
        for link in onto.get(target, ()):
            if link.source not in seen:
                seen.add(link.source)
                waiting.append((link.source, steps + 1))
                yield Dependent(link.source, f"{REASONS[link.relation]} {target}", target, steps + 1)


def _linked(note: str, links: Sequence[Link]) -> Iterator[Dependent]:
    for link in links:
        if link.target == note:
            yield Dependent(link.source, f"{REASONS.get(link.relation, link.relation)} {note}", note, 1)
        elif link.source == note:
            yield Dependent(link.target, f"{BACK.get(link.relation, link.relation)} {note}", note, 1)


def _beside(note: str, about: Sequence[tuple[str, Anchor]]) -> Iterator[Dependent]:
    mine = [anchor for owner, anchor in about if owner == note]
    for owner, anchor in about:
        if shared := next((one for one in mine if overlap(one, anchor)), None):
            yield Dependent(owner, f"is about {shared} too", note, 1)


def overlap(one: Anchor, other: Anchor) -> bool:
    """Tell whether two anchors are about the same code, as far as their words say."""
    if not (one.is_place and other.is_place):
        return (one.pattern, one.dependency) == (other.pattern, other.dependency)
    if one.path != other.path:
        shorter, longer = sorted((one.path, other.path), key=len)
        return longer.startswith(f"{shorter}/")
    if one.symbol and other.symbol:
        short, long = sorted((one.symbol, other.symbol), key=len)
        return short == long or long.startswith(f"{short}.") or long.endswith(f".{short}")
    if one.lines and other.lines:
        return one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1]
    return True


def before(was: Placed, commit: str, blob: str) -> Anchor | None:
    """Return an anchor as it stands at the older side of a change, from where the change is judged; None if nowhere.

    So a change is held against the code right before it, not against all that happened since the note was written.
    Of lines and symbols of which a clone cannot say where they are it is their file.
    """
    anchor, found = was.anchor, was.found
    if not anchor.is_place:
        return anchor
    if found.state == GONE or not blob:
        return None
    if _is_unseen(was):
        return None if found.state == UNPINNED else Anchor(found.path, blob=blob, commit=commit)
    return Anchor(found.path, found.lines, found.symbol, blob=blob, commit=commit)


def _is_unseen(one: Placed) -> bool:
    """Tell whether lines or a symbol are nowhere to be seen, for what they were pinned to is not to be had."""
    anchor, found = one.anchor, one.found
    return found.state in (UNPINNED, UNKNOWN) and bool(anchor.lines or anchor.symbol) and not found.lines


def touched(older: Sequence[Placed], newer: Sequence[Found | None]) -> list[Placed]:
    """Return the notes that a change touches: what differs, was taken away, or is in another file."""
    found = []
    for one, now in zip(older, newer, strict=True):
        _, anchor, was = one
        if now is None or was.state == GONE:
            continue
        elsewhere = now.state == MOVED and now.path != was.path
        required = not anchor.is_place and now.state != was.state
        if elsewhere or required or (anchor.is_place and now.state in (CHANGED, GONE, UNKNOWN)):
            is_unseen = now.state == CHANGED and _is_unseen(one)
            told = now._replace(state=UNKNOWN, why=f"the file differs; {was.why}") if is_unseen else now
            found.append(one._replace(found=told))
    return found
