"""What one wants to see of a run first: goal, plan, tasks with what proves them, what blocks, what to do next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, cast

from memento_git.model.clock import is_ahead
from memento_git.model.states import FINAL_RUN
from memento_git.work import doubts, other_branches, row_cache
from memento_git.work.dispatch import live
from memento_git.work.nextsteps import next_steps
from memento_git.work.proof.failures import mark_failed
from memento_git.work.proof.staleness import mark_stale
from memento_git.work.run_details import RunDetails

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View
    from memento_git.model.rows import AnyRow, ClaimRow, EventRow, RunRow, TaskRow
    from memento_git.model.run_rows import RunRows

LISTS: Final = ("tasks", "dispatches", "evidence", "audit", "roles")
IDS: Final = ("ready", "stale", "ahead")


def choose_run(view: View, given: str = "") -> str:
    """Return the run that is named; else the latest that is open, else that was completed, else the latest of all."""
    return choose_among(view, given)[0]


def choose_among(view: View, given: str = "") -> tuple[str, list[RunRow]]:
    """Return the chosen run and, where none is named, the rows of others that are not finished, the latest first."""
    if given:
        return view.find(given, "run")[0], []
    if len(runs := view.runs()) == 1:
        return runs[0], []
    heads = sorted((row_cache.head(view, run) for run in runs), key=lambda row: (row["created_at"], row["id"]))[::-1]
    if not heads:
        from memento_git.work import refusals as no

        raise no.NoRun
    unfinished = [row for row in heads if row["status"] not in FINAL_RUN]
    completed = [row for row in heads if row["status"] == "completed"]
    return (unfinished or completed or heads)[0]["id"], unfinished[1:]


def same_goal(view: View, row: RunRow) -> str:
    """Return another run that is open and has the goal of this one, or nothing."""
    heads = (row_cache.head(view, run) for run in view.runs() if run != row["id"])
    return next((one["id"] for one in heads if one["goal"] == row["goal"] and one["status"] not in FINAL_RUN), "")


def choose_plan(view: View) -> str:
    """Return the canonical plan of the run that is chosen where none is named, or the only plan that it has."""
    from memento_git.work import refusals as no
    from memento_git.work.dispatch import handout
    from memento_git.work.state import RunState

    state = RunState(view, choose_run(view))
    handout.refuse_contested_plan(state)
    plans = [state.canonical] if state.canonical else state.ids("plan")
    if not plans:
        raise no.PlanRequired(run=state.id)
    if len(plans) > 1:
        raise no.NoOnePlan(run=state.id, count=len(plans))
    return plans[0]


def uncommitted(ledger: Ledger) -> list[str]:
    """Return the paths of the ledger that differ from HEAD, once git has looked."""
    return [change.path for change in ledger.uncommitted]


def interrupted(ledger: Ledger) -> list[dict[str, str]]:
    """Return the step that comes before all others while git is in the middle of something."""
    from memento_git.ledger.git_operations import QUIT, in_progress, is_stuck

    return [
        {
            "why": f"{what} is in progress in this worktree: nothing is recorded until it is over",
            "command": QUIT if is_stuck(ledger.git) else "git status",
        }
        for what in in_progress(ledger.git)[:1]
    ]


def without_runs(view: View) -> RunRows:
    """Return the same keys for a ledger that has no run yet: nothing, and how to start one, if its policy lets it."""
    view.refuse_unsound_policy()
    lists = ("plans", "tasks", "dispatches", "gates", "evidence", "audit", "trouble", "findings", "ready", "stale",
             "ahead", "roles", "live")  # fmt: skip
    step = {"why": "there is no run yet", "command": "memento run start --goal TEXT"}
    return cast("RunRows", {
        "run": None, **{name: [] for name in lists}, "counts": _counts([]), "next": [step], "archived": False,
        "omitted": {},
    })  # fmt: skip


def overview(ledger: Ledger, view: View, run: str, *, limit: int = row_cache.SHOWN) -> RunRows:
    """Return a run as it is now: its rows, and what follows from clock and code.

    Of each list at most `limit` rows are shown; `omitted` says how many more there are, and 0 shows all.
    """
    return {**early_overview(ledger, view, run, limit=limit), "uncommitted": uncommitted(ledger)}


def early_overview(
    ledger: Ledger, view: View, run: str, *, limit: int = row_cache.SHOWN, ready: bool = False
) -> RunRows:  # fmt: skip
    """Return the same without the key `uncommitted`, so that git need not have looked at the work tree yet.

    `ready` is for an answer in JSON: lists of ids are cut as well, and an audit shown whole may be JSON already.
    """
    held = row_cache.base(view, run)
    details = RunDetails(view, run, held)
    held["ahead"] = _ahead(view, run, held.pop("latest"))
    whole = row_cache.ready_audit(view, run) if ready and not limit else None
    if whole is None and (not limit or limit > row_cache.SHOWN):
        held["audit"] = row_cache.audit(view, run)
    _mark_held(ledger, view, held)
    details.mark_signed()
    held["stale"] = mark_stale(view, held["evidence"], held["tasks"])
    mark_failed(held["tasks"], held["evidence"], view.now)
    held["evidence"] += held.pop("redacted")
    del held["cites"], held["whole"]
    held["counts"] = _counts(held["tasks"])
    held["run"]["doubts"] = doubts.of_run(held)
    if signs := held.pop("signs"):
        details.mark_unsigned()
    held["ready"] = [row["id"] for row in held["tasks"] if row["ready"]]
    fresh = details.mark_outdated()
    kept = details.kept()
    held["archived"] = kept["packed"] and not kept["loose"]
    gates = details.gates(signs=signs)
    held["live"], known = live.working(ledger.git, held)
    known |= other_branches.steps(view, held, known) | details.against
    asker = ledger.asker if any(row["status"] == "claimed" for row in held["dispatches"]) else ""
    choices = details.choices(gates)
    held["next"] = next_steps(
        held, details.merges(), gates=gates, choices=choices, known=known, fresh=fresh, asker=asker, **kept
    )
    shown = cut(held, limit, LISTS)
    if whole is not None:
        shown["audit"] = cast("list[EventRow]", whole)
        shown["omitted"].pop("audit", None)
    return cut_ids(shown, limit) if ready else shown


def _mark_held(ledger: Ledger, view: View, held: RunRows) -> None:
    """Say of each claimed dispatch whether its lease is over, and of each task who holds it; git is asked who reads."""
    claims: dict[str, list[ClaimRow]] = {}
    for row in held["dispatches"]:
        row["expired"] = row["status"] == "claimed" and (row["lease_until"] or "") < view.now
        if row["status"] == "claimed":
            claims.setdefault(row["task_id"], []).append({
                "dispatch_id": row["dispatch_id"], "claimed_by": row["claimed_by"],
                "lease_until": row["lease_until"], "expired": row["expired"],
            })  # fmt: skip
    for task in held["tasks"]:
        task["claims"] = claims.get(task["id"], [])
    if claims:
        ledger.ask_for_actor()


def cut(held: RunRows, limit: int, names: Sequence[str]) -> RunRows:
    """Return an overview whose long lists are cut to a limit, and what was left out of each."""
    held["omitted"] = {}
    events, lists = held.pop("events", len(held["audit"])), cast("dict[str, list[AnyRow]]", held)
    for name in names:
        shown = lists[name][-limit:] if name == "audit" else lists[name][: limit or None]
        if more := (events if name == "audit" else len(lists[name])) - len(shown):
            held["omitted"][name] = more
        lists[name] = shown
    return held


def cut_ids(held: RunRows, limit: int) -> RunRows:
    """Return an overview for programs, its lists of ids cut as well: people are told how many they are."""
    lists = [(name, cast("dict[str, list[str]]", held)[name]) for name in IDS]
    lists += [("incomplete_tasks", row["incomplete_tasks"]) for row in held["roles"]]
    for name, ids in lists if limit else ():
        if more := len(ids[limit:]):
            held["omitted"][name] = held["omitted"].get(name, 0) + more
            del ids[limit:]
    return held


def _ahead(view: View, run: str, latest: str) -> list[str]:
    """Return the events that a clock dated well after now; order does not come from it, but leases do."""
    rows = row_cache.audit(view, run) if is_ahead(latest, view.now) else ()
    return [row["id"] for row in rows if is_ahead(row["created_at"], view.now)]


def _counts(tasks: Sequence[TaskRow]) -> dict[str, int]:
    proofs = [row["proven"] for row in tasks]
    counts = dict(Counter(row["status"] for row in tasks))
    unread = sum(1 for row in tasks if row["broken"])
    more = {"unreadable": unread} if unread else {}
    return {**counts, "proven": proofs.count(True), "unproven": proofs.count(False), **more}
