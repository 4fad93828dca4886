"""check usage: what git's history and the ledger show of how notes are used. Reading is counted nowhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from memento_git.knowledge import following, usage
from memento_git.knowledge.actions.note_checks import named
from memento_git.knowledge.handoffs import is_handoff
from memento_git.knowledge.typed_times import past_moment
from memento_git.ledger import commits, layout
from memento_git.ledger.grep import Grep
from memento_git.model.anchors import GONE
from memento_git.model.enumeration import grouped
from memento_git.model.ids import ALPHABET, LENGTH

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.commits import Commit
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose

MOST: Final = 1000
NOTE: Final = re.compile(rf"note_[{ALPHABET}]{{{LENGTH}}}")
LISTS: Final = ("together", "corrected", "volatile", "cited_together", "uncited")


def check_usage(note_set: NoteSet, *, since: str = "", most: int = MOST, least: int = 2, limit: int = 20) -> Row:
    """Return five lists of at most `limit` rows (0: all): what use shows of live notes and of code without notes.

    At most `most` commits of the code, and as many of the notes, are looked at. Nothing is written.
    """
    since = past_moment("since", since, note_set.view.now) if since else ""
    told = _Usage(note_set, since, most, least)
    lists = {name: list(getattr(told, name)()) for name in LISTS}
    return {
        "looked_at": {
            "since": since or None, "commits": len(told.code), "note_commits": len(told.written), "most": most,
            "wide": sum(len(one.paths) > usage.WIDE for one in told.code), "notes": len(told.live),
            "shallow": commits.is_cut_off(note_set.view.git),
        },
        **{name: rows[:limit] if limit else rows for name, rows in lists.items()},
        "omitted": {name: len(rows) - limit for name, rows in lists.items() if 0 < limit < len(rows)},
    }  # fmt: skip


class _Usage:
    def __init__(self, note_set: NoteSet, since: str, most: int, least: int) -> None:
        self.note_set = note_set
        self.least = least
        self.live = note_set.live()
        tip = next(iter(note_set.view.commits), "")
        git = note_set.view.git
        self.code: list[Commit] = commits.of_code(git, tip, most=most, since=since) if tip else []
        self.written: list[Commit] = commits.of_notes(git, tip, most=most, since=since) if tip else []
        self.here: frozenset[str] = frozenset()
        self.places = self._placed(tip) if tip else {}
        self.at = grouped((path, note) for note, paths in self.places.items() for path in paths)
        self.cited = self._cited()

    def _placed(self, tip: str) -> dict[str, list[str]]:
        """Return live note -> the files and folders that it is about, as they are called now."""
        wanted = self.note_set.places(self.live)
        with following.opened(self.note_set.view.git) as follower:
            now = follower.at(tip)
            self.here = frozenset(
                path for path, entry in now.entries.items()
                if entry.type == "blob" and not path.startswith(f"{layout.FOLDER}/")
            )  # fmt: skip
            there = [one for one in (follower.placed(wanted, now) if wanted else ()) if one.found.state != GONE]
        found = grouped((one.note, one.path) for one in there if one.anchor.is_place)
        return {note: list(dict.fromkeys(paths)) for note, paths in found.items()}

    def together(self) -> Iterator[Row]:
        """Yield files that change together with what notes are about, and that no note covers."""
        for one in usage.together((commit.paths for commit in self.code), self.at, self.here, self.least):
            notes = list(dict.fromkeys(usage.notes_at(one.noted, self.at)))
            yield {
                "path": one.path, "with": one.noted, "commits": one.commits, "of": one.of, "own": one.own,
                "notes": notes,
            }  # fmt: skip

    def corrected(self) -> list[Row]:
        """Return notes that superseded others, or whose text was revised, so often; the most first."""
        changed = (path for commit in self.written for path, letter in commit.paths.items() if letter == "M")
        revised = Counter(note for path in changed if (note := layout.note_of(path)))
        superseded = (old.id for old in self.note_set.readable() if self.note_set.status(old.id) == "superseded")
        before = grouped((after, old) for old in superseded if (after := self.note_set.current(old)) != old)
        rows = []
        for live in self.live:
            earlier = before.get(live.id, [])
            counted = len(earlier) + sum(revised[one] for one in (live.id, *earlier))
            if counted >= self.least:
                rows.append({
                    **named(self.note_set, live.id), "times": counted, "superseded": earlier,
                    "revised": counted - len(earlier), "reasons": list(self._reasons(earlier)),
                })  # fmt: skip
        return sorted(rows, key=lambda row: (-row["times"], row["note"]))

    def _reasons(self, old: Iterable[str]) -> Iterator[str]:
        for note in old:
            for seen in self.note_set.folded(note).events:
                if seen.event.do == "superseded" and (reason := seen.event.get("reason")):
                    yield reason

    def volatile(self) -> list[Row]:
        """Return notes whose files were changed in so many commits since they were looked at last; the most first."""
        found = usage.changes((commit.paths for commit in self.code), self.at)
        rows = []
        for note, held in found.items():
            if len(held) >= self.least:
                looked = self.note_set.looked_at(note) or str(self.note_set.note(note).data["at"])
                rows.append({
                    **named(self.note_set, note), "commits": len(held), "since": self._since(held, looked),
                    "looked_at": looked, "paths": self.places[note],
                })  # fmt: skip
        return sorted(rows, key=lambda row: (-row["commits"], row["note"]))

    def _since(self, held: Sequence[int], looked: str) -> int:
        """Return how many of some commits are later than a time."""
        return sum(self.code[number].at > looked for number in held)

    def _cited(self) -> dict[str, set[str]]:
        """Return place -> the live notes that it cites: notes, evidence, threads, commits."""
        live = {note.id for note in self.live}
        found: dict[str, set[str]] = {}
        for note in self._citing():
            for end in _ends(self.note_set, note):
                found.setdefault(f"note {note.id}", set()).add(end)
            if note.id in live:
                for name in note.list("evidence"):
                    found.setdefault(f"evidence {name.partition('@')[0]}", set()).add(note.id)
                if thread := note.data.get("thread"):
                    found.setdefault(f"thread {thread}", set()).add(note.id)
        for commit in self.written:
            written = {match[0] for path in commit.paths if (match := NOTE.search(path))}
            if 1 < len(written) <= usage.WIDEST:
                found[f"commit {commit.id}"] = {
                    self.note_set.current(one) for one in written if self.note_set.path(one)
                }
        return {place: notes & live for place, notes in found.items() if notes & live}

    def _citing(self) -> Iterator[Prose]:
        """Yield the notes that may cite others; a handoff names all that its session made, whatever it is worth."""
        return (note for note in self.note_set.readable() if not is_handoff(note))

    def cited_together(self) -> Iterator[Row]:
        """Yield pairs of live notes that are never cited but together."""
        for pair in usage.always_together(self.cited, self.least):
            yield {
                "notes": [named(self.note_set, pair.one), named(self.note_set, pair.other)],
                "places": list(pair.places),
            }

    def uncited(self) -> list[Row]:
        """Return live notes that no other record names, that nothing rests on, and that are in no thread."""
        known = {note for place, notes in self.cited.items() if place.startswith("note ") for note in notes}
        known |= {note for place, notes in self.cited.items() if place.startswith("thread ") and len(notes) > 1
                  for note in notes}  # fmt: skip
        known |= self._in_texts()
        rows = [
            {**named(self.note_set, note.id), "created_at": note.data["at"],
             "confirmed_at": self.note_set.confirmed(note)[0] or None}
            for note in self.live if note.id not in known and not is_handoff(note)
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (row["confirmed_at"] or row["created_at"], row["note"]))

    def _in_texts(self) -> set[str]:
        """Return the notes that texts of runs, plans, tasks and other notes name by id or key."""
        keys = {str(note.data["key"]): note.id for note in self.live if note.data.get("key")}
        found: set[str] = set()
        for note in self._citing():
            told = {*NOTE.findall(note.body), *(keys[key] for key in keys if f"[[{key}]]" in note.body)}
            found |= told - {note.id}
        if (tip := next(iter(self.note_set.view.commits), "")) and self.note_set.view.runs():
            grep = Grep(self.note_set.view.git, tip, NOTE.pattern)
            lines = grep.lines([layout.RUNS])
            found |= {name for told in lines.values() for line in told for name in NOTE.findall(line.text)}
        return {self.note_set.current(one) for one in found if self.note_set.path(one)}


def _ends(note_set: NoteSet, note: Prose) -> Iterator[str]:
    """Yield the notes that a note cites: by a link, or as a source."""
    for name in (*(link.to for link in note_set.links(note)), *note.list("sources")):
        if note_set.path(name) and (end := note_set.current(name)) != note.id:
            yield end
