"""memento status, report, log, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import boundary, output
from memento_git.cli.boundary import Door, reads

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.work.rows import Row


def _held(door: Door, run: str, limit: int) -> tuple[Row, Names | None]:
    from memento_git.work.overview import choose_run, overview

    view = door.view()
    held = overview(door.ledger, view, choose_run(view, run), limit=limit, progress=boundary.progress)
    return held, None if door.json else output.Names(view)


@click.command()
@click.option("--run", "--run-id", default="", metavar="RUN", help="Which run; the latest open one by default.")
@click.option("--limit", default=200, show_default=True, help="Most rows of each list; 0 for all.")
@reads
def status(door: Door, run: str, limit: int) -> None:
    """Show a run: what is proven, claimed, blocked, contested, stale, and what is next."""
    held, names = _held(door, run, limit)
    door.show({"state": held["run"]["status"], **held}, lambda: _status(held, names or output.Names(None)))


def _status(held: Row, names: Names) -> str:
    from memento_git.review.report import task_notes

    run = held["run"]
    evidence = {row["id"]: row for row in held["evidence"]}
    lines = [
        f"{names(run['id'])}  {output.state(run['status'])}  {click.style(output.printable(run['goal']), bold=True)}"
    ]
    lines += [
        f"plan  {names(row['id'])}  {output.state(row['status'])}  {output.printable(row['title'])}"
        + (click.style("  changed since its approval", fg="red") if row["changed"] else "")
        for row in held["plans"] if row["status"] in ("canonical", "draft", "contested")
    ]  # fmt: skip
    tasks = [
        (
            f"  {output.state(row['status'])}", names(row["id"]), output.printable(row["title"])[:60],
            names.within("; ".join(task_notes(row, evidence)).replace("**", "").replace("`", "")),
        )
        for row in held["tasks"]
    ]  # fmt: skip
    lines += [_counts(held), *output.columns(tasks)]
    lines += _blocks(held, names)
    lines += [f"  … {count} more {name}: --limit 0 shows all" for name, count in held["omitted"].items()]
    for step in held["next"]:
        lines.append(f"next  {names.within(output.printable(step['why']))}")
        lines.append(f"      {click.style(names.within(step['command']), fg='cyan')}")
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


def _blocks(held: Row, names: Names) -> list[str]:
    lines = [
        f"gate  {row['kind']}  {output.state(row['status'])}  {output.printable(row['summary'] or '')}"
        for row in held["gates"]
    ]
    lines += [
        f"{click.style(row['problem'], fg='red')}  {names(row['record'])}  {output.printable(row['about'])}"
        for row in held["trouble"]
    ]
    if held["stale"]:
        shown = ", ".join(names(name) for name in held["stale"][:5])
        lines.append(f"stale {shown}: the code changed since")
    if held["ahead"]:
        lines.append(f"clock {len(held['ahead'])} event(s) are dated more than 5 minutes ahead of now")
    lines += [f"{click.style('broken', fg='red')}  {row[1]}:{row[2]} {row[3]}" for row in held["findings"][:5]]
    return lines


@click.command()
@click.option("--run", "--run-id", default="", metavar="RUN", help="Which run; the latest open one by default.")
@click.option("--limit", default=200, show_default=True, help="Most rows of each list; 0 for all.")
@reads
def report(door: Door, run: str, limit: int) -> None:
    """Write a run's report: Markdown for a chat or a pull request, rebuilt from the ledger alone."""
    from memento_git.review.report import markdown

    held, _ = _held(door, run, limit)
    text = markdown(held)
    door.show({"text": text, "generated_at": door.ledger.now(), **held}, text)


