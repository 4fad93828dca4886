"""dispatch run: start the executor's own command, watch it, and record what came of it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memento_git.errors import MementoError
from memento_git.ledger import checkouts, handovers, tree_diff
from memento_git.ledger.git import Git, GitFailed
from memento_git.ledger.store import Ledger
from memento_git.model.enumeration import some
from memento_git.work import refusals as no
from memento_git.work.actions import attaching, checkpoints, clean_rerun, dispatches, evidences, folders, worktrees
from memento_git.work.actions.evidences import Draft
from memento_git.work.actions.handover import HandoverOptions, hand_over, patiently
from memento_git.work.actions.starting import able, refuse_unfit
from memento_git.work.proof import trust, verification, verification_inputs
from memento_git.work.running import capture, children, witnessed
from memento_git.work.running.children import Stop
from memento_git.work.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memento_git.ledger.handovers import Handover
    from memento_git.ledger.processes import Process
    from memento_git.ledger.transaction import Transaction
    from memento_git.ledger.view import View
    from memento_git.model.policy import Policy
    from memento_git.model.rows import Row
    from memento_git.work.proof.verification import Demand
    from memento_git.work.routing.executors import Executor
    from memento_git.work.running.capture import Captured

BEAT: Final = 30.0
LOST: Final = (no.RunFinal, no.DispatchTerminal, no.DispatchUnknown, no.NotClaimant, no.NotClaimed)


class Order(NamedTuple):
    """What is to be run: whose command (a template), for how many seconds at most, and how it is shown.

    `notes` returns rows of the notes that the brief of a task names.
    """

    executor: str = ""
    argv: tuple[str, ...] = ()
    timeout: float | None = None
    run: str = ""
    dirty: bool = False
    shown: bool = True
    notes: Callable[[View, str], Sequence[Row]] = lambda _view, _task: ()


class Outcome(NamedTuple):
    """What came of one run of an executor."""

    dispatch: str
    task: str
    executor: str
    status: str
    category: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    partial: str = ""
    branch: str = ""
    exit: int | None = None
    seconds: float = 0.0


class _Ended(Exception):
    """A run that does not complete its task: the category of the failure, and why."""

    def __init__(self, category: str, reason: str) -> None:
        super().__init__(reason)
        self.category, self.reason = category, reason


def run_dispatch(ledger: Ledger, given: str, order: Order) -> Outcome:
    """Run an executor on a task, or on a dispatch that is open; return what came of it."""
    stop = Stop()
    view = ledger.view()
    executor, asked, task = foresee(ledger, view, given, order)
    options = HandoverOptions(executor.name, order.run, dirty=order.dirty, works=True, notes=order.notes(view, task))
    with children.signals(stop):
        handover = hand_over(ledger, given, options)
        work = _Run(ledger, handover, executor, asked, order, stop)
        try:
            return work.go(view.policy())
        except MementoError as error:
            kept = folders.keep_drafts(ledger, work.drafts, [handover.task])
            error.hint = f"{error.hint}; what was done is kept: memento dispatch recover --all puts it aside"
            error.hint = f"{error.hint}; {kept}" if kept else error.hint
            raise


def foresee(ledger: Ledger, view: View, given: str, order: Order) -> tuple[Executor, Demand, str]:
    """Refuse before anything is handed out what could not be run; return who runs, what is asked, and of which task."""
    identity, state = RunState.find(view, given, given.partition("_")[0])
    opened = state.opened(identity) if identity.startswith("dispatch_") else None
    task = opened.of if opened is not None else identity
    name = order.executor or (opened.get("executor") if opened is not None else "")
    executor = able(ledger, state.policy, name, order.argv)
    asked = verification_inputs.asked(state, task)
    for command in asked.commands:
        refuse_unfit(ledger, state.policy, command.run, "verification")
    for argv in state.policy.reproduce["setup"]:
        refuse_unfit(ledger, state.policy, argv, "policy.reproduce.setup")
    made = {"diff", *(command.kind for command in asked.commands)} & {*state.policy.proof}
    if not made or not made.issuperset(asked.evidence):
        ledger.warn(f"nothing that is run will prove {task}: give tasks a command, with --check")
    return executor, asked, task


class _Run:
    """One run of an executor, from its first process to the event that ends the dispatch."""

    def __init__(
        self, ledger: Ledger, handover: Handover, executor: Executor, asked: Demand, order: Order, stop: Stop
    ) -> None:
        self.ledger, self.handover, self.executor = ledger, handover, executor
        self.asked, self.order, self.stop = asked, order, stop
        self.checkout = worktrees.checkout_of(handover)
        self.top = self.checkout.path
        self.scrubber = capture.Scrubber(self.top, ledger.git.top or self.top)
        self.timeout = order.timeout or executor.timeout or None
        self.drafts: list[Draft] = []
        self.exit: int | None = None
        self.seconds = 0.0
        self.idle = False  # nothing was changed: there is no work to merge

    def go(self, policy: Policy) -> Outcome:
        keep = policy.output
        with _Beat(self.ledger, self.handover, self.stop, min(BEAT, policy.lease / 4)):
            try:
                self._set_up(policy)
                self._execute(keep)
                self._gather()
                self._check(keep)
                return self._complete()
            except _Ended as ended:
                return self._fail(ended)
            except (capture.CommandNotStarted, checkouts.WorktreeFailed, GitFailed) as error:
                return self._fail(_Ended("environment", error.message))

    def _values(self) -> dict[str, str]:
        brief = handovers.brief_path(self.ledger.git, self.handover.dispatch)
        return {
            "brief": str(brief), "task": self.handover.task, "dispatch": self.handover.dispatch,
            "worktree": str(self.top),
        }  # fmt: skip

    def _environment(self) -> dict[str, str]:
        values = {f"MEMENTO_{name.upper()}": value for name, value in self._values().items()}
        return children.environment({**values, "MEMENTO_RUN": self.handover.run, "MEMENTO_ACTOR": self.ledger.actor})

    def _begun(self, process: Process | None) -> None:
        """Write down which process group works, so that somebody can end it when we cannot."""
        self.handover = self.handover._replace(child=process)
        handovers.write(self.ledger.git, self.handover)

    def _group(self, argv: Sequence[str], cwd: Path, *, keep: int, timeout: float | None) -> Captured:
        return children.run_group(
            argv, cwd, env=self._environment(), keep=keep, timeout=timeout, stop=self.stop, begun=self._begun,
            shown=self.order.shown,
        )  # fmt: skip

    def _set_up(self, policy: Policy) -> None:
        """Make the worktree ready as for second runs."""
        try:
            clean_rerun.set_up(policy, self.top, self._group)
        except clean_rerun.SetupFailed as failed:
            raise _Ended("stopped", self.stop.why) if self.stop else _Ended("environment", failed.message) from None

    def _execute(self, keep: int) -> None:
        argv = self.executor.argv(self._values())
        captured = self._group(argv, self.top, keep=keep, timeout=self.timeout)
        self.exit, self.seconds = captured.exit, captured.seconds
        command, files = witnessed.command_record(argv, captured, self.scrubber)
        tools = capture.tools(self.ledger.git)
        good = captured.exit == 0 and not captured.timed_out
        where = " in its sandbox" if self.executor.wrap else ""
        self.drafts.append(Draft({
            "kind": "note", "outcome": "passed" if good else "failed", "dispatch": self.handover.dispatch,
            "summary": f"{self.executor.name} ran{where}; that it ended well proves nothing.",
            "command": {**command, "cwd": ".", "tools": tools},
        }, files))  # fmt: skip
        self._refuse_bad(captured)

    def _refuse_bad(self, captured: Captured) -> None:
        if self.stop:
            raise _Ended("stopped", self.stop.why)
        if captured.timed_out:
            raise _Ended("timeout", f"the executor was ended after {round(captured.seconds)} s")
        if captured.signal:
            raise _Ended("other", f"the executor was ended by signal {captured.signal}")
        if captured.exit:
            raise _Ended("other", f"the executor exited with {captured.exit}")

    def _gather(self) -> None:
        """Commit what was done to the dispatch's branch, and describe it as a diff."""
        git, checkout = self.ledger.git, self.checkout
        inside = checkouts.opened(git, checkout)
        if inside is None:
            raise _Ended("environment", "its worktree is gone")
        work = checkouts.look(inside, checkout.base)
        if work.inner:
            raise _Ended("scope", f"it left what its branch cannot hold: {work.inner[0]}")
        title = RunState(self.ledger.view(), self.handover.run).prose(self.handover.task).title
        message = f"{title}\n\nMemento-Task: {self.handover.task}\nMemento-Dispatch: {self.handover.dispatch}\n"
        tip = checkouts.commit(inside, checkout, work, message, self.ledger.settings)
        if not tree_diff.told(git, "--name-only", checkout.base, tip):
            if not self.asked.commands:
                raise _Ended(
                    "unclear", "nothing was changed, and no command is asked for that could show the task done"
                )
            self.idle = True
            return
        try:
            diff = attaching.diff_of(git, f"{checkout.base}..{tip}")
        except attaching.FileUnfit:
            return
        self.drafts.append(Draft({
            "kind": "diff", "outcome": "observed", "dispatch": self.handover.dispatch,
            "summary": f"What was done on {checkout.branch}.", "diff": diff,
        }, {}))  # fmt: skip

    def _check(self, keep: int) -> None:
        """Run what verification asks for where the work was done, as a witness."""
        with Ledger(Git(self.top), actor=self.ledger.actor) as there:
            for command in self.asked.commands:
                if self.stop:
                    raise _Ended("stopped", self.stop.why)
                draft = evidences.witness(
                    there, command.run, kind=command.kind, reports=command.reports, keep=keep, required=True,
                    timeout=command.timeout or self.timeout, runner=self._group,
                ).named(verification.masked(command.run))  # fmt: skip
                self._refuse_late(draft)
                self.drafts.append(draft._replace(data={**draft.data, "dispatch": self.handover.dispatch}))
                if draft.data["outcome"] != "passed":
                    if self.stop:
                        raise _Ended("stopped", self.stop.why)
                    self._tell_of_lack()
                    silent = trust.without_verdict(draft.data)
                    why = "failed" if draft.data["outcome"] == "failed" else f"ran, and {silent}"
                    raise _Ended("tests", f"{verification.shown(command.run)} {why}")

    def _refuse_late(self, draft: Draft) -> None:
        """Refuse where the first command saw other code than was committed; those after it see what it left."""
        code, is_first = draft.data["code"], not any("code" in one.data for one in self.drafts)
        if is_first and (code["dirty"] or "untracked" in code):
            raise _Ended("environment", "something wrote into its worktree after its work was committed")

    def _tell_of_lack(self) -> None:
        """Warn of what git ignores here and the worktree does not have: a command may have failed for want of it."""
        if names := checkouts.lacks(self.ledger.git, self.checkout):
            self.ledger.warn(
                f"the worktree lacks what git ignores here: {some(names, 3)}; policy.reproduce.setup "
                "names commands that make it there"
            )

    def _record(self, tx: Transaction) -> list[str]:
        return [evidences.record_draft(tx, draft, tasks=[self.handover.task]) for draft in self.drafts]

    def _complete(self) -> Outcome:
        name = self.executor.name
        idle = f"{name} changed no file" if self.idle else ""
        note = f"{idle or f'Done by {name}'}."

        def act(tx: Transaction) -> list[str]:
            found = self._record(tx)
            graph = dispatches.complete(tx, self.handover.dispatch, found, note=note)[1]
            return [*found, graph.evidence] if graph is not None and graph.recorded else found

        try:
            checkpoints.look_ahead(self.ledger, self.handover.dispatch)
            found = patiently(self.ledger, "dispatch run", act, self.stop, paused=True)
        except LOST as lost:
            return self._lost(lost)
        except no.TermsChanged as changed:
            raise _Ended("stopped", changed.message) from None
        except no.RunNotActive:
            raise _Ended("stopped", self.stop.why) from None
        if idle:
            self.ledger.warn(f"{idle}: what passes now passed before it began")
        return self._outcome("completed", reason=idle, evidence=tuple(found))

    def _fail(self, ended: _Ended) -> Outcome:
        words = capture.fit(self.scrubber.text(ended.reason))[:1000]

        def act(tx: Transaction) -> tuple[list[str], str]:
            found = self._record(tx)
            dispatches.fail_dispatch(tx, self.handover.dispatch, reason=words, category=ended.category, evidence=found)
            return found, dispatches.ending(tx, self.handover.dispatch)[2]

        try:
            found, partial = patiently(self.ledger, "dispatch run", act, self.stop, paused=True)
        except LOST as lost:
            return self._lost(lost)
        return self._outcome("failed", ended.category, words, tuple(found), partial)

    def _lost(self, error: MementoError) -> Outcome:
        """Keep the work aside of a dispatch that somebody else has ended meanwhile."""
        partial = worktrees.kept_aside(self.ledger.git, self.handover)
        left = worktrees.clear(self.ledger, self.handover, completed=False)
        if left:
            self.ledger.warn(f"the worktree of {self.handover.dispatch} was left: {left}")
        if kept := folders.keep_drafts(self.ledger, self.drafts, [self.handover.task]):
            self.ledger.warn(kept)
        return self._outcome("lost", "stopped", error.message, (), partial)

    def _outcome(
        self, status: str, category: str = "", reason: str = "", evidence: tuple[str, ...] = (), partial: str = ""
    ) -> Outcome:
        branch = self.checkout.branch if status == "completed" and not self.idle else ""
        return Outcome(
            self.handover.dispatch, self.handover.task, self.executor.name, status, category, reason, evidence,
            partial, branch, self.exit, round(self.seconds, 3),
        )  # fmt: skip


class _Beat(threading.Thread):
    """Renews the lease while an executor works, and says stop when the claim is no longer ours."""

    def __init__(self, ledger: Ledger, handover: Handover, stop: Stop, pause: float) -> None:
        super().__init__(daemon=True)
        self.ledger, self.actor = ledger, ledger.actor
        self.handover, self.stop, self.pause = handover, stop, pause
        self.done = threading.Event()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *error: object) -> None:
        self.done.set()
        self.join()

    def run(self) -> None:
        while not self.done.wait(self.pause):
            self.beat()

    def beat(self) -> None:
        """Renew once; a checkout that is busy is asked again next time."""
        try:
            with Ledger.open(self.ledger.git.start, actor=self.actor) as ledger:
                ledger.change("dispatch renew", lambda tx: dispatches.renew_dispatch(tx, self.handover.dispatch))
        except LOST as lost:
            self.stop.ask(f"the claim is no longer held: {lost.message}")
            self.done.set()
        except (MementoError, OSError) as error:
            told = error.message if isinstance(error, MementoError) else str(error)
            self.ledger.warn(f"the lease could not be renewed: {told}")
