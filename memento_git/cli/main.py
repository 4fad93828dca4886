"""The command tree: names and one-line helps here, each noun's module imported when it is used."""

from __future__ import annotations

import keyword
from importlib import import_module
from typing import Any, Final

import click

from memento_git.cli.options import at_workspace

SECTIONS: Final = {
    "Begin": {
        "init": ("setup", "Make the ledger in this repository."),
        "status": ("overview", "Show a run: what is proven, claimed, blocked, and what is next."),
        "show": ("log", "Show any record by its id."),
        "log": ("log", "List what happened to records, latest first."),
        "guide": ("setup", "Print how to work with a ledger, as a skill for agents and people."),
        "sample-smoke": ("setup", "Play a whole run in a repository of its own."),
    },
    "Work": {
        "run": ("run", "Start, pause, resume, cancel, complete runs."),
        "plan": ("plan", "Draft, approve, reject plans."),
        "task": ("task", "Add, revise, block, reopen, cancel, verify tasks; show their board, write their briefs."),
        "dispatch": ("dispatch", "Hand tasks out: create, claim, renew, complete, select, fail, recover."),
        "evidence": ("evidence", "Run commands as evidence; add, reproduce, export, approve, retract it."),
        "gate": ("gate", "Record and waive the verdicts of reviews."),
        "apply": ("apply", "Carry out a list of changes from a YAML file in one commit."),
        "preflight": ("preflight", "Check that work may begin here; look for destructive commands in a text."),
        "graph": ("graph", "Look at the code's import graph: cycles, hot spots, what changed."),
    },
    "Knowledge": {
        "recall": ("recall", "Search the ledger by question or place in the code; alone, show an overview."),
        "remember": ("remember", "Add a note, as note add does."),
        "note": ("note", "Add, revise, link, confirm and retire notes: what the project has learned."),
        "session": ("session", "Begin, check, hand over and mark a session of work."),
        "changes": ("session", "Show what happened to notes since a mark, a date, a session."),
        "recipe": ("recipe", "Save and run queries over notes, built of steps."),
        "code": ("code", "Show the code with its notes: read, grep, ls, map, coverage."),
        "scan": ("scan", "Draft notes from docstrings and comments, or from a command's output."),
        "export": ("exchange", "Export notes: as JSON lines with everything, as a digest, or as a document."),
        "import": ("exchange", "Import notes from an export, another tool or another project, in one commit."),
        "projects": ("projects", "List the projects that you have given names; add and remove them."),
        "purge": ("purge", "Rewrite the branch's history without notes that must not be there."),
    },
    "Review and share": {
        "report": ("report", "Write a run's report: Markdown, text for a chat, JSON or one HTML file."),
        "diff": ("diff", "Show what happened to the ledger between two commits."),
        "check": ("check", "Check the ledger, or what a branch adds to it."),
        "comment": ("comment", "Post a text to a pull request, as one comment that is updated."),
        "settle": ("settle", "List what needs settling, and settle it."),
        "sync": ("sync", "Synchronize this branch with the remote: fetch, merge, push (code commits too)."),
        "archive": ("settle", "Pack a completed or cancelled run into one compressed file."),
    },
    "Clients, pages, hooks": {
        "client": ("client", "Set a project up for an agent's client, and answer its hooks."),
        "mcp": ("mcp", "Serve the ledger to an MCP client, over standard input and output."),
        "web": ("web", "Serve the ledger as pages for your browser, on this machine alone."),
        "hook": ("hook", "Let git check the ledger before a commit and after a merge."),
    },
    "This installation": {
        "doctor": ("setup", "Check git, the ledger and this machine's files for it."),
        "update": ("setup", "Show the command that updates this installation, or run it."),
        "completion": ("setup", "Print the completion script for a shell."),
    },
}
COMMANDS: Final = {name: told for section in SECTIONS.values() for name, told in section.items()}


class Tree(click.Group):
    """A group that imports the module of a command when the command is asked for."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that takes one value and is given two, here or at the command that is asked for."""
        if not ctx.resilient_parsing:
            _refuse_twice(self, ctx, args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            module = import_module(f"memento_git.cli.{COMMANDS[cmd_name][0]}")
            attribute = f"{cmd_name.replace('-', '_')}{'_' * keyword.iskeyword(cmd_name)}"
            command: click.Command = getattr(module, attribute)
            if ctx.resilient_parsing:  # a shell asks what may come next
                from memento_git.cli import shell_completion

                shell_completion.offer(command)
            return command
        from memento_git.cli.seed_names import ALIASES

        alias: click.Command | None = ALIASES.get(cmd_name)
        return alias

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        wide = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(wide), text) for name, (_, text) in section.items()])


def _refuse_twice(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Ask click's own parser which options are given; what else is wrong with them, it tells when it reads them."""
    try:
        _, rest, given = command.make_parser(ctx).parse_args(list(args))
    except click.UsageError:
        return
    for option in given:
        once = isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
        if once and (times := given.count(option)) > 1:
            raise click.UsageError(f"Option {option.get_error_hint(ctx)} takes one value and is given {times}.", ctx)
    if rest and isinstance(command, click.Group) and (asked := command.get_command(ctx, rest[0])):
        _refuse_twice(asked, click.Context(asked, ctx, rest[0], **asked.context_settings), rest[1:])


@click.command(cls=Tree, invoke_without_command=False, context_settings={"help_option_names": ["-h", "--help"]})
@at_workspace
@click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
@click.option("--actor", metavar="WHO", help="Name to record; MEMENTO_ACTOR, else git's user, by default.")
@click.version_option(package_name="memento-git", prog_name="memento")
def memento(**options: Any) -> None:
    """Keep AI-assisted work provable: runs, plans, tasks and evidence in your git repository.

    Begin with `memento init`: each command names the `next` one. Agents begin with `memento guide`. Every change is one
    commit of .memento files alone. Exit codes: 0 ok, 1 refused or not found, 2 usage, 3 the ledger moved on, 4 the
    ledger is broken, 5 check found errors, 70 a bug.
    """


def command_at(path: str) -> click.Command:
    """Return the command that words such as `task add` name."""
    command: click.Command = memento
    context = click.Context(memento, **memento.context_settings)
    for word in path.split():
        if isinstance(command, click.Group):
            command = command.get_command(context, word) or command
    return command
