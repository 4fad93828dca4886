"""The types that a value in a ledger file can have: each reads text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Protocol

from memento_git.model import ids
from memento_git.model.clock import STAMP
from memento_git.model.enumeration import some
from memento_git.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memento_git.model.objection import Objection

Path = tuple[str | int, ...]
Problem = tuple[Path, str]

SHOWN: Final = 12
FORBIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
NAME: Final = r"[^<>\s]([^<>]*[^<>\s])?( <[^<>]*>)?"
UNSEEN: Final = (
    "\u00ad\u034f\u180b-\u180f\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
EMPTY: Final = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159"
HIDDEN: Final = f"[{UNSEEN}]"
NOTHING: Final = f"[{UNSEEN}{EMPTY}]"  # and what fonts draw as nothing
BLANK: Final = re.compile(f"[\\s{UNSEEN}{EMPTY}]*")
LONGEST: Final = 64 * 1024
JOINED: Final = (  # what shapes the letter, ideograph or emoji before it, of which scripts from Hebrew on have some
    "(?<=[^\x00-\u058f])[\u200c\u200d\u180b-\u180f]|"
    f"(?<=[^\x00-\u058f{UNSEEN}{EMPTY}])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


class Type(Protocol):
    """Reads a raw value (text, list or mapping of text) into a typed one."""

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any: ...


def problem_of(kind: Type, given: object) -> Objection:
    """Return why a value is none of a type, or nothing."""
    problems: list[Problem] = []
    kind.read(given, (), problems)
    return problems[0][1] if problems else ""


class Pattern(NamedTuple):
    """Text that matches a pattern from end to end."""

    name: str
    pattern: str

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, str) or not self.fits(raw):
            problems.append((at, f"{raw!r:.60} is not {self.name}"))
        return raw


class Text(NamedTuple):
    """Text for people: no control or direction-changing characters, at most 64 KiB; some of it can be seen."""

    lines: bool = True
    empty: bool = False

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, str) or (is_blank(raw) and not self.empty):
            problems.append((at, "a text is missing here"))
            return raw
        for problem in text_problems(raw, lines=self.lines):
            problems.append((at, problem))
        return raw


def is_blank(text: str) -> bool:
    """Tell whether nothing of a text can be seen: it says nothing."""
    return BLANK.fullmatch(text) is not None


def text_problems(text: str, *, lines: bool) -> Iterator[str]:
    """Yield what makes a text unfit for a ledger that people read in a terminal and in a diff."""
    if (found := FORBIDDEN.search(text)) is not None:
        code = ord(found[0])
        is_byte = 0xDC80 <= code <= 0xDCFF  # of an argument that is not UTF-8, as Python keeps it
        yield f"byte {code - 0xDC00:#x} is not UTF-8" if is_byte else f"character U+{code:04X} is not allowed in a text"
    if not lines and "\n" in text:
        yield "this text must be one line"
    if len(text) > LONGEST:
        yield f"this text has {len(text)} characters, at most {LONGEST} are allowed"


class Name(NamedTuple):
    """The name of who acts: one line in which each character can be seen."""

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        Text(lines=False).read(raw, at, problems)
        if isinstance(raw, str):
            problems += [(at, problem) for problem in name_problems(raw)]
        return raw


def name_problems(name: str) -> Iterator[str]:
    """Yield what would let a name look like another one."""
    if name != name.strip():
        yield "a name begins or ends with a space"
    elif re.fullmatch(NAME, name) is None:
        yield "a name with < or > has to be NAME <ADDRESS>, with one address"
    if name.isascii():
        return
    import unicodedata

    for letter in re.sub(JOINED, "", name):
        if unicodedata.category(letter) in ("Cf", "Co") or re.match(NOTHING, letter):
            yield f"character U+{ord(letter):04X} cannot be seen in a name"


class Choice(NamedTuple):
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if raw not in self.words:
            problems.append((at, f"{raw!r:.60} is not one of {', '.join(self.words)}"))
        return raw


class Flag(NamedTuple):
    """`true` or `false`."""

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if raw not in ("true", "false"):
            problems.append((at, f"{raw!r:.60} is not true or false"))
        return raw == "true"


class Whole(NamedTuple):
    """A whole number; `most` is the greatest, where it is not 0."""

    least: int = 0
    most: int = 0

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, str) or re.fullmatch(r"-?[0-9]{1,18}", raw) is None or int(raw) < self.least:
            problems.append((at, f"{raw!r:.60} is not a whole number from {self.least}"))
            return raw
        if self.most and int(raw) > self.most:
            problems.append((at, f"{raw} is more than {self.most}"))
        return int(raw)


class Decimal(NamedTuple):
    """A number from 0 with at most three decimals."""

    name: str = "a number of seconds"

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, str) or re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,3})?", raw) is None:
            problems.append((at, f"{raw!r:.60} is not {self.name}"))
            return raw
        return float(raw)


class Share(NamedTuple):
    """A number from 0 to 1 with at most three decimals."""

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, str) or re.fullmatch(r"0(\.\d{1,3})?|1(\.0{1,3})?", raw) is None:
            problems.append((at, f"{raw!r:.60} is not a number from 0 to 1"))
            return raw
        return float(raw)


class ListOf(NamedTuple):
    """A list whose members are all of one type, but for the first if that has its own; `most`, where it is not 0."""

    member: Type
    least: int = 0
    most: int = 0
    first: Type | None = None

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, list):
            problems.append((at, f"a list is expected here, not {raw!r:.60}"))
            return []
        if len(raw) < self.least:
            problems.append((at, "this list is too short"))
        if self.most and len(raw) > self.most:
            problems.append((at, f"this list has {len(raw)} members, at most {self.most} are allowed"))
            return []
        types = [self.first or self.member, *[self.member] * len(raw)]
        return [types[index].read(value, (*at, index), problems) for index, value in enumerate(raw)]


class Table(NamedTuple):
    """A mapping from free keys to values of one type."""

    member: Type
    keys: str = r"[^\x00-\x1f]{1,4096}"

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, dict):
            problems.append((at, f"a mapping is expected here, not {raw!r:.60}"))
            return {}
        for key in raw:
            if re.fullmatch(self.keys, key) is None:
                problems.append(((*at, key), f"{key!r:.60} cannot be a key here"))
        return {key: self.member.read(value, (*at, key), problems) for key, value in raw.items()}


class Anything(NamedTuple):
    """A mapping that is read again as what it stands for."""

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, dict):
            problems.append((at, f"a mapping is expected here, not {raw!r:.60}"))
        return raw


class Field(NamedTuple):
    """One key of a mapping."""

    type: Type
    required: bool = False
    doc: str = ""


class Shape(NamedTuple):
    """A mapping with known keys; an unknown one is a problem."""

    fields: Mapping[str, Field]

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, dict):
            told = f"a mapping is expected here, not {raw!r:.60}; known in it: {some([*self.fields], SHOWN)}"
            problems.append((at, told))
            return {}
        for key in raw:
            if key not in self.fields:
                problems.append(((*at, key), f"unknown key {key!r:.60}; known here: {some([*self.fields], SHOWN)}"))
        for key, field in self.fields.items():
            if field.required and key not in raw:
                problems.append((at, f"key {key!r} is missing"))
        return {
            key: self.fields[key].type.read(value, (*at, key), problems)
            for key, value in raw.items()
            if key in self.fields
        }


class Variant(NamedTuple):
    """A mapping whose keys follow from the word at one of them; each shape asks for its own word there."""

    key: str
    shapes: Mapping[str, Shape]

    def read(self, raw: Any, at: Path, problems: list[Problem]) -> Any:
        if not isinstance(raw, dict):
            problems.append((at, f"a mapping is expected here, not {raw!r:.60}"))
            return {}
        word = raw.get(self.key)
        if not isinstance(word, str) or word not in self.shapes:
            told = f"{word!r:.60} is not one of {', '.join(self.shapes)}" if word else f"key {self.key!r} is missing"
            problems.append(((*at, self.key), told))
            return {}
        return self.shapes[word].read(raw, at, problems)


def arranged(kind: Type | None, value: Any) -> Any:
    """Return a value with the keys of its mappings in the order of their shapes, those that no shape names last."""
    if isinstance(kind, ListOf) and isinstance(value, (list, tuple)):
        return [arranged(kind.member, member) for member in value]
    if not isinstance(kind, Shape) or not isinstance(value, dict):
        return value
    known = {key: arranged(field.type, value[key]) for key, field in kind.fields.items() if key in value}
    return known | {key: value[key] for key in value if key not in known}


LINE: Final = Text(lines=False)
TIME: Final = Pattern("a UTC time with milliseconds", STAMP.pattern)
DIGEST: Final = Pattern("the first 32 hex digits of a SHA-256", "[0-9a-f]{32}")
SHA256: Final = Pattern("a SHA-256", "[0-9a-f]{64}")
OBJECT: Final = Pattern("a git object id", "[0-9a-f]{40}|[0-9a-f]{64}")
PLACE: Final = Pattern(
    "a path inside the repository, with forward slashes", r"(?!/)(?!.*(^|/)\.\.?(/|$))[^\x00-\x1f\\]{1,4096}"
)
FOLDER: Final = Pattern("'.' or a folder inside the repository", rf"\.|{PLACE.pattern}")
SIGNATURE: Final = Pattern(
    "an armored SSH signature",
    r"-----BEGIN SSH SIGNATURE-----\n(?:[A-Za-z0-9+/=]{1,76}\n){1,200}-----END SSH SIGNATURE-----\n",
)
SLUG: Final = Pattern("a name such as open-issues", ids.SLUG)
WORD: Final = Pattern("a word of small letters", "[a-z][a-z0-9_-]{0,30}")
DURATION: Final = Pattern("a length of time such as 90m", r"0{0,8}[1-9][0-9]{0,8}\s*[smhd]")


def id_of(*kinds: str) -> Pattern:
    article = " or ".join(kinds)
    return Pattern(f"the id of {article}", f"(?:{'|'.join(kinds)})_[{ids.ALPHABET}]{{{ids.LENGTH}}}")


def ref_to(*kinds: str) -> Pattern:
    return Pattern(f"a reference to {' or '.join(kinds)}: id@digest", id_of(*kinds).pattern + "@[0-9a-f]{32}")
