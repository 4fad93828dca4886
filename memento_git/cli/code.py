"""memento code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import boundary, code_text, output
from memento_git.cli.boundary import Call, reads
from memento_git.cli.options import COUNT, paged

if TYPE_CHECKING:
    from memento_git.knowledge.overlay import Overlay


@contextmanager
def opened(call: Call, path: str = "") -> Iterator[Overlay]:
    """Yield the notes over the code at --at, else over the work tree."""
    from memento_git.knowledge import overlay

    if len(call.at) > 1:
        raise click.UsageError("--at: code is looked at at one revision")
    with overlay.opened(call.view(), call.at[0] if call.at else "", path) as found:
        yield found


code = boundary.group("code", "Show the code with its notes: read, grep, ls, map, coverage.", alone="ls")


@code.command("ls")
@click.argument("glob", default="")
@paged
@reads
def list_files(call: Call, glob: str, limit: int, offset: int) -> None:
    """List files with the number of their notes; GLOB is a folder, or a pattern such as 'src/**/*.py'."""
    from memento_git.knowledge.mapping import listed

    with opened(call) as overlay:
        found, code = listed(overlay, glob), overlay.code()
    shown, told = output.page(found, limit, offset)
    lines = output.columns((code_text.counted(row), output.printable(row["path"])) for row in shown)
    text = "\n".join([*lines, output.more(told)]) or output.nothing("files", told)
    call.show({"code": code, "files": list(shown), "page": told}, text)


@code.command("read")
@click.argument("place")
@click.option("--limit", type=COUNT, metavar="N", default=400, show_default=True, help="Most lines; 0 for all.")
@reads
def read_file(call: Call, place: str, limit: int) -> None:
    """Show a file, lines or a symbol of it, with its notes where they belong.

    PLACE is PATH, PATH:12-40, PATH::symbol, or ::symbol where one symbol in all the code has that name.
    Without --at the file is shown as it lies in the work tree now, and each note where it is there.
    """
    from memento_git.knowledge import reading

    with opened(call, reading.path_of(place)) as overlay:
        told = reading.read(overlay, place, limit=limit)
    call.show(told, lambda: "\n".join(code_text.file_text(told)))


@code.command("grep")
@click.argument("regex")
@click.argument("path", default="")
@click.option("--intent", default="", metavar="TEXT", help="What you want to know: files that its notes name first.")
@click.option("--glob", default="", metavar="GLOB", help="In files of these names only, such as '*.py'.")
@click.option("-i", "--ignore-case", is_flag=True, help="Take capital and small letters as the same.")
@click.option("--limit", type=COUNT, metavar="N", default=20, show_default=True, help="Most files; 0 for 200.")
@reads
def grep(call: Call, regex: str, path: str, *, ignore_case: bool, **options: Any) -> None:
    """Find lines by a regular expression, in the files that notes are about first."""
    from memento_git.knowledge import grepping

    with opened(call) as overlay:
        told = grepping.grep(overlay, regex, path=path, ignore_case=ignore_case, **options)
    call.show(told, lambda: "\n".join(code_text.matches_text(told)))


@code.command("map")
@click.argument("path", default="")
@paged
@reads
def show_map(call: Call, path: str, limit: int, offset: int) -> None:
    """Show the named parts of files with their notes, and what imports what."""
    from memento_git.knowledge.mapping import mapped

    with opened(call) as overlay:
        told = mapped(overlay, path)
    shown, page = output.page(told["files"], limit, offset)

    def text() -> str:
        lines = [line for row in shown for line in code_text.map_text(row, whole=len(shown) == 1)]
        return "\n".join([*lines, output.more(page)]) if shown else "nothing here has named parts"

    call.show({**told, "files": list(shown), "page": page}, text)


@code.command("coverage")
@click.argument("path", default="")
@paged
@reads
def show_coverage(call: Call, path: str, limit: int, offset: int) -> None:
    """Show how many of the code's symbols a note is about, the darkest files first."""
    from memento_git.knowledge.mapping import coverage

    with opened(call) as overlay:
        told = coverage(overlay, path)
    shown, page = output.page(told["files"], limit, offset)
    call.show(
        {**told, "files": list(shown), "page": page}, lambda: "\n".join(code_text.coverage_text(told, shown, page))
    )
