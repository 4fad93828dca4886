"""memento status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, reads
from memento_git.cli.options import COUNT, of_run
from memento_git.model.enumeration import cut, ends, many, some
from memento_git.model.states import FINAL_RUN, PASSING
from memento_git.work import nextsteps

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.model.finding import Finding
    from memento_git.model.objection import Objection
    from memento_git.model.rows import GateRow, Row, RunRow
    from memento_git.model.run_rows import RunRows


SHOWN_RUNS: Final = 5
LONGEST_TITLE: Final = 60
LONGEST_STEP: Final = 200
MOST = click.option(
    "--limit", type=COUNT, metavar="N", default=200, show_default=True, help="Most rows of each list; 0 for all."
)


def _held(call: Call, run: str, limit: int) -> tuple[RunRows, Names]:
    view = call.view()  # and git looks for files that are not committed, while what follows is loaded
    from memento_git.review.note_counts import note_counts
    from memento_git.work.overview import choose_among, early_overview, interrupted, without_runs

    others: list[RunRow] = []
    if run or view.runs():
        chosen, others = choose_among(view, run)
        held = early_overview(call.ledger, view, chosen, limit=limit, ready=call.json)
    else:
        held = without_runs(view)
    held["knowledge"], held["also_open"] = note_counts(view), others[: limit or None]
    held["next"] = [*interrupted(call.ledger), *held["next"]]
    if more := len(others) - len(held["also_open"]):
        held["omitted"]["also_open"] = more
    return held, output.Names(view)


@click.command()
@of_run()
@MOST
@reads
def status(call: Call, run: str, limit: int) -> None:
    """Show a run: what is proven, claimed, blocked, contested, stale, and what is next."""
    held, names = _held(call, run, limit)
    from memento_git.work.overview import uncommitted

    state = held["run"]["status"] if held["run"] else None
    show = _status if held["run"] else _empty
    answer = {"state": state, **held, "uncommitted": lambda: uncommitted(call.ledger)}
    call.show(answer, lambda: show(held, names))


def _empty(held: RunRows, names: Names) -> str:
    """Return what a ledger without a run holds, and how to start one."""
    notes = _knowledge(held["knowledge"]) or ["notes none yet"]
    return "\n".join(["runs  none yet", *notes, *_next(held, names)])


def _status(held: RunRows, names: Names) -> str:
    from memento_git.work.doubts import spike_note

    run = held["run"]
    evidence = {row["id"]: row for row in held["evidence"]}
    state = output.state(run["status"]) + (", archived" if held["archived"] else "")
    lines = [
        f"{names(run['id'])}  {state}  {click.style(output.printable(run['goal']), bold=True)}"
        + (f"  {told}" if (told := spike_note(run)) else "")
    ]
    lines += [
        f"plan  {names(row['id'])}  {output.state(row['status'])}  {output.printable(row['title'])}"
        + (click.style("  changed since its approval", fg="red") if row["changed"] else "")
        + (click.style("  not approved by who may", fg="red") if row["unapproved"] else "")
        + (click.style("  unsigned", fg="red") if row["unsigned"] else f"  {output.signature(row)}".rstrip())
        for row in held["plans"] if row["status"] in ("canonical", "draft", "contested")
    ]  # fmt: skip
    tasks = [
        (
            f"  {output.state(row['status'])}", names(row["id"]), cut(output.printable(row["title"]), LONGEST_TITLE),
            output.remarks(row, evidence, names),
        )
        for row in held["tasks"]
    ]  # fmt: skip
    lines += [_counts(held), *output.columns(tasks)]
    lines += _blocks(held, names)
    lines += _knowledge(held["knowledge"])
    lines += _others(held["also_open"], held["omitted"].pop("also_open", 0), names)
    lines += [f"  … {name}: {count} more, --limit 0 shows all" for name, count in held["omitted"].items()]
    return "\n".join([*lines, *_next(held, names)])


def _others(rows: Sequence[RunRow], omitted: int, names: Names) -> list[str]:
    """Return the other runs that are open as lines."""
    lines = [
        f"also open  {names(row['id'])}  {output.state(row['status'])}  {output.printable(row['goal'])}"
        for row in rows[:SHOWN_RUNS]
    ]
    more = len(rows[SHOWN_RUNS:]) + omitted
    return [*lines, f"  … {many(more, 'more open run')}: memento run list"] if more else lines


def _next(held: RunRows, names: Names) -> list[str]:
    lines = []
    for step in held["next"]:
        lines.append(f"next  {ends(names.within(output.printable(step['why'])), LONGEST_STEP)}")
        lines.append(f"      {click.style(names.within(output.printable(step['command'])), fg='cyan')}")
    return lines


def _counts(held: RunRows) -> str:
    counts = dict(held["counts"])
    proven, unproven, unread = (counts.pop(key, 0) for key in ("proven", "unproven", "unreadable"))
    told = [f"{count} {state.replace('_', ' ')}" for state, count in counts.items()]
    if proven or unproven:
        told.append(f"{proven} proven, {unproven} unproven")
    if held["ready"]:
        told.append(f"{len(held['ready'])} ready")
    if unread:
        told.append(click.style(f"{unread} cannot be read", fg="red"))
    none = "none that can be read" if nextsteps.broken(held) else "none yet"
    return "tasks " + (" · ".join(told) or none)


def _knowledge(counts: Row) -> list[str]:
    """Return how the notes are, as a line; nothing where there are none."""
    from memento_git.review.note_counts import told_of

    told = told_of(counts)
    hints = ["memento check expired"] if counts["expired"] else []
    hints += ["memento check conflicts"] if counts["contested"] else []
    return [f"notes {' · '.join(told)}" + (f"  ({', '.join(hints)})" if hints else "")] if told else []


def _on(row: GateRow, held: RunRows, names: Names) -> str:
    """Return what a gate is of, where that is not the run."""
    return "" if row["scope"] == held["run"]["id"] else f" of {names(row['scope'])}"


def _weak(row: GateRow) -> Objection:
    """Return why the verdict of a gate does not count, or nothing."""
    return ", late" if row["late"] else f", but {row['fallen']}" if row["fallen"] else ""


def _aged(held: RunRows, names: Names) -> list[str]:
    """Return which evidence that a task, or a gate of an open run, rests on is of other code than this commit has."""
    resting = {name for row in held["tasks"] for name in row["proven_by"]}
    if held["run"]["status"] not in FINAL_RUN:
        resting |= {name for row in held["gates"] if row["status"] in PASSING for name in row["evidence"]}
    ahead, shown = _which(held, "uncommitted"), _which(held, "passed_since")
    counting = [name for name in held["stale"] if name in resting - shown]
    told = {
        "stale {}: this commit has other code than the command saw": [name for name in counting if name not in ahead],
        "uncommitted {}: the code that the command saw is not committed here": [
            name for name in counting if name in ahead
        ],
    }
    return [line.format(some([names(name) for name in found], 5)) for line, found in told.items() if found]


def _which(held: RunRows, key: str) -> set[str]:
    """Return the evidence of which a key is so; where a long list is cut, the task that it proves may say it."""
    rows = {row["id"] for row in held["evidence"] if row.get(key)}
    return rows | {name for row in held["tasks"] if row.get(key) for name in row["proven_by"]}


def _how_wrong(finding: Finding) -> str:
    is_error = finding.severity == "error"
    return click.style("broken" if is_error else "warning", fg="red" if is_error else "yellow")


def _blocks(held: RunRows, names: Names) -> list[str]:
    lines = [
        f"gate  {row['kind']}{_on(row, held, names)}  {output.state(row['status'])}{_weak(row)}"
        f"  {output.printable(row['summary'] or '')}  {output.signature(row)}".rstrip()
        for row in held["gates"]
    ]
    lines += dict.fromkeys(  # several events may lack the same one
        f"{click.style(row['problem'], fg='red')}  "
        f"{names(row['record'])}  {names.within(output.printable(row['about']))}"
        for row in held["trouble"]
    )
    lines += _aged(held, names)
    if held["ahead"]:
        events = many(len(held["ahead"]), "event is", "events are")
        lines.append(f"clock {events} dated more than 5 minutes ahead of now")
    lines += [f"{_how_wrong(row)}  {output.printable(row)}" for row in held["findings"][:5]]
    more = len(held["findings"]) - 5
    lines += [f"  … {more} more wrong: memento check"] if more > 0 else []
    return lines
