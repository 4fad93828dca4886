"""memento dispatch run, stop, work: the commands that start and end processes."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import output, steps, terminal
from memento_git.cli.boundary import Call, writes
from memento_git.cli.options import COUNT, of_run
from memento_git.model.enumeration import many
from memento_git.work import task_steps

if TYPE_CHECKING:
    from memento_git.model.rows import Row, TaskRow
    from memento_git.work.actions.handover import HandoverOptions
    from memento_git.work.actions.pool import Worked
    from memento_git.work.actions.running import Outcome


def create_apart(call: Call, task: str, options: HandoverOptions) -> None:
    """Hand a task out with a work tree of its own, and say where that is."""
    from memento_git.review.about_tasks import notes_of
    from memento_git.work import answers
    from memento_git.work.actions.handover import hand_over

    view = call.view()
    identity = view.find(task, "task")[0]
    made = hand_over(call.ledger, identity, options._replace(notes=notes_of(view, identity)))
    row = answers.at(call.view(), made.dispatch, "dispatch")
    told = f"dispatched {made.task} as {made.dispatch}\n work in {made.path}\n on branch {made.branch}"
    here = f"cd {shlex.quote(made.path)} && memento dispatch claim {made.dispatch}"
    call.show({**row, "dispatched": True, "worktree": made.path}, told, then=[
        {"why": "to do it yourself", "command": here},
        {"why": "or, to have its executor started", "command": f"memento dispatch run {made.dispatch}"},
    ])  # fmt: skip


@click.command("run")
@click.argument("given", metavar="DISPATCH|TASK")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD...]")
@click.option("--executor", default="", metavar="NAME", help="Who does it; its command is in the config.")
@click.option("--timeout", default="", metavar="TIME", help="End it after this time; the executor's own by default.")
@click.option("--allow-dirty", is_flag=True, help="Run despite uncommitted changes; the worktree lacks them.")
@click.option("--quiet", is_flag=True, help="Do not show what the executor prints; it is kept as evidence.")
@writes
def run_dispatch(
    call: Call, given: str, argv: tuple[str, ...], executor: str, timeout: str, *, allow_dirty: bool, quiet: bool
) -> int:
    """Start an executor's own command on a task, in a worktree of its own, and record what came of it.

    The command is the executor's, from the config, or the one after two dashes; no shell reads it. {brief}, {task},
    {dispatch} and {worktree} are filled in. Its exit code proves nothing: the task is proven by the commands that
    verification asks for, which are run in the same worktree. What was done is left on the dispatch's branch.
    """
    from memento_git.ledger.naming import begun
    from memento_git.review.about_tasks import notes_of
    from memento_git.work.actions import running

    identity = begun(call.view(), given, ("dispatch", "task"))
    order = running.Order(executor, argv, _seconds(timeout), dirty=allow_dirty, shown=not quiet, notes=notes_of)
    outcome = running.run_dispatch(call.ledger, identity, order)
    return _show(call, outcome)


def _seconds(given: str) -> float | None:
    from memento_git.model.clock import duration

    return float(duration(given)) if given else None


def _show(call: Call, outcome: Outcome) -> int:
    from memento_git.work import answers

    view = call.ledger.view()
    row, task = answers.at(view, outcome.dispatch, "dispatch"), answers.at(view, outcome.task, "task")
    data: dict[str, Any] = {
        **row, "outcome": outcome.status, "category": outcome.category or None, "reason": outcome.reason or None,
        "evidence": list(outcome.evidence), "branch": outcome.branch or None, "partial": outcome.partial or None,
        "proven": task["proven"], "exit_code": outcome.exit, "seconds": outcome.seconds, "task": task,
    }  # fmt: skip
    if outcome.status == "completed":
        proof = output.proof(task)
        then = _merging(outcome, task, candidate=row["candidate"])
        return call.show(data, f"completed {outcome.task}, {proof}", then=then)
    kept = f"\n its partial work: git show {outcome.partial}" if outcome.partial else ""
    told = f"{outcome.status} {outcome.dispatch} ({outcome.category}): {outcome.reason}{kept}"
    then = steps.retrying(task) if outcome.status == "failed" else []
    refusal = {"error": "dispatch_failed", "message": f"{outcome.status}: {outcome.reason}"}
    return call.show({**refusal, **data}, told, then=then)


def _merging(outcome: Outcome, task: TaskRow, *, candidate: bool) -> list[Row]:
    """Return the steps after a dispatch that completed: its work is taken over, and what is unproven proven."""
    if candidate or not outcome.branch:
        return steps.onward(task, candidate=candidate)
    return [{"why": "take its work over", "command": f"git merge {outcome.branch}"}, *task_steps.proving(task)]


@click.command("stop")
@click.argument("dispatch_id", metavar="DISPATCH")
@writes
def stop(call: Call, dispatch_id: str) -> None:
    """End the process of this machine that works on a dispatch, and all that it has started."""
    from memento_git.work import answers
    from memento_git.work.actions import recovering

    job = recovering.stop_dispatch(call.ledger, dispatch_id)
    row = answers.at(call.view(), job.dispatch, "dispatch")
    call.show(row, f"stopped {job.dispatch}: it is {row['status']}")


def packet(path: str | None) -> str:
    """Say where the bundle lies that was recorded when a dispatch was taken back; nothing where there is none."""
    return f"\n what the next worker needs, as a bundle: {path}" if path else ""


def recover_all(call: Call, run: str, executor: str, *, requeue: bool) -> None:
    """Take back what died or expired, and say what became of each."""
    from memento_git.work.actions import bundles, recovering

    jobs = recovering.recover_all(call.ledger, run=run, requeue=requeue, executor=executor, bundle=True)
    view = call.ledger.view() if jobs else None
    rows = [
        {
            "dispatch_id": job.dispatch, "task_id": job.task, "run_id": job.run, "why": job.why,
            "partial": job.partial or None, "requeued_dispatch_id": job.successor or None,
            **bundles.restart_row(view, job.dispatch, job.task, job.run),
        }
        for job in jobs if view is not None
    ]  # fmt: skip
    lines = [
        f"{job.dispatch}: {job.why}"
        + (f"; handed out again as {job.successor}" if job.successor else "")
        + (f"; its partial work: git show {job.partial}" if job.partial else "")
        + packet(row["context_bundle_path"])
        for job, row in zip(jobs, rows, strict=True)
    ]
    call.show({"job_count": len(jobs), "jobs": rows}, "\n".join(lines) or "nothing to recover")


@click.command("work")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD...]")
@click.option("--jobs", type=click.IntRange(1, 256), default=2, show_default=True, metavar="N", help="Workers at once.")
@of_run("Only tasks of one run.")
@click.option("--executor", default="", metavar="NAME", help="Who does them; its command is in the config.")
@click.option("--max", "most", type=COUNT, default=0, metavar="N", help="Take at most so many tasks; 0 for all.")
@click.option("--timeout", default="", metavar="TIME", help="End each after this time; the executor's by default.")
@click.option("--allow-dirty", is_flag=True, help="Run despite uncommitted changes; the worktrees lack them.")
@writes
def work(
    call: Call, argv: tuple[str, ...], jobs: int, run: str, executor: str, most: int, timeout: str, *, allow_dirty: bool
) -> int:
    """Have ready tasks done by several workers at once, each as dispatch run does it, until none is left.

    It may be killed and started again at any moment: what a dead worker held is taken back, its work put aside, and
    its task handed out again while its budget of attempts lasts.
    """
    from memento_git.review.about_tasks import notes_of
    from memento_git.work.actions import pool, running

    order = running.Order(executor, argv, _seconds(timeout), run, dirty=allow_dirty, notes=notes_of)
    pool.foresee_pool(call.ledger, order)
    worked = pool.work(
        call.ledger, order, jobs=jobs, most=most, tell=lambda line: terminal.put(terminal.guarded(line), err=True)
    )
    return _sum_up(call, worked)


def _sum_up(call: Call, worked: Worked) -> int:
    counts = Counter(one.status for one in worked.ended)
    waits = {task: why for task, why in worked.left.items() if why.startswith("waits")}
    good = len(waits) == len(worked.left) and not worked.stopped
    data: dict[str, Any] = {
        "counts": counts, "taken": worked.taken, "seconds": round(worked.seconds, 1),
        "ended": [one._asdict() for one in worked.ended],
        "left": [{"task_id": task, "why": why} for task, why in worked.left.items()],
        "stopped": worked.stopped or None,
    }  # fmt: skip
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "nothing was ready"
    lines = [f"{told} in {worked.seconds:.1f} s", *(f"left: {task} {why}" for task, why in worked.left.items())]
    branches = [one.branch for one in worked.ended if one.branch]
    unproven = sum(one.proven is False for one in worked.ended)
    then = []
    if branches:
        why = f"review and merge {many(len(branches), 'branch', 'branches')}"
        merge = f"git merge {branches[0]}" if len(branches) == 1 else "git branch --list 'memento/*'"
        then.append({"why": why, "command": merge})
    if unproven:
        then.append({"why": f"see what proves {many(unproven, 'task')}", "command": "memento status"})
    stopped = worked.stopped or f"{many(len(worked.left), 'task')} left"
    refusal = {} if good else {"error": "work_left", "message": stopped}
    return call.show({**refusal, **data}, "\n".join(lines), then=then)
