"""What hinders the end of a run, and its release: each fact once, in the words that every surface tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memento_git.folding.fold import plans_of
from memento_git.model.states import DONE, PASSING
from memento_git.work.gates import approvals, gate_validity, gates, release, release_facts
from memento_git.work.loading import load
from memento_git.work.proof import proofs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memento_git.model.run_rows import RunRows
    from memento_git.work.state import RunState


class Blocker(NamedTuple):
    """One thing that hinders the end of a run: its kind, the record that it is about, and a sentence.

    Of a gate it has the name, and `other` is a cancelled task: on which the record depends, or which it repairs.
    """

    kind: str
    record: str
    why: str
    gate: str = ""
    other: str = ""


def blockers(
    state: RunState, commits: Sequence[str] = (), *, tasks: Sequence[str] | None = None, but: Sequence[str] = (),
    held: RunRows | None = None,
) -> Iterator[Blocker]:  # fmt: skip
    """Yield all that hinders the end of a run, by the code of some commits, or by default of those that are read.

    `tasks` are those that count, by default all that were not cancelled. The run's own gates named in `but` are left
    out: a release is judged without its own verdict, unless that is a failure. Where rows of the run are `held`, they
    tell that its work is done, and what is wrong in its files, and neither is looked at again.
    """
    if held is None:
        load(state)
    if (status := state.shown_status) not in ("active", "completed"):
        yield Blocker("run", state.id, f"the run is {status}")
    cancelled = [task for task in state.tasks() if state.task_status(task) == "cancelled"]
    for key in (state.id, plans_of(state.id), *cancelled):
        for seen in state.folded(key).dangling:
            yield Blocker("incomplete", seen.event.of, f"the ledger is incomplete: {seen.why}")
    counting = [task for task in state.tasks() if task not in cancelled] if tasks is None else tasks
    yield from _of_work(state, counting) if held is None else ()
    own = [(state.id, gate) for gate in but]
    yield from _failed(state, counting)
    yield from (one for one in _not_passed(state, commits) if (one.record, one.gate) not in own)
    if why := approvals.unfit(state):
        yield Blocker("unapproved", state.canonical, why)
    for why in gate_validity.unsigned(state, (state.id, *counting), but, state.runners):
        yield Blocker("unsigned", state.id, why)
    for finding in state.faults() if held is None else held["findings"]:
        if finding.severity == "error":
            yield Blocker("broken", state.id, f"a file is broken: {finding}")


def _of_work(state: RunState, counting: Sequence[str]) -> Iterator[Blocker]:
    """Yield why the work of a run is not all there, open tasks first."""
    if not counting:
        yield Blocker("empty", state.id, "the run is empty: no task of it is completed")
    for task in counting:
        if (status := state.task_status(task)) not in DONE:
            yield Blocker("open", task, f"task {task} is {status.replace('_', ' ')}")
    for task in (task for task in counting if state.task_status(task) in DONE):
        if not (proof := state.proof(task)).proven:
            yield Blocker("unproven", task, f"task {task} is not proven: {'; '.join(proof.why)}")
        for other in proofs.gone(state, task) if state.text(task) is not None else ():
            yield Blocker("gone", task, f"task {task} depends on {other}, which is cancelled", other=other)


def _failed(state: RunState, counting: Sequence[str]) -> Iterator[Blocker]:
    """Yield the gates that have failed, and those that failed at a task which one that counts repairs."""
    for scope, gate in state.failed_gates(state.id, *counting):
        yield Blocker("failed", scope, f"gate {gate} of {scope} has failed", gate)
    for task in counting:
        for old, gate in gate_validity.left_failed(state, task):
            yield Blocker("left", task, f"gate {gate} of {old}, which {task} repairs, has failed", gate, old)


def _not_passed(state: RunState, commits: Sequence[str]) -> Iterator[Blocker]:
    """Yield the gates that policy requires and that have not passed, and those that do not hold."""
    words = gates.words(state)
    for gate in state.policy.gates_required:
        if words.get(gate) not in (*PASSING, "failed"):
            yield Blocker("absent", state.id, f"gate {gate} has not passed", gate)
    fallen = [one for one in gate_validity.falls(state, gate_validity.codes_of(state, commits)) if one.is_asked]
    for one in fallen:
        yield Blocker("fallen", one.scope, f"gate {one.gate} {one.why}", one.gate)
    is_asked = gates.release_asks(state.policy) and words.get("release") == "passed"
    if is_asked and (state.id, "release") not in [one[:2] for one in fallen]:
        verdict = release.judge(release_facts.held(state, commits), release_facts.asked(state.policy))
        if verdict.missing:
            yield Blocker("fallen", state.id, f"gate release has passed, but {'; '.join(verdict.missing)}", "release")
