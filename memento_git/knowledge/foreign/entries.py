"""What every reader of foreign knowledge returns, and how it reads values that nobody vouches for. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.model import anchors
from memento_git.model.clock import stamp
from memento_git.model.enumeration import some
from memento_git.model.exchange import LeftOut
from memento_git.model.ids import begins_an_id
from memento_git.model.knowledge import DOMAINS, KEY, NOTE_KINDS, RELATIONS
from memento_git.model.types import FORBIDDEN

LARGEST: Final = 1024 * 1024
MOST: Final = 100_000
LATEST: Final = 4_102_444_800  # the year 2100
NAMED: Final = 8
ENDS: Final = re.compile("\r\n?|[\u2028\u2029]")  # of lines, as other systems have them


class SourceUnreadable(Refused):
    token = "source_unreadable"
    sentence = "{where} cannot be imported: {problem}"
    hint_ = "see what each --from takes: memento import --help"


class SourceBusy(SourceUnreadable):
    """A program holds the source, so what it will come to is not known yet."""

    token = "source_busy"
    hint_ = "end what writes to it, or wait until it has written; then the same command again"


class Entry(NamedTuple):
    """One note to be: where it stands, what it is called there, its text, and what else is said of it.

    `options` are those of a note; `links` (relation, name), `supersedes` and `merges` name other entries of the source.
    `lasting`: its name stays the same when its text changes. `line`: where its text begins in the file.
    `quotes`: for a place in the code, the text that stood there. `told`: what was said of it that a note cannot have.
    """

    where: str
    name: str
    text: str
    options: Mapping[str, Any] = {}
    at: str = ""
    links: tuple[tuple[str, str], ...] = ()
    supersedes: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    state: str = ""
    reason: str = ""
    line: int = 0
    lasting: bool = True
    quotes: Mapping[str, str] = {}
    told: tuple[str, ...] = ()


class Found(NamedTuple):
    """What a source holds: its entries, and what was passed over."""

    entries: list[Entry]
    skipped: list[LeftOut]


def share(value: Any) -> str:
    """Return a number from 0 to 1 as an option takes it; nothing for any other value."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return ""
    return str(number) if 0 <= number <= 1 else ""


def moment(value: Any) -> str:
    """Return a time that was written as seconds (or milliseconds) or as ISO text; nothing where it is none."""
    try:
        seconds = float(value)
        seconds = seconds / 1000 if seconds > LATEST else seconds
    except (TypeError, ValueError, OverflowError):
        seconds = _written(str(value or "").strip())
    return stamp(seconds) if 0 < seconds < LATEST else ""


def _written(text: str) -> float:
    """Return the seconds of a time that was written as ISO text; 0 where it is none."""
    try:
        there = datetime.fromisoformat(text)
        return there.replace(tzinfo=there.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return 0


def key(value: Any) -> str:
    """Return a dotted key; nothing where the value cannot be one, or reads like an id."""
    text = str(value or "").strip().lower()
    return text if re.fullmatch(KEY.pattern, text) and not begins_an_id(text) else ""


def words(value: Any) -> tuple[str, ...]:
    """Return a list of words, given as one or as text with commas."""
    members = value if isinstance(value, list) else str(value or "").split(",")
    cleaned = (" ".join(str(one).split()).lstrip("#") for one in members if isinstance(one, (str, int, float)))
    return tuple(dict.fromkeys(one for one in cleaned if one))


def kind(value: Any) -> str:
    """Return a kind of notes; nothing for another word."""
    word = str(value or "").strip().lower()
    return word if word in NOTE_KINDS else ""


def relation(value: Any) -> str:
    word = str(value or "").strip().lower().replace("-", "_").replace(" ", "_")
    return word if word in RELATIONS else "relates_to"


def domain(value: Any) -> str:
    """Return a domain that every ledger has; nothing for another, which the kind then decides."""
    word = str(value or "").strip().lower()
    return word if word in DOMAINS else ""


def places(value: Any) -> tuple[str, ...]:
    """Return the places in the code that a list names, each as one types it; what names none is left out."""
    found = (_place(one) for one in (value if isinstance(value, list) else [value]))
    return tuple(dict.fromkeys(one for one in found if one))


def _place(value: Any) -> str:
    problems: list[tuple[Any, str]] = []
    if isinstance(value, dict):
        held = anchors.AnchorType().read(value, (), problems)
        return "" if problems else str(anchors.from_data(held))
    try:
        return str(anchors.parse(value)) if isinstance(value, str) and value.strip() else ""
    except anchors.AnchorUnclear:
        return ""


def members(value: Any) -> dict[str, Any]:
    """Return an object that was kept beside a text, as JSON or as it is; an empty one for anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def given(**options: Any) -> dict[str, Any]:
    """Return the options that say something."""
    return {name: value for name, value in options.items() if value not in (None, "", (), [])}


def cleaned(entry: Entry) -> Entry:
    """Return an entry without the characters that no text of a ledger may have; say which there were."""
    odd: set[str] = set()

    def plain(value: Any, end: str = " ") -> Any:
        if isinstance(value, tuple):
            return tuple(left for one in value if (left := plain(one)) or not one)
        if not isinstance(value, str) or not FORBIDDEN.search(value):
            return value
        odd.update(FORBIDDEN.findall(value))
        return FORBIDDEN.sub("", ENDS.sub(end, value))

    text = plain(entry.text, "\n")
    options = {key: plain(value) for key, value in entry.options.items()}
    named = some([f"U+{ord(one):04X}" for one in sorted(odd - {"\r"})], NAMED)
    why = (f"characters that no text here may have were taken out: {named}",) if named else ()
    return entry._replace(text=text, options=options, told=(*entry.told, *why))


def one_line(text: str, most: int = 80) -> str:
    """Return a text on one line, cut where a title must end."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rsplit(" ", 1)[0] + "\u2026"


def unique(
    entries: Iterable[Entry], skipped: list[LeftOut], mark: str = "name", why: str = "its name is that of {}"
) -> Found:
    """Return the entries whose names, or texts, are not those of an earlier one, and what was passed over."""
    kept: dict[str, Entry] = {}
    for entry in entries:
        first = kept.setdefault(getattr(entry, mark), entry)
        if first is not entry:
            skipped.append(LeftOut(entry.where, why.format(first.where)))
    return Found(list(kept.values()), skipped)
