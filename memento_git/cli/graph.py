"""memento graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import boundary, output
from memento_git.cli.boundary import Call, both, reads, writes
from memento_git.cli.options import of_run

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy
    from memento_git.model.rows import Row

SHOWN: Final = 10
WHEN: Final = {
    "always": "a snapshot is recorded", "known": "a snapshot is recorded, once the run has one",
    "never": "no snapshot is recorded",
}  # fmt: skip


def _view(call: Call) -> View | None:
    """Return the ledger at the revision, or nothing: a graph is of the code, which may have none."""
    from memento_git.ledger.store import NoLedger

    try:
        return call.view()
    except NoLedger:
        return None


def _rev(call: Call) -> str:
    if len(call.at) > 1:
        raise click.UsageError("--at: a graph is of one revision")
    return call.at[0] if call.at else "HEAD"


graph = boundary.group("graph", "Look at the code's import graph: cycles, hot spots, what changed.", alone="status")


@graph.command("status")
@of_run("Whose snapshots; the latest open run's by default.")
@reads
def graph_status(call: Call, run: str) -> None:
    """Show the import graph of the code at HEAD, or at --at REV."""
    from memento_git.work.actions import graphs
    from memento_git.work.graph import codegraph, graphify
    from memento_git.work.overview import choose_run

    view = _view(call)
    held, code = graphs.look(call.ledger.git, _rev(call))
    chosen = choose_run(view, run) if view is not None and (run or view.runs()) else ""
    snapshot = graphs.latest(view, chosen, held) if view is not None and chosen else None
    when = view.policy().graph["after_dispatch"] if view is not None else None
    found = graphify.status(call.ledger.git)
    if told := codegraph.lacking(held):
        call.ledger.warn(told)
    graph = {key: value for key, value in held.items() if key not in ("edges", "format")}
    names = output.Names(view)
    call.show(
        {"code": code, "graph": graph, "snapshot": snapshot, "after_dispatch": when, "graphify": found},
        lambda: "\n".join(
            [
                *_told(held),
                _recorded(snapshot, names),
                *([f"after a dispatch  {WHEN[when]}"] if when else []),
                f"graphify  {found['state'].replace('_', ' ')}",
            ]
        ),
    )


def _told(held: Row) -> list[str]:
    counts = held["counts"]
    lines = [
        f"files  {counts['nodes']}, imports {counts['edges']}, imports of what is elsewhere {counts['external']}",
        f"parts  {counts['components']}, communities {counts['communities']}, modularity {held['modularity']}",
        click.style(f"cycles {counts['cycles']}", fg="red" if counts["cycles"] else None),
    ]
    lines += [f"  {_ring(cycle)}" for cycle in held["cycles"][:SHOWN]]
    lines += _more(counts["cycles"])
    lines.append(f"hot spots {counts['hot_spots']}")
    lines += output.columns(
        (f"  {output.printable(row['path'])}", f"{row['fan_in']} import it", f"it imports {row['fan_out']}")
        for row in held["hot_spots"][:SHOWN]
    )
    lines += _more(counts["hot_spots"])
    lines += [
        f"not read  {output.printable(path)}: {output.printable(why)}"
        for path, why in list(held["not_readable"].items())[:SHOWN]
    ]
    return lines + _more(counts["not_readable"])


def _more(count: int) -> list[str]:
    return [f"  … {count - SHOWN} more: --json shows them"] if count > SHOWN else []


def _ring(cycle: list[str]) -> str:
    return output.printable(" -> ".join([*cycle, cycle[0]]))


def _recorded(snapshot: Row | None, names: output.Names) -> str:
    if snapshot is None:
        return "snapshot  none recorded: memento graph update"
    of = "this code" if snapshot["current"] else "other code"
    of += ", with the same graph" if snapshot["same_graph"] and not snapshot["current"] else ""
    after = f", after {names(snapshot['dispatch_id'])}" if snapshot["dispatch_id"] else ""
    when = snapshot["created_at"][:16].replace("T", " ")
    return f"snapshot  {names(snapshot['evidence_id'])} of {of}, {when}{after}"


@graph.command("update")
@of_run("To which run; the only open one by default.")
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="A task that it is about; repeatable.")
@click.option("--graphify", is_flag=True, help="Let graphify look at a copy of the code too, and keep what it found.")
@writes
def update(call: Call, run: str, tasks: tuple[str, ...], *, graphify: bool) -> None:
    """Record the import graph of the code at HEAD as evidence; the same code is recorded once."""
    from memento_git.work import answers
    from memento_git.work.actions import graphs
    from memento_git.work.graph import codegraph

    held, _ = graphs.look(call.ledger.git, "HEAD")
    beside = None
    if graphify:
        beside = call.change("graph update", lambda tx: graphs.graphified(tx, run=run, tasks=tasks))()

    def act(tx: Transaction) -> tuple[Row, bool]:
        identity = graphs.update_graph(tx, run=run, tasks=tasks, graphify=beside)
        return answers.after(tx, identity), bool(tx.changes)

    row, recorded = call.change("graph update", act)
    if told := codegraph.lacking(held):
        call.ledger.warn(told)
    data = {"evidence": row, "recorded": recorded, "counts": held["counts"]}
    word = "recorded" if recorded else "nothing new since"
    call.show(data, f"{word} {row['id']}: {row['summary'] or ''}")


@graph.command("diff")
@click.argument("revisions", metavar="A..B", default="")
@click.option("--before-json", default="", metavar="FILE", help="Compare this graph instead of A's; or JSON itself.")
@click.option("--after-json", default="", metavar="FILE", help="Compare this graph instead of B's; or JSON itself.")
@of_run("With --record: to which run.")
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="With --record: a task that it is about.")
@click.option("--record", is_flag=True, help="Record the comparison as evidence.")
@both
def diff(
    call: Call, revisions: str, before_json: str, after_json: str, run: str, tasks: tuple[str, ...], *, record: bool
) -> int:
    """Show how the import graph changed; exit with 1 where policy refuses it."""
    from memento_git.work.actions import graphs

    code: Row | None = None
    if revisions and not (before_json or after_json):
        found, code = graphs.diff_commits(call.ledger.git, _policy(call), revisions)
    elif before_json and after_json and not revisions:
        sides = (_side("--before-json", before_json), _side("--after-json", after_json))
        found = graphs.diff_files(_policy(call), *sides)
    else:
        raise graphs.SnapshotsRequired
    row = None
    if record:
        row = call.row("graph diff", lambda tx: graphs.record_diff(tx, found, code, run=run, tasks=tasks))
    why = "; ".join(one["message"] for one in found["warnings"] if one["level"] == "refuse")
    refusal = {"error": "graph_refused", "message": why} if found["blocking"] else {}
    return call.show({**refusal, "diff": found, "evidence": row}, lambda: "\n".join(_changes(found)))


def _policy(call: Call) -> Policy:
    from memento_git.model.policy import Policy

    view = _view(call)
    return view.policy() if view is not None else Policy()


def _side(option: str, given: str) -> tuple[str, bytes]:
    """Return the JSON of one side: the option's own value, or what a file holds."""
    from memento_git.work.graph.graphfile import LONGEST, SnapshotInvalid

    if given.lstrip().startswith(("{", "[")):
        return option, given.encode(errors="replace")
    place = Path(given)
    if "\0" in given or not place.is_file():
        raise SnapshotInvalid(where=given, problem="there is no such file")
    if place.stat().st_size > LONGEST:
        raise SnapshotInvalid(where=given, problem=f"it has more than {LONGEST} bytes")
    return option, place.read_bytes()


