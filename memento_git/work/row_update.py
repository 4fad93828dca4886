"""A run's rows after a few changes: those that were kept, but for the tasks and evidence that the changes bear on.

Nothing is guessed: where the changed files do not tell what they bear on, there is no answer, and all is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memento_git.folding.event_rows import audit
from memento_git.ledger import layout, tree_diff
from memento_git.model.enumeration import grouped
from memento_git.model.ids import kind_of, parse_ref
from memento_git.model.states import FINAL_TASK, GATES_OF_WORK, PASSING
from memento_git.model.tuples import NamedTuple
from memento_git.work import evidence_rows, rows
from memento_git.work.cycles import cycles
from memento_git.work.proof.reruns import is_sure
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memento_git.ledger.view import View
    from memento_git.model.rows import Row
    from memento_git.model.run_rows import RunRows

MOST: Final = 200  # changed files, or tasks that they bear on; with more it would be no quicker
COUNTED: Final = ("role", "actor", "created_at")  # of a task: what the deeds of its actor and its role are counted by


class Changes(NamedTuple):
    """The tasks and the evidence that are new, reworded or had something happen to them, and those events."""

    tasks: set[str]
    evidence: set[str]
    events: set[str]


def is_whole(state: RunState, groups: Iterable[str]) -> bool:
    """Tell whether every event of some groups could be folded: what arrives later would change none of them."""
    return all(seen.verdict != "dangling" for key in groups for seen in state.folded(key).events)


def patch(view: View, run: str, before: str, now: str, held: RunRows) -> tuple[Row, bool] | None:
    """Return the rows that are not as they are held, and whether signatures could be checked; None where all may be.

    `before` and `now` are keys of `View.tree_key`: of the rows that are held, and of the view.
    """
    own = [row for row in held["gates"] if row["scope"] == run and row["status"] in PASSING]
    judged = any(row["kind"] in GATES_OF_WORK for row in own)  # which any completion bears on
    plain = held["whole"] and not (judged or held["findings"] or held["trouble"] or held["redacted"])
    changes = _changes(view, run, before, now) if plain and held["run"]["current_plan_id"] else None
    if changes is None:
        return None
    state = RunState(view, run, shown=True)
    evidence, tasks = _borne(state, held, changes)
    tasks = _with_dependents(held, tasks)
    cited = {name for row in own for name in row["evidence"]}
    answered = {row["id"] for row in held["evidence"] if row["approves"]}  # what came to any task may bear on these
    if not evidence.issuperset(changes.evidence) or not cited.isdisjoint(evidence | answered) or len(tasks) > MOST:
        return None
    found = _told(state, changes, evidence, tasks)
    return (found, is_sure(state)) if _is_plain(state, held, changes, found) else None


def _changes(view: View, run: str, before: str, now: str) -> Changes | None:
    """Return what changed, where that is tasks and evidence alone, and the policy and its keys are as they were."""
    (old, _, policy), (new, _, same) = before.partition(":"), now.partition(":")
    archived = not policy.startswith(":")
    told = None if archived or policy != same else tree_diff.statuses(view.git, old, new, f"{layout.RUNS}/{run}")
    if told is None or len(told) > MOST:
        return None
    changes = Changes(set(), set(), set())
    attached = set()
    for path, status in told.items():
        place = layout.place_of(path)
        if place is None:
            return None
        match status, place.kind, kind_of(place.of):
            case "A" | "M", "task", _:
                changes.tasks.add(place.id)
            case "A", "evidence", _:
                changes.evidence.add(place.id)
            case "A", "attachment", _:
                attached.add(place.of)
            case "A", "event", "task" | "evidence" as kind if place.do != "redacted":
                (changes.tasks if kind == "task" else changes.evidence).add(place.of)
                changes.events.add(place.id)
            case _:
                return None
    return changes if attached <= changes.evidence else None


def _borne(state: RunState, held: RunRows, changes: Changes) -> tuple[set[str], set[str]]:
    """Return the evidence and the tasks whose rows may be others: approvals and reruns bear both ways.

    Nothing where something of the whole run is approved, or evidence cannot be read.
    """
    ends, tasks = changes.evidence | changes.tasks, set(changes.tasks)
    for name in changes.evidence:
        found = state.evidence(name)
        answered = found and state.evidence(found.data.get("approves", ""))  # of the whole run it is of each task
        if found is None or (answered and not answered.tasks):
            return set(), set()
        tasks.update(found.tasks)
        ends |= {end for end in (found.data.get("approves"), _of(found.data.get("reproduces"))) if end}
    if any(kind_of(end) not in ("task", "evidence") for end in ends):
        return set(), set()
    about = {row["id"] for row in held["evidence"] if row["approves"] in ends or _of(row["reproduces"]) in ends}
    evidence = about | {end for end in ends if kind_of(end) == "evidence"}
    tasks |= ends - evidence
    for row in held["evidence"]:
        if row["id"] in evidence:
            tasks.update(row["task_ids"])
    return evidence, tasks.union(*(held["cites"].get(name, ()) for name in evidence))


def _of(ref: str | None) -> str:
    return parse_ref(ref).id if ref else ""


def _with_dependents(held: RunRows, tasks: set[str]) -> set[str]:
    """Return tasks with all that depend on them, directly or not."""
    followers = grouped((other, row["id"]) for row in held["tasks"] for other in row["dependencies"])
    found, left = set(tasks), list(tasks)
    while left:
        more = [one for one in followers.get(left.pop(), ()) if one not in found]
        found.update(more)
        left += more
    return found


def _told(state: RunState, changes: Changes, evidence: set[str], tasks: set[str]) -> Row:
    happened = [seen for key in sorted(tasks | evidence) for seen in state.folded(key).events]
    kept = state.pieces(sorted(evidence))
    return {
        "tasks": [rows.task_row(state, task) for task in sorted(tasks)],
        "dispatches": {task: rows.dispatch_rows(state, task) for task in sorted(tasks)},
        "gates": {task: rows.gate_rows(state, task) for task in sorted(tasks)},
        "evidence": [evidence_rows.evidence_row(state, one) for one in kept],
        "audit": audit(seen for seen in happened if seen.event.id in changes.events),
        "trouble": [row for key in sorted(tasks | evidence) for row in rows.group_troubles(state, key)],
    }


def _is_plain(state: RunState, held: RunRows, changes: Changes, found: Row) -> bool:
    """Tell whether all else is as it was: no new event before an old one, no trouble, no deed of somebody else."""
    before = {row["id"]: row for row in held["tasks"]}
    reworded = [row for row in found["tasks"] if row["id"] in before]
    open_tasks = {**before, **{row["id"]: row for row in found["tasks"]}}
    waiting = {name: row["dependencies"] for name, row in open_tasks.items() if row["status"] not in FINAL_TASK}
    return (
        len(found["audit"]) == len(changes.events)
        and all(row["created_at"] > held["latest"] for row in found["audit"])
        and not any(row[key] != before[row["id"]][key] for row in reworded for key in COUNTED)
        and not (found["trouble"] or state.view.findings or cycles(waiting))
        and is_whole(state, (*found["dispatches"], *(row["id"] for row in found["evidence"])))
    )
