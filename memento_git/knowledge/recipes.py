"""What the steps of a recipe do with the notes that they are given: parameters, choosing, order, combination. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memento_git.errors import Misused, Refused
from memento_git.knowledge import similarity
from memento_git.model.knowledge import under
from memento_git.model.recipes import HOLE, Recipe
from memento_git.model.types import text_problems

LONGEST_VALUE: Final = 4000
MOST_NEAR: Final = 500
RANK: Final = 60  # how little the first places of a list weigh more than those that follow
TEXT_FIRST: Final = ("title", "key")


class RecipeParameter(Misused):
    token = "recipe_parameter"
    sentence = "recipe {recipe}: {problem}"
    hint_ = "give values as NAME=VALUE; see what it takes: memento recipe show {recipe}"


class RecipeTooLarge(Refused):
    token = "recipe_too_large"
    sentence = "recipe {recipe}: {what}: {found}, at most {most} are allowed"
    hint_ = "put a limit or a filter before that step"


class Item(NamedTuple):
    """What steps know of a note."""

    id: str
    kind: str
    domain: str
    status: str
    title: str
    text: str
    at: str
    by: str
    origin: str
    key: str = ""
    thread: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    confirmed: str = ""
    importance: float | None = None
    confidence: float | None = None
    is_pinned: bool = False
    corrects: bool = False
    is_expired: bool = False
    score: float | None = None
    is_weak: bool = False

    @property
    def words(self) -> str:
        """Return all that a note says and is called by."""
        return "\n".join((self.title, self.key, *self.tags, *self.aliases, self.text))


# Parameters.


def bound(recipe: Recipe, given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each parameter; refuse what is missing, unknown or unfit."""
    known = {one["name"]: one for one in recipe.parameters}
    for name, value in given.items():
        if name not in known:
            told = f"it has no parameter {name!r:.60}; it has {', '.join(known) or 'none'}"
            raise RecipeParameter(recipe=recipe.name, problem=told)
        for problem in (*text_problems(value, lines=True), *_length(value)):
            raise RecipeParameter(recipe=recipe.name, problem=f"{name}: {problem}")
    found: dict[str, str] = {}
    for name, one in known.items():
        found[name] = given.get(name, "").strip() or one.get("default", "")
        if not found[name] and not one.get("optional"):
            told = f"{name} is missing" + (f" ({one['about']})" if one.get("about") else "")
            raise RecipeParameter(recipe=recipe.name, problem=told)
    return found


