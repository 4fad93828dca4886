"""Every command of the lifecycle ledger does its work here, under its own name, with its own options."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from memento_git.cli.seed_names import NAMES
from memento_git.ledger.store import Ledger
from memento_git.work.actions import dispatches
from tests.play import git
from tests.seed import Seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call

STORIES: Final[dict[str, Callable[[Seed], None]]] = {}


def row(story: Callable[[Seed], None]) -> Callable[[Seed], None]:
    """Enter a story under the command that it is about."""
    STORIES[story.__name__.replace("_", "-")] = story
    return story


def claimed(seed: Seed) -> tuple[str, str, str]:
    """Return a run, a task and its claimed dispatch."""
    run = seed.planned()
    task = seed.task(run)
    dispatch = seed.dispatch(run, task)
    seed("claim-dispatch", "--dispatch-id", dispatch, "--executor", "hermes-profile")
    return run, task, dispatch


def completed(seed: Seed) -> tuple[str, str]:
    run, task, dispatch = claimed(seed)
    uri = "file://verification/task.log"
    seed("complete-dispatch", "--dispatch-id", dispatch, "--executor", "hermes-profile", "--evidence-uri", uri)
    return run, task


@row
def init(seed: Seed) -> None:
    assert seed("init")["state"] == {"backend": "git", "path": ".memento"}


@row
def doctor(seed: Seed) -> None:
    assert all(check["status"] in ("ok", "warn") for check in seed("doctor")["checks"])


@row
def sample_smoke(seed: Seed) -> None:
    steps = json.loads(seed.cli("sample-smoke", "--workspace", f"{seed.workspace}-sample", "--json")[1])
    assert steps["complete"]["ok"]


@row
def start(seed: Seed) -> None:
    made = seed("start", "--goal", "Ship it", "--allow-spike", "--actor", "founder")["run"]
    assert (made["goal"], made["spike"], made["actor"], made["status"]) == ("Ship it", True, "founder", "active")


@row
def plan(seed: Seed) -> None:
    made = seed("plan", "--run-id", seed.run(), "--title", "T", "--body", "B")["plan"]
    assert (made["status"], made["title"], made["body"]) == ("draft", "T", "B")


@row
def approve_plan(seed: Seed) -> None:
    run = seed.planned()
    held = seed("status", "--run-id", run)
    assert [one["status"] for one in held["plans"]] == ["canonical"]
    assert "plan.approved" in [one["action"] for one in held["audit"]]


@row
def pause(seed: Seed) -> None:
    told = seed("pause", "--run-id", seed.run(), "--reason", "Lunch.")
    assert (told["command"], told["run"]["status"]) == ("paused", "paused")


@row
def resume(seed: Seed) -> None:
    run = seed.run()
    seed("pause", "--run-id", run)
    assert seed("resume", "--run-id", run)["run"]["status"] == "active"


@row
def cancel(seed: Seed) -> None:
    told = seed("cancel", "--run-id", seed.run(), "--reason", "Not wanted.")
    assert (told["command"], told["run"]["status"]) == ("cancelled", "cancelled")


@row
def status(seed: Seed) -> None:
    assert {"state", "run", "plans", "tasks", "gates", "evidence", "audit"} <= set(
        seed("status", "--run-id", seed.run())
    )


@row
def report(seed: Seed) -> None:
    told = seed("report", "--run-id", seed.run())
    assert "Ship the next verified slice" in told["text"]
    assert told["generated_at"]


@row
def enqueue_event(seed: Seed) -> None:
    told = seed(
        "enqueue-event", "--run-id", seed.run(), "--title", "T", "--body", "B", "--acceptance-criteria", "It works",
        "--relevant-files", "app.py", "--kind", "fix", "--risk", "low", "--role", "author",
    )  # fmt: skip
    assert (told["dispatched"], told["executor_invoked"]) == (False, False)
    task = told["task"]
    assert (task["acceptance_criteria"], task["relevant_files"], task["kind"]) == (["It works"], ["app.py"], "fix")
    assert task["status"] == "pending"


@row
def worker_payload(seed: Seed) -> None:
    run = seed.planned()
    payload = seed("worker-payload", "--run-id", run, "--task-id", seed.task(run))["payload"]
    assert {
        "goal", "repo_path", "task_id", "task_title", "acceptance_criteria", "safety_constraints", "reporting_contract",
        "verification_policy", "hidden_context_policy", "role", "relevant_files",
    } <= set(payload)  # fmt: skip


@row
def route_task(seed: Seed) -> None:
    run = seed.planned()
    told = seed("route-task", "--task-id", seed.task(run))
    assert (told["decision"]["auto_dispatch"], told["evidence"]["trust_level"]) == (False, "advisory")
    assert {
        "selected_executor", "fallback_chain", "rejected_executors", "reasons", "risk_adjustments",
        "requires_user_approval", "context_profile", "user_override",
    } <= set(told["decision"])  # fmt: skip
    assert seed("list-dispatches", "--run-id", run)["dispatches"] == []
    assert seed.refusal("route-task", "--task-id", "task_7k2m9p4x1c0d") == (1, "task_not_found")


@row
def dispatch_task(seed: Seed) -> None:
    run = seed.planned()
    told = seed("dispatch-task", "--run-id", run, "--task-id", seed.task(run), "--executor", "codex", "--reason", "R")
    assert (told["status"], told["executor"], told["executor_invoked"]) == ("queued", "codex", False)


@row
def list_dispatches(seed: Seed) -> None:
    run, task, dispatch = claimed(seed)
    (listed,) = seed("list-dispatches", "--run-id", run)["dispatches"]
    assert (listed["dispatch_id"], listed["task_id"], listed["status"]) == (dispatch, task, "claimed")


@row
def claim_dispatch(seed: Seed) -> None:
    run, task, _ = claimed(seed)
    assert [one["status"] for one in seed("status", "--run-id", run)["tasks"]] == ["in_progress"], task


@row
def complete_dispatch(seed: Seed) -> None:
    run, _ = completed(seed)
    held = seed("status", "--run-id", run)
    assert [one["status"] for one in held["tasks"]] == ["completed"]
    assert [one["action"] for one in held["audit"]][-3:] == ["task.dispatched", "task.claimed", "task.completed"]


@row
def fail_dispatch(seed: Seed) -> None:
    run, _, dispatch = claimed(seed)
    told = seed("fail-dispatch", "--dispatch-id", dispatch, "--executor", "hermes-profile", "--reason", "No.")
    assert told["status"] == "failed"
    assert seed("status", "--run-id", run)["tasks"][0]["status"] == "blocked"


@row
def review(seed: Seed) -> None:
    told = seed("review", "--run-id", seed.run(), "--status", "passed", "--summary", "Good.")["gate"]
    assert (told["kind"], told["status"], told["summary"]) == ("quality_review", "passed", "Good.")
    assert seed("review", "--run-id", seed.run(), "--status", "pending")["gate"]["status"] == "pending"


@row
def verify_task(seed: Seed) -> None:
    run, task, dispatch = claimed(seed)
    shown = seed.cli(
        "evidence", "run", "-C", seed.workspace, "--json", "--task", task, "--", sys.executable, "-c", "print(1)"
    )
    evidence = json.loads(shown[1])["evidence"]["id"]
    seed("dispatch", "complete", dispatch, "--evidence", evidence, "--actor", "hermes-profile")
    told = seed("verify-task", "--run-id", run, "--task-id", task)
    assert (told["verdict"], told["accepted"], told["failed_requirements"]) == ("accepted", True, [])
    _, unproven = completed(seed)
    assert seed.refusal("verify-task", "--task-id", unproven) == (1, "task_rejected")


@row
def context_bundle(seed: Seed) -> None:
    run = seed.planned()
    task = seed.task(run)
    first = seed("context-bundle", "--run-id", run, "--task-id", task)["bundle"]
    assert first["bundle_hash"] == seed("context-bundle", "--task-id", task)["bundle"]["bundle_hash"]
    assert first["id"] == f"bundle_{first['bundle_hash'][:12]}"


@row
def record_external_check(seed: Seed) -> None:
    told = seed(
        "record-external-check", "--run-id", seed.run(), "--provider", "github", "--external-run-id", "7",
        "--status", "completed", "--conclusion", "success", "--url", "https://ci.example.invalid/7",
    )["evidence"]  # fmt: skip
    assert (told["kind"], told["outcome"], told["trust_level"]) == ("ci", "passed", "reported")
    assert seed.refusal("record-external-check", "--conclusion", "success") == (2, "provider_required")


@row
def record_approval(seed: Seed) -> None:
    run = seed.run()
    assert seed.refusal("record-approval", "--run-id", run) == (2, "response_required")
    asked = ("record-approval", "--run-id", run, "--scope-kind", "run", "--prompt", "May it go out?")
    told = seed(*asked, "--actor", "founder", "--response", "Approved.")
    assert (told["approved"], told["evidence"]["actor"], told["evidence"]["approves"]) == (True, "founder", run)
    assert seed(*asked, "--actor", "other", "--response", "I do not approve this yet")["approved"] is False
    assert seed(*asked, "--actor", "third", "--scope-id", run, "--response", "승인")["approved"] is True


@row
def release_gate(seed: Seed) -> None:
    run = seed.planned()
    code, out, _ = seed.cli(
        "release-gate", "--run-id", run, "--required-check", "github", "--required-approvals", "1", "--workspace",
        seed.workspace, "--json",
    )  # fmt: skip
    told = json.loads(out)
    assert (code, told["error"]) == (1, "release_refused")
    assert (told["missing_checks"], told["missing_approvals"], told["approval_count"]) == (["github"], 1, 0)


@row
def select_patch(seed: Seed) -> None:
    run = seed.planned()
    task = seed.task(run)
    (Path(seed.workspace) / "app.py").write_text("answer = 43\n")
    git(Path(seed.workspace), "commit", "-qam", "another answer")
    code = git(Path(seed.workspace), "rev-parse", "HEAD")
    handed = seed("dispatch", "create", task, "--executor", "a", "--candidate")["dispatch_id"]
    seed("claim-dispatch", "--dispatch-id", handed, "--executor", "a")
    shown = seed.cli(
        "evidence", "run", "-C", seed.workspace, "--json", "--task", task, "--dispatch", handed, "--", sys.executable,
        "-c", "print(1)",
    )  # fmt: skip
    evidence = json.loads(shown[1])["evidence"]["id"]
    seed("evidence", "add", "--diff", f"{code}~1..{code}", "--task", task, "--dispatch", handed)
    seed("dispatch", "complete", handed, "--evidence", evidence, "--actor", "a")
    candidate = json.dumps({"dispatch_id": handed, "verification_passed": True})
    told = seed("select-patch", "--run-id", run, "--task-id", task, "--candidate-json", candidate)["decision"]
    assert (told["selected_dispatch_id"], told["auto_merge_allowed"]) == (handed, False)
    ghost = json.dumps({"dispatch_id": "dispatch_000000000000", "verification_passed": True})
    assert seed.refusal("select-patch", "--task-id", task, "--candidate-json", ghost)[0] == 1


@row
def recover_jobs(seed: Seed) -> None:
    run, _, dispatch = claimed(seed)
    assert seed("recover-jobs", "--run-id", run, "--requeue")["job_count"] == 0, "a claim that holds is left alone"
    with Ledger.open(seed.workspace, actor="hermes-profile") as ledger:
        ledger.change("renew", lambda tx: dispatches.renew_dispatch(tx, dispatch, lease=1, force=True))
    time.sleep(1.1)
    told = seed("recover-jobs", "--run-id", run, "--requeue")
    assert told["job_count"] == 1
    handed = {one["dispatch_id"]: one for one in seed("list-dispatches", "--run-id", run)["dispatches"]}
    assert handed.pop(dispatch)["status"] == "recovered"
    (again,) = handed.values()
    assert (again["status"], again["recovery_of"]) == ("queued", dispatch)


@row
def memory_writeback(seed: Seed) -> None:
    lesson = "The build requires a clean checkout before packaging."
    kept = seed("memory-writeback", "--run-id", seed.run(), "--lesson", lesson)["evidence"]
    assert (kept["kind"], kept["summary"], kept["trust_level"]) == ("memory", lesson, "advisory")
    assert seed.refusal("memory-writeback", "--lesson", "Too short") == (1, "lesson_volatile")


@row
def memory_prefetch(seed: Seed) -> None:
    memory_writeback(seed)
    (found,) = seed("memory-prefetch", "--query", "clean packaging")["evidence"]
    assert found["kind"] == "memory"
    assert seed("memory-prefetch", "--query", "unheard of")["evidence"] == []


@row
def graph_status(seed: Seed) -> None:
    assert set(seed("graph-status")["graphify"]) == {"installed", "command", "state", "graph_json"}


@row
def graph_update(seed: Seed) -> None:
    run = seed.planned()
    assert seed("graph-update", "--run-id", run)["evidence"]["kind"] == "graph"
    assert seed.refusal("graph-update") == (2, "run_id_required")


@row
def record_graph_diff(seed: Seed) -> None:
    run = seed.planned()
    before = '{"god_nodes": ["core"], "cross_community_edges": 2, "modularity": 0.7}'
    after = '{"god_nodes": ["core", "api"], "cross_community_edges": 5, "modularity": 0.4}'
    sides = ("--before-graph-json", before, "--after-graph-json", after)
    told = seed("record-graph-diff", "--run-id", run, *sides)
    assert len(told["diff"]["warnings"]) == 3
    assert told["evidence"]["kind"] == "graph"
    assert {"warnings", "risk", "blocking", "advisory", "before", "after"} <= set(told["diff"])
    assert seed.refusal("record-graph-diff", "--run-id", run) == (2, "graph_snapshots_required")
    broken = ("--before-graph-json", "{", "--after-graph-json", "{")
    assert seed.refusal("record-graph-diff", "--run-id", run, *broken) == (2, "graph_snapshot_invalid")


@row
def update(seed: Seed) -> None:
    assert seed.refusal("update") == (1, "installed_from_checkout")


@pytest.mark.parametrize("name", NAMES)
def test_a_command_of_the_seed_does_its_work(seed: Seed, name: str) -> None:
    STORIES[name](seed)


def test_every_story_is_about_a_command() -> None:
    assert set(STORIES) == set(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("sample-smoke", "update")])
def test_a_command_of_the_seed_is_refused_where_there_is_no_repository(cli: Call, tmp_path: Path, name: str) -> None:
    needed: dict[str, Any] = {
        "plan": ("--title", "T", "--body", "B"),
        "start": ("--goal", "G"),
        "enqueue-event": ("--run-id", "run_0", "--title", "T"),
        "approve-plan": ("--plan-id", "plan_0"),
        "graph-update": ("--run-id", "run_0"),
        "record-graph-diff": ("--run-id", "run_0", "--before-graph-json", "{}", "--after-graph-json", "{}"),
    }
    ids = ("--task-id", "task_0", "--dispatch-id", "dispatch_0")
    options = needed.get(name, ids if name in NAMES[6:] else ())
    mistyped = tmp_path / "mistyped"
    code, out, err = cli(name, *options, "--workspace", str(mistyped), "--json")
    assert code in (1, 2), out
    assert json.loads(out)["ok"] is False
    assert "Traceback" not in err
    assert not mistyped.exists()


def test_a_clone_writes_into_itself_from_any_folder(
    seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = seed.planned()
    task = seed.task(run)
    git(tmp_path, "clone", "-q", seed.workspace, "theirs")
    before = git(Path(seed.workspace), "rev-parse", "HEAD")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    clone = Seed(seed.cli, "../theirs")
    dispatch = clone.dispatch(run, task)
    assert clone("claim-dispatch", "--dispatch-id", dispatch, "--executor", "alice")["claimed_by"] == "alice"
    assert git(Path(seed.workspace), "rev-parse", "HEAD") == before
    assert list(elsewhere.iterdir()) == []
    assert seed("list-dispatches", "--run-id", run)["dispatches"] == []


def test_a_spike_hands_out_within_its_limit(seed: Seed) -> None:
    run = seed.run("--allow-spike")
    for _ in range(3):
        seed.dispatch(run, seed.task(run))
    assert seed.refusal("dispatch-task", "--task-id", seed.task(run)) == (1, "spike_limit")


def test_a_verdict_that_says_no_exits_with_1(seed: Seed) -> None:
    run, task = completed(seed)
    assert seed.refusal("verify-task", "--task-id", task) == (1, "task_rejected")
    assert seed.refusal("release-gate", "--run-id", run) == (1, "release_refused")
    assert seed.refusal("memory-writeback", "--run-id", run, "--lesson", "Too short") == (1, "lesson_volatile")
    assert seed.refusal("select-patch", "--task-id", task) == (1, "no_candidate")
