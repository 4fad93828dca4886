"""memento task route."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import boundary, output

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.cli.output import Names
    from memento_git.model.rows import Row


@click.command()
@click.argument("task_id", metavar="TASK")
@click.option("--executor", default="", metavar="NAME", help="Ask for this one; what is unsafe is still refused.")
@click.option("--no-health", is_flag=True, help="Start no health command: look only whether programs are on PATH.")
@click.option("--record", is_flag=True, help="Keep the decision as a note; it proves nothing.")
@boundary.both
def route(call: Call, task_id: str, executor: str, *, no_health: bool, record: bool) -> int:
    """Choose who should do a task, and say why; nothing is handed out.

    Health commands that the table of executors names are started, with ten seconds for all of them.
    """
    from memento_git.work.routing import routes

    view = call.view()
    told = routes.route(view, task_id, executor=executor, ask=not no_health)
    kept = None
    if record and not told.refusal:
        from memento_git.work.actions.routes import record_route

        kept = call.row("task route", lambda tx: record_route(tx, told.task, told.decision))
    data = {"task_id": told.task, "task_status": told.status, "decision": told.decision, "evidence": kept}
    return call.show({**told.refusal, **data}, lambda: _told(told.task, told.status, told.decision, output.Names(view)))


def _rejected(rows: list[Row]) -> list[str]:
    """Return who is left out and why; those whose programs are not there at all in one line."""
    from memento_git.work.routing.probe import ABSENT

    absent = [row["executor"] for row in rows if any(why.endswith(ABSENT) for why in row["reasons"])]
    alone = [row for row in rows if row["executor"] not in absent or not absent[1:]]
    lines = [f"{row['executor']}: {'; '.join(row['reasons'])}" for row in alone]
    return [*lines, f"{', '.join(absent)}: what starts them {ABSENT}"] if absent[1:] else lines


def _told(task: str, status: str, decision: Row, names: Names) -> str:
    chosen, override, step = decision["selected_executor"], decision["user_override"], decision["step"]
    is_refused = override and not override["honoured"]
    refused = [f"{override['executor']}: {'; '.join(override['reasons'])}"] if is_refused else []
    parts = [
        ("refused", refused),
        ("why", decision["reasons"]),
        ("risk", [f"{one['from']} became {one['to']}: {one['why']}" for one in decision["risk_adjustments"]]),
        ("ask", [f"a person must agree: {why}" for why in decision["approval_because"]]),
        ("then", [", ".join(decision["fallback_chain"])] if decision["fallback_chain"] else []),
        ("not", _rejected(decision["rejected_executors"])),
        ("step", [output.step(step)]),
    ]
    lines = [f"{click.style(chosen or 'nobody', bold=True)}  for {names(task)}, risk {decision['risk']}"]
    lines += [f"  {label:<7}  {names.within(output.printable(line))}" for label, told in parts for line in told]
    if step["action"] != "none" and status != "pending":
        lines.append(f" next: memento task reopen {names(task)} --reason WHY")
    elif step["action"] != "none" and chosen:
        beyond = " --over-budget WHY" if decision["budget"]["exceeded"] else ""
        lines.append(f" next: memento dispatch create {names(task)} --executor {chosen}{beyond}")
    return "\n".join(lines)
