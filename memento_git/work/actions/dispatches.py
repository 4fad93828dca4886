"""dispatch: create claim renew complete fail recover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from memento_git.errors import Misused
from memento_git.folding.fold import plans_of
from memento_git.ledger import checkouts, claims
from memento_git.model.ids import NoSuchRecord, dispatch_of, option, parse_ref
from memento_git.model.states import DONE, ENDED_DISPATCH, UNNAMED
from memento_git.model.types import is_blank
from memento_git.model.work import FAILURES
from memento_git.texts.typed import Reason, lists
from memento_git.work import answers, leases, rows
from memento_git.work import refusals as no
from memento_git.work.actions import worktrees
from memento_git.work.dispatch import handout, preflight, terms
from memento_git.work.run_writer import RunWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.transaction import Transaction
    from memento_git.model.objection import Objection
    from memento_git.work.actions.checkpoints import Checkpoint
    from memento_git.work.proof.trust import Cited
    from memento_git.work.state import RunState


class CategoryInvalid(Misused):
    token = "category_invalid"
    sentence = "{given!r} is not a category of failure"
    hint_ = "one of: {allowed}"


@lists
def create_dispatch(
    tx: Transaction, task: str, executor: str, *, run: str = "", candidate: bool = False, note: str = "",
    over_budget: str = "", allow_destructive: Sequence[str] = (),
) -> str:  # fmt: skip
    """Hand a ready task to somebody; return the dispatch's id. Nothing is started."""
    preflight.refuse_unfit(tx, RunWriter.of(tx).policy, act="dispatch")
    return hand_out(
        tx, task, executor, run=run, candidate=candidate, note=note, over_budget=over_budget,
        allow_destructive=allow_destructive,
    )  # fmt: skip


def hand_out(
    tx: Transaction, task: str, executor: str, *, run: str = "", candidate: bool = False, note: str = "",
    recovery_of: str = "", over_budget: str = "", allow_destructive: Sequence[str] = (), brief: str = "",
    apart: bool = False,
) -> str:  # fmt: skip
    """Hand a ready task out where the work tree was found fit.

    `brief` is the digest of what the worker reads, `apart`: it gets a branch of its own.
    """
    from memento_git.work.dangers import guard

    writer = RunWriter.of(tx)
    state, (identity,) = writer.home(run, [task])
    if not candidate:
        worktrees.refuse_taken(tx, state, identity)
    prose = state.prose(identity)
    plan = state.canonical
    handout.refuse_run(state)
    spike = not plan and bool(state.prose(state.id).data.get("spike"))
    dependencies = prose.list("depends_on")
    for other in dependencies:
        _dependency_done(state, identity, other)
    writer.refuse_unsigned(state, f"handing out {identity}", scopes=(state.id, identity, *dependencies))
    allowed = guard.known_rules(allow_destructive)
    tx.ledger.warn(*guard.refuse_text(writer.policy, handout.texts(state, identity), allowed))
    if allowed and not recovery_of:
        writer.reason("allowing a destructive command", note, key="note")
    name, who = tx.new_id("event"), writer.text("executor", executor, lines=False)
    event = writer.append(
        state, identity, "dispatched", reads=(state.id, plans_of(state.id), *dependencies), name=name, executor=who,
        plan=plan, spike=spike, candidate=candidate, recovery_of=recovery_of, allowed=allowed,
        over_budget=_beyond(writer, state, identity, who, over_budget), note=writer.optional("note", note),
        brief=brief, terms=terms.digest(prose), asks=terms.asks(prose),
        branch=checkouts.branch_of(dispatch_of(name)) if apart else "",
    )  # fmt: skip
    return event.dispatch


def _beyond(writer: RunWriter, state: RunState, task: str, executor: str, reason: str) -> str:
    """Return the reason for an attempt beyond the task's budget, nothing where it is within; refuse one without."""
    why = handout.beyond_budget(state, task, executor)
    if why and is_blank(reason):
        from memento_git.work.routing.budget import BudgetExceeded

        raise BudgetExceeded(task=task, why=why)
    return writer.text("reason", reason) if why else ""


def _dependency_done(state: RunState, task: str, other: str) -> None:
    if not state.names.text_of(other):
        raise no.DependencyOpen(task=task, dependency=other, status="missing")
    if not state.is_done(other):
        status = state.task_status(other)
        if status == "cancelled":
            from memento_git.work.proof import proofs

            raise no.DependencyGone(task=task, dependency=other, status=status, command=proofs.leaving_out(state, task))
        if status in DONE and state.proof(other).proven:
            raise no.GateBlocks(gate=state.failed_gates(other)[0][1], scope=other, on=option(other))
        shown = f"{status} but not proven" if status in DONE else status
        raise no.DependencyOpen(task=task, dependency=other, status=shown)


