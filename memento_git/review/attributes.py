"""Lines of `.gitattributes` by which git hides changes of ledger files from review, or changes their bytes. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from memento_git.ledger import layout
from memento_git.model.events import actions
from memento_git.model.ids import ALPHABET, LENGTH, verb_of
from memento_git.model.patterns import matches, names

# What the ledger's paths look like: `#` is a letter of an id or a digit, `~` a name that somebody chose.
ID: Final = "#" * LENGTH
HAPPENED: Final = tuple(f"########T#########Z-{do}-{ID}.yaml" for do in {verb_of(one) for one in actions()})
TASK: Final = f"runs/run_{ID}/tasks/#/task_{ID}"
PLAN: Final = f"runs/run_{ID}/plans/plan_{ID}"
EVIDENCE: Final = f"runs/run_{ID}/evidence/#/evidence_{ID}"
NOTE: Final = f"knowledge/~/#/note_{ID}"
SHAPES: Final = (
    "config.yaml", "recipes/~.yaml", f"runs/run_{ID}/run.md", f"{PLAN}/plan.md", f"{TASK}/task.md", f"{EVIDENCE}.yaml",
    f"{NOTE}.md", "skills/~/SKILL.md", "skills/~/~/~", "skills/~/~/~.~",
    *(f"{EVIDENCE}/{name}" for name in ("stdout.txt", "stderr.txt", "~.~")),
    *(f"{owner}/{name}" for owner in (f"runs/run_{ID}", PLAN, TASK, EVIDENCE, NOTE) for name in HAPPENED),
)  # fmt: skip
WRITTEN: Final = tuple(shape for shape in SHAPES if shape.endswith(".md") or shape in ("config.yaml", "recipes/~.yaml"))
CHOSEN: Final = "decisions"
MACRO: Final = "[attr]"
BINARY: Final = ("-diff", "-merge", "-text")
LEAVING_OUT: Final = "export-ignore"
DRIVERS: Final = (
    "ada", "bash", "bibtex", "cpp", "csharp", "css", "dts", "elixir", "fortran", "fountain", "golang", "html", "java",
    "kotlin", "markdown", "matlab", "objc", "pascal", "perl", "php", "python", "ruby", "rust", "scheme", "tex",
)  # fmt: skip
FOLDED: Final = ("linguist-generated", "gitlab-generated")  # by these a service folds a file up in its view of a diff
HARMLESS: Final = {
    "diff": ("diff", "!diff", *(f"diff={name}" for name in DRIVERS)),  # git's own: they name what a hunk is in
    "merge": ("merge", "!merge", "merge=text"),
    **{name: (f"-{name}", f"!{name}") for name in ("filter", "ident", LEAVING_OUT, "working-tree-encoding")},
    "eol": ("eol=lf", "-eol", "!eol"),
    **{name: (f"-{name}", f"!{name}", f"{name}=false") for name in FOLDED},
}
ALL: Final = frozenset(map(chr, range(32, 127)))
OF_SHAPES: Final = {"#": frozenset(ALPHABET), "~": frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")}
GLOB: Final = re.compile(r"\\(.)|(\*+)|(\?)|\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|(.)", re.DOTALL)
RANGE: Final = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)
BLANKS: Final = " \t\r\n"
BACKSLASH: Final = "\\"
NOTHING: Final = "\0"  # what no name holds
WORD: Final = re.compile(f"[^{BLANKS}]+")
QUOTED: Final = re.compile(r'"((?:\\.|[^"\\])*)"(.*)')


class Letter(NamedTuple):
    """What may stand at one place of a name, or at many places in a row."""

    any_of: frozenset[str]
    is_many: bool = False


def worse(before: Mapping[str, bytes], after: Mapping[str, bytes], keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield, as a folder and words, what files do to the ledger, or to files of keys, that they did not do before.

    Both are folder -> bytes, with '' for the top, whose macros count everywhere.
    """
    known, now = harmful(before, keys), harmful(after, keys)
    for folder, data in after.items():
        yield from ((folder, f"it has {line!r} now") for line in now[folder] if line not in known[folder])
        if folder == layout.FOLDER:
            there = {"", *_lines(data.partition(b"\0")[0])}  # where git reads a commit, it ends at NUL
            lost = [line for line in _lines(before[folder]) if line not in there]
            kept = [line for line in lost if not any(word in line for word in FOLDED)]
            yield from ((folder, f"{line!r} is gone") for line in kept)


