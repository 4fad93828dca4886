"""A piece of evidence with what its command printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from memento_git.cli import output, terminal
from memento_git.model.enumeration import many
from memento_git.model.finding import inside

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.ledger.view import View
    from memento_git.model.rows import EventRow, EvidenceRow, OutputRow, Row

with_output = click.option(
    "--output", "whole", is_flag=True, help="Of evidence: all that is kept of what its command printed, not the end."
)


def show(call: Call, view: View, row: EvidenceRow, beside: Mapping[str, list[EventRow]], *, whole: bool) -> None:
    """Show a piece of evidence, what its command printed, and where its files are if only an archive has them."""
    from memento_git.work.captured import captured

    kept = captured(view, row, whole=whole)
    paths = [one["path"] for one in (*row["files"], *kept) if one["path"]]
    places = dict.fromkeys(view.place_of(row["run_id"], path) for path in paths)
    then = [
        {"why": "the archive of its run has its files", "command": inside(one)} for one in places if one not in paths
    ]
    names, happened = output.Names(view), beside.get("audit", ())
    call.show(
        {"evidence": row, "output": kept, **beside},
        lambda: "\n".join([*output.fields(_spoken(row), names), *_lines(kept), *output.told_apart(happened, names)]),
        then=then or None,
    )


def _spoken(row: EvidenceRow) -> Row:
    """Return a row for people: its second runs as sentences, and whether several tasks share it."""
    from memento_git.review.report import rerun_lines

    tasks = len(row["task_ids"])
    return {**row, "reproductions": rerun_lines(row), "shared": f"by {tasks} tasks" if tasks > 1 else None}


def _lines(kept: Sequence[OutputRow]) -> Iterator[str]:
    """Yield what was printed, each line behind a bar, below what is known of it."""
    for one in kept:
        yield ""
        yield "; ".join(
            [click.style(one["stream"], fg="bright_black") + f"  {many(one['bytes'], 'byte')}", *_known(one)]
        )
        yield from (f"| {line}" for line in terminal.clean(one["text"] or "").splitlines())


def _known(one: OutputRow) -> Iterator[str]:
    if one["binary"]:
        yield "not text, so not kept"
    elif one["text"] is None:
        yield "what was kept of it is not there"
    if one["as_recorded"] is False:
        yield click.style("what is there is not what was recorded", fg="red")
    if one["cut"]:
        yield f"{many(one['cut'], 'byte')} in its middle were not kept"
    if one["redacted"]:
        yield f"{many(sum(one['redacted'].values()), 'secret')} replaced"
    if one["omitted"]:
        yield f"its end; the {many(one['omitted'], 'character')} before: --output"
    if one["path"]:
        yield one["path"]
