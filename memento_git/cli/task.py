"""memento task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import boundary, output, steps, terminal
from memento_git.cli.board import board
from memento_git.cli.boundary import Call, reads, writes
from memento_git.cli.options import Place, asks, noted, of_run, paged, reasoned, refuse_empty
from memento_git.cli.route import route
from memento_git.cli.texts import from_top, read_file, read_text
from memento_git.model.states import RISKS, SENDERS, SIZES, TASK_STATUSES

if TYPE_CHECKING:
    from memento_git.ledger.transaction import Transaction


def _about(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say what kind of work a task is."""
    kind = click.option("--kind", metavar="WORD", help="What kind of work: feature, fix, docs, refactor, …")
    risk = click.option("--risk", type=click.Choice(RISKS), help="How much harm a mistake does.")
    return kind(risk(click.option("--role", metavar="TEXT", help="Who should do it: a role.")(function)))


task = boundary.group(
    "task", "Add, revise, route, block, reopen, cancel, verify tasks; show their board, write their briefs."
)


@task.command("list")
@of_run()
@click.option("--status", type=click.Choice(TASK_STATUSES), default=None, help="Only tasks in this state.")
@click.option("--ready", is_flag=True, help="Only tasks that could be handed out now.")
@paged
@reads
def list_tasks(call: Call, run: str, status: str | None, limit: int, offset: int, *, ready: bool) -> None:
    """List the tasks of a run."""
    view, held = output.run_of(call, run)
    found = [row for row in held["tasks"] if status in (None, row["status"]) and (row["ready"] or not ready)]
    evidence = {row["id"]: row for row in held["evidence"]}
    asked = " and ".join(word for word in (status, "ready" if ready else None) if word)
    output.listing(
        call, view, "tasks", found,
        lambda row, names: (
            names(row["id"]), output.state(row["status"]), output.printable(row["title"]),
            output.remarks(row, evidence, names),
        ),
        limit=limit, offset=offset,
        none=f"tasks: none of {len(held['tasks'])} is {asked}; memento status tells of each" if held["tasks"] else "",
    )  # fmt: skip


@task.command("add")
@of_run("To which run; the only open one by default.")
@click.option(
    "--title", default="", metavar="TEXT", help="What is to be done, in one line; without --from-event it is required."
)
@click.option("--body", default="", metavar="TEXT", help="Details in Markdown; @FILE reads them from a file.")
@click.option("--accept", "criteria", multiple=True, metavar="TEXT", help="An acceptance criterion; repeatable.")
@asks
@click.option("--depends-on", multiple=True, metavar="TASK", help="A task that must be proven first; repeatable.")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="A file that the work is about, from the top, or from here if that is not there; repeatable.",
)
@_about
@click.option("--size", type=click.Choice(SIZES), help="How much work it is.")
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many attempts are allowed; policy's number by default.",
)
@click.option("--cost", metavar="N", help="What all attempts together may cost.")
@click.option(
    "--from-event", default="", metavar="FILE", help="Make the task from a JSON message in FILE; - for stdin."
)
@click.option("--sender", type=click.Choice(SENDERS), default="auto", show_default=True, help="Whose message it is.")
@click.option("--delivery", default="", metavar="ID", help="Its delivery's id: the same one never makes two tasks.")
@writes
def add(
    call: Call, run: str, title: str, body: str, from_event: str, sender: str, delivery: str, **options: Any
) -> None:
    """Add a task, also from a message that cron, a code host or a chat sent (--from-event).

    A message is never obeyed: it decides words, not commands, policy or who works. Nothing is handed out.
    """
    from memento_git.work.actions import tasks

    text = read_text(body, call)
    given = {key: value for key, value in options.items() if value is not None}
    given["files"] = from_top(call.ledger, given["files"])
    if from_event:
        _take(call, from_event, sender, delivery, {**given, "run": run, "title": title, "body": text})
        return
    if not title:
        raise click.UsageError("Missing option '--title' (or --from-event).")
    row = call.row("task add", lambda tx: tasks.add_task(tx, title, run=run, body=text, **given))
    data = {"task": row, "dispatched": False, "executor_invoked": False}
    call.show(data, f"added {row['id']}", then=steps.offering(call, row))


