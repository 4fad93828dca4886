"""memento dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memento_git.cli import boundary, handover, output, steps
from memento_git.cli.boundary import Call, both, reads, writes
from memento_git.cli.options import noted, of_run, paged, reasoned
from memento_git.model.clock import lasting
from memento_git.model.states import DISPATCH_STATUSES
from memento_git.model.work import FAILURES
from memento_git.work import task_steps

if TYPE_CHECKING:
    from memento_git.cli.output import Names
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.rows import DispatchRow, EvidenceRow, Row, TaskRow
    from memento_git.work.actions.selections import Selection


def _line(row: DispatchRow, names: Names) -> tuple[str, ...]:
    return (
        names(row["dispatch_id"]), output.state(row["status"]), names(row["task_id"]),
        output.printable(row["executor"]), output.holder(row),
    )  # fmt: skip


dispatch = boundary.group("dispatch", "Hand tasks out: create, claim, renew, complete, select, fail, recover.")


@dispatch.command("list")
@of_run()
@click.option("--status", type=click.Choice(DISPATCH_STATUSES), default=None, help="Only dispatches in this state.")
@paged
@reads
def list_dispatches(call: Call, run: str, status: str | None, limit: int, offset: int) -> None:
    """List the dispatches of a run."""
    view, held = output.run_of(call, run)
    found = [row for row in held["dispatches"] if status in (None, row["status"])]
    output.listing(call, view, "dispatches", found, _line, limit=limit, offset=offset)


@dispatch.command("show")
@click.argument("dispatch_id", metavar="DISPATCH")
@reads
def show_dispatch(call: Call, dispatch_id: str) -> None:
    """Show one dispatch."""
    from memento_git.work import answers

    view = call.view()
    row = answers.at(view, dispatch_id, "dispatch")
    output.record(call, view, row, row)


@dispatch.command("create")
@click.argument("task_id", metavar="TASK")
@click.option(
    "--executor", required=True, metavar="WHO", help="Who is to do the task, such as agent:NAME; nothing is started."
)
@of_run("Refuse a task of another run.")
@click.option("--candidate", is_flag=True, help="One of several tries at the same task.")
@click.option("--worktree", is_flag=True, help="Make a worktree and a branch for it, beside the repository.")
@click.option(
    "--over-budget", default="", metavar="WHY", help="Hand it out although its budget of attempts is spent; say why."
)
@click.option("--note", "--reason", default="", metavar="TEXT", help="What to remember of it.")
@click.option(
    "--allow-destructive", multiple=True, metavar="RULE",
    help="Hand it out although its text names such a command; needs a reason.",
)  # fmt: skip
@writes
def create(
    call: Call, task_id: str, executor: str, run: str, note: str, over_budget: str, allow_destructive: tuple[str, ...],
    *, candidate: bool, worktree: bool,
) -> None:  # fmt: skip
    """Hand a ready task to somebody."""
    from memento_git.work.actions import dispatches

    if worktree:
        from memento_git.work.actions.handover import HandoverOptions

        options = HandoverOptions(executor, run, candidate, note, over_budget, allow_destructive)
        handover.create_apart(call, task_id, options)
        return
    row = call.row("dispatch create", lambda tx: dispatches.create_dispatch(
        tx, task_id, executor, run=run, candidate=candidate, note=note, over_budget=over_budget,
        allow_destructive=allow_destructive,
    ))  # fmt: skip
    data = {**row, "dispatched": True}
    call.show(data, f"dispatched {row['task_id']} as {row['dispatch_id']}", then=[task_steps.claiming("it", row)])


@dispatch.command("claim")
@click.argument("dispatch_id", metavar="DISPATCH")
@click.option("--lease", default="", metavar="TIME", help="How long the claim holds; policy's lease by default.")
@noted
@click.option("--sync", is_flag=True, help="Take it on the remote first: it holds for all clones, or not at all.")
@click.option("--remote", default="", metavar="REMOTE", help="With --sync: which; that of the upstream by default.")
@writes
def claim(call: Call, dispatch_id: str, lease: str, note: str, remote: str, *, sync: bool) -> None:
    """Claim a dispatch: from now on nobody else can, in this clone, or with --sync in any.

    With --sync the commits of the ledger are pushed, and with them the claim. Where commits of code are not on the
    remote yet, nothing is: the claim holds there by its ref, and `memento sync` pushes the rest.
    """
    from memento_git.work.actions import dispatches

    seconds = _seconds(lease)
    if sync:
        from memento_git.cli.sync import claim_on_remote

        claim_on_remote(call, dispatch_id, remote, seconds, note)
        return
    if remote:
        raise click.UsageError("--remote needs --sync")
    row = call.row("dispatch claim", lambda tx: dispatches.claim_dispatch(tx, dispatch_id, lease=seconds, note=note))
    _tell_of_remotes(call, row["dispatch_id"], row["lease_until"])
    call.show(row, f"claimed {row['dispatch_id']} until {row['lease_until']}", then=steps.reading(row))


def _tell_of_remotes(call: Call, dispatch: str, until: str) -> None:
    """Note where a remote holds the claim for a shorter time than this clone."""
    from memento_git.ledger import claims

    if claims.may_be_on_remotes(call.ledger.git):
        from memento_git.work.actions import stale_claims

        call.ledger.warn(*stale_claims.behind(call.ledger.git, dispatch, until))


def _seconds(lease: str) -> int:
    """Return how long a lease is, 0 for policy's."""
    return lasting(lease) if lease else 0


