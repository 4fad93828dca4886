"""What a project knows, as Markdown: a digest within a budget for files of guidance, or all of it as one document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.knowledge.handoffs import is_handoff
from memento_git.knowledge.injection import LOW, instructive, orders
from memento_git.knowledge.pairs import disputes
from memento_git.ledger import layout
from memento_git.model.anchors import CHANGED, GONE, elsewhere
from memento_git.model.enumeration import many
from memento_git.model.exchange import DIGEST_TOKENS, LeftOut
from memento_git.model.knowledge import validity
from memento_git.model.markup import one_line
from memento_git.model.tokens import BYTES, size

if TYPE_CHECKING:
    from memento_git.knowledge.anchor_locations import AnchorLocations
    from memento_git.knowledge.anchors import Placed
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.work import Prose

LONGEST: Final = 400
BEGINNING: Final = 30
COMPARED: Final = 2000
NEAREST: Final = 3
LOST: Final = {GONE: "which is gone", CHANGED: "which has changed since"}
SECTIONS: Final = {
    "Conventions": ("preference",),
    "Decisions": ("decision",),
    "Lessons": ("lesson",),
    "Facts": ("fact", "summary", "event"),
    "Goals": ("goal", "checkpoint"),
    "Open questions": ("question", "gap"),
}
CODE: Final = r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)"
TAKES_IN: Final = r"(?<!\w)@(?=[\w~./])"
HEAD: Final = """\
## What this project knows

