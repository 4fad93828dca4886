"""memento evidence."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from memento_git.cli import boundary, captured, machine_errors, output, settle, steps, terminal
from memento_git.cli.boundary import Call, reads, writes
from memento_git.cli.evidence_check import check
from memento_git.cli.options import Place, of_run, of_task, paged, reasoned, signs
from memento_git.cli.reproduce import export, reproduce
from memento_git.cli.texts import from_top
from memento_git.errors import MementoError
from memento_git.model.clock import duration
from memento_git.model.ids import IdInvalid, NoSuchRecord, is_id
from memento_git.model.markup import spoken
from memento_git.model.states import RUN_KINDS
from memento_git.model.work import EVIDENCE_KINDS

if TYPE_CHECKING:
    from memento_git.ledger.store import Ledger
    from memento_git.model.rows import EvidenceRow
    from memento_git.work.actions.evidences import Draft

TOO_LATE: Final = 124  # as timeout(1) has it


evidence = boundary.group("evidence", "Run commands as evidence; add, reproduce, export, approve, retract it.")
evidence.add_command(check)
evidence.add_command(reproduce)
evidence.add_command(export)


@evidence.command("list")
@of_run()
@of_task("Only evidence for this task.")
@click.option("--kind", type=click.Choice(EVIDENCE_KINDS), default=None, help="Only evidence of this kind.")
@click.option("--query", default="", metavar="WORDS", help="Only evidence whose summary has all these words.")
@paged
@reads
def list_evidence(call: Call, run: str, task: str, kind: str | None, query: str, limit: int, offset: int) -> None:
    """List the evidence of a run, oldest first."""
    from memento_git.review.report import evidence_line
    from memento_git.work.overview import choose_run, early_overview

    view = call.view()
    chosen = view.find(task, "task") if task else ("", choose_run(view, run))
    if task and run and view.find(run, "run")[0] != chosen[1]:
        raise NoSuchRecord(kind="task", given=f"{chosen[0]} in run {run}")
    held = early_overview(call.ledger, view, chosen[1], limit=0)
    output.warn_of_broken(call, held)
    words = query.lower().split()
    found = [
        row for row in held["evidence"]
        if (not task or chosen[0] in row["task_ids"]) and kind in (None, row["kind"])
        and all(word in (row["summary"] or "").lower() for word in words)
    ]  # fmt: skip
    output.listing(
        call, view, "evidence", found,
        lambda row, names: (names.within(output.printable(spoken(evidence_line(row)))),),
        limit=limit, offset=offset,
    )  # fmt: skip


@evidence.command("show")
@click.argument("evidence_id", metavar="EVIDENCE")
@captured.with_output
@reads
def show_evidence(call: Call, evidence_id: str, *, whole: bool) -> None:
    """Show one piece of evidence, and what its command printed."""
    from memento_git.work import answers

    view = call.view()
    captured.show(call, view, answers.shown(view, evidence_id, "evidence"), {}, whole=whole)


@evidence.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD...")
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="Task that it may prove; repeatable.")
@of_run("Run that it belongs to; that of its tasks by default.")
@click.option(
    "--kind",
    default="",
    metavar="WORD",
    help=f"{', '.join(RUN_KINDS)}; by default the kind that a check on this command asks for, else command.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FILE",
    help="JUnit or coverage XML, coverage JSON or SARIF that the command writes; repeatable.",
)
@click.option(
    "--covers",
    multiple=True,
    metavar="PATH",
    help="Bind it to this path, from the top, or from here if that is not there, instead of all code; repeatable.",
)
@click.option("--summary", default="", metavar="TEXT", help="What it shows.")
@click.option("--timeout", default="", metavar="TIME", help="End the command after this time.")
@click.option("--dispatch", default="", metavar="DISPATCH", help="Dispatch that it comes from.")
@click.option("--out", type=Place(path_type=Path, file_okay=False), help="Write into this folder and commit nothing.")
@writes
def run_command(
    call: Call, argv: tuple[str, ...], tasks: tuple[str, ...], run: str, kind: str, reports: tuple[str, ...],
    covers: tuple[str, ...], summary: str, timeout: str, out: Path | None, dispatch: str,
) -> int:  # fmt: skip
    """Run a command and record the result as evidence; exit with its exit code.

    If it passed, but timed out, that is 124, and 1 if a report is missing or cannot be read. Its output passes through
    as it appears. Recorded are argv, exit code, time, digests of all output with redacted and size-limited copies, the
    reports, and git's ids of the code before and after.
    """
    from memento_git.work.actions import evidences, folders

    ledger = call.ledger
    linked = _dispatch(call, dispatch, apart=out is not None)
    _refuse_out(call, out, run)
    expected = _full(tasks, ledger.actor) if out is not None else _expect(call, tasks, run, summary, linked)
    draft = evidences.witness(
        ledger, argv, kind=kind or evidences.kind_asked(ledger, expected, argv), reports=reports,
        covers=_places(call, covers, reports), timeout=duration(timeout) if timeout else None, quiet=call.json,
    )  # fmt: skip
    draft.data["dispatch"] = linked
    code = _code(draft.data)
    ledger.warn(*draft.data["problems"], *_misplaced(ledger, reports))
    if out is not None:
        with _kept(call, draft, tasks):
            identity = folders.write_folder(ledger, draft, out, expected, summary)
        call.show({"evidence_id": identity, "out": str(out), "exit_code": code}, f"wrote {identity} to {out}")
        return code
    row = _record(call, draft, run, tasks, summary)
    told = f"recorded {row['id']}: {row['outcome']}, {row['trust_level']}"
    ledger.warn(*_spoilt(row))
    then = steps.citing(call, row)
    if call.json:
        call.show({"evidence": row, "exit_code": code}, told, then=then)
    else:
        terminal.put(told + boundary.leading(then), err=True)
    return code


def _code(data: Mapping[str, Any]) -> int:
    """Return the exit code of a command; one that says it ended well, beside what could not be recorded, did not."""
    spoilt = TOO_LATE if data["command"]["timed_out"] else int(bool(data["problems"]))
    return int(data["command"]["exit"]) or spoilt


def _refuse_out(call: Call, out: Path | None, run: str) -> None:
    """Refuse a folder that evidence must not be written to, and a run, which no evidence in a folder says."""
    from memento_git.work.actions import folders

    if out is None:
        return
    if run:
        raise click.UsageError("a run is named when the folder is added: memento evidence add --from FOLDER --run RUN")
    folders.refuse_taken(call.ledger, out)


def _misplaced(ledger: Ledger, reports: Sequence[str]) -> list[str]:
    """Return how reports are named that are not in this folder, where the command may have written them at the top."""
    here, top = ledger.git.start.resolve(), ledger.git.cwd
    lost = [given for given in reports if not (here / given).exists() and (top / given).is_file()]
    named = [(given, os.path.relpath(top / given, here)) for given in lost]
    return [
        f"there is {given} at the top; from this folder that is --report {shlex.quote(one)}" for given, one in named
    ]


def _spoilt(row: EvidenceRow) -> list[str]:
    """Return what reports say of a command that itself ended well, where that makes it a failure."""
    from memento_git.review.report import report_line

    bad = [] if row["exit_code"] else [report for report in row["reports"] if not report["ok"] and report["failed"]]
    return [f"{report['name']} says that it failed: {spoken(report_line(report))}" for report in bad]


def _dispatch(call: Call, dispatch: str, *, apart: bool) -> str:
    """Return the full id of the dispatch; for evidence in a folder it must be given in full."""
    if apart and dispatch and not is_id(dispatch, "dispatch"):
        raise IdInvalid(given=dispatch, kind="dispatch")
    return call.view().find(dispatch, "dispatch")[0] if dispatch and not apart else dispatch


def _expect(call: Call, tasks: tuple[str, ...], run: str, summary: str, dispatch: str) -> list[str]:
    """Refuse before the command runs what would be refused after it."""
    from memento_git.work.actions import evidences

    return call.change(
        "evidence run", lambda tx: evidences.foresee(tx, run=run, tasks=tasks, summary=summary, dispatch=dispatch)
    )


def _full(tasks: tuple[str, ...], actor: str) -> list[str]:
    """Return the tasks of evidence that is written to a folder: there may be no ledger to look a prefix up in."""
    for task in tasks:
        if not actor or not is_id(task, "task"):
            raise IdInvalid(given=task, kind="task")
    return list(tasks)


def _places(call: Call, covers: tuple[str, ...], reports: tuple[str, ...]) -> list[str]:
    """Return the covered paths from the top; refuse names that evidence may not hold before the command runs."""
    from memento_git.work.actions import evidences
    from memento_git.work.actions.tasks import place

    places = [place(path) for path in from_top(call.ledger, covers)]
    evidences.refuse_secret_names(call.ledger, reports=reports, covers=places)
    return places


def _record(call: Call, draft: Draft, run: str, tasks: tuple[str, ...], summary: str) -> EvidenceRow:
    """Record what a command showed."""
    from memento_git.work.actions import evidences

    with _kept(call, draft, tasks):
        row: EvidenceRow = call.row(
            "evidence run", lambda tx: evidences.record_draft(tx, draft, run=run, tasks=tasks, summary=summary)
        )
        return row


@contextlib.contextmanager
def _kept(call: Call, draft: Draft, tasks: tuple[str, ...]) -> Iterator[None]:
    """Keep what a command showed where it cannot be written down now, and say how to add it later, or how it ended."""
    from memento_git.work.actions import folders

    try:
        with machine_errors.refusals():
            yield
    except MementoError as error:
        error.hint = f"{error.hint}; {folders.keep_drafts(call.ledger, [draft], tasks)}"
        raise


@evidence.command("add")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="Task that it may prove; repeatable.")
@of_run("Run that it belongs to; that of its tasks by default.")
@click.option(
    "--kind", default="artifact", show_default=True, help="What kind of evidence: artifact, screenshot, diff, ci, …"
)
@click.option("--uri", default="", metavar="URI", help="A link, or a file:// of the repository.")
@click.option("--diff", default="", metavar="A..B", help="The code between two commits, by patch-id.")
@click.option("--from", "folder", type=Place(path_type=Path), help="A folder that evidence run --out wrote, as it is.")
@click.option(
    "--outcome", default="observed", type=click.Choice(["passed", "failed", "observed"]), help="What it says."
)
@click.option("--dispatch", default="", metavar="DISPATCH", help="Dispatch that it comes from.")
@click.option("--summary", default="", metavar="TEXT", help="What it shows.")
@writes
def add(
    call: Call, files: tuple[str, ...], tasks: tuple[str, ...], run: str, kind: str, uri: str, diff: str,
    folder: Path | None, outcome: str, summary: str, dispatch: str,
) -> None:  # fmt: skip
    """Add files, a link, a diff or imported evidence."""
    from memento_git.work.actions import evidences, folders

    if folder is not None:
        unlike = {"kind": kind != "artifact", "outcome": outcome != "observed"}
        folders.refuse_beside(files=files, uri=uri, diff=diff, summary=summary, **unlike)
        row = call.row("evidence add", lambda tx: folders.import_folder(
            tx, Path(folder), run=run, tasks=tasks, dispatch=dispatch
        ))  # fmt: skip
    else:
        chosen = "diff" if diff and kind == "artifact" else kind
        row = call.row("evidence add", lambda tx: evidences.add_evidence(
            tx, chosen, run=run, tasks=tasks, summary=summary, files=files, uri=uri, diff=diff, outcome=outcome,
            dispatch=dispatch,
        ))  # fmt: skip
    call.show({"evidence": row}, f"added {row['id']}: {row['trust_level']}", then=steps.citing(call, row))


@evidence.command("approve")
@click.argument("about", metavar="RECORD")
@click.option("--summary", default="", metavar="TEXT", help="What to remember of it.")
@click.option("--prompt", default="", metavar="TEXT", help="What was asked.")
@click.option("--response", metavar="TEXT", help="What was answered; only a plain yes approves.")
@signs
@writes
def approve(call: Call, about: str, summary: str, prompt: str, response: str | None, key: str, *, sign: bool) -> None:
    """Record one's approval of a run, plan, task or piece of evidence.

    With --response it is what the answer says: a plain yes, in English, Korean or one of some other languages, and
    nothing else approves. A later answer of the same actor replaces an earlier one.
    """
    from memento_git.work.actions import evidences

    row = call.row("evidence approve", lambda tx: evidences.approve(
        tx, about, summary=summary, prompt=prompt, response=response, sign=sign, key=key
    ))  # fmt: skip
    approved = row["outcome"] == "passed"
    told = "approved" if approved else "that is not plainly a yes: did not approve"
    shown = f"{told} {row['approves']} as {row['id']}"
    call.show({"evidence": row, "approved": approved}, shown, then=steps.due(call, row["run_id"]))


@evidence.command("supersede")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@writes
def supersede(call: Call, old: str, new: str, reason: str) -> None:
    """Say that NEW takes the place of OLD."""
    from memento_git.work.actions import evidences

    row = call.row("evidence supersede", lambda tx: evidences.supersede(tx, old, new, reason=reason))
    call.show({"evidence": row}, f"superseded {row['id']}", then=steps.due(call, row["run_id"]))


@evidence.command("retract")
@click.argument("evidence_id", metavar="EVIDENCE")
@reasoned
@writes
def retract(call: Call, evidence_id: str, reason: str) -> None:
    """Withdraw evidence that should not have been believed; what it proved is unproven."""
    from memento_git.work.actions import evidences

    row = call.row("evidence retract", lambda tx: evidences.retract(tx, evidence_id, reason=reason))
    call.show({"evidence": row}, f"retracted {row['id']}", then=steps.due(call, row["run_id"]))


@evidence.command("redact")
@click.argument("target", metavar="EVIDENCE|EVENT")
@reasoned
@writes
def redact(call: Call, target: str, reason: str) -> None:
    """Take evidence, or the texts of an event, out of the ledger; git's history still has them."""
    settle.redact(call, "evidence", target, reason)
