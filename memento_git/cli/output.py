"""Rows as lines for people: states as words, ids as short as they are unique."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from memento_git.cli import terminal
from memento_git.model.enumeration import many, some
from memento_git.model.ids import ID, KINDS, kind_of, shortest, verb_of

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.ledger.view import View
    from memento_git.model.rows import (
        ClaimRow,
        ConcernedRow,
        DispatchRow,
        EventRow,
        EvidenceRow,
        GateRow,
        PlanRow,
        Row,
        TaskRow,
    )
    from memento_git.model.run_rows import RunRows

R = TypeVar("R")
MOST_SHARED: Final = 3
WIDEST: Final = 60
PROSE: Final = ("text", "body", "description")
COLOURS: Final = {
    "active": "green", "canonical": "green", "passed": "green", "accepted": "green", "completed": "green",
    "blocked": "red", "failed": "red", "rejected": "red", "contested": "red", "cancelled": "bright_black",
    "paused": "yellow", "in_progress": "cyan", "dispatched": "cyan", "claimed": "cyan", "queued": "cyan",
    "superseded": "bright_black", "retracted": "bright_black", "redacted": "bright_black",
}  # fmt: skip
WORD: Final = f"(?<!/){ID.pattern}"


def state(word: str) -> str:
    """Return a state as a word, coloured on a terminal."""
    colour, text = COLOURS.get(word), word.replace("_", " ")
    return click.style(text, fg=colour) if colour else text


def printable(text: object) -> str:
    """Return text on one line, without what would steer a terminal."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else "".join(letter if letter.isprintable() else " " for letter in line)


class Names:
    """Short ids: the shortest prefix that is unique in the view, read when the first of a kind is asked for."""

    def __init__(self, view: View | None) -> None:
        self._view = view
        self.short: dict[str, Mapping[str, str]] = {}

    def __call__(self, identity: str | None) -> str:
        if not identity:
            return ""
        if (kind := kind_of(identity)) not in self.short:
            known = self._view.known(kind) if self._view is not None and kind in KINDS else ()
            self.short[kind] = shortest(known)
        return self.short[kind].get(identity, identity)

    def within(self, text: str) -> str:
        """Return a text with every id in it shortened, but for those in a path, which is to be opened."""
        return re.sub(WORD, lambda found: self(found[0]), text)


def when(row: EventRow) -> str:
    """Return when an event happened, to the second."""
    return str(row["created_at"])[:19].replace("T", " ")


def who(row: EventRow, names: Names) -> str:
    """Return by whom an event was, what was said with it, and why it does not count where it does not."""
    from memento_git.folding.event_rows import said

    words = said(row)
    told = f": {names.within(printable(words))}" if words else ""
    wrong = click.style(f"  not counted: {row['problem']}", fg="red") if row["problem"] else ""
    return f"{printable(row['actor'])}{told}{wrong}"


def happened(events: Iterable[EventRow], names: Names) -> list[str]:
    """Return what happened to a record as aligned lines."""
    return columns((when(one), verb_of(one["action"]), who(one, names)) for one in events)


def told_apart(events: Sequence[EventRow], names: Names) -> list[str]:
    """Return what happened to a record as lines below an empty one; none where nothing did."""
    return ["", *happened(events, names)] if events else []


def remarks(task: TaskRow, evidence: Mapping[str, EvidenceRow], names: Names) -> str:
    """Return what one should know of a task beside its state, as one line."""
    from memento_git.model.markup import spoken
    from memento_git.review.report import task_notes

    shared = [name for name in task["proven_by"] if name in evidence and len(evidence[name]["task_ids"]) > 1]
    notes = task_notes(task, evidence) + ([f"shared evidence: {some(shared, MOST_SHARED)}"] if shared else [])
    held = [f"{printable(one['claimed_by'])} {_until(one)}" for one in task["claims"]]
    return "; ".join([*held, *filter(None, [names.within(printable(spoken("; ".join(notes))))])])


def holder(dispatch: DispatchRow) -> str:
    """Return who has claimed a dispatch, and until when, or who had."""
    if not dispatch["claimed_by"]:
        return ""
    who_has = printable(dispatch["claimed_by"])
    return f"claimed by {who_has} {_until(dispatch)}" if dispatch["status"] == "claimed" else f"by {who_has}"


def _until(claim: ClaimRow | DispatchRow) -> str:
    """Return until when somebody holds a task, to the minute."""
    told = f"until {(claim['lease_until'] or '')[:16].replace('T', ' ')} UTC"
    return click.style(f"{told}, which is over", fg="red") if claim["expired"] else told


def proof(task: Mapping[str, Any]) -> str:
    """Return whether a task that was just completed is proven, and if not, why."""
    return "proven" if task["proven"] else f"unproven: {printable('; '.join(task['unproven_because']))}"


def step(row: Row) -> str:
    """Return what the attempts at a task lead to, why, and the command where there is one."""
    return ": ".join(part for part in (row["action"], row["why"], row["command"]) if part)


def signature(row: PlanRow | GateRow | EvidenceRow) -> str:
    """Return whose signature a record bears, or what is wrong with it; nothing where it has none."""
    from memento_git.review.report import signature_note

    return printable(signature_note(row)) if row.get("signature", "none") != "none" else ""