def _length(value: str) -> list[str]:
    return [f"it has {len(value)} characters, at most {LONGEST_VALUE} are taken"] if len(value) > LONGEST_VALUE else []


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Return a step, or a value of it, with its parameters put in once: what a value brings is no parameter.

    What a sink may say of its notes can stand in a value too, and is put into that first.
    An option that comes to nothing is left out.
    """
    if isinstance(value, str):
        return HOLE.sub(lambda hole: values.get(hole[1], hole[0]), value)
    if isinstance(value, dict):
        return {key: made for key, one in value.items() if (made := filled(one, values)) not in ("", [])}
    if isinstance(value, list):
        return [made for one in value if (made := filled(one, values)) != ""]
    return value


# Choosing.


def passes(item: Item, wanted: Mapping[str, Any]) -> bool:
    """Tell whether a note is one that a step asks for; what it does not ask about does not matter."""
    return (
        all(TESTS[key](item, value) for key, value in wanted.items() if key in TESTS)
        and ("expired" not in wanted or wanted["expired"] == "with" or item.is_expired == (wanted["expired"] == "only"))
    )  # fmt: skip


TESTS: Final[dict[str, Callable[[Item, Any], bool]]] = {
    "kinds": lambda item, value: item.kind in value,
    "domains": lambda item, value: item.domain in value,
    "states": lambda item, value: item.status in value,
    "tags": lambda item, value: set(value) <= set(item.tags),
    "key_prefix": lambda item, value: under(item.key, value),
    "thread": lambda item, value: item.thread == value,
    "by": lambda item, value: value.casefold() in item.by.casefold(),
    "origins": lambda item, value: item.origin in value,
    "since": lambda item, value: item.at >= value,
    "until": lambda item, value: item.at < value,
    "min_importance": lambda item, value: item.importance is not None and item.importance >= value,
    "min_confidence": lambda item, value: item.confidence is not None and item.confidence >= value,
    "pinned": lambda item, value: item.is_pinned == value,
    "corrects": lambda item, value: item.corrects == value,
}


def says(item: Item, text: str) -> bool:
    """Tell whether each word of a text stands in a note, as it is written but for case and forms of letters."""
    held = similarity.plain(item.words)
    return all(word in held for word in similarity.plain(text).split())


# Order and combination.


def ordered(items: Sequence[Item], by: str, order: str = "") -> list[Item]:
    """Return notes in an order; those that do not say come last, equal ones stay as they were."""
    values: dict[str, Callable[[Item], Any]] = {
        "created": lambda item: item.at, "confirmed": lambda item: item.confirmed or None,
        "importance": lambda item: item.importance, "confidence": lambda item: item.confidence,
        "score": lambda item: item.score, "title": lambda item: item.title.casefold(),
        "key": lambda item: item.key or None,
    }  # fmt: skip
    value = values[by]
    descending = (order or ("asc" if by in TEXT_FIRST else "desc")) == "desc"
    told = sorted((item for item in items if value(item) is not None), key=value, reverse=descending)
    return told + [item for item in items if value(item) is None]


def once(items: Iterable[Item]) -> list[Item]:
    """Return each note once, where it first stands."""
    found: dict[str, Item] = {}
    for item in items:
        found.setdefault(item.id, item)
    return list(found.values())


def deduped(items: Sequence[Item], by: str, recipe: str) -> list[Item]:
    """Return notes without those that say the same as an earlier one: its text, nearly so, or its key."""
    if by == "near":
        return _without_near(items, recipe)
    seen: set[str] = set()
    kept = []
    for item in items:
        mark = (item.key or item.id) if by == "key" else similarity.plain(item.text)
        if mark not in seen:
            kept.append(item)
        seen.add(mark)
    return kept


def _without_near(items: Sequence[Item], recipe: str) -> list[Item]:
    if len(items) > MOST_NEAR:
        raise RecipeTooLarge(recipe=recipe, what="notes to compare each with each", found=len(items), most=MOST_NEAR)
    kept: list[tuple[Item, frozenset[str], similarity.Reading]] = []
    for item in items:
        own, read = similarity.stems(item.text), similarity.reading(item.text)
        twin = any(
            similarity.share(own, other) >= similarity.NEAR and not similarity.opposed(read, before)
            for _, other, before in kept
        )
        if not twin:
            kept.append((item, own, read))
    return [item for item, _, _ in kept]


def combined(parts: Sequence[Sequence[Item]], how: str, recipe: str) -> list[Item]:
    """Return what several parts found as one list of notes, each once."""
    if how == "sequential":
        return list(parts[-1])
    together = once(item for part in parts for item in part)
    if how == "intersect":
        held = [{item.id for item in part} for part in parts]
        return [item for item in together if all(item.id in ids for ids in held)]
    if how == "ranked":
        weight: dict[str, float] = {}
        for part in parts:
            for place, item in enumerate(once(part), 1):
                weight[item.id] = weight.get(item.id, 0.0) + 1 / (RANK + place)
        return sorted(together, key=lambda item: -weight[item.id])
    return deduped(together, "text", recipe) if how == "dedupe" else together


def said_of(items: Sequence[Item]) -> dict[str, str]:
    """Return what a sink may say of the notes that it is given."""
    return {
        "count": str(len(items)),
        "titles": "\n".join(f"- {item.title}" for item in items),
        "ids": " ".join(item.id for item in items),
    }
