"""What comes next for one task, and the commands by which it goes on. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memento_git.model.enumeration import many, some
from memento_git.model.markup import code
from memento_git.model.states import UNNAMED
from memento_git.work.remedies import creating, mending, resuming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memento_git.model.rows import AskedRow, DispatchRow, EvidenceRow, PlanRow, Row, TaskRow

SOON: Final = 3


def claiming(what: str, dispatch: DispatchRow) -> Row:
    """Return the step of whoever a dispatch was handed to: nobody else is kept from it, but one would be told."""
    whose = "" if dispatch["executor"] in ("", UNNAMED) else f" by {dispatch['executor']}"
    return {"why": f"{what} waits to be claimed{whose}",
            "command": f"memento dispatch claim {dispatch['dispatch_id']}"}  # fmt: skip


def handing_out(task: TaskRow) -> str:
    """Return the command that hands a pending task out, or shows what it waits for."""
    return creating(task["id"]) if task["ready"] else f"memento status --run {task['run_id']}"


def due(task: TaskRow, dispatches: Sequence[DispatchRow]) -> str:
    """Return the command that comes next for a task on which nobody works; nothing where it is proven."""
    queued = [row["dispatch_id"] for row in dispatches if row["status"] == "queued"]
    if task["status"] == "dispatched" and queued:
        return f"memento dispatch claim {queued[-1]}"
    if task["status"] == "pending":
        return handing_out(task)
    steps = [] if task["proven"] else [*proving(task), {"command": resuming(task["id"], task["status"])}]
    return str(steps[0]["command"]) if steps else ""


def approving(plan: PlanRow) -> Row:
    """Return the step that approves a plan, where the run has none that holds."""
    by = by_whom(plan["approvers"], plan["not_by"])
    return {"why": f"a plan waits for approval{by}", "command": f"memento plan approve {plan['id']}"}


def proving(task: TaskRow) -> list[Row]:
    """Return the steps by which a task that was completed without being proven becomes proven; none for any other."""
    if task["proven"] is not False:
        return []
    name, reopen = task["id"], resuming(task["id"], task["status"])
    if task["blocked_by"]:
        failed = f"gate {task['blocked_by'][0]} of it has failed, so it is to be rejected"
        return [{"why": failed, "command": f"memento task verify {name}"},
                {"why": "then, to have it done again", "command": f"memento task repair {name}"}]  # fmt: skip
    first, *then = mending(name, task["proven_after"] or "", task["run_id"])
    if task["proven_after"] == "approve":
        return [{"why": f"it waits for an approval{_by_whom(task)}", "command": first},
                {"why": "then, to let that count", "command": then[0]}]  # fmt: skip
    if task["proven_after"]:
        why = "run what is asked" if task["proven_after"] == "verify" else "let a runner run its evidence again"
        return [{"why": why, "command": first}, {"why": "or, to do it again", "command": reopen}]
    shown = {"why": "then, once it is handed out and claimed again", "command": _shows(task)}
    return [{"why": "do it again", "command": reopen}, shown]


def helping(task: TaskRow, evidence: Sequence[EvidenceRow]) -> Row:
    """Return the step that helps a done task to its proof; if it waits for a yes that is given by now, its verdict."""
    first, *then = proving(task)
    if task["proven_after"] != "approve" or task["blocked_by"]:
        because, more = "".join(task["unproven_because"][:1]), len(task["unproven_because"]) - 1
        because += f", and for {many(more, 'more reason')}" if more > 0 else ""
        return {**first, "why": f"“{task['title']}” is {task['status']} but not proven: {because}"}
    own = [row["id"] for row in evidence if task["id"] in row["task_ids"]]
    about = {task["id"], task["run_id"], *own, *(row["id"] for row in evidence if row["diff"] and not row["task_ids"])}
    said = (row for row in evidence if row["kind"] == "approval" and row["approves"] in about)
    if any((row["status"], row["outcome"]) == ("recorded", "passed") and _is_heard(task, row["actor"]) for row in said):
        return {**then[0], "why": f"“{task['title']}” was approved"}
    return {**first, "why": f"“{task['title']}” is done, and waits for an approval{_by_whom(task)}"}


def _by_whom(task: TaskRow) -> str:
    """Return by whom an approval of a task counts, as the end of a sentence."""
    return by_whom(task["asked"]["approvers"], task["asked"]["not_by"]) if task["asked"] else ""


def by_whom(named: Sequence[str], but: Sequence[str] = ()) -> str:
    """Return that something is for some people, or for others than some, as the end of a sentence; or nothing."""
    whose = [f"by {some(named, SOON, ' or ')}"] if named else []
    whose += [f"by another than {some(but, SOON, ' and ')}"] if but else []
    return f" {' and '.join(whose)}" if whose else ""


def _shows(row: TaskRow) -> str:
    """Return the command line that records what is asked first of a task."""
    from memento_git.work.proof.verification import show_lines

    return show_lines(row["id"], row["asked"])[0]


def going_on(task: TaskRow, claimed: Sequence[DispatchRow], evidence: Sequence[EvidenceRow], asker: str) -> list[Row]:
    """Return the steps of a task at work: to show what is asked and has not passed, or to complete it on what has.

    What only others hold is theirs to go on with.
    """
    own = [row for row in claimed if asker in ("", row["claimed_by"])]
    if claimed and not own:
        return [{"why": f"{claimed[0]['claimed_by']} works on “{task['title']}”",
                 "command": f"memento dispatch show {claimed[0]['dispatch_id']}"}]  # fmt: skip
    from memento_git.work.proof.verification import show_lines, shown

    going = {"why": f"“{task['title']}” is in progress", "command": _shows(task)}
    for dispatch in own:
        since = [
            row for row in _since(task["id"], dispatch, evidence)
            if row["kind"] != "approval" or _is_heard(task, row["actor"])
        ]  # fmt: skip
        ran, beside = _ran(since, dispatch["claimed_by"]), _beside(since, task["asked"])
        passed = [*(row for row in ran if row["outcome"] == "passed"), *beside]
        left = show_lines(task["id"], task["asked"], passed)
        failed = [row for row in ran if row["outcome"] != "passed" or row["moved"]]
        if left:
            going["command"] = left[0]
        if failed:
            going["why"] += f", and {code(shown(failed[-1]['command'] or ()))} did not pass: {failed[-1]['id']}"
            if not left:
                return again(task, failed[-1], going["why"])
        elif left and ran:
            going["why"] += ", and more is asked of it"
        elif not left:
            cited = " ".join(f"--evidence {row['id']}" for row in (*ran, *beside))
            complete = f"memento dispatch complete {dispatch['dispatch_id']} {cited}"
            told = (
                f"what was run for “{task['title']}” has passed" if ran else f"“{task['title']}” has what it asks for"
            )
            return [{"why": told, "command": complete}]
    return [going]


def again(task: TaskRow, failed: EvidenceRow, why: str) -> list[Row]:
    """Return the steps that follow a failure of what is not asked, or not like this: to run it again, or to retract it.

    What ran in a folder, or is not recorded whole, is not known here as it is typed; what was typed, or told by a
    provider, did not run here.
    """
    from memento_git.work.proof.verification import again_line

    retract = {
        "why": "or, if that run was a mistake",
        "command": f"memento evidence retract {failed['id']} --reason WHY",
    }
    if not failed["command"]:
        return [{**retract, "why": f"{why}; record it again when it has passed, or take it back"}]
    command = {"argv": failed["command"], "cwd": failed["folder"]}
    line = again_line(task["id"], {**failed, "command": command})
    if line.endswith("CMD"):
        where = f" in {failed['folder']}" if failed["folder"] != "." else ""
        return [{**retract, "why": f"{why}; run it again{where}, or take it back"}]
    return [{"why": why, "command": line}, retract]


def _is_heard(task: TaskRow, approver: str) -> bool:
    """Tell whether policy counts an approval of a task, by whom it is."""
    from memento_git.work import persons

    asked = task["asked"]
    if asked is None:
        return True
    is_named = not asked["approvers"] or approver in asked["approvers"]
    return is_named and not persons.is_among(approver, asked["not_by"])


def _ran(since: Sequence[EvidenceRow], holder: str | None) -> list[EvidenceRow]:
    """Return what the holder of a dispatch ran, the latest of each command; no pass of other code than the last saw."""
    from memento_git.work.proof.failures import latest_of, ran

    found = [row for row in since if row["command"] and row["actor"] == holder]
    latest = latest_of((ran(row), row) for row in found).values()
    return [row for row in latest if row["outcome"] != "passed" or _is_of(row["code"] or {}, found[-1]["code"] or {})]


def _is_of(code: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Tell whether a command saw the code that the last one saw, as far as both are about all of it."""
    from memento_git.work.proof.codes import agree

    return not code or not last or "paths" in code or "paths" in last or agree(code, last)


def _beside(since: Sequence[EvidenceRow], asked: AskedRow | None) -> list[EvidenceRow]:
    """Return the latest of each kind that is asked and that no command shows, whoever brought it, and that shows it."""
    if asked is None:
        return []
    from memento_git.work.proof.trust import is_shown

    found = [
        row for row in since
        if row["kind"] in (*asked["evidence"], *asked["proof"]) and not row["command"]
        and is_shown(row["kind"], row["trust_level"], row["outcome"], asked["proof"])
    ]  # fmt: skip
    return [*{row["kind"]: row for row in found}.values()]


def _since(task: str, dispatch: DispatchRow, evidence: Sequence[EvidenceRow]) -> list[EvidenceRow]:
    """Return the evidence of a task since a dispatch, and not of another, on the code as it is; the latest last."""
    opened = dispatch["created_at"] or ""
    found = [
        row for row in evidence
        if row["status"] == "recorded" and task in row["task_ids"] and row["created_at"] >= opened
        and row["dispatch"] in (None, dispatch["dispatch_id"]) and not (row.get("stale") and not row["uncommitted"])
    ]  # fmt: skip
    return sorted(found, key=lambda row: (row["created_at"], row["id"]))