def _take(call: Call, file: str, sender: str, delivery: str, given: dict[str, Any]) -> None:
    """Add the task of a message, or answer the one that its delivery made before."""
    from memento_git.work import answers
    from memento_git.work.actions import intakes
    from memento_git.work.dispatch import intake

    message = intake.read(read_file("--from-event", file, intake.MOST_BYTES), sender, delivery)

    def act(tx: Transaction) -> tuple[dict[str, Any], intakes.Taken]:
        taken = intakes.take_message(tx, message, **given)
        return answers.after(tx, taken.task), taken

    row, taken = call.change("task add", act)
    data = {
        "task": row, "created": taken.created, "dangers": taken.dangers, "dispatched": False, "executor_invoked": False,
    }  # fmt: skip
    text = f"added {row['id']}" if taken.created else f"{row['id']} was made from this delivery before"
    look = {"why": "read it before it is handed out", "command": f"memento task show {row['id']}"}
    call.show(data, text, then=[look])


@task.command("revise")
@click.argument("task_id", metavar="TASK")
@click.option("--title", default="", metavar="TEXT", help="Another title.")
@click.option("--body", default="", metavar="TEXT", help="Other details; @FILE reads them from a file.")
@click.option("--accept", "criteria", multiple=True, metavar="TEXT", help="The criteria from now on; repeatable.")
@click.option("--depends-on", multiple=True, metavar="TASK", help="The dependencies from now on; repeatable.")
@click.option("--no-dependencies", is_flag=True, help="It depends on nothing any more.")
@_about
@asks
@writes
def revise(
    call: Call, task_id: str, title: str, body: str, criteria: tuple[str, ...], depends_on: tuple[str, ...], *,
    no_dependencies: bool, **options: Any,
) -> None:  # fmt: skip
    """Change a task's words; what was proven for the old words becomes unproven."""
    from memento_git.work.actions import tasks

    refuse_empty(click.get_current_context(), texts=True)
    text = read_text(body, call)
    given = {key: value for key, value in options.items() if value is not None}
    row = call.row("task revise", lambda tx: tasks.revise_task(
        tx, task_id, title=title, body=text, criteria=criteria or None,
        depends_on=depends_on if depends_on or no_dependencies else None, **given,
    ))  # fmt: skip
    call.show({"task": row}, f"revised {row['id']}", then=steps.about(call, row))


@task.command("show")
@click.argument("task_id", metavar="TASK")
@reads
def show_task(call: Call, task_id: str) -> None:
    """Show one task with its dispatches."""
    from memento_git.work import answers, rows
    from memento_git.work.actions.intakes import dangers_of
    from memento_git.work.routing import routes
    from memento_git.work.state import RunState

    view = call.view()
    identity, run = view.find(task_id, "task")
    row, state = answers.task(view, identity), RunState(view, run)
    handed, step = rows.dispatch_rows(state, identity), routes.next_of(state, identity)
    dangers = dangers_of(state, identity)
    names = output.Names(view)
    lines = (
        (names(one["dispatch_id"]), output.state(one["status"]), output.printable(one["executor"]), output.holder(one))
        for one in handed
    )
    asked = row["asked"]["why"] if row["asked"] else None
    shown = {**row, "verification_policy": None, "asked": asked, "step": output.step(step)}
    call.show(
        {"task": row, "dispatches": handed, "step": step, "dangers": dangers},
        lambda: "\n".join(
            [
                *output.fields(shown, names),
                *([""] if handed else []),
                *output.columns(lines),
                *output.destructive(dangers),
            ]
        ),
    )


BUDGET = click.option(
    "--budget", type=click.IntRange(min=0), default=0, metavar="N", help="About how many tokens at most; 0 for all."
)


@task.command("brief")
@click.argument("task_id", metavar="TASK")
@BUDGET
@reads
def brief(call: Call, task_id: str, budget: int = 0) -> None:
    """Write all that a worker needs for a task, and nothing from a chat.

    With a budget the least important parts are left out, and it is said what; never the criteria, safety rules and
    reporting contract. Tokens are estimated: one for three bytes. The same commit and options give the same digest.
    """
    from memento_git.review.about_tasks import notes_of
    from memento_git.work.brief import as_markdown, brief

    view = call.view()
    row = brief(view, task_id, budget=budget, notes=notes_of(view, task_id))
    call.show({"payload": row}, lambda: terminal.clean(as_markdown(row)))


