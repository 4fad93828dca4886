"""recipe learn: a recipe that finds the notes of a thread again and their like, chosen by trying a few."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Refused
from memento_git.knowledge import index_refresh, learning, recipes
from memento_git.knowledge.actions.recipes import RecipeInvalid, save_recipe
from memento_git.knowledge.actions.threads import NoSuchThread, near
from memento_git.knowledge.learning import Data, Known, Score
from memento_git.knowledge.recipe_runs import RecipeRun
from memento_git.knowledge.transitions import CURRENT, LIVING
from memento_git.knowledge.usage import folders
from memento_git.knowledge.words import fold
from memento_git.ledger import codec
from memento_git.model.anchors import Anchor
from memento_git.model.recipes import NAME, Recipe
from memento_git.model.types import problem_of

if TYPE_CHECKING:
    from memento_git.knowledge.recipes import Item
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row


LEAST: Final = 2
LONGEST_NAME: Final = 60
MOST_WORDS: Final = 12
MOST_PLACES: Final = 12
COMMON: Final = 4
FEWEST_COMMON: Final = 20


class ThreadTooShort(Refused):
    token = "thread_too_short"
    sentence = "nothing can be learnt from fewer than two notes that hold; the thread {thread!r} has {live}"
    hint_ = "write more of it first: memento remember TEXT --thread {thread!q}"


class NothingInCommon(Refused):
    token = "nothing_in_common"
    sentence = "no recipe finds two of the {notes} notes of the thread {thread!r} again: they share too little"
    hint_ = "give them a tag or keys in common: memento note revise NOTE --tag TAG; or ask for the thread itself"


class RecipeUnnamed(Refused):
    token = "recipe_unnamed"
    sentence = "{thread!r} cannot be made into a recipe's name"
    hint_ = "give it one: --name NAME"


def save_learnt(tx: Transaction, thread: str, name: str = "", *, replace: bool = False) -> Row:
    """Save what is learnt from a thread; a recipe of that name is replaced only where that is asked."""
    learnt = learn_recipe(tx.view, thread, name)
    save_recipe(tx, learnt["name"], learnt["text"].encode(), replace=replace)
    return learnt


def learn_recipe(view: View, thread: str, name: str = "") -> Row:
    """Return the recipe that finds a thread's notes best of those that were tried, and how it did; write nothing.

    Of equally good ones the simplest wins. None names a note or the thread, so that it finds their like too.
    """
    name = _named(thread, name)
    run = RecipeRun(view)
    run.note_set.load()
    known, written = _known(run, thread)
    tried = [_tried(run, known, _recipe(name, thread, data)) for data in learning.drafts(known, written)]
    good = [one for one in tried if one.score.found >= LEAST]
    if not good:
        raise NothingInCommon(thread=thread, notes=len(known.wanted))
    best = max(good, key=lambda one: (round(one.score.f1, 3), -learning.size(one.data)))
    return {
        "name": name, "thread": thread, "text": codec.encode(best.data).decode(), "notes": len(known.wanted),
        **_counts(best.score),
        "missed": sorted(known.wanted.difference(best.found)),
        "also": [one for one in best.found if one not in known.wanted],
        "tried": [
            {"size": learning.size(one.data), **_counts(one.score), "steps": learning.steps_of(one.data)}
            for one in tried
        ],
    }  # fmt: skip


def _recipe(name: str, thread: str, data: Data) -> Data:
    about = " ".join(f"Notes like those of the thread {thread}".split())
    return {"name": name, "about": about, **data}


def _named(thread: str, given: str) -> str:
    """Return the name that is given, or the one that a thread's name makes."""
    name = given or re.sub(r"[^a-z0-9]+", "-", fold(thread)).strip("-")[:LONGEST_NAME].strip("-")
    problem = problem_of(NAME, name)
    if problem and given:
        raise RecipeInvalid(name=given, problem=problem)
    if problem:
        raise RecipeUnnamed(thread=thread)
    return name


class _Tried(NamedTuple):
    """A draft of a recipe, what it found, and how that fits."""

    data: Data
    found: list[str]
    score: Score


def _tried(run: RecipeRun, known: Known, data: Data) -> _Tried:
    """Run a draft as it would be run once it is saved."""
    recipe = codec.read_recipe("", codec.encode(data))
    found = [item.id for item in run.tried(recipe)] if isinstance(recipe, Recipe) else []
    return _Tried(data, found, learning.score(found, known.wanted))


def _counts(one: Score) -> Row:
    return {"found": one.found, "others": one.others, "f1": round(one.f1, 3)}


# What is known of the notes.


def _known(run: RecipeRun, thread: str) -> tuple[Known, dict[str, str]]:
    """Return the notes to choose among, and the telling words of a thread's notes as these write them."""
    every = run.notes()
    ours = [item for item in every if thread and item.thread == thread]
    if not ours:
        raise NoSuchThread(thread=thread, near=near(thread, {item.thread for item in every if item.thread}))
    live = [item for item in ours if item.status in LIVING]
    if len(live) < LEAST:
        raise ThreadTooShort(thread=thread, live=len(live))
    states = {*CURRENT, *(item.status for item in live)}
    expired = any(item.is_expired for item in live)
    items = {
        item.id: item for item in every if item.status in states and (expired or not item.is_expired)
    }  # fmt: skip
    wanted = frozenset(item.id for item in live)
    having, written = _words(run, items, live)
    known = Known(items, wanted, _places(run, items, live), having, _relations(run, wanted))
    order = sorted(written, key=lambda word: (-learning.score(having[written[word]], wanted).f1, word))
    return known, {word: written[word] for word in order}


def _words(
    run: RecipeRun, items: Mapping[str, Item], live: Sequence[Item]
) -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """Return written word -> notes in which it stands, and word of the index -> how it is written.

    Only words are told of that most notes of the whole ledger do not have.
    """
    written = learning.shared_words([item.words for item in live])
    with index_refresh.gathered(run.view) as corpus:
        rare = {word: len(corpus.postings(word)) for word in written}
    most = max(FEWEST_COMMON, COMMON * len(live))
    telling = sorted((word for word in written if rare[word] <= most), key=lambda word: (rare[word], word))
    kept = {word: written[word] for word in telling[:MOST_WORDS]}
    return {
        text: frozenset(item.id for item in items.values() if recipes.says(item, text)) for text in kept.values()
    }, kept  # fmt: skip


def _places(run: RecipeRun, items: Mapping[str, Item], live: Sequence[Item]) -> dict[str, frozenset[str]]:
    """Return file or folder -> notes about it or something in it, of those that several of the thread are about."""
    held: dict[str, set[str]] = {}
    for found in run.places.of(item.id for item in live).values():
        for one in found:
            for place in (one.path, *folders(one.path)) if one.anchor.is_place and one.path else ():
                held.setdefault(place, set()).add(one.note)
    shared = [path for path, notes in held.items() if len(notes) >= LEAST]
    names = list(items) if shared else []
    return {path: frozenset(run.places.near(names, Anchor(path))) for path in sorted(shared)[:MOST_PLACES]}


def _relations(run: RecipeRun, wanted: frozenset[str]) -> list[str]:
    """Return by which relations the notes of a thread are linked with each other."""
    note_set = run.note_set
    return sorted({
        link.rel for name in wanted for link in note_set.links(note_set.note(name))
        if note_set.path(link.to) and note_set.current(link.to) in wanted
    })  # fmt: skip
