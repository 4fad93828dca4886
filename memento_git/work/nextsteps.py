"""What could be done next in a run, most urgent first, each with the command that does it. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from memento_git.model.enumeration import grouped
from memento_git.model.ids import option
from memento_git.model.states import DONE, FINAL_RUN, FINAL_TASK, GATES_OF_WORK, OPEN_DISPATCH
from memento_git.model.tuples import NamedTuple
from memento_git.work import task_steps
from memento_git.work.remedies import OF_PLANS, creating, leaving_out, passing
from memento_git.work.task_steps import SOON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.model.finding import Finding
    from memento_git.model.rows import GateRow, HeldBack, PlanRow, Row, RunRow, TaskRow
    from memento_git.model.run_rows import RunRows

NOWHERE: Final[Mapping[str, Row]] = {}
ALL_DONE: Final = "every task is done and proven"


def all_done(tasks: Sequence[TaskRow]) -> bool:
    """Tell whether nothing of the work is left: each task is settled, proven where asked, and waits for nothing."""
    return all(row["status"] in FINAL_TASK and row["proven"] is not False for row in tasks) and not stranded(tasks)


def failed_gates(held: RunRows, *, but: Sequence[str] = ("cancelled",)) -> list[GateRow]:
    """Return the gates that have failed, without those of tasks in such a state: they hold nothing up."""
    done_with = {row["id"] for row in held["tasks"] if row["status"] in but}
    return [row for row in held["gates"] if row["status"] == "failed" and row["scope"] not in done_with]


def next_steps(
    held: RunRows, merges: Sequence[Row] = (), *, loose: bool = True, packed: bool = False,
    gates: Sequence[Row] | None = None, choices: Sequence[Row] = (), known: Mapping[str, Row] = NOWHERE,
    fresh: Sequence[str] = (), asker: str = "",
) -> list[Row]:  # fmt: skip
    """Return what could be done next, most urgent first: a sentence and the command that does it.

    `gates` are the steps that come before a run can be completed, None where nothing hinders that, `choices` those that
    had better; `loose` tells whether the run has files of its own, outside of an archive, and `packed` whether it has
    one; `known` are the steps of dispatches and tasks of which more is known than their rows tell; `fresh` names gates
    that pass on evidence alone; `asker` is who reads, if only the tasks at work that are theirs are to be gone on with:
    also beyond their lease.
    """
    run = held["run"]
    steps = [*_mending(held), *_settling(held)]
    if run["status"] == "contested" or run["id"] in _incomplete(held):
        return steps  # nothing but settling is done in it
    stands = f"the run is {run['status']}" + (f": {run['reason']}" if run["reason"] else "")
    if run["status"] in FINAL_RUN:
        since = ", and files of it lie beside its archive" if packed else ""
        packing = {"why": f"{stands}{since}", "command": f"memento archive {run['id']}"}
        left = merges if run["status"] == "completed" else ()
        return steps or [*left, *([packing] if loose else [])]
    if run["status"] == "paused":
        return [*steps, {"why": stands, "command": f"memento run resume {run['id']}"}]
    steps += _gate_steps(held, fresh)
    steps += [
        {"why": f"{row['claimed_by']} holds {row['dispatch_id']} beyond its lease",
         "command": f"memento dispatch recover {row['dispatch_id']}"}
        for row in held["dispatches"] if row["expired"] and asker != row["claimed_by"]
    ]  # fmt: skip
    planning = plan_steps(run, held["plans"], sound=not broken(held))
    steps += [*planning, *merges, *_task_steps(held, known, asker), *_later_drafts(held)]
    return steps if merges else [*steps, *_ending(held, gates, choices)]


def _gate_steps(held: RunRows, fresh: Sequence[str]) -> list[Row]:
    """Return the steps of gates that have failed: passing them, and having done again what they refused.

    A waiver on the work of a run holds for what there was, so it lets what a reviewer asked for be done.
    """
    failed = failed_gates(held, but=("cancelled", "rejected"))
    refused = {row["scope"] for row in failed}
    waiting = [row["title"] for row in held["tasks"] if row["status"] == "pending"]
    return [
        *({"why": f"gate {row['kind']} of {row['scope']} has failed{awaited(row['judges'])}",
           "command": passing(fresh, row["kind"], row["scope"])} for row in failed),
        *({"why": f"to have “{row['title']}” done again, as its gate asks: reject it, then repair it",
           "command": f"memento task verify {row['id']}"}
          for row in held["tasks"] if row["id"] in refused and row["status"] in DONE),
        *({"why": f"to do “{waiting[0]}” before {row['kind']} is judged again: waive it, which holds until then",
           "command": f"memento gate waive {row['kind']} {option(row['scope'])} --reason WHY"}
          for row in failed if waiting and row["scope_kind"] == "run" and row["kind"] in GATES_OF_WORK),
    ]  # fmt: skip


def awaited(judges: Sequence[str]) -> str:
    """Return whose verdict a gate waits for, where policy names them, as the end of a sentence."""
    return f": it waits for a verdict{task_steps.by_whom(judges)}" if judges else ""


def broken(held: RunRows) -> list[Finding]:
    """Return what is wrong in files of a run, so that nobody knows what they say."""
    return [one for one in held["findings"] if one.severity == "error"]


def held_back(held: RunRows) -> list[tuple[TaskRow, HeldBack]]:
    """Return the first task that one thing holds back, of each such thing, and that; not what their plan tells."""
    found: dict[tuple[str, str], tuple[TaskRow, HeldBack]] = {}
    for row in held["tasks"]:
        if (back := row["held_back"]) and back["error"] not in OF_PLANS:
            found.setdefault((back["error"], back["command"]), (row, back))
    return list(found.values())


class Stranded(NamedTuple):
    """A task that waits for cancelled ones, so that its turn or the run's end never comes, and the first command."""

    task: TaskRow
    why: str
    command: str


