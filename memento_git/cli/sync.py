"""memento sync, and the claim that a remote holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import output, steps
from memento_git.cli.boundary import Call, writes

if TYPE_CHECKING:
    from memento_git.model.rows import Row, TroubleRow
    from memento_git.work.actions.syncing import Synced

SAID: Final = {
    "merged": "merged with {remote}/{branch}", "fast_forwarded": "brought forward to {remote}/{branch}",
    "pushed": "pushed to {remote}/{branch}", "up_to_date": "up to date with {remote}/{branch}",
}  # fmt: skip


@click.command()
@click.argument("remote", default="", metavar="[REMOTE]")
@click.option(
    "--branch", default="", metavar="NAME", help="The branch there; the upstream's or the same name by default."
)
@click.option(
    "--set-upstream", is_flag=True, help="Set the branch there as upstream of this one, and create it if it is missing."
)
@writes
def sync(call: Call, remote: str, branch: str, *, set_upstream: bool) -> None:
    """Bring the current branch and the remote's together: fetch, merge, push.

    Divergence is merged where one side changed .memento alone; where code changed on both, or a text does not merge,
    nothing is changed and the exit code is 3; so it is where somebody took commits off the remote by force that are
    still here, or left no ledger there that can be read. What `check` finds wrong with what is to be pushed, and was
    not wrong on the remote, is refused, too. Nothing is rebased or forced, no password is asked for, and what you
    have staged or edited stays as it is. The branch is pushed with all that is committed on it, code too, and your
    pre-push hook runs. What the merge left contested is shown.
    """
    from memento_git.work.actions import syncing

    done = syncing.sync(call.ledger, remote, branch, set_upstream=set_upstream)
    brought = done.brought
    data = {
        **done.target.where, "outcome": brought.outcome, "before": brought.before, "after": brought.after,
        "merges": brought.merges, "pushes": brought.pushes, "pushed": brought.pushes > 0, "trouble": done.trouble,
        "lost_claims": done.lost, "ended_claims": done.taken,
        "findings": done.findings, "released": done.released, "waiting": done.waiting,
    }  # fmt: skip
    call.show(data, lambda: "\n".join(_lines(call, done)), then=_steps(done))


def _lines(call: Call, done: Synced) -> list[str]:
    """Return what a person wants to know of a sync."""
    names = output.Names(call.ledger.view())
    told = SAID[done.brought.outcome].format(**done.target.where)
    pushed = done.brought.pushes and done.brought.outcome != "pushed"
    lines = [output.printable(told) + (", and pushed" if pushed else "")]
    lines += [f"remote claim of {names(name)} released" for name in done.released]
    lines += [
        f"remote claim of {names(name)} holds on: its completion is on this branch alone" for name in done.waiting
    ]
    lines += [
        f"your claim of {names(row['task_id'])} is contested by {output.printable(', '.join(row['claimed_by']))}"
        for row in done.lost
    ]
    lines += [_ended(row, names) for row in done.taken]
    lines += [_trouble(row, names) for row in done.trouble]
    lines += [f"wrong: {output.printable(finding)}" for finding in done.findings]
    return lines


def _steps(done: Synced) -> list[Row]:
    """Return the step that follows a sync that brought trouble, or something wrong."""
    if done.trouble:
        return [{"why": "events disagree, or do not count", "command": "memento settle"}]
    return [{"why": "something is wrong in the ledger", "command": "memento check"}] if done.findings else []


def _ended(row: Row, names: output.Names) -> str:
    """Return what became of a claim of ours that somebody else ended."""
    how = f"{row['status']} by {output.printable(row['by'])}" if row["by"] else "withdrawn with the task"
    why = f": {names.within(output.printable(row['reason']))}" if row["reason"] else ""
    return f"your claim of {names(row['task_id'])} was {how}{why}"


def _trouble(row: TroubleRow, names: output.Names) -> str:
    who = ", ".join(output.concerned(event, names) for event in row["events"])
    told = f"{names(row['record'])} is {click.style(row['problem'], fg='red')}"
    return f"{told}: {who or names.within(output.printable(row['about']))}"


def claim_on_remote(call: Call, dispatch: str, remote: str, lease: int, note: str) -> None:
    """Claim a dispatch on the remote and here, and show it."""
    from memento_git.work import answers
    from memento_git.work.actions import claiming

    done = claiming.claim_on_remote(call.ledger, dispatch, remote, lease=lease, note=note)
    row = answers.at(call.ledger.view(), done.dispatch, "dispatch")
    data = {**row, "remote": done.target.remote, "pushed": done.pushed, "pushes": done.pushes}
    told = f"claimed {row['dispatch_id']} until {row['lease_until']}, on {done.target.remote} too"
    call.show(data, told, then=steps.reading(row))
