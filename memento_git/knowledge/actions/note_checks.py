"""check of notes: their places in the code, what a change touches, what rests on a note, what to tidy up."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from memento_git.code.grammars import language_of
from memento_git.code.imports import syntax_trees
from memento_git.knowledge import following, impact, pairs, watched_paths
from memento_git.knowledge.impact import Dependent, Link
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.similarity import said
from memento_git.ledger import imports, ranges
from memento_git.ledger.store import NoLedger
from memento_git.model.anchors import CHANGED, GONE, MOVED
from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from memento_git.knowledge.anchors import Placed
    from memento_git.knowledge.following import Follower
    from memento_git.ledger.snapshots import Snapshot
    from memento_git.ledger.store import Ledger
    from memento_git.model.anchors import Anchor
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose

    Place = tuple[str, Anchor]

STAGED: Final = "staged"
SAME_KEY: Final = "same key"
SAME_PLACE: Final = "both took the place of one note"


def note_set_at(ledger: Ledger, at: Sequence[str] = ()) -> NoteSet:
    """Return all notes at HEAD, or at the union of some revisions."""
    note_set = NoteSet(ledger.view(at))
    note_set.load()
    return note_set


def check_anchors(note_set: NoteSet, given: str = "", *, work_tree: bool = False) -> Row:
    """Return what became of the places that live notes are about, or one note: at the view's commit, or as they lie."""
    notes = [note_set.find(given)] if given else note_set.live()
    wanted = note_set.places(notes)
    about = [anchor for _, anchor in wanted]
    watched_paths.keep(note_set.view.git, about)
    rows: list[Row] = []
    if wanted:
        with following.opened(note_set.view.git) as follower:
            now = follower.work_tree(about) if work_tree else follower.at(note_set.view.commits[0])
            rows = [{**named(note_set, one.note), **one.data()} for one in follower.placed(wanted, now)]
    counts = Counter(row["state"] for row in rows)
    return {"anchors": rows, "counts": dict(counts), "notes": len({note for note, _ in wanted})}


def check_impact(note_set: NoteSet, given: str) -> Row:
    """Return what to look at when a note no longer holds, the nearest first; and the files that import its code."""
    note = note_set.find(given)
    live = {one.id: one for one in note_set.live()}
    links = [link for one in note_set.readable() for link in _links(note_set, one)]
    about = note_set.places([note, *(one for one in live.values() if one.id != note.id)])
    uses, files, unread = _importing(note_set, note.id, about)
    found = impact.dependents(note.id, links, about, uses)
    rows = [{**one._asdict(), **named(note_set, one.note)} for one in found if one.note in live]
    return {
        "note": note.id, "title": note.title, "impact": rows, "imported_by": files, "imports_not_read": unread,
    }  # fmt: skip


def _links(note_set: NoteSet, note: Prose) -> Iterator[Link]:
    """Yield what a note says of other notes; a link to one that was superseded leads to its successor."""
    known = note_set.index.prose
    yield from (Link(note.id, link.rel, note_set.current(link.to)) for link in note_set.links(note) if link.to in known)
    yield from (Link(note.id, "supersedes", old) for old in note.list("supersedes"))
    yield from (Link(note.id, "derived_from", source) for source in note.list("sources") if source in known)


def _importing(note_set: NoteSet, note: str, about: Sequence[Place]) -> tuple[list[Dependent], list[str], list[str]]:
    """Return which notes are about code that imports a note's; all files that do; languages whose grammar is missing.

    `about` are the places that notes are about; they are followed to the view's commit.
    """
    placed = [(owner, anchor) for owner, anchor in about if anchor.is_place]
    if not any(owner == note for owner, _ in placed):
        return [], [], []
    git = note_set.view.git
    with following.opened(git) as follower:
        now = follower.at(note_set.view.commits[0])
        found = follower.placed(placed, now)
        graph = imports.imports(follower.reader.git, follower.reader.here(now)[0])
    mine = [one.path for one in found if one.note == note]
    nodes, importers = graph.nodes, graph.importers
    targets = {nodes[path] for path in _below(mine, nodes)}
    users = {user: target for target in sorted(targets) for user in importers.get(target, ()) if user not in targets}
    using = {path: node for path, node in nodes.items() if node in users}
    uses = [
        Dependent(one.note, f"is about {one.anchor}: {using[path]} imports {users[using[path]]}", note, 1)
        for one in found
        for path in _below([one.path], using)
    ]
    unread = {language for path in _below(mine, now.entries) if (language := language_of(path)) in syntax_trees.QUERIES}
    return uses, sorted(users), sorted(unread.difference(syntax_trees.available()))


def _below(places: Sequence[str], paths: Iterable[str]) -> list[str]:
    """Return the paths that are one of some places, or lie below it."""
    return [path for path in paths if any(path == place or path.startswith(f"{place}/") for place in places)]


def check_duplicates(note_set: NoteSet) -> Row:
    """Return live notes that have one key, say the same, or nearly the same; which one is right is not guessed."""
    live = note_set.live()
    keyed = grouped((key, note.id) for note in live if (key := str(note.data.get("key") or "")))
    shared = {pair for names in keyed.values() for pair in combinations(names, 2)}
    rows = [_pair(note_set, one, other, SAME_KEY, None) for one, other in sorted(shared)]
    rows += [
        _pair(note_set, *pair) for pair in pairs.duplicates({note.id: said(note.title, note.body) for note in live})
        if (pair.one, pair.other) not in shared
    ]  # fmt: skip
    return {"duplicates": rows}