def _find(writer: RunWriter, given: str) -> tuple[str, str, RunState]:
    """Return a dispatch's id, its task and the state of its run."""
    name, state = writer.find(given, "dispatch")
    opened = state.opened(name)
    if opened is None:
        raise NoSuchRecord(kind="dispatch", given=given)
    return name, opened.of, state


def ref_name(state: RunState, task: str, dispatch: str) -> str:
    """Return the name of the claim's ref: one for a task, one each for candidates."""
    opened = state.opened(dispatch)
    return dispatch if opened is not None and opened.data.get("candidate") else task


def claim_dispatch(tx: Transaction, dispatch: str, *, lease: int = 0, note: str = "") -> str:
    """Take a dispatch; nobody else may before the lease ends. The same actor may again: with nothing new, it renews."""
    return take(tx, dispatch, lease=lease, note=note)


def take(
    tx: Transaction, dispatch: str, *, lease: int = 0, note: str = "", invoked: bool = False, fresh: bool = False
) -> str:
    """Claim a dispatch; `invoked`: memento itself starts the executor's command; `fresh`: it is made just now."""
    writer = RunWriter.of(tx)
    name, task, state = _find(writer, dispatch)
    until = leases.end_of(tx.now, lease or writer.policy.lease)
    held = state.dispatch(name)
    _judge_first(writer, state, task, "claimed", dispatch=name, until=until)
    handout.refuse_changed_terms(state, task, name)
    if (held.status, held.holder) == ("claimed", tx.actor):
        if not (lease or note or invoked) and leases.is_early(tx.now, held.until, writer.policy.lease):
            _heartbeat(tx, state, task, claims.Claim(name, tx.actor, max(until, held.until)))
            return name
        _heartbeat(tx, state, task, claims.Claim(name, tx.actor, until))
    else:
        _take_ref(tx, state, task, claims.Claim(name, tx.actor, until), fresh=fresh)
        tx.ledger.warn(*(() if invoked else handout.for_another(state, name, tx.actor)))
    writer.append(
        state, task, "claimed", reads=(state.id,), dispatch=name, until=until, invoked=invoked,
        note=writer.optional("note", note),
    )  # fmt: skip
    return name


def _judge_first(writer: RunWriter, state: RunState, task: str, do: str, **data: Any) -> None:
    """Let the table speak before anything outside of the ledger is changed."""
    state.folded(task)
    state.fold.judge(writer.draft(state, task, do, reads=(state.id,), name="event_000000000000", **data))


def _take_ref(tx: Transaction, state: RunState, task: str, claim: claims.Claim, *, fresh: bool) -> None:
    git, name = tx.ledger.git, ref_name(state, task, claim.dispatch)
    existing = claims.read(git, name)
    if existing is not None and not replaceable(tx.now, state, task, existing, claim):
        refuse_claimed(existing, claim.dispatch, task)
    if not fresh:
        is_ours = existing is not None and existing.dispatch == claim.dispatch
        worktrees.refuse_elsewhere(tx, state, task, claim.dispatch, is_ours=is_ours)
    taken = claims.take(git, name, claim, existing)
    if taken is None:
        if first := claims.read(git, name):
            refuse_claimed(first, claim.dispatch, task)
        raise no.ClaimedMeanwhile(dispatch=claim.dispatch, holder="another process")
    tx.after_failure.append(lambda: claims.release(git, name, taken))


def refuse_claimed(existing: claims.Claim, dispatch: str, task: str) -> NoReturn:
    """Refuse a claim where there is another one: of the same dispatch, or of another of its task."""
    if existing.dispatch in ("", dispatch):
        raise no.AlreadyClaimed(dispatch=dispatch, holder=existing.by, until=existing.until)
    raise no.TaskClaimed(task=task, dispatch=existing.dispatch, holder=existing.by, until=existing.until)


def replaceable(now: str, state: RunState, task: str, existing: claims.Claim, claim: claims.Claim) -> bool:
    """Tell whether a ref that is there may be replaced: it expired, is ours, or its dispatch has ended."""
    if existing.until < now or existing.by == claim.by:
        return True
    known = state.dispatches(task).get(existing.dispatch)
    return known is not None and not known.is_open


def renew_dispatch(tx: Transaction, dispatch: str, *, lease: int = 0, force: bool = False) -> tuple[str, str, bool]:
    """Lengthen a claim; return (id, until, committed). It is committed only past half of the lease, or by force."""
    writer = RunWriter.of(tx)
    name, task, state = _find(writer, dispatch)
    length = lease or writer.policy.lease
    until = leases.end_of(tx.now, length)
    _judge_first(writer, state, task, "renewed", dispatch=name, until=until)
    current = state.dispatch(name).until
    if not force and leases.is_early(tx.now, current, length):
        _heartbeat(tx, state, task, claims.Claim(name, tx.actor, max(until, current)))
        return name, current, False
    writer.append(state, task, "renewed", reads=(state.id,), dispatch=name, until=until)
    _heartbeat(tx, state, task, claims.Claim(name, tx.actor, until))
    return name, until, True


