"""A recipe at work on one view: what each step finds and leaves, and what its sinks would write. It writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.knowledge import recipes
from memento_git.knowledge.anchor_locations import AnchorLocations
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.recipes import Item, RecipeTooLarge
from memento_git.knowledge.transitions import CURRENT
from memento_git.knowledge.typed_times import past_moment
from memento_git.ledger import layout
from memento_git.ledger.recipebook import MOMENTS, RecipeBook
from memento_git.model import anchors
from memento_git.model.recipes import DEEPEST, SINKS, SOURCES, Recipe

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose


MOST_RUN: Final = 200
MOST_WRITTEN: Final = 100
RECALLED: Final = 20
PLAIN: Final = {"states": CURRENT, "expired": "without"}


class RecipeCircle(Refused):
    token = "recipe_circle"
    sentence = "recipe {recipe} takes notes from itself, or through more than {most} others: {way}"
    hint_ = "look at it: memento recipe show {recipe}"


class Write(NamedTuple):
    """What a sink writes: which one, its options, the notes that it is given."""

    do: str
    options: Mapping[str, Any]
    notes: tuple[str, ...]


class RecipeRun:
    """One run of a recipe; the recipes that it takes notes from run in it too.

    `steps` tells what each step left, `writes` what is to be written.
    """

    def __init__(self, view: View, *, at_commit: bool = False) -> None:
        self.view = view
        self.note_set = NoteSet(view)
        self.book = RecipeBook(view)
        self.places = AnchorLocations(self.note_set, at_commit=at_commit)
        self.steps: list[Row] = []
        self.writes: list[Write] = []
        self._items: dict[str, Item] = {}
        self._way: list[str] = []

    def run(self, name: str, given: Mapping[str, str]) -> list[Item]:
        """Run a recipe with the values of its parameters; return the notes that it finds."""
        return self._recipe(self.book.find(name), given)

    def tried(self, recipe: Recipe) -> list[Item]:
        """Run a recipe that is not saved and takes no parameters, apart from what ran before."""
        self.steps, self.writes = [], []
        return self._recipe(recipe, {})

    def notes(self) -> list[Item]:
        """Return all notes, the latest last."""
        return [self._item(note) for note in self.note_set.readable()]

    def _recipe(self, recipe: Recipe, given: Mapping[str, str]) -> list[Item]:
        if recipe.name in self._way or len(self._way) > DEEPEST:
            way = " -> ".join([*self._way, recipe.name])
            raise RecipeCircle(recipe=recipe.name, most=DEEPEST, way=way)
        values = recipes.bound(recipe, given)
        self._way.append(recipe.name)
        found: list[Item] = []
        parts: list[list[Item]] = []
        how = recipe.data.get("combine", "dedupe")
        for number, part in enumerate(recipe.data.get("parts") or (), 1):
            start = parts[-1] if parts and how == "sequential" else []
            parts.append(self._chain(recipe, part["steps"], values, start, number))
        if parts:
            found = recipes.combined(parts, how, recipe.name)
            total = len({item.id for part in (parts[-1:] if how == "sequential" else parts) for item in part})
            self._tell(recipe, 0, f"combine: {how}", total, len(found))
        found = self._chain(recipe, recipe.data.get("steps") or (), values, found, 0)
        self._way.pop()
        return found

    def _chain(
        self, recipe: Recipe, steps: Sequence[Mapping[str, Any]], values: Mapping[str, str], items: list[Item],
        part: int,
    ) -> list[Item]:  # fmt: skip
        for raw in steps:
            if len(self.steps) >= MOST_RUN:
                raise RecipeTooLarge(recipe=recipe.name, what="steps in one run", found="more", most=MOST_RUN)
            do = raw["do"]
            said = recipes.said_of(items) if do in SINKS else {}
            held = {name: recipes.filled(value, said) for name, value in values.items()}
            full = recipes.filled(raw, {**held, **said})
            step = {key: past_moment(key, one, self.view.now) if key in MOMENTS else one for key, one in full.items()}
            before = len(items)
            if do in SOURCES:
                found, more = self._found(recipe, step)
                items = recipes.once([*items, *found])
                self._tell(recipe, part, do, len(items) + more, len(items))
            elif do in SINKS:
                self._tell(recipe, part, do, before, before, skipped=self._written(recipe, step, items))
            else:
                items = self._changed(recipe, step, items)
                self._tell(recipe, part, do, before, len(items))
        return items

    def _tell(self, recipe: Recipe, part: int, do: str, before: int, after: int, skipped: str = "") -> None:
        """Keep what a step left, so that nothing goes missing without a word."""
        self.steps.append({
            "recipe": recipe.name, "part": part or None, "do": do, "notes": after,
            "left_out": max(before - after, 0), "skipped": skipped or None,
        })  # fmt: skip

    # Sources.

    def _found(self, recipe: Recipe, step: Mapping[str, Any]) -> tuple[list[Item], int]:
        """Return the notes that a source finds, and how many more there are."""
        do, wanted = step["do"], {**PLAIN, **step}
        needed = {"recall": "query", "search": "text", "spatial": "about"}.get(do, "do")
        if not str(step.get(needed, "")).strip():
            raise recipes.RecipeParameter(recipe=recipe.name, problem=f"{needed} of its step {do} comes to nothing")
        if do == "pipe":
            return self._recipe(self.book.find(step["recipe"]), step.get("with") or {}), 0
        if do == "recall":
            return self._recalled(step["query"], step.get("most", RECALLED), wanted)
        self.note_set.load()
        held = [item for item in self.notes() if recipes.passes(item, wanted)]
        if do == "search":
            held = [item for item in held if recipes.says(item, step["text"])]
        if do == "spatial":
            near = self.places.near([item.id for item in held], anchors.parse(step["about"]))
            held = [item for item in held if item.id in near]
        return held, 0

    def _recalled(self, query: str, most: int, wanted: Mapping[str, Any]) -> tuple[list[Item], int]:
        """Return what recall finds; what says the same as a hit follows it, so that steps decide about it."""
        from memento_git.knowledge.recall import search

        found = search(
            self.view, [query], limit=most,
            keep=lambda header: header.kind == "note" and (item := self._known(header.id)) is not None
            and recipes.passes(item, wanted),
        )  # fmt: skip
        items = [(self._known(header.id), hit) for header, hit in found.told()]
        return [
            item._replace(score=round(hit.score, 3), is_weak=hit.weak) for item, hit in items if item is not None
        ], found.more

    def _known(self, name: str) -> Item | None:
        """Return a note by its id; None where its file is wrong or is not there."""
        note = self.note_set.prose(name)
        return self._item(note) if note is not None else None

    def _item(self, note: Prose) -> Item:
        if note.id not in self._items:
            data = note.data
            self._items[note.id] = Item(
                note.id, data["kind"], layout.domain_of(note.path), self.note_set.status(note.id), note.title,
                note.body, data["at"], data["by"], data["origin"], data.get("key", ""), data.get("thread", ""),
                tuple(note.list("tags")), tuple(note.list("aliases")), self.note_set.confirmed(note)[0],
                data.get("importance"), data.get("confidence"), bool(data.get("pinned")),
                bool(note.list("supersedes")), self.note_set.is_expired(note),
            )  # fmt: skip
        return self._items[note.id]

    # Transforms.

    def _changed(self, recipe: Recipe, step: Mapping[str, Any], items: list[Item]) -> list[Item]:
        match step["do"]:
            case "traverse":
                return self._reached(step, items)
            case "filter":
                return self._filtered(step, items)
            case "sort":
                return recipes.ordered(items, step["by"], step.get("order", ""))
            case "limit":
                return items[: step["most"]]
        return recipes.deduped(items, step.get("by", "text"), recipe.name)

    def _filtered(self, step: Mapping[str, Any], items: list[Item]) -> list[Item]:
        held = [item for item in items if recipes.passes(item, step)]
        if step.get("under"):
            near = self.places.near([item.id for item in held], anchors.parse(step["under"]))
            held = [item for item in held if item.id in near]
        if step.get("anchors"):
            states = self.places.states([item.id for item in held])
            held = [item for item in held if states[item.id] & set(step["anchors"])]
        return held

    def _reached(self, step: Mapping[str, Any], items: list[Item]) -> list[Item]:
        """Return notes, and those that links lead to from them or to them, nearest first."""
        self.note_set.load()
        wanted = {**PLAIN, **step}
        found = {item.id: item for item in items}
        edge = [item.id for item in items]
        for _ in range(step.get("depth", 1)):
            after = [name for one in edge for name in self._beside(one, step) if name not in found]
            edge = []
            for name in dict.fromkeys(after):
                item = self._known(name)
                if item is not None and recipes.passes(item, wanted):
                    found[name] = item
                    edge.append(name)
        return list(found.values())

    def _beside(self, name: str, step: Mapping[str, Any]) -> Iterator[str]:
        rels, direction = step.get("rels") or (), step.get("direction", "both")
        if direction != "in":
            for link in self.note_set.links(self.note_set.note(name)):
                if (not rels or link.rel in rels) and link.to in self.note_set.index.prose:
                    yield self.note_set.current(link.to)
        if direction != "out":
            yield from (other for rel, other in self.note_set.backlinks(name) if not rels or rel in rels)

    # Sinks.

    def _written(self, recipe: Recipe, step: Mapping[str, Any], items: list[Item]) -> Objection:
        """Keep what a sink is to write; return why it writes nothing, if so."""
        do = step["do"]
        if len(items) > MOST_WRITTEN:
            what = f"notes that its step {do} would write about"
            raise RecipeTooLarge(recipe=recipe.name, what=what, found=len(items), most=MOST_WRITTEN)
        if len(items) < (2 if do == "compress" else 1):
            return "there are fewer than two notes to merge" if do == "compress" else "there are no notes"
        options = {key: one for key, one in step.items() if key != "do"}
        self.writes.append(Write(do, options, tuple(item.id for item in items)))
        return ""
