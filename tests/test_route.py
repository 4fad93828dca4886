"""Routing over a real ledger, with real programs on PATH; budgets where work is handed out."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import cache, layout
from memento_git.work.actions import dispatches, evidences, plans, selections, tasks, verifying
from memento_git.work.routing import outcomes, probe, routes
from memento_git.work.routing.budget import BudgetExceeded
from memento_git.work.routing.executors import Executor
from tests.play import Play, git

if TYPE_CHECKING:
    from tests.play import Call


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put nothing but git and a shell on PATH, and programs that exit as they are told."""
    place = tmp_path / "bin"
    place.mkdir()
    for name in ("git", "sh"):
        (place / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(place))

    def make(name: str, script: str = "exit 0") -> None:
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)

    return make


def configure(play: Play, text: str) -> None:
    path = play.root / layout.CONFIG
    path.write_text(f"version: 1\n{text}")
    git(play.root, "add", layout.CONFIG)
    git(play.root, "commit", "-qm", "policy")


def answer(cli: Call, play: Play, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = cli(*arguments, "-C", str(play.root), "--json")
    return code, json.loads(out)


def rejected(decision: dict[str, Any]) -> dict[str, str]:
    return {one["executor"]: one["reasons"][0] for one in decision["rejected_executors"]}


def fails(play: Play, task: str, executor: str = "codex", category: str = "") -> None:
    """Hand a task out, have it claimed and given up, and open it again."""
    name = play.dispatch(task, executor)
    play.do(dispatches.claim_dispatch, name)
    play.do(dispatches.fail_dispatch, name, reason="no", category=category)
    play.do(tasks.reopen_task, task, reason="again")


# The preview.


def test_a_preview_lists_who_is_rejected_and_hands_nothing_out(
    play: Play, run: str, cli: Call, programs: Callable[..., None]
) -> None:
    task = play.task(kind="fix")
    before = git(play.root, "rev-parse", "HEAD")
    code, told = answer(cli, play, "task", "route", task)
    assert code == 0
    assert told["decision"]["auto_dispatch"] is False
    assert told["evidence"] is None
    assert set(rejected(told["decision"])) >= {"aider", "codex", "goose"}
    assert git(play.root, "rev-parse", "HEAD") == before
    assert play.state(task).dispatches(task) == {}


def test_programs_that_are_not_there_are_neither_chosen_nor_honoured(
    play: Play, run: str, cli: Call, programs: Callable[..., None]
) -> None:
    task = play.task()
    code, told = answer(cli, play, "task", "route", task)
    assert (code, told["decision"]["selected_executor"]) == (0, "human")
    assert rejected(told["decision"])["codex"] == "codex is not on PATH"
    lines = [line for line in cli("-C", str(play.root), "task", "route", task)[1].splitlines() if " not " in line]
    assert lines[-1].startswith("  not      aider, ")
    assert lines[-1].endswith(": what starts them is not on PATH")
    assert len(lines) == 1, "who is not there is told on one line"
    code, told = answer(cli, play, "task", "route", task, "--executor", "codex")
    assert (code, told["ok"], told["error"]) == (1, False, "override_refused")
    assert told["message"] == "codex: codex is not on PATH"
    assert told["decision"]["selected_executor"] == "human"
    assert told["decision"]["user_override"]["honoured"] is False


def test_a_wish_is_granted_where_it_is_safe(play: Play, run: str, cli: Call, programs: Callable[..., None]) -> None:
    task = play.task()
    for name in ("opencode", "aider"):
        programs(name)
    code, told = answer(cli, play, "task", "route", task, "--executor", "aider")
    assert (code, told["decision"]["selected_executor"]) == (0, "aider")
    assert told["decision"]["requires_user_approval"] is True
    code, told = answer(cli, play, "task", "route", task, "--executor", "opencode")
    assert (code, told["error"]) == (1, "override_refused")
    assert told["decision"]["selected_executor"] == "aider"


def test_a_wish_lifts_no_limit_of_risk(play: Play, run: str, cli: Call, programs: Callable[..., None]) -> None:
    programs("aider")
    task = play.task(risk="high")
    code, told = answer(cli, play, "task", "route", task, "--executor", "aider")
    assert (code, told["error"]) == (1, "override_refused")
    assert "may take medium" in told["message"]


def test_who_is_unwell_is_not_chosen_and_nothing_is_started_where_that_is_asked(
    play: Play, run: str, cli: Call, programs: Callable[..., None]
) -> None:
    task = play.task()
    programs("codex", 'echo "$@" >> "$HOME/asked"; echo noise; exit 3')
    asked = Path(os.environ["HOME"]) / "asked"
    code, told = answer(cli, play, "task", "route", task, "--no-health")
    assert (code, told["decision"]["selected_executor"]) == (0, "codex")
    assert not asked.exists()
    code, told = answer(cli, play, "task", "route", task)
    assert rejected(told["decision"])["codex"] == "`codex login status` exited with 3"
    assert asked.read_text() == "login status\n"


def test_who_does_not_answer_is_waited_for_no_longer_than_the_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "TIMEOUT", 0.5)
    waits = f"import time; time.sleep(60); open({str(tmp_path / 'waited')!r}, 'w')"
    slow = [Executor(name, health=(sys.executable, "-c", waits)) for name in ("a", "b", "c")]
    told = probe.ailments(slow, tmp_path, ("a", "b", "c"))
    assert not (tmp_path / "waited").exists()
    assert list(told) == ["a", "b", "c"]
    assert "did not answer within 0.5 seconds" in told["a"]