def harmful(texts: Mapping[str, bytes], keys: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return for each folder the lines of its file that have git hide or change ledger files, or files of keys."""
    macros: dict[str, Sequence[str]] = {"binary": BINARY}
    lines = [(folder, line, *_split(line)) for folder, data in texts.items() for line in _lines(data)]
    for _, _, pattern, words in lines:
        if pattern.startswith(MACRO):
            macro = "".join(WORD.findall(pattern.removeprefix(MACRO))[:1])  # a quoted one may have blanks around it
            macros[macro] = (*macros.get(macro, ()), *words)
    found: dict[str, list[str]] = {folder: [] for folder in texts}
    for folder, line, pattern, words in lines:
        harms = {harm for word in words for harm in _harms(word, macros)}
        if harms and pattern and not pattern.startswith(MACRO) and _touches(pattern, folder, harms, keys):
            found[folder].append(line)
    return found


def _lines(data: bytes) -> list[str]:
    """Return the lines of a file as git cuts them: LF alone ends one, and what comes after NUL is no part of it."""
    return [line.partition("\0")[0].strip(BLANKS) for line in data.decode("utf-8-sig", "replace").split("\n")]


def _split(line: str) -> tuple[str, list[str]]:
    """Return the pattern of a line and its attributes; nothing for a comment."""
    if line.startswith("#"):
        return "", []
    if (quoted := QUOTED.fullmatch(line)) is not None:
        return quoted[1].encode().decode("unicode_escape", "replace"), WORD.findall(quoted[2])
    pattern, *words = WORD.findall(line) or [""]
    return pattern, words


def _touches(pattern: str, folder: str, harms: Collection[str], keys: Sequence[str]) -> bool:
    """Tell whether a pattern may name a file of the ledger, or of keys; of `export-ignore` also a folder.

    What only folds files up may do so with events and evidence, and with no file that people write.
    A name that somebody chose may be any where the pattern says in which folder; else it is most likely of the code.
    """
    pattern = "".join(_whole(*parts) for parts in GLOB.findall(pattern))
    anchored = "/" in pattern.rstrip("/")
    asked = pattern.lstrip("/") if anchored else f"**/{pattern}"
    shapes = [f"{layout.FOLDER}/{shape}" for shape in (WRITTEN if {*harms} <= {*FOLDED} else SHAPES)]
    if asked.startswith("**"):
        shapes = [shape.replace("~", CHOSEN) for shape in shapes]
    own = [inside for path in (*shapes, *keys) if (inside := _inside(folder, path))]
    if any(names(asked, path, _may_be) for path in own):
        return True
    samples = (path.replace("#", "0").replace("~", CHOSEN) for path in own)
    return LEAVING_OUT in harms and any(matches(asked, path) for path in samples)


def _inside(folder: str, path: str) -> str:
    """Return what is left of a path in a folder, which one of many runs may be; nothing where it lies elsewhere."""
    wanted, parts = [*filter(None, folder.split("/"))], path.split("/")
    is_there = all(map(_may_be, parts, wanted))
    return "/".join(parts[len(wanted) :]) if is_there else ""


def _whole(escaped: str, stars: str, one: str, negated: str, members: str, plain: str) -> str:
    """Return a piece of a pattern so that a slash in it parts folders and nothing else; no class takes one."""
    if members and "/" in members:
        letters = sorted(_members(members, is_negated=bool(negated)) - {"/"})
        return f"[{''.join(f'{BACKSLASH}{letter}' for letter in letters)}]" if letters else NOTHING
    kept = f"[{negated}{members}]" if members else f"{BACKSLASH}{escaped}" if escaped not in ("", "/") else escaped
    return kept or stars or one or plain


@cache
def _may_be(shape: str, wanted: str) -> bool:
    """Tell whether some name of a shape fits what is wanted."""
    own, asked = _of_shape(shape), _of_glob(wanted)
    places, seen = [(0, 0)], set[tuple[int, int]]()
    while places:
        here, there = place = places.pop()
        if place == (len(own), len(asked)):
            return True
        if place in seen:
            continue
        seen.add(place)
        mine, its = own[here : here + 1], asked[there : there + 1]
        places += [(here + 1, there) for one in mine if one.is_many] + [(here, there + 1) for one in its if one.is_many]
        both = [(one, other) for one in mine for other in its if one.any_of & other.any_of]
        places += [(here + (not one.is_many), there + (not other.is_many)) for one, other in both]
    return False


def _of_shape(shape: str) -> list[Letter]:
    return [Letter(OF_SHAPES.get(letter, frozenset(letter)), letter == "~") for letter in shape]


def _of_glob(wanted: str) -> list[Letter]:
    """Return what a part of a pattern takes at each place, as git reads it."""
    found = []
    for escaped, stars, one, negated, members, plain in GLOB.findall(wanted):
        if stars or one:
            found.append(Letter(ALL, bool(stars)))
        elif members:
            found.append(Letter(_members(members, is_negated=bool(negated))))
        else:
            found.append(Letter(frozenset(escaped or plain)))
    return found


def _members(members: str, *, is_negated: bool) -> frozenset[str]:
    """Return the letters of a class; all of them where it names some in words."""
    if "[:" in members:
        return ALL
    ranges = [(ord(first), ord(last or first)) for first, last in RANGE.findall(members)]
    named = {letter for letter in ALL if any(first <= ord(letter) <= last for first, last in ranges)}
    return ALL - named if is_negated else frozenset(named)


def _harms(word: str, macros: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the attributes by which a word does harm, also by way of macros."""
    if word in macros:
        others = {name: words for name, words in macros.items() if name != word}
        return {harm for inner in macros[word] for harm in _harms(inner, others)}
    name = word.lstrip("-!").partition("=")[0]
    return {name} if name in HARMLESS and word not in HARMLESS[name] else set()
