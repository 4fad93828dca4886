"""Finding what the ledger says about a question, at the commit of a view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memento_git.knowledge import similarity
from memento_git.knowledge.contradiction_candidates import by_link, by_words
from memento_git.knowledge.corpus import Corpus, Damaged
from memento_git.knowledge.deduplication import Said, are_alike, said
from memento_git.knowledge.documents import documents_of
from memento_git.knowledge.ranking import Near, Question, Ranked, rank
from memento_git.ledger.view import View
from memento_git.model.enumeration import grouped

if TYPE_CHECKING:
    from memento_git.knowledge.index_entries import Header
    from memento_git.knowledge.scoring import Part
    from memento_git.ledger.store import Ledger


COMPARED: Final = 300
MANY: Final = 10_000  # documents that are counted where they are not shown
T = TypeVar("T")


class Hit(NamedTuple):
    """A document that answers: how well, by which words, to which of the questions, and which others say the same.

    It is weak where it may well have nothing to do with the question, and nothing better was found. `besides` are the
    others that lead to the same document as this one: a record's events are always there, and never a hit.
    """

    header: Header
    score: float
    words: tuple[str, ...]
    query: int
    parts: tuple[Part, ...]
    alike: tuple[Header, ...] = ()
    weak: bool = False
    besides: tuple[Header, ...] = ()

    @property
    def id(self) -> str:
        return self.header.id


class Hits(NamedTuple):
    """What was found, best first; how many more there are; the questions as they were understood."""

    hits: list[Hit]
    more: int
    asked: list[Question]
    behind: int  # files in which the index was behind and memory stood in for it
    against: Mapping[str, tuple[str, ...]]  # id -> what a link, in either direction, or a key may say to contradict it
    disputed: Mapping[str, list[str]]  # id -> of the notes nearest to it those that may contradict it, where asked for
    unread: int = 0  # documents whose meaning is not known yet, where it counts
    unanswered: Sequence[str] = ()  # the questions that nothing answers

    def told(self) -> Iterator[tuple[Header, Hit]]:
        """Yield each document that answers, what says the same right behind it, and the hit that both are of."""
        yield from ((header, hit) for hit in self.hits for header in (hit.header, *hit.alike))


def search(
    source: Ledger | View, queries: Sequence[str], *, limit: int = 10, keep: Callable[[Header], bool] = lambda _: True,
    files: Iterable[str] = (), few: int = 0, semantic: str = "",
    leads: Callable[[Header], str] = lambda header: header.record, compared: bool = False, last: Collection[str] = (),
) -> Hits:  # fmt: skip
    """Return what answers one or several questions; `keep` chooses, `files` are those that the asker is at.

    `leads` says what a document is shown as, as that which took its place: those that lead to the same are one answer.
    `compared` asks for the notes that may contradict a hit. Of those that say the same, one of `last` is never the one
    that is shown. Where there is no index and no more than `few` files, none is made. Whether meaning counts beside
    words is what the config says, unless `semantic` says it: always, auto or never.
    """
    view = source if isinstance(source, View) else source.view()
    focus = frozenset(files)
    nearness = _nearness(view, queries, semantic or _configured(view))

    def answered(corpus: Corpus) -> Hits:
        ranked = [
            rank(corpus, query, most=limit, keep=keep, files=focus, near=near, leads=leads)
            for query, near in zip(queries, nearness, strict=True)
        ]
        merged = _grouped(_merged(ranked), leads)
        shown = partial(_shown, corpus, leads)
        hits = _collapsed(view, merged, limit, shown, last)
        told = sum(1 + len(hit.alike) for hit in hits)
        total = max([len(merged), *(one.total for one in ranked)])
        against = {hit.id: _against(corpus, hit.header, leads(hit.header)) for hit in hits}
        disputed = {}
        for hit in hits if compared else ():
            disputed[hit.id] = _disputed(view, corpus, shown(hit.header))
        unread = max((near.unread for near in nearness if near is not None), default=0)
        understood, missed = [one.asked for one in ranked], [one.asked.text for one in ranked if not one.found]
        return Hits(hits, total - told, understood, corpus.behind, against, disputed, unread, missed)

    return _in_corpus(view, answered, Hits([], 0, [], 0, {}, {}, unanswered=queries), few)


def answering(
    view: View, queries: Sequence[str], keep: Callable[[Header], bool], *, few: int = 0, semantic: str = ""
) -> list[tuple[Header, bool]]:
    """Return all documents that answer one of several questions, and whether each is but a weak answer."""
    nearness = _nearness(view, queries, semantic or _configured(view))

    def answered(corpus: Corpus) -> list[tuple[Header, bool]]:
        ranked = [
            rank(corpus, query, most=MANY, keep=keep, near=near) for query, near in zip(queries, nearness, strict=True)
        ]
        return [(hit.header, hit.weak) for hit in _merged(ranked)]

    return _in_corpus(view, answered, [], few)


def headers(view: View, keep: Callable[[Header], bool], few: int = 0) -> list[Header]:
    """Return all documents that `keep` chooses, the latest first."""

    def answered(corpus: Corpus) -> list[Header]:
        found = {header.path: header for header in corpus.headers() if keep(header)}
        return sorted(found.values(), key=lambda header: (header.time, header.id), reverse=True)

    return _in_corpus(view, answered, [], few)


def text_of(view: View, header: Header) -> str:
    """Return the text of a document, out of the archive that holds it if no file of its own does."""
    _bring(view, [header])
    if header.path not in view.contents:
        if header.run:
            view.index(header.run)
        view.fetch([header.path])
    found = documents_of(header.path, view.contents.get(header.path, b""))
    return found[0].text if found else ""


def _bring(view: View, headers: Iterable[Header]) -> None:
    """Bring the bytes of many documents at once, by commit and path: nothing is listed for it."""
    missing = [header.path for header in headers if header.path not in view.contents and "\n" not in header.path]
    if view.changed or not view.commits:
        return
    for path, data in zip(missing, view.git.objects(f"{view.commits[0]}:{path}" for path in missing), strict=True):
        if data is not None:
            view.contents[path] = data


def _configured(view: View) -> str:
    """Return whether the config asks for meaning; a config that cannot be read stops nobody from asking."""
    from memento_git.ledger import codec, layout

    data = view.contents.get(layout.CONFIG)
    if data is None and view.commits:
        data = view.git.objects([f"{view.commits[0]}:{layout.CONFIG}"])[0]
    return "never" if data is None else codec.read_config(data)[0].semantic


def _nearness(view: View, queries: Sequence[str], request: str) -> Sequence[Near | None]:
    """Return how near documents are to each question; nothing of it is imported where it is not asked for."""
    if request == "never":
        return [None] * len(queries)
    from memento_git.knowledge.embedders import available

    if not available(insist=request == "always"):
        return [None] * len(queries)
    from memento_git.knowledge.semantic import near

    return near(view, queries)


def _in_corpus(view: View, answered: Callable[[Corpus], T], nothing: T, few: int) -> T:
    """Return the answer out of all documents; an index found damaged while it is read is made anew."""
    from memento_git.knowledge import index_refresh

    for written in (True, True, False):
        try:
            with index_refresh.gathered(view, written=written, few=few) as corpus:
                return answered(corpus)
        except Damaged:
            from memento_git.knowledge import index

            index.forget(view.git)
    return nothing


def _merged(ranked: Sequence[Ranked]) -> list[Hit]:
    """Return the answers to all questions: each question's best first, each document once."""
    placed = [
        (place, -one.score, number, Hit(one.header, one.score, one.words, number, one.parts, weak=answers.weak))
        for number, answers in enumerate(ranked)
        for place, one in enumerate(answers.found)
    ]
    merged: dict[str, Hit] = {}
    for *_, hit in sorted(placed, key=lambda one: one[:3]):
        merged.setdefault(hit.header.path, hit)
    return list(merged.values())


