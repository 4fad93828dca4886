"""Finding what the ledger says about a question, at the commit of a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.knowledge.documents import documents_of
from memento_git.knowledge.ranking import rank
from memento_git.knowledge.repeats import are_alike
from memento_git.ledger.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memento_git.knowledge.cards import Card
    from memento_git.knowledge.ranking import Asked, Found, Part, Ranked
    from memento_git.ledger.store import Ledger

    Progress = Callable[[int, int], None] | None

COMPARED: Final = 20


class Hit(NamedTuple):
    """A document that answers: how well, by which words, to which of the questions, and which others say the same."""

    card: Card
    score: float
    words: tuple[str, ...]
    query: int
    parts: tuple[Part, ...] = ()
    alike: tuple[Card, ...] = ()

    @property
    def id(self) -> str:
        return self.card.id

    @property
    def path(self) -> str:
        return self.card.path


class Hits(NamedTuple):
    """What was found, best first; how many more there are; the questions as they were understood."""

    hits: list[Hit]
    more: int
    asked: list[Asked]
    behind: int  # files in which the index was behind and memory stood in for it


def search(
    source: Ledger | View, queries: Sequence[str], *, limit: int = 10, keep: Callable[[Card], bool] | None = None,
    files: Iterable[str] = (), explain: bool = False, progress: Progress = None,
) -> Hits:  # fmt: skip
    """Return what answers one or several questions; `keep` chooses, `files` are those that the asker is at."""
    view = source if isinstance(source, View) else source.view()
    focus = frozenset(files)
    ranked, behind = _ranked(view, queries, limit, keep, focus, progress)
    merged = _merged(ranked)
    hits = _collapsed(view, merged, limit, explain=explain)
    told = sum(1 + len(hit.alike) for hit in hits)
    total = max([len(merged), *(one.total for one in ranked)])
    return Hits(hits, total - told, [one.asked for one in ranked], behind)


def text_of(view: View, card: Card) -> str:
    """Return the text of a document, out of the archive that holds it if no file of its own does."""
    if card.path not in view.files and card.run:
        view.index(card.run)
    view.fetch([card.path])
    found = documents_of(card.path, view.contents.get(card.path, b""))
    return found[0].text if found else ""


def _ranked(
    view: View, queries: Sequence[str], limit: int, keep: Callable[[Card], bool] | None, focus: frozenset[str],
    progress: Progress,
) -> tuple[list[Ranked], int]:  # fmt: skip
    """Return the answers to each question; an index found damaged while it is read is made anew."""
    from memento_git.knowledge import index, upkeep

    for written in (True, True, False):
        try:
            with upkeep.gathered(view, progress, written=written) as (corpus, behind):
                return [rank(corpus, query, most=limit, keep=keep, files=focus) for query in queries], behind
        except index.Damaged:
            index.forget(view.git)
    return [], 0


def _merged(ranked: Sequence[Ranked]) -> list[tuple[int, Found]]:
    """Return the answers to all questions: each question's best first, each document once."""
    placed = [
        (place, -found.score, number, found)
        for number, answers in enumerate(ranked)
        for place, found in enumerate(answers.found)
    ]
    merged: dict[str, tuple[int, Found]] = {}
    for _, _, number, found in sorted(placed, key=lambda one: one[:3]):
        merged.setdefault(found.card.path, (number, found))
    return list(merged.values())


def _collapsed(view: View, merged: list[tuple[int, Found]], limit: int, *, explain: bool) -> list[Hit]:
    """Return as many hits as were asked for; what says the same as a better one is told with it."""
    texts: dict[str, str] = {}
    hits: list[Hit] = []
    view.fetch(found.card.path for _, found in merged[: 2 * limit])
    for number, found in merged:
        twin = next((at for at, hit in enumerate(hits[:COMPARED]) if _alike(view, texts, hit.card, found.card)), None)
        if twin is not None:
            hits[twin] = hits[twin]._replace(alike=(*hits[twin].alike, found.card))
        elif len(hits) == limit:
            break
        else:
            hits.append(Hit(found.card, found.score, found.words, number, found.parts if explain else ()))
    return hits


def _alike(view: View, texts: dict[str, str], one: Card, other: Card) -> bool:
    if one.kind != other.kind or one.sort != other.sort:
        return False
    for card in (one, other):
        if card.path not in texts:
            texts[card.path] = text_of(view, card)
    return are_alike(one, texts[one.path], other, texts[other.path])
