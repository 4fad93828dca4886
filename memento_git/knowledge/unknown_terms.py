"""What a question names and nobody ever had, a domain, a thread, a path: or it reads as if nothing were known of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memento_git.knowledge.refusals import NoSuchDomain
from memento_git.ledger import layout
from memento_git.model import anchors
from memento_git.model.ids import BEGINNING, SHORTEST
from memento_git.model.knowledge import under

if TYPE_CHECKING:
    from memento_git.knowledge.anchor_locations import AnchorLocations
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.knowledge.search_request import SearchRequest
    from memento_git.ledger.view import View


def nothing(note_set: NoteSet, request: SearchRequest) -> str:
    """Return how an answer begins that holds nothing; who asked for nothing either is told where to look."""
    if request.queries:
        return "nothing that passes the filters is known of this" if request.narrowed else "nothing is known of this"
    if request.view != "orient" or request.filtered:
        return "nothing is kept that was asked for"
    if not note_set.readable():
        return "no note is kept yet: memento remember TEXT keeps the first"
    return "nothing is open, pinned, corrected or handed over: memento recall --view digest shows what holds"


def named(locations: AnchorLocations, request: SearchRequest, *, few: int) -> list[str]:
    """Return what to say of the short ids, domain, thread, tag, key, author and paths asked for; `few` as `headers`."""
    note_set = locations.note_set
    of_notes = filters(note_set, domain=request.domain, thread=request.thread, tag=request.tag)
    found = [*_short_ids(note_set.view, request.queries), *of_notes, *_key(note_set, request.key_prefix)]
    return [*found, *_author(note_set, request.author, few), *_places(locations, request.about)]


def _short_ids(view: View, queries: Sequence[str]) -> list[str]:
    """Return what shows the records whose ids are shortened, as lists have them; a search knows whole ids alone."""
    found = {one[0]: one[1] for query in queries for one in re.finditer(rf"\b{BEGINNING}\b", query)}
    return [
        f"a record's id begins so: memento show {name}" for name, kind in found.items()
        if len(name) > len(kind) + SHORTEST and any(known.startswith(name) for known in view.known(kind))
    ]  # fmt: skip


def filters(note_set: NoteSet, *, domain: str = "", thread: str = "", tag: str = "") -> list[str]:
    """Return which of a domain, a thread and a tag no note ever had."""
    told = _domain(note_set, domain)
    if thread and all(note.data.get("thread") != thread for note in note_set.readable()):
        told.append(f"no note is in a thread {thread!r}")
    if tag and all(tag not in note.list("tags") for note in note_set.readable()):
        told.append(f"no note has a tag {tag!r}")
    return told


def _author(note_set: NoteSet, author: str, few: int) -> list[str]:
    """Return that no record is by somebody of whose name this is a part."""
    if not author:
        return []
    from memento_git.knowledge.recall import headers
    from memento_git.knowledge.search_request import SearchRequest

    found = headers(note_set.view, SearchRequest(author=author).admits, few=few)
    return [] if found else [f"no record is by {author!r}"]


def _key(note_set: NoteSet, start: str) -> list[str]:
    """Return that no note had a key, or one below it."""
    if not start or any(under(str(note.data.get("key") or ""), start) for note in note_set.readable()):
        return []
    return [f"no note has the key {start!r}, or one that begins with '{start}.'"]


def _domain(note_set: NoteSet, name: str) -> list[str]:
    """Return that a domain is none of those that there are, where no note is in it either."""
    there = note_set.view.policy().domains
    if name in ("", *there) or any(name == layout.domain_of(path) for path in note_set.index.prose.values()):
        return []
    return [NoSuchDomain(domain=name, domains=", ".join(there)).message]


def _places(locations: AnchorLocations, about: Sequence[str]) -> list[str]:
    """Return which paths neither the code nor a note has; where there is no code, none is missed."""
    wanted = [place for place in map(anchors.parse, about) if place.is_place]
    if not wanted or not locations.note_set.view.commits:
        return []
    with locations.opened(wanted) as (_, now):
        there = now.entries if now is not None else ()
    code = [path for path in there if not path.startswith(f"{layout.FOLDER}/")]
    if not code:
        return []
    known = [*code, *_noted(locations.note_set)]
    return [
        f"neither the code nor a note has {one.path}" for one in wanted
        if not any(path == one.path or path.startswith(f"{one.path}/") for path in known)
    ]  # fmt: skip


def _noted(note_set: NoteSet) -> Iterator[str]:
    """Yield the paths that notes name, and those where these are by now."""
    for note in note_set.readable():
        for place in (*note_set.about(note), *(note.data.get("about") or ())):
            yield str(place.get("path", ""))
