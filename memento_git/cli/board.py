"""memento task board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import boundary, output, terminal
from memento_git.cli.options import of_run

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.cli.output import Names
    from memento_git.model.rows import Row

FORMATS: Final = ("text", "markdown", "json", "sqlite")


@click.command()
@of_run()
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to show it.")
@click.option("--out", default="", metavar="FILE", help="Where the SQLite file goes.")
@boundary.reads
def board(call: Call, run: str, form: str, out: str) -> None:
    """Show a run's tasks as a board: a column for each state, a card for each task.

    The JSON, or the SQLite file, is what a board elsewhere reads. Nothing is taken back from one but messages: a card
    that is moved there moves nothing here, because a state is what happened, not where a card lies. See memento task
    add --from-event.
    """
    from memento_git.work.board import as_markdown
    from memento_git.work.board import board as arranged

    if (form == "sqlite") != bool(out):
        raise click.UsageError("--format sqlite and --out FILE go together", click.get_current_context())
    call.json = call.json or form == "json"
    view, held = output.run_of(call, run)
    told = arranged(held)
    if out:
        from memento_git.ledger import outfile
        from memento_git.work.boardfile import as_sqlite

        outfile.put(call.ledger, out, as_sqlite(told))
        call.show({"out": out, "board": told}, f"wrote {out}")
        return

    def text() -> str:
        return terminal.clean(as_markdown(told)) if form == "markdown" else _told(told, output.Names(view))

    call.show({"board": told}, text)


def _told(told: Row, names: Names) -> str:
    lines = [f"{output.printable(told['goal'])}  {output.state(told['run_status'])}"]
    for column in told["columns"]:
        if not column["cards"]:
            continue
        lines += ["", f"{output.state(column['name'])} ({column['count']})"]
        lines += output.columns(_cells(card, names) for card in column["cards"])
    return "\n".join(lines if len(lines) > 1 else [*lines, "", "no tasks"])


def _cells(card: Row, names: Names) -> tuple[str, str, str]:
    from memento_git.work.board import notes_of

    notes = names.within("; ".join(output.printable(note) for note in notes_of(card)))
    return (f"  {names(card['id'])}", output.printable(card["title"]), notes)
