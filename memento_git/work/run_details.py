"""What lies ahead of a run: what its kept rows cannot tell, looked up only where they show that there is something."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

from memento_git.ledger import layout
from memento_git.model.states import FINAL_RUN
from memento_git.work.nextsteps import all_done, awaited
from memento_git.work.proof.failures import latest
from memento_git.work.remedies import passing
from memento_git.work.task_steps import SOON, again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memento_git.ledger.view import View
    from memento_git.model.rows import Row, TaskRow
    from memento_git.model.run_rows import RunRows
    from memento_git.work.state import RunState

SIGNED: Final = ("plans", "gates", "evidence")
GOING_ON: Final = ("active", "blocked")
KEPT: Final = {"loose": layout.RUNS, "packed": layout.ARCHIVE}


class RunDetails:
    """The rows of a run, marked with what its state tells, and the steps that follow from both."""

    def __init__(self, view: View, run: str, held: RunRows) -> None:
        self._view, self._run, self._held = view, run, held

    @cached_property
    def _state(self) -> RunState:
        """Return the run, opened once, and only where what was kept does not tell all."""
        from memento_git.work.state import RunState

        return RunState(self._view, self._run, shown=True)

    @cached_property
    def _is_done(self) -> bool:
        """Tell whether nothing of the work is left, once the rows are marked."""
        return all_done(self._held["tasks"])

    def kept(self) -> dict[str, bool]:
        """Tell whether the run has an archive, and records outside of it; a file in its folder may be of none."""
        kept = {name: f"{folder}/{self._run}" in self._view.folders for name, folder in KEPT.items()}
        return {**kept, "loose": bool(self._state.loose())} if all(kept.values()) else kept

    def mark_signed(self) -> None:
        """Say of each signed record what its signature comes to."""
        signed = [row for name in SIGNED for row in self._held[name] if row["signature"] != "none"]
        if signed:
            from memento_git.work.attest import signatures

            signatures.fill(self._state, signed)

    def mark_unsigned(self) -> None:
        """Tell of plans, gates and done tasks, and take back that tasks are ready, where a signature is missing."""
        held = self._held
        if held["plans"] or held["gates"] or any(row["ready"] or row["proven"] for row in held["tasks"]):
            from memento_git.work.attest import signatures
            from memento_git.work.dispatch import handout

            handout.mark_unsigned(self._state, held["tasks"])
            signatures.mark_lacking(self._state, plans=held["plans"], tasks=held["tasks"], verdicts=held["gates"])

    def mark_outdated(self) -> list[str]:
        """Say of each gate that asks for evidence of the code of this view, and rests on none, that it fell.

        Return the gates that ask for it.
        """
        held = self._held
        fresh: list[str] = held.pop("fresh")
        rows = [
            row for row in held["gates"] if row["kind"] in fresh and row["status"] == "passed" and not row["fallen"]
        ]  # fmt: skip
        if rows and held["run"]["status"] not in FINAL_RUN:
            from memento_git.work.gates import gate_validity

            codes = gate_validity.codes_of(self._state)
            for row in rows:
                row["fallen"] = gate_validity.unsound(self._state, row["scope"], row["kind"], codes) or None
        return fresh

    def merges(self) -> list[Row]:
        """Return the steps that bring work which lies on a dispatch's own branch to this one."""
        rows = self._held["dispatches"]
        apart = {row["task_id"] for row in rows if row["branch"] or row["executor_invoked"]}
        tasks = [
            row["id"] for row in self._held["tasks"]
            if row.get("stale") or (row["id"] in apart and (row["status"] == "rejected" or row["proven"] is False))
        ]  # fmt: skip
        if not tasks:
            return []
        from memento_git.work import branches

        return list(islice(branches.unmerged(self._view.git, self._state, tasks), SOON))

    @cached_property
    def against(self) -> dict[str, Row]:
        """The step before its verdict, of each task that what failed beside its proof would have rejected.

        Of proven tasks, which may do without a verdict, it is looked at once nothing of the work is left.
        """
        held = self._held
        stand = (row for row in held["evidence"] if row["outcome"] == "failed" and row["status"] == "recorded")
        failed = {row["id"]: row for row in stand} if held["run"]["status"] in GOING_ON else {}
        about = {task for row in failed.values() for task in row["task_ids"]}
        tasks = [row for row in held["tasks"] if row["id"] in about and self._is_judged(row)]
        last = {row["id"] for row in latest(held["evidence"], self._view.now).values()} if tasks else set()
        last |= {name for name, row in failed.items() if not (row["command"] or row["check"])}
        found: dict[str, Row] = {}
        for task in tasks:
            from memento_git.work.proof import verification_inputs

            done = self._state.completions(task["id"])[-1:]
            beside = (name for one in done for name in verification_inputs.failed_beside(self._state, one))
            for name in (name for name in beside if name in failed and name in last):
                would = "is proven, but task verify would reject it" if task["proven"] else "would be rejected"
                why = f"“{task['title']}” {would}, for {name} failed"
                found.setdefault(task["id"], again(task, failed[name], why)[0])
        return found

    def _is_judged(self, task: TaskRow) -> bool:
        """Tell whether a verdict on a task as it is comes next, or may come."""
        return task["proven_after"] == "verify" or bool(
            task["proven"] and task["status"] == "completed" and self._is_done
        )

    def gates(self, *, signs: bool) -> list[Row] | None:
        """Return the steps of gates and signatures before a run, whose every task is done and proven, can be completed.

        There may be none where something else hinders that; None is where nothing does, and is not looked at where no
        row tells that something could.
        """
        held = self._held
        suspect = (
            held["gates"] or held["trouble"] or held["findings"] or any(row["unapproved"] for row in held["plans"])
        )
        if held["run"]["status"] not in GOING_ON or not (suspect or signs) or not self._is_done:
            return None
        from memento_git.work.gates import gate_validity, release_facts
        from memento_git.work.gates.blockers import blockers

        state = self._state
        found = [*blockers(state, held=held)]
        final = (state.id, "release")
        open_ = [one for one in found if one.kind in ("absent", "fallen")]
        mending = gate_validity.mending(state.view.git, state, [(one.record, one.gate) for one in open_], held)
        told = [
            ((one.record, one.gate) == final,
             {"why": f"{one.why}{awaited(state.policy.judges(one.gate, 'passed'))}", "command": how})
            for one, how in zip(open_, mending, strict=True)
        ]  # fmt: skip
        release = [step for is_final, step in told if is_final]
        steps = [
            *({"why": one.why, "command": passing(state.policy.gates_fresh, one.gate, one.record)}
              for one in found if one.kind == "left"),
            *(step for is_final, step in told if not is_final), *(release_facts.asking(state) if release else []),
            *release,
            *({"why": one.why, "command": "memento check --no-base"} for one in found if one.kind == "unsigned"),
        ]  # fmt: skip
        return steps if found else None

    def choices(self, gates: Sequence[Row] | None) -> list[Row]:
        """Return the steps that had better come before the run ends, given those of its gates."""
        several = self._several()
        anew = self._renewals() if gates is None and not several else []
        rejected = [
            self.against[row["id"]] for row in self._held["tasks"] if row["proven"] and row["id"] in self.against
        ]
        return [*several, *rejected[:SOON], *self._commits(gates or ()), *anew, *self._overtaken()]

    def _several(self) -> list[Row]:
        """Return the steps of tasks that several candidates completed, and of which nobody chose or accepted one."""
        rows = self._held["dispatches"]
        tries = Counter(row["task_id"] for row in rows if row["candidate"] and row["status"] == "completed")
        tasks = [row for row in self._held["tasks"] if row["status"] == "completed" and not row["selected_dispatch_id"]]
        several = [row for row in tasks if tries[row["id"]] > 1]
        counted = ((row, len({one.dispatch for one in self._state.completions(row["id"])})) for row in several)
        return [
            {"why": f"“{row['title']}” was done {count} times, and nobody chose which counts",
             "command": f"memento dispatch select {row['id']}"}
            for row, count in counted if count > 1
        ][:SOON]  # fmt: skip

    def _commits(self, gates: Sequence[Row]) -> list[Row]:
        """Return the step that commits the code which proves done tasks, where it lies in the work tree as they saw it.

        There is none where a gate asks for the same.
        """
        git = self._view.git
        tasks = [row for row in self._held["tasks"] if row["proven"] and row.get("uncommitted")]
        if git.top is None or not tasks or not self._is_done:
            return []
        from memento_git.work import codestate
        from memento_git.work.proof import codes, untracked_files

        if any(step["command"] == codestate.COMMIT for step in gates):
            return []
        seen = self._seen(tasks)
        untracked = {path: blob for one in seen for path, blob in one.get("untracked", {}).items()}
        code = codestate.code_to_commit(git, [*seen, {"paths": untracked}])
        if not all(codes.agree(one, code) for one in seen):
            return []
        left = {path: blob for path, blob in untracked.items() if path not in code.get("paths", {})}
        lacking = untracked_files.forgotten(git, git.head()[0] or "", left, code.get("tree"))
        adding = f", with {lacking}, which git does not track: git add what is needed first" if lacking else ""
        why = f"“{tasks[0]['title']}” is proven on code that is not committed here{adding}"
        return [{"why": why, "command": codestate.COMMIT}]

    def _renewals(self) -> list[Row]:
        """Return the steps by which tasks are proven anew that are proven on other code alone, before the run ends so.

        There is none where no command shows it, before the gates have passed, and where one of them is to be fresh:
        that asks for evidence of this code. Edits are part of it: commands and verdicts see them, and they are
        committed then.
        """
        held, view = self._held, self._view
        tasks = [
            row for row in held["tasks"]
            if row["proven"] and row.get("stale") and not row["uncommitted"] and not row["passed_since"]
        ]  # fmt: skip
        if held["run"]["status"] != "active" or not tasks or not self._is_done:
            return []
        from memento_git.work import codestate
        from memento_git.work.proof import proofs, verification_inputs

        state = self._state
        if any(row["kind"] in state.policy.gates_fresh for row in held["gates"]):
            return []
        seen = self._seen(tasks)
        edits = codestate.code_to_commit(view.git, seen) if view.git.top is not None else {}
        paths = sorted({path for one in seen for path in one.get("paths", ())})
        code = edits or codestate.code_at(view.git, view.commits[0], paths)
        ways = (
            (row, codestate.COMMIT if edits and not proofs.saw_else(state, row["id"], edits)
             else verification_inputs.renewing(state, row["id"], code)) for row in tasks[:SOON]
        )  # fmt: skip
        steps = [
            {"why": f"“{row['title']}” is proven on other code than this commit's", "command": how}
            for row, how in ways if how
        ]  # fmt: skip
        return [*{step["command"]: step for step in steps}.values()]

    def _overtaken(self) -> list[Row]:
        """Return the steps by which gates that fell, and hold nothing up, are judged again before the run ends."""
        fell = any(row["fallen"] for row in self._held["gates"])
        if self._held["run"]["status"] != "active" or not fell or not self._is_done:
            return []
        from memento_git.work.gates import gate_validity

        return [
            {"why": f"gate {one.gate} {one.why}: if it is to hold at the end, it is judged again",
             "command": passing(self._state.policy.gates_fresh, one.gate, one.scope)}
            for one in gate_validity.falls(self._state) if not one.is_asked
        ]  # fmt: skip

    def _seen(self, tasks: Sequence[TaskRow]) -> list[Row]:
        """Return the code that each piece of evidence saw which proves some tasks."""
        proof = {name for row in tasks for name in row["proven_by"]}
        return [row["code"] for row in self._held["evidence"] if row["id"] in proof and row["code"]]
