"""What is asked of recall: questions, filters, a view; and which documents the filters let through. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import Misused
from memento_git.model.knowledge import key_start, under

if TYPE_CHECKING:
    from memento_git.knowledge.index_entries import Header

VIEWS: Final = ("auto", "brief", "plan", "explore", "orient", "digest", "list", "plain")
MOST: Final = {"brief": 8, "plan": 20, "explore": 12, "orient": 10, "digest": 200, "list": 50, "plain": 10}
ALL: Final = 1000  # hits that an answer has at most, where all are asked for
RECORDS: Final = ("plan", "task", "run", "evidence", "skill")
CURRENT: Final = ("active", "contested", "resolved", "finished")
LED_ON: Final = ("superseded", "merged")
BUDGET: Final = 4000
UNSAID: Final = 0.5
FILTERS: Final = (
    "about", "key_prefix", "domain", "kinds", "states", "author", "tag", "thread", "since", "until", "min_confidence",
    "min_importance", "has_anchor", "drafts",
)  # fmt: skip


class NothingAsked(Misused):
    token = "query_required"
    sentence = "the view {view} answers a question, and none was given"
    hint_ = "memento recall QUERY --view {view}, or --view orient, digest or list, which need none"


class SearchRequest(NamedTuple):
    """All that recall is asked; what is empty is not asked for."""

    queries: tuple[str, ...] = ()
    view: str = "auto"
    about: tuple[str, ...] = ()
    key_prefix: str = ""
    domain: str = ""
    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    author: str = ""
    tag: str = ""
    thread: str = ""
    since: str = ""
    until: str = ""
    min_confidence: float | None = None
    min_importance: float | None = None
    has_anchor: bool | None = None
    drafts: bool = False
    limit: int | None = None
    budget: int = BUDGET
    explain: bool = False
    semantic: str = ""

    @property
    def most(self) -> int:
        return MOST[self.view] if self.limit is None else self.limit or ALL

    @property
    def of_notes(self) -> list[str]:
        """Return the filters that only a note can pass, as they are asked for."""
        anchored = "" if self.has_anchor is None else "--has-anchor" if self.has_anchor else "--no-anchor"
        asked = {
            "--about": self.about, "--key-prefix": self.key_prefix, "--domain": self.domain,
            "--state": "all" not in self.states and self.states, "--tag": self.tag, "--thread": self.thread,
            "--min-confidence": self.min_confidence is not None, anchored: anchored,
        }  # fmt: skip
        return [name for name, value in asked.items() if value]

    def of_any(self) -> SearchRequest:
        """Return the request without the filters that only a note can pass."""
        return self._replace(
            about=(), key_prefix="", domain="", states=(), tag="", thread="", min_confidence=None, has_anchor=None
        )

    def settled(self) -> SearchRequest:
        """Return the request with the view that `auto` comes to and all that it means; refuse what cannot be asked."""
        queries = tuple(query for query in self.queries if query.strip())
        chosen = "brief" if queries or self.about else "list" if self.filtered else "orient"
        view = chosen if self.view == "auto" else self.view
        if not queries and view in ("plan", "explore"):
            raise NothingAsked(view=view)
        start = key_start(self.key_prefix) if self.key_prefix else ""
        drafts = self.drafts or "draft" in self.states
        return self._replace(queries=queries, view=view, key_prefix=start, drafts=drafts)

    @property
    def filtered(self) -> bool:
        plain = self._replace(**{key: SearchRequest._field_defaults[key] for key in FILTERS})
        return self != plain

    @property
    def narrowed(self) -> bool:
        """Tell whether a filter keeps out what would be found without any: drafts and all states let more in."""
        return self._replace(drafts=False, states=() if "all" in self.states else self.states).filtered

    def admits(self, header: Header) -> bool:
        """Tell whether a document passes the filters that its header answers; state and confidence are not on it."""
        kind = header.record_kind
        if kind not in ("note", *RECORDS) or (kind != "note" and self.of_notes):
            return False
        return (
            (not self.kinds or (header.sort if kind == "note" else kind) in self.kinds)
            and self.domain in ("", header.domain)
            and self.author.lower() in header.by.lower()
            and (not self.tag or self.tag in header.tags)
            and self.thread in ("", header.thread)
            and (not self.key_prefix or under(header.key, self.key_prefix))
            and (not self.since or header.time >= self.since)
            and (not self.until or header.time <= self.until)
            and (self.min_importance is None or header.importance >= self.min_importance)
        )

    def admits_state(self, status: str, *, expired: bool) -> bool:
        """Tell whether a note's state is asked for: without a word, what holds now."""
        if not self.states:
            return status in CURRENT and not expired
        return "all" in self.states or status in self.states or (expired and "expired" in self.states)