def stranded(tasks: Sequence[TaskRow]) -> list[Stranded]:
    """Return the pending tasks that wait for cancelled ones, and the done ones that depend on such, to be reopened.

    The repair of one takes its place in the command.
    """
    known = {row["id"]: row for row in tasks}
    repairs = {row["repairs"]: row["id"] for row in tasks if row["repairs"]}
    found = []
    for row in tasks:
        done = row["status"] in DONE and row["proven"]
        gone = [
            other for other in row["dependencies" if done else "waits_on"]
            if other in known and known[other]["status"] == "cancelled"
        ]  # fmt: skip
        if gone and (done or row["status"] == "pending"):
            told = ", ".join(f"“{known[other]['title']}”" for other in gone)
            verb = "is done, and depends on" if done else "waits on"
            why = f"“{row['title']}” {verb} {told}, which {'is' if len(gone) == 1 else 'are'} cancelled"
            free = leaving_out(row["id"], row["dependencies"], gone, repairs)
            found.append(Stranded(row, why, f"memento task reopen {row['id']} --reason WHY" if done else free))
    return found


def _mending(held: RunRows) -> list[Row]:
    """Return the step that comes before all others where a file of the run is broken."""
    found = broken(held)
    more = f"; and {len(found) - 1} more" if found[1:] else ""
    return [{"why": f"a file is broken: {found[0]}{more}", "command": "memento check"}] if found else []


def _settling(held: RunRows) -> list[Row]:
    """Return a step for each record in trouble: what is first amiss with it, of which the rest mostly follows."""
    first: dict[tuple[str, str], str] = {}
    for row in held["trouble"]:
        first.setdefault((row["record"], row["problem"]), row["about"])
    steps = (
        {"why": f"{record} is {problem}: {about}", "command": "memento settle"}
        for (record, problem), about in first.items()
    )  # fmt: skip
    return list(islice(steps, SOON))


def _incomplete(held: RunRows) -> set[str]:
    """Return the records to which nothing happens until what is incomplete of them is restored or voided."""
    return {row["record"] for row in held["trouble"] if row["problem"] == "incomplete"}


def _drafts(plans: Sequence[PlanRow]) -> list[PlanRow]:
    return [row for row in plans if row["status"] == "draft"]


def plan_steps(run: RunRow, plans: Sequence[PlanRow], *, sound: bool = True) -> list[Row]:
    """Return the step to the plan that a run lacks, or to the approval of one; `sound`, where all of it can be read."""
    drafts = _drafts(plans)
    if not run["current_plan_id"] and drafts:
        return [task_steps.approving(drafts[-1])]
    changed = [row for row in plans if row["changed"]]
    if changed:
        by = task_steps.by_whom(changed[0]["approvers"], changed[0]["not_by"])
        why = f"plan “{changed[0]['title']}” was changed after its approval: it waits for another{by}"
        return [{"why": why, "command": f"memento plan approve {changed[0]['id']}"}]
    if unapproved := [row for row in plans if row["unapproved"]]:
        return [{"why": unapproved[0]["unapproved"], "command": f"memento plan approve {unapproved[0]['id']}"}]
    if run["current_plan_id"] or run["spike"] or not sound:
        return []
    return [
        {"why": "there is no plan yet", "command": f"memento plan draft --run {run['id']} --title TITLE --body TEXT"}
    ]


def _later_drafts(held: RunRows) -> list[Row]:
    """Return the step of the last plan that was drafted after the canonical one, to take its place."""
    made = [row["created_at"] for row in held["plans"] if row["id"] == held["run"]["current_plan_id"]]
    return [
        {"why": f"plan “{row['title']}” waits for approval{task_steps.by_whom(row['approvers'], row['not_by'])}, "
                "to take the place of the one that holds",
         "command": f"memento plan approve {row['id']}"}
        for row in held["plans"] if made and row["status"] == "draft" and row["created_at"] > made[0]
    ][-1:]  # fmt: skip


