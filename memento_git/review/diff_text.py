"""What happened to a ledger, as text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from memento_git.model.enumeration import cut, many
from memento_git.model.markup import one_line
from memento_git.review.diff_lines import Style, caution, headline, is_quiet, lines, run_line, task_lines  # fmt: skip
from memento_git.review.diff_notes import knowledge

if TYPE_CHECKING:
    from memento_git.model.rows import Row


STYLE: Final = Style(
    say=one_line,
    word=one_line,
    code=one_line,
    strong=lambda text: text,
    removed=lambda text: f"[-{one_line(text)}-]",
    added=lambda text: f"{{+{one_line(text)}+}}",
)


def text(held: Row) -> str:
    """Return all changes, a block for each run."""
    return "\n".join(_lines(held))


def _lines(held: Row) -> Iterator[str]:
    tips = " + ".join(tip[:12] for tip in held["tips"])
    yield f"{held['base'][:12]} to {tips}: {headline(held)}"
    yield from (f"note: {one_line(note)}" for note in held["notes"])
    if red := caution(held):
        yield f"! {red}"
        yield from (f"!   {row['change']} {one_line(row['path'])}" for row in held["forbidden"])
    if held["policy"]:
        yield "policy"
        yield from (f"  asks less: {one_line(rule)}" for rule in held["policy"]["weakened"])
        yield from (f"    {line}" for line in held["policy"]["diff"])
    for run in held["runs"]:
        yield from _run(run)
    for title, found in knowledge(held, STYLE):
        yield title
        yield from (f"  {line}" for line in found)
    if files := held.get("files"):
        yield "other files"
        yield from (f"  {row['change']} {one_line(row['path'])}" for row in files)


def _run(run: Row) -> Iterator[str]:
    told = run_line(run, STYLE)
    yield f"{run['id']}  {one_line(cut(run['goal'], 120))}" + (f"  {told}" if told else "")
    quiet = [task for task in run["tasks"] if is_quiet(task)]
    for task in run["tasks"]:
        if not is_quiet(task):
            yield f"  task {task['id']} {one_line(cut(task['title'], 120))}"
            yield from (f"    {line}" for line in task_lines(task, STYLE))
    if quiet:
        yield f"  {many(len(quiet), 'task')} became stale: {', '.join(task['id'] for task in quiet)}"
    for name, found in lines(run, STYLE):
        yield f"  {name}"
        yield from (f"    {line}" for line in found)
