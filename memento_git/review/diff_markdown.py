"""What happened to a ledger, as Markdown for a comment on a pull request. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.model.enumeration import cut, many, some
from memento_git.model.markup import MOST_COMMENT, code, fitting, plain, said, space, units, unlinked, worded
from memento_git.review.diff import is_proven
from memento_git.review.diff_lines import (
    Style,
    actors,
    caution,
    headline,
    is_quiet,
    judges,
    lines,
    marks,
    noted,
    overridden,
    proof,
    run_line,
    task_lines,
    way,
)  # fmt: skip
from memento_git.review.diff_notes import knowledge

if TYPE_CHECKING:
    from memento_git.model.rows import Row

RESERVE: Final = 1_536  # for the mark by which a comment is found again, how much of each code was found, the last line
FOR_DETAILS: Final = 0.3
MOST_FILES: Final = 20
MOST_LINES: Final = 60
HELD_UP: Final = ("blocked", "rejected", "cancelled")
BULKY: Final = ("evidence", "signatures", "run again")  # what may be of many tasks, and is cut first
HEAD: Final = ("| Task | From → to | By | Proof |", "| --- | --- | --- | --- |")


STYLE: Final = Style(
    say=said,
    word=worded,
    code=code,
    strong=lambda text: f"**{text}**",
    removed=lambda text: f"<del>{said(text)}</del>",
    added=lambda text: f"<ins>{said(text)}</ins>",
)


def _in_cell(text: str) -> str:
    """Return code within a table, where a pipe would end its cell."""
    return code(text).replace("|", r"\|")


CELL: Final = STYLE._replace(code=_in_cell, word=lambda text: worded(text, _in_cell))


class Block(NamedTuple):
    """Lines that belong together; what is told first of each block is told before the rest of any."""

    opening: Sequence[str]
    first: Sequence[str]
    rest: Sequence[str] = ()
    closing: Sequence[str] = ("", "</details>")
    is_whole: bool = False


def markdown(held: Row, most: int = MOST_COMMENT) -> str:
    """Return the changes within a limit; what does not fit is counted."""
    top = [f"### Ledger: {headline(held)}", *_cautions(held)]
    rows = sorted(((_weight(task), _is_new(task), _cells(task)) for task in _loud(held)), key=lambda row: row[:2])
    blocks = [*_policy(held), *_runs(held), *_notes(held), *_files(held)]
    room = most - RESERVE - units("\n".join(top))
    wanted = sum(space([*block.opening, *block.first, *block.rest, *block.closing]) for block in blocks)
    table, left_rows = _table([cells for *_, cells in rows], room - min(wanted, int(room * FOR_DETAILS)))
    told, left_lines = _fitting(blocks, room - units("\n".join(table)))
    more = [f"{many(left_rows, 'task')} in the table"] if left_rows else []
    more += [many(left_lines, "line")] if left_lines else []
    end = (
        ["", f"… and {' and '.join(more)} more than fit here: `memento diff {_range(held)}` shows all."] if more else []
    )
    return "\n".join([*top, *table, *told, *end]).rstrip() + "\n"


def _range(held: Row) -> str:
    tips = [tip[:12] for tip in held["tips"]]
    base = held["base"][:12]
    return f"{base}..{tips[0]}" if len(tips) == 1 else " --at ".join([base, *tips])


def _loud(held: Row) -> Iterator[Row]:
    return (task for run in held["runs"] for task in run["tasks"] if not is_quiet(task))


def _weight(task: Row) -> int:
    """Return how late a task stands in the table: what needs a look first; nobody waits for what the branch brought."""
    is_off = "contested" in task["became"] or task["to"] in ("contested", "rejected")
    if task["change"] == "removed" or (is_off and not _is_new(task)):
        return 0
    if is_proven(task) is False or task["unsigned"] or task["failed_since"]:
        return 1
    if task["overridden"] or is_off or (task["change"] == "changed" and (task["to"] == "cancelled" or task["texts"])):
        return 2
    return 3 if task["proven"] else 4


def _cautions(held: Row) -> Iterator[str]:
    for note in held["notes"]:
        yield from ("", f"_{said(note)}_")
    if red := caution(held):
        yield from ("", "> [!CAUTION]", f"> **{plain(red)}**")
        yield from _quoted(held["forbidden"], lambda row: f"{row['change']}: {code(cut(row['path']))}")
    weak = held["policy"]["weakened"] if held["policy"] else []
    if weak:
        yield from ("", "> [!WARNING]", "> **The policy asks less than before:**")
        yield from _quoted(weak, lambda rule: said(cut(rule)))


def _quoted(found: Sequence[Any], told: Callable[[Any], str]) -> Iterator[str]:
    yield from (f"> - {told(one)}" for one in found[:MOST_FILES])
    if (more := len(found) - MOST_FILES) > 0:
        yield f"> - and {more} more"


def _cells(task: Row) -> str:
    because = f"why: {said(cut(task['reason']))}" if task["reason"] and task["to"] in HELD_UP else ""
    told = "; ".join(filter(None, [proof(task, CELL), because, *overridden(task, CELL), *marks(task)])) or "—"
    who = actors(task["by"], CELL, whole=judges(task))
    return f"| {said(cut(task['title'], 120))} `{task['id']}` | {way(task)} | {who} | {told} |"


def _table(rows: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the table with as many rows as there is room for, and how many are left."""
    top = ["", *HEAD]
    shown = fitting(rows, room - units("\n".join(top)))
    return ([*top, *shown] if shown else []), len(rows) - len(shown)