@dispatch.command("renew")
@click.argument("dispatch_id", metavar="DISPATCH")
@click.option("--lease", default="", metavar="TIME", help="How long from now; policy's lease by default.")
@click.option("--force", is_flag=True, help="Commit even before half of the lease has passed.")
@writes
def renew(call: Call, dispatch_id: str, lease: str, *, force: bool) -> None:
    """Lengthen a claim; it is committed only once half of the lease has passed.

    Where it was made with --sync, the remote and other clones learn of it by the next `memento sync`.
    """
    from memento_git.work.actions import dispatches

    seconds = _seconds(lease)
    name, until, committed = call.change(
        "dispatch renew", lambda tx: dispatches.renew_dispatch(tx, dispatch_id, lease=seconds, force=force)
    )
    _tell_of_remotes(call, name, until)
    data = {"dispatch_id": name, "lease_until": until, "committed": committed}
    call.show(data, f"{'renewed' if committed else 'still held:'} {name} until {until}", then=[])


@dispatch.command("complete")
@click.argument("dispatch_id", metavar="DISPATCH")
@click.option("--evidence", multiple=True, metavar="EVIDENCE", help="Evidence that it rests on; repeatable.")
@click.option(
    "--evidence-uri", multiple=True, metavar="URI", help="A file:// of the repository or a link, added as evidence."
)
@click.option("--summary", "--note", default="", metavar="TEXT", help="What was done.")
@click.option(
    "--graph/--no-graph", default=None, help="Record the import graph too, or not; policy decides by default."
)
@writes
def complete(
    call: Call, dispatch_id: str, evidence: tuple[str, ...], evidence_uri: tuple[str, ...], summary: str, *,
    graph: bool | None = None,
) -> None:  # fmt: skip
    """Complete a claimed dispatch, and its task, on evidence that policy accepts."""
    from memento_git.work import answers
    from memento_git.work.actions import checkpoints, dispatches, evidences
    from memento_git.work.run_writer import RunWriter

    def act(
        tx: Transaction,
    ) -> tuple[DispatchRow, TaskRow, list[EvidenceRow], checkpoints.Checkpoint | None, list[EvidenceRow]]:
        task = answers.after(tx, RunWriter.of(tx).find(dispatch_id, "dispatch")[0])["task_id"]
        added = [
            evidences.add_evidence(tx, "artifact", tasks=[task], uri=uri, summary=f"Named when {task} was completed.")
            for uri in evidence_uri
        ]
        name, found = dispatches.complete(tx, dispatch_id, [*evidence, *added], note=summary, graph=graph)
        cited = [tx.view.find(one, "evidence")[0] for one in (*evidence, *added)]
        cited_rows, against = ([answers.after(tx, one) for one in some] for some in (cited, _against(tx, name)))
        return answers.after(tx, name), answers.after(tx, task), cited_rows, found, against

    checkpoints.look_ahead(call.ledger, dispatch_id, graph)
    row, task, cited, checkpoint, against = call.change("dispatch complete", act)
    data = {
        **row, "task": task, "proven": task["proven"], "evidence": cited[0] if len(cited) == 1 else cited,
        "graph": checkpoint.row() if checkpoint else None,
    }  # fmt: skip
    then = steps.onward(task, candidate=row["candidate"], against=against)
    recorded = f"\n graph recorded as {checkpoint.evidence}" if checkpoint and checkpoint.recorded else ""
    call.show(data, f"completed {row['task_id']}, {output.proof(task)}{recorded}", then=then)


