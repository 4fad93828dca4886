"""memento plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import output, steps
from memento_git.cli.boundary import Call, Noun, both, reads, writes
from memento_git.cli.options import asks, noted, of_run, paged, reasoned, signs
from memento_git.cli.texts import read_text
from memento_git.work import task_steps

if TYPE_CHECKING:
    from memento_git.model.rows import PlanRow


def _remarks(row: PlanRow) -> list[str]:
    """Return what one should know of a plan beside its state, as `status` tells it."""
    told = ["changed since its approval"] if row["changed"] else []
    told += [output.printable(row["unapproved"])] if row["unapproved"] else []
    signed = output.printable("; ".join(row["unsigned"])) or output.signature(row)
    return [*told, signed] if signed else told


@click.group("plan", cls=Noun, help="Draft, approve, reject plans.", invoke_without_command=True)
@of_run("For which run; the only open one by default.")
@click.option("--title", default="", metavar="TEXT", help="With --body: draft a plan, as plan draft does.")
@click.option("--body", default="", metavar="TEXT", help="The plan, in Markdown.")
@both
def plan(call: Call, run: str, title: str, body: str) -> None:
    """List plans; with --title and --body, draft one."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    if title or body:
        _draft(call, run, title, body)
    else:
        click.get_current_context().invoke(list_plans, run=run)


@plan.command("list")
@of_run()
@paged
@reads
def list_plans(call: Call, run: str, limit: int, offset: int) -> None:
    """List the plans of a run."""
    from memento_git.work import answers, rows
    from memento_git.work.overview import choose_run
    from memento_git.work.state import RunState

    view = call.view()
    state = RunState(view, choose_run(view, run))
    found = [rows.plan_row(state, plan) for plan in state.ids("plan")]
    answers.check(state, *found)
    answers.mark_lacking(state, plans=found)
    output.listing(
        call, view, "plans", found,
        lambda row, names: (
            names(row["id"]), output.state(row["status"]), output.printable(row["title"]),
            "; ".join(_remarks(row)),
        ),
        limit=limit, offset=offset,
    )  # fmt: skip


@plan.command("draft")
@of_run("For which run; the only open one by default.")
@click.option("--title", required=True, metavar="TEXT", help="Its name, in one line.")
@click.option("--body", required=True, metavar="TEXT", help="The plan, in Markdown; @FILE reads it from a file.")
@click.option("--accept", "criteria", multiple=True, metavar="TEXT", help="An acceptance criterion; repeatable.")
@click.option("--assume", "assumptions", multiple=True, metavar="TEXT", help="An assumption; repeatable.")
@click.option("--risk", "risks", multiple=True, metavar="TEXT", help="A risk; repeatable.")
@asks
@writes
def draft(call: Call, run: str, title: str, body: str, **options: Any) -> None:
    """Draft a plan; nothing is handed out before it is approved."""
    _draft(call, run, title, body, **options)


def _draft(call: Call, run: str, title: str, body: str, **options: Any) -> None:
    from memento_git.work.actions import plans

    text = read_text(body, call)
    row = call.row("plan draft", lambda tx: plans.draft_plan(tx, title, text, run=run, **options))
    call.show({"plan": row}, f"drafted {row['id']}", then=[task_steps.approving(row)])


@plan.command("approve")
@click.argument("plan_id", metavar="PLAN")
@of_run("Refuse a plan of another run.")
@noted
@signs
@writes
def approve(call: Call, plan_id: str, run: str, note: str, key: str, *, sign: bool) -> None:
    """Approve a plan: it becomes the run's canonical plan, its text is frozen, and the one before is superseded."""
    from memento_git.work.actions import plans

    row = call.row("plan approve", lambda tx: plans.approve_plan(tx, plan_id, run=run, note=note, sign=sign, key=key))
    call.show({"plan": row}, f"approved {row['id']}", then=steps.due(call, row["run_id"]))


@plan.command("reject")
@click.argument("plan_id", metavar="PLAN")
@reasoned
@writes
def reject(call: Call, plan_id: str, reason: str) -> None:
    """Turn a plan down."""
    from memento_git.work.actions import plans

    row = call.row("plan reject", lambda tx: plans.reject_plan(tx, plan_id, reason=reason))
    call.show({"plan": row}, f"rejected {row['id']}", then=steps.due(call, row["run_id"]))


@plan.command("show")
@click.argument("plan_id", metavar="[PLAN]", default="")
@reads
def show_plan(call: Call, plan_id: str) -> None:
    """Show one plan, and what happened to it; by default the canonical one of the latest open run, or its only one."""
    from memento_git.work import answers
    from memento_git.work.overview import choose_plan

    view = call.view()
    row = answers.at(view, plan_id or choose_plan(view), "plan")
    output.record(call, view, row, {"plan": row}, () if call.json else answers.history(view, row["id"]))
