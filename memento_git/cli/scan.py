"""memento scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import output
from memento_git.cli.boundary import Call, writes
from memento_git.cli.options import COUNT
from memento_git.model.clock import duration
from memento_git.model.enumeration import many

if TYPE_CHECKING:
    from memento_git.model.rows import Row


@click.command("scan")
@click.argument("path", default="")
@click.option("--docstrings", is_flag=True, help="Docstrings of Python, comments before definitions elsewhere.")
@click.option(
    "--describe-with", "command", default="", metavar="CMD",
    help="What this command prints about each file that has no note; {path} in it stands for the path, and for sh -c "
         "$MEMENTO_FILE.",
)  # fmt: skip
@click.option(
    "--timeout", default="60s", metavar="TIME", show_default=True, help="End CMD after this time, for each file."
)
@click.option(
    "--limit", type=COUNT, metavar="N", default=None,
    help="End with the file that brings so many drafts: 200, of --describe-with 20; 0 for all.",
)  # fmt: skip
@writes
def scan(call: Call, path: str, command: str, timeout: str, limit: int | None, *, docstrings: bool) -> int:
    """Draft notes from the code's docstrings and comments, or from a command's output about each file.

    Nothing is committed: memento session promote DRAFT makes a note of one. With --describe-with the text of one file
    at a time is on the standard input of CMD; where it fails for a file the others go on, and the exit code is 1.
    """
    if docstrings == bool(command):
        raise click.UsageError("say what to look for, one of both: --docstrings, --describe-with CMD")
    from memento_git.knowledge.actions.scanning import scan_described, scan_docstrings

    if docstrings:
        told = scan_docstrings(call.ledger, path, limit=200 if limit is None else limit)
    else:
        told = scan_described(
            call.ledger, command, path, limit=20 if limit is None else limit, timeout=duration(timeout)
        )
    failed = len(told["failed"])
    refusal = {"error": "not_described", "message": f"the command failed for {many(failed, 'file')}"} if failed else {}
    return call.show({**refusal, **told}, lambda: "\n".join(_told(told)))


def _told(told: Row) -> list[str]:
    files = told["files"]
    lines = [f"draft: {row['id']}  {output.printable(row['title'])}" for row in told["drafts"]]
    lines += [f"dropped: {draft}, its place has other text now" for draft in told["replaced"]]
    lines += [
        output.printable(f"left out: {row['path']} {row['symbol'] or ''}: {row['why']}") for row in told["left_out"]
    ]
    lines += [output.printable(f"failed: {row['path']}: {row['why']}") for row in told["failed"]]
    lines.append(f"{many(files['read'], 'file')} read, {files['unchanged']} known already")
    lines += [f"{many(files['left'], 'file')} left: run it again"] if files["left"] else []
    lines += [many(files["too_large"], "file is too large", "files are too large")] if files["too_large"] else []
    lines += [f"files with notes, passed over: {files['noted']}"] if files["noted"] else []
    lines += [f"not read here: {count} {language}" for language, count in files["not_parsed"].items()]
    return [*lines, *(["memento session promote DRAFT makes a note of one, --all of all"] if told["drafts"] else [])]
