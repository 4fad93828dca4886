"""What the ledger and the code of a commit say to whoever does a task; never anything from a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.ledger.tree_listing import FILE_MODES
from memento_git.model.enumeration import many
from memento_git.model.states import OPEN_DISPATCH
from memento_git.model.types import FORBIDDEN
from memento_git.work import answers, doubts, rows
from memento_git.work.loading import load
from memento_git.work.proof import verification_inputs
from memento_git.work.proof.verification import show_lines, shown
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.trees import Entry
    from memento_git.ledger.view import View
    from memento_git.model.rows import AskedRow, Row, TaskRow
    from memento_git.model.work import Event

SAFETY: Final = (
    "Work only on this task; leave files that it does not need alone.",
    "Never rewrite published history, discard uncommitted work of others, or delete branches.",
    "Never write secrets into files, commits, notes or captured output.",
    "Do not edit anything below .memento by hand.",
)
REPORTING: Final = (
    "Complete with that evidence: memento dispatch complete {dispatch} --evidence EVIDENCE --summary TEXT",
    "If you cannot go on: memento dispatch fail {dispatch} --reason WHY",
    "A summary without evidence does not complete a task.",
)
HIDDEN: Final = "Nothing from a chat or another session is part of this brief."
MOST_ATTEMPTS: Final = 10
MOST_NOTES: Final = 10
MOST_PLAN: Final = 6_000
MOST_EXCERPT: Final = 4_000
MOST_FILE: Final = 1024 * 1024
ENDED_BADLY: Final = ("failed", "rejected", "recovered", "blocked")


def facts(view: View, given: str, *, excerpts: bool = False, notes: Sequence[Row] = ()) -> Row:
    """Return all that the brief of the task that a prefix names can hold; `omitted` names what was cut to a size."""
    identity, state = RunState.find(view, given, "task")
    load(state)
    state.prose(identity)
    task, goal = rows.task_row(state, identity), rows.run_row(state)
    asked = rows.demand_row(state, identity, verification_inputs.asked(state, identity))
    omitted: list[Row] = []
    files = _files(view, task["relevant_files"])
    return {
        "goal": goal["goal"],
        "constraints": goal["constraints"],
        "run_id": state.id,
        "plan": _plan(state, omitted),
        "task_id": identity,
        "task_title": task["title"],
        "task_description": task["description"],
        "task_status": task["status"],
        **{f"task_{key}": task[key] for key in ("kind", "risk", "size")},
        "role": task["role"],
        "acceptance_criteria": task["acceptance_criteria"],
        "verification_policy": asked,
        "dependencies": _dependencies(state, task["dependencies"]),
        "attempts": _attempts(state, identity, task["repairs"], omitted),
        "relevant_files": task["relevant_files"],
        "files": files,
        "notes": _notes(notes, omitted),
        **({"excerpts": _excerpts(view, files, omitted)} if excerpts else {}),
        "repo_path": ".",
        "safety_constraints": list(SAFETY),
        "reporting_contract": _reporting(state, identity, asked),
        "hidden_context_policy": HIDDEN,
        "omitted": omitted,
    }


def _reporting(state: RunState, task: str, asked: AskedRow) -> list[str]:
    """Return how a worker hands in results, with the lines that record what will be asked.

    They name the dispatch where the task has one that is open, and nobody else is handed the task beside it.
    """
    lines = [
        f"{'Show results by running them' if ' -- ' in line else 'Add what is asked to be shown'}: {line}"
        for line in show_lines(task, asked)
    ]
    going = {name: one.opened for name, one in state.dispatches(task).items() if one.status in OPEN_DISPATCH}
    alone = [name for name, opened in going.items() if len(going) == 1 and opened and not opened.data.get("candidate")]
    name = "".join(alone) or "DISPATCH"
    return [*lines, *(line.format(dispatch=name) for line in REPORTING)]


def left_out(section: str, characters: int) -> Row:
    """Return a note on what a brief does not hold."""
    return {"section": section, "characters": characters}


def _plan(state: RunState, omitted: list[Row]) -> Row | None:
    if not state.names.text_of(state.canonical):
        return None
    plan = rows.plan_row(state, state.canonical)
    answers.mark_lacking(state, plans=[plan])
    body = plan["body"]
    if len(body) > MOST_PLAN:
        omitted.append(left_out("rest of the plan", len(body) - MOST_PLAN))
    kept = {key: plan[key] for key in ("id", "title", "body", "acceptance_criteria", "risks")}
    return {**kept, "body": body[:MOST_PLAN], "doubts": doubts.of_plan(plan)}


def _dependencies(state: RunState, tasks: Sequence[str]) -> list[Row]:
    """Return what a task depends on, with what takes from the state of each."""
    held = {task: rows.task_row(state, task) for task in tasks if state.names.text_of(task)}
    answers.mark_lacking(state, tasks=[*held.values()])
    answers.mark_aged(state, held.values())
    return [_dependency(state, task, held.get(task)) for task in tasks]


def _dependency(state: RunState, task: str, row: TaskRow | None) -> Row:
    if row is None:
        return {"id": task, "title": None, "status": "missing", "proven": False, "proven_by": [], "evidence": [],
                "unproven_because": [], "doubts": []}  # fmt: skip
    found = state.pieces(row["proven_by"])
    evidence = [
        {
            "id": one.id,
            "kind": one.kind,
            "trust_level": state.trust_in(one),
            "command": shown(one.data["command"]["argv"]) if "command" in one.data else None,
            "summary": one.data.get("summary"),
        }
        for one in found
    ]
    told = {key: row[key] for key in ("id", "title", "status", "proven", "proven_by", "unproven_because")}
    return {**told, "evidence": evidence, "doubts": doubts.with_gates(row)}


def _attempts(state: RunState, task: str, repairs: str | None, omitted: list[Row]) -> list[Row]:
    """Return how earlier attempts at a task, and at the one that it repairs, ended and why."""
    names = ([repairs] if repairs else []) + [task]
    ended = [event for name in names for event in state.folded(name).legal(*ENDED_BADLY)]
    told = [_attempt(state, event) for event in ended]
    if (more := len(told) - MOST_ATTEMPTS) > 0:
        omitted.append(left_out(f"{more} earlier attempts", sum(len(str(one)) for one in told[:more])))
    return told[-MOST_ATTEMPTS:]


def _notes(notes: Sequence[Row], omitted: list[Row]) -> list[Row]:
    """Return the first of the notes that are about the files of a task."""
    if left := notes[MOST_NOTES:]:
        size = sum(len(one["title"]) for one in left)
        omitted.append(left_out(f"{many(len(left), 'more note')} about these files", size))
    return list(notes[:MOST_NOTES])


def _attempt(state: RunState, event: Event) -> Row:
    opened = state.opened(event.dispatch)
    return {
        "task_id": event.of,
        "ended": event.do,
        "by": event.by,
        "at": event.at,
        "executor": opened.get("executor") if opened else None,
        "category": event.get("category") or None,
        "reason": event.get("reason") or event.get("note") or None,
        "unmet": event.data.get("unmet", []),
    }


def _files(view: View, paths: Sequence[str]) -> list[Row]:
    """Return what each path is at the view's commit; `blob` is null for what is not in it."""
    found: dict[str, Entry] = {}
    for commit in reversed(view.commits):
        found.update(view.git.trees.listed("-l", "-t", commit, "--", *paths) if paths else {})
    return [_file(path, found.get(path)) for path in paths]


