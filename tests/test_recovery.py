"""Workers that die at any moment: what they held is taken back, what they left is put aside, the living is left."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.ledger import claims, handovers, processes
from memento_git.ledger.handovers import Handover
from memento_git.ledger.lock import RepositoryGone
from memento_git.ledger.processes import Process
from memento_git.verbs.doctor import examine
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, recovering, runs, tasks, worktrees
from memento_git.work.actions.handover import HandoverOptions, hand_over
from tests.hands import (
    SHOWN,
    SLEEP,
    WRITE,
    answer,
    at_work,
    branches,
    carriers,
    config,
    gone,
    kill,
    python,
    run,
    start,
    until,
)
from tests.hands import worktrees as trees
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from memento_git.model.rows import DispatchRow
    from tests.play import Call, Play

PART = f"open('part.txt', 'w').write('1'); {SLEEP}"
DIES: Final = """
import os, sys
from memento_git.ledger import checkouts, worktree
from memento_git.ledger.store import Ledger
from memento_git.work.actions import dispatches, evidences, running

def die(*_, **__):
    os.kill(os.getpid(), 9)

def after(function):
    def called(*arguments, **options):
        function(*arguments, **options)
        die()
    return called

moment = sys.argv[3]
if moment == "before the claim is committed":
    worktree.reached = lambda step: die() if step == "decided" and sys.argv[2] else None
elif moment == "before its work tree is made":
    checkouts.add = die
elif moment == "when its work tree is there":
    checkouts.add = after(checkouts.add)
elif moment == "before its work is committed":
    checkouts.look = die
elif moment == "when its work is committed":
    checkouts.commit = after(checkouts.commit)
elif moment == "before the completion is committed":
    dispatches.complete = die
elif moment == "when the completion is committed":
    checkouts.remove = die
with Ledger.open(sys.argv[1]) as ledger:
    argv = (sys.executable, "-c", "open('done.txt', 'w').write('done\\\\n')")
    running.run_dispatch(ledger, sys.argv[2], running.Order("agent", argv, shown=False))
"""
MOMENTS: Final = (
    "before the claim is committed", "before its work tree is made", "when its work tree is there",
    "before its work is committed", "when its work is committed", "before the completion is committed",
    "when the completion is committed",
)  # fmt: skip


def worker(play: Play, task: str, code: str = PART) -> tuple[subprocess.Popen[bytes], Handover]:
    """Start a worker and wait until its executor has written something."""
    process = start(play.root, "dispatch", "run", task, "--json", "--executor", "agent", "--", *python(code))
    found = at_work(play)
    until((Path(found.path) / "part.txt").exists, "partial work")
    return process, handovers.read(play.ledger.git, found.dispatch) or found


def expire(play: Play, dispatch: str) -> None:
    """Let a claim's lease be over, as a sleeping machine finds it."""
    task = play.do(lambda tx, name: dispatches.ending(tx, name)[1], dispatch)
    claim = claims.read(play.ledger.git, task)
    if claim is not None:
        claims.take(play.ledger.git, task, claim._replace(until="2020-01-01T00:00:00.000Z"), claim)
    play.ledger.clock = lambda: time.time() + 2 * 3600


def test_a_killed_workers_executor_is_ended_its_work_put_aside_and_its_task_ready_again(play: Play, task: str) -> None:
    process, found = worker(play, task)
    gone(process)
    until(lambda: carriers(found.dispatch), "the executor goes on")

    jobs = recovering.recover_all(play.ledger)

    assert [(job.dispatch, job.why) for job in jobs] == [(found.dispatch, "its worker process is gone")]
    assert git(play.root, "show", f"{jobs[0].partial}:part.txt") == "1"
    assert carriers(found.dispatch) == []
    assert play.status(task) == "pending"
    assert (trees(play.root), branches(play.root), handovers.listed(play.ledger.git)) == ([], [], [])
    assert recovering.recover_all(play.ledger) == []


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_may_die_at_any_moment_and_the_task_is_done_exactly_once(play: Play, task: str, moment: str) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DIES, str(play.root), task, moment], check=False, capture_output=True, timeout=60
    )
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()

    recovering.recover_all(play.ledger)
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])
    if moment != MOMENTS[-1]:
        assert play.status(task) == "pending"
        assert run(play, task, WRITE).status == "completed"

    assert play.is_proven(task)
    done = [seen for seen in play.state(task).folded(task).events if seen.event.do == "completed"]
    assert len(done) == 1
    assert len(branches(play.root)) == 1
    assert handovers.listed(play.ledger.git) == []
    assert git(play.root, "status", "--short") == ""
    assert [one.message for one in examine(play.ledger) if one.name == "work trees"] == []


