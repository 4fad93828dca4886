"""task verify, task repair: what is asked is run and judged, and what was rejected is made good by another task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from memento_git.errors import MementoError
from memento_git.folding.fold import plans_of
from memento_git.ledger import claims, layout, prosefile, settings
from memento_git.model.states import DONE, FINAL_TASK
from memento_git.work import branches, codestate
from memento_git.work import refusals as no
from memento_git.work.actions import evidences, folders
from memento_git.work.dangers import guard
from memento_git.work.dispatch import handout, terms
from memento_git.work.proof import codes, proofs, untracked_files, verdict, verification_inputs
from memento_git.work.proof.verdict import Verdict
from memento_git.work.proof.verification import Command, Demand, masked
from memento_git.work.remedies import creating, resuming
from memento_git.work.run_writer import RunWriter, refuse_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.model.work import Event, Prose
    from memento_git.work.actions.evidences import Draft
    from memento_git.work.proof.trust import Cited, Proof
    from memento_git.work.state import RunState

T = TypeVar("T")
CARRIED: Final = ("depends_on", "files", "kind", "risk", "size", "role", "verify", "budget", "allowed_secrets")


class Change(Protocol):
    """Runs an action in one transaction, as `Ledger.change` does."""

    def __call__(self, action: str, act: Callable[[Transaction], T], /) -> T: ...


def verify(
    ledger: Ledger, change: Change, task: str, *, again: bool = False, run: bool = True, note: str = "",
    quiet: bool = False,
) -> Verdict:  # fmt: skip
    """Run what is asked of a completed task and has not passed for the code as it is, then judge all of it.

    Commands run between two transactions; where the second is refused, what they showed is kept and named in the hint.
    """
    identity, commands, code = change("task verify", lambda tx: _agenda(tx, task, again=again, run=run, note=note))
    drafts: list[Draft] = []
    try:
        for command in commands:
            drafts.append(_witnessed(ledger, command, quiet=quiet))
        return change("task verify", lambda tx: judge(tx, identity, code, drafts, note=note))
    except MementoError as error:
        kept = folders.keep_drafts(ledger, drafts, [identity])
        error.hint = f"{error.hint}; {kept}" if kept else error.hint
        raise


def _agenda(
    tx: Transaction, task: str, *, again: bool, run: bool, note: str
) -> tuple[str, tuple[Command, ...], dict[str, Any]]:
    """Return a task, the commands to run and the code they are to see; refuse now what would be refused after that."""
    writer = RunWriter.of(tx)
    identity, state, _ = _done(writer, task)
    settings.identities(tx.ledger.git, tx.ledger.settings)
    writer.optional("note", note)
    asked = verification_inputs.asked(state, identity)
    code = _code(tx)
    commands = (asked.commands if again else _left(state, identity, asked, code)) if run else ()
    for command in commands:
        tx.ledger.warn(*guard.refuse_argv(writer.policy, command.run, f"what verification of {identity} runs"))
    return identity, commands, code


def _left(state: RunState, task: str, asked: Demand, code: dict[str, Any]) -> tuple[Command, ...]:
    """Return the commands that one of the completions lacks a pass of."""
    found, left = verification_inputs.evidence_for(state, task), []
    for completion in proofs.counting(state, task):
        own = verdict.latest(verdict.of_dispatch(found, completion.dispatch), [code])
        left += verdict.left_to_run(asked, verdict.sound(own, task), code)
    return tuple(dict.fromkeys(left))


def _witnessed(ledger: Ledger, command: Command, *, quiet: bool) -> Draft:
    """Run a command that is asked at the top of the repository."""
    draft = evidences.witness(
        ledger, command.run, kind=command.kind, reports=command.reports, timeout=command.timeout or None, quiet=quiet,
        required=True,
    )  # fmt: skip
    return draft.named(masked(command.run))


def _done(writer: RunWriter, task: str) -> tuple[str, RunState, Prose]:
    identity, state = writer.find(task, "task")
    prose = state.prose(identity)
    refuse_ended(state)
    status = state.task_status(identity)
    if status not in DONE:
        raise no.NotCompleted(task=identity, status=status, step=_before(state, identity, status))
    handout.refuse_contested_plan(state)  # it would be rejected, and had to be done again once that is settled
    _refuse_unmerged(writer, state, identity)
    return identity, state, prose


def _before(state: RunState, task: str, status: str) -> str:
    """Return the command that brings a task nearer to its completion."""
    held = state.folded(task).lanes.open_dispatches()
    if held and status == "in_progress":
        return f"memento dispatch complete {held[-1]} --evidence EVIDENCE"
    if held and status == "dispatched":
        return f"memento dispatch claim {held[-1]}"
    return resuming(task, status) or creating(task)


def _refuse_unmerged(writer: RunWriter, state: RunState, task: str) -> None:
    """Refuse to judge by the code that is here what was done on a branch that HEAD does not have."""
    lacking = branches.lacking(writer.tx.ledger.git, state, task)
    if len(lacking) > 1:
        raise no.WorkUnchosen(task=task, times=len(lacking))
    if lacking:
        raise no.WorkUnmerged(task=task, branch=lacking[0])


def _code(tx: Transaction) -> dict[str, Any]:
    """Return the code of the work tree as events hold it."""
    code = codestate.code_now(tx.ledger.git)
    return {key: code[key] for key in ("tree", "full", "untracked") if key in code}


def verify_task(tx: Transaction, task: str, *, note: str = "") -> Verdict:
    """Judge a completed task on the evidence that is there, and run nothing; record the verdict and return it."""
    return judge(tx, task, _code(tx), note=note)


def judge(tx: Transaction, task: str, code: dict[str, Any], drafts: Sequence[Draft] = (), *, note: str = "") -> Verdict:
    """Record new evidence for a completed task, judge it with what was there, and record the verdict."""
    writer = RunWriter.of(tx)
    identity, state, prose = _done(writer, task)
    asked = verification_inputs.asked(state, identity)
    open_before = state.folded(identity).lanes.open_dispatches()
    made = tuple(evidences.record_draft(tx, draft, tasks=[identity]) for draft in drafts)
    code = _without_output(code, drafts)
    unmet, refs = _judged(state, prose, asked, code)
    reads = (state.id, plans_of(state.id))
    about: dict[str, Any] = {"code": code, "evidence": refs, "note": writer.optional("note", note)}
    if unmet:
        about |= {"unmet": [line[:500] for line in unmet], "terms": terms.digest(prose), "asks": terms.asks(prose)}
        writer.append(state, identity, "rejected", reads=reads, **about)
    else:
        writer.append(state, identity, "accepted", reads=reads, text=prose.digest, **about)
        writer.refuse_unsigned(state, f"accepting {identity}", proof=identity)
        _tell_of_stale(tx, state, identity, code)
    for dispatch in open_before:
        claims.release_later(tx, identity, dispatch)
    judged = state.pieces(ref.partition("@")[0] for ref in refs)
    tx.ledger.warn(*untracked_files.remarks(tx.ledger.git, code, judged))
    return Verdict(identity, tuple(unmet), tuple(one.id for one in judged), made)


def _tell_of_stale(tx: Transaction, state: RunState, task: str, code: dict[str, Any]) -> None:
    """Note where all that proves an accepted task saw other code: where nothing is asked, nothing is run again."""
    if proofs.saw_else(state, task, code):
        again = verification_inputs.renewing(state, task, code) or resuming(task, "accepted")
        tx.ledger.warn(f"what proves {task} saw other code than is here; to prove it for this code: {again}")


def _without_output(code: dict[str, Any], drafts: Sequence[Draft]) -> dict[str, Any]:
    """Return the code without the untracked files that a command wrote over: to the next one they are output."""
    written: set[str] = set()
    for draft in drafts:
        before = draft.data["code"].get("untracked") or {}
        after = (draft.data.get("code_after") or draft.data["code"]).get("untracked") or {}
        written |= {path for path, blob in after.items() if before.get(path) != blob}
    kept = {path: blob for path, blob in (code.get("untracked") or {}).items() if path not in written}
    return {**code, "untracked": kept} if written else code


def _judged(state: RunState, prose: Prose, asked: Demand, code: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return what is unmet by the best of the completions, and references to the evidence that this follows from."""
    found = [_tried(state, prose, asked, code, event) for event in proofs.counting(state, prose.id)]
    unmet, refs = next((one for one in found if not one[0]), found[0] if found else (["no completion stands"], []))
    if amiss := proofs.not_agreed(state)[0]:
        unmet.append(amiss)
    unmet += [f"gate {gate} has failed" for _, gate in state.failed_gates(prose.id)]
    return unmet, refs


