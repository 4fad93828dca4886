"""memento note threads, park, resume: a thread of notes as a whole, or one note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import output
from memento_git.cli.boundary import Door, progress, reads, writes
from memento_git.cli.options import paged, scoped

if TYPE_CHECKING:
    from memento_git.model.rows import Row


@click.command("threads")
@click.option("--domain", default="", metavar="DOMAIN", help="With a note in this domain.")
@click.option("--author", default="", metavar="TEXT", help="With a note by this one, or a part of the name.")
@click.option("--live", is_flag=True, help="With a note that is active.")
@paged
@scoped
@reads
def threads(door: Door, domain: str, author: str, limit: int, offset: int, *, live: bool) -> None:
    """List the threads of notes, the one with the latest note first."""
    from memento_git.knowledge.actions.checking import shelf_at
    from memento_git.knowledge.actions.threads import list_threads
    from memento_git.knowledge.note_rows import remarks

    shelf = shelf_at(door.ledger, door.at, progress)
    rows = list_threads(shelf, domain=domain, author=author, live=live)
    door.ledger.warn(*remarks(shelf))
    output.listing(door, shelf.view, "threads", rows, lambda row, _: _line(row), limit=limit, offset=offset)


def _line(row: Row) -> tuple[str, ...]:
    states = ", ".join(f"{count} {state}" for state, count in row["states"].items())
    return output.printable(row["thread"]), row["latest"][:10], states


def _aside(name: str, doc: str) -> click.Command:
    """Make the command that moves one note, or all of a thread."""

    @click.argument("note_id", metavar="NOTE", required=False, default="")
    @click.option("--thread", default="", metavar="NAME", help="All notes of this thread, instead.")
    @click.option("--reason", default="", metavar="TEXT", help="Why.")
    @scoped
    @writes
    def called(door: Door, note_id: str, thread: str, reason: str) -> None:
        from memento_git.cli.note import changed
        from memento_git.knowledge import note_rows
        from memento_git.knowledge.actions import notes
        from memento_git.knowledge.actions import threads as acting

        if bool(note_id) == bool(thread):
            raise click.UsageError("name a note, or a --thread", click.get_current_context())
        if note_id:
            act = notes.park_note if name == "park" else notes.resume_note
            changed(door, f"note {name}", lambda tx: act(tx, note_id, reason=reason))
            return
        move = acting.park_thread if name == "park" else acting.resume_thread
        found = door.change(
            f"note {name}", lambda tx: [note_rows.after(tx, one) for one in move(tx, thread, reason=reason)]
        )
        lines = [f"{row['id']}: {row['status']}  {output.printable(row['title'])}" for row in found]
        door.show({"notes": found}, "\n".join(lines))

    return click.command(name, help=doc)(called)


def add_to(note: click.Group) -> None:
    """Give the noun these commands."""
    note.add_command(threads)
    note.add_command(_aside("park", "Set a note, or a thread, aside: it is kept, and recalled only when asked for."))
    note.add_command(_aside("resume", "Take a parked note, or the parked notes of a thread, up again."))
