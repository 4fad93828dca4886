"""File text <-> frozen record; what is wrong with a file comes back as findings, never as an exception."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from memento_git.ledger import layout, prosefile
from memento_git.model.clock import file_stamp, seconds_of, stamp
from memento_git.model.events import event_shape
from memento_git.model.finding import WHOLE, Finding
from memento_git.model.ids import Ref, kind_of, parse_ref
from memento_git.model.knowledge import NOTE
from memento_git.model.policy import CONFIG, FORMAT, Policy, elsewhere, policy_of
from memento_git.model.tuples import NamedTuple
from memento_git.model.types import FORBIDDEN, Path, Problem, Shape
from memento_git.model.work import EVIDENCE, PLAN, RUN, SNAPSHOT, TASK, Event, Evidence, Prose

if TYPE_CHECKING:
    from memento_git.ledger import yamltext
    from memento_git.ledger.layout import Place
    from memento_git.model.recipes import Recipe

PROSE: Final = {"run": RUN, "plan": PLAN, "task": TASK, "note": NOTE}
LARGEST: Final = 1024 * 1024
TIMES: Final = ("at", "until", "expires", "valid_from", "valid_to")
UNPARTED: Final = "front matter between two lines '---' is missing"
CONFLICTED: Final = "a merge conflict is left in this file"
BEFORE: Final = {"\ufeff": "a byte order mark stands before the front matter", "<<<<<<< ": CONFLICTED}
CONFLICT: Final = r"(?ms)^<{7} .*?^={7}$.*?^>{7} "
HIDING: Final = re.compile("[\x85\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\r(?!\n)")
NEWER: Final = "F005"
TOO_LARGE: Final = f"shorten it to {LARGEST} bytes, or {WHOLE}"
OF_POLICY: Final = (
    "correct that line, or take the key out, for then its default holds; each is explained in Memento's "
    "documentation (reference/policy.md)"
)
OF_VERSION: Final = f"let it begin with the line: version: {FORMAT}"
REMEDIES: Final[dict[Path, str]] = dict.fromkeys(((), ("version",)), OF_VERSION)
OF_RECIPE: Final = "write it after one of the tool's own: memento recipe show drift-check"
REDACTED: Final = "[redacted]"
FREE: Final = frozenset(("note", "reason", "unmet", "executor", "next"))
EMPTY: Final[tuple[Any, ...]] = (None, "", (), [], {})


class Decoded(NamedTuple):
    """A file's typed values, its Markdown if it has some, and the digest of its bytes."""

    data: dict[str, Any]
    body: str
    digest: str


def digest_of(data: bytes) -> str:
    """Return what references carry: the first 32 hex digits of the SHA-256."""
    return hashlib.sha256(data).hexdigest()[:32]


def decode(place: Place, path: str, data: bytes) -> Decoded | list[Finding]:
    """Return a file's typed values, or what is wrong with it."""
    from memento_git.ledger import yamltext

    if len(data) > LARGEST:
        return [Finding("F001", path, 0, f"{len(data)} bytes are more than a ledger file may have", TOO_LARGE)]
    front, body, first_line, trouble = _split(data, prose=place.kind in PROSE)
    if trouble:
        return [Finding("F001", path, first_line, trouble, f"repair it, or {WHOLE}")]
    try:
        loaded = _load(front)
    except yamltext.Unreadable as error:
        line = error.line + first_line if error.line else 0
        return [Finding("F001", path, line, error.message, f"repair that line, or {WHOLE}")]
    shape = _shape(place, loaded.value)
    if shape is None:
        return [Finding("F002", path, 1, f"no such event: {_verb(place, loaded.value)}", f"repair it, or {WHOLE}")]
    problems: list[Problem] = []
    typed = shape.read(loaded.value, (), problems)
    if not problems:
        problems = [
            ((key,), f"{typed[key]!r} is not a time") for key in TIMES if key in typed and not _is_time(typed[key])
        ]
    if problems:
        return [
            Finding("F002", path, _line(loaded.lines, at) + first_line, message, f"repair that line, or {WHOLE}")
            for at, message in problems
        ]
    return Decoded(typed, body, digest_of(data))


def _load(data: bytes) -> yamltext.Loaded:
    """Return the value of YAML in which people see the lines, and their order, that the parser sees."""
    from memento_git.ledger import yamltext

    text = data.decode(errors="replace")
    if (found := HIDING.search(text)) is not None and not text.startswith("\ufeff"):
        told = f"character U+{ord(found[0]):04X} hides or turns what a line shows"
        raise yamltext.Unreadable(text.count("\n", 0, found.start()) + 1, told)
    return yamltext.load(data)


