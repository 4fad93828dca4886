"""The steps that may follow what a command did: each why, and the command that takes it."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING, Final

from memento_git.errors import MementoError
from memento_git.model.ids import NoSuchRecord, is_id, kind_of
from memento_git.model.states import DONE
from memento_git.work import remedies, task_steps

if TYPE_CHECKING:
    from memento_git.cli.boundary import Call
    from memento_git.model.rows import DispatchRow, EvidenceRow, Row, TaskRow
    from memento_git.work.state import RunState

COMPLETE: Final = "memento dispatch complete"
RUN: Final = "memento evidence run"


def foretell(call: Call, run: str) -> None:
    """Note what a check will warn of in the work that a run's end, or its release, relies on.

    What was done is done: where the run cannot be read, `status` will say why.
    """
    from memento_git.review.check_preview import remark

    with contextlib.suppress(MementoError):
        if told := remark(call.view(), run):
            call.ledger.warn(told)


def due(call: Call, run: str) -> list[Row]:
    """Return the step that `status` names first for a run; none where nothing is due.

    What was done is done: where the run cannot be read, as without git's objects, `status` will say why.
    """
    from memento_git.work.overview import early_overview

    try:
        steps: list[Row] = early_overview(call.ledger, call.view(), run)["next"]
    except MementoError as error:
        return [{"why": error.message, "command": "memento status"}]
    return steps[:1]


def after(call: Call, record: str) -> list[Row]:
    """Return the step that the run of a changed record waits for; none for what is of none, or is there no more."""
    kind, run = kind_of(record), ""
    if kind != "note" and is_id(record, kind):
        with contextlib.suppress(NoSuchRecord):
            run = call.view().find(record, kind)[1]
    return due(call, run) if run else []


def offering(call: Call, task: TaskRow) -> list[Row]:
    """Return the step that hands a pending task out, or leads to that: what holds it back, or its run waits for."""
    if task["ready"] or task["waits_on"]:
        why = f"“{task['title']}” {'is ready' if task['ready'] else 'waits for something'}"
        return [{"why": why, "command": task_steps.handing_out(task)}]
    back = task["held_back"]
    return [{"why": back["why"], "command": back["command"]}] if back else _planning(call, task["run_id"])


def _planning(call: Call, run: str) -> list[Row]:
    """Return the step to the plan that a run lacks, which no look at all its tasks is needed for; else what is due."""
    from memento_git.work import nextsteps, rows
    from memento_git.work.state import RunState

    with contextlib.suppress(MementoError):
        state = RunState(call.view(), run)
        if (state.shown_status, state.canonical, state.view.findings) == ("active", "", []):
            plans = [rows.plan_row(state, plan) for plan in state.ids("plan")]
            if step := nextsteps.plan_steps(rows.run_row(state), plans):
                return step
    return due(call, run)


def about(call: Call, task: TaskRow) -> list[Row]:
    """Return the steps for a task that was taken up again, given up or put in other words; none while it is at work."""
    if task["status"] == "pending":
        return offering(call, task)
    if task["status"] == "blocked":
        return retrying(task)
    return task_steps.proving(task)


def onward(task: TaskRow, *, candidate: bool = False, against: Sequence[EvidenceRow] = ()) -> list[Row]:
    """Return the steps after a task was completed: to prove it, or else the look at its run, which costs nothing here.

    A candidate is compared with the others. What verification would reject the task for is run again, or taken back.
    """
    if candidate:
        return [{"why": "compare the candidates", "command": f"memento dispatch select {task['id']}"}]
    look = {"why": "see what the run needs next", "command": f"memento status --run {task['run_id']}"}
    proving = task_steps.proving(task)
    if proving and against:
        return [*task_steps.again(task, against[0], f"{against[0]['id']} failed"), *proving]
    return proving or [look]


def reading(dispatch: DispatchRow) -> list[Row]:
    """Return the step that tells who has claimed a dispatch what is to be done."""
    return [{"why": "read what is asked of the task", "command": f"memento task brief {dispatch['task_id']}"}]


def retrying(task: TaskRow) -> list[Row]:
    """Return the step that follows a failed dispatch of a task: other candidates may be at work, or done."""
    if task["status"] == "blocked":
        return [{"why": "to take it up again", "command": remedies.resuming(task["id"], task["status"])}]
    return [{"why": "see who else is at it", "command": f"memento task show {task['id']}"}]


def citing(call: Call, evidence: EvidenceRow) -> list[Row]:
    """Return the steps that complete what is claimed on evidence; without a claim, what its tasks wait for.

    A task that two branches disagree on is settled first.
    """
    from memento_git.work import answers, rows
    from memento_git.work.state import RunState

    if not evidence["task_ids"] or evidence["outcome"] != "passed" or evidence["moved"]:
        return []
    state = RunState(call.view(), evidence["run_id"])
    if contested := [task for task in evidence["task_ids"] if state.task_status(task) == "contested"]:
        return [{"why": f"{contested[0]} is contested", "command": "memento settle"}]
    handed = {task: rows.dispatch_rows(state, task) for task in evidence["task_ids"]}
    claimed = [
        one for dispatches in handed.values() for one in dispatches
        if one["status"] == "claimed" and evidence["dispatch"] in (None, one["dispatch_id"])
    ]  # fmt: skip
    if claimed:
        own = [one for one in claimed if one["claimed_by"] == evidence["actor"]]
        going = [answers.going_on(state, one, evidence["actor"]) for one in own]
        found = [_at_top(call, evidence, _as(call, steps)) for steps in going] or [
            _completing(one, evidence) for one in claimed
        ]
        first, *others = zip((one["task_id"] for one in own or claimed), found, strict=True)
        return [*first[1], *({**step, "why": f"or, of {task}"} for task, (step, *_) in others)]
    for task in evidence["task_ids"]:
        if state.task_status(task) in DONE and (renewing := _renewing(state, task, evidence)):
            return [{"why": "what proves its task saw other code", "command": renewing}]
    steps = (task_steps.due(answers.row(state, task), dispatches) for task, dispatches in handed.items())
    waited = [{"why": "what its task waits for", "command": step} for step in steps if step]
    return _at_top(call, evidence, waited[:1])


def _as(call: Call, steps: Sequence[Row]) -> list[Row]:
    """Return a claimant's own steps; whoever was named with --actor is named in those that are refused to others."""
    if not call.actor:
        return [*steps]
    named = f"{COMPLETE} --actor {shlex.quote(call.actor)}"
    return [{**one, "command": one["command"].replace(COMPLETE, named, 1)} for one in steps]


