"""What happened to notes as sentences, in the style of a terminal or of Markdown. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from memento_git.model.anchors import UNKNOWN, edits, elsewhere
from memento_git.model.enumeration import cut, many
from memento_git.model.ids import verb_of
from memento_git.review.diff_lines import Style, by, revised, why

if TYPE_CHECKING:
    from memento_git.model.rows import Row

SUCCESSOR: Final = {"superseded": "superseded by", "merged": "merged into", "resolved": "resolved by"}


def knowledge(held: Row, style: Style) -> Iterator[tuple[str, list[str]]]:
    """Yield what happened to each note: which it is, and its lines; then the notes that the code's change touches."""
    for row in held.get("knowledge", ()):
        said = f" {style.say(cut(row['title'], 120))}" if row["title"] else ""
        yield f"{row['kind'] or 'note'} {style.code(row['id'])}{said}", list(_lines(row, style))
    rows = held.get("touched", ())
    if rows:
        count = len({row["note"] for row in rows})
        title = f"this change touches the code of {many(count, 'note')}: confirm what still holds, revise what does not"
        yield title, [_touched(row, style) for row in rows]


def _lines(row: Row, style: Style) -> Iterator[str]:
    yield f"{_way(row, style)}{by(row, style)}{why(row, style)}"
    if row["change"] == "added":
        told = [f"key {style.code(row['key'])}"] if row["key"] else []
        told += [f"about {style.code(cut(place, 200))}" for place in row["about"]]
        told += [f"takes the place of {style.code(old)}" for old in row["supersedes"]]
        told += [f"its origin is {row['origin']}"] if row["origin"] in ("command", "import") else []
        yield from told
    if row["contested"]:
        yield style.strong("became contested: events disagree, settle it")
    yield from revised(row, style)
    for link in row["links"]:
        yield f"{link['change']}: {link['rel'].replace('_', ' ')} {style.code(link['to'])}"
    for event in row["illegal"]:
        told_of = style.say(cut(event["problem"] or ""))
        yield f"{style.strong('not counted')}: {verb_of(event['action'])}: {told_of}"


def _way(row: Row, style: Style) -> str:
    """Return what happened to a note in its order, each thing once, with the note that took its place."""
    if row["change"] == "removed":
        return style.strong("removed")
    if row["to"] == "redacted" != row["from"]:
        return f"{row['from'] or 'new'} → {style.strong('redacted')}"
    counts: Counter[str] = Counter(row["happened"])
    verbs = ", ".join(_verb(verb, count, row, style) for verb, count in counts.items())
    return f"{style.strong('redacted')} already; {verbs}" if row["to"] == "redacted" else verbs


def _verb(verb: str, count: int, row: Row, style: Style) -> str:
    if row["successor"] and verb in SUCCESSOR and row["to"] == verb:
        return f"{SUCCESSOR[verb]} {style.code(row['successor'])}"
    return verb if count == 1 else f"{verb} {count} times"


def _touched(row: Row, style: Style) -> str:
    now, is_unknown = elsewhere(row), row["state"] == UNKNOWN
    told = style.say(cut(row["why"], 200)) if is_unknown and row.get("why") else edits(row)
    moved = (f" {'in' if is_unknown else 'to'} {style.code(now)}" if now else "") + (f" ({told})" if told else "")
    note = f"{style.code(row['note'])} {style.say(cut(row['title'], 120))}"
    return f"{row['state']}{moved}: {style.code(cut(row['anchor'], 200))}, {note}"
