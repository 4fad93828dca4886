"""client hook: what the ledger knows at a moment of a client's session, unasked: little, and each thing once."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from posixpath import isabs
from typing import TYPE_CHECKING, Any, Final

from memento_git.knowledge import code_paths, labels
from memento_git.knowledge.actions.recalling import recall
from memento_git.knowledge.client_events import FILE, PROMPT, START, Event
from memento_git.knowledge.grouping import trimmed
from memento_git.knowledge.lexicon import ORDERS
from memento_git.knowledge.quoting import named
from memento_git.knowledge.rendering import fitted, rendered
from memento_git.knowledge.words import asked
from memento_git.ledger import atomic_file
from memento_git.model import anchors
from memento_git.model.anchors import Anchor
from memento_git.model.knowledge import NOTE_KINDS

if TYPE_CHECKING:
    from memento_git.knowledge.labels import RecordStates
    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.model.note_rows import HitRow
    from memento_git.model.rows import Row

BUDGET: Final = {START: 1000, PROMPT: 600, FILE: 600}
FEW: Final = {START: 20, PROMPT: 3, FILE: 5}
LOOKED_AT: Final = 50
LONGEST: Final = 200
NOTHING: Final = {"states": {}, "records": {}, "filters": [], "drafts": 0, "short": 0}
SHARED: Final = 2  # words that a note has of a prompt, beside those that any prompt may have
NEAR_BEST: Final = 0.5  # share of the best score that a note has which is as surely meant
HEAD: Final = "From the ledger of this repository, {what}. More: memento recall QUESTION"
WHAT: Final = {START: "where the project stands", PROMPT: "what it has on this prompt", FILE: "what it has on {path}"}
SESSIONS: Final = 64  # of which it is kept what they were shown
MOST: Final = 1000
TELLING: Final = ("title", "text", "status", "expired", "anchors", "contradicted_by", "confirmed_at")


def told(ledger: Ledger, event: Event, record_states: RecordStates = labels.nothing_known) -> str:
    """Return what a client is told at an event; nothing where there is nothing, or nothing new."""
    moment = _Moment(ledger, event, record_states)
    return {START: moment.at_start, PROMPT: moment.at_prompt, FILE: moment.at_files}[event.kind]()


class _Moment:
    """One event, and what its session was shown before it."""

    def __init__(self, ledger: Ledger, event: Event, record_states: RecordStates) -> None:
        self.ledger = ledger
        self.event = event
        self.shown = AlreadyShown(ledger.git, event.session)
        self._record_states = record_states

    def at_start(self) -> str:
        """Return the orientation; a context that begins anew has seen nothing."""
        if self.event.fresh:
            self.shown.forget()
        answer = self._recalled(view="orient", limit=None)
        return self._said("", answer, answer["hits"])

    def at_prompt(self) -> str:
        """Return the notes that surely have to do with a prompt."""
        if not self.event.prompt.strip():
            return ""
        queries = [self.event.prompt]
        answer = self._recalled(queries, kinds=NOTE_KINDS, semantic="never")
        plain = set(asked(ORDERS))
        sure = [hit for hit in answer["hits"] if not hit["weak"] and len(set(hit["words"]) - plain) >= SHARED]
        least = NEAR_BEST * max((hit["score"] for hit in sure), default=0)
        best = [hit for hit in sure if hit["score"] >= least]
        wanted = {name for hit in best for name in (hit["id"], *hit["contradicted_by"])}
        return self._said("", answer, [hit for hit in answer["hits"] if hit["id"] in wanted])

    def at_files(self) -> str:
        """Return the notes about each file, the nearest place first."""
        paths = dict.fromkeys(self._inside(path) for path in self.event.paths)
        return "\n\n".join(filter(None, (self._at_file(path) for path in paths if path)))

    def _at_file(self, path: str) -> str:
        answer = self._recalled(about=(str(Anchor(path=path)),))
        return self._said(path, answer, answer["hits"])

    def _inside(self, given: str) -> str:
        """Return the path from the top of a file of the repository; nothing for what is none of its files."""
        git = self.ledger.git
        path = code_paths.from_top(git, str(Path(self.event.folder) / given))
        if git.top is None or isabs(path) or (git.top / path).is_dir() or self.ledger.keeps(git.top / path):
            return ""
        try:
            return path if anchors.parse(str(Anchor(path=path))) == Anchor(path=path) else ""
        except anchors.AnchorUnclear:
            return ""

    def _recalled(self, queries: Sequence[str] = (), **options: Any) -> Row:
        options = {"view": "plain", "limit": LOOKED_AT, **options}
        return recall(self.ledger, queries, record_states=self._record_states, budget=0, **options)

    def _said(self, path: str, answer: Row, hits: Sequence[HitRow]) -> str:
        """Return what is new of some hits as recall shows it, and keep that it was shown."""
        kind = self.event.kind
        known = {mark for place, mark in self.shown.read() if path in ("", place)}
        marks = {hit["id"]: mark(hit) for hit in hits}
        new = [hit for hit in hits if marks[hit["id"]] not in known]
        few = [trimmed("brief", hit) for hit in new[: FEW[kind]]]

        def row(kept: list[HitRow], cut: list[HitRow]) -> Row:
            shown = {hit["id"] for hit in kept}
            sections = [{**one, "ids": [name for name in one["ids"] if name in shown]} for one in answer["sections"]]
            left = {"budget": [hit["id"] for hit in cut], "limit": len(new) - len(few)}
            return {**answer, "hits": kept, "limit": FEW[kind], "sections": [one for one in sections if one["ids"]],
                    "left_out": {**answer["left_out"], **NOTHING, **left}}  # fmt: skip

        told = fitted(few, BUDGET[kind], row, as_json=False)
        if not told["hits"]:
            return ""
        self.shown.add(path, (marks[hit["id"]] for hit in told["hits"]))
        what = WHAT[kind].format(path="this file" if " " in path else named(path, LONGEST))  # a name may be a sentence
        return f"{HEAD.format(what=what)}\n{rendered(told)}"


class AlreadyShown:
    """Which notes a session was shown, as they then were, and at which file; of a session without a name, none.

    It is a small file for each of the latest sessions, in the git directory.
    """

    def __init__(self, git: Git, session: str) -> None:
        self.path: Path = git.common_dir / "memento" / "shown" / f"{_short(session)}.json"
        self._is_kept = bool(session)

    def read(self) -> list[list[str]]:
        """Return what was shown: a file, or nothing for a prompt, and the mark of a note."""
        try:
            held = json.loads(self.path.read_bytes()) if self._is_kept else []
        except (OSError, ValueError):
            return []
        return [one for one in held if isinstance(one, list) and len(one) == 2] if isinstance(held, list) else []

    def add(self, place: str, marks: Iterable[str]) -> None:
        """Keep what is shown; where the file system refuses, it may be shown again."""
        self._keep([*self.read(), *([place, mark] for mark in marks)][-MOST:])

    def forget(self) -> None:
        """Begin anew."""
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _keep(self, held: list[list[str]]) -> None:
        if not self._is_kept:
            return
        with contextlib.suppress(OSError):
            is_new = not self.path.exists()
            atomic_file.write(self.path, json.dumps(held).encode())
            if is_new:
                _drop_old(self.path.parent)


def mark(hit: Mapping[str, Any]) -> str:
    """Return what tells a note from itself when it says something else, or something else holds of it."""
    return f"{hit['id']}@{_short(json.dumps([hit[key] for key in TELLING]))}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _drop_old(folder: Path) -> None:
    """Keep the latest sessions alone."""
    by_age = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime, reverse=True)
    for old in by_age[SESSIONS:]:
        old.unlink(missing_ok=True)