def test_a_program_of_the_repository_is_found_from_its_top(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    tool = tmp_path / "tools" / "agent"
    tool.write_text("#!/bin/sh\nread line && exit 9\nexit 0\n")
    mine = Executor("mine", ("tools/agent", "{brief}"), ("tools/agent",))
    assert probe.ailments([mine], tmp_path, ("mine",)) == {"mine": "there is no program tools/agent"}
    tool.chmod(0o755)
    assert probe.ailments([mine], tmp_path, ("mine",)) == {}
    tool.write_text("not a program\x00")
    assert "mine" in probe.ailments([mine], tmp_path, ("mine",))


def test_nobody_to_choose_is_a_no(play: Play, cli: Call, programs: Callable[..., None]) -> None:
    configure(play, "executors:\n  human: {risk: low}\n")
    play.planned()
    code, told = answer(cli, play, "task", "route", play.task(), "--record")
    assert (code, told["ok"], told["error"]) == (1, False, "no_executor")
    assert "human: the risk is medium" in told["message"]
    assert told["evidence"] is None


def test_a_recorded_decision_is_advisory_and_holds_all_of_it(
    play: Play, run: str, cli: Call, programs: Callable[..., None]
) -> None:
    task = play.task()
    code, told = answer(cli, play, "task", "route", task, "--record")
    assert code == 0
    kept = told["evidence"]
    assert (kept["kind"], kept["trust_level"], kept["task_ids"]) == ("note", "advisory", [task])
    assert kept["summary"] == "Routing, advisory: human."
    path = play.root / layout.folder_of(kept["run_id"], kept["id"]) / "route.json"
    assert json.loads(path.read_text()) == {"task": task, "decision": told["decision"]}
    code, checks = answer(cli, play, "doctor")
    assert code == 0, checks


def test_the_seeds_name_routes_and_records(play: Play, run: str, cli: Call, programs: Callable[..., None]) -> None:
    task = play.task()
    code, told = answer(cli, play, "route-task", "--task-id", task)
    assert (code, told["decision"]["user_override"]) == (0, None)
    assert told["evidence"]["kind"] == "note"
    code, told = answer(cli, play, "route-task")
    assert (code, told["error"]) == (2, "task_id_required")


def test_a_decision_is_told_in_words(play: Play, run: str, cli: Call, programs: Callable[..., None]) -> None:
    task = play.task(risk="high")
    code, out, _ = cli("task", "route", task, "-C", str(play.root))
    assert code == 0
    assert "a person must agree: the risk is high" in out
    assert "--executor human" in out
    code, out, _ = cli("task", "route", task, "--executor", "\x1b[31mred\nteam", "-C", str(play.root))
    assert code == 1
    assert "\x1b[31mred" not in out


# What is remembered.


def test_the_outcomes_of_all_runs_are_remembered_and_kept(play: Play, programs: Callable[..., None]) -> None:
    programs("codex")
    programs("aider")
    configure(play, "executors:\n  aider: {kinds: [fix]}\n")
    first = play.planned("One")
    for _ in range(2):
        done = play.task(kind="fix", run=first)
        play.complete(_claimed(play, done, "codex"), play.evidence(done))
    claim_only = play.task(kind="fix", run=first)
    uri = play.do(evidences.add_evidence, "artifact", tasks=[claim_only], uri="https://example.invalid/log")
    play.complete(_claimed(play, claim_only, "aider"), uri)
    gone = play.task(kind="fix", run=first)
    play.do(dispatches.recover_dispatch, _claimed(play, gone, "aider"), force=True, reason="away")
    second = play.planned("Two")
    task = play.task(kind="fix", run=second)
    view = play.ledger.view()
    told = sorted((one.executor, one.good, one.weight) for one in routes.recorded(view, first, view.policy()))
    assert told == [
        ("aider", False, 1.0), ("aider", True, outcomes.UNPROVEN), ("codex", True, 0.9), ("codex", True, 0.9),
    ]  # fmt: skip
    assert {one.kind for one in routes.recorded(view, first, view.policy())} == {"fix"}
    assert cache.read(view.git, f"{first}.outcomes", str(view.tree_key(first))) is not None
    again = sorted((one.executor, one.good, one.weight) for one in routes.recorded(view, first, view.policy()))
    assert again == told
    assert routes.route(view, task).decision["selected_executor"] == "codex"


def _claimed(play: Play, task: str, executor: str) -> str:
    return str(play.do(dispatches.claim_dispatch, play.dispatch(task, executor)))


def test_a_rejected_completion_is_a_failure_and_a_reopened_one_says_nothing(play: Play) -> None:
    task = play.planned_task(kind="fix")
    uri = play.do(evidences.add_evidence, "artifact", tasks=[task], uri="https://example.invalid/log")
    play.complete(_claimed(play, task, "codex"), uri)
    play.do(tasks.reopen_task, task, reason="the goal changed")
    play.complete(_claimed(play, task, "aider"), uri)
    play.do(verifying.verify_task, task)
    assert play.status(task) == "rejected"
    assert [one.how for one in routes.attempts(play.state(task), task)] == ["reopened", "rejected"]
    view = play.ledger.view()
    run = view.find(task, "task")[1]
    assert [(one.executor, one.good) for one in routes.recorded(view, run, view.policy())] == [("aider", False)]


def test_a_verdict_on_the_chosen_candidate_is_none_on_the_others(play: Play, run: str) -> None:
    task = play.task(kind="fix", attempts=3)
    before = git(play.root, "rev-parse", "HEAD")
    (play.root / "app.py").write_text("answer = 43\n")
    diff = f"{before}..{play.commit_all()}"
    opened = [play.dispatch(task, executor, candidate=True) for executor in ("codex", "aider", "human")]
    proofs = [play.evidence(task) for _ in opened]
    for dispatch, proof in zip(opened, proofs, strict=True):
        play.do(dispatches.claim_dispatch, dispatch)
        play.do(evidences.add_evidence, "diff", diff=diff, dispatch=dispatch)
        play.complete(dispatch, proof)
    play.do(selections.select_candidate, task, dispatch=opened[1], reason="It is the clearest.")
    play.do(evidences.retract, proofs[1], reason="it ran elsewhere")
    play.do(verifying.verify_task, task)

    def ended() -> list[str]:
        return [one.how for one in routes.attempts(play.state(task), task)]

    assert (play.status(task), ended()) == ("rejected", ["completed", "rejected", "completed"])
    view = play.ledger.view()
    told = {one.executor: one.good for one in routes.recorded(view, view.find(task, "task")[1], view.policy())}
    assert told == {"codex": True, "aider": False, "human": True}
    assert routes.next_of(play.state(task), task)["budget"]["lost"] == 1
    play.do(tasks.reopen_task, task, reason="again")
    assert ended() == ["reopened", "rejected", "reopened"]


def test_evidence_that_is_retracted_takes_the_merit_with_it(play: Play, run: str) -> None:
    task = play.task()
    proof = play.evidence(task)
    play.complete(_claimed(play, task, "codex"), proof)
    play.do(evidences.retract, proof, reason="it ran elsewhere")
    view = play.ledger.view()
    assert [one.weight for one in routes.recorded(view, run, view.policy())] == [outcomes.UNPROVEN]


def test_a_withdrawn_dispatch_is_no_attempt(play: Play, run: str) -> None:
    task = play.task()
    _claimed(play, task, "codex")
    play.do(tasks.block_task, task, reason="wait")
    assert [one.how for one in routes.attempts(play.state(task), task)] == ["withdrawn"]


def test_failures_on_the_files_of_a_task_raise_its_risk(play: Play, cli: Call, programs: Callable[..., None]) -> None:
    programs("codex")
    play.planned()
    for _ in range(3):
        fails(play, play.task(files=["app.py"]))
    code, told = answer(cli, play, "task", "route", play.task(files=["app.py"]))
    assert code == 0
    assert (told["decision"]["risk"], told["decision"]["selected_executor"]) == ("high", "human")


# Budgets.


def test_a_task_is_not_handed_out_beyond_its_budget_without_a_reason(play: Play, run: str, cli: Call) -> None:
    task = play.task(attempts=2)
    fails(play, task)
    fails(play, task)
    with pytest.raises(BudgetExceeded) as refused:
        play.dispatch(task)
    assert refused.value.token == "budget_exceeded"
    code, told = answer(cli, play, "dispatch", "create", task, "--executor", "ann", "--over-budget", "it is urgent")
    assert code == 0
    opened = play.state(task).opened(told["dispatch_id"])
    assert opened
    assert opened.get("over_budget") == "it is urgent"


def test_a_reason_that_is_not_needed_is_not_recorded(play: Play, run: str) -> None:
    task = play.task()
    name = play.dispatch(task, over_budget="to be sure")
    opened = play.state(task).opened(name)
    assert opened
    assert "over_budget" not in opened.data


def test_policys_budget_holds_where_a_task_has_none(play: Play) -> None:
    configure(play, "policy:\n  budget: {attempts: 9, cost: 5}\nexecutors:\n  codex: {cost: 2}\n")
    task = play.planned_task()
    fails(play, task)
    fails(play, task)
    with pytest.raises(BudgetExceeded, match="attempts cost 4, another one costs 2, and 5 is allowed"):
        play.dispatch(task, "codex")
    play.dispatch(task, "ann")


def test_a_recovered_dispatch_is_not_requeued_beyond_the_budget(play: Play, run: str) -> None:
    task = play.task(attempts=1)
    name = _claimed(play, task, "codex")
    with pytest.raises(BudgetExceeded):
        play.do(dispatches.recover_dispatch, name, force=True, reason="away", requeue=True)
    play.do(dispatches.recover_dispatch, name, force=True, reason="away")
    assert play.status(task) == "pending"


def test_a_task_shows_what_is_next(play: Play, run: str, cli: Call) -> None:
    task = play.task(attempts=2)
    assert answer(cli, play, "task", "show", task)[1]["step"]["action"] == "first"
    fails(play, task, category="tests")
    shown = answer(cli, play, "task", "show", task)[1]
    assert shown["step"]["action"] == "repair"
    assert shown["step"]["budget"] == {"attempts": 2, "lost": 1, "cost": None, "spent": 1.0, "exceeded": None}
    assert shown["dispatches"][0]["category"] == "tests"
    fails(play, task, category="tests")
    assert answer(cli, play, "task", "show", task)[1]["step"]["action"] == "escalate"


def test_a_category_that_there_is_not_is_refused(play: Play, run: str, cli: Call) -> None:
    name = play.claimed(play.task())
    with pytest.raises(dispatches.CategoryInvalid) as refused:
        play.do(dispatches.fail_dispatch, name, reason="no", category="fate")
    assert refused.value.token == "category_invalid"
    code, told = answer(cli, play, "dispatch", "fail", name, "--reason", "no", "--category", "fate")
    assert (code, told["error"]) == (2, "usage")


def test_a_spent_task_is_escalated_to_a_person(play: Play, cli: Call, programs: Callable[..., None]) -> None:
    programs("codex")
    task = play.planned_task(attempts=1)
    fails(play, task)
    _, told = answer(cli, play, "task", "route", task)
    assert told["decision"]["selected_executor"] == "human"
    assert "--executor human --over-budget WHY" in cli("task", "route", task, "-C", str(play.root))[1]
    assert told["decision"]["step"]["action"] == "escalate"
    assert told["decision"]["approval_because"] == ["the task is escalated: 1 of 1 attempts came to nothing"]


def test_a_blocked_task_is_to_be_reopened_first(play: Play, run: str, cli: Call) -> None:
    task = play.task()
    play.do(dispatches.fail_dispatch, play.dispatch(task), reason="nobody came")
    assert answer(cli, play, "task", "route", task, "--no-health")[1]["task_status"] == "blocked"
    assert f"memento task reopen {task[:6]}" in cli("task", "route", task, "--no-health", "-C", str(play.root))[1]


def test_an_old_revision_is_routed_as_it_was(play: Play, cli: Call, programs: Callable[..., None]) -> None:
    play.do(plans.approve_plan, play.do(plans.draft_plan, "Plan", "Do it.", run=play.run()))
    task = play.task()
    before = git(play.root, "rev-parse", "HEAD")
    fails(play, task, "human", "unclear")
    assert answer(cli, play, "task", "route", task, "--at", before)[1]["decision"]["step"]["action"] == "first"
    assert answer(cli, play, "task", "route", task)[1]["decision"]["step"]["action"] == "escalate"
    assert answer(cli, play, "task", "route", task, "--at", before, "--record")[0] == 2