def _tried(
    state: RunState, prose: Prose, asked: Demand, code: dict[str, Any], completion: Event
) -> tuple[list[str], list[str]]:
    """Judge one completion on what it cites and on what else was recorded for its code, or for the code as it is.

    An acceptance stands on all that it names, so it names only what speaks for it.
    """
    found, seen = verification_inputs.evidence_for(state, prose.id), [code, codes.sober(completion.data["code"])]
    held = verdict.latest(verdict.of_dispatch(found, completion.dispatch), seen)
    good = [one.ref for one in verdict.sound(held, prose.id)]
    proof = proofs.proven(state, completion, prose.digest, asked, [code], good)
    unmet = [*proof.why, *_contradictions(state, asked, proof, verdict.latest(found, seen))]
    bearing = _relevant(held, asked)
    cited = bearing if unmet else verdict.sound(bearing, prose.id)
    return unmet, list(dict.fromkeys([*completion.evidence, *(one.ref for one in cited)]))


def _contradictions(state: RunState, asked: Demand, proof: Proof, held: Sequence[Cited]) -> list[str]:
    return verdict.contradictions(held, asked, {one.kind for one in state.pieces(proof.by)})


def tell_of_failures(tx: Transaction, state: RunState, completion: Event) -> None:
    """Note what failed beside the proof of a completion: verification will reject the task for it."""
    held, asked = verification_inputs.beside(state, completion), state.asked(completion.of)
    if told := _contradictions(state, asked, state.proof_of(completion), held):
        tx.ledger.warn(
            f"memento task verify will reject {completion.of}: {'; '.join(told)}; run that again, or take back a run "
            "that was a mistake: memento evidence retract EVIDENCE --reason WHY"
        )