@pytest.mark.parametrize("missing", [True, False], ids=["no .git", "locked"])
def test_a_work_tree_that_git_had_not_finished_is_taken_away(play: Play, task: str, *, missing: bool) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent", works=True))
    handovers.write(play.ledger.git, made._replace(base="", worker=Process(os.getpid(), 1.0)))
    (play.root / ".git" / "worktrees" / Path(made.path).name / "locked").write_text("initializing\n")
    if missing:
        (Path(made.path) / ".git").unlink()

    jobs = recovering.recover_all(play.ledger)

    assert [job.dispatch for job in jobs] == [made.dispatch]
    assert (trees(play.root), branches(play.root), handovers.listed(play.ledger.git)) == ([], [], [])
    assert not (play.root.parent / "repo.worktrees").exists()


def test_the_claim_of_a_dispatch_that_never_came_to_be_goes_with_it(play: Play, task: str) -> None:
    before = git(play.root, "rev-parse", "HEAD")
    made = hand_over(play.ledger, task, HandoverOptions("agent", works=True))
    handovers.write(play.ledger.git, made._replace(worker=Process(os.getpid(), 1.0)))
    git(play.root, "reset", "-q", "--hard", before)
    git(play.root, "worktree", "remove", "--force", made.path)
    git(play.root, "branch", "-qD", *branches(play.root))
    assert [*claims.listed(play.ledger.git)]

    jobs = recovering.recover_all(play.ledger)

    assert [job.why for job in jobs] == ["unknown to the ledger: cleaned up after"]
    assert [*claims.listed(play.ledger.git)] == []
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])


def test_a_lock_that_a_killed_git_left_in_the_work_tree_is_no_hindrance(play: Play, task: str) -> None:
    process, found = worker(play, task)
    gone(process)
    inside = play.root / ".git" / "worktrees" / Path(found.path).name
    (inside / "memento").mkdir(exist_ok=True)
    for lock in (inside / "memento" / "work.index.lock", inside / "index.lock"):
        lock.write_text("")

    jobs = recovering.recover_all(play.ledger)

    assert git(play.root, "show", f"{jobs[0].partial}:part.txt") == "1"
    assert (trees(play.root), branches(play.root)) == ([], [])


def test_a_worker_whose_child_is_killed_fails_its_dispatch(play: Play, task: str) -> None:
    process, found = worker(play, task)
    assert found.child is not None

    kill(found.child.pid)
    told = answer(process)

    assert (told["outcome"], told["category"]) == ("failed", "other")
    assert "signal 9" in told["reason"]


def test_a_living_worker_is_never_recovered_even_when_its_lease_is_over(play: Play, task: str) -> None:
    process, found = worker(play, task)
    expire(play, found.dispatch)

    assert recovering.recover_all(play.ledger) == []
    with pytest.raises(worktrees.WorkerAlive):
        play.do(dispatches.recover_dispatch, found.dispatch)

    assert play.status(task) == "in_progress"
    process.terminate()
    answer(process)


def test_a_living_worker_whose_task_was_cancelled_is_left_and_not_told_of(play: Play, task: str) -> None:
    process, found = worker(play, task)
    play.do(tasks.cancel_task, task, reason="no")

    assert recovering.recover_all(play.ledger) == []
    assert warned(play, fix=True) == []

    assert found.path in trees(play.root)
    process.terminate()
    answer(process)


@pytest.mark.parametrize("every", [False, True], ids=["one", "all"])
@pytest.mark.parametrize("pid", [1, os.getpid()], ids=["another number", "our number"])
def test_a_worker_of_another_machine_is_left_until_its_lease_is_over(
    play: Play, task: str, pid: int, *, every: bool
) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent", works=True))
    handovers.write(play.ledger.git, made._replace(machine="another", worker=Process(pid, 1.0)))
    (Path(made.path) / "part.txt").write_text("1")

    assert recovering.recover_all(play.ledger) == []
    assert play.status(task) == "in_progress"

    expire(play, made.dispatch)
    if every:
        assert [job.dispatch for job in recovering.recover_all(play.ledger)] == [made.dispatch]
    else:
        play.do(dispatches.recover_dispatch, made.dispatch)
    assert play.status(task) == "pending"
    assert (Path(made.path) / "part.txt").exists(), "it may be at work there yet"


