"""Events as plain rows: the judged ones, each after what it had seen, and that records were made. Pure."""

from __future__ import annotations

import heapq
import shlex
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from memento_git.folding.lanes import CANONICAL, spoken
from memento_git.model.enumeration import ends, grouped
from memento_git.model.ids import action_of, kind_of
from memento_git.model.states import MADE, UNNAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memento_git.folding.fold import Folded, Judged
    from memento_git.model.rows import ConcernedRow, EventRow, TroubleRow
    from memento_git.model.run_rows import RunRows
    from memento_git.model.work import Event

UNKNOWN: Final = "(unknown)"
"""By whom a record is that cannot be read."""
MOST: Final = 200
TELLING: Final = ("dispatch", "successor", "into", "answer", "target", "keep", "reason", "note")
UNTOLD: Final = ("do", "of", "at", "by", "after", "code", "kept", "signature")


def event_row(seen: Judged) -> EventRow:
    """Return an event and its verdict as the ledger's commands show it."""
    event = seen.event
    extra = {key: value for key, value in event.data.items() if key not in UNTOLD}
    return {
        "id": event.id,
        "run_id": event.run,
        "record": event.of,
        "actor": event.by,
        "action": action(event),
        "created_at": event.at,
        "summary": event.get("note") or event.get("reason") or unmet(event.data) or event.get("gate") or None,
        "legal": seen.verdict == "legal",
        "problem": seen.why or None,
        "payload": extra,
    }


def action(event: Event) -> str:
    """Return how an event is called; a verdict is none of what happened to the run or task, but of its gate."""
    return f"gate.{event.do}" if "gate" in event.data else action_of(event.of, event.do)


def creations(held: RunRows) -> Iterator[EventRow]:
    """Yield that a run was started, its plans drafted, its tasks added and its evidence recorded, by whom and when.

    Of what cannot be read nobody knows that.
    """
    run = held["run"]
    made = [_made(run["id"], run["id"], run["actor"], run["created_at"], run["goal"])] if run is not None else []
    for row in (*held["plans"], *held["tasks"]):
        made.append(_made(row["run_id"], row["id"], row["actor"], row["created_at"], row["title"]))
    for one in held["evidence"]:
        told = {"kind": one["kind"], "outcome": one["outcome"], "command": one["command"]}
        made.append(_made(one["run_id"], one["id"], one["actor"], one["created_at"], one["summary"], **told))
    yield from (row for row in made if row["actor"] != UNKNOWN)


def _made(run: str, identity: str, actor: str, at: str, summary: str | None, **payload: Any) -> EventRow:
    kind = kind_of(identity)
    return {
        "id": identity, "run_id": run, "record": identity, "actor": actor, "action": f"{kind}.{MADE[kind]}",
        "created_at": at, "summary": summary, "legal": True, "problem": None, "payload": payload,
    }  # fmt: skip


def said(row: EventRow) -> str:
    """Return what an event says, on one line: which gate, what evidence and how it ended, to whom, and its words."""
    told, words = row["payload"], row["summary"]
    gate, outcome, executor = told.get("gate"), told.get("outcome"), told.get("executor", UNNAMED)
    if gate:
        first = f"gate {gate}"
    elif outcome:
        first = f"{told['kind']}, {outcome.replace('_', ' ')}"
        words = words or (told.get("command") and ends(shlex.join(told["command"]), MOST))
    else:
        first = f"to {executor}" if row["action"] == "task.dispatched" and executor != UNNAMED else ""
    return ": ".join(one for one in (first, words if words != gate else None) if one)


def clocked(rows: Sequence[EventRow]) -> list[tuple[str, EventRow]]:
    """Return rows, each with the time by which it stands among others: the latest that was told up to it."""
    return list(zip(accumulate((row["created_at"] for row in rows), max), rows, strict=True))


def mixed(*told: Iterable[tuple[str, EventRow]]) -> list[EventRow]:
    """Return the rows of several stories as one by their times; each keeps its own order."""
    return [row for _, row in heapq.merge(*told, key=lambda pair: pair[0])]


def unmet(data: Mapping[str, Any]) -> str:
    """Return what a rejection says was unmet, or nothing."""
    return "; ".join(data.get("unmet") or ())


def audit(events: Iterable[Judged]) -> list[EventRow]:
    """Return events as rows, each after what it had seen; the clock only breaks ties."""
    seen = {one.event.id: one for one in events}
    waits = {name: {ref.id for ref in one.event.after if ref.id in seen} for name, one in seen.items()}
    followers = grouped((other, name) for name, before in waits.items() for other in before)
    ready = [(seen[name].event.at, name) for name, before in waits.items() if not before]
    heapq.heapify(ready)
    rows = []
    while ready:
        _, name = heapq.heappop(ready)
        rows.append(event_row(seen[name]))
        for follower in followers.get(name, ()):
            waits[follower].discard(name)
            if not waits[follower]:
                heapq.heappush(ready, (seen[follower].event.at, follower))
    return rows


def troubles(
    folded: Folded, record: str, event: Callable[[str], Event | None], text: Callable[[str], object] = lambda _: None
) -> list[TroubleRow]:
    """Return what of a record is contested, illegal or incomplete, with the events concerned.

    `text` gives a plan, by whose title people know which of those that were approved it is.
    """
    rows: list[TroubleRow] = []
    for lanes, names in contests(folded.lanes.contested):
        told = [_told(found) for name in names if (found := event(name))]
        if CANONICAL in lanes:
            told = [
                {**row, "about": row["record"], "title": getattr(text(row["record"]), "title", None)} for row in told
            ]
        first = told[0]["record"] if told else record
        held = grouped((lane.removeprefix("plan:") if lane.startswith("plan:") else first, lane) for lane in lanes)
        rows += [
            {"record": shown, "problem": "contested", "about": ", ".join(map(spoken, same)), "events": told}
            for shown, same in held.items()
        ]
    for problem, judged in (("illegal", folded.illegal), ("incomplete", folded.dangling)):
        for seen in judged:
            rows.append({"record": seen.event.of, "problem": problem, "about": seen.why, "events": [_told(seen.event)]})
    return rows


def contests(contested: Mapping[str, Sequence[str]]) -> list[tuple[list[str], Sequence[str]]]:
    """Return the events that disagree, those that do so on several lanes once, with these lanes."""
    found: dict[frozenset[str], tuple[list[str], Sequence[str]]] = {}
    for lane, names in contested.items():
        found.setdefault(frozenset(names), ([], names))[0].append(lane)
    return list(found.values())


def _told(event: Event) -> ConcernedRow:
    """Return an event so that it can be told from another of its verb: what it names, or why it happened."""
    about = next((told for key in TELLING if (told := event.get(key))), None)
    return {
        "event": event.id, "record": event.of, "actor": event.by, "action": action(event),
        "about": about, "title": None,
    }  # fmt: skip
