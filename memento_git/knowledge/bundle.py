"""The lines of a bundle: every note with all that happened to it, as JSON that gives the same bytes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import IO, Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.ledger import codec, layout

VERSION: Final = 1
HEAD: Final = {"format": "memento-bundle", "version": VERSION}
LONGEST: Final = 16 * 1024 * 1024  # of one line, a note with all of its events


class KeyTwice(ValueError):
    """A mapping in which a key stands twice, of which one would be lost."""


class BundleInvalid(Refused):
    token = "bundle_invalid"
    sentence = "{where}: {problem}"
    hint_ = (
        "mend that line, or export it again: memento export --out FILE; another format is named with --from; "
        "nothing was changed"
    )


class BundleNewer(Refused):
    token = "bundle_newer"
    sentence = "{where}: this is version {version} of a bundle; this tool knows up to {known}"
    hint_ = "install a newer memento-git; nothing was changed"


class File(NamedTuple):
    """A file of the ledger as a bundle holds it: where it lies, its bytes."""

    path: str
    data: bytes


class Packed(NamedTuple):
    """One note of a bundle: where it stands in it, its file, its events, its state as the bundle tells it."""

    where: str
    id: str
    title: str
    body: str
    front: dict[str, Any]
    text: File
    events: list[File]
    state: str
    draft: bool


class Gone(NamedTuple):
    """A redacted note of a bundle: where it stands in it, and what happened to it, without any text."""

    where: str
    id: str
    events: list[File]


class Typed(NamedTuple):
    """A line that somebody wrote by hand: a text, and what a note's options are."""

    where: str
    text: str
    options: dict[str, Any]


TYPED: Final[dict[str, type | tuple[type, ...]]] = {
    "text": str, "title": str, "kind": str, "domain": str, "key": str, "tags": list, "aliases": list,
    "importance": (int, float), "confidence": (int, float), "tier": str, "expires": str, "valid_from": str,
    "valid_to": str, "thread": str, "to": str, "sources": list, "pinned": bool,
}  # fmt: skip


OF_GONE: Final = frozenset({"id", "domain", "state", "events"})
KEYS: Final = OF_GONE | {"front", "body", "file"}
OF_EVENT: Final = frozenset({"name", "data", "file"})


def line_of(domain: str, state: str, note: File, events: Iterable[File]) -> str:
    """Return the line of a note; bytes that its values alone would not give back are told too."""
    front, body = values_of(note)
    told: dict[str, Any] = {
        "id": layout.note_of(note.path), "domain": domain, "state": state, "front": front, "body": body,
    }  # fmt: skip
    if codec.encode_prose(front, body) != note.data:
        told["file"] = note.data.decode()
    told["events"] = [_event_line(one) for one in events]
    return json.dumps(told, ensure_ascii=False)


def gone_line(note: str, domain: str, events: Iterable[File]) -> str:
    """Return the line of a redacted note: what happened to it, for others name it still."""
    told = {"id": note, "domain": domain, "state": "redacted", "events": [_event_line(one) for one in events]}
    return json.dumps(told, ensure_ascii=False)


def _event_line(event: File) -> dict[str, Any]:
    data, _ = values_of(event)
    told: dict[str, Any] = {"name": event.path.rpartition("/")[2], "data": data}
    return told if codec.encode(data) == event.data else {**told, "file": event.data.decode()}


def values_of(file: File) -> tuple[dict[str, Any], str]:
    """Return the values of a file, and its Markdown; refuse what cannot be read."""
    place = layout.place_of(file.path)
    found = codec.decode(place, file.path, file.data) if place is not None else []
    if not isinstance(found, codec.Decoded):
        told = [f"{one.code} in line {one.line}: {one.message}" for one in found]
        raise BundleInvalid(where=file.path, problem=told[0] if told else "no file of a note has this name")
    return codec.plain(found.data), found.body


def lines_of(name: str, stream: IO[bytes]) -> Iterator[Packed | Gone | Typed]:
    """Yield what the lines of a bundle hold; refuse the first that is wrong."""
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        told = _loaded(where, line)
        if number == 1 and told.get("format") is not None:
            _refuse_unknown(where, told, line)
        elif "front" in told:
            yield _packed(where, told)
        elif "events" in told:
            yield _gone(where, told)
        else:
            yield _typed(where, told)


def _refuse_unknown(where: str, head: Mapping[str, Any], line: bytes) -> None:
    """Refuse the first line of what is no bundle, or one of another version."""
    version = head.get("version")
    if head["format"] == HEAD["format"] and type(version) is int and version > VERSION:
        raise BundleNewer(where=where, version=version, known=VERSION)
    if head["format"] != HEAD["format"] or version != VERSION:
        told = line[:60].decode(errors="replace").strip()
        raise BundleInvalid(where=where, problem=f"not a bundle of a version that is known: {told}")


