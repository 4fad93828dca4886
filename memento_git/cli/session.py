"""memento session, and memento changes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import naming, output, terminal
from memento_git.cli.boundary import Call, alters, bare, group, reads, writes
from memento_git.cli.options import refuse_empty, scoped
from memento_git.cli.orientation import change, item, left_over, line, orientation
from memento_git.cli.texts import read_text
from memento_git.model.clock import duration
from memento_git.model.knowledge import NOTE_KINDS

if TYPE_CHECKING:
    from memento_git.model.note_rows import NoteRow
    from memento_git.model.rows import Row

SHOWN: Final = 20
EVERY: Final = 1.0  # seconds between two looks at what is followed
PLAIN: Final = "drafts (memento session promote{whose})"
APART: Final = "other drafts (memento session promote DRAFT{whose}; all of them: memento session promote --all{whose})"
LEFT: Final = {"scanned": "of a scan", "others": "of others", "earlier": "of before this session"}
NAMED: Final = (
    "drafts that read like orders (read each: memento note show DRAFT{whose}; "
    "then memento session promote DRAFT{whose})"
)


session = group("session", "Begin, check, hand over and mark a session of work.", alone="status", of_ledger=False)


@session.command("start")
@click.option("--label", default="", metavar="TEXT", help="What it is about.")
@click.option("--new", is_flag=True, help="Begin another although one is open.")
@writes
def start(call: Call, label: str, *, new: bool) -> None:
    """Begin a session: show the last handoff, what is open, what was corrected, what changed since."""
    from memento_git.knowledge.actions import sessions
    from memento_git.review.records import record_states

    told = sessions.start_session(call.ledger, label=label, new=new, record_states=record_states)
    call.show(told, lambda: "\n".join(orientation(told)))


@session.command("status")
@scoped
@bare
def status(call: Call) -> None:
    """Show what this session made, and what it did to notes of before: notes, drafts, short-term items."""
    from memento_git.knowledge.actions import sessions

    told = sessions.session_status(call.ledger)
    call.show({"session": told}, lambda: "\n".join(_made(told, naming.whose())))


def _made(told: Row, whose: str) -> list[str]:
    lines = ["no session is open there" if whose else "no session is open: memento session start"]
    if told["id"]:
        lines = [f"session {told['id']} since {told['started_at'][:19].replace('T', ' ')}"]
    plain, named = ([row for row in told["drafts"] if row["left_out"] == why] for why in (None, "orders"))
    for title, rows in (("notes", told["notes"]), (PLAIN, plain), (NAMED, named)):
        lines += ["", f"{title.format(whose=whose)}:", *map(line, rows)] if rows else []
    apart = [line(row, _whose(row)) for row in told["drafts"] if row["left_out"] in LEFT]
    lines += ["", f"{APART.format(whose=whose)}:", *apart] if apart else []
    there = [line(row, f"on {row['branch']}") for row in told["elsewhere"]]
    lines += ["", "notes on other branches:", *there] if there else []
    lines += ["", "changed:", *map(change, told["changed"])] if told["changed"] else []
    lines += ["", "redacted:", *(f"  {one}" for one in told["redacted"])] if told["redacted"] else []
    if told["short"]:
        lines += ["", "short term:", *map(item, told["short"])]
    return lines


def _whose(draft: Row) -> str:
    """Return what keeps a draft from being promoted unnamed."""
    return f"of {output.printable(draft['actor'])}" if draft["left_out"] == "others" else LEFT[draft["left_out"]]


def _left(drafts: list[Row], whose: str) -> list[str]:
    """Return a line with the drafts that were not promoted as nobody named them, and what takes them; or nothing."""
    counts = Counter(_whose(row) for row in drafts if row["left_out"] in LEFT)
    told = ", ".join(f"{count} {words}" for words, count in counts.items())
    ways = f"memento session promote DRAFT{whose}, or all of them: memento session promote --all{whose}"
    return [f"left as drafts: {told}: {ways}"] if told else []


@session.command("checkpoint")
@click.argument("label")
@click.option("--done", multiple=True, metavar="TEXT", help="What is done; repeatable.")
@click.option("--remaining", multiple=True, metavar="TEXT", help="What remains; repeatable.")
@writes
def checkpoint(call: Call, label: str, done: tuple[str, ...], remaining: tuple[str, ...]) -> None:
    """Keep how far one is, as a note that the next session is shown."""
    from memento_git.knowledge import note_rows
    from memento_git.knowledge.actions import sessions

    row = call.change(
        "session checkpoint",
        lambda tx: note_rows.after(tx, sessions.checkpoint(tx, label, done=done, remaining=remaining)),
    )
    call.show({"note": row}, f"kept: {row['id']}  {output.printable(row['title'])}")


@session.command("promote")
@click.argument("drafts", metavar="[DRAFT]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Also those of others, of a scan, and of before this session.")
@scoped
@writes
def promote(call: Call, drafts: tuple[str, ...], *, everything: bool) -> None:
    """Make drafts notes of the ledger, in one commit; where none is named, one's own.

    Those are the drafts of who acts, of the session if one is open, and none that a scan made. An item of the short
    tier is named, too: it becomes a fact that expires, by whoever wrote it.
    """
    from memento_git.knowledge import note_rows
    from memento_git.knowledge.actions import sessions
    from memento_git.knowledge.actions.drafts import promote_drafts
    from memento_git.knowledge.drafts import Drafts

    if drafts and everything:
        raise click.UsageError("--all takes all drafts: name some, or give --all")
    before = set(Drafts(call.ledger.git).ids())
    promoted = call.change(
        "session promote",
        lambda tx: [
            (note_rows.after(tx, one.id), one.existing) for one in promote_drafts(tx, drafts, everything=everything)
        ],
    )
    waiting = sessions.drafts_left(call.ledger)
    turned = [row for row in waiting if row["id"] not in before]
    kept = () if drafts else ("orders",) if everything else ("orders", *LEFT)
    left = [row for row in waiting if row["left_out"] in kept]
    told = {
        "notes": [row for row, _ in promoted],
        "drafts": turned,
        "left": [{key: row[key] for key in ("id", "actor", "left_out")} for row in left],
    }
    lines = _promoted(promoted, turned, left)
    call.show(told, "\n".join(lines) or ("no draft was promoted" if waiting else "there are no drafts"))


def _promoted(promoted: list[tuple[NoteRow, bool]], turned: list[Row], left: list[Row]) -> list[str]:
    whose = naming.whose()
    lines = [
        f"{'kept already' if existing else 'kept'}: {row['id']}  {output.printable(row['title'])}{_until(row)}"
        for row, existing in promoted
    ]
    lines += [
        f"kept as a draft: {row['id']}  {output.printable(row['title'])}: it {', '.join(row['orders'])}, and nobody "
        f"vouches for it; read it: memento note show {row['id']}{whose}; "
        f"then memento session promote {row['id']}{whose}"
        for row in turned
    ]
    named = [row for row in left if row["left_out"] == "orders"]
    lines += [f"{NAMED.format(whose=whose)}:", *map(line, named)] if named else []
    return [*lines, *_left(left, whose)]


def _until(row: NoteRow) -> str:
    return f" (expires {row['expires'][:10]})" if row["expires"] else ""


@session.command("discard")
@click.argument("drafts", metavar="DRAFT...", nargs=-1, required=True)
@scoped
@alters
def discard(call: Call, drafts: tuple[str, ...]) -> None:
    """Drop drafts of this clone, or items of its short tier; nothing of the ledger changes."""
    from memento_git.knowledge.actions.drafts import discard_drafts

    gone = discard_drafts(call.ledger, drafts)
    call.show({"discarded": gone}, "\n".join(f"dropped: {one}" for one in gone))


@session.command("end")
@click.option("--summary", required=True, metavar="TEXT", help="The handoff; @FILE reads it from a file.")
@click.option("--remaining", multiple=True, metavar="TEXT", help="What remains; repeatable.")
@click.option("--promote", is_flag=True, help="Make the session's own drafts notes.")
@click.option("--drop", is_flag=True, help="Drop the short-term items.")
@click.option("--rating", default="", metavar="0..1", help="How it went: how much the feedback counts.")
@click.option("--request", "requests", multiple=True, metavar="TEXT", help="What would have helped; repeatable.")
@writes
def end(call: Call, summary: str, **options: Any) -> None:
    """Write a handoff that names all that the session made, and end it."""
    from memento_git.knowledge.actions import sessions

    told = sessions.end_session(call.ledger, read_text(summary, call), **options)
    left = left_over(told)
    lines = [f"handed over: {told['note']['id']}", *(f"promoted: {one}" for one in told["promoted"])]
    lines += _left(told["drafts"], "") if options["promote"] else []
    lines += [f"left: {left} (memento session promote DRAFT, or memento session discard DRAFT):"] if left else []
    lines += [*map(line, told["drafts"][:SHOWN]), *map(item, told["short"][:SHOWN])]
    more = sum(max(len(told[key]) - SHOWN, 0) for key in ("drafts", "short"))
    call.show(told, "\n".join([*lines, *([f"and {more} more: memento session status"] if more else [])]))


@session.command("mark")
@click.argument("name")
@click.option("--message", default="", metavar="TEXT", help="What the mark stands for.")
@writes
def mark(call: Call, name: str, message: str) -> None:
    """Mark what is known now with an annotated tag, memento/NAME."""
    from memento_git.knowledge.actions import sessions

    told = sessions.mark_now(call.ledger, name, message)
    call.show(told, f"marked {told['commit'][:12]} as {told['mark']}")


@click.command("changes")
@click.option(
    "--since", default="", metavar="WHEN",
    help="Mark, revision, date, length of time such as 90d, last-session; the last mark by default.",
)  # fmt: skip
@click.option("--until", default="", metavar="WHEN", help="Mark, revision, date, length of time; now by default.")
@click.option("--kind", type=click.Choice(NOTE_KINDS), default=None, help="Of notes of this kind only.")
@click.option("--domain", default="", metavar="DOMAIN", help="Of notes in this domain only.")
@click.option("--author", default="", metavar="TEXT", help="By whom, or a part of the name.")
@click.option("--topic", default="", metavar="TEXT", help="Whose title or thread has this in it.")
@click.option("--follow", is_flag=True, help="Go on and show what is committed, until interrupted.")
@click.option("--for", "length", default="", metavar="LENGTH", help="With --follow: end after this time, such as 10m.")
@reads
def changes(call: Call, since: str, until: str, length: str, *, follow: bool, **filters: str | None) -> None:
    """Show what happened to notes: added, revised, confirmed, superseded, parked, retired.

    With --follow what the branch gains is shown as it is committed, with --json one object for each note, until Ctrl-C,
    the time that --for gives, or until nobody reads it any more.
    """
    from memento_git.knowledge.actions import sessions

    refuse_empty(click.get_current_context(), texts=True)
    wanted = {key: value or "" for key, value in filters.items()}
    if follow and (until or call.at):
        raise click.UsageError("--follow goes on from now: leave --until and --at away")
    if length and not follow:
        raise click.UsageError("--for is for --follow")
    if until and call.at:
        raise click.UsageError("--until and --at both say where it ends: give one")
    if not follow:
        told = sessions.changes_since(call.ledger, since, until, at=call.at, **wanted)
        start = [] if told["since"] else ["since the beginning:"]
        lines = [*map(change, told["changes"])]
        call.show(told, lambda: "\n".join([*start, *lines]) if lines else "nothing happened to notes")
        return
    with contextlib.suppress(KeyboardInterrupt):
        _follow(call, since, duration(length) if length else None, wanted)


def _follow(call: Call, since: str, length: float | None, wanted: dict[str, str]) -> None:
    """Print what happened, then what happens."""
    from memento_git.knowledge.actions import sessions

    end = None if length is None else time.monotonic() + length

    def wait() -> bool:
        left = EVERY if end is None else min(EVERY, end - time.monotonic())
        return left > 0 and terminal.is_read(left)

    head = call.ledger.git.head()[0] or ""
    told = sessions.changes_since(call.ledger, since, head, **wanted)
    for row in chain(told["changes"], sessions.follow_changes(call.ledger, head, wait, **wanted)):
        if call.json:
            terminal.put(*terminal.envelope({"ok": True, "change": row}.items()))
        else:
            terminal.put(change(row))
        sys.stdout.flush()