def check_conflicts(note_set: NoteSet) -> Row:
    """Return live notes that contradict: by a link, a key, events that disagree, or perhaps by their words."""
    live = note_set.live()
    linked = {tuple(sorted((note.id, other))) for note in live for other in note_set.contradictions(note)}
    rows = [_pair(note_set, one, other, _why(note_set, one, other), None) for one, other in sorted(linked)]
    rows += [
        {"notes": [named(note_set, note.id)], "why": "contested: events that had not seen one another disagree",
         "share": None}
        for note in live if note_set.status(note.id) == "contested"
    ]  # fmt: skip
    rows += [
        _pair(note_set, *pair) for pair in pairs.conflicts({note.id: said(note.title, note.body) for note in live})
        if tuple(sorted((pair.one, pair.other))) not in linked
    ]  # fmt: skip
    return {"conflicts": rows}


def _why(note_set: NoteSet, one: str, other: str) -> str:
    """Return what says that two notes contradict: that both are called for by one name, or a link."""
    note = note_set.note(one)
    if other not in note_set.competing(note):
        return "linked: contradicts"
    return SAME_KEY if note.data.get("key", "") == note_set.note(other).data.get("key") else SAME_PLACE


def check_expired(note_set: NoteSet) -> Row:
    """Return live notes whose time is over, the longest ago first."""
    rows = []
    for note in note_set.live():
        ends = (("expired", note_set.expires(note)), ("valid until then", str(note.data.get("valid_to") or "")))
        rows += [
            {**named(note_set, note.id), "why": why, "since": since}
            for why, since in ends if "" < since <= note_set.view.now
        ][:1]  # fmt: skip
    return {"expired": sorted(rows, key=lambda row: (row["since"], row["note"]))}


def named(note_set: NoteSet, note: str) -> Row:
    """Return what one should know of a note that is told of."""
    found = note_set.note(note)
    return {"note": note, "title": found.title, "kind": found.data["kind"], "status": note_set.status(note)}


def _pair(note_set: NoteSet, one: str, other: str, why: str, share: float | None) -> Row:
    return {"notes": [named(note_set, one), named(note_set, other)], "why": why, "share": share}


# What a change touches.


def check_diff(ledger: Ledger, given: str, tips: Sequence[str] = ()) -> Row:
    """Return the notes whose places in the code a change touches; the change is a range, or what is staged."""
    if given == STAGED:
        base = ledger.git.head()[0]
        try:
            return {"base": base, "tip": None, **touched(NoteSet(ledger.view()), None)}
        except NoLedger:
            return {"base": base, "tip": None, "touched": [], "checked": 0}
    found = ranges.resolve(ledger.git, given, tips)
    return {"base": found.base, "tip": found.tips[0], **between(ledger, found.base, found.tips[0])}


def between(ledger: Ledger, base: str, tip: str) -> Row:
    """Return the notes that the change from one commit to another touches; none where one side has no ledger."""
    newer = ledger.held([tip])
    if newer is None:
        return {"touched": [], "checked": 0}
    older = ledger.held([base])
    return touched(NoteSet(newer), NoteSet(older) if older is not None else None, base)


def touched(newer: NoteSet, older: NoteSet | None, base: str = "") -> Row:
    """Return the live notes that a change touches, and how many places were looked at.

    A place that was set before the change is held against the code right before it; one that the branch itself set,
    or set anew, against what it was set to. Without a base, the change is what is staged.
    """
    now = newer.places(newer.live())
    watched_paths.keep(newer.view.git, [anchor for _, anchor in now])
    rows: list[Placed] = []
    if now:
        known = set(now) if not base else set(older.places(older.readable())) if older is not None else set()
        with following.opened(newer.view.git) as follower:
            then = follower.at(base or newer.view.commits[0])
            there = follower.at(newer.view.commits[0]) if base else follower.staged()
            rows = _touched(follower, [one for one in now if one in known], then, there)
            rows += _since(follower, [one for one in now if one not in known], there)
    told = [{**named(newer, row.note), **row.data()} for row in rows]
    return {"touched": sorted(told, key=lambda row: (row.get("path", ""), row["note"])), "checked": len(now)}


def _touched(follower: Follower, wanted: list[Place], then: Snapshot, there: Snapshot) -> list[Placed]:
    asked = [(note, anchor) for note, anchor in wanted if not _is_same(anchor, then, there)]
    return follower.touched(asked, then, there) if asked else []


def _is_same(anchor: Anchor, then: Snapshot, there: Snapshot) -> bool:
    """Tell without a look at any content that a place is as it was set on both sides."""
    return anchor.is_place and "" != anchor.blob == then.blob(anchor.path) == there.blob(anchor.path)


def _since(follower: Follower, wanted: list[Place], there: Snapshot) -> list[Placed]:
    """Return those places of the branch's own that later commits of it changed."""
    return [
        one for one in follower.placed(wanted, there)
        if one.found.state in (CHANGED, GONE) or (one.found.state == MOVED and one.found.path != one.anchor.path)
    ]  # fmt: skip


def watch_places(ledger: Ledger) -> None:
    """Let the hooks know which paths notes are about, and where that is now; without a ledger there are none."""
    with contextlib.suppress(NoLedger):
        check_anchors(note_set_at(ledger))
