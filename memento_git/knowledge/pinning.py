"""Fixes what an anchor is about: the blob where the file is committed as it is, the quote alone where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from memento_git.code.symbols import Symbols
from memento_git.errors import Refused
from memento_git.knowledge import following, occurrences, passages
from memento_git.knowledge.anchors import Found
from memento_git.knowledge.code_paths import instead
from memento_git.knowledge.following import Follower
from memento_git.knowledge.passages import Text
from memento_git.ledger.git import Git
from memento_git.ledger.snapshots import Snapshot
from memento_git.model.anchors import GONE, OK, UNKNOWN, UNPINNED, Anchor, by_lines, parse, spell
from memento_git.model.enumeration import many, some

MOST_NEAR: Final = 3
UNSEEN: Final = "is no text that can be looked into: it is binary, or above 4 MiB; name it as a whole"


class AnchorMissing(Refused):
    token = "anchor_missing"
    sentence = "{anchor} is not there: {why}"
    hint_ = "name what is there now, from the top of the repository: PATH, PATH:12-40 for lines, PATH::symbol"


class SymbolUnread(AnchorMissing):
    sentence = "{anchor} cannot be looked for: {why}"
    hint_ = "name its lines instead: {path}:12-40"


class Meant(NamedTuple):
    """A place that was named elsewhere, as it is kept here, and what should be known of it."""

    anchor: Anchor
    told: str = ""


def pin_here(git: Git, wanted: Sequence[Anchor]) -> list[Anchor]:
    """Return anchors with what they are about as the work tree and HEAD are now; refuse what is not there."""
    if not wanted:
        return []
    with following.opened(git) as follower:
        now = follower.work_tree(wanted) if git.top is not None else None
        head = follower.head()
        return [pin(anchor, follower, head, now) for anchor in wanted]


def pin_meant(git: Git, wanted: Mapping[str, str]) -> dict[str, Meant]:
    """Return each place that was named elsewhere pinned where it is here; its quote, if any, says which lines it meant.

    What is not here is kept unpinned, for the note was about it; lines whose quote is not here become the whole file.
    """
    if not wanted:
        return {}
    parsed = {place: parse(place) for place in wanted}
    with following.opened(git) as follower:
        now = follower.work_tree(parsed.values()) if git.top is not None else None
        head = follower.head()
        return {place: _meant(anchor, wanted[place], follower, head, now) for place, anchor in parsed.items()}


def _meant(anchor: Anchor, quote: str, follower: Follower, head: Snapshot | None, now: Snapshot | None) -> Meant:
    here, told = now or head, ""
    if quote and anchor.lines and here is not None:
        text = _text(anchor, follower, here)
        places = passages.find_quote(quote, text) if text is not None else []
        found = anchor._replace(lines=places[0] if len(places) == 1 else None)
        told = f"{anchor} is now {found}" if found != anchor else ""
        anchor = found
    try:
        return Meant(pin(anchor, follower, head, now), told)
    except AnchorMissing as missing:
        return Meant(anchor, f"{anchor} is kept unpinned: {missing.facts['why']}")


def _text(anchor: Anchor, follower: Follower, here: Snapshot) -> Text | None:
    """Return the text of the file that an anchor names; None where there is none."""
    return follower.texts.text(here.blob(anchor.path)) if anchor.path in here.entries else None


def confirm_here(git: Git, wanted: Sequence[Anchor]) -> list[Anchor | None]:
    """Return anchors pinned again at HEAD; None in the place of each that was not found there."""
    if not wanted:
        return []
    with following.opened(git) as follower:
        head = follower.head()
        if head is None:
            return [None for _ in wanted]
        found = follower.follow(wanted, head)
        return [pin_again(anchor, one, follower, head) for anchor, one in zip(wanted, found, strict=True)]


def pin_quoted(git: Git, wanted: Sequence[Anchor]) -> list[Anchor]:
    """Return anchors, those that have a quote alone pinned at HEAD where the same stands there; others as they are."""
    if all(anchor.blob or not anchor.is_place for anchor in wanted):
        return [*wanted]
    with following.opened(git) as follower:
        head = follower.head()
        return [*wanted] if head is None else [_once_committed(anchor, follower, head) for anchor in wanted]


def _once_committed(anchor: Anchor, follower: Follower, head: Snapshot) -> Anchor:
    if anchor.blob or not anchor.is_place:
        return anchor
    found = pin_later(anchor, follower, head)
    return anchor if found is None or found.quote != anchor.quote else found


def pin(anchor: Anchor, follower: Follower, head: Snapshot | None, now: Snapshot | None) -> Anchor:
    """Return an anchor with what it is about at this moment.

    `head` is the commit that is checked out (None before the first), `now` the work tree (None in a bare repository).
    What is the same in both is pinned by its blob; what is not keeps its quote until it is committed.
    """
    here = now or head
    if here is None:
        raise AnchorMissing(anchor=anchor, why="nothing is committed yet")
    if not anchor.is_place:
        return _occurring(anchor, follower, here)
    plain = anchor._replace(blob="", commit="", quote="")
    if anchor.path not in here.entries:
        raise AnchorMissing(anchor=anchor, why=_elsewhere(anchor, follower, here))
    if (anchor.lines or anchor.symbol) and here is now and anchor.path in follower.reader.ignored:
        raise AnchorMissing(anchor=anchor, why=f"git is told to ignore {anchor.path}, so nothing of it is quoted")
    quoted = _quoted(plain, follower, here)
    if head is None or head.blob(anchor.path) != here.blob(anchor.path):
        return quoted
    return quoted._replace(blob=head.blob(anchor.path), commit=head.commit)


def pin_later(anchor: Anchor, follower: Follower, head: Snapshot) -> Anchor | None:
    """Return a place of which nothing but its quote is here, with the blob of a commit; None where it is not there.

    A folder, a file as a whole and a symbol are found by their names, lines where their quote is in one place.
    """
    if anchor.symbol or not anchor.lines:
        return _pinned(anchor, follower, head)
    text = _text(anchor, follower, head)
    places = passages.find_quote(anchor.quote, text) if text is not None else []
    if text is None or len(places) != 1:
        return None
    last = places[0][0] + anchor.lines[1] - anchor.lines[0]
    return _pinned(anchor._replace(lines=(places[0][0], min(last, len(text)))), follower, head)


def _pinned(anchor: Anchor, follower: Follower, head: Snapshot) -> Anchor | None:
    try:
        return pin(anchor, follower, head, None)
    except AnchorMissing:
        return None


def pin_again(anchor: Anchor, found: Found, follower: Follower, head: Snapshot) -> Anchor | None:
    """Return an anchor pinned at the place where it was found, for whoever confirms that the note still holds."""
    if found.state in (UNPINNED, UNKNOWN):
        return pin_later(anchor._replace(path=found.path or anchor.path), follower, head)
    if found.state == GONE:
        return None
    if not anchor.is_place:
        return _occurring(anchor, follower, head)
    return pin(anchor._replace(path=found.path, lines=found.lines, symbol=found.symbol), follower, head, None)


def _occurring(anchor: Anchor, follower: Follower, here: Snapshot) -> Anchor:
    """Keep what is required as it is written; a pattern needs nothing kept."""
    reader = follower.reader
    if anchor.pattern:
        found = occurrences.found(anchor, here, reader)
        if found.state != OK:
            raise AnchorMissing(anchor=anchor, why=f"{found.why}{_deeper(anchor, follower, here)}")
        return anchor
    told = occurrences.requirements(anchor, here, reader)
    if not told:
        raise AnchorMissing(anchor=anchor, why="no file here says that it is required")
    return anchor._replace(quote=told[0][1])


def _deeper(anchor: Anchor, follower: Follower, here: Snapshot) -> str:
    """Return where a text is that no file at the top has, and how the name of such a file is written."""
    anywhere = f"**/{anchor.path}"
    found = occurrences.found(anchor._replace(path=anywhere), here, follower.reader)
    return f"; {found.path} has it, which is one of {anywhere}" if found.state == OK else ""


def _quoted(anchor: Anchor, follower: Follower, here: Snapshot) -> Anchor:
    blob = here.blob(anchor.path)
    if here.entries[anchor.path].type != "blob":
        if anchor.lines or anchor.symbol:
            raise AnchorMissing(anchor=anchor, why=f"{anchor.path} is no file")
        return anchor
    if not anchor.lines and not anchor.symbol:
        return anchor
    text = follower.texts.text(blob)
    if text is None:
        raise AnchorMissing(anchor=anchor, why=f"{anchor.path} {UNSEEN}")
    lines = _symbol_lines(anchor, follower, blob) if anchor.symbol else anchor.lines or (1, 1)
    if lines[1] > len(text):
        raise AnchorMissing(anchor=anchor, why=f"{anchor.path} has {many(len(text), 'line')}, not {spell(lines)}")
    return anchor._replace(lines=lines, quote=passages.quote(text, lines))


def _symbol_lines(anchor: Anchor, follower: Follower, blob: str) -> tuple[int, int]:
    """Return the lines that a symbol has now; they lead on where the symbol alone does not."""
    symbols = follower.texts.symbols(anchor.path, blob)
    name = symbols.name_of(anchor.symbol)
    if symbols.problem:
        raise SymbolUnread(anchor=anchor, why=symbols.problem, path=anchor.path)
    if not name:
        raise AnchorMissing(anchor=anchor, why=_near(anchor.path, anchor.symbol, symbols))
    return symbols.span(name)


def _elsewhere(anchor: Anchor, follower: Follower, here: Snapshot) -> str:
    """Return what is there in the place of a path: the file's symbols where one colon stands before a name."""
    path, _, name = anchor.path.rpartition(":")
    if name and path in here.entries and here.entries[path].type == "blob":
        return _near(path, name, follower.texts.symbols(path, here.blob(path)))
    return instead(anchor.path, here.entries, here.entries) or "there is no such file"


def _near(path: str, name: str, symbols: Symbols) -> str:
    """Return the symbols of a file that a name may have meant, as one writes them, else its first ones."""
    if symbols.problem:
        return f"{symbols.problem}; {by_lines(path)}"
    last = {one: one.rpartition(".")[2] for one in symbols.ranges}
    wanted = name.rpartition(".")[2]
    close = {*get_close_matches(wanted, last.values(), MOST_NEAR), *get_close_matches(name, last, MOST_NEAR)}
    near = (
        symbols.names_of(name) or [one for one, own in last.items() if wanted in own or {own, one} & close] or [*last]
    )
    written = some([f"{path}::{one}" for one in near], MOST_NEAR)
    return f"a symbol is written PATH::symbol, such as {written}" if near else f"{path} has no symbols"
