"""memento comment."""

from __future__ import annotations

from typing import BinaryIO

import click

from memento_git.cli import output, terminal
from memento_git.cli.boundary import Call, bare


@click.command()
@click.option("--repo", required=True, metavar="OWNER/NAME", help="Which repository there.")
@click.option("--number", required=True, type=click.IntRange(min=1), help="Number of the pull or merge request.")
@click.option("--body-file", "body", required=True, type=click.File("rb"), help="The text in Markdown; - for input.")
@click.option("--provider", default="github", show_default=True, metavar="NAME", help="github or gitlab.")
@click.option("--api", default="", metavar="URL", help="Address of the API, for a server of one's own.")
@click.option("--update-only", is_flag=True, help="Update the comment where there is one, and make none.")
@bare
def comment(call: Call, repo: str, number: int, body: BinaryIO, provider: str, api: str, *, update_only: bool) -> None:
    """Post a text to a pull request, as one comment that is updated.

    The token is in GITHUB_TOKEN or GITLAB_TOKEN. The comment is found again by a mark that nobody sees, and only among
    those of the same account; a token of an app cannot ask for its name and takes the first one of a bot that it may
    change. A token that may not comment, such as that of a fork's request, gives a warning and no failure.
    """
    from memento_git.work import comments

    told = comments.post(provider, repo, number, body.read(comments.MOST_BYTES + 1), api, make=not update_only)
    if told["reason"]:
        terminal.put(f"warning: nothing was posted: {output.printable(told['reason'])}", err=True)
    call.show(told, f"{told['action']} {output.printable(told['url'] or told['id'] or '')}".strip())
