"""dispatch work: N worker processes over the ready tasks; each is a `dispatch run`, so each may die at any moment."""

from __future__ import annotations

import tempfile
import time
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from memento_git.errors import MementoError
from memento_git.ledger import checkouts, handovers
from memento_git.work import answers
from memento_git.work import refusals as no
from memento_git.work.actions import bundles, recovering, tasks
from memento_git.work.actions.handover import patiently, unseen, waits_for
from memento_git.work.actions.starting import able
from memento_git.work.dispatch import handout, preflight
from memento_git.work.loading import load
from memento_git.work.routing import routes
from memento_git.work.running import children
from memento_git.work.running.children import Stop
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.ledger.store import Ledger
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.objection import Objection
    from memento_git.work.actions.running import Order

STEP: Final = 0.05
IDLE: Final = 1.0
ENDING: Final = 20.0
TAKEN: Final = (
    "task_not_ready", "dispatch_already_claimed", "dispatch_terminal", "worker_alive", "ledger_moved", "ledger_locked",
    "ref_locked", "operation_in_progress",
)  # fmt: skip


class Ended(NamedTuple):
    """What came of one task in a worker's hands: completed, failed, lost, died or refused."""

    task: str
    status: str
    dispatch: str = ""
    proven: bool | None = None
    branch: str = ""
    category: str = ""
    reason: str = ""


class Worked(NamedTuple):
    """What a pool has done, and what it left, with the reasons."""

    ended: list[Ended]
    left: dict[str, str]
    taken: int
    seconds: float
    stopped: str


class _Worker(NamedTuple):
    task: str
    process: children.Worker
    answer: IO[bytes]


def work(
    ledger: Ledger, order: Order, *, jobs: int, most: int = 0, tell: Callable[[str], None] = lambda _: None
) -> Worked:
    """Have ready tasks done by several workers at once until none is ready and none is under way."""
    stop = Stop()
    with children.signals(stop):
        return _Pool(ledger, order, jobs, most, tell, stop).go()


