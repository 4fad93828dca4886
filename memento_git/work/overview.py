"""What one wants to see of a run first: goal, plan, tasks with what proves them, what blocks, what to do next."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from memento_git.ledger import layout
from memento_git.model.states import FINAL_RUN
from memento_git.work import away, kept_rows
from memento_git.work import refusals as no
from memento_git.work.dispatch import live
from memento_git.work.nextsteps import all_done, awaited, next_steps, passing
from memento_git.work.proof.failures import mark_failed
from memento_git.work.proof.staleness import mark_stale
from memento_git.work.task_steps import SOON

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.cache import Ready
    from memento_git.ledger.git import Git
    from memento_git.ledger.store import Ledger
    from memento_git.ledger.view import View
    from memento_git.model.rows import AnyRow, ClaimRow, EventRow, RunRow, TaskRow
    from memento_git.model.run_rows import RunRows
    from memento_git.work.state import RunState

LISTS: Final = ("tasks", "dispatches", "evidence", "audit", "roles")
SIGNED: Final = ("plans", "gates", "evidence")
KEPT: Final = {"loose": layout.RUNS, "packed": layout.ARCHIVE}


def choose_run(view: View, given: str = "") -> str:
    """Return the run that is named, or the latest that is not finished, or else that was completed, or the latest."""
    return choose_among(view, given)[0]


def choose_among(view: View, given: str = "") -> tuple[str, list[RunRow]]:
    """Return the chosen run and, where none is named, the rows of others that are not finished, the latest first."""
    if given:
        return view.find(given, "run")[0], []
    if len(runs := view.runs()) == 1:
        return runs[0], []
    heads = sorted((kept_rows.head(view, run) for run in runs), key=lambda row: (row["created_at"], row["id"]))[::-1]
    if not heads:
        raise no.NoRun
    unfinished = [row for row in heads if row["status"] not in FINAL_RUN]
    completed = [row for row in heads if row["status"] == "completed"]
    return (unfinished or completed or heads)[0]["id"], unfinished[1:]


def same_goal(view: View, row: RunRow) -> str:
    """Return another run that is open and has the goal of this one, or nothing."""
    heads = (kept_rows.head(view, run) for run in view.runs() if run != row["id"])
    return next((one["id"] for one in heads if one["goal"] == row["goal"] and one["status"] not in FINAL_RUN), "")


def choose_plan(view: View) -> str:
    """Return the canonical plan of the run that is chosen where none is named, or the only plan that it has."""
    from memento_git.work.state import RunState

    state = RunState(view, choose_run(view))
    if state.canonical == "contested":
        raise no.RecordContested(record=f"the canonical plan of {state.id}")
    plans = [state.canonical] if state.canonical else state.ids("plan")
    if not plans:
        raise no.PlanRequired(run=state.id)
    if len(plans) > 1:
        raise no.NoOnePlan(run=state.id, count=len(plans))
    return plans[0]


def interrupted(ledger: Ledger) -> list[dict[str, str]]:
    """Return the step that comes before all others while git is in the middle of something."""
    from memento_git.ledger.underway import under_way

    return [
        {
            "why": f"{what} is in progress in this worktree: nothing is recorded until it is over",
            "command": "git status",
        }
        for what in under_way(ledger.git)[:1]
    ]


def without_runs(ledger: Ledger) -> RunRows:
    """Return the same keys for a ledger that has no run yet: nothing, and how to start one."""
    lists = ("plans", "tasks", "dispatches", "gates", "evidence", "audit", "trouble", "findings", "ready", "stale",
             "ahead", "roles", "live")  # fmt: skip
    step = {"why": "there is no run yet", "command": "memento run start --goal TEXT"}
    return cast("RunRows", {
        "run": None, **{name: [] for name in lists}, "counts": _counts([]), "next": [step], "archived": False,
        "uncommitted": [change.path for change in ledger.uncommitted], "omitted": {},
    })  # fmt: skip


def overview(
    ledger: Ledger, view: View, run: str, *, limit: int = kept_rows.SHOWN, ready: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> RunRows:  # fmt: skip
    """Return a run as it is now: its rows, cut to a limit that is told, and what follows from clock and code.

    Where nothing is cut, the audit may be ready JSON.
    """
    before = view.git.progress
    if progress is not None:
        view.git.progress = lambda done, total, _: progress(done, total)
    try:
        return _overview(ledger, view, run, limit, ready=ready)
    finally:
        view.git.progress = before


def _overview(ledger: Ledger, view: View, run: str, limit: int, *, ready: bool) -> RunRows:
    held = kept_rows.base(view, run)
    opened = cache(partial(_opened, view, run))
    held["ahead"] = _ahead(view, run, held.pop("latest"))
    whole = kept_rows.ready_audit(view, run) if ready and not limit else None
    if whole is None and (not limit or limit > kept_rows.SHOWN):
        held["audit"] = kept_rows.audit(view, run)
    _mark_held(view, held)
    _mark_signed(held, opened)
    held["stale"] = mark_stale(view, held["evidence"], held["tasks"])
    mark_failed(held["tasks"], held["evidence"])
    held["evidence"] += held.pop("redacted")
    del held["cites"], held["whole"]
    held["counts"] = _counts(held["tasks"])
    if signs := held.pop("signs"):
        _unsigned(held, opened)
    held["ready"] = [row["id"] for row in held["tasks"] if row["ready"]]
    fresh = mark_outdated(held, opened)
    kept = _kept(view, run, opened)
    held["archived"] = kept["packed"] and not kept["loose"]
    gates = _gates(held, opened, signs=signs)
    held["live"], known = live.working(ledger.git, held)
    known |= away.steps(view, held, known)
    choices = _choices(held, opened)
    anew = _renewals(view, held, opened) if gates is None and not choices else []
    choices += [*_commits(ledger.git, held, gates or ()), *anew, *_overtaken(held, opened)]
    asker = ledger.asker if any(row["status"] == "claimed" for row in held["dispatches"]) else ""
    held["next"] = next_steps(
        held, _merges(held, opened), gates=gates, choices=choices, known=known, fresh=fresh, asker=asker, **kept
    )
    held["uncommitted"] = [change.path for change in ledger.uncommitted]
    return _shown(cut(held, limit, LISTS), whole)


def _shown(shown: RunRows, audit: Ready | None) -> RunRows:
    """Return the rows of a run with its whole audit, where that is ready."""
    if audit is not None:
        shown["audit"] = cast("list[EventRow]", audit)
        shown["omitted"].pop("audit", None)
    return shown


def _kept(view: View, run: str, opened: Callable[[], RunState]) -> dict[str, bool]:
    """Tell whether a run has an archive, and records outside of it; a file in its folder may be of none."""
    kept = {name: f"{folder}/{run}" in view.folders for name, folder in KEPT.items()}
    return {**kept, "loose": bool(opened().loose())} if all(kept.values()) else kept


def _mark_held(view: View, held: RunRows) -> None:
    """Say of each claimed dispatch whether its lease is over, and of each task who holds it."""
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


def _opened(view: View, run: str) -> RunState:
    """Return the run of an overview, opened once, and only where what was kept does not tell all."""
    from memento_git.work.state import RunState

    return RunState(view, run, shown=True)


def _mark_signed(held: RunRows, opened: Callable[[], RunState]) -> None:
    """Say of each signed record what its signature comes to."""
    signed = [row for name in SIGNED for row in held[name] if row["signature"] != "none"]
    if signed:
        from memento_git.work.attest import signatures

        signatures.fill(opened(), signed)


def _unsigned(held: RunRows, opened: Callable[[], RunState]) -> None:
    """Tell of plans, gates and done tasks, and take back that tasks are ready, where a signature is missing."""
    if held["plans"] or held["gates"] or any(row["ready"] or row["proven"] for row in held["tasks"]):
        from memento_git.work.attest import signatures
        from memento_git.work.dispatch import handout

        state = opened()
        handout.mark_unsigned(state, held["tasks"])
        signatures.mark_lacking(state, plans=held["plans"], tasks=held["tasks"], verdicts=held["gates"])


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


def _ahead(view: View, run: str, latest: str) -> list[str]:
    """Return the events that a clock dated well after now; order does not come from it, but leases do."""
    from memento_git.model.clock import is_ahead

    rows = kept_rows.audit(view, run) if is_ahead(latest, view.now) else ()
    return [row["id"] for row in rows if is_ahead(row["created_at"], view.now)]


def _counts(tasks: Sequence[TaskRow]) -> dict[str, int]:
    proofs = [row["proven"] for row in tasks]
    counts = dict(Counter(row["status"] for row in tasks))
    unread = sum(1 for row in tasks if row["broken"])
    more = {"unreadable": unread} if unread else {}
    return {**counts, "proven": proofs.count(True), "unproven": proofs.count(False), **more}


def mark_outdated(held: RunRows, opened: Callable[[], RunState]) -> list[str]:
    """Say of each gate that asks for evidence of the code of this view, and rests on none, that it fell.

    Return the gates that ask for it.
    """
    fresh: list[str] = held.pop("fresh")
    rows = [row for row in held["gates"] if row["kind"] in fresh and row["status"] == "passed" and not row["fallen"]]
    if rows and held["run"]["status"] not in FINAL_RUN:
        from memento_git.work.gates import gatehold

        state = opened()
        codes = gatehold.codes_of(state)
        for row in rows:
            row["fallen"] = gatehold.unsound(state, row["scope"], row["kind"], codes) or None
    return fresh


def _merges(held: RunRows, opened: Callable[[], RunState]) -> list[dict[str, str]]:
    """Return the steps that bring work which lies on a dispatch's own branch to this one."""
    apart = {row["task_id"] for row in held["dispatches"] if row["branch"] or row["executor_invoked"]}
    tasks = [row["id"] for row in held["tasks"] if row.get("stale") or (row["id"] in apart and _is_unsure(row))]
    if not tasks:
        return []
    from memento_git.work import branches

    state = opened()
    return list(islice(branches.unmerged(state.view.git, state, tasks), SOON))


