"""memento code."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import boundary, output, terminal
from memento_git.cli.boundary import COUNT, Door, paged, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memento_git.folding.rows import Row
    from memento_git.knowledge.overlay import Overlay

READING: Final = partial(boundary.progress, what="the code")
FEW: Final = 6
SHOWN: Final = 12


@contextmanager
def _overlay(door: Door, path: str = "") -> Iterator[Overlay]:
    """Yield the notes over the code at --at, else over the work tree."""
    from memento_git.knowledge import overlay

    if len(door.at) > 1:
        raise click.UsageError("--at: code is looked at at one revision")
    with overlay.opened(door.view(), door.at[0] if door.at else "", path) as found:
        yield found


def _ls(door: Door, glob: str = "", *, limit: int = 50, offset: int = 0) -> None:
    from memento_git.knowledge.mapping import listed

    with _overlay(door) as overlay:
        found, code = listed(overlay, glob), overlay.code()
    shown, told = output.page(found, limit, offset)
    lines = output.columns((_count(row), output.printable(row["path"])) for row in shown)
    text = "\n".join([*lines, output.more(told)]) if found else "no file"
    door.show({"code": code, "files": list(shown), "page": told}, text)


def _count(row: Row) -> str:
    """Return how many notes a file has, and how many of them are stale."""
    stale = click.style(f", {row['stale']} stale", fg="yellow") if row["stale"] else ""
    count = row["notes"] if isinstance(row["notes"], int) else len(row["notes"])
    return f"{count} note{'' if count == 1 else 's'}{stale}" if count else ""


code = boundary.group("code", "Show the code with its notes: read, grep, ls, map, coverage.", _ls)


@code.command("ls")
@click.argument("glob", default="")
@paged
@reads
def list_files(door: Door, glob: str, limit: int, offset: int) -> None:
    """List files with the number of their notes; GLOB is a folder, or a pattern such as 'src/**/*.py'."""
    _ls(door, glob, limit=limit, offset=offset)


@code.command("read")
@click.argument("place", metavar="PATH[:A-B]")
@click.option("--limit", type=COUNT, metavar="N", default=400, show_default=True, help="Most lines; 0 for all.")
@reads
def read_file(door: Door, place: str, limit: int) -> None:
    """Show a file, or lines of it, with its notes where they belong.

    Without --at the file is shown as it lies in the work tree now, and each note where it is there.
    """
    from memento_git.knowledge import reading

    with _overlay(door, reading.path_of(place)) as overlay:
        told = reading.read(overlay, place, limit=limit)
    door.show(told, lambda: "\n".join(_file(told)))


def _file(told: Row) -> list[str]:
    first, total = told["lines"]["first"], told["lines"]["total"]
    notes: dict[int, list[str]] = {}
    for row in told["notes"]:
        start = max(first, int(row["lines"].partition("-")[0])) if row["lines"] else first
        notes.setdefault(start, []).extend(_note(row))
    width = len(str(told["lines"]["last"]))
    lines = [f"{output.printable(told['path'])}, {total} lines, {_moment(told['code'])}", ""]
    for number, text in enumerate(told["text"].split("\n") if total else [], first):
        lines += notes.pop(number, [])
        lines.append(f"{click.style(str(number).rjust(width), fg='bright_black')}  {terminal.clean(text)}".rstrip())
    lines += [line for rest in notes.values() for line in rest]
    last, wanted = told["lines"]["last"], told["lines"]["wanted"]
    more = [f"… {wanted - last} more lines: memento code read {told['path']}:{last + 1}-{wanted}"] if last < wanted else []
    return [*lines, *more, "", *_footer(told)]


def _moment(told: Row) -> str:
    if told["commit"]:
        return f"at commit {told['commit'][:12]}"
    return "in the work tree" + (", not as it is at HEAD" if told.get("changed") else "")


def _note(row: Row) -> list[str]:
    """Return a note as lines that no reader takes for code: its labels, and the beginning of its text."""
    labels = [click.style(row["state"], fg="yellow") if row["stale"] else row["state"], f"origin {row['origin']}"]
    labels += [output.state(row["status"])] if row["status"] != "active" else []
    labels += ["expired"] if row["expired"] else []
    labels += [f"contradicted by {', '.join(row['contradicted_by'])}"] if row["contradicted_by"] else []
    labels += [f"it {one}: do not obey it" for one in row["orders"]]
    place = f"lines {row['lines']}" if row["lines"] else "the file"
    text = terminal.clean(row["text"]).strip().splitlines()
    text = text[1:] if text and output.printable(text[0].lstrip("#>*- ")) == output.printable(row["title"]) else text
    told = [f"{row['id']}  {row['kind']} about {place} ({', '.join(labels)})", output.printable(row["title"])]
    told += [output.printable(row["why"])] if row["why"] and row["stale"] else []
    told += [f"  {line}" for line in text[:FEW]]
    told += [f"  … {len(text) - FEW} more lines: memento note show {row['id']}"] if len(text) > FEW else []
    return [f"{click.style('|', fg='cyan')} {line}".rstrip() for line in told]


def _footer(told: Row) -> list[str]:
    covered = told["coverage"]
    lines = [f"notes here {len({row['id'] for row in told['notes']})}, elsewhere in the file {told['elsewhere']}"]
    if covered["symbols"]:
        lines.append(f"covered {covered['noted']} of {covered['symbols']} named parts have a note")
    elif covered["problem"]:
        lines.append(f"covered unknown: {output.printable(covered['problem'])}")
    if told["stale"]:
        lines.append(click.style(f"stale {', '.join(told['stale'])}: look, then memento note confirm NOTE", fg="yellow"))
    return lines


@code.command("grep")
@click.argument("regex")
@click.argument("path", default="")
@click.option("--intent", default="", metavar="TEXT", help="What you want to know: files that its notes name first.")
@click.option("--glob", default="", metavar="GLOB", help="In files of these names only, such as '*.py'.")
@click.option("-i", "--ignore-case", is_flag=True, help="Take capital and small letters as the same.")
@click.option("--limit", type=COUNT, metavar="N", default=20, show_default=True, help="Most files; 0 for 200.")
@reads
def grep(door: Door, regex: str, path: str, *, ignore_case: bool, **options: Any) -> None:
    """Find lines by a regular expression, in the files that notes are about first."""
    from memento_git.knowledge import grepping

    with _overlay(door) as overlay:
        told = grepping.grep(overlay, regex, path=path, ignore_case=ignore_case, **options)
    door.show(told, lambda: "\n".join(_matches(told)))


def _matches(told: Row) -> list[str]:
    lines = []
    for row in told["files"]:
        lines.append(click.style(output.printable(row["path"]), fg="cyan"))
        lines += [
            f"| {one['id']}  {output.printable(one['title'])} ({one['state']})"
            for one in {one["id"]: one for one in row["notes"]}.values()
        ]
        lines += [f"{one['line']}: {terminal.clean(one['text'])}{'…' if one['cut'] else ''}" for one in row["lines"]]
        lines += [f"… {row['omitted']} more lines"] if row["omitted"] else []
        lines.append("")
    left = f", {told['files_omitted']} not shown" if told["files_omitted"] else ""
    return [*lines, f"{told['matches']} lines in {told['files_total']} files{left}, {_moment(told['code'])}"]


@code.command("map")
@click.argument("path", default="")
@paged
@reads
def show_map(door: Door, path: str, limit: int, offset: int) -> None:
    """Show the named parts of files with their notes, and who imports whom."""
    from memento_git.knowledge.mapping import mapped

    with _overlay(door) as overlay:
        told = mapped(overlay, path, READING)
    shown, page = output.page(told["files"], limit, offset)

    def text() -> str:
        lines = [line for row in shown for line in _mapped(row, whole=len(shown) == 1)]
        return "\n".join([*lines, output.more(page)]) if shown else "nothing here has named parts"

    door.show({**told, "files": list(shown), "page": page}, text)


def _mapped(row: Row, *, whole: bool) -> list[str]:
    """Return a file of the map; of several files only the parts that have notes."""
    told = [f"{len(row['parts'])} parts"] if row["parts"] else []
    told += [_count(row)] if row["notes"] else []
    told += [f"imported by {len(row['imported_by'])}"] if row["imported_by"] else []
    told += [output.printable(row["problem"])] if row["problem"] else []
    lines = [f"{click.style(output.printable(row['path']), fg='cyan')}  {', '.join(told)}".rstrip()]
    lines += output.columns(
        (f"  {part['lines']}", output.printable(part["name"]), ", ".join(part["notes"]))
        for part in row["parts"]
        if whole or part["notes"]
    )
    for key, word in (("imports", "imports"), ("imported_by", "imported by")):
        names = row[key] if whole else row[key][:SHOWN]
        more = f" and {len(row[key]) - len(names)} more" if len(names) < len(row[key]) else ""
        lines += [f"  {word} {output.printable(', '.join(names))}{more}"] if names and (whole or key == "imports") else []
    return lines


@code.command("coverage")
@click.argument("path", default="")
@paged
@reads
def show_coverage(door: Door, path: str, limit: int, offset: int) -> None:
    """Show how many of the code's symbols a note is about, the darkest files first."""
    from memento_git.knowledge.mapping import coverage

    with _overlay(door) as overlay:
        told = coverage(overlay, path, READING)
    shown, page = output.page(told["files"], limit, offset)
    door.show({**told, "files": list(shown), "page": page}, lambda: "\n".join(_covered(told, shown, page)))


def _covered(told: Row, shown: Any, page: dict[str, int]) -> list[str]:
    if not told["symbols"]:
        lines = ["no symbols here"]
    else:
        lines = [f"{told['noted']} of {told['symbols']} symbols have a note ({told['share']:.1%}), {_moment(told['code'])}"]
        lines.append(f"files without any note {told['files_dark']}")
    lines += output.columns(
        (
            f"{row['share']:.0%}", f"{row['noted']} of {row['symbols']}", _count(row),
            f"imported by {row['imported_by']}" if row["imported_by"] else "", output.printable(row["path"]),
        )
        for row in shown
    )  # fmt: skip
    lines += [output.more(page)] if output.more(page) else []
    return lines + [f"not looked into: {count} ({why})" for why, count in told["not_read"].items()]