def test_a_number_that_another_process_has_now_is_not_the_worker(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("agent", works=True))
    handovers.write(play.ledger.git, made._replace(worker=Process(os.getppid(), 1.0)))

    assert [job.dispatch for job in recovering.recover_all(play.ledger)] == [made.dispatch]
    assert processes.of(os.getppid()) is not None


def test_an_expired_claim_is_recovered_and_requeued_with_its_history(play: Play, task: str) -> None:
    dispatch = play.claimed(task)
    expire(play, dispatch)

    jobs = recovering.recover_all(play.ledger, requeue=True)

    assert [(job.dispatch, job.why) for job in jobs] == [(dispatch, "its lease expired")]
    successor = jobs[0].successor
    opened = play.state(task).event(successor.replace("dispatch", "event", 1))
    assert opened is not None
    assert opened.data["recovery_of"] == dispatch
    play.do(dispatches.claim_dispatch, successor)
    play.complete(successor, play.evidence(task))
    assert play.status(task) == "completed"


def test_a_claim_of_another_hand_out_does_not_hold_one_that_is_over(play: Play, task: str) -> None:
    dispatch = play.claimed(task)
    expire(play, dispatch)
    over = claims.read(play.ledger.git, task)
    assert over is not None
    other = over._replace(dispatch="dispatch_000000000000", until="2999-01-01T00:00:00.000Z")
    assert claims.take(play.ledger.git, task, other, over)

    play.do(dispatches.recover_dispatch, dispatch)

    assert play.status(task) == "pending"
    assert claims.listed(play.ledger.git)[task].dispatch == other.dispatch


def test_a_claim_that_holds_is_not_recovered(play: Play, task: str) -> None:
    play.claimed(task)
    assert recovering.recover_all(play.ledger) == []


def test_the_command_recovers_all_of_one_run_and_tells_what_became_of_each(play: Play, task: str, cli: Call) -> None:
    process, found = worker(play, task)
    gone(process)
    at = ("-C", str(play.root), "--json")

    told = json.loads(cli("dispatch", "recover", "--all", "--run", found.run, "--requeue", *at)[1])

    assert told["job_count"] == 1
    job = told["jobs"][0]
    assert (job["dispatch_id"], job["task_id"]) == (found.dispatch, task)
    assert job["requeued_dispatch_id"].startswith("dispatch_")
    assert json.loads(cli("recover-jobs", *at)[1]) == {"ok": True, "job_count": 0, "jobs": []}


@pytest.mark.parametrize("arguments", [[], ["--all", "--force"], ["x", "--all"], ["x", "--run", "y"]], ids=str)
def test_recover_takes_one_dispatch_or_all(play: Play, cli: Call, arguments: list[str]) -> None:
    assert cli("dispatch", "recover", *arguments, "-C", str(play.root))[0] == 2


def test_a_dispatch_whose_worker_died_is_not_run_again_before_it_is_looked_at(play: Play, task: str) -> None:
    process, found = worker(play, task)
    gone(process)

    with pytest.raises(worktrees.LeftBehind):
        run(play, found.dispatch, WRITE)

    recovering.recover_all(play.ledger)


def test_status_tells_of_the_process_that_works_on_a_task_and_that_it_is_gone(play: Play, task: str) -> None:
    process, found = worker(play, task)
    assert play.steps() == [f"memento dispatch show {found.dispatch}"]

    gone(process)
    assert play.steps() == ["memento dispatch recover --all"]
    with pytest.raises(worktrees.LeftBehind):
        play.do(dispatches.recover_dispatch, found.dispatch)
    recovering.recover_all(play.ledger)
    assert play.steps() == [f"memento dispatch create {task} --executor WHO"]