class _Pool:
    def __init__(
        self, ledger: Ledger, order: Order, jobs: int, most: int, tell: Callable[[str], None], stop: Stop
    ) -> None:
        self.ledger, self.order, self.jobs, self.most, self.tell, self.stop = ledger, order, jobs, most, tell, stop
        self.workers: list[_Worker] = []
        self.ended: list[Ended] = []
        self.left: dict[str, str] = {}
        self.warned: set[str] = set()
        self.queue: list[str] = []
        self.taken = 0
        self.read = 0.0
        self.not_before = 0.0
        self.found = 0
        self.fresh = True

    def go(self) -> Worked:
        begun = time.monotonic()
        self._recover()
        try:
            while not self.stop and self._step():
                self.stop.wait(STEP)
        finally:
            self._end()
        return Worked(self.ended, self.left, self.taken, time.monotonic() - begun, self.stop.why)

    def _step(self) -> bool:
        """Look after the workers and start what can be started; tell whether there is more to wait for."""
        self._reap()
        if len(self.workers) < self.jobs and self._may_take() and time.monotonic() >= self.not_before:
            if not self.queue and (self.fresh or time.monotonic() - self.read > IDLE):
                self.queue = self._ready()
            while self.queue and len(self.workers) < self.jobs and self._may_take():
                self._start(self.queue.pop(0))
        if self.workers or not self._may_take():
            return bool(self.workers)
        return bool(self.queue) or self.fresh or self._others() or self._swept()

    def _swept(self) -> bool:
        """Take back what could not be taken back at once; tell whether that makes more to do."""
        before = self.found
        self._recover()
        self.fresh = self.found > before
        return self.fresh

    def _may_take(self) -> bool:
        return not self.most or self.taken < self.most

    def _others(self) -> bool:
        """Tell whether other processes of this machine work on tasks of these runs."""
        runs = self._runs(self.ledger.view())
        return any(one.run in runs and one.is_ours and one.is_live for one in handovers.listed(self.ledger.git))

    def _runs(self, view: View) -> list[str]:
        return [view.find(self.order.run, "run")[0]] if self.order.run else view.runs()

    def _ready(self) -> list[str]:
        """Return the tasks that can be taken now, and remember of the others why not."""
        self.read, self.fresh = time.monotonic(), False
        view = self.ledger.view()
        policy = view.policy()
        busy = {worker.task for worker in self.workers}
        found = []
        for run in self._runs(view):
            state = RunState(view, run, policy=policy)
            load(state)
            ready = [task for task in state.ids("task") if task not in busy and state.is_ready(task)]
            found += [task for task in ready if self._fit(state, task)]
        return found

    def _fit(self, state: RunState, task: str) -> bool:
        """Tell whether a ready task may be taken; what speaks against it is told once."""
        waits = waits_for(self.ledger.git, state, task)
        beyond = handout.beyond_budget(state, task, self.order.executor)
        why = ""
        if waits:
            other, branches = waits[0]
            why = f"waits for the merge of {branches[0]}"
            if len(branches) > 1:
                why = f"waits for a choice among {len(branches)} tries: memento dispatch select {other}"
        elif beyond:
            why = f"is beyond its budget: {beyond}"
        elif self.left.get(task, "").startswith("refused: "):
            return False
        if why and self.left.get(task) != why:
            self.tell(f"{task} {why}")
        for told in unseen(self.ledger.git, state, task) if not why and task not in self.warned else ():
            self.tell(f"{task} is taken, although {told}")
            self.warned.add(task)
        if why:
            self.left[task] = why
        else:
            self.left.pop(task, None)
        return not why

    def _start(self, task: str) -> None:
        answer = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed when the worker is reaped)
        ledger, order = self.ledger, self.order
        options = [f"--{name}={value}" for name, value in (
            ("executor", order.executor), ("actor", ledger.actor),
            ("timeout", f"{order.timeout:.0f}s" if order.timeout else ""),
        ) if value]  # fmt: skip
        options += [f"--allow-secret={rule}" for rule in ledger.allow_secrets]
        argv = ["--", *order.argv] if order.argv else []
        process = children.start_worker(
            ["dispatch", "run", task, "--json", "--quiet", "--allow-dirty", *options, *argv],
            ledger.git.start,
            answer.fileno(),
        )
        self.workers.append(_Worker(task, process, answer))
        self.taken += 1

    def _reap(self) -> None:
        for worker in [one for one in self.workers if one.process.poll() is not None]:
            self.workers.remove(worker)
            self.fresh = True
            self._note(self._came_to(worker))

    def _came_to(self, worker: _Worker) -> Ended:
        """Return what a worker's end means; where it died, its dispatch is taken back at once."""
        with worker.answer as stream:
            stream.seek(0)
            told = bundles.as_object(stream.read())
        if told.get("outcome") in ("completed", "failed", "lost"):
            return Ended(
                worker.task, told["outcome"], told["dispatch_id"], told.get("proven"), told.get("branch") or "",
                told.get("category") or "", "; ".join(filter(None, (told.get("reason"), _lacking(told["task"])))),
            )  # fmt: skip
        dispatch = self._recover(worker.process.pid)
        if told.get("error") and worker.process.returncode >= 0:
            return Ended(worker.task, "refused", category=str(told["error"]), reason=str(told.get("message")))
        code = worker.process.returncode
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        view = self.ledger.view()
        if dispatch and recovering.status_of(view, dispatch) == "completed":
            row, branch = answers.at(view, worker.task, "task"), checkouts.branch_of(dispatch)
            return Ended(worker.task, "completed", dispatch, row["proven"], branch, reason=_lacking(row))
        return Ended(worker.task, "died", dispatch, reason=f"its worker ended by {how}")

    def _note(self, ended: Ended) -> None:
        if ended.status == "refused":
            if ended.category not in TAKEN:
                self.left[ended.task] = f"refused: {ended.reason}"
                self.tell(f"{ended.task} {self.left[ended.task]}")
            self.taken -= 1
            self.not_before = time.monotonic() + IDLE
            return
        self.ended.append(ended)
        done = sum(1 for one in self.ended if one.status == "completed")
        proof = {True: ", proven", False: ", unproven", None: ""}[ended.proven]
        self.tell(f"[{done} done] {ended.task} {ended.status}{proof}{f': {ended.reason}' if ended.reason else ''}")
        if ended.status == "failed":
            self._again(ended)

    def _again(self, ended: Ended) -> None:
        """Reopen a task whose failure may be a passing one; what else should be done with it is told."""
        _, state = RunState.find(self.ledger.view(), ended.task, "task")
        step = routes.next_of(state, ended.task)
        if step["action"] != "retry" or ended.category == "stopped" or self.stop:
            self.left[ended.task] = f"failed: {ended.reason}; next: {step['action']}, because {step['why']}"
            return
        reason = f"another attempt: {step['why']}"
        try:
            patiently(
                self.ledger, "task reopen", lambda tx: tasks.reopen_task(tx, ended.task, reason=reason), self.stop,
                paused=True,
            )  # fmt: skip
        except (no.TaskTransition, no.RunNotActive, no.RunFinal) as refusal:
            self.left[ended.task] = refusal.message

    def _recover(self, pid: int = 0) -> str:
        """Take back what a worker left that died, or all that is found; return the dispatch that the worker had."""
        held = (one for one in handovers.listed(self.ledger.git) if one.is_ours)
        found = [one for one in held if one.worker and one.worker.pid == pid]
        jobs = []
        try:
            for one in found:
                jobs += recovering.recover_one(self.ledger, one.dispatch, recovering.DIED, self.stop)
                jobs += recovering.clean(self.ledger, self.ledger.view(), one)
            if not pid:
                jobs = recovering.recover_all(self.ledger, run=self.order.run, stop=self.stop)
        except MementoError as error:
            self.tell(f"not recovered yet: {error.message}")
        for job in jobs:
            self.tell(f"recovered {job.dispatch}: {job.why}")
        self.found += len(jobs)
        return found[0].dispatch if found else ""

    def _end(self) -> None:
        """Stop the workers that still run, and wait until each has put its work aside."""
        for worker in self.workers:
            worker.process.terminate()
        deadline = time.monotonic() + ENDING
        while any(worker.process.poll() is None for worker in self.workers) and time.monotonic() < deadline:
            time.sleep(STEP)
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
        self._reap()
        self._recover()


def _lacking(task: dict[str, Any]) -> Objection:
    """Return why a task that was completed is not proven; nothing where it is."""
    return "; ".join(task["unproven_because"]) if task["proven"] is False else ""


def foresee_pool(ledger: Ledger, order: Order) -> None:
    """Refuse before the first worker starts what would be refused to each of them."""
    view = ledger.view()
    able(ledger, view.policy(), order.executor, order.argv)
    checkouts.foresee(ledger.git, ledger.settings)

    def act(tx: Transaction) -> None:
        insist = () if order.dirty else ("dirty",)
        preflight.refuse_unfit(tx, view.policy(), act="run", insist=insist)

    ledger.change("dispatch work", act)
