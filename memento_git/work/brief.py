"""The brief of a task: all that a worker needs, and nothing from a chat. Plain first form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.work import rows
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from memento_git.ledger.view import View
    from memento_git.work.rows import Row

SAFETY: Final = (
    "Work only on this task; leave files that it does not need alone.",
    "Never rewrite published history, discard uncommitted work of others, or delete branches.",
    "Never write secrets into files, commits, notes or captured output.",
    "Do not edit anything below .memento by hand.",
)
REPORTING: Final = (
    "Show results by running them: memento evidence run --task {task} -- CMD",
    "Complete with that evidence: memento dispatch complete DISPATCH --evidence EVIDENCE --summary TEXT",
    "If you cannot go on: memento dispatch fail DISPATCH --reason WHY",
    "A summary without evidence does not complete a task.",
)


def brief(view: View, given: str) -> Row:
    """Return the brief of the task that a prefix names, as a row."""
    identity, run = view.find(given, "task")
    state = RunState(view, run)
    policy = view.policy()
    task, goal = rows.task_row(state, identity, policy), rows.run_row(state)
    plan = rows.plan_row(state, state.canonical) if state.canonical else None
    depends = [rows.task_row(state, other, policy) for other in task["dependencies"] if other in state.index.prose]
    return {
        "goal": goal["goal"],
        "constraints": goal["constraints"],
        "run_id": run,
        "plan": {key: plan[key] for key in ("id", "title", "body", "acceptance_criteria", "risks")} if plan else None,
        "task_id": identity,
        "task_title": task["title"],
        "task_description": task["description"],
        "task_status": task["status"],
        "acceptance_criteria": task["acceptance_criteria"],
        "relevant_files": task["relevant_files"],
        "dependencies": [
            {key: other[key] for key in ("id", "title", "status", "proven", "proven_by")} for other in depends
        ],
        "repo_path": ".",
        "safety_constraints": list(SAFETY),
        "reporting_contract": [line.format(task=identity) for line in REPORTING],
        "verification_policy": {"proof": policy.proof, "require": list(policy.require)},
        "hidden_context_policy": "This brief is complete: nothing from a chat or another session is part of it.",
    }


def as_markdown(row: Row) -> str:
    """Return a brief as Markdown."""
    lines = [f"# {row['task_title']}", "", f"Task `{row['task_id']}` of the goal: {row['goal']}", ""]
    if row["task_description"]:
        lines += [row["task_description"], ""]
    lines += _section("Done when", row["acceptance_criteria"])
    lines += _section("Constraints", row["constraints"])
    lines += _section("Files", [f"`{path}`" for path in row["relevant_files"]])
    lines += _section(
        "Rests on",
        [
            f"{one['title']} (`{one['id']}`, {one['status']}{', proven' if one['proven'] else ''})"
            for one in row["dependencies"]
        ],
    )
    if row["plan"]:
        lines += [f"## Plan: {row['plan']['title']}", "", row["plan"]["body"], ""]
    proof = ", ".join(f"{kind} ({trust} or better)" for kind, trust in row["verification_policy"]["proof"].items())
    lines += _section("Proof", [f"This proves the task: {proof}"])
    lines += _section("Rules", row["safety_constraints"])
    lines += _section("Reporting", row["reporting_contract"])
    return "\n".join([*lines, row["hidden_context_policy"], ""])


def _section(title: str, items: list[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {item}" for item in items), ""] if items else []