def _task_steps(held: RunRows, known: Mapping[str, Row], asker: str) -> list[Row]:
    drafts = _drafts(held["plans"])
    stuck, run = _incomplete(held), held["run"]["id"]
    tasks = [row for row in held["tasks"] if not row["broken"] and row["id"] not in stuck]
    if not held["tasks"] and not broken(held):
        return [{"why": "there are no tasks yet", "command": f"memento task add --run {run} --title TITLE"}]
    refused = {row["scope"] for row in failed_gates(held)}
    is_open = held["run"]["current_plan_id"] == "contested"  # no task is to be done again before that is settled
    unproven = [row for row in tasks if row["proven"] is False and row["id"] not in refused and not is_open]
    steps = [known.get(row["id"]) or task_steps.helping(row, held["evidence"]) for row in unproven][:SOON]
    steps += [
        {"why": f"“{row['title']}” was rejected: {row['reason']}", "command": f"memento task repair {row['id']}"}
        for row in tasks if row["status"] == "rejected"
    ][:SOON]  # fmt: skip
    steps += [
        {"why": f"“{row['title']}” is blocked: {row['reason']}",
         "command": f"memento task reopen {row['id']} --reason WHY"}
        for row in tasks if row["status"] == "blocked"
    ][:SOON]  # fmt: skip
    steps += [{"why": one.why, "command": one.command} for one in stranded(tasks)[:SOON]]
    steps += [
        {"why": f"“{row['title']}” is held back: {back['why']}", "command": back["command"]}
        for row, back in held_back(held) if not (drafts and back["error"] == "spike_limit")
    ][:SOON]  # fmt: skip
    return [*steps, *_open_steps(held, tasks, known, asker)][: SOON + 2]


def _open_steps(held: RunRows, tasks: Sequence[TaskRow], known: Mapping[str, Row], asker: str) -> list[Row]:
    """Return the steps of tasks that are handed out, or could be; a dispatch of other words is made anew.

    What is at work comes before what can be begun, and what only others go on with comes last.
    """
    handed = {row["task_id"]: row for row in held["dispatches"] if row["status"] in OPEN_DISPATCH}
    claims = grouped((row["task_id"], row) for row in held["dispatches"] if row["status"] == "claimed")
    shut = {row["scope"] for row in held["gates"] if row["status"] == "failed"}  # in which nobody begins
    steps = [
        {"why": f"“{row['title']}” was revised after it was handed out",
         "command": f"memento dispatch recover {handed[row['id']]['dispatch_id']} --force --reason WHY --requeue"}
        for row in tasks if row["id"] in handed and handed[row["id"]]["outdated"]
    ][:SOON]  # fmt: skip
    others: list[Row] = []
    for row in sorted(tasks, key=lambda row: row["status"] != "in_progress"):
        if len(steps) >= SOON + 2:
            break
        if row["id"] in handed and handed[row["id"]]["outdated"]:
            continue
        if row["status"] == "dispatched" and row["id"] in handed:
            name = handed[row["id"]]["dispatch_id"]
            waits = task_steps.claiming(f"“{row['title']}”", handed[row["id"]])
            if name in known or shut.isdisjoint((row["id"], held["run"]["id"])):
                steps.append(known.get(name, waits))
        elif row["status"] == "in_progress":
            claimed = claims.get(row["id"], [])
            told = [known[one["dispatch_id"]] for one in claimed if one["dispatch_id"] in known]
            is_own = told or not claimed or any(asker in ("", one["claimed_by"]) for one in claimed)
            found = steps if is_own else others
            if len(found) < SOON + 2:
                found.extend(told or task_steps.going_on(row, claimed, held["evidence"], asker))
        elif row["ready"]:
            ready = {"why": f"“{row['title']}” is ready", "command": creating(row["id"])}
            steps.append(known.get(row["id"], ready))
    return [*steps, *others]


def _ending(held: RunRows, gates: Sequence[Row] | None, choices: Sequence[Row]) -> list[Row]:
    """Return what is left to do where no task is open."""
    run = held["run"]["id"]
    if not held["tasks"] or not all_done(held["tasks"]):
        return []
    if all(row["status"] == "cancelled" for row in held["tasks"]):
        return [{"why": "every task was cancelled", "command": f"memento run cancel {run} --reason WHY"}]
    if gates is not None:
        return [*choices, *gates]
    return [*choices, {"why": _all_done(held["tasks"]), "command": f"memento run complete {run}"}]


def _all_done(tasks: Sequence[TaskRow]) -> str:
    """Return that all is done, how much of it failed since, and how much is proven on other code only than this."""
    failed = sum(bool(row["proven"] and row.get("failed_since")) for row in tasks)
    old = sum(bool(row["proven"] and row.get("stale") and not row.get("passed_since")) for row in tasks)
    told = [f"{old} of them on other code than this commit's"] if old else []
    return ", ".join([ALL_DONE, *([f"{failed} of them failed since"] if failed else []), *told])
