"""What a source says beside a text, taken as far as a note can have it; all that it cannot have is told. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from memento_git.knowledge.foreign import entries
from memento_git.model.enumeration import some
from memento_git.model.knowledge import RELATIONS, TIERS

NOTHING: Final[tuple[Any, ...]] = (None, "", [], {}, ())
YES: Final = ("true", "yes", "on")
NO: Final = ("false", "no", "off")
SHOWN: Final = 8
WITHOUT: Final = "the note comes without"


class Values:
    """The values that one entry of a source has by name; each is asked for once, and the rest is told at the end."""

    def __init__(self, held: Mapping[Any, Any]) -> None:
        self.held = {str(name): value for name, value in held.items() if value not in NOTHING}
        self.told: list[str] = []
        self._asked: set[str] = set()

    def tell(self, why: str) -> None:
        """Say that something is left out."""
        self.told.append(why)

    def lacks(self, name: str, value: Any, what: str, instead: str = WITHOUT) -> None:
        """Say that what a name says cannot be had, and what is there instead."""
        self.tell(f"its {name} {value!r:.60} is {what}: {instead}")

    def without(self, name: str, one: Any, what: str) -> None:
        """Say that one of what a name lists cannot be had."""
        self.tell(f"of its {name}, {one!r:.60} {what}: {WITHOUT}")

    def first(self, *names: str) -> tuple[str, Any]:
        """Return the first of some names that says something, and what it says."""
        name = next((one for one in names if one in self.held), "")
        self._asked.add(name)
        return name, self.held.get(name)

    def _taken(self, names: Sequence[str], read: Callable[[Any], str], what: str, instead: str = WITHOUT) -> str:
        """Return what is read of the first of some names that says something; say where nothing can be."""
        name, value = self.first(*names)
        taken = read(value)
        if value is not None and not taken:
            self.lacks(name, value, what, instead)
        return taken

    def share(self, name: str) -> str:
        return self._taken([name], entries.share, "no number from 0 to 1")

    def moment(self, *names: str) -> str:
        return self._taken(names, entries.moment, "no time")

    def key(self, *names: str) -> str:
        return self._taken(names, entries.key, "not valid here")

    def kind(self, *names: str) -> str:
        return self._taken(names, entries.kind, "unknown here", "it comes in as a fact") or "fact"

    def domain(self, *names: str) -> str:
        return self._taken(names, entries.domain, "unknown here", "that follows from its kind")

    def tier(self, name: str) -> str:
        return self._taken([name], lambda value: value if value in TIERS else "", f"not one of {', '.join(TIERS)}")

    def flag(self, name: str) -> bool:
        return self._taken([name], _truth, "neither true nor false") in YES

    def members(self, name: str) -> list[Any]:
        """Return what a name lists, be it one alone; nothing where it says nothing."""
        _, value = self.first(name)
        return value if isinstance(value, list) else [value] * (value is not None)

    def line(self, *names: str) -> str:
        """Return a text on one line; say where it had to be cut."""
        name, value = self.first(*names)
        told = entries.one_line(str(value if value is not None else ""))
        if told != " ".join(str(value if value is not None else "").split()):
            self.tell(f"its {name} is cut: {told}")
        return told

    def words(self, name: str) -> tuple[str, ...]:
        for odd in (one for one in self.members(name) if isinstance(one, (dict, list))):
            self.without(name, odd, "is no word")
        value = self.held.get(name)
        return () if isinstance(value, dict) else entries.words(value)

    def places(self, name: str) -> tuple[str, ...]:
        members = self.members(name)
        for one in members:
            if not entries.places(one):
                self.without(name, one, "names no place in the code")
        return entries.places(members)

    def links(self, name: str, end: str) -> tuple[tuple[str, str], ...]:
        """Return relation and name of each link; `end` is what leads to the other."""
        found = []
        for one in self.members(name):
            if not isinstance(one, dict) or not one.get(end):
                self.without(name, one, "leads nowhere")
                continue
            rel = entries.relation(one.get("rel"))
            if str(one.get("rel") or "").strip().lower().replace("-", "_").replace(" ", "_") not in (*RELATIONS, ""):
                self.tell(f"of its {name}, {one['rel']!r:.60} is no relation here: it comes in as {rel}")
            found.append((rel, str(one[end])))
        return tuple(dict.fromkeys(found))

    def rest(self, *known: str) -> None:
        """Tell what nobody asked for, without some names that are known to say nothing of their own."""
        if left := [name for name in self.held if name not in self._asked and name not in known]:
            self.tell(f"what it says of {_named(left)} stays out: a note has nothing of that name")


def _truth(value: Any) -> str:
    """Return a word for true or false; nothing for any other."""
    word = str(value).lower()
    return word if word in (*YES, *NO) else ""


def _named(names: Sequence[str]) -> str:
    return some([entries.one_line(one, 40) for one in names], SHOWN)
