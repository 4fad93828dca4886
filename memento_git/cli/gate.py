"""memento gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import boundary, output, steps
from memento_git.cli.boundary import Call, both, reads, writes
from memento_git.cli.options import of_run, of_task, paged, reasoned, signs
from memento_git.model.enumeration import some

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import GateRow
    from memento_git.work.actions.releases import Release

SHOWN: Final = 5


def _line(row: GateRow, names: Names) -> tuple[str, ...]:
    late = ", late" if row["late"] else ", fallen" if row["fallen"] else ""
    return (
        output.printable(row["kind"]), output.state(row["status"]) + late, names(row["scope"]),
        output.printable(row["reviewer"] or ""), output.printable(row["summary"] or ""), output.signature(row),
    )  # fmt: skip


gate = boundary.group("gate", "Record and waive the verdicts of reviews.")


@gate.command("list")
@of_run()
@paged
@reads
def list_gates(call: Call, run: str, limit: int, offset: int) -> None:
    """List the latest verdict of each gate of a run."""
    view, held = output.run_of(call, run)
    output.listing(call, view, "gates", held["gates"], _line, limit=limit, offset=offset)


@gate.command("record")
@click.argument("kind")
@click.argument("verdict", metavar="requested|passed|failed")
@of_run("On which run; the only open one by default.")
@of_task("On one task of it instead of the run.")
@click.option("--evidence", multiple=True, metavar="EVIDENCE", help="What the verdict rests on; repeatable.")
@click.option("--note", "--summary", default="", metavar="TEXT", help="What to remember of it.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@signs
@writes
def record(
    call: Call, kind: str, verdict: str, run: str, task: str, evidence: tuple[str, ...], note: str, reason: str,
    key: str, *, sign: bool,
) -> None:  # fmt: skip
    """Record a verdict. A failed gate blocks dispatches and claims until it passes or is waived.

    KIND: preflight_safety, plan_review, implementation_review, quality_review, final_acceptance, approval, release.
    """
    _record(call, kind, verdict, run=run, task=task, evidence=evidence, note=note, reason=reason, sign=sign, key=key)


@gate.command("waive")
@click.argument("kind")
@of_run("On which run; the only open one by default.")
@of_task("On one task of it instead of the run.")
@reasoned
@signs
@writes
def waive(call: Call, kind: str, run: str, task: str, reason: str, key: str, *, sign: bool) -> None:
    """Waive a gate, under your own name and with a reason; a waiver takes the place of a pass."""
    _record(call, kind, "waived", run=run, task=task, reason=reason, sign=sign, key=key)


@gate.command("release")
@of_run("Which run; the only open one by default.")
@click.option(
    "--require-check", "--required-check", "checks", multiple=True, metavar="NAME",
    help="A check that must have succeeded, besides policy's; repeatable.",
)  # fmt: skip
@click.option(
    "--approvals", "--required-approvals", type=click.IntRange(min=0), default=0, metavar="N",
    help="Require at least N approvals; policy's number if it is higher.",
)  # fmt: skip
@click.option("--record/--no-record", default=True, help="Record the gate as passed where it may; on by default.")
@click.option("--note", "--summary", default="", metavar="TEXT", help="What to remember of it.")
@signs
@both
def release(
    call: Call, run: str, checks: tuple[str, ...], approvals: int, note: str, key: str, *, record: bool, sign: bool
) -> int:
    """Judge by the ledger whether a run may be released; if not, name all that is missing and exit with 1.

    Every task must be done and proven, no gate failed, every check that is asked for a success on this very code, and
    enough different actors must have approved.
    """
    from memento_git.work.actions import releases

    if record:
        call.refuse_at("give --no-record with it, or leave it out to record the gate")
        found = call.change("gate release", lambda tx: releases.release_run(
            tx, run=run, require_checks=checks, approvals=approvals, note=note, sign=sign, key=key
        ))  # fmt: skip
    else:
        found = releases.examine_run(call.ledger, call.view(), run=run, require_checks=checks, approvals=approvals)
    verdict = found.verdict
    told = f"run {found.run} may not be released:" if verdict.missing else f"run {found.run} may be released"
    lines = verdict.missing or _counted(found)
    refusal = {"error": "release_refused", "message": "; ".join(verdict.missing)} if verdict.missing else {}
    data = {**refusal, "run_id": found.run, **releases.row(found)}
    if not verdict.missing:
        steps.foretell(call, found.run)
    due = steps.due(call, found.run)
    then = [one for one in due if not (verdict.missing and one["command"].startswith("memento run complete"))]
    return call.show(data, "\n".join([told, *(f"  {one}" for one in lines)]), then=then)


def _counted(found: Release) -> list[str]:
    """Return what a release rests on, and which checks and approvals were counted for it."""
    told = {
        "rests on": found.refs or found.verdict.rests_on, "checks that succeeded:": found.asked.checks,
        "approved by": [output.printable(one) for one in found.verdict.approvers],
    }  # fmt: skip
    return [f"{what} {some(list(names), SHOWN)}" for what, names in told.items() if names]


def _record(call: Call, kind: str, verdict: str, **options: Any) -> None:
    from memento_git.work import answers, rows
    from memento_git.work.actions import gates
    from memento_git.work.run_writer import RunWriter

    def act(tx: Transaction) -> tuple[GateRow, str]:
        scope, event = gates.record_gate(tx, kind, verdict, **options)
        state = RunWriter.of(tx).state(tx.view.find(event, "event")[1])
        told = next(row for row in rows.gate_rows(state, scope) if row["kind"] == kind)
        answers.check(state, told)
        return told, state.id

    row, in_run = call.change("gate record", act)
    told = f"{row['kind']} {row['status']} on {row['scope']}"
    is_failed = verdict != "failed" and row["status"] == "failed"
    text = f"{told}: asked for again, until then it holds work back" if is_failed else told
    call.show({"gate": row}, text, then=steps.due(call, in_run))
