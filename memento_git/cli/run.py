"""memento run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import boundary, output, steps
from memento_git.cli.boundary import Call, reads, writes
from memento_git.cli.options import named_run, noted, paged
from memento_git.model.enumeration import many
from memento_git.model.states import RUN_STATUSES

if TYPE_CHECKING:
    from memento_git.model.rows import Row


run = boundary.group("run", "Start, pause, resume, cancel, complete runs.")


@run.command("list")
@click.option("--status", type=click.Choice(RUN_STATUSES), default=None, help="Only runs in this state.")
@paged
@reads
def list_runs(call: Call, status: str | None, limit: int, offset: int) -> None:
    """List runs, latest first."""
    from memento_git.work import answers, rows
    from memento_git.work.state import RunState

    view = call.view()
    found = sorted(
        (rows.run_row(RunState(view, run)) for run in view.runs()), key=lambda row: row["created_at"], reverse=True
    )
    found = [row for row in found if status in (None, row["status"])]
    answers.mark_ended(view, output.page(found, limit, offset)[0])
    output.listing(
        call, view, "runs", found,
        lambda row, names: (
            names(row["id"]), output.state(row["status"]), output.printable(row["goal"]), ", ".join(row["doubts"]),
        ),
        limit=limit, offset=offset,
    )  # fmt: skip


@run.command("start")
@click.option("--goal", required=True, metavar="TEXT", help="What the run is for, in one line.")
@click.option("--body", default="", metavar="TEXT", help="More about it, in Markdown.")
@click.option("--constraint", multiple=True, metavar="TEXT", help="What must hold throughout; repeatable.")
@click.option("--spike", "--allow-spike", is_flag=True, help="Let it hand out a few tasks without a plan.")
@writes
def start(call: Call, goal: str, body: str, constraint: tuple[str, ...], *, spike: bool) -> None:
    """Start a run for one goal."""
    from memento_git.work.actions import runs
    from memento_git.work.overview import same_goal

    row = call.row("run start", lambda tx: runs.start_run(tx, goal, constraints=constraint, spike=spike, body=body))
    if other := same_goal(call.view(), row):
        call.ledger.warn(f"{other} has the same goal and is open: memento status --run {other}")
    call.show({"run": row}, f"started {row['id']}", then=steps.due(call, row["id"]))


@run.command("show")
@named_run
@reads
def show_run(call: Call, run_id: str) -> None:
    """Show one run, the latest open one by default."""
    from memento_git.work import answers
    from memento_git.work.overview import choose_run

    view = call.view()
    row = answers.shown(view, choose_run(view, run_id), "run")
    output.record(call, view, row, {"run": row})


def _halted(call: Call, command: str, verb: str, row: Row) -> None:
    """Answer with what a run that stands still leaves: tasks that are not done, and processes that go on."""
    from memento_git.work.dispatch.live import incomplete_rows, live_rows
    from memento_git.work.state import RunState

    view = call.view()
    tasks, living = incomplete_rows(RunState(view, row["id"])), live_rows(view.git, row["id"])

    def text() -> str:
        names = output.Names(view)
        lines = [(f" {names(task['task_id'])}", output.state(task["status"]), output.printable(task["title"]))
                 for task in tasks]  # fmt: skip
        goes_on = [
            f" process {one['pid']} ({output.printable(one['executor'])}) works on {names(one['dispatch_id'])} since "
            f"{one['since']}; end it: memento dispatch stop {names(one['dispatch_id'])}" for one in living
        ]  # fmt: skip
        told = [f"{many(len(tasks), 'task is', 'tasks are')} not done:"] if tasks else []
        return "\n".join([f"{verb} {row['id']}", *told, *output.columns(lines), *goes_on])

    data = {"command": command, "run": row, "incomplete": tasks, "live": living}
    call.show(data, text, then=steps.due(call, row["id"]))


def _moving(name: str, verb: str, text: str, *, command: str) -> click.Command:
    """Return the command of a verb that moves a run and may give a reason."""

    @named_run
    @click.option("--reason", default="", metavar="TEXT", help="Why; it is required." if name == "cancel" else "Why.")
    @writes
    def move(call: Call, run_id: str, reason: str) -> None:
        from memento_git.work.actions import runs

        act = {"pause": runs.pause_run, "resume": runs.resume_run, "cancel": runs.cancel_run}[name]
        row = call.row(f"run {name}", lambda tx: act(tx, run_id, reason=reason))
        if name == "resume":
            call.show({"command": command, "run": row}, f"{verb} {row['id']}", then=steps.due(call, row["id"]))
        else:
            _halted(call, command, verb, row)

    return click.command(name, help=text)(move)


pause = _moving(
    "pause", "paused", "Pause a run: nothing is handed out, claimed or completed meanwhile.", command="paused"
)
resume = _moving("resume", "resumed", "Let a paused run go on.", command="resumed")
cancel = _moving("cancel", "cancelled", "End a run that will not be finished; this is final.", command="cancelled")
for each in (pause, resume, cancel):
    run.add_command(each)


@run.command("complete")
@named_run
@noted
@writes
def complete(call: Call, run_id: str, note: str) -> None:
    """End a run whose every task is done and proven, or cancelled, and whose gates have passed."""
    from memento_git.work.actions import runs

    row = call.row("run complete", lambda tx: runs.complete_run(tx, run_id, note=note))
    steps.foretell(call, row["id"])
    call.show({"run": row}, f"completed {row['id']}", then=steps.due(call, row["id"]))
