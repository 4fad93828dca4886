"""memento status, log, show."""

from __future__ import annotations

from heapq import merge
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import boundary, naming, note_story, output
from memento_git.cli.boundary import Door, paged, reads

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.folding.rows import Row


WHAT = ("entry", "history", "sources", "graph", "thread", "blame", "diff")
MOST = click.option(
    "--limit", type=boundary.COUNT, metavar="N", default=200, show_default=True,
    help="Most rows of each list; 0 for all.",
)  # fmt: skip


def _held(door: Door, run: str, limit: int) -> tuple[Row, Names | None]:
    from memento_git.review.note_counts import note_counts
    from memento_git.work.overview import choose_run, overview

    view = door.view()
    held = overview(door.ledger, view, choose_run(view, run), limit=limit, ready=door.json, progress=boundary.progress)
    return {**held, "knowledge": note_counts(view)}, None if door.json else output.Names(view)


@click.command()
@click.option("--run", "--run-id", default="", metavar="RUN", help="Which run; the latest open one by default.")
@MOST
@reads
def status(door: Door, run: str, limit: int) -> None:
    """Show a run: what is proven, claimed, blocked, contested, stale, and what is next."""
    held, names = _held(door, run, limit)
    door.show({"state": held["run"]["status"], **held}, lambda: _status(held, names or output.Names(None)))


def _status(held: Row, names: Names) -> str:
    run = held["run"]
    evidence = {row["id"]: row for row in held["evidence"]}
    lines = [
        f"{names(run['id'])}  {output.state(run['status'])}  {click.style(output.printable(run['goal']), bold=True)}"
    ]
    lines += [
        f"plan  {names(row['id'])}  {output.state(row['status'])}  {output.printable(row['title'])}"
        + (click.style("  changed since its approval", fg="red") if row["changed"] else "")
        + f"  {output.signature(row)}".rstrip()
        for row in held["plans"] if row["status"] in ("canonical", "draft", "contested")
    ]  # fmt: skip
    tasks = [
        (
            f"  {output.state(row['status'])}", names(row["id"]), output.printable(row["title"])[:60],
            output.remarks(row, evidence, names),
        )
        for row in held["tasks"]
    ]  # fmt: skip
    lines += [_counts(held), *output.columns(tasks)]
    lines += _blocks(held, names)
    lines += _knowledge(held["knowledge"])
    lines += [f"  … {count} more {name}: --limit 0 shows all" for name, count in held["omitted"].items()]
    for step in held["next"]:
        lines.append(f"next  {names.within(output.printable(step['why']))}")
        lines.append(f"      {click.style(names.within(output.printable(step['command'])), fg='cyan')}")
    return "\n".join(lines)


def _counts(held: Row) -> str:
    counts = dict(held["counts"])
    proven, unproven = counts.pop("proven"), counts.pop("unproven")
    told = [f"{count} {state.replace('_', ' ')}" for state, count in counts.items()]
    if proven or unproven:
        told.append(f"{proven} proven, {unproven} unproven")
    if held["ready"]:
        told.append(f"{len(held['ready'])} ready")
    return "tasks " + (" · ".join(told) or "none yet")


def _knowledge(counts: Row) -> list[str]:
    """Return how the notes are, as a line; nothing where there are none."""
    told = [f"{count} {state}" for state, count in counts.items() if count]
    hints = ["memento check expired"] if counts["expired"] else []
    hints += ["memento check conflicts"] if counts["contested"] else []
    return [f"notes {' · '.join(told)}" + (f"  ({', '.join(hints)})" if hints else "")] if told else []


def _blocks(held: Row, names: Names) -> list[str]:
    lines = [
        f"gate  {row['kind']}  {output.state(row['status'])}  {output.printable(row['summary'] or '')}"
        f"  {output.signature(row)}".rstrip()
        for row in held["gates"]
    ]
    lines += [
        f"{click.style(row['problem'], fg='red')}  {names(row['record'])}  {output.printable(row['about'])}"
        for row in held["trouble"]
    ]
    if held["stale"]:
        shown = ", ".join(names(name) for name in held["stale"][:5])
        lines.append(f"stale {shown}: this commit has other code than the command saw")
    if held["ahead"]:
        lines.append(f"clock {len(held['ahead'])} event(s) are dated more than 5 minutes ahead of now")
    broken = click.style("broken", fg="red")
    lines += [f"{broken}  {output.printable(f'{row[1]}:{row[2]} {row[3]}')}" for row in held["findings"][:5]]
    return lines


