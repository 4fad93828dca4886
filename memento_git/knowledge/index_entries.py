"""A document as it is found: its header, its text, and how much each of its words weighs."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final, NamedTuple

from memento_git.knowledge.words import date_words, signs, words
from memento_git.model.ids import kind_of

UNIT: Final = 10  # weight of a word that stands once in a text; weights are whole numbers, exact in any arithmetic
TITLE: Final = 20
NAME: Final = 10
DATE: Final = 8


class Header(NamedTuple):
    """What a document is, without its text: what filters, labels and links are judged by."""

    path: str
    kind: str  # note, plan, task, run, evidence, skill; event: of one of these; link: of two of them
    id: str
    title: str
    sort: str = ""  # a note's kind: fact, decision, lesson, ...
    domain: str = ""
    key: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    run: str = ""
    time: str = ""
    by: str = ""
    origin: str = ""
    thread: str = ""
    importance: float = 0.5
    links: tuple[tuple[str, str], ...] = ()  # relation and id
    files: tuple[str, ...] = ()
    expires: str = ""

    @property
    def record(self) -> str:
        """Return the id of the record that is told of: by an event it is that to which it happened."""
        return self.links[0][1] if self.kind == "event" else self.id

    @property
    def record_kind(self) -> str:
        """Return the kind of the record that is told of."""
        return kind_of(self.record) if self.kind == "event" else self.kind


class Document(NamedTuple):
    """A header and the text that goes with it."""

    header: Header
    text: str


class Entry(NamedTuple):
    """What the index keeps of a document: how much each word weighs, and by which marks it is looked up."""

    header: Header
    weights: dict[str, int]
    length: int
    marks: tuple[str, ...]


def entry_of(document: Document) -> Entry:
    """Return what the index keeps of a document."""
    header = document.header
    if header.kind == "link":
        return Entry(header, {}, 0, _marks(header))
    weights: Counter[str] = Counter()
    parts = (
        (header.title, TITLE),
        (" ".join((header.key, *header.aliases)), TITLE),
        (" ".join((*header.tags, header.domain, header.sort)), NAME),
        (" ".join(header.files), NAME),
        (header.by.partition("<")[0], NAME),
        (document.text, UNIT),
    )
    for text, weight in parts:
        for word in words(text):
            weights[word] += weight
    length = sum(weights.values()) // UNIT
    for sign in {sign for text, _ in parts for sign in signs(text)}:
        weights[sign] = max(weights[sign], UNIT)
    for word in date_words(header.time) if header.kind != "event" else ():
        weights[word] = max(weights[word], DATE)
    for name in (header.id, header.id.partition("_")[2]):
        for word in words(name)[:1]:
            weights[word] = max(weights[word], TITLE)
    return Entry(header, dict(weights), max(length, 1), _marks(header))


def _marks(header: Header) -> tuple[str, ...]:
    ends = [f"end:{identity}" for _, identity in header.links]
    if header.kind == "link":
        return (*ends, f"end:{header.id}")
    thread = [f"thread:{header.thread}"] if header.thread else []
    key = [f"key:{header.key}"] if header.key and header.kind == "note" else []
    return (f"id:{header.id}", *thread, *key, *dict.fromkeys(ends))


def packed(header: Header) -> str:
    """Return a header as text."""
    return json.dumps(header, ensure_ascii=False, separators=(",", ":"))


def unpacked(text: str) -> Header:
    """Return the header that a text holds."""
    values = [tuple(value) if isinstance(value, list) else value for value in json.loads(text)]
    header = Header._make(values)
    return header._replace(links=tuple((rel, to) for rel, to in header.links))
