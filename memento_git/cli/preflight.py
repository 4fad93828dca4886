"""memento preflight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, writes
from memento_git.cli.options import of_run
from memento_git.cli.texts import read_file

if TYPE_CHECKING:
    from memento_git.model.rows import GateRow
    from memento_git.work.actions.preflights import Verdict

LEVELS = {"ok": "green", "warn": "yellow", "refuse": "red"}


@click.command("preflight", context_settings={"allow_interspersed_args": False})
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD...]")
@click.option(
    "--act", type=click.Choice(("start", "dispatch", "run")), default="dispatch", show_default=True,
    help="What is about to begin: a run, a dispatch or an executor.",
)  # fmt: skip
@click.option(
    "--text", default="", metavar="FILE", help="Judge the commands that a text in a file names; - for standard input."
)
@click.option("--record", is_flag=True, help="Put the verdict on the run's gate preflight_safety.")
@of_run("With --record: which run; the only open one by default.")
@writes
def preflight(call: Call, argv: tuple[str, ...], act: str, text: str, run: str, *, record: bool) -> int:
    """Check by policy whether work may begin here; exit with 1 when something would be refused.

    The work tree, branch, disk and identity are looked at; a command after -- and a text are judged, never run.
    """
    from memento_git.work.actions import preflights

    read = preflights.text_of(read_file("--text", text, preflights.MOST_BYTES)) if text else None
    policy = call.view().policy()
    verdict = preflights.look(call.ledger.git, policy, act=act, argv=argv, text=read)
    gate = None
    if record:
        gate = call.change("gate record", lambda tx: preflights.record_preflight(tx, verdict, run=run))
    refused = verdict.refused
    data: dict[str, Any] = {
        "act": act, "checks": [check._asdict() for check in verdict.checks], "dangers": verdict.dangers,
        "refused": bool(refused), "gate": gate,
    }  # fmt: skip
    if refused:
        said = "; ".join(f"{check.name}: {check.message}" for check in refused)
        data = {"error": "preflight_refused", "message": said, "hint": refused[0].fix, **data}
    return call.show(data, lambda: _table(verdict, gate))


def _table(verdict: Verdict, gate: GateRow | None) -> str:
    lines = output.columns(
        (click.style(check.level, fg=LEVELS[check.level]), check.name, output.printable(check.message))
        for check in verdict.checks
    )
    fixes = [f" next: {check.fix}" for check in verdict.refused if check.fix]
    recorded = [f"{gate['kind']} {gate['status']} on {gate['scope']}"] if gate else []
    return "\n".join([*lines, *output.destructive(verdict.dangers), *fixes, *recorded])