@click.command()
@click.option("--run", "--run-id", default="", metavar="RUN", help="Events of this run only.")
@click.option("--record", default="", metavar="ID", help="Events of this record only.")
@click.option("--who", default="", metavar="ACTOR", help="Events by an actor whose name contains this.")
@click.option("--verb", default="", metavar="VERB", help="Events of this verb only, such as completed.")
@click.option("--since", default="", metavar="TIME", help="From this time on: 2026-11-21 or a full time.")
@click.option("--until", default="", metavar="TIME", help="Before this time.")
@click.option("--limit", default=50, show_default=True, help="Most rows; 0 for all.")
@click.option("--offset", default=0, help="Rows to pass over, from the latest.")
@click.option("--commits", is_flag=True, help="List the ledger's commits instead of its events.")
@reads
def log(door: Door, run: str, limit: int, offset: int, *, commits: bool, **filters: str) -> None:
    """List what happened, latest first, of all records together; it needs no git history."""
    view = door.view()
    if commits:
        from memento_git.ledger.history import ledger_commits

        rows = ledger_commits(view, limit=offset + limit if limit else 0)
        shown, told = output.page(rows, limit, offset)
        door.show({"commits": list(shown), "page": told}, lambda: "\n".join(_commit(row) for row in shown))
        return
    events = [row for row in reversed(_events(view, run)) if _wanted(row, filters)]
    shown, told = output.page(events, limit, offset)
    names = output.Names(None if door.json else view)
    lines = [(_when(row), names(row["record"]), row["action"].partition(".")[2], _who(row, names)) for row in shown]
    door.show({"audit": list(shown), "page": told}, lambda: "\n".join([*output.columns(lines), output.more(told)]))


def _when(row: Row) -> str:
    return str(row["created_at"])[:19].replace("T", " ")


def _events(view: Any, given: str) -> list[Row]:
    from memento_git.work.overview import audit

    runs = [view.find(given, "run")[0]] if given else view.runs()
    events = [row for run in runs for row in audit(view, run, boundary.progress)]
    return sorted(events, key=lambda row: row["created_at"]) if len(runs) > 1 else events


def _wanted(row: Row, filters: dict[str, str]) -> bool:
    return (
        row["record"].partition("_")[2].startswith(filters["record"].rpartition("_")[2])
        and filters["who"].lower() in row["actor"].lower()
        and filters["verb"] in ("", row["action"].partition(".")[2])
        and row["created_at"] >= filters["since"]
        and (not filters["until"] or row["created_at"] < filters["until"])
    )


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
@reads
def show(door: Door, identity: str) -> None:
    """Show any record by its id or a unique prefix of one, with what happened to it."""
    from memento_git.model.ids import KINDS, kind_of, resolve
    from memento_git.work import answers

    view = door.view()
    kind = kind_of(identity) if "_" in identity else _kind(view, identity)
    if kind not in KINDS:
        resolve(identity, "run", ())
    full = view.find(identity, kind)[0]
    row = answers.at(view, full, kind)
    events = [] if kind in ("event", "dispatch") else answers.history(view, full)
    names = output.Names(None if door.json else view)
    happened = [(_when(one), one["action"].partition(".")[2], _who(one, names)) for one in events]
    door.show(
        {kind: row, "audit": events},
        lambda: "\n".join([*output.fields(row, names), *([""] if happened else []), *output.columns(happened)]),
    )


def _kind(view: Any, prefix: str) -> str:
    """Return the one kind that has a record with this prefix; a dispatch hides the event that opened it."""
    from memento_git.model.ids import ALPHABET, KINDS, AmbiguousId, IdInvalid, NoSuchRecord

    if not set(prefix) <= set(ALPHABET):
        raise IdInvalid(given=prefix, kind="record")
    found = {kind: sorted(name for name in view.known(kind) if name.startswith(f"{kind}_{prefix}")) for kind in KINDS}
    opened = {name.replace("dispatch", "event", 1) for name in found["dispatch"]}
    found["event"] = [name for name in found["event"] if name not in opened]
    names = [name for listed in found.values() for name in listed]
    if not names:
        raise NoSuchRecord(kind="record", given=prefix)
    if len(names) > 1:
        raise AmbiguousId(given=prefix, candidates=", ".join(names[:5]))
    return str(names[0]).partition("_")[0]
