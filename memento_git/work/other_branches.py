"""What other branches and worktrees of a clone know of a run's tasks: where to go on with them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from memento_git.work.task_steps import SOON

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from memento_git.ledger.git import Git
    from memento_git.ledger.view import View
    from memento_git.model.rows import DispatchRow, Row
    from memento_git.model.run_rows import RunRows


def steps(view: View, held: RunRows, known: Collection[str]) -> dict[str, Row]:
    """Return the steps of open dispatches that have a branch of their own, and of ready tasks claimed on another one.

    Those in `known` are told already.
    """
    if len(view.commits) != 1:
        return {}
    titles = {row["id"]: row["title"] for row in held["tasks"] if row["status"] in ("dispatched", "in_progress")}
    places = {task: place for place, task in enumerate(titles)}  # those are looked at that will be told
    rows = [row for row in held["dispatches"] if row["task_id"] in titles and row["dispatch_id"] not in known]
    rows.sort(key=lambda row: (row["status"] != "claimed", places[row["task_id"]]))
    apart = [row for row in rows if row["branch"] and row["status"] in ("queued", "claimed")]
    found = _apart(view, held["run"]["id"], apart[: SOON + 2], titles) if apart else {}
    waiting = [row for row in rows if row["status"] == "queued" and row["dispatch_id"] not in found][:SOON]
    return found | _claimed(view, held["run"]["id"], waiting, titles) | _taken(view, held)


def _apart(view: View, run: str, rows: Collection[DispatchRow], titles: Mapping[str, str]) -> dict[str, Row]:
    from memento_git.ledger import checkouts, dispatch_branches
    from memento_git.ledger.view import View as Other
    from memento_git.work.state import RunState

    git = view.git
    off, places = dispatch_branches.off_head(git), checkouts.listed(git)
    top = git.top.resolve() if git.top else None
    here = next((branch for path, branch in places.items() if path.resolve() == top), "")
    found: dict[str, Row] = {}
    for row in rows:
        name, what = row["dispatch_id"], f"“{titles[row['task_id']]}”"
        branch = checkouts.branch_of(name)
        folder = next((path for path, held in places.items() if held == branch and branch != here), None)
        ref = dispatch_branches.ref_of(git, name) if branch in off or (folder and row["status"] == "claimed") else ""
        there = RunState(Other(git, (git.commit_of(ref),), view.now), run).dispatch(name).status if ref else ""
        if there == "completed":
            found[name] = {"why": f"{what} is completed on its own branch", "command": f"git merge {branch}"}
        elif there == "claimed" and row["status"] == "queued":
            found[name] = {"why": f"{what} is claimed on its own branch", "command": f"memento status --at {branch}"}
        elif folder and row["status"] == "queued":
            why = f"{what} waits to be claimed in its worktree"
            found[name] = {"why": why, "command": f"{_go(folder)} && memento dispatch claim {name}"}
        elif folder and here:
            why, then = (
                (f"{what} is in progress in its worktree", "memento status") if there == "claimed" else
                (f"{what} is claimed here, and its worktree does not know that yet", f"git merge {here}")
            )  # fmt: skip
            found[name] = {"why": why, "command": f"{_go(folder)} && {then}"}
    return found


def _go(folder: Path) -> str:
    return f"cd {shlex.quote(str(folder))}"


def _claimed(view: View, run: str, rows: Collection[DispatchRow], titles: Mapping[str, str]) -> dict[str, Row]:
    """Return the steps of dispatches that wait here, and that a branch of this clone which HEAD lacks has claimed."""
    from memento_git.ledger import claims

    git = view.git
    found: dict[str, Row] = {}
    for row in rows:
        name, task = row["dispatch_id"], row["task_id"]
        claim = claims.read(git, name if row["candidate"] else task)
        if claim is None or claim.until < view.now or claim.dispatch != name:
            continue
        from memento_git.ledger import dispatch_branches, layout
        from memento_git.ledger.view import View as Other
        from memento_git.work.state import RunState

        for branch in dispatch_branches.knowing(git, name, layout.folder_of(run, task)):
            tip = git.commit(f"refs/heads/{branch}")
            if tip and RunState(Other(git, (tip,), view.now), run).dispatch(name).status == "claimed":
                why = f"“{titles[task]}” is claimed by {claim.by} on branch {branch}, which is not merged here"
                found[name] = {"why": why, "command": f"git merge {shlex.quote(branch)}"}
                break
    return found


def _taken(view: View, held: RunRows) -> dict[str, Row]:
    """Return the steps of ready tasks that somebody claimed on a branch of this clone that is not merged here."""
    found: dict[str, Row] = {}
    for row in [row for row in held["tasks"] if row["ready"]][: SOON + 2]:
        mine = [one["dispatch_id"] for one in held["dispatches"] if one["task_id"] == row["id"]]
        if taken := claimed_on(view.git, held["run"]["id"], row["id"], mine, view.now):
            holder, branch, _ = taken
            why = f"“{row['title']}” is claimed by {holder} on branch {branch}"
            found[row["id"]] = {"why": why, "command": f"memento status --at {shlex.quote(branch)}"}
    return found


def claimed_on(git: Git, run: str, task: str, dispatches: Collection[str], now: str) -> tuple[str, str, str] | None:
    """Return (holder, branch, dispatch) of a task's claim that holds on a branch of this clone alone.

    `dispatches` are those that are known here.
    """
    from memento_git.ledger import claims

    claim = claims.read(git, task)
    if claim is None or claim.until < now or not claim.dispatch or claim.dispatch in dispatches:
        return None
    from memento_git.ledger import dispatch_branches, layout

    branches = dispatch_branches.knowing(git, claim.dispatch, layout.folder_of(run, task))
    return (claim.by, branches[0], claim.dispatch) if branches else None