def _is_time(text: str) -> bool:
    """Tell whether a text that has the form of a time is one."""
    try:
        return text.isascii() and stamp(seconds_of(text)) == text
    except (ValueError, OverflowError):
        return False


def _line(lines: dict[tuple[str | int, ...], int], at: tuple[str | int, ...]) -> int:
    while at and at not in lines:
        at = at[:-1]
    return lines.get(at, 1)


def _split(data: bytes, *, prose: bool) -> tuple[bytes, str, int, str]:
    """Return front matter, body, the lines before the front matter, and what is wrong."""
    if not prose:
        return data, "", 0, ""
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return b"", "", 0, "not UTF-8 text"
    if (parts := prosefile.parted(text)) is None:
        return b"", "", 1, next((told for start, told in BEFORE.items() if text.startswith(start)), UNPARTED)
    return parts[0].encode(), parts[1].strip("\n"), 1, ""


def _shape(place: Place, value: Any) -> Shape | None:
    if place.kind == "event":
        known = isinstance(value, dict)
        return event_shape(kind_of(place.of), place.do, gate=known and "gate" in value)
    return EVIDENCE if place.kind == "evidence" else PROSE[place.kind]


def _verb(place: Place, value: Any) -> str:
    gate = " (a gate's verdict)" if isinstance(value, dict) and "gate" in value else ""
    return f"{place.do!r} of a {kind_of(place.of)}{gate}"


def record(place: Place, path: str, decoded: Decoded) -> Prose | Evidence | Event | list[Finding]:
    """Return the record that typed values stand for, or where they disagree with their path."""
    data = decoded.data
    if place.kind == "event":
        told = (data.get("of"), data.get("do"), file_stamp(data["at"]))
        if told != (place.of, place.do, place.stamp):
            message = "verb, time and record in the file differ from its name and folder"
            return [Finding("F003", path, 1, message, WHOLE)]
        return event_of(place.id, place.run, decoded, path)
    if data.get("id") != place.id:
        message = f"the file says it is {data.get('id')}, its path says {place.id}"
        return [Finding("F003", path, 1, message, f"repair that line, or {WHOLE}")]
    if place.kind == "evidence":
        return Evidence(place.id, place.run, data, decoded.digest, path)
    return Prose(place.id, place.run, data, decoded.body, decoded.digest, path)


def remarks(path: str, body: str, read: Callable[[str], bytes | None]) -> list[Finding]:
    """Return what is wrong with a record's Markdown: it is shown all the same, so that nothing else is lost with it."""
    found = [
        (code, problem, match)
        for code, problem, match in (
            ("F001", CONFLICTED, re.search(CONFLICT, body) if "<<<<<<<" in body else None),
            ("F002", "a control or direction-changing character is not allowed in a text", FORBIDDEN.search(body)),
        )
        if match
    ]
    if not found:
        return []
    text = (read(path) or b"").decode(errors="replace").replace("\r\n", "\n")
    first = text[: text.rfind(body)].count("\n") + 1
    return [
        Finding(code, path, first + body[: match.start()].count("\n"), problem, "edit the file")
        for code, problem, match in found
    ]


def time_of(compact: str) -> str:
    """Return the time that a file name carries as records write it."""
    day, clock = f"{compact[:4]}-{compact[4:6]}-{compact[6:8]}", compact[9:]
    return f"{day}T{clock[:2]}:{clock[2:4]}:{clock[4:6]}.{clock[6:9]}Z"


def event_of(identity: str, run: str, decoded: Decoded, path: str) -> Event:
    data = decoded.data
    after = tuple(parse_ref(ref) for ref in data["after"])
    return Event(identity, run, data["do"], data["of"], data["at"], data["by"], after, data, decoded.digest, path)


def encode(data: dict[str, Any]) -> bytes:
    """Return the bytes of an event or of evidence."""
    from memento_git.ledger import yamltext

    return yamltext.dump(plain(data)).encode()


def encode_prose(data: dict[str, Any], body: str) -> bytes:
    """Return the bytes of a run, plan or task."""
    return f"{prosefile.FENCE}{encode(data).decode()}{prosefile.FENCE}{body.strip()}\n".encode()


