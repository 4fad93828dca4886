"""What of the ledger can be found: its files as documents, one for each note, plan, task, run, evidence and skill.

What went wrong with a record, or was decided of it, is a document as well: the event that has the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from memento_git.knowledge.index_entries import Document, Header
from memento_git.ledger import layout, prosefile

LARGEST: Final = 1024 * 1024
_ARCHIVED: Final = re.compile(rf"{re.escape(layout.ARCHIVE)}/(?P<id>run_[0-9a-z]+)/[0-9a-f]+\.yaml\.gz")
_TEXTS: Final = {
    "run": ("constraints",), "plan": ("criteria", "assumptions", "risks"), "task": ("criteria", "kind", "role"),
    "evidence": ("kind", "outcome", "problems", "prompt", "response", "uri"), "skill": ("description",),
    "event": ("gate", "reason", "unmet", "note"),
}  # fmt: skip
TITLES: Final = {"run": "goal", "evidence": "summary", "skill": "name", "event": "do"}
REASONED: Final = (
    "blocked", "cancelled", "failed", "paused", "recovered", "rejected", "reopened", "retracted", "selected", "waived",
)  # fmt: skip
LINKS: Final = ("supersedes", "sources", "evidence", "depends_on", "repairs", "for")
LONG_TITLE: Final = 200


def can_be_found(path: str) -> bool:
    """Tell whether a file may hold a document."""
    return _kind_of(path) is not None


def with_meaning(path: str) -> str:
    """Return the id of what a file holds where its meaning can be asked for: not that of evidence and archives."""
    what = _kind_of(path)
    return what[1] if what is not None and what[0] in ("note", "skill", "plan", "task", "run") else ""


def _kind_of(path: str) -> tuple[str, str, str] | None:
    """Return kind, id and run or domain of what a path holds; None where nothing of it can be found."""
    if (name := layout.skill_of(path)) and path == f"{layout.SKILLS}/{name}/SKILL.md":
        return "skill", name, ""
    if (match := _ARCHIVED.fullmatch(path)) is not None:
        return "archive", match["id"], match["id"]
    place = layout.place_of(path)
    if place is None:
        return None
    if place.kind == "event":
        return _of_event(place)
    if place.kind == "note":
        return "note", place.id, layout.domain_of(path)
    return (place.kind, place.id, place.run) if place.kind in ("run", "plan", "task", "evidence") else None


def _of_event(place: layout.Place) -> tuple[str, str, str] | None:
    """Return what can be found of an event: that it links a note, or the reason that one of the work has."""
    if place.run:
        return ("event", place.id, place.run) if place.do in REASONED else None
    return ("link", place.of, "") if place.do in ("linked", "unlinked") else None


def documents_of(path: str, data: bytes) -> list[Document]:
    """Return the documents in a file: one, or those of an archive; none where it is too large or no text."""
    what = _kind_of(path)
    if what is None:
        return []
    kind, identity, within = what
    if kind == "archive":
        from memento_git.ledger import archive

        files, _ = archive.unpack(path, within, data)
        return [found for inner, content in files.items() for found in documents_of(inner, content)]
    if len(data) > LARGEST:
        return []
    values, body = _parsed(data, prose=path.endswith(".md"))
    header = _header(path, kind, identity, within, values)
    text = "\n".join([*_texts(kind, values), body]).strip()
    if kind == "event" and not text:
        return []
    title = header.title or text.partition("\n")[0].lstrip("# ")[:LONG_TITLE]
    return [Document(header._replace(title=title), text)]


def _parsed(data: bytes, *, prose: bool) -> tuple[dict[str, Any], str]:
    """Return front matter and body; where the front matter is broken, all of the text is the body."""
    from memento_git.ledger import yamltext

    text = data.decode(errors="replace").replace("\r\n", "\n")
    front, body = text, ""
    if prose:
        if (parts := prosefile.parted(text)) is None:
            return {}, text
        front, body = parts[0], parts[1].strip("\n")
    try:
        value = yamltext.load(front.encode()).value
    except yamltext.Unreadable:
        return {}, text
    return (value, body) if isinstance(value, dict) else ({}, text)


def _header(path: str, kind: str, identity: str, within: str, values: dict[str, Any]) -> Header:
    is_note = kind == "note"
    named = _line(values.get(TITLES.get(kind, "title"))) or (_command(values) if kind == "evidence" else "")
    return Header(
        path=path,
        kind=kind,
        id=identity,
        title=named[:LONG_TITLE],
        sort=_line(values.get("kind")) if is_note else "",
        domain=within if is_note else "",
        key=_line(values.get("key")),
        tags=_lines(values.get("tags")),
        aliases=_lines(values.get("aliases")),
        run="" if kind in ("note", "skill", "link") else within,
        time=_line(values.get("at")),
        by=_line(values.get("by")),
        origin=_line(values.get("origin")),
        thread=_line(values.get("thread")),
        importance=_share(values.get("importance")),
        links=_links(path, kind, values),
        files=_files(values),
        expires=_line(values.get("expires")) if is_note else "",
    )


def _line(value: Any) -> str:
    return value.strip().partition("\n")[0] if isinstance(value, str) else ""


def _lines(value: Any) -> tuple[str, ...]:
    members = value if isinstance(value, list) else [value]
    return tuple(member for member in members if isinstance(member, str) and member)


def _share(value: Any) -> float:
    """Return a number from 0 to 1; a half where there is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.5
    return min(max(number, 0.0), 1.0) if number == number else 0.5  # noqa: PLR0124 (NaN differs from itself)


def _command(values: dict[str, Any]) -> str:
    command = values.get("command")
    return " ".join(_lines(command.get("argv"))) if isinstance(command, dict) else ""


def _links(path: str, kind: str, values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return relation and id of all that a record names; of an event first to what it happened."""
    found = [("of", layout.owner_of(path.rpartition("/")[0]))] if kind == "event" else []
    found += [(key, name.partition("@")[0]) for key in LINKS for name in _lines(values.get(key))]
    linked = values if kind == "link" else None
    members = values.get("links")
    for link in [linked, *(members if isinstance(members, list) else [])]:
        if isinstance(link, dict) and _line(link.get("to")):
            rel = _line(link.get("rel")) or "relates_to"
            found.append(("unlinked" if values.get("do") == "unlinked" else rel, _line(link["to"])))
    return tuple(found)


def _files(values: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths in the code that a record is about."""
    about = values.get("about")
    anchors = [anchor for anchor in about if isinstance(anchor, dict)] if isinstance(about, list) else []
    return tuple(filter(None, (*(_line(anchor.get("path")) for anchor in anchors), *_lines(values.get("files")))))


def _texts(kind: str, values: dict[str, Any]) -> Iterable[str]:
    """Return what is said in the keys of a record beside its title and body."""
    for key in _TEXTS.get(kind, ()):
        yield from _lines(values.get(key))
    if kind == "evidence":
        yield from _lines(values.get("summary"))
        yield _command(values)
        reports = values.get("reports")
        for report in reports if isinstance(reports, list) else ():
            yield from _lines(report.get("failed")) if isinstance(report, dict) else ()
    about = values.get("about")
    for anchor in about if isinstance(about, list) else ():
        if isinstance(anchor, dict):
            yield from filter(None, (_line(anchor.get(key)) for key in ("symbol", "pattern", "dependency")))