def _refuse_held(tx: Transaction, state: RunState, task: str, dispatch: str) -> None:
    """Refuse while somebody holds a dispatch: by the ledger, or by a claim or heartbeat that this clone knows of."""
    found = state.dispatch(dispatch)
    if not found.is_open:
        return
    beat = claims.read(tx.ledger.git, ref_name(state, task, dispatch))
    until, holder = found.until, found.holder
    if beat is not None and beat.dispatch == dispatch and beat.until > until:
        until, holder = beat.until, holder or beat.by
    if until > tx.now:
        worktrees.refuse_dead(tx, dispatch)
        raise no.NotExpired(holder=holder, dispatch=dispatch, until=until)


def _heartbeat(tx: Transaction, state: RunState, task: str, claim: claims.Claim) -> None:
    """Say in this clone alone, by the claim's ref, that its holder is alive."""
    ref = ref_name(state, task, claim.dispatch)
    existing = claims.read(tx.ledger.git, ref)
    if existing is not None and existing[:2] == claim[:2]:
        claims.take(tx.ledger.git, ref, claim, existing)


@lists
def complete_dispatch(tx: Transaction, dispatch: str, evidence: Sequence[str], *, note: str = "") -> str:
    """Complete a claimed dispatch, and with it its task, on evidence that policy accepts."""
    return complete(tx, dispatch, evidence, note=note)[0]


def complete(
    tx: Transaction, dispatch: str, evidence: Sequence[str], *, note: str = "", graph: bool | None = None
) -> tuple[str, Checkpoint | None]:
    """Complete a dispatch; return its id, and what became of the graph where policy, or `graph`, asks for it."""
    from memento_git.work import codestate
    from memento_git.work.actions import checkpoints, verifying
    from memento_git.work.proof import trust, untracked_files

    writer = RunWriter.of(tx)
    name, task, state = _find(writer, dispatch)
    prose = state.prose(task)
    refuse_others(state, name, tx.actor)
    handout.refuse_changed_terms(state, task, name)
    refs = [_cite(writer, state, task, given) for given in evidence]
    cited = [state.cited(parse_ref(ref), task) for ref in refs]
    if problem := _unacceptable(cited, task, name):
        if not cited and (line := _completing(state, name, tx.actor)):
            raise no.EvidenceNotNamed(task=task, why=problem, line=line)
        raise no.EvidenceRequired(task=task, why=problem, line=_line(state, task))
    if waits := ", ".join(state.waits_on(task)):
        tx.ledger.warn(f"{task} waits for {waits}: done before that, check calls it an error (T006)")
    pieces = [one.evidence for one in cited if one.evidence]
    git = worktrees.place_of(tx.ledger.git, name)
    code = codestate.code_as_seen(git, map(trust.seen_by, pieces))
    tx.ledger.warn(*untracked_files.remarks(git, code, pieces))
    kept: dict[str, Any] = {key: code[key] for key in ("tree", "full", "paths", "untracked") if key in code}
    tx.ledger.warn(*handout.overdue({name: state.dispatch(name)}, tx.actor).values())
    completion = writer.append(
        state, task, "completed", reads=(state.id,), dispatch=name, code=kept, text=prose.digest, evidence=refs,
        note=writer.optional("summary", note),
    )  # fmt: skip
    writer.refuse_unsigned(state, f"completing {task}", proof=task)
    verifying.tell_of_failures(tx, state, completion)
    checkpoint = checkpoints.record(tx, state, completion, graph)
    claims.release_later(tx, task, name)
    worktrees.leave(tx, name)
    return name, checkpoint


def refuse_others(state: RunState, dispatch: str, actor: str) -> None:
    """Refuse a dispatch that has ended, or that another holds, before what it would be completed on is looked at."""
    held = state.dispatch(dispatch)
    if held.status in ENDED_DISPATCH:
        raise no.DispatchTerminal(dispatch=dispatch, state=held.status)
    if held.status == "claimed" and held.holder != actor:
        raise no.NotClaimant(dispatch=dispatch, holder=held.holder, actor=actor)


