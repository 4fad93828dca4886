"""memento diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import terminal
from memento_git.cli.boundary import Call, reads

if TYPE_CHECKING:
    from memento_git.model.rows import Row


@click.command()
@click.argument("range_", metavar="[A..B]", default="")
@click.option(
    "--format", "form", type=click.Choice(("text", "markdown", "json")), default=None, help="text by default."
)
@reads
def diff(call: Call, range_: str, form: str | None) -> None:
    """Show what happened to the ledger between two commits: who moved which task, and what proves it.

    Also what happened to notes, and which of them are about code that the change touches. A..B compares two commits,
    A...B begins where they parted, one revision begins where HEAD parted from it. Without any, it is where HEAD parted
    from its upstream, or from main where there is none or it has all of HEAD. --at names the newer side instead of
    HEAD; several are its union. The Markdown fits a comment on a pull request: what does not fit is counted.
    """
    from memento_git.ledger import policyfile
    from memento_git.review.diff_other_files import with_files
    from memento_git.review.masking import of_diff
    from memento_git.review.note_changes import with_notes
    from memento_git.work.actions.comparing import compare

    call.json = call.json or form == "json"
    told = with_notes(call.ledger, compare(call.ledger, range_, call.at))
    judge = call.ledger.side((told["judged_by"],))
    told = of_diff(with_files(call.ledger, told), policyfile.ruling(judge)[0].allow_secrets if judge.exists else ())
    call.show(told, lambda: terminal.clean(_text(told, form or "text")))


def _text(told: Row, form: str) -> str:
    if form == "markdown":
        from memento_git.review.diff_markdown import markdown

        return markdown(told)
    from memento_git.review.diff_text import text

    return text(told)
