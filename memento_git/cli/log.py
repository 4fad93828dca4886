"""memento log, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memento_git.cli import captured, naming, note_story, output
from memento_git.cli.boundary import Call, reads
from memento_git.cli.options import of_run, paged
from memento_git.errors import Misused
from memento_git.ledger import layout
from memento_git.model.ids import IdInvalid, NoSuchRecord, kind_of, opening_of, verb_of

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.ledger.view import View
    from memento_git.model.rows import EventRow, Row


class VerbUnknown(Misused):
    token = "verb_unknown"
    sentence = "{given!r} is not the verb of any event"
    hint_ = "one of: {known}"


@click.command()
@of_run("Events of this run only.")
@click.option("--record", default="", metavar="ID", help="Events of this record only.")
@click.option("--who", default="", metavar="ACTOR", help="Events by an actor whose name contains this.")
@click.option("--verb", default="", metavar="VERB", help="Events of this verb only: completed, or task.completed.")
@click.option("--since", default="", metavar="TIME", help="From this time on: 2026-11-21, a full time, or 90d back.")
@click.option("--until", default="", metavar="TIME", help="Before this time.")
@paged
@click.option(
    "--commits", is_flag=True, help="List the ledger's commits instead; --run, --who, --since and --until choose."
)
@reads
def log(call: Call, run: str, limit: int, offset: int, *, commits: bool, **filters: str) -> None:
    """List what happened, latest first, of all records together: that each was made, too; it needs no git history.

    What happened in one run or to one note keeps its order whatever the clocks said; they are mixed by their clocks.
    """
    from memento_git.knowledge.typed_times import past_moment

    view = call.view()
    filters |= {name: past_moment(name, filters[name], view.now) for name in ("since", "until") if filters[name]}
    if commits:
        _commits(call, view, run, filters, limit, offset)
        return
    if filters["verb"]:
        _refuse_unknown(filters["verb"])
    filters["record"] = naming.full_id(view, filters["record"]) if filters["record"] else ""
    events = [row for row in reversed(_events(view, run, filters["record"])) if _wanted(row, filters)]
    output.listing(call, view, "audit", events, _event, limit=limit, offset=offset, none="events")


def _commits(call: Call, view: View, run: str, filters: dict[str, str], limit: int, offset: int) -> None:
    from memento_git.ledger.history import commit_names, ledger_commits

    for name in ("record", "verb"):
        if filters.pop(name):
            message = f"--{name} chooses events, and --commits lists commits; give one of them"
            raise click.UsageError(message)
    names = commit_names(view, run=view.find(run, "run")[0] if run else "", **filters)
    shown, told = output.page(names, limit, offset)
    rows = ledger_commits(view, shown)
    text = "\n".join(filter(None, [*map(_commit, rows), output.more(told)])) or output.nothing("commits", told)
    call.show({"commits": rows, "page": told}, text)


def _event(row: EventRow, names: Names) -> tuple[str, ...]:
    return output.when(row), names(row["record"]), verb_of(row["action"]), output.who(row, names)


def _refuse_unknown(verb: str) -> None:
    """Refuse a verb that no event has, on any record or on this kind of one."""
    from memento_git.model.events import actions

    kind, known = verb.rpartition(".")[0], actions()
    if verb not in {*known, *(verb_of(action) for action in known)}:
        near = [action for action in known if action.startswith(f"{kind}.")] or known
        elsewhere = [action for action in known if verb_of(action) == verb_of(verb)]
        verbs = sorted({verb_of(action) for action in near})
        raise VerbUnknown(given=verb[:60], known=", ".join([*elsewhere, *verbs]))


def _events(view: Any, given: str, record: str) -> list[EventRow]:
    from memento_git.folding.event_rows import clocked, mixed
    from memento_git.work.row_cache import story

    kind = record.partition("_")[0]
    runs = [view.find(given, "run")[0]] if given else [] if kind == "note" else view.runs()
    told = [story(view, run) for run in runs]
    if not given and kind in ("", "note", "event") and layout.KNOWLEDGE in view.folders:
        from memento_git.knowledge.note_rows import histories

        told += histories(view, record if kind == "note" else "")
    return mixed(*map(clocked, told))


def _wanted(row: EventRow, filters: dict[str, str]) -> bool:
    return (
        _about(row, filters["record"])
        and filters["who"].lower() in row["actor"].lower()
        and filters["verb"] in ("", row["action"], verb_of(row["action"]))
        and row["created_at"] >= filters["since"]
        and (not filters["until"] or row["created_at"] < filters["until"])
    )


def _about(row: EventRow, wanted: str) -> bool:
    """Tell whether an event is the one that is wanted, or happened to that record; a dispatch is part of its task."""
    opened = opening_of(wanted)
    return wanted in ("", row["record"], row["payload"].get("dispatch")) or row["id"] == opened


def _commit(row: Row) -> str:
    return (
        f"{row['commit'][:10]} {row['date'][:19]} {output.printable(row['author'])}: {output.printable(row['subject'])}"
    )


@click.command()
@click.argument("identity", metavar="RECORD")
@click.option("--what", type=click.Choice(note_story.PARTS), default=None, help="Of a note: one part of its story.")
@note_story.walked
@captured.with_output
@reads
def show(call: Call, identity: str, what: str | None, *, whole: bool, **walk: Any) -> None:
    """Show any record by its id or a unique prefix of one, with what happened to it.

    With --what blame ID may be PATH or PATH:12-40: shown is who wrote the notes that are about it.
    """
    view = call.view()
    try:
        full = naming.full_id(view, identity)
    except (IdInvalid, NoSuchRecord):
        if not note_story.shown_beside(call, identity, what, walk):
            raise
        return
    kind = kind_of(full)
    if whole and kind != "evidence":
        message = f"--output is of evidence, and {full} is none"
        raise click.UsageError(message)
    if kind == "note" or not view.find(full, kind)[1]:
        if kind == "note":
            note_story.shown(call, full, what, walk)
        else:
            note_story.shown_event(call, full)
        return
    if what:
        from memento_git.knowledge.connections import NothingOfThat

        raise NothingOfThat(what=what, record=full)
    if any(walk.values()):
        from memento_git.knowledge.connections import GraphOnly

        raise GraphOnly
    _record(call, view, full, whole=whole)


def _record(call: Call, view: View, full: str, *, whole: bool) -> None:
    """Show a record of a run, and what happened to it."""
    from memento_git.work import answers

    kind = kind_of(full)
    row = answers.shown(view, full, kind)
    subject = row["task_id"] if kind == "dispatch" else full
    events = [] if kind == "event" else [one for one in answers.history(view, subject) if _about(one, full)]
    if kind == "evidence":
        captured.show(call, view, row, {"audit": events}, whole=whole)
    else:
        output.record(call, view, row, {kind: row, "audit": events}, events)