def _against(tx: Transaction, name: str) -> list[str]:
    """Return the evidence for which verification will reject the task of a dispatch that was just completed."""
    from memento_git.work.proof import verification_inputs
    from memento_git.work.run_writer import RunWriter

    _, state = RunWriter.of(tx).find(name, "dispatch")
    completion = state.dispatch(name).ended
    return verification_inputs.failed_beside(state, completion) if completion else []


@dispatch.command("select")
@click.argument("task_id", metavar="TASK")
@click.option(
    "--candidate", "only", multiple=True, metavar="DISPATCH", help="Look at this one; repeatable; all by default."
)
@click.option("--record", "record", default="", metavar="DISPATCH|best", help="Choose this one, or the best one.")
@click.option("--reason", default="", metavar="TEXT", help="Why; required where it is not the best.")
@both
def select(call: Call, task_id: str, only: tuple[str, ...], record: str, reason: str) -> int:
    """Compare the completed candidates of a task by what the ledger holds of each; with --record choose one.

    What counts is proof, tests, failures, size of the diff, the code's graph, cost and time. A candidate that is not
    proven, or that touches what nobody should take over unseen, is out. Nothing is merged. Exits with 1 if none fits.
    """
    from memento_git.work import answers
    from memento_git.work.actions import selections

    if record:
        found = call.change(
            "dispatch select",
            lambda tx: selections.select_candidate(tx, task_id, dispatch=record, reason=reason, only=only),
        )
    else:
        found = selections.rank_candidates(call.view(), task_id, only=only)
    rows, decision, chosen = found.rows(), found.decision(), found.chosen is not None
    names = output.Names(None)
    lines = [line for row in rows for line in _scored(row, names)] or [f"{found.task} has no candidates"]
    told, then = _chosen(found, answers.task(call.view(), found.task)["selected_dispatch_id"])
    refusal = {} if chosen else {"error": "no_candidate", "message": f"no candidate of {found.task} can be selected"}
    data = {**refusal, "task_id": found.task, "decision": decision, "candidates": rows, "event_id": found.event or None}
    return call.show(data, "\n".join([*lines, told]), then=then)


def _chosen(found: Selection, recorded: str | None) -> tuple[str, list[Row]]:
    """Return what was chosen or would be, and what to do with it."""
    if recorded and recorded != "contested":
        look = {"why": "see what is to be merged", "command": f"memento dispatch show {recorded}"}
        return f"selected {recorded}; nothing is merged", [look]
    if found.chosen is None:
        return "none can be selected", []
    choose = {"why": "choose it", "command": f"memento dispatch select {found.task} --record best"}
    return f"the best is {found.chosen.candidate.dispatch}; nothing is merged", [choose]