def plain(data: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping without its empty values, references as text."""
    return {key: _value(value) for key, value in data.items() if key == "after" or value not in EMPTY}


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(value)
    if isinstance(value, Ref):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_value(member) for member in value]
    return value


def read_config(data: bytes) -> tuple[Policy, list[Finding]]:
    """Return the policy of a config file, and what is wrong with the file; each text is read once."""
    policy, found = _config(data)
    return policy, [*found]


@lru_cache(maxsize=8)
def _config(data: bytes) -> tuple[Policy, list[Finding]]:
    from memento_git.ledger import yamltext

    try:
        loaded = _load(data)
    except yamltext.Unreadable as error:
        fix = f"repair that line, or {WHOLE}"
        return Policy(), [Finding("F001", layout.CONFIG, error.line, error.message, fix)]
    problems: list[Problem] = []
    version = loaded.value.get("version") if isinstance(loaded.value, dict) else None
    if isinstance(version, str) and re.fullmatch(r"[0-9]+", version) and int(version[-18:]) > FORMAT:
        message = f"format version {version:.20}: this tool knows up to {FORMAT}"
        return Policy(), [
            Finding(NEWER, layout.CONFIG, loaded.lines["version",], message, "install a newer memento-git")
        ]
    typed = CONFIG.read(loaded.value, (), problems)
    found = [
        Finding("F002", layout.CONFIG, _line(loaded.lines, at), message, elsewhere(at) or REMEDIES.get(at, OF_POLICY))
        for at, message in problems
    ]
    return (Policy() if found else policy_of(typed)), found


def read_recipe(path: str, data: bytes) -> Recipe | list[Finding]:
    """Return the recipe in a file, or what is wrong with it."""
    from memento_git.ledger import yamltext
    from memento_git.model import recipes

    if len(data) > recipes.LARGEST:
        return [Finding("F001", path, 0, f"{len(data)} bytes are more than a recipe may have", OF_RECIPE)]
    try:
        loaded = _load(data)
    except yamltext.Unreadable as error:
        return [Finding("F001", path, error.line, error.message, "repair the file")]
    problems: list[Problem] = []
    typed = recipes.RECIPE.read(loaded.value, (), problems)
    problems = problems or list(recipes.faults(typed))
    if problems:
        return [Finding("F002", path, _line(loaded.lines, at), message, OF_RECIPE) for at, message in problems]
    name = layout.recipe_of(path)
    if name and typed["name"] != name:
        message = f"the file says its name is {typed['name']}, its path says {name}"
        return [Finding("F003", path, _line(loaded.lines, ("name",)), message, f"name it {typed['name']}.yaml")]
    return recipes.Recipe(typed["name"], typed, path)


def check(path: str, data: bytes) -> list[Finding]:
    """Return what would be wrong with a file if these bytes were committed at its path."""
    if path == layout.CONFIG:
        return read_config(data)[1]
    if layout.recipe_of(path):
        recipe = read_recipe(path, data)
        return recipe if isinstance(recipe, list) else []
    place = layout.record_at(path)
    if place is None:
        return []
    found = _read(place, path, data)
    if isinstance(found, list):
        return found
    return remarks(path, found.body, lambda _: data) if isinstance(found, Prose) else []


def made(place: Place, path: str, data: bytes) -> Prose | Evidence | Event | None:
    """Return the record that bytes are; None where they are none."""
    found = _read(place, path, data)
    return None if isinstance(found, list) else found


def _read(place: Place, path: str, data: bytes) -> Prose | Evidence | Event | list[Finding]:
    """Return the record that bytes are, or what is wrong with them."""
    decoded = decode(place, path, data)
    return record(place, path, decoded) if isinstance(decoded, Decoded) else decoded


def redact_evidence(data: dict[str, Any]) -> dict[str, Any]:
    """Return what removed evidence still says: its tasks; an answer, check or graph also whose it was, how it ended."""
    graph = data["kind"] == "graph" and any(one["name"] == SNAPSHOT for one in data.get("attachments") or ())
    if "approves" not in data and "check" not in data and not graph:
        return {"for": data["for"]} if data.get("for") else {}
    kept: dict[str, Any] = {key: data[key] for key in ("kind", "at", "by", "for", "outcome", "approves") if key in data}
    if "check" in data:
        kept["check"] = {key: value for key, value in data["check"].items() if key != "url"}
    if tree := (data.get("code") or {}).get("tree"):
        kept["code"] = {"tree": tree}
    return kept


def redact_event(data: dict[str, Any]) -> dict[str, Any]:
    """Return what a removed event may still say: all but its free texts, and what it quotes of the code."""
    kept: dict[str, Any] = {
        key: ([REDACTED] if isinstance(value, list) else REDACTED) if key in FREE else value
        for key, value in data.items()
    }
    if "about" in kept:
        places: list[dict[str, Any]] = kept["about"]
        kept["about"] = [{key: value for key, value in one.items() if key != "quote"} for one in places]
    return kept
