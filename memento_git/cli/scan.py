"""memento scan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import boundary, output
from memento_git.cli.boundary import COUNT, Door, writes

if TYPE_CHECKING:
    from memento_git.folding.rows import Row

READING: Final = partial(boundary.progress, what="the code")


@click.command("scan")
@click.argument("path", default="")
@click.option("--docstrings", is_flag=True, help="Docstrings of Python, comments before definitions elsewhere.")
@click.option("--limit", type=COUNT, metavar="N", default=200, show_default=True, help="Most drafts; 0 for all.")
@writes
def scan(door: Door, path: str, limit: int, *, docstrings: bool) -> None:
    """Make drafts of what the code says of itself; memento session promote makes notes of them."""
    from memento_git.knowledge.actions.scanning import scan_docstrings

    if not docstrings:
        raise click.UsageError("say what to look for: --docstrings", click.get_current_context())
    told = scan_docstrings(door.ledger, path, limit=limit, allow_secrets=door.allow_secrets, progress=READING)
    door.show(told, lambda: "\n".join(_told(told)))


def _told(told: Row) -> list[str]:
    files = told["files"]
    lines = [f"draft: {row['id']}  {output.printable(row['title'])}" for row in told["drafts"]]
    lines += [f"dropped: {draft}, its place says something else now" for draft in told["replaced"]]
    lines += [
        output.printable(f"left out: {row['path']} {row['symbol'] or ''}: {row['why']}") for row in told["left_out"]
    ]
    lines.append(f"{files['read']} files read, {files['unchanged']} known already")
    lines += [f"{files['left']} files left: run it again"] if files["left"] else []
    lines += [f"{files['too_large']} files are too large"] if files["too_large"] else []
    lines += [f"not read here: {count} {language}" for language, count in files["not_parsed"].items()]
    return [*lines, *(["memento session promote makes notes of drafts"] if told["drafts"] else [])]