def test_who_works_by_hand_is_led_to_the_worktree(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    play.do(dispatches.claim_dispatch, made.dispatch)
    assert play.steps() == [f"cd {made.path} && git merge main"]


def test_stopping_what_is_dead_takes_it_back(play: Play, task: str) -> None:
    process, found = worker(play, task)
    gone(process)

    job = recovering.stop_dispatch(play.ledger, found.dispatch)

    assert job.partial != ""
    assert carriers(found.dispatch) == []
    assert play.status(task) == "pending"


def test_stopping_what_nobody_works_on_is_refused(play: Play, task: str) -> None:
    with pytest.raises(recovering.NotRunning):
        recovering.stop_dispatch(play.ledger, play.claimed(task))


def test_a_worker_that_is_stopped_by_the_system_is_ended_by_force(play: Play, task: str) -> None:
    process, found = worker(play, task)
    os.kill(process.pid, signal.SIGSTOP)
    recovering.TIMEOUT, before = 1.0, recovering.TIMEOUT  # type: ignore[misc]
    try:
        job = recovering.stop_dispatch(play.ledger, found.dispatch)
    finally:
        recovering.TIMEOUT = before  # type: ignore[misc]
    process.communicate(timeout=20)

    assert job.why == "it was stopped"
    assert carriers(found.dispatch) == []
    assert play.status(task) == "pending"


# What doctor says of what was left.


def warned(play: Play, *, fix: bool = False) -> list[str]:
    return [one.message for one in examine(play.ledger, fix=fix) if one.name == "work trees" and one.status == "warn"]


def test_doctor_lists_a_dead_worker_and_leaves_its_work(play: Play, task: str) -> None:
    process, found = worker(play, task)
    gone(process)

    assert [f"the worker of {found.dispatch}" in told for told in warned(play, fix=True)] == [True]
    assert (Path(found.path) / "part.txt").exists()
    recovering.recover_all(play.ledger)


def test_doctor_takes_back_a_dispatch_whose_work_tree_is_gone(play: Play, task: str, cli: Call) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    git(play.root, "worktree", "remove", "--force", made.path)
    (fix,) = [one.fix for one in examine(play.ledger) if one.name == "work trees" and one.status == "warn"]
    assert cli(*shlex.split(fix)[1:], "-C", str(play.root))[0] == 0
    assert play.status(task) == "pending"


@pytest.mark.parametrize("committed", [False, True])
def test_doctor_removes_the_work_tree_of_an_ended_dispatch_only_where_it_holds_no_work(
    play: Play, task: str, *, committed: bool
) -> None:
    other = play.task("Other")
    empty, full = (hand_over(play.ledger, one, HandoverOptions("human")) for one in (task, other))
    (Path(full.path) / "part.txt").write_text("1")
    if committed:
        git(Path(full.path), "add", "part.txt")
        git(Path(full.path), "commit", "-qm", "part")
    for one in (task, other):
        play.do(tasks.cancel_task, one, reason="no")
    assert len(warned(play)) == 2

    left = warned(play, fix=True)

    assert [full.dispatch in told and "holds work" in told for told in left] == [True]
    assert trees(play.root) == [full.path]
    jobs = recovering.recover_all(play.ledger)
    assert [git(play.root, "show", f"{job.partial}:part.txt") for job in jobs] == ["1"]
    assert trees(play.root) == []
    assert empty.dispatch != full.dispatch


def test_doctor_lists_a_work_tree_of_ours_that_nobody_knows_and_touches_no_other(
    play: Play, task: str, tmp_path: Path
) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    handovers.forget(play.ledger.git, made.dispatch)
    git(play.root, "worktree", "add", "-q", "-b", "mine", str(tmp_path / "mine"))

    told = warned(play, fix=True)

    assert [made.path in one for one in told] == [True]
    assert sorted(trees(play.root)) == sorted([made.path, str(tmp_path / "mine")])


def test_a_damaged_note_of_this_machine_stops_nothing(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    path = handovers.folder_of(play.ledger.git) / f"{made.dispatch}.json"
    for damage in (b"", b"[]", b'{"dispatch": 1}', b"\xff"):
        path.write_bytes(damage)
        assert handovers.read(play.ledger.git, made.dispatch) is None
        assert recovering.recover_all(play.ledger) == []
    config(play, "policy: {lease: 1h}")


def test_a_repository_that_was_moved_away_is_not_begun_anew_by_a_recovery(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    play.root.rename(play.root.with_name("elsewhere"))
    with pytest.raises(RepositoryGone):
        recovering.recover_one(play.ledger, made.dispatch, recovering.EXPIRED)
    assert not play.root.exists()


# Several branches of one clone.


@pytest.fixture
def by_hand(play: Play, task: str) -> Handover:
    """Somebody's work by hand on a dispatch's own branch, which holds the claim of it."""
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    there = play.beside(Path(made.path), "x")
    there.do(dispatches.claim_dispatch, made.dispatch, lease=8 * 3600)
    (Path(made.path) / "part.txt").write_text("1")
    git(Path(made.path), "add", "part.txt")
    git(Path(made.path), "commit", "-qm", "part")
    return made


def test_a_branch_that_does_not_know_a_dispatch_leaves_it_to_those_that_do(play: Play) -> None:
    git(play.root, "switch", "-qc", "lane")
    play.planned()
    made = hand_over(play.ledger, play.task(commands=[SHOWN]), HandoverOptions("human"))
    git(play.root, "switch", "-q", "main")

    def kept() -> bool:
        gone = play.beside(play.root)
        assert recovering.recover_all(gone.ledger) == []
        examine(gone.ledger, fix=True)
        return trees(play.root) == [made.path] and branches(play.root) == [made.branch]

    assert kept()
    assert warned(play) == []
    play.beside(Path(made.path), "x").do(dispatches.claim_dispatch, made.dispatch, lease=8 * 3600)
    assert kept()
    assert claims.read(play.ledger.git, made.task) is not None
    git(play.root, "branch", "-qD", "lane")
    assert kept()
    assert [f"only its own branch knows of {made.dispatch}" in told for told in warned(play)] == [True]


def test_a_dead_worker_of_another_branch_is_told_and_taken_back_there(play: Play) -> None:
    git(play.root, "switch", "-qc", "lane")
    play.planned()
    process, found = worker(play, play.task(commands=[SHOWN]))
    gone(process)
    git(play.root, "switch", "-q", "main")

    assert recovering.recover_all(play.ledger) == []
    assert ["lane knows of it" in told for told in warned(play)] == [True]
    git(play.root, "switch", "-q", "lane")
    assert [job.dispatch for job in recovering.recover_all(play.ledger)] == [found.dispatch]


def test_what_somebody_holds_on_the_dispatchs_own_branch_is_not_taken_back_elsewhere(
    play: Play, by_hand: Handover
) -> None:
    def recover(**options: Any) -> Any:
        return play.do(dispatches.recover_dispatch, by_hand.dispatch, **options)

    with pytest.raises(no.NotExpired, match="x holds") as held:
        recover()
    assert f"memento dispatch recover {by_hand.dispatch} --force --reason" in held.value.hint
    with pytest.raises(no.NotExpired):
        play.do(dispatches.fail_dispatch, by_hand.dispatch, reason="no")
    with pytest.raises(no.AlreadyClaimed):
        play.do(dispatches.claim_dispatch, by_hand.dispatch)
    assert trees(play.root) == [by_hand.path]
    recover(force=True, reason="x is away")
    assert trees(play.root) == []
    assert git(play.root, "show", f"refs/memento/quarantine/{by_hand.dispatch}:part.txt") == "1"


def test_what_was_completed_on_the_dispatchs_own_branch_is_not_moved_before_it_is_merged(
    play: Play, by_hand: Handover
) -> None:
    there = play.beside(Path(by_hand.path), "x")
    there.complete(by_hand.dispatch, there.evidence(by_hand.task))

    forced = {"force": True, "reason": "no"}
    moves: list[tuple[Callable[..., Any], str, dict[str, Any]]] = [
        (dispatches.claim_dispatch, by_hand.dispatch, {}),
        (dispatches.recover_dispatch, by_hand.dispatch, {}),
        (dispatches.recover_dispatch, by_hand.dispatch, forced),
        (dispatches.fail_dispatch, by_hand.dispatch, {"reason": "no"}),
        (tasks.block_task, by_hand.task, {"reason": "no"}),
        (tasks.cancel_task, by_hand.task, {"reason": "no"}),
    ]
    for move, record, options in moves:
        with pytest.raises(no.ClaimedElsewhere, match="completed by x") as refused:
            play.do(move, record, **options)
        assert f"git merge {by_hand.branch}" in refused.value.hint
    assert branches(play.root) == [by_hand.branch]
    assert play.status(by_hand.task) == "dispatched"
    git(play.root, "merge", "-q", "--no-edit", by_hand.branch)
    assert play.status(by_hand.task) == "completed"


@pytest.mark.parametrize("move", [tasks.block_task, tasks.cancel_task], ids=lambda move: move.__name__)
def test_a_task_that_somebody_only_works_on_is_blocked_and_cancelled(
    play: Play, by_hand: Handover, move: Callable[..., Any]
) -> None:
    play.do(move, by_hand.task, reason="no")
    assert play.status(by_hand.task) in ("blocked", "cancelled")


def test_what_is_completed_after_its_task_was_blocked_is_not_put_aside(play: Play, by_hand: Handover) -> None:
    play.do(tasks.block_task, by_hand.task, reason="wait")
    there = play.beside(Path(by_hand.path), "x")
    there.complete(by_hand.dispatch, there.evidence(by_hand.task))

    assert recovering.recover_all(play.ledger) == []
    assert branches(play.root) == [by_hand.branch]
    assert [f"completed on {by_hand.branch}" in told for told in warned(play)] == [True]
    git(play.root, "merge", "-q", "--no-edit", by_hand.branch)
    assert play.status(by_hand.task) == "contested"


def test_what_nobody_wants_is_taken_back_once_its_branch_is_removed(play: Play, by_hand: Handover) -> None:
    there = play.beside(Path(by_hand.path), "x")
    there.complete(by_hand.dispatch, there.evidence(by_hand.task))
    if trees(play.root):
        git(play.root, "worktree", "remove", "--force", by_hand.path)
    git(play.root, "branch", "-qD", by_hand.branch)

    play.do(tasks.cancel_task, by_hand.task, reason="not wanted")
    assert play.status(by_hand.task) == "cancelled"


@pytest.mark.parametrize("tree_is_gone", [False, True])
def test_a_forced_recovery_keeps_what_was_committed_even_where_the_work_tree_is_gone(
    play: Play, by_hand: Handover, *, tree_is_gone: bool
) -> None:
    if tree_is_gone:
        git(play.root, "worktree", "remove", "--force", by_hand.path)

    play.do(dispatches.recover_dispatch, by_hand.dispatch, force=True, reason="x is away")

    partial = row_of(play, by_hand)["partial"]
    assert git(play.root, "show", f"{partial}:part.txt") == "1"
    assert branches(play.root) == []


def row_of(play: Play, made: Handover) -> DispatchRow:
    from memento_git.work import answers

    row: DispatchRow = answers.at(play.ledger.view(), made.dispatch, "dispatch")
    return row


def test_what_a_run_leaves_open_when_it_ends_is_cleaned_up_after(play: Play, task: str) -> None:
    made = hand_over(play.ledger, task, HandoverOptions("human"))
    play.do(dispatches.claim_dispatch, made.dispatch, lease=8 * 3600)
    (Path(made.path) / "part.txt").write_text("1")
    play.do(runs.cancel_run, made.run, reason="no")

    assert claims.listed(play.ledger.git) == {}
    assert [made.dispatch in told for told in warned(play)] == [True]
    with pytest.raises(no.RunFinal):
        play.do(dispatches.recover_dispatch, made.dispatch, force=True, reason="no")
    assert git(play.root, "for-each-ref", "refs/memento/quarantine") == ""
    (job,) = recovering.recover_all(play.ledger)
    assert git(play.root, "show", f"{job.partial}:part.txt") == "1"
    assert (trees(play.root), warned(play)) == ([], [])


def test_what_was_completed_on_another_line_that_is_checked_out_is_not_moved_here(
    play: Play, task: str, tmp_path: Path
) -> None:
    dispatch = play.dispatch(task)
    git(play.root, "worktree", "add", "-q", "-b", "lane", str(tmp_path / "lane"))
    there = play.beside(tmp_path / "lane", "x")
    there.do(dispatches.claim_dispatch, dispatch)
    there.complete(dispatch, there.evidence(task))

    for move in (dispatches.claim_dispatch, dispatches.recover_dispatch):
        with pytest.raises(no.ClaimedElsewhere, match="completed by x on branch lane"):
            play.do(move, dispatch)
    git(play.root, "merge", "-q", "lane")
    assert play.status(task) == "completed"


def test_a_claim_of_another_branch_is_not_made_again_here_by_who_made_it(play: Play, task: str) -> None:
    dispatch = play.dispatch(task)
    git(play.root, "switch", "-qc", "lane")
    play.do(dispatches.claim_dispatch, dispatch)
    git(play.root, "switch", "-q", "main")

    with pytest.raises(no.ClaimedElsewhere, match="on branch lane"):
        play.do(dispatches.claim_dispatch, dispatch)
    git(play.root, "merge", "-q", "lane")
    assert play.status(task) == "in_progress"