def _policy(held: Row) -> Iterator[Block]:
    if held["policy"]:
        shown = [cut(line, 200) for line in held["policy"]["diff"]]
        longest = max((len(run) for run in re.findall("`+", "\n".join(shown))), default=0)
        fence = "`" * max(3, longest + 1)
        kept = shown[:MOST_LINES]
        more = [f"… and {many(len(shown) - MOST_LINES, 'more line')}"] if len(shown) > MOST_LINES else []
        opening = _opening("Policy (.memento/config.yaml)")
        yield Block(opening, [f"{fence}diff", *map(_clean, kept), fence, *more], is_whole=True)


def _files(held: Row) -> Iterator[Block]:
    """Yield the other files that differ as a block that opens on a click."""
    if files := held.get("files"):
        lines = [f"- {row['change']}: {code(cut(row['path']))}" for row in files]
        yield Block(_opening(f"Other files: {len(files)}"), lines[:MOST_FILES], lines[MOST_FILES:])


def _opening(summary: str) -> list[str]:
    return ["", f"<details><summary>{summary}</summary>", ""]


def _clean(line: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in line)


def _runs(held: Row) -> Iterator[Block]:
    """Yield the runs to which nothing else happened as one block, and each other as a block that opens on a click.

    Runs of which something became come before others, and those that the branch brings after those that were there.
    """
    alone: list[tuple[bool, str]] = []
    blocks = []
    for run in sorted(held["runs"], key=lambda run: (not _about(run), _is_new(run))):
        beside = list(lines(run, STYLE))
        first = [*_titled(one for one in beside if one[0] not in BULKY)]
        rest = [*_items(run), *_titled(one for one in beside if one[0] in BULKY)]
        if first or rest:
            blocks.append(Block(_opening(_title(run)), first, rest))
        else:
            alone.append((_is_new(run), _line(run)))
    if alone:
        shown, more = ([line for new, line in alone if new == late] for late in (False, True))
        yield Block([""], shown, more, ("", ""))
    yield from blocks


def _is_new(row: Row) -> bool:
    return bool(row["change"] == "added")


def _title(run: Row) -> str:
    """Return what a block opens on: the run's id in a form that no goal can have, then what others wrote."""
    about = _about(run)
    title = unlinked(html.escape(_clean(cut(run["goal"], 120) + (f": {about}" if about else ""))))
    return f"<code>{run['id']}</code> " + title.replace("$", "<span>$</span>")


def _line(run: Row) -> str:
    """Return what became of a run to which nothing else happened."""
    return f"- `{run['id']}` {said(cut(run['goal'], 120))}: {run_line(run, STYLE)}"


def _about(run: Row) -> str:
    return run_line(run, STYLE._replace(say=_clean, code=_clean, strong=_clean))


def _notes(held: Row) -> Iterator[Block]:
    """Yield what happened to notes as a block that opens on a click."""
    found = list(knowledge(held, STYLE))
    if found:
        told = [line for title, told in found for line in (f"- {title}", *(f"  - {one}" for one in told))]
        yield Block(_opening(f"Notes: {', '.join(noted(held['counts']))}"), [], told)


def _items(run: Row) -> Iterator[str]:
    """Yield what happened to the tasks of a run."""
    for task in run["tasks"]:
        if not is_quiet(task):
            yield f"- task `{task['id']}` {said(cut(task['title'], 120))}"
            yield from (f"  - {line}" for line in task_lines(task, STYLE))
    if quiet := [task["id"] for task in run["tasks"] if is_quiet(task)]:
        named = some([f"`{name}`" for name in quiet], MOST_FILES)
        yield f"- {many(len(quiet), 'task')} became stale, for the code went on: {named}"


def _titled(items: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for name, found in items:
        yield f"- {name}"
        yield from (f"  - {line}" for line in found)


def _fitting(blocks: Sequence[Block], room: int) -> tuple[list[str], int]:
    """Return as many lines as there is room for, each block closed again, and how many lines are left."""
    shown: list[list[str]] = [[] for _ in blocks]
    for last in (False, True):
        for number, block in enumerate(blocks):
            told = [*block.opening, *block.first, *(block.rest if last else ())]
            ends = 0 if shown[number] else space(block.closing)
            if not last and not block.first:
                continue
            more = fitting(told[len(shown[number]) :], room - ends)
            enough = len(told) if block.is_whole else len(block.opening)
            if len(shown[number]) + len(more) >= enough and more:
                shown[number] += more
                room -= space(more) + ends
    pairs = [*zip(blocks, shown, strict=True)]
    left = sum(1 for block, told in pairs for line in [*block.opening, *block.first, *block.rest][len(told) :] if line)
    return [line for block, told in pairs if told for line in (*told, *block.closing)], left