def _scored(row: Row, names: Names) -> list[str]:
    """Return a candidate's score and its parts as lines, or why it is out."""
    head = f"{names(row['dispatch_id'])}  {output.printable(row['executor'])}"
    if not row["eligible"]:
        return [f"{head}  out", *(f"  {output.printable(one)}" for one in row["reasons"])]
    parts = [f"  {part['points']:+d}  {part['part']}: {output.printable(part['why'])}" for part in row["parts"]]
    return [f"{head}  score {row['score']}", *parts]


@dispatch.command("fail")
@click.argument("dispatch_id", metavar="DISPATCH")
@reasoned
@click.option("--category", type=click.Choice(FAILURES), help="What kind of failure it was; it decides the next step.")
@click.option("--evidence", multiple=True, metavar="EVIDENCE", help="Evidence that shows it; repeatable.")
@writes
def fail(call: Call, dispatch_id: str, reason: str, category: str | None, evidence: tuple[str, ...]) -> None:
    """Give a dispatch up; its task is blocked until it is reopened. What its worktree holds is kept aside."""
    from memento_git.work import answers
    from memento_git.work.actions import dispatches

    def act(tx: Transaction) -> tuple[DispatchRow, TaskRow]:
        name = dispatches.fail_dispatch(tx, dispatch_id, reason=reason, category=category or "", evidence=evidence)
        row = answers.after(tx, name)
        return row, answers.after(tx, row["task_id"])

    row, task = call.change("dispatch fail", act)
    call.show(row, f"failed {row['dispatch_id']}{_kept(row)}", then=steps.retrying(task))


def _kept(row: DispatchRow) -> str:
    """Tell where the work of a dispatch is that came to nothing."""
    return f"\n its work is kept: git show {row['partial']}" if row["partial"] else ""


@dispatch.command("recover")
@click.argument("dispatch_id", metavar="[DISPATCH]", default="")
@click.option("--all", "all_", is_flag=True, help="All whose lease expired, or whose worker on this machine died.")
@of_run("With --all: only those of one run.")
@click.option("--force", is_flag=True, help="Take it back before its lease expires; needs --reason.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option("--requeue", is_flag=True, help="Hand the task out again at once.")
@click.option("--executor", default="", metavar="WHO", help="To whom, with --requeue; the same by default.")
@writes
def recover(
    call: Call, dispatch_id: str, run: str, reason: str, executor: str, *, all_: bool, force: bool, requeue: bool
) -> None:
    """Take back a dispatch whose claim expired. Its unfinished work is kept; workers still running are left alone."""
    from memento_git.work import answers
    from memento_git.work.actions import bundles, dispatches
    from memento_git.work.run_writer import RunWriter

    if bool(dispatch_id) == all_ or (all_ and (force or reason)) or (run and not all_):
        raise click.UsageError("name one dispatch; or give --all, with --run if you like, without --force and --reason")
    if all_:
        handover.recover_all(call, run, executor, requeue=requeue)
        return

    def act(tx: Transaction) -> tuple[DispatchRow, DispatchRow | None, Row | None, TaskRow]:
        name, successor = dispatches.recover_dispatch(
            tx, dispatch_id, force=force, reason=reason, requeue=requeue, executor=executor
        )
        made = bundles.bundle_row(RunWriter.of(tx).find(name, "dispatch")[1], name)
        row, again = answers.after(tx, name), answers.after(tx, successor) if successor else None
        return row, again, made, answers.after(tx, row["task_id"])

    row, successor, made, task = call.change("dispatch recover", act)
    again = f"\nhanded out again as {successor['dispatch_id']}" if successor else ""
    packet = handover.packet(made["path"] if made else None)
    data = {**row, "requeued_dispatch_id": successor["dispatch_id"] if successor else None, "bundle": made}
    then = [task_steps.claiming("it", successor)] if successor else steps.offering(call, task)
    call.show(data, f"recovered {row['dispatch_id']}{_kept(row)}{again}{packet}", then=then)


for each in (handover.run_dispatch, handover.stop, handover.work):
    dispatch.add_command(each)