def _cite(writer: RunWriter, state: RunState, task: str, given: str) -> str:
    """Return the reference to a piece of evidence; refuse what is another task's or another run's."""
    identity = writer.evidence(state, given, task)
    found = state.evidence(identity)
    if found is None:
        raise no.EvidenceRequired(task=task, why=f"{identity} cannot be read", line=_line(state, task))
    if found.tasks and task not in found.tasks:
        raise no.EvidenceForeign(evidence=identity, tasks=", ".join(found.tasks), task=task)
    return str(found.ref)


def _line(state: RunState, task: str) -> str:
    """Return the command line that records what is asked first of a task."""
    from memento_git.work.proof import verification

    return verification.show_lines(task, rows.asked_row(state, task, state.asked(task)))[0]


def _completing(state: RunState, dispatch: str, actor: str) -> str:
    """Return the command line that completes a dispatch on what has passed for it, nothing where something is left."""
    first, *_ = answers.going_on(state, answers.dispatch(state, dispatch), actor)
    return first["command"] if first["command"].startswith("memento dispatch complete ") else ""


def _unacceptable(cited: Sequence[Cited], task: str, dispatch: str) -> Objection:
    """Return why these pieces of evidence do not even complete a task, or nothing."""
    from memento_git.work.proof import trust

    if not cited:
        return "no evidence was given"
    for one in cited:
        if problem := trust.fault(one, task):
            return problem
        other = one.evidence.data.get("dispatch", dispatch) if one.evidence else dispatch
        if other != dispatch:
            return f"{one.ref.partition('@')[0]} came out of {other}"
    if all(one.trust == "advisory" for one in cited):
        return "a summary alone never completes a task"
    return ""


@lists
def fail_dispatch(
    tx: Transaction, dispatch: str, *, reason: Reason = "", category: str = "", evidence: Sequence[str] = ()
) -> str:
    """Give a dispatch up; its task is blocked until it is reopened. What its worktree holds is kept aside."""
    writer = RunWriter.of(tx)
    if category and category not in FAILURES:
        raise CategoryInvalid(given=category, allowed=", ".join(FAILURES))
    name, task, state = _find(writer, dispatch)
    words = writer.reason("failing a dispatch", reason)
    _judge_first(writer, state, task, "failed", dispatch=name, reason=words)
    queued = state.dispatch(name).status == "queued"
    if queued:
        _refuse_held(tx, state, task, name)
    worktrees.refuse_elsewhere(tx, state, task, name, but="" if queued else "claimed")
    writer.append(
        state, task, "failed", reads=(state.id,), dispatch=name, reason=words, category=category,
        evidence=[str(state.evidence_named(writer.evidence(state, given, task)).ref) for given in evidence],
        partial=worktrees.give_up(tx, name),
    )  # fmt: skip
    claims.release_later(tx, task, name)
    return name


def ending(tx: Transaction, dispatch: str) -> tuple[RunState, str, str]:
    """Return a dispatch's run and task, and the commit that the event which ended it names as partial work."""
    name, task, state = _find(RunWriter.of(tx), dispatch)
    ended = state.dispatch(name).ended
    return state, task, ended.get("partial") if ended is not None else ""


def recover_dispatch(
    tx: Transaction, dispatch: str, *, force: bool = False, reason: str = "", requeue: bool = False, executor: str = "",
    bundle: bool = True,
) -> tuple[str, str]:  # fmt: skip
    """Take a dispatch back whose claim has expired; return its id and, with requeue, that of its successor.

    A bundle of what the next worker needs is made anew and recorded; a program that goes on by itself may do without,
    but with requeue.
    """
    from memento_git.work.actions import bundles

    writer = RunWriter.of(tx)
    name, task, state = _find(writer, dispatch)
    opened = state.dispatch(name).opened
    if not force:
        _refuse_held(tx, state, task, name)
        worktrees.refuse_live(tx, name)
    words = writer.reason("forcing a recovery", reason) if force else writer.optional("reason", reason)
    _judge_first(writer, state, task, "recovered", dispatch=name, reason=words, forced=force)
    worktrees.refuse_elsewhere(tx, state, task, name, but="claimed")
    partial = worktrees.give_up(tx, name)
    writer.append(
        state, task, "recovered", reads=(state.id,), dispatch=name, reason=words, forced=force, partial=partial
    )
    claims.release_later(tx, task, name)
    again = requeue or (bundle and state.task_status(task) == "pending" and not state.is_final)
    brief = bundles.record_bundle(tx, task, name) if again else ""
    if not requeue:
        return name, ""
    preflight.refuse_unfit(tx, writer.policy, act="dispatch")
    successor = hand_out(
        tx, task, executor or handout.handed_to(state, name) or UNNAMED, recovery_of=name,
        candidate=bool(opened and opened.data.get("candidate")),
        allow_destructive=opened.data.get("allowed", ()) if opened else (), brief=brief,
    )  # fmt: skip
    return name, successor