def _file(path: str, entry: Entry | None) -> Row:
    if entry is None:
        return {"path": path, "blob": None, "type": None, "bytes": None}
    blob, _, size = entry.oid.partition(" ")
    kind = "folder" if entry.type == "tree" else "file" if entry.mode in FILE_MODES else "other"
    return {"path": path, "blob": blob, "type": kind, "bytes": int(size) if size.strip().isdigit() else None}


def _excerpts(view: View, files: Sequence[Row], omitted: list[Row]) -> list[Row]:
    """Return the beginnings of text files, with secrets taken out."""
    small = [one for one in files if one["type"] == "file" and one["bytes"] <= MOST_FILE]
    omitted += [
        left_out(f"excerpt of {one['path']}", one["bytes"])
        for one in files
        if one["type"] == "file" and one not in small
    ]
    contents = view.git.objects(one["blob"] for one in small)
    told = [(one["path"], data) for one, data in zip(small, contents, strict=True) if data and b"\0" not in data]
    return [_excerpt(path, data.decode(errors="replace"), omitted) for path, data in told]


def _excerpt(path: str, text: str, omitted: list[Row]) -> Row:
    from memento_git.texts.secrets import redact_start

    clean = FORBIDDEN.sub("", text.replace("\r\n", "\n"))
    kept, redacted = redact_start(clean, MOST_EXCERPT)
    if len(clean) > MOST_EXCERPT:
        omitted.append(left_out(f"rest of {path}", len(clean) - MOST_EXCERPT))
    return {"path": path, "text": kept, "redacted": dict(sorted(redacted.items()))}
