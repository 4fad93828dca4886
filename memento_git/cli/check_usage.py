"""memento check usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, reads
from memento_git.cli.options import COUNT
from memento_git.model.enumeration import many, some

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.model.rows import Row


@click.command("usage")
@click.option("--since", default="", metavar="WHEN", help="Commits since a date, a time, or 90d back.")
@click.option(
    "--commits", type=click.IntRange(min=1), metavar="N", default=1000, show_default=True,
    help="Latest commits to look at, of the code and of the notes.",
)  # fmt: skip
@click.option(
    "--least", type=click.IntRange(min=1), metavar="N", default=2, show_default=True,
    help="How often something must have happened.",
)  # fmt: skip
@click.option("--limit", type=COUNT, metavar="N", default=20, show_default=True, help="Rows of each list; 0 for all.")
@reads
def usage(call: Call, since: str, commits: int, least: int, limit: int) -> None:
    """Show what history says of notes: what no note covers, what is often corrected, rests on restless code, is alone.

    It looks at git's commits and at the ledger alone. Who read what is counted nowhere.
    """
    from memento_git.knowledge.actions.note_checks import note_set_at
    from memento_git.knowledge.actions.usage import check_usage

    note_set = note_set_at(call.ledger, call.at)
    told = check_usage(note_set, since=since, most=commits, least=least, limit=limit)
    call.show(told, lambda: "\n".join(_told(told, output.Names(note_set.view))))


def _told(told: Row, names: Names) -> Iterator[str]:
    looked = told["looked_at"]
    since = f" since {looked['since'][:10]}" if looked["since"] else ""
    counts = f"commits of code: {looked['commits']}, of notes: {looked['note_commits']}"
    yield f"live notes: {looked['notes']}; {counts}{since}"
    if looked["shallow"]:
        yield "this clone is shallow: earlier commits are not here, git fetch --unshallow brings them"
    if looked["wide"]:
        yield f"{looked['wide']} of them changed more than 50 files, which says nothing of any two of these"
    for name, (title, line) in LISTS.items():
        if told[name]:
            left = told["omitted"].get(name)
            yield ""
            yield f"{title}{f' ({left} more: --limit 0)' if left else ''}:"
            yield from line(told[name], names)


def _together(rows: list[Row], names: Names) -> list[str]:
    lines = []
    for row in rows:
        often = f"{row['commits']} of {row['of']} commits of {output.printable(row['with'])}"
        noted = f"notes there: {some([*map(names, row['notes'])], 3)}"
        lines.append((f"  {output.printable(row['path'])}", often, noted))
    return output.columns(lines)


def _corrected(rows: list[Row], names: Names) -> list[str]:
    return output.columns((f"  {names(row['note'])}", many(row["times"], "time"), _story(row)) for row in rows)


def _story(row: Row) -> str:
    return output.printable("; ".join((row["title"], *row["reasons"])))


def _volatile(rows: list[Row], names: Names) -> list[str]:
    return output.columns(
        (f"  {names(row['note'])}", f"{many(row['commits'], 'commit')}, {row['since']} since it was looked at",
         output.printable(row["title"]))
        for row in rows
    )  # fmt: skip


def _pairs(rows: list[Row], names: Names) -> Iterator[str]:
    for row in rows:
        yield f"  in {many(len(row['places']), 'place')}:"
        yield from output.columns((f"    {names(one['note'])}", output.printable(one["title"])) for one in row["notes"])


def _uncited(rows: list[Row], names: Names) -> list[str]:
    return output.columns(
        (f"  {names(row['note'])}", (row["confirmed_at"] or row["created_at"])[:10], output.printable(row["title"]))
        for row in rows
    )


LISTS: Final[dict[str, tuple[str, Callable[[list[Row], Names], list[str] | Iterator[str]]]]] = {
    "together": ("changes with code that notes are about, and no note covers it", _together),
    "corrected": ("often corrected", _corrected),
    "volatile": ("about code that changes much", _volatile),
    "cited_together": ("never cited but together", _pairs),
    "uncited": ("named by no other record", _uncited),
}
