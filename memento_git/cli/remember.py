"""memento remember, which is memento note add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from memento_git.cli import naming, output
from memento_git.cli.boundary import Call, writes
from memento_git.cli.options import refuse_empty, scoped
from memento_git.cli.texts import read_text, rooted
from memento_git.model.knowledge import NOTE_KINDS, ORIGINS, TIERS

WORDS = {"ledger": "kept", "drafts": "kept as a draft", "short": "kept for now"}


def described(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say what a note is, beside its text."""
    options = (
        click.option("--title", default="", metavar="TEXT", help="Its name; the text's first line by default."),
        click.option("--key", default="", metavar="KEY", help="A dotted key that no other live note has."),
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable."),
        click.option("--alias", "aliases", multiple=True, metavar="TEXT", help="Other words for it; repeatable."),
        click.option("--importance", default="", metavar="0..1", help="How much it matters."),
        click.option("--confidence", default="", metavar="0..1", help="How sure it is."),
        click.option(
            "--tier",
            type=click.Choice(TIERS),
            default=None,
            help="medium expires (after 90d by default); long, the default, does not.",
        ),
        click.option("--expires", default="", metavar="WHEN", help="A date, a time or a length such as 90d."),
        click.option("--valid-from", default="", metavar="WHEN", help="From when it is true."),
        click.option("--valid-to", default="", metavar="WHEN", help="Until when it is true."),
        click.option("--thread", default="", metavar="NAME", help="A line of thought that it is part of."),
        click.option("--to", default="", metavar="WHO", help="Whom a question is for."),
        click.option(
            "--about",
            multiple=True,
            metavar="PLACE",
            help="Code it is about: PATH, PATH:12-40, PATH::symbol, dep:NAME, pattern:GLOB:TEXT.",
        ),
        click.option("--source", "sources", multiple=True, metavar="TEXT", help="Where it comes from; repeatable."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def given(call: Call, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return placed(call, {key: value for key, value in options.items() if value not in (None, "", (), False)})


def placed(call: Call, options: dict[str, Any]) -> dict[str, Any]:
    """Return options whose places in the code have their paths from the top; refuse places where there is no code."""
    if not options.get("about"):
        return options
    if call.scope == "user":
        from memento_git.scopes import NoCodeBeside

        raise NoCodeBeside(place=options["about"][0])
    return rooted(call.ledger, options)


@click.command("add")
@click.argument("text")
@click.option(
    "--kind",
    type=click.Choice(NOTE_KINDS),
    default=None,
    help="What it is; by default like those it supersedes, or a fact.",
)
@click.option("--domain", default="", metavar="DOMAIN", help="Where it belongs; follows from the kind by default.")
@described
@click.option("--link", "links", multiple=True, metavar="REL:ID", help="A link to another record; repeatable.")
@click.option("--evidence", multiple=True, metavar="EVIDENCE", help="Evidence that it rests on; repeatable.")
@click.option("--supersedes", multiple=True, metavar="NOTE", help="A note that it takes the place of; repeatable.")
@click.option("--reason", default="", metavar="TEXT", help="Why it takes the place of another.")
@click.option("--pinned", is_flag=True, help="Make it part of every digest.")
@click.option(
    "--origin",
    type=click.Choice(ORIGINS),
    default=None,
    help="Lower origin: command for a program's output, import for text from elsewhere.",
)
@click.option("--draft", is_flag=True, help="Keep it in this clone only, until session promote.")
@click.option("--short", is_flag=True, help="Keep only the text, for now: in this clone, among the latest 200 or so.")
@scoped
@writes
def add(call: Call, text: str, **options: Any) -> None:
    """Add a note; TEXT is Markdown, @FILE reads it from a file, - from standard input; @@ stands for one @."""
    refuse_empty(click.get_current_context(), texts=True)
    _add(call, read_text(text, call), options)


remember = click.Command("remember", params=add.params, callback=add.callback, help="Add a note, as note add does.")


def taken_over(carried: Sequence[str], left: Sequence[str]) -> list[str]:
    """Return what to say of the notes whose place a note takes: what it goes on saying of them, and what not."""
    lines = [f" it takes over {', '.join(carried)} from what it takes the place of"] if carried else []
    return [*lines, *([f" it does not take over {', '.join(left)}"] if left else [])]


def _add(call: Call, text: str, options: dict[str, Any]) -> None:
    from memento_git.knowledge.actions.remembering import keep_note

    told = given(call, options)
    kept = call.keep(lambda ledger: keep_note(ledger, text, **told))
    word = "kept already" if kept.added.existing else WORDS[kept.where]
    lines = [f"{word}: {kept.row['id']}  {output.printable(kept.row['title'])}"]
    lines += [f" {kept.why}"] if kept.why else []
    if kept.where == "drafts":
        draft = f"{kept.row['id']}{naming.whose()}"
        lines.append(f" read it: memento note show {draft}; keep it: memento session promote {draft}")
    lines += [f" {one.told()}" for one in kept.added.alike]
    lines += taken_over(kept.added.carried, kept.added.left)
    near = [one._asdict() for one in kept.added.alike]
    data = {
        "note": kept.row,
        "existing": kept.added.existing,
        "alike": near,
        "where": kept.where,
        "why": kept.why or None,
        "carried": list(kept.added.carried),
        "left": list(kept.added.left),
    }
    call.show(data, "\n".join(lines))
