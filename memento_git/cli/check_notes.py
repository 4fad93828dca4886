"""memento check anchors, impact, duplicates, conflicts, expired, usage, and check --diff."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import naming, output
from memento_git.cli.boundary import Call, reads
from memento_git.cli.check_usage import usage
from memento_git.errors import adding
from memento_git.model.anchors import UNKNOWN
from memento_git.model.enumeration import many, some

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.model.rows import Row


SHOWN: Final = 10


def _shown(
    call: Call, look: Callable[[NoteSet], Row], lines: Callable[[Row, Names], Iterable[str]], none: str = ""
) -> None:  # fmt: skip
    """Answer what a look at all notes found: as it is, or as lines, or by what is said where there are none."""
    from memento_git.knowledge.actions.note_checks import note_set_at

    note_set = note_set_at(call.ledger, call.at)
    told = look(note_set)
    call.show(told, lambda: "\n".join(lines(told, output.Names(note_set.view))) or none)


@click.command("anchors")
@click.argument("note_id", metavar="[NOTE]", default="")
@click.option("--work-tree", is_flag=True, help="As the files lie here, instead of HEAD.")
@reads
def anchors(call: Call, note_id: str, *, work_tree: bool) -> None:
    """Show what became of the code that live notes are about, or one note: ok, moved, changed, gone, unpinned, unknown.

    A place that is as it was is only counted, unless a note is named.
    """
    from memento_git.knowledge.actions.note_checks import check_anchors

    if len(call.at) > 1 or (call.at and work_tree):
        raise click.UsageError("give one --at, or --work-tree")

    def lines(told: Row, names: Names) -> list[str]:
        shown = [row for row in told["anchors"] if note_id or row["state"] != "ok"]
        counts = ", ".join(f"{count} {state}" for state, count in sorted(told["counts"].items()))
        counted = f"{many(len(told['anchors']), 'place')} of {many(told['notes'], 'note')}"
        rows = ((row["state"], names(row["note"]), row["title"], naming.place(row)) for row in map(_safe, shown))
        return [*output.columns(rows), f"{counted}: {counts or 'none'}"]

    _shown(call, lambda note_set: check_anchors(note_set, note_id, work_tree=work_tree), lines)


@click.command("impact")
@click.argument("note_id", metavar="NOTE")
@reads
def impact(call: Call, note_id: str) -> None:
    """Show what to look at when a note no longer holds.

    That is what rests on it, is linked with it, is about the same code or about code that imports it.
    """
    from memento_git.knowledge.actions.note_checks import check_impact

    def lines(told: Row, names: Names) -> list[str]:
        rows = [(names(row["note"]), names.within(row["reason"]), row["title"]) for row in map(_safe, told["impact"])]
        shown = output.columns(rows) or [f"no live note has to do with {names(told['note'])}"]
        return [*shown, *_imported(told)]

    _shown(call, lambda note_set: check_impact(note_set, note_id), lines)


def _imported(told: Row) -> list[str]:
    """Return which files import what a note is about, and in which languages that is not read."""
    files = [output.printable(path) for path in told["imported_by"]]
    lines = [f"imported by {some(files, SHOWN)}"] if files else []
    unread = ", ".join(told["imports_not_read"])
    return [*lines, *([f"imports in {unread} are not read; {adding('graph')}"] if unread else [])]


def _pairs(rows: Iterable[Row], names: Names) -> Iterator[str]:
    for row in rows:
        near = f", {row['share']:.0%} of the words" if row["share"] is not None else ""
        yield f"{row['why']}{near}"
        yield from output.columns(
            (f"  {names(one['note'])}", one["kind"], one["title"]) for one in map(_safe, row["notes"])
        )


@click.command("duplicates")
@reads
def duplicates(call: Call) -> None:
    """Show live notes with one key, the same text, or nearly the same; nothing is merged."""
    from memento_git.knowledge.actions.note_checks import check_duplicates

    none = "no live notes say the same"
    _shown(call, check_duplicates, lambda told, names: _pairs(told["duplicates"], names), none)


@click.command("conflicts")
@reads
def conflicts(call: Call) -> None:
    """Show live notes that contradict: by a link, a key, events that disagree, or perhaps by their words."""
    from memento_git.knowledge.actions.note_checks import check_conflicts

    none = "no live notes contradict"
    _shown(call, check_conflicts, lambda told, names: _pairs(told["conflicts"], names), none)


@click.command("expired")
@reads
def expired(call: Call) -> None:
    """Show live notes whose time is over, the longest ago first."""
    from memento_git.knowledge.actions.note_checks import check_expired

    def lines(told: Row, names: Names) -> list[str]:
        return output.columns(
            (names(row["note"]), row["kind"], f"{row['why']} {row['since'][:10]}", row["title"])
            for row in map(_safe, told["expired"])
        )

    _shown(call, check_expired, lines, "no live note has expired")


COMMANDS: Final = {one.name: one for one in (anchors, impact, duplicates, conflicts, expired, usage)}


def touched(call: Call, given: str, form: str) -> None:
    """Show the notes whose code a change touches; to a hook, or as annotations, nothing is said where that is none."""
    from memento_git.knowledge.actions.note_checks import STAGED, check_diff

    if call.at and (given == STAGED or len(call.at) > 1):
        raise click.UsageError("give one --at, which `staged` has no use for")
    told = check_diff(call.ledger, given, call.at)
    call.json = call.json or form == "json"
    if not told["touched"] and not call.json and (given == STAGED or form == "github"):
        return
    call.show(told, lambda: _annotations(told) if form == "github" else _touched(told))


def _touched(told: Row) -> str:
    rows = [_safe(row) for row in told["touched"]]
    if not rows:
        return "this change touches the code of no note"
    notes = len({row["note"] for row in rows})
    lines = output.columns((f"  {row['state']}", row["note"], row["title"], naming.place(row)) for row in rows)
    end = "say what still holds: memento note confirm NOTE; otherwise note revise, note retire, note add --supersedes"
    return "\n".join([f"this change touches {many(notes, 'note')}", *lines, end])


def _annotations(told: Row) -> str:
    from memento_git.review.formats import notice

    return "\n".join(
        notice(
            row.get("path", ""), row.get("lines", ""), f"{row['title']} ({row['note']})",
            f"the code that a note is about {_became(row)} by this change: {row['anchor']}",
        )
        for row in told["touched"]
    )  # fmt: skip


def _became(row: Row) -> str:
    return "may be changed (this clone cannot say)" if row["state"] == UNKNOWN else f"is {row['state']}"


def _safe(row: Row) -> Row:
    """Return a row whose texts are fit for one line of a terminal."""
    return {key: output.printable(value) if isinstance(value, str) else value for key, value in row.items()}
