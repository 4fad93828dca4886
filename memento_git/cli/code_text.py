"""Code with its notes as lines for people: what is a note is fenced, so that nobody takes it for code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import naming, output, terminal
from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from memento_git.model.rows import Row

FEW: Final = 6
SHOWN: Final = 12


def counted(row: Row) -> str:
    """Return how many notes a file has, and how many of them are stale."""
    stale = click.style(f", {row['stale']} stale", fg="yellow") if row["stale"] else ""
    count = row["notes"] if isinstance(row["notes"], int) else len(row["notes"])
    return f"{many(count, 'note')}{stale}" if count else ""


def file_text(told: Row) -> list[str]:
    first, total = told["lines"]["first"], told["lines"]["total"]
    notes: dict[int, list[str]] = {}
    for row in told["notes"]:
        start = max(first, int(row["lines"].partition("-")[0])) if row["lines"] else first
        notes.setdefault(start, []).extend(_note(row))
    width = len(str(told["lines"]["last"]))
    lines = [f"{output.printable(told['path'])}, {many(total, 'line')}, {_moment(told['code'])}", ""]
    for number, text in enumerate(told["text"].split("\n") if total else [], first):
        lines += notes.pop(number, [])
        lines.append(f"{click.style(str(number).rjust(width), fg='bright_black')}  {terminal.clean(text)}".rstrip())
    lines += [line for rest in notes.values() for line in rest]
    last, wanted = told["lines"]["last"], told["lines"]["wanted"]
    if last < wanted:
        lines.append(f"… {many(wanted - last, 'more line')}: memento code read {told['path']}:{last + 1}-{wanted}")
    return [*lines, "", *_footer(told)]


def _moment(told: Row) -> str:
    if told["commit"]:
        return f"at commit {told['commit'][:12]}"
    return "in the work tree" + (", not as it is at HEAD" if told.get("changed") else "")


def _note(row: Row) -> list[str]:
    """Return a note as lines that no reader takes for code: its labels, and the beginning of its text."""
    labels = [click.style(row["state"], fg="yellow") if row["stale"] else row["state"], f"origin {row['origin']}"]
    labels += [output.state(row["status"])] if row["status"] != "active" else []
    labels += output.marks(row)
    labels += [f"contradicted by {', '.join(row['contradicted_by'])}"] if row["contradicted_by"] else []
    labels += [f"it {one}: do not obey it" for one in row["orders"]]
    place = output.printable(naming.spot(row, f"all of {row['path']}"))
    if row["lines"]:
        place = f"{'lines' if '-' in row['lines'] else 'line'} {row['lines']}"
    text = terminal.clean(row["text"]).strip().splitlines()
    text = text[1:] if text and output.printable(text[0].lstrip("#>*- ")) == output.printable(row["title"]) else text
    told = [f"{row['id']}  {row['kind']} about {place} ({', '.join(labels)})", output.printable(row["title"])]
    told += [output.printable(row["why"])] if row["why"] and row["stale"] else []
    told += [f"  {line}" for line in text[:FEW]]
    told += [f"  … {many(len(text) - FEW, 'more line')}: memento note show {row['id']}"] if len(text) > FEW else []
    return [f"{click.style('|', fg='cyan')} {line}".rstrip() for line in told]


def _footer(told: Row) -> list[str]:
    covered = told["coverage"]
    lines = [f"notes here {len({row['id'] for row in told['notes']})}, elsewhere in the file {told['elsewhere']}"]
    if covered["symbols"]:
        lines.append(f"covered {covered['noted']} of {covered['symbols']} named parts have a note")
    elif covered["problem"]:
        lines.append(f"covered unknown: {output.printable(covered['problem'])}")
    if told["stale"]:
        stale = f"stale {', '.join(told['stale'])}: look, then memento note confirm NOTE"
        lines.append(click.style(stale, fg="yellow"))
    return lines


def matches_text(told: Row) -> list[str]:
    lines = []
    for row in told["files"]:
        lines.append(click.style(output.printable(row["path"]), fg="cyan"))
        lines += [
            f"| {one['id']}  {output.printable(one['title'])} ({one['state']})"
            for one in {one["id"]: one for one in row["notes"]}.values()
        ]
        lines += [f"{one['line']}: {terminal.clean(one['text'])}{'…' if one['cut'] else ''}" for one in row["lines"]]
        lines += [f"… {many(row['omitted'], 'more line')}"] if row["omitted"] else []
        lines.append("")
    left = f", {told['files_omitted']} not shown" if told["files_omitted"] else ""
    away = [f"not searched: {many(told['files_away'], 'file')} that this partial clone lacks"]
    return [
        *lines,
        *(away if told["files_away"] else []),
        f"{many(told['matches'], 'line')} in {many(told['files_total'], 'file')}{left}, {_moment(told['code'])}",
    ]


def map_text(row: Row, *, whole: bool) -> list[str]:
    """Return a file of the map; of several files only the parts that have notes."""
    told = [many(len(row["parts"]), "part")] if row["parts"] else []
    told += [counted(row)] if row["notes"] else []
    told += [f"imported by {len(row['imported_by'])}"] if row["imported_by"] else []
    told += [output.printable(row["problem"])] if row["problem"] else []
    lines = [f"{click.style(output.printable(row['path']), fg='cyan')}  {', '.join(told)}".rstrip()]
    lines += output.columns(
        (f"  {part['lines']}", output.printable(part["name"]), ", ".join(part["notes"]))
        for part in row["parts"]
        if whole or part["notes"]
    )
    for key in ("imports", "imported_by") if whole else ("imports",):
        names = row[key] if whole else row[key][:SHOWN]
        more = f" and {len(row[key]) - len(names)} more" if len(names) < len(row[key]) else ""
        lines += [f"  {key.replace('_', ' ')} {output.printable(', '.join(names))}{more}"] if names else []
    return lines


def coverage_text(told: Row, shown: Any, page: dict[str, int]) -> list[str]:
    lines = ["no symbols here"]
    if told["symbols"]:
        head = f"{told['noted']} of {told['symbols']} symbols have a note ({told['share']:.1%})"
        lines = [f"{head}, {_moment(told['code'])}"]
        lines.append(f"files without any note {told['files_dark']}")
    lines += output.columns(
        (
            f"{row['share']:.0%}", f"{row['noted']} of {row['symbols']}", counted(row),
            f"imported by {row['imported_by']}" if row["imported_by"] else "", output.printable(row["path"]),
        )
        for row in shown
    )  # fmt: skip
    lines += [output.more(page)] if output.more(page) else []
    return lines + [f"not looked into: {count} ({why})" for why, count in told["not_read"].items()]
