"""A recipe: a saved query over notes, as its file says it: parameters, parts, how they are combined, steps. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memento_git.model import types as t
from memento_git.model.anchors import STATES
from memento_git.model.knowledge import NOTE_KINDS, ORIGINS, RELATIONS, STATUSES
from memento_git.model.types import LINE, Field, Path, Problem, Shape

LARGEST: Final = 64 * 1024
MOST_STEPS: Final = 30
MOST_PARTS: Final = 10
MOST_PARAMETERS: Final = 10
DEEPEST: Final = 5

NAME: Final = t.SLUG
PARAMETER: Final = t.Pattern("a name such as topic", "[a-z][a-z0-9_]{0,30}")
HOLE: Final = re.compile(rf"\{{({PARAMETER.pattern})\}}")
BUILT_IN: Final = ("drift-check", "file-context", "issue-cluster", "session-orient")
FOUND: Final = ("count", "titles", "ids")  # what a sink may say of the notes that it is given

SOURCES: Final = ("recall", "search", "active", "spatial", "pipe")
SINKS: Final = ("compress", "claim", "link")
COMBINE: Final = ("dedupe", "union", "intersect", "ranked", "sequential")
SORTS: Final = ("created", "confirmed", "importance", "confidence", "score", "title", "key")

LONG: Final = t.Text()
TEXTS: Final = t.ListOf(LINE, most=20)
COUNT: Final = t.Whole(1, most=1000)

CHOOSING: Final = {
    "kinds": Field(t.ListOf(t.Choice(NOTE_KINDS)), doc="of one of these kinds"),
    "domains": Field(TEXTS, doc="in one of these domains"),
    "states": Field(t.ListOf(t.Choice(STATUSES)), doc="in one of these; a source: active and contested by default"),
    "expired": Field(t.Choice(("without", "only", "with")), doc="a source leaves expired ones out by default"),
    "tags": Field(TEXTS, doc="with all of these tags"),
    "key_prefix": Field(LINE, doc="whose key is this or lies below it"),
    "thread": Field(LINE, doc="of this thread"),
    "by": Field(LINE, doc="by whom, or a part of the name"),
    "origins": Field(t.ListOf(t.Choice(ORIGINS)), doc="of one of these origins"),
    "since": Field(LINE, doc="made at or after this date or time, or since so long ago, such as 30d"),
    "until": Field(LINE, doc="made before this date or time, or before so long ago"),
    "min_importance": Field(t.Share(), doc="that are at least so important; one that does not say is not"),
    "min_confidence": Field(t.Share(), doc="that are at least so sure; one that does not say is not"),
    "pinned": Field(t.Flag(), doc="that are pinned, or are not"),
    "corrects": Field(t.Flag(), doc="that supersede another, or do not"),
}  # fmt: skip
OWN: Final[dict[str, dict[str, Field]]] = {
    "recall": {
        "query": Field(LINE, required=True, doc="what is asked, as of memento recall"),
        "most": Field(COUNT, doc="how many at most; 20 where it is absent"),
        **CHOOSING,
    },
    "search": {
        "text": Field(LINE, required=True, doc="each of its words stands in title, key, tags, aliases or text"),
        **CHOOSING,
    },
    "active": CHOOSING,
    "spatial": {"about": Field(LINE, required=True, doc="PATH, PATH:12-40, PATH::symbol, dep:NAME"), **CHOOSING},
    "pipe": {
        "recipe": Field(NAME, required=True, doc="another recipe, whose notes these are"),
        "with": Field(t.Table(LONG, PARAMETER.pattern), doc="values of its parameters"),
    },
    "traverse": {
        "rels": Field(t.ListOf(t.Choice(RELATIONS)), doc="along these links; all where it is absent"),
        "direction": Field(t.Choice(("both", "out", "in")), doc="both where it is absent"),
        "depth": Field(t.Whole(1, most=DEEPEST), doc="how many links far; 1 where it is absent"),
        **CHOOSING,
    },
    "filter": {
        **CHOOSING,
        "anchors": Field(t.ListOf(t.Choice(STATES)), doc="with a place in the code that is in one of these states"),
        "under": Field(LINE, doc="about this file or folder, or something in it"),
    },
    "sort": {
        "by": Field(t.Choice(SORTS), required=True),
        "order": Field(t.Choice(("desc", "asc")), doc="where it is absent: asc for title and key, otherwise desc"),
    },
    "limit": {"most": Field(COUNT, required=True)},
    "dedupe": {
        "by": Field(t.Choice(("text", "near", "key")), doc="text where it is absent; near never joins opposites")
    },
    "compress": {
        "text": Field(LONG, required=True, doc="the note that takes their place"),
        "title": Field(LINE),
        "kind": Field(t.Choice(NOTE_KINDS), doc="summary where it is absent"),
        "domain": Field(LINE, doc="theirs where it is absent"),
        "key": Field(LINE),
        "reason": Field(LINE),
    },
    "claim": {
        "text": Field(LONG, required=True, doc="a new note, whose sources they are"),
        "title": Field(LINE),
        "kind": Field(t.Choice(NOTE_KINDS), doc="fact where it is absent"),
        "domain": Field(LINE),
        "key": Field(LINE),
        "tags": Field(TEXTS),
        "thread": Field(LINE),
    },
    "link": {
        "rel": Field(t.Choice(RELATIONS), required=True),
        "to": Field(LINE, required=True, doc="a note by id or key, a run, a plan, a task, evidence"),
        "reason": Field(LINE),
    },
}
STEP_SHAPES: Final = {
    word: Shape({"do": Field(t.Choice((word,)), required=True), **fields}) for word, fields in OWN.items()
}
STEPS: Final = t.ListOf(t.Variant("do", STEP_SHAPES), least=1, most=MOST_STEPS)
RECIPE: Final = Shape({
    "name": Field(NAME, required=True, doc="the file's name; there is no other identity"),
    "about": Field(LINE, doc="what it is for"),
    "parameters": Field(t.ListOf(Shape({
        "name": Field(PARAMETER, required=True, doc="stands as {name} in texts of steps"),
        "about": Field(LINE, doc="what to give"),
        "default": Field(LONG, doc="where nothing is given"),
        "optional": Field(t.Flag(), doc="may be left out; what it alone fills is then left out too"),
    }), most=MOST_PARAMETERS)),
    "parts": Field(t.ListOf(Shape({"steps": Field(STEPS, required=True)}), least=1, most=MOST_PARTS),
                   doc="found apart, then combined"),
    "combine": Field(t.Choice(COMBINE), doc="how parts are combined; dedupe where it is absent"),
    "steps": Field(STEPS, doc="what is done one after the other, with what the parts found"),
})  # fmt: skip


class Recipe(NamedTuple):
    """A recipe as its file tells it; one that comes with the tool has no path."""

    name: str
    data: Mapping[str, Any]
    path: str

    @property
    def parameters(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.data.get("parameters") or ()
        return found

    @property
    def chains(self) -> list[tuple[Path, Sequence[Mapping[str, Any]]]]:
        """Return each list of steps, those of the parts first, with where it stands in the file."""
        return list(chains(self.data))

    @property
    def pipes(self) -> list[str]:
        """Return the names of the recipes that it takes notes from."""
        return [step["recipe"] for _, steps in self.chains for step in steps if step["do"] == "pipe"]

    @property
    def writes(self) -> list[str]:
        """Return the sinks of its own steps: what it writes with --apply."""
        return [step["do"] for _, steps in self.chains for step in steps if step["do"] in SINKS]


def chains(data: Mapping[str, Any]) -> Iterator[tuple[Path, Sequence[Mapping[str, Any]]]]:
    """Yield each list of steps and where it stands."""
    for number, part in enumerate(data.get("parts") or ()):
        yield ("parts", number, "steps"), part.get("steps") or ()
    if data.get("steps"):
        yield ("steps",), data["steps"]


def faults(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with a recipe whose keys and values are right each for itself."""
    names = [one["name"] for one in data.get("parameters") or ()]
    for number, name in enumerate(names):
        if name in names[:number] or name in FOUND:
            yield ("parameters", number, "name"), f"{name!r} has another meaning here already"
    held, goes_on = list(chains(data)), data.get("combine") == "sequential"
    if not held:
        yield (), "it has neither parts nor steps"
    if data.get("combine") and not data.get("parts"):
        yield ("combine",), "there are no parts to combine"
    total = sum(len(steps) for _, steps in held)
    if total > MOST_STEPS:
        yield (), f"it has {total} steps, at most {MOST_STEPS} are allowed"
    for at, steps in held:
        empty = at == ("parts", 0, "steps") or not data.get("parts") or (at != ("steps",) and not goes_on)
        if empty and steps and steps[0]["do"] not in SOURCES:
            yield (*at, 0, "do"), f"{steps[0]['do']} has nothing to work on: begin with {', '.join(SOURCES)}"
        for number, step in enumerate(steps):
            yield from (((*at, number, key), told) for key, told in _unknown(step, names))


def _unknown(step: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of a step in which a name stands that is no parameter."""
    known = {*names, *(FOUND if step["do"] in SINKS else ())}
    for key, value in step.items():
        for name in holes(value):
            if name not in known:
                yield key, f"{{{name}}} is no parameter of this recipe"


def holes(value: Any) -> list[str]:
    """Return the names of the parameters in a value."""
    if isinstance(value, str):
        return HOLE.findall(value)
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [name for member in members for name in holes(member)]
