"""recipe: save run list show remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from memento_git.errors import Misused, Refused
from memento_git.knowledge import refusals as no
from memento_git.knowledge.actions import notes
from memento_git.knowledge.injection import instructive
from memento_git.knowledge.note_input import merged_origin
from memento_git.knowledge.note_rows import note_row
from memento_git.knowledge.note_writer import NoteWriter
from memento_git.knowledge.recipe_runs import RecipeRun, Write
from memento_git.ledger import codec, layout
from memento_git.ledger.recipebook import NoSuchRecipe, RecipeBook
from memento_git.ledger.store import Ledger, NothingToCommit
from memento_git.ledger.transaction import Transaction
from memento_git.model.recipes import BUILT_IN, NAME, Recipe
from memento_git.model.types import problem_of

if TYPE_CHECKING:
    from memento_git.knowledge.recipes import Item
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row


MADE: Final = "command"  # a recipe's texts are made by a command: nobody typed them for these notes


class RecipeExists(Refused):
    token = "recipe_exists"
    sentence = "there is a recipe {name} already, and it is another one"
    hint_ = "give this one another name, or put it in its place with --replace; see it: memento recipe show {name!q}"


class RecipeBuiltIn(Refused):
    token = "recipe_built_in"
    sentence = "{name} is a recipe that comes with the tool; it can be neither replaced nor removed"
    hint_ = "save yours under another name; take from this one with a step pipe: memento recipe show {name!q}"


class RecipeNeeded(Refused):
    token = "recipe_needed"
    sentence = "recipe {name} stays: notes are taken from it by {others}"
    hint_ = "remove first: memento recipe remove {first}; or replace it: memento recipe save {first} FILE --replace"


class RecipeInvalid(Misused):
    token = "recipe_invalid"
    sentence = "{name}: {problem}"
    hint_ = codec.OF_RECIPE


def save_recipe(tx: Transaction, name: str, text: bytes, *, replace: bool = False) -> Row:
    """Save a recipe under its name; another of that name is replaced only where that is asked."""
    writer = NoteWriter.of(tx)
    if name in BUILT_IN:
        raise RecipeBuiltIn(name=name)
    recipe = _read(name, text)
    data = codec.encode(dict(recipe.data))
    writer.text("recipe", data.decode())
    book = RecipeBook(tx.view)
    if recipe.path in tx.view.files:
        if tx.view.read(recipe.path) == data:
            raise NothingToCommit
        if not replace:
            raise RecipeExists(name=name)
    tx.put(recipe.path, data)
    tx.touch("", name)
    for finding in book.troubles(recipe.path):
        raise RecipeInvalid(name=name, problem=finding.message)
    return recipe_row(book, recipe)


def _read(name: str, text: bytes) -> Recipe:
    if problem := problem_of(NAME, name):
        raise RecipeInvalid(name=name, problem=problem)
    path = layout.recipe_path(name)
    found = codec.read_recipe(path, text)
    if isinstance(found, list):
        where = f"line {found[0].line}: " if found[0].line else ""
        raise RecipeInvalid(name=name, problem=f"{where}{found[0].message}")
    return found


def remove_recipe(tx: Transaction, name: str) -> str:
    """Remove a recipe; git keeps it."""
    NoteWriter.of(tx)
    path = layout.recipe_path(name)
    if name in BUILT_IN and path not in tx.view.files:
        raise RecipeBuiltIn(name=name)
    if not layout.recipe_of(path) or path not in tx.view.files:
        raise NoSuchRecipe(name=name)
    if needing := _needing(RecipeBook(tx.view), name):
        raise RecipeNeeded(name=name, others=", ".join(needing), first=needing[0])
    tx.put(path, None)
    tx.touch("", name)
    return name


def _needing(book: RecipeBook, name: str) -> list[str]:
    """Return the recipes that take notes from one, which would be broken without it; not those that are so already."""
    if name in BUILT_IN or not isinstance(book.read(layout.recipe_path(name)), Recipe):
        return []
    others = [one for one in map(book.read, book.paths()) if isinstance(one, Recipe) and name in one.pipes]
    return [one.name for one in others if one.name != name and not book.troubles(one.path)]


# Reading.


def list_recipes(view: View) -> list[Row]:
    """Return a row for each recipe; of a broken one what is wrong with it."""
    book = RecipeBook(view)
    rows = []
    for name in book.names():
        recipe = book.ready.get(name) or book.read(layout.recipe_path(name))
        if isinstance(recipe, Recipe):
            wrong = [one.message for one in book.troubles(recipe.path)] if recipe.path else []
            rows.append({**recipe_row(book, recipe), "problem": wrong[0] if wrong else None})
        else:
            rows.append({**dict.fromkeys(recipe_row(book, book.ready[BUILT_IN[0]])), "name": name, "built_in": False,
                         "problem": str(recipe[0])})  # fmt: skip
    return rows


def show_recipe(view: View, name: str) -> Row:
    """Return a recipe with its text."""
    book = RecipeBook(view)
    recipe = book.find(name)
    return {**recipe_row(book, recipe), "text": codec.encode(dict(recipe.data)).decode()}


def recipe_row(book: RecipeBook, recipe: Recipe) -> Row:
    """Return what a recipe is for, takes and, with those that it takes notes from, writes."""
    return {
        "name": recipe.name,
        "about": recipe.data.get("about"),
        "built_in": not recipe.path,
        "parameters": [
            {"name": one["name"], "about": one.get("about"), "default": one.get("default"),
             "optional": bool(one.get("optional") or one.get("default"))}
            for one in recipe.parameters
        ],
        "pipes": recipe.pipes,
        "writes": book.writes(recipe),
    }  # fmt: skip


# Running.


def run_recipe(
    ledger: Ledger, name: str, given: Mapping[str, str], *, at: Sequence[str] = (), apply: bool = False
) -> Row:
    """Run a recipe. Only with `apply` is anything written, all in one commit; else it is told what would be."""
    run = RecipeRun(ledger.view(at), at_commit=bool(at))
    rows = [_found_row(run, item) for item in run.run(name, given)]
    applied = False
    if apply and run.writes:

        def act(tx: Transaction) -> tuple[list[Row], bool]:
            return [_write(tx, one) for one in run.writes], bool(tx.changes)

        written, applied = ledger.change("recipe run", act)
    else:
        written = _would_write(ledger, run)
    return {"recipe": name, "notes": rows, "steps": run.steps, "writes": written, "applied": applied}


def _found_row(run: RecipeRun, item: Item) -> Row:
    row = note_row(run.note_set, run.note_set.note(item.id))
    places = run.places.rows(item.id) if run.places.followed else None
    return {**row, "score": item.score, "weak": item.is_weak, "places": places}


def _would_write(ledger: Ledger, run: RecipeRun) -> list[Row]:
    """Write everything into a transaction that is never committed: what it refuses is refused here too."""
    tx = Transaction(ledger, run.view, rehearsed=True)
    return [{**_write(tx, one), "note": None} for one in run.writes]


def _write(tx: Transaction, write: Write) -> Row:
    """Do what one sink says; return what it did, with the note that it made."""
    options = dict(write.options)
    made = {
        "do": write.do,
        "of": list(write.notes),
        **dict.fromkeys(("note", "existing", "title", "text", "rel", "to")),
    }
    if write.do == "link":
        return {**made, **_linked(tx, write.notes, options)}
    writer = NoteWriter.of(tx)
    text = options.pop("text")
    given = [writer.note_set.note(one) for one in write.notes]
    origin = merged_origin(writer, given, MADE)
    if signs := instructive(text):
        raise no.GivesOrders(origin=origin, why=", ".join(signs))
    if write.do == "compress":
        note, existing = notes.merge_notes(tx, write.notes, text, origin=origin, **options).id, False
    else:
        note, existing, *_ = notes.add_note(tx, text, sources=write.notes, origin=origin, **options)
    told = {"existing" if existing else "note": note, "title": writer.note_set.note(note).title, "text": text}
    return {**made, **told}


def _linked(tx: Transaction, given: Sequence[str], options: Mapping[str, Any]) -> Row:
    """Link each note that is not linked so yet, and is not the target itself."""
    writer = NoteWriter.of(tx)
    target = str(options["to"])
    if not target.startswith(("run_", "plan_", "task_", "evidence_")):
        target = writer.find(target).id
    fresh = [
        one for one in given
        if one != target and (options["rel"], target) not in {(link.rel, link.to) for link in
                                                              writer.note_set.links(writer.note_set.note(one))}
    ]  # fmt: skip
    for one in fresh:
        notes.link_note(tx, one, options["rel"], target, reason=options.get("reason", ""))
    return {"of": fresh, "rel": options["rel"], "to": target}
