"""memento note, and memento remember."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import note_story, output
from memento_git.cli.boundary import Call, group, reads, writes
from memento_git.cli.options import across, paged, reasoned, refuse_empty, scoped
from memento_git.cli.remember import add, described, given, placed, taken_over
from memento_git.cli.texts import read_text
from memento_git.model.knowledge import NOTE_KINDS, RELATIONS, STATUSES, key_start

if TYPE_CHECKING:
    from memento_git.knowledge.note_set import NoteSet
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.note_rows import NoteRow
    from memento_git.model.rows import Row
    from memento_git.model.work import Prose


def _line(row: Row, name: str, *, scope: bool) -> list[str]:
    where = [row["scope"]] if scope else []
    against = "contradicted" if row["contradicted_by"] else ""
    ordering = "reads like orders" if row["orders"] else ""
    labels = [*output.marks(row), *filter(None, (row["validity"], against, ordering))]
    title = output.printable(row["title"]) + (f"  [{'; '.join(labels)}]" if labels else "")
    return [*where, name, row["kind"], output.state(row["status"]), title]


note = group("note", "Add, revise, link, confirm and retire notes: what the project has learned.")


@note.command("list")
@click.option("--kind", type=click.Choice(NOTE_KINDS), default=None, help="Of this kind only.")
@click.option("--domain", default="", metavar="DOMAIN", help="In this domain only.")
@click.option(
    "--status", "--state", type=click.Choice((*STATUSES, "all")), default=None, help="Active and parked by default."
)
@click.option("--key-prefix", default="", metavar="KEY", help="Whose key is this, or lies below it.")
@click.option("--thread", default="", metavar="NAME", help="Of this thread only.")
@click.option("--tag", default="", metavar="TAG", help="With this tag only.")
@paged
@across
@reads
def list_notes(call: Call, limit: int, offset: int, **given: str | None) -> None:
    """List notes, the latest first."""
    from memento_git.knowledge import unknown_terms
    from memento_git.knowledge.note_rows import listed, note_row, remarks
    from memento_git.knowledge.note_set import NoteSet

    refuse_empty(click.get_current_context(), texts=True)
    filters = {key: value or "" for key, value in given.items()}
    found: list[tuple[str, NoteSet, Prose]] = []
    missed: list[list[str]] = []
    for scope, ledger in call.ledgers():
        view = ledger.view(call.at)
        note_set = NoteSet(view)
        note_set.load()
        found += [(scope, note_set, one) for one in listed(note_set, **filters)]
        ledger.warn(*remarks(note_set))
        missed.append(unknown_terms.filters(note_set, **{name: filters[name] for name in ("domain", "thread", "tag")}))
    if missed and all(missed):
        call.ledger.warn(*missed[0])
    shown, told = output.page(found, limit, offset)
    rows: list[Row] = [{**note_row(note_set, one), "scope": scope} for scope, note_set, one in shown]

    def text() -> str:
        names = {scope: output.Names(note_set.view) for scope, note_set, _ in shown}
        lines = output.columns(_line(row, names[row["scope"]](row["id"]), scope=call.scope == "all") for row in rows)
        return "\n".join([*lines, output.more(told)]) or output.nothing("notes", told)

    call.show({"notes": rows, "page": told}, text)


note.add_command(add)


def changed(call: Call, action: str, act: Callable[[Transaction], str]) -> None:
    """Do one thing to a note, and show it."""
    from memento_git.knowledge import note_rows

    row = call.change(action, lambda tx: note_rows.after(tx, act(tx)))
    call.show({"note": row}, _moved(row))


def _moved(row: NoteRow) -> str:
    return f"{row['id']}: {row['status']}  {output.printable(row['title'])}"


@note.command("revise")
@click.argument("note_id", metavar="NOTE")
@click.option("--text", default="", metavar="TEXT", help="Its text, worded better; @FILE reads it from a file.")
@described
@click.option("--pinned/--not-pinned", default=None, help="Make it part of every digest, or not any more.")
@click.option("--clear", multiple=True, metavar="PART", help="Take its key, tags or the like away; repeatable.")
@scoped
@writes
def revise(call: Call, note_id: str, text: str, **options: Any) -> None:
    """Improve a note's wording in place; for a different decision, add a new note with --supersedes."""
    from memento_git.knowledge.actions import notes

    refuse_empty(click.get_current_context(), texts=True)
    told = placed(call, {key: value for key, value in options.items() if value not in (None, "", ())})
    changed(call, "note revise", lambda tx: notes.revise_note(tx, note_id, text=read_text(text, call), **told))


