"""memento report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from memento_git.cli import terminal
from memento_git.cli.boundary import Call, reads
from memento_git.cli.options import COUNT, of_run

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.model.rows import Row
    from memento_git.model.run_rows import RunRows

FORMATS: Final = ("markdown", "text", "json", "html")


@click.command()
@of_run()
@click.option(
    "--limit", type=COUNT, metavar="N", default=None,
    help="Most rows of each list; 0 for all. 200 by default, all for HTML.",
)  # fmt: skip
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="markdown by default.")
@click.option("--out", default="", metavar="FILE", help="Write it to this file.")
@click.option("--chat", is_flag=True, help="As text of at most 4,096 characters, what matters most first.")
@reads
def report(call: Call, run: str, limit: int | None, form: str | None, out: str, *, chat: bool) -> None:
    """Write a run's report, rebuilt from the ledger alone: Markdown, text for a chat, JSON or one HTML file."""
    from memento_git.work.overview import cut_ids

    if chat and form not in (None, "text"):
        raise click.UsageError("--chat is text: leave --format away, or make it text")
    chosen = "text" if chat else form or "markdown"
    call.json = call.json or (chosen == "json" and not out)
    made = call.ledger.now()
    most = limit if limit is not None else 0 if chosen == "html" or chat else 200
    held = _held(call, run, most)
    text = _text(held, chosen, made, chat=chat)
    answer = {"text": text, "generated_at": made, **cut_ids(held, most)}
    if out:
        whole = "".join([*terminal.envelope({"ok": True, **answer}.items()), "\n"]) if chosen == "json" else text
        size = write_file(call, out, whole)
        call.show({"out": out, "format": chosen, "bytes": size}, f"wrote {out}, {size} bytes")
    else:
        call.show(answer, lambda: terminal.clean(text))


def _held(call: Call, run: str, limit: int) -> RunRows:
    """Return all that a report tells."""
    from memento_git.review.masking import of_report
    from memento_git.review.summary import digest
    from memento_git.work.overview import LISTS, choose_among, cut, overview

    view = call.view()
    chosen, others = choose_among(view, run)
    held = overview(call.ledger, view, chosen, limit=0)
    told = digest(held)
    whole: RunRows = {**held, **told, "knowledge": _notes(view, held), "also_open": others}
    shown = cut(whole, limit, (*LISTS, *told, "knowledge", "also_open")) if limit else whole
    return of_report(shown, view.policy().allow_secrets)


def _notes(view: View, held: RunRows) -> list[Row]:
    """Return the notes that have to do with the run, its plans, its tasks or its evidence."""
    from memento_git.ledger import layout

    if layout.KNOWLEDGE not in view.folders:
        return []
    from memento_git.knowledge.note_rows import linked

    rows = [row for name in ("plans", "tasks", "evidence") for row in held[name]]
    return linked(view, {held["run"]["id"], *(row["id"] for row in rows)})


def _text(held: RunRows, form: str, made: str, *, chat: bool) -> str:
    from memento_git.review import chat as plain
    from memento_git.review.report import markdown

    if chat:
        return plain.chat(held)
    if form == "html":
        from memento_git.review.page import page

        return page(held, made)
    return plain.text(held) if form == "text" else markdown(held)


def write_file(call: Call, out: str, text: str) -> int:
    """Write a text for people to a file; return its size in bytes."""
    from memento_git.ledger import outfile

    return outfile.put(call.ledger, out, terminal.clean(text).encode(errors="replace"))