def _relevant(held: Sequence[Cited], asked: Demand) -> list[Cited]:
    """Return the evidence that could bear on the verdict, whichever way."""
    kinds = {*asked.evidence, *asked.proof, *(command.kind for command in asked.commands)}
    return [one for one in held if one.evidence is not None and one.evidence.kind in kinds]


def repair_task(tx: Transaction, task: str, *, title: str = "") -> str:
    """Add a task that makes a rejected one good, put it in its place for all that waits, and cancel that; return it.

    What is finished keeps its text: changing what it rested on would unprove it.
    """
    writer = RunWriter.of(tx)
    identity, state = writer.find(task, "task")
    refuse_ended(state)
    status = state.task_status(identity)
    if status != "rejected":
        raise no.TaskTransition(task=identity, status=status, verb="repaired")
    prose = state.prose(identity)
    repair = tx.new_id("task")
    data: dict[str, Any] = {
        "id": repair,
        "title": writer.text("title", title or f"Repair: {prose.title}", lines=False),
        "at": tx.moment(),
        "by": tx.actor,
        "criteria": list(dict.fromkeys([*prose.list("criteria"), *_unmet(state, identity)])),
        **{key: prose.data[key] for key in CARRIED if key in prose.data},
        "repairs": identity,
    }
    writer.write(layout.prose_path(state.id, repair), data, prose.body)
    tx.touch(state.id, repair)
    for other in proofs.dependents(state, identity):
        if state.task_status(other) not in FINAL_TASK:
            _repoint(tx, state, other, identity, repair)
    writer.append(state, identity, "cancelled", reads=(state.id,), reason=f"{repair} repairs it")
    return repair


def _unmet(state: RunState, task: str) -> list[str]:
    """Return what the latest rejection of a task names, as criteria of its repair."""
    verdicts = [seen.event for seen in state.folded(task).events if seen.event.do == "rejected"]
    return [f"{terms.UNMET}{line}" for line in verdicts[-1].data["unmet"]] if verdicts else []


def _repoint(tx: Transaction, state: RunState, task: str, old: str, new: str) -> None:
    """Have a task depend on another in the place of one, its file's comments kept."""
    prose = state.prose(task)
    others = list(dict.fromkeys(new if other == old else other for other in prose.list("depends_on")))
    tx.put(prose.path, prosefile.rewrite(tx.view.read(prose.path) or b"", {"depends_on": others}, ""))
    tx.touch(state.id, task)