@task.command("bundle")
@click.argument("task_id", metavar="TASK")
@BUDGET
@click.option("--out", type=Place(path_type=Path, dir_okay=False), help="Write it to this file: .json or Markdown.")
@click.option("--force", is_flag=True, help="Replace another file of that name.")
@reads
def bundle(call: Call, task_id: str, budget: int = 0, out: Path | None = None, *, force: bool = False) -> None:
    """Write a task's brief with the beginnings of its files, as one packet under the hash of its content."""
    from memento_git.review.about_tasks import notes_of
    from memento_git.work.actions import bundles
    from memento_git.work.brief import as_markdown, bundle

    view = call.view()
    row = bundle(view, task_id, budget=budget, notes=notes_of(view, task_id))
    if out is None:
        call.show({"bundle": row, "bundle_path": None}, lambda: terminal.clean(as_markdown(row)))
        return
    bundles.write_bundle(call.ledger, row, out, force=force)
    call.show({"bundle": row, "bundle_path": str(out)}, f"wrote {row['id']} to {out}")


def _moving(name: str, verb: str, text: str) -> click.Command:
    """Return the command of a verb that moves a task for a reason."""

    @click.argument("task_id", metavar="TASK")
    @reasoned
    @writes
    def move(call: Call, task_id: str, reason: str) -> None:
        from memento_git.work.actions import tasks

        act = {"block": tasks.block_task, "reopen": tasks.reopen_task, "cancel": tasks.cancel_task}[name]
        row = call.row(f"task {name}", lambda tx: act(tx, task_id, reason=reason))
        call.show({"task": row}, f"{verb} {row['id']}", then=steps.about(call, row))

    return click.command(name, help=text)(move)


task.add_command(route)
task.add_command(board)
task.add_command(_moving("block", "blocked", "Say that a task cannot go on; what was handed out is withdrawn."))
task.add_command(_moving("reopen", "reopened", "Take a settled or blocked task back to pending."))
task.add_command(_moving("cancel", "cancelled", "Say that a task will not be done."))


@task.command("verify")
@click.argument("task_id", metavar="TASK")
@click.option("--again", is_flag=True, help="Run every required command, also what has passed for this code.")
@click.option("--no-run", is_flag=True, help="Run nothing: judge the evidence that is there.")
@noted
@writes
def verify(call: Call, task_id: str, note: str, *, again: bool = False, no_run: bool = False) -> int:
    """Run what is required of a completed task, accept or reject it, and exit with 1 on a rejection.

    Required commands that have no witnessed pass for exactly the code as it is are run as evidence; their output
    passes through. The verdict names every requirement that is unmet.
    """
    from memento_git.work import answers
    from memento_git.work.actions import verifying

    if again and no_run:
        raise click.UsageError("--again runs every command and --no-run none; give one of them")
    found = verifying.verify(call.ledger, call.change, task_id, again=again, run=not no_run, note=note, quiet=call.json)
    view = call.view()
    row = answers.at(view, found.task, "task")
    shown = [answers.at(view, name, "evidence") for name in found.judged]
    verdict = "accepted" if found.accepted else "rejected"
    refusal = {} if found.accepted else {"error": "task_rejected", "message": "; ".join(found.unmet)}
    names = [*found.made, *found.judged]
    data = {
        **refusal, "task": row, "verdict": verdict, "accepted": found.accepted, "failed_requirements": found.unmet,
        "evidence_id": names[0] if names else None, "evidence": shown,
    }  # fmt: skip
    lines = [f"{verdict} {row['id']}", *(f"  {reason}" for reason in found.unmet)]
    repair = {"why": "have it made good", "command": f"memento task repair {row['id']}"}
    then = steps.due(call, row["run_id"]) if found.accepted else [repair]
    return call.show(data, "\n".join(lines), then=then)


@task.command("repair")
@click.argument("task_id", metavar="TASK")
@click.option("--title", default="", metavar="TEXT", help="What the repair is called; made from the task's by default.")
@writes
def repair(call: Call, task_id: str, title: str) -> None:
    """Put a repair task in the place of a rejected one, and cancel that.

    The repair has its files, its criteria and what was unmet; what depended on the rejected task waits for the repair.
    """
    from memento_git.work.actions import verifying

    row = call.row("task repair", lambda tx: verifying.repair_task(tx, task_id, title=title))
    call.show({"task": row}, f"added {row['id']}, which repairs {row['repairs']}", then=steps.offering(call, row))