Notes of the project's ledger: data to weigh, older than the code. `memento note show ID` shows the whole of one.
"""


OWN: Final = re.compile(
    r"- .*\(note_[0-9a-z]{12}(?:; [^\n]*)?\)|\d+ more notes? (?:is|are) in the ledger: `memento note list`\.|"
    f"### (?:{'|'.join(SECTIONS)})"
)

HEADED: Final = re.compile(r"\A\s*#{1,6}[ \t]+([^\n]*?[^\s#:])[ \t#:]*\n\s*(?=\S)")  # a heading that a text begins with
MARKED: Final = re.compile(r"\A(?:#{1,6}|[>*+-])[ \t]+")  # what would make a heading or a list of the rest of an item


class Digest(NamedTuple):
    """A Markdown text, the notes in it, and those that were left out."""

    text: str
    notes: list[str]
    skipped: list[LeftOut]


def digest(
    note_set: NoteSet, budget: int = DIGEST_TOKENS, into: str = "", locations: AnchorLocations | None = None
) -> Digest:  # fmt: skip
    """Return the notes that matter most, a line each, in as many tokens as are allowed.

    What was imported from the very file that it goes into is not told there twice. `locations` tell where the places
    in the code are now, and which are gone or changed.
    """
    skipped = _unread(note_set)
    latest = sorted(_wanted(note_set, into, skipped), key=lambda note: (note.data["at"], note.id), reverse=True)
    ranked = sorted(latest, key=lambda note: _rank(note_set, note))
    room = budget * BYTES - size(HEAD)
    lost = _lost(ranked, locations) if locations is not None else {}
    disputed = _disputed(note_set, ranked)
    lines: dict[str, str] = {}
    for note in ranked:
        line = _line(note_set, note, lost.get(note.id, {}), disputed.get(note.id, ()))
        heading = 0 if any(_section(one) == _section(note) for one in ranked if one.id in lines) else 24
        if size(line) + heading > room:
            skipped.append(LeftOut(note.id, "the budget is spent"))
            continue
        lines[note.id] = line
        room -= size(line) + heading
    parts = [HEAD]
    for section in SECTIONS:
        told = [lines[note.id] for note in ranked if note.id in lines and _section(note) == section]
        parts += [f"\n### {section}\n\n", *told] if told else []
    cut = sum(one.why == "the budget is spent" for one in skipped)
    parts += [f"\n{many(cut, 'more note is', 'more notes are')} in the ledger: `memento note list`.\n"] if cut else []
    return Digest("".join(parts), list(lines), skipped)


def is_own(line: str) -> bool:
    """Tell whether a line is one that a digest writes, whatever is said in it."""
    told = line.strip()
    return not told or told in HEAD.splitlines() or OWN.fullmatch(told) is not None


def _wanted(note_set: NoteSet, into: str, skipped: list[LeftOut]) -> list[Prose]:
    """Return the notes that count now and that may be told to whoever reads a file of guidance."""
    found = []
    for note in note_set.live():
        if note_set.status(note.id) != "active":
            skipped.append(LeftOut(note.id, f"it is {note_set.status(note.id)}"))
        elif not note.data.get("pinned") and (what := _of_session(note)):
            skipped.append(LeftOut(note.id, f"it is a {what}, which memento session start shows"))
        elif into and any(source.startswith(f"file:{into}:") for source in note.list("sources")):
            skipped.append(LeftOut(note.id, f"it came from {into} itself"))
        elif note_set.is_expired(note):
            skipped.append(LeftOut(note.id, "it has expired"))
        elif note.data["origin"] in LOW and (signs := _orders(note)):
            skipped.append(LeftOut(note.id, f"it {', '.join(signs)}, and its origin is {note.data['origin']}"))
        else:
            found.append(note)
    return found


def _of_session(note: Prose) -> str:
    """Return what of a session a note is, which says how far somebody was; nothing for knowledge."""
    return "handoff" if is_handoff(note) else "checkpoint" if note.data["kind"] == "checkpoint" else ""


def _unread(note_set: NoteSet) -> list[LeftOut]:
    """Return the notes that cannot be read, as left out."""
    note_set.readable()
    return [LeftOut(PurePosixPath(one.path).stem, f"it cannot be read: {one.message}") for one in note_set.unread()]


def _orders(note: Prose) -> list[str]:
    """Return what makes a note, or the line that a digest makes of it, read like orders."""
    return orders(note.data, note.body) or instructive(_said(note))


def _rank(note_set: NoteSet, note: Prose) -> tuple[bool, float, bool, int]:
    """Return what orders notes: pinned, important, confirmed, of a kind that code says less of; then the latest."""
    confirmed = bool(note_set.confirmed(note)[0])
    kind = [*SECTIONS].index(_section(note))
    return not note.data.get("pinned"), -float(note.data.get("importance") or 0.5), not confirmed, kind


def _section(note: Prose) -> str:
    return next(name for name, kinds in SECTIONS.items() if note.data["kind"] in kinds)


def _lost(notes: Sequence[Prose], locations: AnchorLocations) -> dict[str, dict[str, str]]:
    """Return note -> what to say of the places that it is about and that are not as they were, or not there."""
    held = locations.of([note.id for note in notes])
    return {note: {str(one.anchor): _became(one) for one in places} for note, places in held.items()}


def _became(one: Placed) -> str:
    """Return where a place is now, where that is elsewhere, and whether it is gone or has changed."""
    now = elsewhere(one.data())
    return ", ".join(filter(None, (now and f"now {now}", LOST.get(one.found.state))))


def _said(note: Prose) -> str:
    """Return what a note says on one line, with its title where that says more."""
    title, said = one_line(note.data["title"]).rstrip("\u2026"), one_line(HEADED.sub(r"\1: ", note.body))
    begin = _bare(title).find(_bare(said)[:BEGINNING])
    if begin >= 0:
        return f"{_bare(title)[:begin]}{MARKED.sub('', said)}"
    return said if title in said else f"{title}: {said}"


def _disputed(note_set: NoteSet, notes: Sequence[Prose]) -> dict[str, list[str]]:
    """Return note -> those that may say the opposite, by their words; of very many notes the first are compared."""
    compared = notes[:COMPARED]
    linked = {note.id: note_set.contradictions(note) for note in compared}
    return disputes({note.id: _said(note) for note in compared}, linked, NEAREST)


def _line(note_set: NoteSet, note: Prose, lost: Mapping[str, str], disputed: Sequence[str]) -> str:
    text = MARKED.sub("", _said(note))
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit(" ", 1)[0] + "\u2026"
    about = [*map(str, note_set.anchors(note)[:3])]
    places = ", ".join(f"{place}, {lost[place]}" if lost.get(place) else place for place in about)
    told = _joined("; ", [("", note.id), *_caveats(note_set, note, _tame(places), disputed)])
    return f"- {_tame(text)} ({told})\n"


def _caveats(note_set: NoteSet, note: Prose, places: str, disputed: Sequence[str]) -> list[tuple[str, str]]:
    """Return what should be known of a note before it is taken for true, as names and values; some are empty."""
    return [
        ("", "incomplete" if note_set.is_incomplete(note.id) else ""),
        ("", validity(note.data)),
        ("about", places),
        ("contradicted by", ", ".join(note_set.contradictions(note))),
        ("may contradict", ", ".join(disputed)),
    ]


def _joined(between: str, told: Sequence[tuple[str, str]]) -> str:
    """Return names and values on one line, without those that say nothing."""
    return between.join(f"{name} {value}" if name else value for name, value in told if value)


def _bare(text: str) -> str:
    """Return a text without its marks, for a title that was taken from it has none."""
    return one_line(re.sub(r"^[#>*\-\s]+|```\w*|[`*\u2026]", "", text))


def _tame(text: str) -> str:
    """Return a text that begins and ends no comment, so that no note can end its block, and takes in no file.

    An agent reads `@path` as a file to be read with this one, but in code. A backslash or HTML may undo what looks so.
    """
    plain = text.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    wanted = TAKES_IN if re.search(r"[\\<]", plain) else f"{CODE}|{TAKES_IN}"
    return re.sub(wanted, lambda found: "&#64;" if found[0] == "@" else found[0], plain)


def document(note_set: NoteSet) -> Digest:
    """Return all live notes with their whole texts, by domain."""
    notes = sorted(note_set.live(), key=lambda note: (layout.domain_of(note.path), note.data["at"], note.id))
    disputed = _disputed(note_set, notes)
    parts, domain = ["# What this project knows\n"], ""
    for note in notes:
        if layout.domain_of(note.path) != domain:
            domain = layout.domain_of(note.path)
            parts.append(f"\n## {domain.capitalize()}\n")
        facts = _facts(note_set, note, disputed.get(note.id, ()))
        parts.append(f"\n### {one_line(note.data['title'])}\n\n{facts}\n\n{_quoted(note.body)}\n")
    return Digest("".join(parts), [note.id for note in notes], _unread(note_set))


def _facts(note_set: NoteSet, note: Prose, disputed: Sequence[str]) -> str:
    """Return what is known of a note beside its text, on one line."""
    places = ", ".join(f"`{place}`" for place in note_set.anchors(note))
    told = [
        ("", f"`{note.id}`"),
        ("", note.data["kind"]),
        ("", note_set.status(note.id) if note_set.status(note.id) != "active" else ""),
        ("", f"of {note.data['at'][:10]}, origin {note.data['origin']}"),
        ("key", str(note.data.get("key") or "")),
        ("expired", note_set.expires(note)[:10] if note_set.is_expired(note) else ""),
        *_caveats(note_set, note, places, disputed),
        ("reads like orders:", ", ".join(orders(note.data, note.body))),
    ]
    return _joined(" \u00b7 ", told)


def _quoted(text: str) -> str:
    """Return a text as a quotation, so that its headings are none of the document's."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
