"""What was taken back is begun again from a bundle that the ledger keeps, and that the next hand-off names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger.codec import digest_of
from memento_git.ledger.store import Ledger
from memento_git.verbs import batch
from memento_git.work import refusals as no
from memento_git.work.actions import dispatches
from memento_git.work.actions.bundles import bundle_row
from tests.hands import config
from tests.play import git

if TYPE_CHECKING:
    from tests.play import Call, Play
    from tests.seed import Seed


@pytest.fixture
def task(play: Play, run: str) -> str:
    return play.task("Long job", criteria=["It can be begun again."], files=["app.py"])


def opened(play: Play, dispatch: str) -> dict[str, Any]:
    event = play.state(dispatch).event(dispatch.replace("dispatch", "event", 1))
    assert event is not None
    return event.data


def test_what_is_handed_out_again_names_the_bundle_that_was_made_anew(play: Play, task: str, cli: Call) -> None:
    dispatch = play.claimed(task)
    code, out, _ = cli(
        "dispatch", "recover", dispatch, "--force", "--reason", "It hangs.", "--requeue", "--json", "-C", str(play.root)
    )
    told = json.loads(out)
    assert code == 0
    data = git(play.root, "show", f"HEAD:{told['bundle']['path']}").encode() + b"\n"
    held = json.loads(data)
    assert (held["id"], held["bundle_hash"]) == (told["bundle"]["id"], told["bundle"]["hash"])
    assert opened(play, told["requeued_dispatch_id"])["brief"] == digest_of(data)
    assert (held["task_id"], held["goal"], held["plan"]["title"]) == (task, "Make it work", "Plan")
    assert held["excerpts"][0]["text"] == "answer = 42\n"
    assert [(one["ended"], one["reason"]) for one in held["attempts"]] == [("recovered", "It hangs.")]
    assert git(play.root, "status", "--short") == ""
    assert git(play.root, "log", "-1", "--format=%s").startswith("memento: dispatch recover"), "one commit"


def test_without_a_requeue_the_commands_keep_a_bundle_and_the_pool_does_not(play: Play, task: str, cli: Call) -> None:
    dispatch = play.claimed(task)
    play.do(dispatches.recover_dispatch, dispatch, force=True, reason="gone", bundle=False)
    assert bundle_row(play.state(task), dispatch) is None
    dispatch = play.claimed(task)
    listed = [{"do": "dispatch recover", "dispatch": dispatch, "force": "true", "reason": "gone"}]
    play.do(batch.apply, json.dumps(listed).encode())
    assert bundle_row(play.state(task), dispatch) is not None
    dispatch = play.claimed(task)
    at = ("--force", "--reason", "gone", "-C", str(play.root))
    assert "bundle: .memento/" in cli("dispatch", "recover", dispatch, *at)[1]
    assert bundle_row(play.state(task), dispatch) is not None


def test_another_candidate_that_is_still_open_needs_no_bundle(play: Play, task: str) -> None:
    first, second = play.dispatch(task, candidate=True), play.dispatch(task, candidate=True)
    play.do(dispatches.claim_dispatch, first)
    play.do(dispatches.recover_dispatch, first, force=True, reason="gone")
    assert bundle_row(play.state(task), first) is None
    assert play.state(task).dispatch(second).status == "queued"


def test_a_bundle_above_the_limit_is_told_and_its_digest_still_named(play: Play, task: str) -> None:
    config(play, "policy:\n  limits:\n    attach: 100")
    dispatch = play.claimed(task)
    _, successor = play.do(dispatches.recover_dispatch, dispatch, force=True, reason="gone", requeue=True)
    assert any("limits.attach" in note for note in play.ledger.warnings)
    told = opened(play, successor)["brief"]
    state = play.state(task)
    found = [one for name in state.ids("evidence") if (one := state.evidence(name))]
    assert found[-1].data["attachments"][0]["sha256"].startswith(told)
    assert bundle_row(state, dispatch) is None


def test_a_bundle_proves_nothing(play: Play, task: str) -> None:
    dispatch = play.claimed(task)
    _, successor = play.do(dispatches.recover_dispatch, dispatch, force=True, reason="gone", requeue=True)
    made = bundle_row(play.state(task), dispatch)
    assert made is not None
    play.do(dispatches.claim_dispatch, successor)
    with pytest.raises(no.EvidenceRequired):
        play.complete(successor, made["evidence_id"])


def expired(seed: Seed) -> tuple[str, str, str]:
    """Return a run, a task and its dispatch, whose claim is over."""
    run = seed.planned()
    task = seed.task(run)
    dispatch = seed.dispatch(run, task)
    with Ledger.open(seed.workspace, actor="hermes-profile", clock=lambda: 1_760_000_000.0) as ledger:
        ledger.change("claim", lambda tx: dispatches.claim_dispatch(tx, dispatch))
    return run, task, dispatch


def test_v3_recover_jobs_command_exposes_restart_plan(seed: Seed) -> None:
    run, task, _ = expired(seed)
    told = seed("recover-jobs", "--run-id", run)
    assert told["job_count"] == 1
    job = told["jobs"][0]
    assert {
        "task_id": task, "status": "pending", "recovery_mode": "regenerate_context_bundle",
        "native_session_required": False, "verification_policy": None, "requeued_dispatch_id": None,
    }.items() <= job.items()  # fmt: skip
    assert job["context_bundle_path"]
    assert seed("recover-jobs", "--run-id", run)["jobs"] == []


@pytest.mark.parametrize("requeue", [(), ("--requeue",)], ids=["taken back", "handed out again"])
def test_v3_recover_jobs_regenerates_context_bundles_evidence_and_report(seed: Seed, requeue: tuple[str, ...]) -> None:
    run, task, dispatch = expired(seed)
    (job,) = seed("recover-jobs", "--run-id", run, *requeue)["jobs"]
    assert job["evidence_id"].startswith("evidence_")
    assert job["context_bundle_path"].endswith(".json")
    held = json.loads(git(seed.workspace, "show", f"HEAD:{job['context_bundle_path']}"))  # type: ignore[arg-type]
    assert (held["task_id"], held["plan"]["title"]) == (task, "Next slice")
    assert held["bundle_hash"] == job["context_bundle_hash"]
    status = seed("status", "--run-id", run)
    assert status["evidence"][-1]["id"] == job["evidence_id"]
    assert status["evidence"][-1]["dispatch"] == dispatch
    again = [row for row in status["dispatches"] if row["recovery_of"] == dispatch]
    assert [row["dispatch_id"] for row in again] == ([job["requeued_dispatch_id"]] if requeue else [])
    assert all(row["brief"] for row in again)
    report = seed("report", "--run-id", run)
    assert "## Recovered" in report["text"]
    assert job["context_bundle_path"] in report["text"]
    assert report["recovered"] == [{
        "dispatch_id": dispatch, "task_id": task, "requeued_dispatch_id": job["requeued_dispatch_id"],
        "evidence_id": job["evidence_id"], "bundle_path": job["context_bundle_path"],
    }]  # fmt: skip
    page = seed.cli("report", "--workspace", seed.workspace, "--run-id", run, "--format", "html")[1]
    assert job["context_bundle_path"] in page