def _verb(name: str, action: str, doc: str, *options: tuple[str, str, str, str], **words: Any) -> None:
    """Make the command of a verb that takes a note and a few texts."""

    def called(call: Call, note_id: str, **given: str) -> None:
        from memento_git.knowledge.actions import notes

        changed(call, f"note {name}", lambda tx: getattr(notes, action)(tx, note_id, **given, **words))

    called.__doc__ = doc
    command = click.argument("note_id", metavar="NOTE")(scoped(writes(called)))
    for option, parameter, metavar, text in reversed(options):
        command = click.option(option, parameter, default="", metavar=metavar, help=text)(command)
    note.command(name)(command)


WHY = ("--reason", "reason", "TEXT", "Why.")
SAID = ("--note", "note_text", "TEXT", "What to remember of it.")


@note.command("confirm")
@click.argument("note_id", metavar="NOTE")
@click.option("--note", "note_text", default="", metavar="TEXT", help="What to remember of it.")
@scoped
@writes
def confirm(call: Call, note_id: str, note_text: str) -> None:
    """Say that a note was looked at and holds; reading alone never confirms."""
    from memento_git.knowledge import note_rows
    from memento_git.knowledge.actions import notes

    def act(tx: Transaction) -> tuple[NoteRow, list[tuple[str, str]]]:
        made = notes.confirm_places(tx, note_id, note_text=note_text)
        return note_rows.after(tx, made.id), made.pinned

    row, pinned = call.change("note confirm", act)
    told = [f" pinned: {output.printable(now if now == was else f'{now} (was {was})')}" for was, now in pinned]
    rows = [{"place": now, "was": was} for was, now in pinned]
    call.show({"note": row, "pinned": rows}, "\n".join([_moved(row), *told]))


_verb("restore", "restore_note", "Take a retired, superseded, merged, resolved or finished note back.", WHY)
_verb("finish", "finish_note", "Say that a goal or a checkpoint is behind us.", SAID)
_verb("promote", "promote_note", "Let a note last that would expire.", SAID)
_verb(
    "resolve", "resolve_note", "Say that a question or a gap is answered.",
    ("--answer", "answer", "NOTE", "The note that holds the answer; a text is given by --note."), SAID,
)  # fmt: skip


@note.command("progress")
@click.argument("note_id", metavar="NOTE")
@click.argument("text")
@click.option("--next", "after", default="", metavar="TEXT", help="What comes next.")
@scoped
@writes
def progressed(call: Call, note_id: str, text: str, after: str) -> None:
    """Say how far a goal is, and what comes next."""
    from memento_git.knowledge.actions import notes

    changed(call, "note progress", lambda tx: notes.progress_note(tx, note_id, progress=text, next=after))


@note.command("retire")
@click.argument("note_id", metavar="NOTE", required=False, default="")
@click.option("--key-prefix", default="", metavar="KEY", help="All live notes of this key and below it, instead.")
@click.option("--reason", default="", metavar="TEXT", help="Why they do not hold any more; it is required.")
@click.option("--dry-run", is_flag=True, help="With --key-prefix: say which ones; change nothing.")
@scoped
@writes
def retire(call: Call, note_id: str, key_prefix: str, reason: str, *, dry_run: bool) -> None:
    """Say that a note does not hold any more; restore takes it back."""
    from memento_git.knowledge.actions import notes
    from memento_git.knowledge.note_set import NoteSet

    if bool(note_id) == bool(key_prefix):
        raise click.UsageError("name a note, or a --key-prefix")
    if dry_run and note_id:
        raise click.UsageError("--dry-run goes with --key-prefix")
    if note_id:
        changed(call, "note retire", lambda tx: notes.retire_note(tx, note_id, reason=reason))
        return
    if dry_run:
        found = notes.below_prefix(NoteSet(call.view()), key_prefix)
    else:
        found = call.change("note retire", lambda tx: notes.retire_prefix(tx, key_prefix, reason=reason))
    call.show({"notes": found, "dry_run": dry_run}, lambda: _retired(call, key_prefix, found, dry_run=dry_run))


def _retired(call: Call, prefix: str, found: Sequence[str], *, dry_run: bool) -> str:
    """Return in words which notes below a key were retired, or would be."""
    from memento_git.knowledge.note_set import NoteSet

    if not found:
        return f"no live note has the key {prefix}, or one that begins with {key_start(prefix)}."
    note_set = NoteSet(call.view())
    told = output.columns((one, output.printable(note_set.note(one).data["title"])) for one in found)
    return "\n".join(["would be retired:" if dry_run else "retired:", *told])


def _link(name: str, doc: str) -> None:
    @note.command(name, help=doc)
    @click.argument("note_id", metavar="NOTE")
    @click.argument("rel", type=click.Choice(RELATIONS))
    @click.argument("to", metavar="RECORD")
    @click.option("--reason", default="", metavar="TEXT", help="Why.")
    @scoped
    @writes
    def called(call: Call, note_id: str, rel: str, to: str, reason: str) -> None:
        from memento_git.knowledge.actions import notes

        act = notes.link_note if name == "link" else notes.unlink_note
        changed(call, f"note {name}", lambda tx: act(tx, note_id, rel, to, reason=reason))


