"""memento gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import boundary, output
from memento_git.cli.boundary import Door, reads, writes

if TYPE_CHECKING:
    from memento_git.ledger.store import Transaction


def _list(door: Door, *, run: str = "") -> None:
    from memento_git.work.overview import choose_run, overview

    view = door.view()
    held = overview(door.ledger, view, choose_run(view, run), limit=0, progress=boundary.progress)
    names = output.Names(None if door.json else view)
    lines = [
        (row["kind"], output.state(row["status"]), names(row["scope"]), output.printable(row["reviewer"] or ""),
         output.printable(row["summary"] or ""))
        for row in held["gates"]
    ]  # fmt: skip
    door.show({"gates": held["gates"]}, lambda: "\n".join(output.columns(lines)) or "no gates")


gate = boundary.group("gate", "Record and waive the verdicts of reviews.", _list)


@gate.command("list")
@click.option("--run", default="", metavar="RUN", help="Which run; the latest open one by default.")
@reads
def list_gates(door: Door, run: str) -> None:
    """List the latest verdict of each gate of a run."""
    _list(door, run=run)


@gate.command("record")
@click.argument("kind")
@click.argument("verdict", metavar="requested|passed|failed")
@click.option("--run", "--run-id", default="", metavar="RUN", help="On which run; the only open one by default.")
@click.option("--task", default="", metavar="TASK", help="On one task instead of the run.")
@click.option("--evidence", multiple=True, metavar="EVIDENCE", help="What the verdict rests on; repeatable.")
@click.option("--note", "--summary", default="", metavar="TEXT", help="What to remember of it.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@writes
def record(
    door: Door, kind: str, verdict: str, run: str, task: str, evidence: tuple[str, ...], note: str, reason: str
) -> None:
    """Record a verdict. A failed gate blocks hand-offs and claims until it passes or is waived.

    KIND: preflight_safety, plan_review, implementation_review, quality_review, final_acceptance, approval, release.
    """
    _record(door, kind, verdict, run=run, task=task, evidence=evidence, note=note, reason=reason)


@gate.command("waive")
@click.argument("kind")
@click.option("--run", "--run-id", default="", metavar="RUN", help="On which run; the only open one by default.")
@click.option("--task", default="", metavar="TASK", help="On one task instead of the run.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is required.")
@writes
def waive(door: Door, kind: str, run: str, task: str, reason: str) -> None:
    """Let a gate go although it has not passed, under one's own name and with a reason."""
    _record(door, kind, "waived", run=run, task=task, evidence=(), note="", reason=reason)


def _record(
    door: Door, kind: str, verdict: str, *, run: str, task: str, evidence: tuple[str, ...], note: str, reason: str
) -> None:
    from memento_git.work import rows
    from memento_git.work.actions import gates
    from memento_git.work.desk import Desk

    def act(tx: Transaction) -> rows.Row:
        scope, event = gates.record_gate(
            tx, kind, verdict, run=run, task=task, evidence=evidence, note=note, reason=reason
        )
        state = Desk.of(tx).state(tx.view.find(event, "event")[1])
        return next(row for row in rows.gate_rows(state, scope) if row["kind"] == kind)

    row = door.change("gate record", act)
    door.show({"gate": row}, f"{row['kind']} {row['status']} on {row['scope']}")
