"""A folder of Markdown notes: one note a file, its front matter, its wiki links."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from memento_git.knowledge.foreign import entries, files
from memento_git.knowledge.foreign.entries import Entry, Found, SourceUnreadable
from memento_git.knowledge.foreign.values import Values
from memento_git.ledger import yamltext
from memento_git.model.exchange import LeftOut

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUFFIXES: Final = (".md", ".markdown")
FRONT: Final = re.compile(
    r"(?ms)\A(?:---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+)[ \t]*(?:\n|\Z)"
)
HEADING: Final = re.compile(r"\A\s*# +([^\n]+)")
WIKI: Final = re.compile(
    r"(?m)(?:^[ \t]*+[-*][ \t]++(?P<rel>[a-z][a-z_ -]{2,20})[ \t]+)?\[\[(?P<to>[^][|#\n]{1,200}+)[^][\n]*+\]\]"
)
CODE: Final = re.compile(
    r"(?ms)^ {0,3}(?P<fence>```+|~~~+)[^\n]*$.*?(?:^ {0,3}(?P=fence)|\Z)|(?<!`)(?P<tick>`++)[^\n]+?(?P=tick)(?!`)"
)
NOWHERE: Final = "a [[link]] in this line leads to none of the notes that were read, so the note is without it"
STANDING: Final = ("active", "current", "accepted")
GONE: Final = ("retired", "archived", "deprecated", "obsolete", "superseded", "rejected")


def read(folder: Path) -> Found:
    """Return the notes of a folder."""
    if not folder.is_dir():
        raise SourceUnreadable(where=folder.name, problem="it is no folder")
    skipped: list[LeftOut] = []
    made = [
        entry
        for name, text in files.below(folder, SUFFIXES, skipped)
        if (entry := _entry(name, text, folder.absolute().name, skipped)) is not None
    ]
    twice: list[LeftOut] = []
    found = entries.unique(made, twice).entries
    names = _names(found)
    return Found([_linked(entry, names, skipped) for entry in found], [*skipped, *twice])


def _entry(name: str, text: str, folder: str, skipped: list[LeftOut]) -> Entry | None:
    front = FRONT.match(text)
    try:
        data = _values(front) if front is not None else {}
    except yamltext.Unreadable as error:
        skipped.append(LeftOut(f"{name}:{error.line + 1}", f"its front matter cannot be read: {error.message}"))
        return None
    if not isinstance(data, dict):
        skipped.append(LeftOut(f"{name}:2", "its front matter is no mapping"))
        return None
    start, body = (1, text) if front is None else (front[0].count("\n") + 1, text[front.end() :])
    if not body.strip():
        skipped.append(LeftOut(name, "it has no text"))
        return None
    blank = len(body) - len(body.lstrip("\n"))
    start, body = start + blank, body[blank:]
    values = Values(data)
    state, said = _state(values)
    entry = Entry(
        name, str(values.first("id")[1] or name), body, _options(name, folder, values, body),
        at=values.moment("at", "created", "created_at", "date"), supersedes=values.words("supersedes"),
        links=values.links("links", "to"), state="retired" if state in GONE else "parked" if state == "parked" else "",
        reason=f"it was {said} where it came from" if state in GONE else "", line=start,
    )  # fmt: skip
    values.rest("origin")
    return entry._replace(told=tuple(values.told))


def _state(values: Values) -> tuple[str, str]:
    """Return the word for a note's state, and all that is said of it: `superseded by ADR-0123`."""
    name, value = values.first("status", "state")
    said = " ".join(str(value or "").split())
    state = said.partition(" ")[0].lower().rstrip(",;:")
    if state not in ("", *STANDING, *GONE, "parked"):
        values.tell(f"its {name} {value!r:.60} is unknown here: it comes in as active")
    return state, said


def _values(front: re.Match[str]) -> Any:
    """Return what front matter says, be it YAML or TOML."""
    if front["toml"] is None:
        return yamltext.load(front["yaml"].encode()).value if front["yaml"].strip() else {}
    try:
        return tomllib.loads(front["toml"])
    except (ValueError, RecursionError) as error:
        problem, _, place = str(error).partition(" (at line ")
        raise yamltext.Unreadable(int(place.partition(",")[0] or 1), f"not TOML: {problem}") from None


def _options(name: str, folder: str, values: Values, body: str) -> dict[str, Any]:
    heading = HEADING.match(body)
    told = heading[1].rstrip().rstrip("#").rstrip() if heading else ""
    file = told or name.rpartition("/")[2].rpartition(".")[0]
    return entries.given(
        title=values.line("title") or entries.one_line(file),
        kind=values.kind("kind", "type"),
        domain=values.domain("domain", "category"),
        key=values.key("key", "subject_key"),
        tags=_tags(values),
        aliases=values.words("aliases"),
        importance=values.share("importance"),
        confidence=values.share("confidence"),
        tier=values.tier("tier"),
        expires=values.moment("expires"),
        valid_from=values.moment("valid_from"),
        valid_to=values.moment("valid_to"),
        thread=values.line("thread"),
        to=values.line("to"),
        pinned=values.flag("pinned"),
        about=values.places("about"),
        sources=(f"file:{folder}/{name}", *values.words("sources")),
    )


def _tags(values: Values) -> tuple[str, ...]:
    """Return tags; those of a text without commas end at spaces, as Jekyll and Obsidian have it."""
    told = values.words("tags")
    return tuple(dict.fromkeys(told[0].split())) if len(told) == 1 and isinstance(values.held["tags"], str) else told


def _names(found: list[Entry]) -> dict[str, str]:
    """Return under which words each entry may be linked: its name, path, file name, title, key."""
    names: dict[str, str] = {}
    for entry in found:
        plain = entry.where.rpartition(".")[0]
        told = (entry.name, plain, plain.rpartition("/")[2], entry.options.get("title"), entry.options.get("key"))
        for word in told:
            if word:
                names.setdefault(str(word).strip().lower(), entry.name)
    return names


def _linked(entry: Entry, names: Mapping[str, str], skipped: list[LeftOut]) -> Entry:
    """Return an entry with its wiki links to other files of the folder; say which lead to none of them."""
    links = dict.fromkeys(entry.links)
    missing: dict[int, None] = {}
    for match in WIKI.finditer(CODE.sub(_blank, entry.text)):
        to = names.get(match["to"].strip().lower())
        if to is None:
            missing[entry.line + entry.text.count("\n", 0, match.start("to"))] = None
        elif to != entry.name:
            links[entries.relation(match["rel"]), to] = None
    skipped += [LeftOut(f"{entry.where}:{line}", NOWHERE) for line in missing]
    return entry._replace(links=tuple(links))


def _blank(code: re.Match[str]) -> str:
    """Return as many lines as code has, without what stands in them."""
    return re.sub(r"[^\n]", " ", code[0])
