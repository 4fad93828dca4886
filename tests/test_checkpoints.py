"""A snapshot of the code's graph after a dispatch: by policy, in the completion's own commit, once for each graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import checkpoints, dispatches
from memento_git.work.actions.running import Order, run_dispatch
from tests.hands import SHOWN, config, python
from tests.play import git

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.play import Call, Play
    from tests.seed import Seed

ALWAYS = "policy:\n  graph:\n    after_dispatch: always"


@pytest.fixture
def call(cli: Call, play: Play) -> Callable[..., Any]:
    """Run a command in the repository that must succeed; return its answer."""

    def called(*words: str) -> Any:
        code, out, _ = cli(*words, "--json", "-C", str(play.root))
        assert code == 0
        return json.loads(out)

    return called


def done(play: Play, title: str = "A task", **options: Any) -> tuple[str, checkpoints.Checkpoint | None]:
    """Do a task; return its dispatch and what its completion says of the graph."""
    task = play.task(title)
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    found: tuple[str, checkpoints.Checkpoint | None] = play.do(dispatches.complete, dispatch, [evidence], **options)
    return found


def snapshots(play: Play, run: str) -> list[str]:
    state = play.state(run)
    return [name for name in state.ids("evidence") if (one := state.evidence(name)) and one.kind == "graph"]


def code(play: Play, **files: str) -> None:
    for name, text in files.items():
        (play.root / f"{name}.py").write_text(text)
    play.commit_all()


def test_a_completion_records_the_graph_in_its_own_commit_where_policy_says_so(play: Play, run: str, call: Any) -> None:
    config(play, ALWAYS)
    code(play, a="import app\n")
    dispatch, found = done(play)
    assert found is not None
    assert found.recorded
    changed = git(play.root, "show", "--name-only", "--format=", "HEAD").splitlines()
    assert any("-completed-" in path for path in changed), "the same commit"
    assert any(path.endswith(f"{found.evidence}.yaml") for path in changed), "the same commit"
    told = play.state(run).evidence_named(found.evidence)
    assert (told.data["dispatch"], told.data["graph"]["edges"], told.tasks) == (
        dispatch, 1, [play.state(run).event(dispatch.replace("dispatch", "event", 1)).of],  # type: ignore[union-attr]
    )  # fmt: skip
    status = call("graph", "status")
    assert status["after_dispatch"] == "always"
    snapshot = status["snapshot"]
    assert (snapshot["evidence_id"], snapshot["dispatch_id"], snapshot["current"]) == (found.evidence, dispatch, True)


def test_a_run_whose_graph_is_known_is_followed_by_default_and_another_is_left_alone(
    play: Play, run: str, call: Any
) -> None:
    assert done(play, "first")[1] is None
    assert snapshots(play, run) == []
    call("graph", "update")
    code(play, a="import app\n")
    assert done(play, "second")[1] is not None
    assert len(snapshots(play, run)) == 2


def test_the_same_graph_is_recorded_once_even_of_other_code(play: Play, run: str, call: Any, cli: Call) -> None:
    config(play, ALWAYS)
    first = done(play, "first")[1]
    code(play, app="answer = 43\n")
    second = done(play, "second")[1]
    assert not [told for told in play.ledger.warnings if "graph" in told], "all is committed"
    assert first is not None
    assert first.row() == {"evidence_id": first.evidence, "recorded": True, "problem": None}
    assert second == checkpoints.Checkpoint(first.evidence)
    assert snapshots(play, run) == [first.evidence]
    snapshot = call("graph", "status")["snapshot"]
    assert (snapshot["current"], snapshot["same_graph"]) == (False, True)
    assert "of other code, with the same graph" in cli("graph", "status", "-C", str(play.root))[1]


def test_never_is_never_and_who_completes_may_ask_otherwise(play: Play, run: str, call: Any) -> None:
    config(play, "policy:\n  graph:\n    after_dispatch: never")
    call("graph", "update")
    code(play, a="import app\n")
    assert done(play, "first")[1] is None
    assert done(play, "second", graph=True)[1] is not None
    config(play, ALWAYS)
    code(play, b="import app\n")
    assert done(play, "third", graph=False)[1] is None
    assert len(snapshots(play, run)) == 2


def test_a_withdrawn_snapshot_is_no_snapshot(play: Play, run: str, call: Any) -> None:
    evidence = call("graph", "update")["evidence"]["id"]
    call("evidence", "retract", evidence, "--reason", "Wrong branch.")
    assert done(play)[1] is None
    assert len(snapshots(play, run)) == 1


def test_code_that_cannot_be_parsed_is_told_and_does_not_stop_a_completion(play: Play, run: str, cli: Call) -> None:
    config(play, ALWAYS)
    code(play, broken="def (:\n")
    task = play.task()
    dispatch, evidence = play.claimed(task), play.evidence(task)
    status, out, err = cli("dispatch", "complete", dispatch, "--evidence", evidence, "-C", str(play.root))
    assert status == 0
    assert play.is_proven(task)
    assert "graph recorded as evidence_" in out
    assert "not part of the graph: broken.py" in err


def test_a_graph_that_cannot_be_read_or_kept_is_told_and_does_not_stop_a_completion(
    play: Play, run: str, call: Any
) -> None:
    config(play, f"{ALWAYS}\n  limits:\n    attach: 10")
    task = play.task("large")
    dispatch, evidence = play.claimed(task), play.evidence(task)
    told = call("dispatch", "complete", dispatch, "--evidence", evidence)
    assert (told["proven"], told["graph"]["evidence_id"], told["graph"]["recorded"]) == (True, None, False)
    assert "limits.attach" in told["graph"]["problem"]
    config(play, ALWAYS)
    code(play, more="import app\n")
    blob = git(play.root, "rev-parse", "HEAD:more.py")
    missing = play.task("missing")
    dispatch, evidence = play.claimed(missing), play.evidence(missing)
    git(play.root, "rm", "-q", "--cached", "more.py")
    (play.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    told = call("dispatch", "complete", dispatch, "--evidence", evidence)
    assert told["status"] == "completed"
    assert any("graph" in note for note in told["warnings"])
    assert told["graph"]["problem"]
    assert snapshots(play, run) == []


def test_a_graph_of_code_that_is_not_committed_says_so(play: Play, run: str, call: Any) -> None:
    config(play, ALWAYS)
    (play.root / "app.py").write_text("import json\n")
    task = play.task()
    dispatch, evidence = play.claimed(task), play.evidence(task)
    told = call("dispatch", "complete", dispatch, "--evidence", evidence)
    assert told["graph"]["recorded"]
    assert any("what is not committed is not in it" in note for note in told["warnings"])


def test_dispatch_run_records_the_graph_of_its_own_branch(play: Play, run: str) -> None:
    config(play, ALWAYS)
    task = play.task(commands=[SHOWN])
    write = python("open('done.txt', 'w').write('x'); open('more.py', 'w').write('import app\\n')")
    outcome = run_dispatch(play.ledger, task, Order("agent", write, shown=False))
    assert outcome.status == "completed"
    (snapshot,) = snapshots(play, run)
    assert snapshot in outcome.evidence
    told = play.state(run).evidence_named(snapshot)
    assert told.data["graph"]["nodes"] == 2, "of the branch, where the work is"
    assert told.data["code"]["head"] == git(play.root, "rev-parse", outcome.branch)


def test_isolated_worktree_dispatch_metadata_and_graph_checkpoint(seed: Seed) -> None:
    run = seed.planned()
    task = seed.task(run)
    assert seed("route-task", "--task-id", task)["decision"]["auto_dispatch"] is False
    handed = seed("dispatch", "create", task, "--executor", "aider", "--worktree")
    assert handed["executor_invoked"] is False
    place = Path(handed["worktree"])
    assert git(place, "symbolic-ref", "--short", "HEAD") == handed["branch"]
    assert seed("claim-dispatch", "--dispatch-id", handed["dispatch_id"], "--executor", "aider")["ok"]
    done = seed(
        "complete-dispatch", "--dispatch-id", handed["dispatch_id"], "--executor", "aider", "--summary", "done",
        "--evidence-uri", "file://verification/task.log", "--graphify-checkpoint",
    )  # fmt: skip
    assert done["graph"]["recorded"]
    snapshot = seed("graph-status", "--run-id", run)["snapshot"]
    assert (snapshot["evidence_id"], snapshot["dispatch_id"]) == (done["graph"]["evidence_id"], handed["dispatch_id"])
    held = seed("status", "--run-id", run)
    assert "graph" in [row["kind"] for row in held["evidence"]]
