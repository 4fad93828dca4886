"""A pool of workers: killed, doubled, starved and stopped, it does each task once and loses none."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import handovers
from memento_git.ledger.processes import Process
from memento_git.work.actions import pool, recovering, runs
from memento_git.work.actions.handover import HandoverOptions, hand_over
from memento_git.work.actions.running import Order
from memento_git.work.actions.starting import ExecutorUnnamed, NoCommand
from memento_git.work.dangers.guard import DestructiveArgv
from memento_git.work.dispatch.preflight import DirtyWorktree
from memento_git.work.running.capture import CommandNotStarted
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
)  # fmt: skip
from tests.hands import worktrees as trees
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play

QUICK = f"import time; time.sleep(0.1); {WRITE}"


def filled(play: Play, count: int, **options: Any) -> list[str]:
    play.planned()
    return [play.task(f"Task {number}", commands=[SHOWN], **options) for number in range(count)]


def worked(play: Play, code: str = QUICK, jobs: int = 2, **options: Any) -> pool.Worked:
    return pool.work(play.ledger, Order("agent", python(code), **options), jobs=jobs)


def completions(play: Play, tasks: list[str]) -> list[int]:
    return [
        sum(seen.event.do == "completed" for seen in play.state(task).folded(task).events) for task in tasks
    ]  # fmt: skip


def whole(play: Play, tasks: list[str]) -> None:
    """Check that each task is done exactly once, and that nothing of the pool is left."""
    assert completions(play, tasks) == [1] * len(tasks)
    assert [play.is_proven(task) for task in tasks] == [True] * len(tasks)
    assert len(branches(play.root)) == len(tasks)
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])
    assert git(play.root, "status", "--short") == ""


def started(play: Play, code: str, *options: str) -> Any:
    return start(play.root, "dispatch", "work", "--json", "--executor", "agent", *options, "--", *python(code))


def test_a_pool_does_every_ready_task_once(play: Play) -> None:
    tasks = filled(play, 5)

    done = worked(play, jobs=3)

    assert Counter(one.status for one in done.ended) == {"completed": 5}
    assert {one.branch for one in done.ended} == set(branches(play.root))
    assert (done.left, done.taken) == ({}, 5)
    whole(play, tasks)


def test_two_pools_at_once_share_the_tasks(play: Play) -> None:
    tasks = filled(play, 6)

    told = [answer(process) for process in [started(play, QUICK, "--jobs", "2") for _ in range(2)]]

    assert sum(one["counts"].get("completed", 0) for one in told) == 6
    whole(play, tasks)


def asleep(play: Play) -> tuple[Any, handovers.Handover]:
    """Start a pool of one whose first try sleeps; return it, and that try when it does."""
    once = Path(play.root.parent / "killed")
    code = f"import os, time\nif not os.path.exists({str(once)!r}): open({str(once)!r}, 'w').close(); time.sleep(600)\n"
    process = started(play, code + WRITE, "--jobs", "1")
    found = at_work(play)
    until(once.exists, "the first try's sleep")
    return process, found


def test_a_killed_worker_is_noticed_at_once_and_its_task_done_by_another(play: Play) -> None:
    tasks = filled(play, 2, attempts=10)
    process, found = asleep(play)
    assert found.worker is not None

    kill(found.worker.pid)
    told = answer(process)

    assert told["counts"] == {"completed": 2, "died": 1}
    assert [one["reason"] for one in told["ended"] if one["status"] == "died"] == ["its worker ended by signal 9"]
    assert carriers(found.dispatch) == []
    whole(play, tasks)


def test_what_somebody_elses_worker_held_that_dies_while_the_pool_waits_is_done(play: Play) -> None:
    theirs, own = filled(play, 2, attempts=10)
    other = start(play.root, "dispatch", "run", theirs, "--json", "--executor", "agent", "--", *python(SLEEP))
    found = at_work(play)
    assert found.worker is not None
    process = started(play, QUICK, "--jobs", "1")
    until(lambda: play.status(own) == "completed", "the pool's own task")

    kill(found.worker.pid)
    gone(other)

    assert answer(process)["counts"] == {"completed": 2}
    whole(play, [theirs, own])


def test_a_worker_of_another_machine_with_the_number_of_a_killed_one_keeps_its_task(play: Play) -> None:
    there, here = filled(play, 2, attempts=10)
    other = hand_over(play.ledger, there, HandoverOptions("agent", works=True))
    handovers.write(play.ledger.git, other._replace(machine="another", worker=Process(1, 1.0)))
    process, found = asleep(play)
    assert found.worker is not None
    number = Process(found.worker.pid, 1.0)
    handovers.write(play.ledger.git, other._replace(machine="another", worker=number))

    kill(found.worker.pid)
    assert answer(process)["counts"] == {"completed": 1, "died": 1}

    assert [play.status(task) for task in (there, here)] == ["in_progress", "completed"]


def test_a_killed_pool_is_started_again_and_loses_nothing(play: Play) -> None:
    tasks = filled(play, 3, attempts=10)
    process, found = asleep(play)
    gone(process)
    assert found.worker is not None
    kill(found.worker.pid)
    assert carriers(found.dispatch) != []

    told = answer(started(play, WRITE, "--jobs", "2"))

    assert told["counts"] == {"completed": 3}
    assert carriers(found.dispatch) == []
    whole(play, tasks)


def test_a_worker_whose_pool_was_killed_finishes_its_task(play: Play) -> None:
    tasks = filled(play, 2)
    process = started(play, f"import time; time.sleep(1.5); {WRITE}", "--jobs", "1")
    found = at_work(play)
    gone(process)

    told = answer(started(play, QUICK, "--jobs", "1"))

    assert told["ok"] is True
    assert play.status(found.task) == "completed"
    whole(play, tasks)


def test_a_pool_that_is_stopped_stops_its_workers_and_keeps_their_work(play: Play) -> None:
    tasks = filled(play, 3)
    process = started(play, SLEEP, "--jobs", "2")
    found = at_work(play)

    os.kill(process.pid, signal.SIGINT)
    told = answer(process)

    assert (told["ok"], told["stopped"]) == (False, "stopped by SIGINT")
    assert carriers(found.dispatch) == []
    assert {one["status"] for one in told["ended"]} <= {"failed", "died"}
    assert {one["category"] for one in told["ended"] if one["status"] == "failed"} == {"stopped"}
    assert "pending" in [play.status(task) for task in tasks]
    assert (trees(play.root), handovers.listed(play.ledger.git)) == ([], [])


def test_a_pool_that_is_stopped_during_a_merge_does_not_wait_for_its_end(play: Play) -> None:
    (task,) = filled(play, 1)
    git(play.root, "switch", "-qc", "other")
    git(play.root, "commit", "-q", "--allow-empty", "-m", "other")
    git(play.root, "switch", "-q", "-")
    process = started(play, SLEEP, "--jobs", "1")
    found = at_work(play)
    git(play.root, "merge", "-q", "--no-commit", "--no-ff", "other")

    os.kill(process.pid, signal.SIGINT)
    answer(process)

    assert (carriers(found.dispatch), play.status(task)) == ([], "in_progress")
    git(play.root, "merge", "--abort")
    assert [job.dispatch for job in recovering.recover_all(play.ledger)] == [found.dispatch]


def test_a_failure_that_may_pass_is_tried_again_within_the_budget(play: Play) -> None:
    (task,) = filled(play, 1)

    done = worked(play, "raise SystemExit(1)")

    assert [one.status for one in done.ended] == ["failed", "failed"]
    assert "next: fallback" in done.left[task]
    assert play.status(task) == "blocked"


def test_a_task_whose_worker_somebody_stopped_is_not_tried_again(play: Play) -> None:
    (task,) = filled(play, 1)
    process = started(play, SLEEP, "--jobs", "1")

    assert recovering.stop_dispatch(play.ledger, at_work(play).dispatch).task == task

    told = answer(process)
    assert [(one["status"], one["category"]) for one in told["ended"]] == [("failed", "stopped")]
    assert [one["task_id"] for one in told["left"]] == [task]


def test_attempts_beyond_the_budget_stop_and_are_told(play: Play) -> None:
    (task,) = filled(play, 1, attempts=1)

    done = worked(play, "raise SystemExit(1)")

    assert [one.status for one in done.ended] == ["failed"]
    assert "next: escalate" in done.left[task]


def test_a_task_that_killed_its_workers_too_often_is_left_and_told(play: Play) -> None:
    (task,) = filled(play, 1, attempts=2)
    code = "import os; os.kill(os.getppid(), 9)"

    done = worked(play, code)

    assert [one.status for one in done.ended] == ["died", "died"]
    assert "beyond its budget: 2 of 2 attempts" in done.left[task]
    assert play.status(task) == "pending"


def test_a_task_whose_dependency_is_not_merged_waits_and_that_is_told(play: Play) -> None:
    (first,) = filled(play, 1)
    second = play.task("Second", depends_on=[first], commands=[SHOWN])

    done = worked(play)

    assert done.left == {second: f"waits for the merge of {branches(play.root)[0]}"}
    git(play.root, "merge", "-q", "-m", "merge", branches(play.root)[0])
    assert [one.task for one in worked(play, "open('more.txt', 'w').write('1')").ended] == [second]


def test_work_that_was_never_pushed_is_told_where_a_task_that_rests_on_it_is_taken(
    play: Play, cli: Call, tmp_path: Path
) -> None:
    (first,) = filled(play, 1)
    branch = run(play, first, WRITE).branch
    second = play.task("Second", depends_on=[first], commands=[SHOWN])
    git(tmp_path, "clone", "-q", "--single-branch", str(play.root), "clone")
    git(tmp_path / "clone", "config", "user.name", "Bob")
    git(tmp_path / "clone", "config", "user.email", "bob@example.invalid")

    given = ("-C", str(tmp_path / "clone"), "--executor", "agent", "--", *python(QUICK))
    code, _, err = cli("dispatch", "work", *given)

    assert code == 0
    assert f"{second} is taken, although {first} was done as commit" in err
    assert f"on {branch}, a branch that is not in this clone" in err


def test_a_task_whose_dependency_was_tried_more_than_once_waits_for_a_choice(play: Play) -> None:
    (first,) = filled(play, 1)
    for opened in [play.dispatch(first, candidate=True) for _ in range(2)]:
        run(play, opened, WRITE)
    second = play.task("Second", depends_on=[first], commands=[SHOWN])

    assert worked(play).left == {second: f"waits for a choice among 2 tries: memento dispatch select {first}"}


def test_at_most_so_many_tasks_are_taken(play: Play) -> None:
    filled(play, 3)
    done = pool.work(play.ledger, Order("agent", python(QUICK)), jobs=2, most=2)
    assert (len(done.ended), done.taken) == (2, 2)


def test_only_tasks_of_the_run_that_is_named_are_taken(play: Play) -> None:
    (one,) = filled(play, 1)
    other = play.task("Other", run=play.planned("Another goal"), commands=[SHOWN])
    first = play.state(one).id

    done = worked(play, run=first)

    assert [ended.task for ended in done.ended] == [one]
    assert play.status(other) == "pending"


def test_a_paused_run_hands_nothing_to_the_pool(play: Play) -> None:
    filled(play, 1)
    play.do(runs.pause_run)
    assert worked(play).ended == []


def test_a_task_whose_commands_cannot_be_run_is_left_and_the_others_are_done(play: Play, run: str) -> None:
    bad, good = play.task("Bad", commands=["no-such-program-here"]), play.task("Good", commands=[SHOWN])

    done = pool.work(play.ledger, Order("agent", python(QUICK)), jobs=2, most=1)

    assert [one.task for one in done.ended] == [good]
    assert "no-such-program-here could not be started" in done.left[bad]


@pytest.mark.parametrize(
    ("order", "refusal"),
    [
        (Order(), ExecutorUnnamed),
        (Order("nobody-knows"), NoCommand),
        (Order("a", ("no-such-program-here",)), CommandNotStarted),
        (Order("a", ("git", "push", "--force")), DestructiveArgv),
    ],
    ids=["nobody", "no command", "not installed", "destructive"],
)
def test_what_no_worker_could_run_is_refused_before_the_first(
    play: Play, order: Order, refusal: type[Exception]
) -> None:
    filled(play, 1)
    with pytest.raises(refusal):
        pool.foresee_pool(play.ledger, order)


def test_a_dirty_checkout_is_refused_once_and_for_all_workers(play: Play) -> None:
    filled(play, 1)
    (play.root / "app.py").write_text("answer = 43\n")
    with pytest.raises(DirtyWorktree):
        pool.foresee_pool(play.ledger, Order("agent", python(QUICK)))
    pool.foresee_pool(play.ledger, Order("agent", python(QUICK), dirty=True))


def test_the_command_tells_what_was_done_and_what_is_left(play: Play, cli: Call) -> None:
    (task,) = filled(play, 1)
    waits = play.task("Second", depends_on=[task], commands=[SHOWN])
    config(play, f"executors: {{writer: {{run: ['{sys.executable}', '-c', {json.dumps(WRITE)}]}}}}")

    code, out, err = cli("dispatch", "work", "--executor", "writer", "-C", str(play.root))

    assert code == 0
    assert "1 completed" in out
    assert f"left: {waits} waits for the merge of memento/" in out
    assert f"[1 done] {task} completed, proven" in err
    (branch,) = branches(play.root)
    assert f"next: git merge {branch}" in out


def test_what_a_completed_task_lacks_of_its_proof_is_told(play: Play, cli: Call) -> None:
    config(play, "policy:\n  require: [test]\n")
    play.planned_task()
    code, out, err = cli("dispatch", "work", "-C", str(play.root), "--executor", "agent", "--", *python(WRITE))
    assert code == 0
    assert "completed, unproven: policy asks for test evidence; " in err
    assert "see what proves 1 task: memento status" in out


def test_of_who_changed_nothing_it_is_told_too_what_the_task_lacks(play: Play, run: str) -> None:
    play.task(commands=["test -s app.py"], require=["screenshot"])

    (ended,) = worked(play, "").ended

    assert ended.reason.startswith("agent changed no file; the task asks for screenshot evidence"), ended


def test_the_command_exits_with_1_where_something_failed(play: Play, cli: Call) -> None:
    (task,) = filled(play, 1, attempts=1)

    code, out, _ = cli("dispatch", "work", "--json", "--executor", "x", "-C", str(play.root), "--", "false")

    told = json.loads(out)
    assert (code, told["error"], told["left"][0]["task_id"]) == (1, "work_left", task)