@click.command()
@click.option("--run", "--run-id", default="", metavar="RUN", help="Events of this run only.")
@click.option("--record", default="", metavar="ID", help="Events of this record only.")
@click.option("--who", default="", metavar="ACTOR", help="Events by an actor whose name contains this.")
@click.option("--verb", default="", metavar="VERB", help="Events of this verb only, such as completed.")
@click.option("--since", default="", metavar="TIME", help="From this time on: 2026-11-21, a full time, or 90d ago.")
@click.option("--until", default="", metavar="TIME", help="Before this time.")
@paged
@click.option("--commits", is_flag=True, help="List the ledger's commits instead of its events.")
@reads
def log(door: Door, run: str, limit: int, offset: int, *, commits: bool, **filters: str) -> None:
    """List what happened, latest first, of all records together; it needs no git history.

    What happened in one run or to one note keeps its order whatever the clocks said; they are mixed by their clocks.
    """
    view = door.view()
    filters |= {name: _moment(name, filters[name], view.now) for name in ("since", "until") if filters[name]}
    if commits:
        from memento_git.ledger.history import ledger_commits

        rows = ledger_commits(view, limit=offset + limit if limit else 0)
        shown, told = output.page(rows, limit, offset)
        door.show({"commits": list(shown), "page": told}, lambda: "\n".join(_commit(row) for row in shown))
        return
    filters["record"] = naming.full_id(view, filters["record"]) if filters["record"] else ""
    events = [row for row in reversed(_events(view, run, filters["record"])) if _wanted(row, filters)]
    output.listing(door, view, "audit", events, _event, limit=limit, offset=offset, none="events")


def _event(row: Row, names: Names) -> tuple[str, ...]:
    return _when(row), names(row["record"]), row["action"].partition(".")[2], _who(row, names)


def _moment(where: str, given: str, now: str) -> str:
    from memento_git.knowledge.drafting import past_moment

    return past_moment(where, given, now)


def _when(row: Row) -> str:
    return str(row["created_at"])[:19].replace("T", " ")


def _events(view: Any, given: str, record: str) -> list[Row]:
    from memento_git.ledger import layout
    from memento_git.work.overview import audit

    kind = record.partition("_")[0]
    runs = [view.find(given, "run")[0]] if given else [] if kind == "note" else view.runs()
    told = [audit(view, run, boundary.progress) for run in runs]
    if not given and kind in ("", "note", "event") and layout.KNOWLEDGE in view.folders:
        from memento_git.knowledge.histories import histories

        told += histories(view, record if kind == "note" else "", boundary.progress)
    dated = [zip(accumulate((row["created_at"] for row in rows), max), rows, strict=True) for rows in told]
    return [row for _, row in merge(*dated, key=lambda pair: pair[0])]


def _wanted(row: Row, filters: dict[str, str]) -> bool:
    return (
        _about(row, filters["record"])
        and filters["who"].lower() in row["actor"].lower()
        and filters["verb"] in ("", row["action"].partition(".")[2])
        and row["created_at"] >= filters["since"]
        and (not filters["until"] or row["created_at"] < filters["until"])
    )


def _about(row: Row, wanted: str) -> bool:
    """Tell whether an event is the one that is wanted, or happened to that record; a dispatch is part of its task."""
    opened = wanted.replace("dispatch", "event", 1)
    return wanted in ("", row["record"], row["payload"].get("dispatch")) or row["id"] == opened


def _who(row: Row, names: Names) -> str:
    said = f": {names.within(output.printable(row['summary']))}" if row["summary"] else ""
    wrong = click.style(f"  not counted: {row['problem']}", fg="red") if row["problem"] else ""
    return f"{output.printable(row['actor'])}{said}{wrong}"


def _commit(row: Row) -> str:
    return (
        f"{row['commit'][:10]} {row['date'][:19]} {output.printable(row['author'])}: {output.printable(row['subject'])}"
    )


@click.command()
@click.argument("identity", metavar="ID")
@click.option("--what", type=click.Choice(WHAT), default=None, help="Of a note: one part of its story.")
@note_story.walked
@reads
def show(door: Door, identity: str, what: str | None, **walk: Any) -> None:
    """Show any record by its id or a unique prefix of one, with what happened to it."""
    from memento_git.model.ids import kind_of
    from memento_git.work import answers

    view = door.view()
    full = naming.full_id(view, identity)
    kind = kind_of(full)
    if kind == "note" or not view.find(full, kind)[1]:
        if kind == "note":
            note_story.shown(door, full, what, walk)
        else:
            note_story.shown_event(door, full)
        return
    if what:
        from memento_git.knowledge.connections import NothingOfThat

        raise NothingOfThat(what=what, record=full)
    if any(walk.values()):
        from memento_git.knowledge.connections import GraphOnly

        raise GraphOnly
    row = answers.at(view, full, kind)
    events = [] if kind in ("event", "dispatch") else answers.history(view, full)
    names = output.Names(None if door.json else view)
    happened = [(_when(one), one["action"].partition(".")[2], _who(one, names)) for one in events]
    door.show(
        {kind: row, "audit": events},
        lambda: "\n".join([*output.fields(row, names), *([""] if happened else []), *output.columns(happened)]),
    )