def _loaded(where: str, line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST:
        raise BundleInvalid(where=where, problem=f"a line of {len(line)} bytes is too long")
    try:
        told = json.loads(line, object_pairs_hook=_once)
    except KeyTwice as twice:
        raise BundleInvalid(where=where, problem=str(twice)) from None
    except (ValueError, RecursionError):
        raise BundleInvalid(where=where, problem="this is no line of JSON") from None
    if not isinstance(told, dict):
        raise BundleInvalid(where=where, problem="this is no JSON object")
    return told


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; refuse one of whose values another would be lost."""
    told: dict[str, Any] = {}
    for key, value in pairs:
        if key in told:
            raise KeyTwice(f"{key!r:.80} is there twice")
        told[key] = value
    return told


def _typed(where: str, told: dict[str, Any]) -> Typed:
    """Return a line that was written by hand."""
    _refuse_more(where, told, TYPED.keys())
    if not isinstance(told.get("text"), str):
        raise BundleInvalid(where=where, problem="a note needs a text")
    for key, value in told.items():
        members = value if isinstance(value, list) else []
        if not isinstance(value, TYPED[key]) or not all(isinstance(member, str) for member in members):
            raise BundleInvalid(where=where, problem=f"{key} is not what a note has there")
    return Typed(where, told["text"], {key: value for key, value in told.items() if key != "text"})


def _packed(where: str, told: dict[str, Any]) -> Packed:
    """Return the note of a line, every file of it read as the ledger would read it."""
    _refuse_more(where, told, KEYS)
    with _shaped(where):
        front, body = dict(told["front"]), str(told.get("body", ""))
        front = {"id": str(told["id"]), **front}
        unknown = "origin" not in front
        front.setdefault("origin", "import")
        note = layout.note_path(str(told["domain"]), str(front["id"]))
        given = told.get("file") if not unknown else None
        file = File(note, given.encode() if given is not None else codec.encode_prose(front, body))
        folder = note.removesuffix(".md")
        events = [_event(folder, one) for one in told.get("events", [])]
    if front["id"] != told["id"]:
        raise BundleInvalid(where=where, problem=f"its id is {told['id']!r:.40}, and {front['id']!r:.40} in its front")
    for one in (file, *events):
        _readable(where, one)
    read_front, read_body = values_of(file)
    if given is not None and (read_front, read_body) != (codec.plain(front), body):
        raise BundleInvalid(where=where, problem="its file does not say what its values do")
    draft = any("-promoted-" in one.path for one in events)
    state = str(told.get("state", ""))
    return Packed(where, front["id"], str(front.get("title", "")), read_body, read_front, file, events, state, draft)


def _refuse_more(where: str, told: Mapping[str, Any], keys: AbstractSet[str]) -> None:
    """Refuse a key that nobody would read."""
    if unknown := sorted(told.keys() - keys):
        raise BundleInvalid(where=where, problem=f"no such key: {', '.join(unknown)[:80]}")


@contextmanager
def _shaped(where: str) -> Iterator[None]:
    """Refuse a line that is no note, in words that say why."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        lacks = "something in it is not what a note has"
        if isinstance(error, KeyError):
            lacks = f"it has no {error.args[0]!r}"
        raise BundleInvalid(where=where, problem=f"this is no note of a bundle: {lacks:.80}") from None


def _gone(where: str, told: dict[str, Any]) -> Gone:
    """Return the redacted note of a line."""
    _refuse_more(where, told, OF_GONE)
    with _shaped(where):
        folder = layout.note_path(str(told["domain"]), str(told["id"])).removesuffix(".md")
        events = [_event(folder, one) for one in told["events"]]
    for one in events:
        _readable(where, one)
    if not events:
        raise BundleInvalid(where=where, problem="this note has no text, and nothing says that it was redacted")
    return Gone(where, str(told["id"]), events)


def _event(folder: str, told: dict[str, Any]) -> File:
    """Return the file of an event; one that is written otherwise than we write it says so itself."""
    path = f"{folder}/{told['name']}"
    _refuse_more(path, told, OF_EVENT)
    given = told.get("file")
    file = File(path, given.encode() if given is not None else codec.encode(told["data"]))
    if given is not None and values_of(file)[0] != codec.plain(told["data"]):
        raise BundleInvalid(where=path, problem="its file does not say what its values do")
    return file


def _readable(where: str, file: File) -> None:
    """Refuse a file that the ledger could not read, or that has no place among notes."""
    if layout.place_of(file.path) is None:
        raise BundleInvalid(where=where, problem=f"no file of a note has this name: {file.path[-80:]!r}")
    for finding in codec.check(file.path, file.data):
        raise BundleInvalid(where=where, problem=finding)