def concerned(event: ConcernedRow, names: Names) -> str:
    """Return one of the events that disagree, or do not count: what was done, to what, and by whom."""
    about = f" {names.within(printable(event['about']))}" if event["about"] else ""
    title = f' "{printable(event["title"])}"' if event["title"] else ""
    by = f" by {printable(event['actor'])}" if event["actor"] else ""  # a file that cannot be read
    return f"{verb_of(event['action'])}{about}{title}{by}"


def columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows as aligned lines; the last column runs free, and so does a line from a cell that is very wide."""
    held = [[str(cell) for cell in row] for row in rows]
    if not held:
        return []
    sizes = [[len(click.unstyle(cell)) for cell in row[:-1]] for row in held]
    widths = [max((size for size in column if size <= WIDEST), default=0) for column in zip(*sizes, strict=True)]
    lines = []
    for row in held:
        cells = [cell + " " * (width - len(click.unstyle(cell))) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return lines


def fields(row: Mapping[str, Any], names: Names) -> list[str]:
    """Return a record as `key  value` lines, empty values left out, and below them its texts of several lines."""
    prose = {key: row[key].strip() for key in PROSE if "\n" in (row.get(key) or "").strip()}
    short = {key: value for key, value in row.items() if key not in prose}
    lines = columns((click.style(key, fg="bright_black"), names.within(text)) for key, text in told(short))
    return [*lines, *(line for text in prose.values() for line in ("", terminal.clean(text)))]


def told(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a record says as keys and values in words, empty values left out."""
    return [
        (key.replace("_", " "), _value(value))
        for key, value in _typeable(row).items()
        if value is not False and value not in (None, [], {}, "") and (key, value) != ("signature", "none")
    ]


def _typeable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose command is told as the commands within others are, and its two words for age as one."""
    from memento_git.work.doubts import aged

    told = {**row, "command": {"run": row["command"]}} if isinstance(row.get("command"), list) else dict(row)
    told |= {"id": None} if row.get("id") == row.get("dispatch_id") else {}
    if "task_ids" in row:  # evidence: its only task is told with them, and that all was checked out is nothing to tell
        told |= {"task_id": None, "absent": row["absent"] or None}
    return {**told, "stale": aged(row), "uncommitted": None} if row.get("uncommitted") else told


def _value(value: Any) -> str:
    """Return a value of a record in words: what is asked by its reasons, a command as one types it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(_value(one) for one in value)
    if not isinstance(value, dict):
        return printable(value)
    if value.get("why"):
        return _value(value["why"])
    if value.get("run"):
        return f"`{printable(shlex.join(value['run']))}`"
    return ", ".join(f"{printable(key)} {_value(one)}" for key, one in value.items() if one not in (None, [], {}, ""))


def destructive(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return destructive commands as lines, below an empty one."""
    rows = [
        (
            click.style(row["rule"], fg="red"),
            f"{printable(row['where'])}, line {row['line']}",
            printable(row["command"]),
        )
        for row in found
    ]
    return ["", "destructive commands:", *columns(rows)] if rows else []


def page(rows: Sequence[Any], limit: int, offset: int) -> tuple[Sequence[Any], dict[str, int]]:
    """Return one page of rows and what there is beside it."""
    shown = rows[offset : offset + limit] if limit else rows[offset:]
    return shown, {"total": len(rows), "offset": offset, "shown": len(shown)}


def run_of(call: Call, given: str) -> tuple[View, RunRows]:
    """Return the view, and all rows of the run that is named, or the latest open one; say if files of it are broken."""
    from memento_git.work.overview import choose_run, early_overview

    view = call.view()
    held = early_overview(call.ledger, view, choose_run(view, given), limit=0)
    warn_of_broken(call, held)
    return view, held


def warn_of_broken(call: Call, held: RunRows) -> None:
    """Say beside a list of a run's records how many of its files are broken, so that it may lack some."""
    from memento_git.work.nextsteps import broken

    if count := len(broken(held)):
        call.ledger.warn(f"{many(count, 'broken file')} in the run, which may hold more than is shown: memento check")


def listing(
    call: Call, view: View, name: str, found: Sequence[R], line: Callable[[R, Names], Sequence[str]], *,
    limit: int, offset: int, none: str = "",
) -> None:  # fmt: skip
    """Answer one page of rows: as they are under their name, or as a line each."""
    shown, told = page(found, limit, offset)

    def text() -> str:
        names = Names(view)
        return "\n".join([*columns(line(row, names) for row in shown), more(told)]) or nothing(none or name, told)

    call.show({name: list(shown), "page": told}, text)


def record(call: Call, view: View, row: Mapping[str, Any], data: Any, events: Sequence[EventRow] = ()) -> None:
    """Answer one record: with data, or as lines of what it says, and of what happened to it."""
    names = Names(view)
    call.show(data, lambda: "\n".join([*fields(row, names), *told_apart(events, names)]))


def marks(row: Mapping[str, Any]) -> list[str]:
    """Return by what a note is less than one that simply holds."""
    return [word for word in ("expired", "incomplete") if row.get(word) is True]


def nothing(name: str, told: Mapping[str, int]) -> str:
    """Return what is told where a page has no rows: there are none, and why, or none so far on."""
    if not told["total"]:
        return f"no {name}"
    return f"no {name.partition(':')[0]} from --offset {told['offset']} on: {told['total']} in all"


def more(told: Mapping[str, int]) -> str:
    left = told["total"] - told["offset"] - told["shown"]
    return f"… {left} more: --offset {told['offset'] + told['shown']}" if left > 0 else ""
