"""A folder of Markdown notes: one note a file, its front matter, its wiki links."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from memento_git.knowledge.foreign import entries, files
from memento_git.knowledge.foreign.entries import Entry, Found, SourceUnreadable
from memento_git.knowledge.foreign.values import Values
from memento_git.ledger import yamltext
from memento_git.model.exchange import LeftOut

SUFFIXES: Final = (".md", ".markdown")
FRONT: Final = re.compile(
    r"(?ms)\A(?:---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+)[ \t]*(?:\n|\Z)"
)
HEADING: Final = re.compile(r"\A\s*# +([^\n]+)")
WIKI: Final = re.compile(
    r"(?m)(?:^[ \t]*+[-*][ \t]++(?P<rel>[a-z][a-z_ -]{2,20})[ \t]+)?\[\[(?P<to>[^][|#\n]{1,200}+)[^][\n]*+\]\]"
)
LINK: Final = re.compile(
    r"(?<!!)\[[^][\n]{0,200}+\]\((?P<to>[^()\s#:]{1,200}?)\.(?:md|markdown)(?:#[^()\s]*+)?(?:[ \t][^()\n]*+)?\)"
)
CODE: Final = re.compile(
    r"(?ms)^ {0,3}(?P<fence>```+|~~~+)[^\n]*$.*?(?:^ {0,3}(?P=fence)|\Z)|(?<!`)(?P<tick>`++)[^\n]+?(?P=tick)(?!`)"
)
NOWHERE: Final = "a link in this line leads to none of the notes that were read, so the note is without it"
PLAIN: Final = ("type", "note")  # of basic-memory, for what is of no kind
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
    values = Values({name: value for name, value in data.items() if (name, value) != PLAIN})
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
        values.lacks(name, value, "unknown here", "it comes in as active")
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
        aliases=tuple(dict.fromkeys((*values.words("aliases"), *values.words("permalink")))),
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
    """Return under which words each entry may be linked: its name, path, file name, title, key, aliases."""
    names: dict[str, str] = {}
    for entry in found:
        plain = entry.where.rpartition(".")[0]
        files = (entry.where, plain, entry.where.rpartition("/")[2], plain.rpartition("/")[2])
        told = (entry.options.get("title"), entry.options.get("key"), *entry.options.get("aliases", ()))
        for word in (entry.name, *files, *told):
            if word:
                names.setdefault(str(word).strip().lower(), entry.name)
    return names


def _linked(entry: Entry, names: Mapping[str, str], skipped: list[LeftOut]) -> Entry:
    """Return an entry with its links to other files of the folder; say which lead to none of them."""
    links = dict.fromkeys(entry.links)
    missing: set[int] = set()
    text = CODE.sub(_blank, entry.text)
    here = posixpath.dirname(entry.where)
    named = [(found.start("to"), entries.relation(found["rel"]), found["to"].strip()) for found in WIKI.finditer(text)]
    for found in LINK.finditer(text):
        path = posixpath.normpath(posixpath.join(here, unquote(found["to"])))
        named.append((found.start("to"), entries.relation(""), path))
    for start, relation, name in named:
        to = names.get(name.lower())
        if to is None:
            missing.add(entry.line + entry.text.count("\n", 0, start))
        elif to != entry.name:
            links[relation, to] = None
    skipped += [LeftOut(f"{entry.where}:{line}", NOWHERE) for line in sorted(missing)]
    return entry._replace(links=tuple(links))


def _blank(code: re.Match[str]) -> str:
    """Return as many lines as code has, without what stands in them."""
    return re.sub(r"[^\n]", " ", code[0])
