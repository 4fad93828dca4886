"""The lifecycle ledger's own first steps run here as they were printed, and its refusals have its tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.play import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.play import Call
    from tests.seed import Seed


def test_the_first_check_runs_as_printed(cli: Call, tmp_path: Path) -> None:
    sample = str(tmp_path / "memento-sample")
    code, out, _ = cli("sample-smoke", "--workspace", sample, "--json")
    answer = json.loads(out)
    assert (code, answer["ok"]) == (0, True)
    steps = {"init", "doctor", "start", "plan", "approve_plan", "event", "dispatch", "claim", "complete", "dispatches",
             "status", "report", "sample_project"}  # fmt: skip
    assert steps <= set(answer)
    assert all(answer[step]["ok"] for step in steps)
    code, out, _ = cli("status", "--workspace", sample, "--json")
    held = json.loads(out)
    assert (code, held["ok"], held["run"]["id"]) == (0, True, answer["start"]["run"]["id"])
    assert [task["status"] for task in held["tasks"]] == ["completed"]
    code, out, _ = cli("report", "--workspace", sample)
    assert code == 0
    assert answer["start"]["run"]["goal"] in out


def test_a_folder_in_a_sample_is_no_sample(cli: Call, tmp_path: Path) -> None:
    """Its test would be run there, would find nothing to test, and prove the task by that."""
    sample = tmp_path / "memento-sample"
    assert cli("sample-smoke", "--workspace", str(sample), "--json")[0] == 0
    code, out, _ = cli("sample-smoke", "--workspace", str(sample / ".memento"), "--json")
    assert (code, json.loads(out)["error"]) == (1, "not_a_sample")
    assert cli("sample-smoke", "--workspace", str(sample), "--json")[0] == 0


def test_the_first_real_run_runs_as_printed(seed: Seed) -> None:
    run = seed("start", "--goal", "Ship the next verified slice", "--allow-spike")["run"]["id"]
    body = "Write tests, implement the slice, verify it, and record evidence."
    plan = seed("plan", "--run-id", run, "--title", "Next slice", "--body", body)["plan"]
    assert plan["status"] == "draft"
    assert seed("approve-plan", "--run-id", run, "--plan-id", plan["id"])["plan"]["status"] == "canonical"
    queued = seed(
        "enqueue-event", "--run-id", run, "--title", "Implement X", "--body", "Task details and acceptance criteria"
    )
    assert (queued["dispatched"], queued["executor_invoked"]) == (False, False)
    task = queued["task"]["id"]
    payload = seed("worker-payload", "--run-id", run, "--task-id", task)["payload"]
    assert {"goal", "repo_path", "safety_constraints", "reporting_contract", "hidden_context_policy"} <= set(payload)
    handed = seed("dispatch-task", "--run-id", run, "--task-id", task, "--executor", "hermes-profile")
    assert (handed["dispatched"], handed["executor_invoked"]) == (True, False)
    dispatch = handed["dispatch_id"]
    claimed = seed("claim-dispatch", "--dispatch-id", dispatch, "--executor", "hermes-profile")
    assert (claimed["status"], claimed["claimed_by"]) == ("claimed", "hermes-profile")
    done = seed(
        "complete-dispatch", "--dispatch-id", dispatch, "--summary", "Implemented and verified",
        "--evidence-uri", "file://verification/task.log",
    )  # fmt: skip
    assert done["evidence"]["task_id"] == task
    held = seed("status", "--run-id", run)
    assert {"state", "run", "plans", "tasks", "gates", "evidence", "audit"} <= set(held)
    assert [row["status"] for row in held["tasks"]] == ["completed"]
    code, out, _ = seed.cli("report", "--workspace", seed.workspace, "--run-id", run)
    assert code == 0
    assert "Implement X" in out


def test_a_completion_on_a_file_alone_is_shown_as_unproven(seed: Seed) -> None:
    run = seed.planned()
    dispatch = seed.dispatch(run, seed.task(run))
    seed("claim-dispatch", "--dispatch-id", dispatch, "--executor", "hermes-profile")
    done = seed(
        "complete-dispatch", "--dispatch-id", dispatch, "--evidence-uri", "file://verification/task.log",
        "--actor", "hermes-profile",
    )  # fmt: skip
    assert done["proven"] is False
    assert done["evidence"]["trust_level"] == "verified"
    assert done["evidence"]["uri"] == "file://verification/task.log"


def test_pause_resume_and_cancel_are_told_by_their_words_and_audited_in_order(seed: Seed) -> None:
    run = seed.run()
    for command, word, status in (
        ("pause", "paused", "paused"), ("resume", "resumed", "active"), ("cancel", "cancelled", "cancelled"),
    ):  # fmt: skip
        answer = seed(command, "--run-id", run, "--reason", "Because.")
        assert (answer["command"], answer["run"]["status"]) == (word, status)
    actions = [row["action"] for row in seed("status", "--run-id", run)["audit"]]
    assert actions == ["run.paused", "run.resumed", "run.cancelled"]


def test_a_queued_dispatch_is_listed_with_its_fields(seed: Seed) -> None:
    run = seed.planned()
    task = seed.task(run)
    dispatch = seed.dispatch(run, task)
    (row,) = seed("list-dispatches", "--run-id", run)["dispatches"]
    expected = {"dispatch_id": dispatch, "status": "queued", "task_id": task, "run_id": run, "claimed_by": None,
                "executor": "hermes-profile", "completed_at": None, "failed_at": None,
                "executor_invoked": False}  # fmt: skip
    assert expected.items() <= row.items()


@pytest.mark.parametrize(
    ("arguments", "token"),
    [
        (("status", "--run-id", "run_000000000000"), "run_not_found"),
        (("report",), "run_not_found"),
        (("report", "--run-id", "run_000000000000"), "run_not_found"),
        (("pause", "--run-id", "run_000000000000"), "run_not_found"),
        (("plan", "--run-id", "run_000000000000", "--title", "T", "--body", "B"), "run_not_found"),
        (("review", "--run-id", "run_000000000000", "--status", "passed"), "run_not_found"),
        (("enqueue-event", "--run-id", "run_000000000000", "--title", "T"), "run_not_found"),
        (("approve-plan", "--plan-id", "plan_000000000000"), "plan_not_found"),
        (("worker-payload", "--task-id", "task_000000000000"), "task_not_found"),
        (("dispatch-task", "--task-id", "task_000000000000", "--executor", "x"), "task_not_found"),
        (("verify-task", "--task-id", "task_000000000000"), "task_not_found"),
        (("claim-dispatch", "--dispatch-id", "dispatch_000000000000"), "dispatch_not_found"),
        (("complete-dispatch", "--dispatch-id", "dispatch_000000000000"), "dispatch_not_found"),
        (("fail-dispatch", "--dispatch-id", "dispatch_000000000000", "--reason", "R"), "dispatch_not_found"),
    ],
    ids=" ".join,
)
def test_an_unknown_id_is_refused_with_its_token(seed: Seed, arguments: tuple[str, ...], token: str) -> None:
    before = git(seed_root(seed), "rev-parse", "HEAD")
    assert seed.refusal(*arguments) == (1, token)
    assert git(seed_root(seed), "rev-parse", "HEAD") == before


def seed_root(seed: Seed) -> Path:
    from pathlib import Path

    return Path(seed.workspace)


@pytest.mark.parametrize(
    ("command", "token"),
    [
        ("start", "goal_required"),
        ("enqueue-event", "run_id_required"),
        ("worker-payload", "task_id_required"),
        ("dispatch-task", "task_id_required"),
        ("claim-dispatch", "dispatch_id_required"),
        ("approve-plan", "plan_id_required"),
    ],
)
def test_a_missing_option_is_a_usage_error_with_its_token(seed: Seed, command: str, token: str) -> None:
    assert seed.refusal(command) == (2, token)


def test_nothing_is_handed_out_without_a_canonical_plan(seed: Seed) -> None:
    run = seed.run()
    task = seed.task(run)
    assert seed.refusal("dispatch-task", "--run-id", run, "--task-id", task) == (1, "canonical_plan_required")
    assert seed("list-dispatches", "--run-id", run)["dispatches"] == []


def test_what_needs_a_reason_here_and_not_there_says_that_none_was_given(seed: Seed) -> None:
    run = seed.planned()
    dispatch = seed.dispatch(run, seed.task(run))
    assert seed("fail-dispatch", "--dispatch-id", dispatch)["status"] == "failed"
    assert seed.refusal("cancel") == (2, "run_id_required")
    assert seed("cancel", "--run-id", run)["run"]["status"] == "cancelled"
    told = [row["summary"] for row in seed("status", "--run-id", run)["audit"]]
    assert told.count("No reason was given.") == 2


def test_a_failed_review_blocks_until_a_later_one_passes(seed: Seed) -> None:
    run = seed.planned()
    task = seed.task(run)
    gate = seed("review", "--run-id", run, "--status", "failed", "--summary", "Not yet.")["gate"]
    assert (gate["kind"], gate["status"], gate["summary"]) == ("quality_review", "failed", "Not yet.")
    assert seed("status", "--run-id", run)["state"] == "blocked"
    assert seed.refusal("dispatch-task", "--task-id", task) == (1, "review_gate_blocking")
    assert seed("list-dispatches", "--run-id", run)["dispatches"] == []
    seed("review", "--run-id", run, "--status", "passed")
    seed.dispatch(run, task)


def test_a_dispatch_has_one_claimant_and_one_end(seed: Seed) -> None:
    run = seed.planned()
    dispatch = seed.dispatch(run, seed.task(run))
    complete = ("complete-dispatch", "--dispatch-id", dispatch, "--evidence-uri", "file://verification/task.log")
    assert seed.refusal(*complete) == (1, "dispatch_not_claimed")
    seed("claim-dispatch", "--dispatch-id", dispatch, "--executor", "alice")
    seed("claim-dispatch", "--dispatch-id", dispatch, "--executor", "alice")
    stolen = seed.refusal("claim-dispatch", "--dispatch-id", dispatch, "--executor", "mallory")
    assert stolen == (1, "dispatch_already_claimed")
    seed(*complete, "--actor", "alice")
    assert seed.refusal(*complete, "--actor", "alice") == (1, "dispatch_terminal")
    assert seed.refusal("complete-dispatch", "--dispatch-id", dispatch, "--actor", "alice") == (1, "dispatch_terminal")
    failed = ("fail-dispatch", "--dispatch-id", dispatch, "--reason", "R", "--actor", "alice")
    assert seed.refusal(*failed) == (1, "dispatch_terminal")


def test_completion_needs_evidence_that_is_there(seed: Seed) -> None:
    run = seed.planned()
    dispatch = seed.dispatch(run, seed.task(run))
    seed("claim-dispatch", "--dispatch-id", dispatch, "--executor", "alice")
    complete = ("complete-dispatch", "--dispatch-id", dispatch, "--actor", "alice")
    assert seed.refusal(*complete) == (1, "evidence_required")
    assert seed.refusal(*complete, "--evidence-uri", "file://gone.log") == (1, "evidence_file_missing")


def test_a_failed_dispatch_blocks_its_task(seed: Seed) -> None:
    run = seed.planned()
    task = seed.task(run)
    dispatch = seed.dispatch(run, task)
    answer = seed("fail-dispatch", "--dispatch-id", dispatch, "--reason", "No compiler here.")
    (row,) = (row for row in seed("list-dispatches")["dispatches"] if row["dispatch_id"] == dispatch)
    assert (row["completed_at"], bool(row["failed_at"])) == (None, True)
    assert answer["status"] == "failed"
    (row,) = seed("status", "--run-id", run)["tasks"]
    assert (row["status"], row["reason"]) == ("blocked", "No compiler here.")
