"""What a hand-off would refuse is not called ready, and it is said why, with a step that leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.errors import MementoError
from memento_git.review.summary import digest
from memento_git.work import answers
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches, gates, plans, tasks
from tests.play import git
from tests.test_signatures import POLICY, Office

if TYPE_CHECKING:
    from pathlib import Path

    from memento_git.model.rows import HeldBack
    from memento_git.model.run_rows import RunRows
    from tests.play import Call, Play


def seen(play: Play, run: str) -> RunRows:
    return play.overview(run)


def held(play: Play, task: str) -> HeldBack:
    """Return why a task is held back, after its hand-off was refused for the same reason."""
    state = play.state(task)
    row = next(one for one in seen(play, state.id)["tasks"] if one["id"] == task)
    with pytest.raises(MementoError) as refused:
        play.do(dispatches.create_dispatch, task, "agent")
    back = row["held_back"]
    assert back is not None
    assert (row["ready"], back["error"]) == (False, refused.value.token)
    assert back["why"] == refused.value.message
    assert answers.at(play.ledger.view(), task, "task")["held_back"] == back
    assert seen(play, state.id)["ready"] == []
    return back


def change(play: Play, record: str, text: str = "\nMore.\n") -> None:
    path = play.root / play.state(record).index.prose[record]
    play.commit(path, path.read_text() + text, "edit")


def commands(play: Play, run: str) -> list[str]:
    return [step["command"] for step in seen(play, run)["next"]]


def test_a_plan_that_changed_is_to_be_approved_first(play: Play, run: str, cli: Call) -> None:
    task, plan = play.task(), play.state(run).canonical
    assert seen(play, run)["ready"] == [task]
    change(play, plan)
    assert held(play, task)["command"] == f"memento plan approve {plan}"
    now = seen(play, run)
    assert [step["command"] for step in now["next"]] == [f"memento plan approve {plan}"]
    assert [row["record"] for row in digest(now)["blockers"]] == [plan]
    assert "held back: plan" in cli("task", "list", "-C", str(play.root))[1]
    told = cli("task", "list", "--ready", "-C", str(play.root))[1]
    assert told.startswith("no tasks: none of 1 is ready; memento status tells of each")
    play.do(plans.approve_plan, plan)
    assert seen(play, run)["ready"] == [task]


def test_a_spike_that_has_handed_out_all_it_may_needs_a_plan(play: Play) -> None:
    run = play.run(spike=True)
    for number in range(play.ledger.view().policy().spike_dispatches):
        play.dispatch(play.task(f"Try {number}"))
    task = play.task("One more")
    play.task("And another")
    step = f"memento plan draft --run {run} --title TITLE --body TEXT"
    assert held(play, task)["command"] == step
    assert commands(play, run).count(step) == 1
    plan = play.do(plans.draft_plan, "Plan", "Do it.")
    assert (step in commands(play, run), commands(play, run)[0]) == (False, f"memento plan approve {plan}")
    play.do(plans.approve_plan, plan)
    assert task in seen(play, run)["ready"]


def test_a_task_that_was_tried_too_often_waits_for_somebody(play: Play, run: str) -> None:
    task = play.task(attempts=1)
    play.do(dispatches.fail_dispatch, play.claimed(task), reason="No luck.")
    play.do(tasks.reopen_task, task, reason="Again.")
    assert held(play, task)["error"] == "budget_exceeded"
    other = play.task("Another")
    now = seen(play, run)
    assert now["ready"] == [other]
    assert f"memento task show {task}" in [step["command"] for step in now["next"]]
    play.dispatch(task, over_budget="It is urgent.")


@pytest.mark.parametrize("where", ["task", "run", "plan"])
def test_a_text_that_tells_to_destroy_is_not_handed_over(play: Play, run: str, where: str) -> None:
    task = play.task()
    change(play, {"task": task, "run": run, "plan": play.state(run).canonical}[where], "\nrm -rf /\n")
    if where == "plan":
        play.do(plans.approve_plan, play.state(run).canonical)
    assert held(play, task)["error"] == "destructive_command"
    assert f"memento task show {task}" in commands(play, run)


def test_a_plan_that_nobody_signed_is_nothing_to_work_by(play: Play, tmp_path: Path) -> None:
    office = Office(play, tmp_path)
    office.write("version: 1\n")
    run = play.planned()
    task = play.task()
    assert seen(play, run)["ready"] == [task]
    office.write(POLICY)
    assert held(play, task)["command"] == "memento check --no-base"
    play.do(plans.approve_plan, play.state(run).canonical, key=str(office.ada))
    assert seen(play, run)["ready"] == [task]


def test_a_plan_that_cannot_be_read_is_nothing_to_work_by(play: Play, run: str) -> None:
    task, plan = play.task(), play.state(run).canonical
    path = play.root / play.state(run).index.prose[plan]
    play.commit(path, path.read_text().replace("title:", "foo: bar\ntitle:", 1), "broken")
    row = seen(play, run)["tasks"][0]
    back = row["held_back"]
    assert back is not None
    assert (row["ready"], back["error"], back["command"]) == (False, "ledger_broken", "memento check")
    with pytest.raises(MementoError) as refused:
        play.dispatch(task)
    assert refused.value.message == back["why"]
    git(play.root, "revert", "--no-edit", "HEAD")
    assert seen(play, run)["ready"] == [task]


def test_what_another_task_waits_for_is_no_reason_of_its_own(play: Play, run: str) -> None:
    first = play.task("First")
    after = play.task("After", depends_on=[first])
    rows = {row["id"]: row for row in seen(play, play.state(first).id)["tasks"]}
    assert (rows[first]["held_back"], rows[after]["held_back"], rows[after]["waits_on"]) == (None, None, [first])
    with pytest.raises(no.DependencyOpen):
        play.dispatch(after)


def test_a_proven_task_whose_gate_failed_is_told_to_wait_for_that(play: Play, run: str) -> None:
    first = play.proven("First")
    after = play.task("After", depends_on=[first])
    play.do(gates.record_gate, "quality_review", "failed", task=first, note="no types")
    with pytest.raises(no.GateBlocks) as refused:
        play.dispatch(after)
    assert refused.value.message == f"gate quality_review of {first} has failed"


def test_a_hand_off_ends_where_the_task_asks_something_else_by_now(play: Play, run: str, cli: Call) -> None:
    task = play.task(criteria=["It works."])
    waiting, evidence = play.dispatch(task), play.evidence(task)
    play.do(tasks.revise_task, task, criteria=["It works in French."])
    (told,) = play.ledger.warnings
    assert (
        commands(play, play.state(task).id)[0] == f"memento dispatch recover {waiting} --force --reason WHY --requeue"
    )
    assert f"memento dispatch recover {waiting} --force --reason WHY --requeue" in told
    with pytest.raises(no.TermsChanged) as refused:
        play.do(dispatches.claim_dispatch, waiting)
    assert f"dispatch {waiting}" in refused.value.message
    again = play.do(dispatches.recover_dispatch, waiting, force=True, reason="other terms", requeue=True)[1]
    play.do(dispatches.claim_dispatch, again)
    code, _, err = cli("task", "revise", task, "--accept", "It works in Dutch.", "-C", str(play.root))
    assert (code, f"memento dispatch recover {again} --force" in err) == (0, True)
    with pytest.raises(no.TermsChanged):
        play.complete(again, evidence)
    play.do(tasks.revise_task, task, criteria=["It works in French."], title="Another title")
    with pytest.raises(no.TermsChanged):
        play.complete(again, evidence)
    play.do(tasks.revise_task, task, title="A task")
    play.complete(again, evidence)
    assert play.is_proven(task)
