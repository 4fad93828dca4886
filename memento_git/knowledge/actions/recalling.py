"""recall: what the ledger knows of a question, a place, or in all; nothing is written for it, nothing of it is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.knowledge import contradictions, labels, typos, unknown_terms
from memento_git.knowledge.anchor_locations import AnchorLocations
from memento_git.knowledge.drafts import Drafts
from memento_git.knowledge.grouping import grouped, paired, together, trimmed
from memento_git.knowledge.note_rows import remarks
from memento_git.knowledge.note_set import NoteSet
from memento_git.knowledge.rendering import fitted
from memento_git.knowledge.result_filter import ResultFilter
from memento_git.knowledge.search_request import LED_ON, RECORDS, SearchRequest
from memento_git.knowledge.shortterm import shown
from memento_git.knowledge.transitions import REDACTED
from memento_git.knowledge.typed_times import end_of, past_moment
from memento_git.knowledge.words import as_written
from memento_git.ledger import codec
from memento_git.ledger.events import EventLog
from memento_git.model import anchors
from memento_git.model.tokens import ESTIMATE
from memento_git.model.work import Prose

if TYPE_CHECKING:
    from memento_git.knowledge.index_entries import Header
    from memento_git.knowledge.labels import RecordStates
    from memento_git.knowledge.recall import Hit
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View
    from memento_git.model.note_rows import HitRow
    from memento_git.model.rows import Row

FEW: Final = 150
ALL_DRAFTS: Final = 1000
UNREAD: Final = "of {count} texts the meaning is not known yet, so words alone find them: the next question goes on"
TOO_SMALL: Final = "what is known of this does not fit in the budget"


class Found(NamedTuple):
    """Hits in their order, how many more there are, and what is known of the questions."""

    hits: list[HitRow]
    more: int = 0
    unknown: tuple[str, ...] = ()
    sections: Mapping[str, Sequence[str]] | None = None
    read_as: Mapping[str, str] = MappingProxyType({})
    unanswered: Sequence[str] = ()


def recall(
    ledger: Ledger, queries: Sequence[str] = (), *, as_of: str = "", at: Sequence[str] = (),
    record_states: RecordStates = labels.nothing_known, as_json: bool = False,
    scope: str = "project", **options: Any,
) -> Row:  # fmt: skip
    """Return an answer: hits with their labels, in sections, what was left out, and what it all takes.

    `options` are those of `SearchRequest`; `record_states` tells what evidence and other records come to; `as_of` is a
    revision, a mark or a date. With `as_json` the budget is of the answer as JSON, else of it as text. `scope` is whose
    ledger it is.
    """
    view = _view(ledger, as_of, at)
    request = _request(ledger, queries, options)
    asked = _Recall(view, request, record_states, past=bool(as_of or at))
    answer = asked.answer(scope, as_json=as_json)
    ledger.warn(*remarks(asked.note_set), *asked.locations.missed)
    if asked.unread:
        ledger.warn(UNREAD.format(count=asked.unread))
    return answer


def _view(ledger: Ledger, as_of: str, at: Sequence[str]) -> View:
    if not as_of:
        return ledger.view(at)
    from memento_git.knowledge.actions.sessions import revision

    return ledger.view([revision(ledger, as_of, end_of)])


def _request(ledger: Ledger, queries: Sequence[str], options: Mapping[str, Any]) -> SearchRequest:
    given = {key: value for key, value in options.items() if value is not None}
    now = ledger.now()
    for key, when in (("since", past_moment), ("until", end_of)):
        if given.get(key):
            given[key] = when(key, str(given[key]), now)
    return SearchRequest(tuple(queries), **given).settled()


class _Recall:
    """One question, answered at one view."""

    def __init__(self, view: View, request: SearchRequest, record_states: RecordStates, *, past: bool) -> None:
        self.view = view
        self.request = request
        self.record_states = record_states
        self.past = past
        self.unread = 0
        self._leads: dict[str, str] = {}
        drafts = Drafts(view.git).all() if request.drafts else []
        self.drafts = {draft.id for draft in drafts}
        for draft in drafts:
            view.put(draft.path, codec.encode_prose(draft.data, draft.body))
        self.note_set = NoteSet(view, self.drafts)
        self.locations = AnchorLocations(self.note_set, at_commit=past)
        self.beyond = self._at_places()
        self.result_filter = ResultFilter(self.note_set, request, self.drafts, self.beyond if request.about else None)

    def _loaded(self) -> NoteSet:
        self.note_set.load()
        return self.note_set

    def _at_places(self) -> dict[str, int]:
        """Return the notes that are about the places that are asked for, and how far beyond them."""
        notes = [note.id for note in self._loaded().readable()] if self.request.about else []
        told = [self.locations.near(notes, anchors.parse(one)) for one in self.request.about]
        return {name: min(near[name] for near in told if name in near) for near in told for name in near}

    def answer(self, scope: str, *, as_json: bool) -> Row:
        found = self.found()
        hits: list[HitRow] = [{**trimmed(self.request.view, hit), "scope": scope} for hit in found.hits]
        labels.vouch(self.view, hits, self.record_states)
        hits = [hit for hit in hits if hit["status"] != REDACTED]
        labels.locate(hits, self.locations)
        sections = self._sections(found, hits)
        ordered = [hit for members in sections.values() for hit in members]
        files, held_back, records = self._files(hits), self._held_back(), self._left_records()

        def told(kept: list[HitRow], cut: list[HitRow]) -> Row:
            shown = {hit["id"] for hit in kept}
            return {
                "view": self.request.view,
                "queries": list(self.request.queries),
                "limit": self.request.most,
                "hits": kept,
                "sections": [
                    {"name": name, "ids": ids} for name, held in sections.items()
                    if (ids := [one["id"] for one in held if one["id"] in shown])
                ],
                "files": files,
                "unanswered": list(found.unanswered),
                "unknown": list(found.unknown),
                "read_as": dict(found.read_as),
                "nothing": None if kept else TOO_SMALL if cut else self._nothing(found),
                "left_out": {
                    "budget": [hit["id"] for hit in cut], "limit": found.more, "states": held_back,
                    "records": records, "filters": self.request.of_notes if records else [],
                    "drafts": 0 if kept else self._left_drafts(), "short": 0 if kept else self._left_short(),
                },
                "tokens": {"used": 0, "budget": self.request.budget or None, "estimate": ESTIMATE},
            }  # fmt: skip

        return fitted(ordered, self.request.budget, told, as_json=as_json)

    def _nothing(self, found: Found) -> str:
        """Return what to say where there is nothing; what nobody wrote of is not made up for by what is new."""
        told = [f"no record has {', '.join(found.unknown)}"] if found.unknown else []
        told += unknown_terms.named(self.locations, self.request, few=FEW)
        return "; ".join([unknown_terms.nothing(self.note_set, self.request), *told])

    def _held_back(self) -> dict[str, int]:
        """Return how many would have answered but for their state."""
        held = self.result_filter.held_back
        if self.request.queries and held:
            held = {header.id: held[header.id] for header, _ in self._answering(lambda header: header.id in held)}
        return dict(Counter(held.values()))

    def _left_records(self) -> dict[str, int]:
        """Return how many records that are no notes would have answered but for a filter that only notes pass."""
        if not self.request.of_notes:
            return {}
        free = self.request.of_any()
        if self.request.queries:
            told = self._answering(lambda header: header.kind != "note" and free.admits(header))
            return dict(
                Counter({header.record: header.record_kind for header, is_weak in told if not is_weak}.values())
            )
        return dict(Counter(header.kind for header in self._records(free)))

    def _records(self, request: SearchRequest) -> list[Header]:
        """Return the records that are no notes and whose kinds are asked for by name, the latest first."""
        if not set(request.kinds) & set(RECORDS):
            return []
        from memento_git.knowledge.recall import headers

        return headers(self.view, lambda header: header.kind in RECORDS and request.admits(header), FEW)

    def _left_drafts(self) -> int:
        """Return how many drafts would have answered."""
        if self.request.drafts or not Drafts(self.view.git).ids():
            return 0
        request = self.request._replace(drafts=True, limit=ALL_DRAFTS)
        found = _Recall(self.view, request, self.record_states, past=self.past).found()
        return sum(hit["draft"] for hit in found.hits)

    def _left_short(self) -> int:
        """Return how many texts that are kept for now alone would have answered; a filter passes none of them."""
        if not self.request.queries or self.request._replace(drafts=False).filtered or self.past:
            return 0
        found = shown(self.view)
        return sum(not is_weak for _, is_weak in self._answering(lambda header: header.id in found))

    # What is found.

    def found(self) -> Found:
        if self.request.view == "orient" and not self.request.queries:
            return self._orientation()
        return self._asked() if self.request.queries else self._all()

    def _answering(self, keep: Callable[[Any], bool]) -> list[tuple[Header, bool]]:
        """Return all that would answer, for what is only counted; whatever is shown, and however much."""
        from memento_git.knowledge.recall import answering

        return answering(self.view, self.request.queries, keep, few=FEW, semantic=self.request.semantic)

    def _asked(self) -> Found:
        """Return what answers the questions; what was superseded leads to its successor."""
        from memento_git.knowledge.recall import search

        told = search(
            self.view, self.request.queries, limit=self.request.most, keep=self.result_filter.keeps,
            leads=self._shown_as, files=[place.partition(":")[0] for place in self.request.about], few=FEW,
            semantic=self.request.semantic, compared=True, last=self.drafts,
        )  # fmt: skip
        self.unread = told.unread
        rows: dict[str, HitRow] = {}
        for hit in told.hits:
            if hit.header.kind != "note" or self.note_set.prose(self._shown_as(hit.header)) is not None:
                row = self._row(hit)
                others = (*told.against[hit.id], *row["contradicted_by"])
                row["contradicted_by"] = contradictions.contradicting(self.note_set, row, others)
                row["may_contradict"] = contradictions.perhaps(self.note_set, row, told.disputed[hit.id])
                rows[row["id"]] = row
        unknown = {word for asked in told.asked for word in as_written(asked.text, asked.unknown)}
        read_as = typos.read_as(told.asked, list(rows.values()))
        hits = self._with_contradictions(rows)
        return Found(hits, told.more, tuple(sorted(unknown)), read_as=read_as, unanswered=told.unanswered)

    def _with_contradictions(self, rows: Mapping[str, HitRow]) -> list[HitRow]:
        """Return rows with the notes that contradict them, each with whom it contradicts."""
        shown = list(rows.values())
        live = [row for row in shown if row["status"] in contradictions.HOLDING]
        named = {other for row in shown for other in row["contradicted_by"]}
        others = {other: rows.get(other) or self._note(self.note_set.note(other)) for other in named}
        for identity, row in others.items():
            mine = {hit["id"] for hit in live if identity in hit["contradicted_by"]}
            row["contradicted_by"] = sorted({*row["contradicted_by"], *mine})
        return paired(shown, others)

    def _shown_as(self, header: Header) -> str:
        """Return the id of the note that a note is shown as; any other document is shown as its record."""
        if header.kind != "note":
            return header.record
        if header.id not in self._leads:
            led = not self.request.states and self.note_set.status(header.id) in LED_ON
            self._leads[header.id] = self.note_set.current(header.id) if led else header.id
        return self._leads[header.id]

    def _row(self, hit: Hit) -> HitRow:
        if hit.header.kind == "note":
            row = self._note(self.note_set.note(self._shown_as(hit.header)))
        else:
            row = self._record(hit.header, [header for header in hit.besides if header.kind == "event"])
        before = [header.id for header in (hit.header, *hit.besides) if header.id != row["id"]]
        return {
            **row, "weak": hit.weak, "score": round(hit.score, 4), "query": hit.query, "words": list(hit.words),
            "alike": [header.id for header in hit.alike if header.id != row["id"]],
            "parts": [part._asdict() for part in hit.parts] if self.request.explain else [],
            "instead_of": before if hit.header.kind == "note" else [],
        }  # fmt: skip

    def _note(self, note: Prose) -> HitRow:
        return labels.note_hit(self.note_set, note, self.drafts)

    def _record(self, header: Header, events: Sequence[Header] = ()) -> HitRow:
        from memento_git.knowledge.recall import text_of

        log = EventLog(self.view, header.run)
        told = [(one, text_of(self.view, one)) for one in events if not log.is_withheld(one.id)]
        return labels.record_hit(header, text_of(self.view, header), self.view.now, told)

    def _all(self) -> Found:
        """Return all notes that the filters let through, the latest first, with what contradicts each.

        So are the records whose kinds are asked for by name. What is about a place alone comes before what is about
        more than it.
        """
        self._loaded()
        notes = self.result_filter.all()
        found: list[tuple[str, str, Prose | Header]] = [(note.data["at"], note.id, note) for note in notes]
        found += [(header.time, header.id, header) for header in self._records(self.request)]
        found.sort(key=lambda one: one[:2], reverse=True)
        found.sort(key=lambda one: self.beyond.get(one[1], 0))
        shown = found[: self.request.most] if self.request.view != "digest" else found
        rows = {name: self._note(one) if isinstance(one, Prose) else self._record(one) for _, name, one in shown}
        self._mark(rows.values())
        ordered = self._with_contradictions(rows)
        contradictions.compare(self.note_set, ordered, notes)
        return Found(ordered, len(found) - len(shown))

    def _mark(self, rows: Iterable[HitRow]) -> None:
        """Say of rows what contradicts them, and instead of what they are shown."""
        for row in rows:
            row["contradicted_by"] = contradictions.linked(self.note_set, row)
            row["instead_of"] = self.result_filter.instead.get(row["id"], [])

    def _orientation(self) -> Found:
        """Return the last handoff, what is open, what was corrected; what is asked for besides, where it is."""
        from memento_git.knowledge.orientation import orientation

        note_set = self._loaded()
        wanted = [
            note for note in reversed(self.result_filter.all())
            if self.request.states or note_set.lives(note.id)
        ]  # fmt: skip
        told = orientation(note_set, wanted, self.request.most)
        lists = {"last handoff": [told["handoff"]] if told["handoff"] else [], **told}
        sections = {name: [row["id"] for row in held] for name, held in lists.items() if isinstance(held, list)}
        others = self._besides([one for held in sections.values() for one in held], wanted)
        sections["asked for"] = others[: self.request.most]
        ids = dict.fromkeys(identity for held in sections.values() for identity in held)
        rows = [self._note(self.note_set.note(identity)) for identity in ids]
        self._mark(rows)
        contradictions.compare(self.note_set, rows, wanted[::-1])
        omitted = sum(told["omitted"].values()) + len(others[self.request.most :])
        return Found(rows, omitted, (), sections)

    def _besides(self, known: Sequence[str], notes: Sequence[Prose]) -> list[str]:
        """Return the notes that filters ask for and that stand in no list, the latest first."""
        is_asked = self.request._replace(drafts=False).filtered
        return [note.id for note in reversed(notes) if note.id not in known] if is_asked else []

    # How it is shown.

    def _sections(self, found: Found, hits: Sequence[HitRow]) -> dict[str, list[HitRow]]:
        if found.sections is None:
            return together(grouped(self.request.view, hits))
        by_id = {hit["id"]: hit for hit in hits}
        return together({name: [by_id[one] for one in ids] for name, ids in found.sections.items()})

    def _files(self, hits: Sequence[HitRow]) -> list[Row]:
        if self.request.view not in ("plan", "explore"):
            return []
        from memento_git.knowledge import related_files

        if self.request.view == "plan":
            return related_files.around(self.locations, hits, self.request.queries)
        self._loaded()
        return related_files.traced(self.locations, hits, self.request.queries)