def _choices(held: RunRows, opened: Callable[[], RunState]) -> list[dict[str, str]]:
    """Return the steps of tasks that several candidates completed, and of which nobody chose or accepted one."""
    tries = Counter(row["task_id"] for row in held["dispatches"] if row["candidate"] and row["status"] == "completed")
    tasks = [row for row in held["tasks"] if row["status"] == "completed" and not row["selected_dispatch_id"]]
    several = [row for row in tasks if tries[row["id"]] > 1]
    if not several:
        return []
    state = opened()
    counted = ((row, len({event.dispatch for event in state.completions(row["id"])})) for row in several)
    return [
        {"why": f"“{row['title']}” was done {count} times, and nobody chose which counts",
         "command": f"memento dispatch select {row['id']}"}
        for row, count in counted if count > 1
    ][:SOON]  # fmt: skip


def _commits(git: Git, held: RunRows, gates: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the step that commits the code which proves done tasks, where it lies in the work tree as they saw it.

    There is none where a gate asks for the same.
    """
    tasks = [row for row in held["tasks"] if row["proven"] and row.get("uncommitted")]
    if git.top is None or not tasks or not all_done(held["tasks"]):
        return []
    from memento_git.work import codestate
    from memento_git.work.proof import codes, forgotten

    if any(step["command"] == codestate.COMMIT for step in gates):
        return []
    proof = {name for row in tasks for name in row["proven_by"]}
    seen = [row["code"] for row in held["evidence"] if row["id"] in proof and row["code"]]
    untracked = {path: blob for one in seen for path, blob in one.get("untracked", {}).items()}
    code = codestate.code_to_commit(git, [*seen, {"paths": untracked}])
    if not all(codes.agree(one, code) for one in seen):
        return []
    left = {path: blob for path, blob in untracked.items() if path not in code.get("paths", {})}
    lacking = forgotten.forgotten(git, git.head()[0] or "", left)
    adding = f", with {lacking}, which git does not track: git add what is needed first" if lacking else ""
    why = f"“{tasks[0]['title']}” is proven on code that is not committed here{adding}"
    return [{"why": why, "command": codestate.COMMIT}]


def _renewals(view: View, held: RunRows, opened: Callable[[], RunState]) -> list[dict[str, str]]:
    """Return the steps by which tasks are proven anew that are proven on other code alone, before the run ends so.

    There is none where no command shows it, before the gates have passed, and where one of them is to be fresh: that
    asks for evidence of this code. Edits are part of it: commands and verdicts see them, and they are committed then.
    """
    tasks = [
        row for row in held["tasks"]
        if row["proven"] and row.get("stale") and not row["uncommitted"] and not row["passed_since"]
    ]  # fmt: skip
    if held["run"]["status"] != "active" or not tasks or not all_done(held["tasks"]):
        return []
    from memento_git.work import codestate
    from memento_git.work.proof import pasts, proofs

    state = opened()
    if any(row["kind"] in state.policy.gates_fresh for row in held["gates"]):
        return []
    proof = {name for row in tasks for name in row["proven_by"]}
    seen = [row["code"] for row in held["evidence"] if row["id"] in proof and row["code"]]
    edits = codestate.code_to_commit(view.git, seen) if view.git.top is not None else {}
    paths = sorted({path for one in seen for path in one.get("paths", ())})
    code = edits or codestate.code_at(view.git, view.commits[0], paths)
    ways = (
        (row, codestate.COMMIT if edits and not proofs.saw_else(state, row["id"], edits)
         else pasts.renewing(state, row["id"], code)) for row in tasks[:SOON]
    )  # fmt: skip
    steps = [
        {"why": f"“{row['title']}” is proven on other code than this commit's", "command": how}
        for row, how in ways if how
    ]  # fmt: skip
    return [*{step["command"]: step for step in steps}.values()]


def _overtaken(held: RunRows, opened: Callable[[], RunState]) -> list[dict[str, str]]:
    """Return the steps by which gates that fell, and hold nothing up, are judged again before the run ends."""
    is_active, fell = held["run"]["status"] == "active", any(row["fallen"] for row in held["gates"])
    if not is_active or not fell or not all_done(held["tasks"]):
        return []
    from memento_git.work.gates import gatehold

    state = opened()
    return [
        {"why": f"gate {one.gate} {one.why}: if it is to hold at the end, it is judged again",
         "command": passing(state.policy.gates_fresh, one.gate, one.scope)}
        for one in gatehold.falls(state) if not one.is_asked
    ]  # fmt: skip


def _is_unsure(task: TaskRow) -> bool:
    """Tell whether a task was done, but is not proven, or was rejected."""
    return task["status"] == "rejected" or task["proven"] is False


def _gates(held: RunRows, opened: Callable[[], RunState], *, signs: bool) -> list[dict[str, str]] | None:
    """Return the steps of gates and signatures before a run, whose every task is done and proven, can be completed.

    There may be none where something else hinders that; None is where nothing does, and is not looked at where no row
    tells that something could.
    """
    suspect = held["gates"] or held["trouble"] or held["findings"] or any(row["unapproved"] for row in held["plans"])
    if held["run"]["status"] not in ("active", "blocked") or not (suspect or signs) or not all_done(held["tasks"]):
        return None
    from memento_git.work.gates import gatehold, release_facts
    from memento_git.work.gates.hindrances import hindrances

    state = opened()
    found = [*hindrances(state, held=held)]
    final = (state.id, "release")
    open_ = [one for one in found if one.kind in ("absent", "fallen")]
    mending = gatehold.mending(state.view.git, state, [(one.record, one.gate) for one in open_], held)
    told = [
        ((one.record, one.gate) == final,
         {"why": f"{one.why}{awaited(state.policy.judges(one.gate, 'passed'))}", "command": how})
        for one, how in zip(open_, mending, strict=True)
    ]  # fmt: skip
    release = [step for is_final, step in told if is_final]
    steps = [
        *({"why": one.why, "command": passing(state.policy.gates_fresh, one.gate, one.record)}
          for one in found if one.kind == "left"),
        *(step for is_final, step in told if not is_final), *(release_facts.asking(state) if release else []), *release,
        *({"why": one.why, "command": "memento check --no-base"} for one in found if one.kind == "unsigned"),
    ]  # fmt: skip
    return steps if found else None