def _against(corpus: Corpus, header: Header, leads: str) -> tuple[str, ...]:
    """Return what a link or a key may say to contradict a document or that which it is shown as."""
    shown = [corpus.header(number) for number in corpus.marked(f"id:{leads}")] if leads != header.id else []
    return tuple(dict.fromkeys(other for one in (header, *shown) for other in by_link(corpus, one)))


def _disputed(view: View, corpus: Corpus, header: Header) -> list[str]:
    """Return the notes that may contradict a note, by their words."""
    if header.kind != "note":
        return []
    text = text_of(view, header)
    others = by_words(corpus, header, text)
    _bring(view, others)
    own = similarity.reading(similarity.said(header.title, text))
    read = (similarity.reading(similarity.said(one.title, text_of(view, one))) for one in others)
    return [one.id for one, other in zip(others, read, strict=True) if similarity.dispute(own, other)]


def _grouped(merged: Iterable[Hit], leads: Callable[[Header], str]) -> list[Hit]:
    """Return the best of the documents that lead to the same, each with the others."""
    groups = grouped((leads(hit.header), hit) for hit in merged)
    return [best._replace(besides=tuple(one.header for one in others)) for best, *others in groups.values()]


def _shown(corpus: Corpus, leads: Callable[[Header], str], header: Header) -> Header:
    """Return the document that a document is shown as: that which took its place, or itself."""
    end = leads(header)
    if end in (header.id, header.path):
        return header
    return next((corpus.header(number) for number in corpus.marked(f"id:{end}")), header)


def _collapsed(
    view: View, merged: Sequence[Hit], limit: int, shown: Callable[[Header], Header], last: Collection[str]
) -> list[Hit]:
    """Return as many hits as were asked for; what says the same as a better one is told with it.

    What took a document's place is compared in its stead, for that is what is shown. An event is shown as its record,
    and compared by what it says; without a text the record is not shown.
    """
    hits: list[Hit] = []
    told: list[Said] = []
    headers = {hit.header.path: shown(hit.header) for hit in merged[: COMPARED + limit]}
    _bring(view, list(headers.values())[: 2 * limit])
    for hit in merged[: COMPARED + limit]:
        header, is_event = headers[hit.header.path], hit.header.kind == "event"
        if header.kind == "event":
            continue
        own = said(header, text_of(view, hit.header if is_event else header))
        twin = next((at for at, other in enumerate(told) if are_alike(other, own)), None)
        if twin is not None:
            held = hits[twin]
            if held.header.id in last and header.id not in last:
                held, header = held._replace(header=hit.header, besides=hit.besides), headers[held.header.path]
            hits[twin] = held._replace(alike=(*held.alike, header))
        elif len(hits) == limit:
            break
        else:
            told.append(own)
            hits.append(hit._replace(header=header, besides=(hit.header, *hit.besides)) if is_event else hit)
    return hits
