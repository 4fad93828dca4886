"""memento init, doctor, sample-smoke, update, completion."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memento_git import __version__
from memento_git.cli import output, terminal
from memento_git.cli.boundary import Call, alters, reads, writes
from memento_git.cli.options import Place

if TYPE_CHECKING:
    from memento_git.work.actions.health import Answer

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command()
@click.option(
    "--collapse-events/--show-events", "collapse", default=None,
    help="Have GitHub and GitLab collapse event and evidence files in diffs; shown by default.",
)  # fmt: skip
@writes
def init(call: Call, *, collapse: bool | None) -> None:
    """Make the ledger in this repository: one commit with its policy and what it says of itself.

    Where it is there already, --collapse-events or --show-events changes that setting alone.
    """
    from memento_git.work.actions.setup import collapsed, init_ledger

    made = init_ledger(call.ledger, collapse=collapse)
    where = call.ledger.git.top
    folded = collapsed(call.ledger)
    data = {
        "workspace": str(where), "created": made, "state": {"backend": "git", "path": ".memento"},
        "collapse_events": folded,
    }  # fmt: skip
    text = "made the ledger in .memento" if made else "the ledger is there already"
    told = "" if collapse is None else f"; events and evidence are {'folded up' if folded else 'shown'} in diff views"
    start = {"why": "start a run for a goal", "command": "memento run start --goal TEXT"}
    look = {"why": "see what there is", "command": "memento status"}
    call.show(data, f"{text}{told}", then=[start if made else look])


@click.command()
@click.option(
    "--fix",
    is_flag=True,
    help="Finish interrupted changes, remove claims and worktrees without work, half-written files, old caches first.",
)
@click.option("--remote", default="", metavar="NAME", help="Ask this remote, too, for claims that nobody works on.")
@reads
def doctor(call: Call, *, fix: bool, remote: str) -> int:
    """Check git, the ledger and this machine's files for it; exit with 1 when something is wrong.

    With --at, check the ledger of that revision alone. No remote is asked without --remote.
    """
    from memento_git.verbs.doctor import examine

    if fix and call.at:
        raise click.UsageError("--at reads an old revision; nothing can be mended there")
    if remote and call.at:
        raise click.UsageError("--at reads an old revision, --remote asks what holds now; give one of them")
    answers = examine(call.ledger, at=call.at, fix=fix, remote=remote)
    bad = any(answer.status == "fail" for answer in answers)
    refusal = {"error": "checks_failed", "message": "something is wrong, see checks"} if bad else {}
    data = {**refusal, "checks": [answer._asdict() for answer in answers]}
    return call.show(data, lambda: _checks(answers))


def _checks(answers: Sequence[Answer]) -> str:
    """Return a line for each check; a warning of several runs alike is told of the first, with the others."""
    from memento_git.review import formats

    alike = formats.once((one.name, one.status, f"{one.message} {one.fix}") for one in answers)
    lines = []
    for at, further in alike.items():
        one = answers[at]
        told = one.message + (f"; {formats.more(further)}" if further else "")
        fix = f"  -> {one.fix}" if one.fix and one.status != "ok" else ""
        lines.append((click.style(one.status, fg=COLOURS[one.status]), one.name, output.printable(told + fix)))
    return "\n".join(output.columns(lines))


@click.command("sample-smoke")
@click.option("--goal", default="", metavar="TEXT", help="Another goal for the sample run.")
@alters
def sample_smoke(call: Call, goal: str) -> int:
    """Play a whole run in a repository of its own: --workspace names a folder that is new or a former sample."""
    from memento_git.verbs.sample import play

    steps = play(Path(call.workspace), goal)
    there = shlex.quote(call.workspace)
    text = f"{steps['report']['text']}\nplayed in {call.workspace}: memento status --workspace {there}"
    ok = steps.pop("ok")
    bad = [name for name, step in steps.items() if not step["ok"]]
    refusal = {} if ok else {"error": "sample_failed", "message": f"not as it should be: {', '.join(bad)}"}
    return call.show({**refusal, **steps}, text)


@click.command()
@click.option("--out", type=Place(path_type=Path, file_okay=False), help="Write it as a skill into this folder.")
@alters
def guide(call: Call, out: Path | None) -> None:
    """Print how to work with a ledger, as an Agent Skill for agents and people; --out writes using-memento/SKILL.md."""
    from memento_git.work.actions.setup import guide_text, write_guide

    text = guide_text()
    if out is None:
        call.show({"name": "using-memento", "text": text}, text)
    else:
        call.show({"path": str(write_guide(out, text))}, f"wrote {out / 'using-memento' / 'SKILL.md'}")


@click.command()
@click.option("--run", "go", is_flag=True, help="Run it; without, it is only shown.")
@alters
def update(call: Call, *, go: bool) -> None:
    """Show the command that updates this installation, or run it."""
    from memento_git.work.actions import update as updating

    argv = updating.update() if go else updating.plan()
    data = {"version": __version__, "steps": [{"command": argv, "ran": go}]}
    call.show(data, f"{'ran' if go else 'update with'}: {' '.join(argv)}")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell; for bash: eval "$(memento completion bash)"."""
    from click.shell_completion import get_completion_class

    from memento_git.cli.main import memento

    kind = get_completion_class(shell)
    if kind is not None:
        terminal.put(kind(memento, {}, "memento", "_MEMENTO_COMPLETE").source())
