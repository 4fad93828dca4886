"""memento settle, archive."""

from __future__ import annotations

from typing import Final

import click

from memento_git.cli import output, steps
from memento_git.cli.boundary import Call, both, writes
from memento_git.cli.options import named_run
from memento_git.model.ids import verb_of

RESTORING: Final = "a file that was edited or lost is restored, and nothing voided for it: memento check says how"
ONE_WAY: Final = "give both RECORD and --keep EVENT, or --void EVENT alone"


@click.command()
@click.argument("record", required=False, default="", metavar="[RECORD]")
@click.option("--keep", default="", metavar="EVENT", help="The event whose outcome holds.")
@click.option("--void", default="", metavar="EVENT", help="An illegal, incomplete or contested event to take out.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is required to settle.")
@both
def settle(call: Call, record: str, keep: str, void: str, reason: str) -> None:
    """List what needs settling, and settle it.

    RECORD --keep EVENT chooses among events that disagree: EVENT's outcome holds. --void EVENT takes out an event
    that is illegal, incomplete or contested.
    """
    from memento_git.verbs import settling

    if void and (record or keep):
        raise click.UsageError(ONE_WAY)
    if void:
        identity = call.change("settle void", lambda tx: settling.void_event(tx, void, reason=reason))
        call.show({"voided": identity}, f"voided {identity}", then=steps.after(call, identity))
    elif record and keep:
        identity = call.change("settle", lambda tx: settling.settle_record(tx, record, keep, reason=reason))
        call.show({"settled": identity}, f"settled {identity}", then=steps.after(call, identity))
    elif record or keep:
        raise click.UsageError(ONE_WAY)
    else:
        _list(call)


def redact(call: Call, kind: str, target: str, reason: str) -> None:
    """Take a record of a kind, or the texts of an event, out of the ledger, and answer."""
    from memento_git.verbs import settling

    act = settling.redact_note if kind == "note" else settling.redact_evidence
    identity = call.change(f"{kind} redact", lambda tx: act(tx, target, reason=reason))
    told = "the old bytes are still in git's history; a leaked secret must be revoked"
    then = steps.after(call, identity) if kind == "evidence" else None
    call.show({"redacted": identity, "note": told}, f"redacted {identity}; {told}", then=then)


def _list(call: Call) -> None:
    from memento_git.verbs.settling import troubles

    view = call.view()
    found, late = troubles(view)
    names = output.Names(None if call.json else view)
    lines = []
    for row in found:
        lines.append(
            f"{names(row['record'])} is {click.style(row['problem'], fg='red')}: "
            f"{names.within(output.printable(row['about']))}"
        )
        for event in row["events"]:
            choice = f"{names(row['record'])} --keep" if row["problem"] == "contested" else "--void"
            event["command"] = f"memento settle {choice} {names(event['event'])} --reason WHY"
            lines.append(f"  {output.concerned(event, names)}: {event['command']}")
    if any(row["problem"] in ("illegal", "incomplete") for row in found):
        lines.append(RESTORING)
    for one in late:
        who = f"{verb_of(one['action'])} by {output.printable(one['actor'] or 'somebody')}"
        one["command"] = f"memento archive {names(one['run_id'])}"
        late_word = click.style("late", fg="yellow")
        lines.append(f"{names(one['record'])} is {late_word}: {who}, after its run was archived: {one['command']}")
    call.show({"trouble": found, "late": late}, "\n".join(lines) or "nothing needs settling")


@click.command()
@named_run
@writes
def archive(call: Call, run_id: str) -> None:
    """Put a completed or cancelled run, by default the only one, into one compressed file; it reads as before."""
    from memento_git.work.actions import runs

    path = call.change("archive", lambda tx: runs.archive_run(tx, run_id))
    call.show({"archive": path}, f"archived to {path}")