def _at_top(call: Call, evidence: EvidenceRow, steps: Sequence[Row]) -> list[Row]:
    """Return steps as they are typed where evidence ran below the top: a command that is asked counts there alone."""
    words = ["--", *(evidence["command"] or ())]
    is_asked = any([*dropwhile("--".__ne__, shlex.split(one["command"]))] == words for one in steps)
    if evidence["folder"] in (None, ".") or not is_asked or call.ledger.git.top is None:
        return [*steps]
    told = f"{shlex.join(evidence['command'] or ())} is asked at the top of the repository; it ran in"
    call.ledger.warn(f"{told} {evidence['folder']}, and does not count for that")
    place = os.path.relpath(call.ledger.git.top)
    there = f"{RUN} -C {shlex.quote(place)}" if place != "." else RUN
    return [{**one, "command": one["command"].replace(RUN, there, 1)} for one in steps]


def _renewing(state: RunState, task: str, evidence: EvidenceRow) -> str:
    """Return what goes on with a task whose proof saw other code than evidence; nothing for any other task."""
    from memento_git.work.proof import proofs, verification_inputs

    code = evidence["code"]
    return verification_inputs.renewing(state, task, code) if code and proofs.saw_else(state, task, code) else ""


def _completing(dispatch: DispatchRow, evidence: EvidenceRow) -> list[Row]:
    """Return the step that completes a dispatch on a piece of evidence."""
    complete = f"memento dispatch complete {dispatch['dispatch_id']} --evidence {evidence['id']}"
    return [{"why": "it is for what is claimed", "command": complete}]
