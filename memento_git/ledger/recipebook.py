"""The recipes at one view: those of the tool and those of the ledger, each by its name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from memento_git.errors import Refused
from memento_git.ledger import codec, layout, policyfile
from memento_git.ledger.view import LedgerUnreadable, View
from memento_git.model.clock import instant, is_duration
from memento_git.model.finding import AWAY, FETCHING, Finding
from memento_git.model.ready_recipes import ready
from memento_git.model.recipes import BUILT_IN, Recipe, holes

MOMENTS: Final = ("since", "until")


class NoSuchRecipe(Refused):
    token = "recipe_not_found"
    sentence = "there is no recipe {name!r}"
    hint_ = "see those that are there: memento recipe list"


class RecipeBook:
    """All recipes of a view; a broken one is a finding, and stops only who asks for it."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.ready = ready()
        self.read = cache(self._read)

    def names(self) -> list[str]:
        """Return the names of all recipes; one of the ledger that bears a name of the tool's is not among them."""
        saved = {name for path in self.paths() if (name := layout.recipe_of(path))}
        return sorted({*self.ready, *saved})

    def paths(self) -> list[str]:
        """Return the files that hold a recipe."""
        return sorted(path for path in self.view.files if layout.recipe_of(path))

    def find(self, name: str) -> Recipe:
        """Return a recipe; the tool's own come first, whatever a file says."""
        if name in self.ready:
            return self.ready[name]
        path = layout.recipe_path(name)
        if path not in self.view.files or not layout.recipe_of(path):
            raise NoSuchRecipe(name=name)
        found = self.read(path)
        if isinstance(found, Recipe):
            return found
        raise LedgerUnreadable(finding=found[0])

    def _read(self, path: str) -> Recipe | list[Finding]:
        """Return the recipe in a file, or what is wrong with it."""
        data = self.view.read(path)
        if data is None:
            return [Finding("F001", path, 0, AWAY, FETCHING)]
        return codec.read_recipe(path, data)

    def troubles(self, path: str) -> list[Finding]:
        """Return what is wrong with a file that holds a recipe, and with where it leads."""
        found = self.read(path)
        if isinstance(found, list):
            return found
        told = [*self._unfit(found)]
        if found.name in BUILT_IN:
            told.append(f"{found.name} is a recipe of the tool's, which is run in its place")
        for other in dict.fromkeys(found.pipes):
            if other not in self.names():
                told.append(f"it takes notes from the recipe {other}, which is not there")
            elif other == found.name or found.name in self.reached(other):
                told.append(f"it takes notes from the recipe {other}, which takes them from it")
        fix = f"memento recipe remove {found.name}"
        if found.name not in BUILT_IN:
            fix = f"memento recipe save {found.name} FILE --replace"
        return [Finding("Q001", path, 0, message, fix) for message in told]

    def _unfit(self, recipe: Recipe) -> Iterator[str]:
        """Yield which values no run could take: of those that hold no parameter, moments and domains."""
        domains = policyfile.ruling(self.view)[0].domains
        for step in (step for _, steps in recipe.chains for step in steps):
            told = {key: str(step[key]) for key in MOMENTS if key in step}
            wrong = [f"{key}: {one!r}" for key, one in told.items() if _no_time(one)]
            yield from (f"{one} is no date, time or length of time" for one in wrong)
            named = [*step.get("domains", ()), *([step["domain"]] if "domain" in step else [])]
            unknown = [one for one in named if one not in domains and not holes(one)]
            yield from (f"{one!r} is no domain of notes; there are {', '.join(domains)}" for one in unknown)

    def writes(self, recipe: Recipe) -> list[str]:
        """Return what a recipe writes with --apply, through others too."""
        others = (self._plain(name) for name in sorted(self.reached(recipe.name) - {recipe.name}))
        found = [*recipe.writes, *(do for other in others if other is not None for do in other.writes)]
        return list(dict.fromkeys(found))

    def reached(self, name: str) -> set[str]:
        """Return the names of all recipes that one takes notes from, itself and through others."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            recipe = self._plain(waiting.pop())
            fresh = {one for one in (recipe.pipes if recipe else ()) if one not in seen}
            seen |= fresh
            waiting += fresh
        return seen

    def _plain(self, name: str) -> Recipe | None:
        try:
            return self.find(name)
        except (NoSuchRecipe, LedgerUnreadable):
            return None


def _no_time(text: str) -> bool:
    """Tell whether a value without parameters names no moment."""
    if holes(text) or is_duration(text):
        return False
    try:
        instant(text.strip())
    except ValueError:
        return True
    return False