_link("link", "Link a note to another note, a run, a plan, a task or evidence.")
_link("unlink", "Take a link of a note away.")


@note.command("merge")
@click.argument("notes_ids", metavar="NOTE...", nargs=-1, required=True)
@click.option("--text", required=True, metavar="TEXT", help="What takes their place; @FILE reads it from a file.")
@click.option("--kind", type=click.Choice(NOTE_KINDS), default="summary", show_default=True, help="What it is.")
@click.option("--domain", default="", metavar="DOMAIN", help="Where it belongs; theirs by default.")
@described
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@scoped
@writes
def merge(call: Call, notes_ids: tuple[str, ...], text: str, **options: Any) -> None:
    """Put one note in the place of several; they stay, marked as merged, and it names them."""
    from memento_git.knowledge import note_rows
    from memento_git.knowledge.actions import notes

    refuse_empty(click.get_current_context(), texts=True)
    body = read_text(text, call)

    def act(tx: Transaction) -> tuple[NoteRow, notes.Merged]:
        made = notes.merge_notes(tx, notes_ids, body, **given(call, options))
        return note_rows.after(tx, made.id), made

    row, made = call.change("note merge", act)
    lost = made.coverage.lost_numbers
    told = f" it keeps {made.coverage.share:.0%} of their words" + (
        f", not the numbers {', '.join(lost)}" if lost else ""
    )
    lines = [f"merged into {row['id']}", told, *taken_over(made.carried, made.left)]
    data = {"note": row, "coverage": made.coverage._asdict(), "carried": list(made.carried), "left": list(made.left)}
    call.show(data, "\n".join(lines))


@note.command("redact")
@click.argument("target", metavar="NOTE|EVENT")
@reasoned
@scoped
@writes
def redact(call: Call, target: str, reason: str) -> None:
    """Take a note, or the texts of what happened to one, out of the ledger; git's history still has them."""
    from memento_git.cli import settle

    settle.redact(call, "note", target, reason)


@note.command("show")
@click.argument("note_id", metavar="NOTE")
@click.option("--what", type=click.Choice(note_story.PARTS), default=None, help="One part of its story.")
@note_story.walked
@scoped
@reads
def show_note(call: Call, note_id: str, what: str | None, **walk: Any) -> None:
    """Show one note, by its id or key, and what happened to it."""
    note_story.shown(call, note_id, what, walk)


@note.command("threads")
@click.option("--domain", default="", metavar="DOMAIN", help="With a note in this domain.")
@click.option("--author", default="", metavar="TEXT", help="With a note by this one, or a part of the name.")
@click.option("--live", is_flag=True, help="With a note that is active.")
@paged
@scoped
@reads
def show_threads(call: Call, domain: str, author: str, limit: int, offset: int, *, live: bool) -> None:
    """List the threads of notes, the one with the latest note first."""
    from memento_git.knowledge.actions.note_checks import note_set_at
    from memento_git.knowledge.actions.threads import list_threads
    from memento_git.knowledge.note_rows import remarks

    note_set = note_set_at(call.ledger, call.at)
    rows = list_threads(note_set, domain=domain, author=author, live=live)
    call.ledger.warn(*remarks(note_set))
    output.listing(call, note_set.view, "threads", rows, lambda row, _: _thread(row), limit=limit, offset=offset)


def _thread(row: Row) -> tuple[str, ...]:
    states = ", ".join(f"{count} {state}" for state, count in row["states"].items())
    return output.printable(row["thread"]), row["latest"][:10], states


def _aside(name: str, doc: str) -> None:
    """Make the command that moves one note, or all of a thread."""

    @note.command(name, help=doc)
    @click.argument("note_id", metavar="NOTE", required=False, default="")
    @click.option("--thread", default="", metavar="NAME", help="All notes of this thread, instead.")
    @click.option("--reason", default="", metavar="TEXT", help="Why.")
    @scoped
    @writes
    def called(call: Call, note_id: str, thread: str, reason: str) -> None:
        from memento_git.knowledge import note_rows
        from memento_git.knowledge.actions import notes, threads

        if bool(note_id) == bool(thread):
            raise click.UsageError("name a note, or a --thread")
        if note_id:
            act = notes.park_note if name == "park" else notes.resume_note
            changed(call, f"note {name}", lambda tx: act(tx, note_id, reason=reason))
            return
        move = threads.park_thread if name == "park" else threads.resume_thread
        found = call.change(
            f"note {name}", lambda tx: [note_rows.after(tx, one) for one in move(tx, thread, reason=reason)]
        )
        call.show({"notes": found}, "\n".join(map(_moved, found)))


_aside("park", "Set a note, or a thread, aside: it is kept, and recalled only when asked for.")
_aside("resume", "Take a parked note, or what was last parked of a thread, up again.")