def _changes(found: Row) -> list[str]:
    colours = {"high": "red", "medium": "yellow"}
    lines = [f"risk  {click.style(found['risk'], fg=colours.get(found['risk']))}"]
    lines += [
        f"{click.style(row['level'], fg=colours['high' if row['level'] == 'refuse' else 'medium'])}  "
        f"{row['kind'].replace('_', ' ')}: {output.printable(row['message'])}"
        for row in found["warnings"]
    ]
    lines += [f"gone  cycle {_ring(cycle)}" for cycle in found["vanished_cycles"]]
    lines += [f"gone  hot spot {output.printable(path)}" for path in found["vanished_hot_spots"]]
    lines += [f"joined  {output.printable(', '.join(parts))}" for parts in found["components"]["merged"]]
    lines += [f"split  {output.printable(', '.join(parts))}" for parts in found["components"]["split"]]
    lines += [
        f"{key.replace('_', ' ')}  {found['before'][key]} to {value}"
        for key, value in found["after"].items()
        if found["before"].get(key, value) != value
    ]
    return lines


@graph.command("propose")
@of_run("The run that the drafts name.")
@reads
def propose(call: Call, run: str) -> None:
    """Print drafts of tasks from the graph, as a list that memento apply takes; nothing is written."""
    from memento_git.work.actions import graphs

    held, _ = graphs.look(call.ledger.git, _rev(call))
    rows, omitted = graphs.proposed(held)
    chosen = call.view().find(run, "run")[0] if run else ""
    told: dict[str, Any] = {"proposals": rows, "omitted": omitted}

    def text() -> str:
        head = ["# Drafts from the import graph: keep, change or delete each, then memento apply FILE."]
        more = [f"# {omitted} more are not shown."] if omitted else []
        return "\n".join([*head, *more, graphs.as_verbs(rows, chosen) if rows else "# Nothing to propose."])

    call.show(told, text)
