"""Cheats with events: renamed, copied, back-dated, inserted, voided, redacted, rewritten with all that names them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from memento_git import MementoError
from memento_git.ledger import codec, layout
from memento_git.verbs import batch
from memento_git.work.actions import tasks
from tests.cheats.forging import MAIN, Forge, rewritten
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.forging import Cli
    from tests.play import Play


@pytest.fixture
def forge(play: Play, cli: Cli) -> Forge:
    play.planned()
    return Forge(play, cli)


def test_a_task_moved_to_another_run_is_found_as_removed(forge: Forge) -> None:
    """Way: a task that failed there is carried, with all its files, to a run whose gates have passed."""
    play = forge.play
    run = play.state(play.proven("One")).id
    other = play.run("Another")
    forge.landed()
    task = play.state(run).tasks()[0]
    old, new = (f"{layout.folder_of(one, task)}" for one in (run, other))
    (forge.root / new).parent.mkdir(parents=True)
    shutil.move(forge.root / old, forge.root / new)
    play.commit_all("moved")
    told = forge.caught("D002", "D006", "E002")
    assert f"the text of {task} was in the ledger at the base" in told
    assert not play.is_proven(task)


def test_a_record_renamed_in_name_and_content_is_found_as_removed(forge: Forge) -> None:
    """Way: file names, ids and all that names them get new letters, so that nothing looks changed in itself."""
    play = forge.play
    task = play.proven("One")
    run = play.state(task).id
    forge.landed()
    fresh = "task_" + task[5] + "0" * 11
    for path in sorted((forge.root / layout.RUNS).rglob("*"), reverse=True):
        if path.is_file() and task in path.read_text():
            path.write_text(path.read_text().replace(task, fresh))
    shutil.move(forge.root / layout.folder_of(run, task), forge.root / layout.folder_of(run, fresh))
    play.commit_all("renamed")
    told = forge.caught("D002", "D003", "D006", "E003")
    assert f"the text of {task} was in the ledger at the base" in told


def test_a_proven_task_copied_to_another_run_is_found_as_a_copy(forge: Forge) -> None:
    """Way: a run is filled with the proof of another run's task, under the same ids."""
    play = forge.play
    task = play.proven("One")
    run, other = play.state(task).id, play.run("Another")
    forge.landed()
    folder = forge.root / layout.RUNS
    for source in ("tasks", "evidence"):
        shutil.copytree(folder / run / source, folder / other / source)
    play.commit_all("copied")
    assert f"{task} is in" in forge.caught("F008")


def test_a_verdict_dated_back_does_not_come_before_a_failure(forge: Forge) -> None:
    """Way: a pass that is dated after the failure, and one dated before it, both without having seen it."""
    play = forge.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "failed", reason="No.")
    forge.landed()
    failed = forge.last(run, "failed")
    for at in ("2020-01-01T00:00:00.000Z", "2029-01-01T00:00:00.000Z"):
        forge.event(run, "passed", sees=[], at=at, gate="quality_review")
    assert forge.gate(run, "quality_review") == "failed"
    assert play.state(run).event(failed) is not None
    forge.warned("T004")
    with pytest.raises(MementoError) as caught:
        play.dispatch(play.state(run).tasks()[0])
    assert caught.value.token == "review_gate_blocking"


def test_an_event_that_claims_to_be_seen_by_a_later_one_changes_that_one(forge: Forge) -> None:
    """Way: a pass is inserted before a failure, by naming it in the failure's own `after`."""
    play = forge.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "failed", reason="No.")
    forge.landed()
    failed = forge.last(run, "failed")
    path = forge.path(failed)
    text = (forge.root / path).read_text()
    passed, data = forge.drafted(run, "passed", sees=[], at="2020-01-01T00:00:00.000Z", gate="quality_review")
    forge.write(passed, data)
    ref = f"event_{passed[-17:-5]}@{codec.digest_of(data)}"
    forge.write(path, text.replace("after: []", f"after: [{ref}]").replace("do: failed", "do: passed"))
    assert failed in forge.caught("D001")


def test_a_completion_that_skips_a_failed_verdict_does_not_lift_it(forge: Forge) -> None:
    """Way: the completion names the events before the failure, as if it had been written first."""
    play = forge.play
    task = play.task("One")
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    before = forge.last(task, "claimed")
    play.gate("implementation_review", "failed", task=task, reason="No.")
    forge.landed()
    forge.event(task, "completed", sees=[before], **forge.completion(task, evidence, dispatch=dispatch))
    assert forge.gate(task, "implementation_review") == "failed"
    assert "its gate implementation_review has failed" in forge.caught("T006")
    forge.refused("review_gate_blocking", "run", "complete")
    assert not play.state(task).is_done(task, play.state(task).view.policy())


def test_a_completion_that_skips_a_block_is_contested(forge: Forge) -> None:
    """Way: the same with a task that somebody blocked."""
    play = forge.play
    task = play.task("One")
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    before = forge.last(task, "claimed")
    play.do(tasks.block_task, task, reason="Wait.")
    forge.landed()
    forge.event(task, "completed", sees=[before], **forge.completion(task, evidence, dispatch=dispatch))
    assert play.status(task) == "contested"
    assert "is contested on status" in forge.caught("T001")


def test_a_run_completed_by_hand_without_its_tasks_is_found(forge: Forge) -> None:
    """Way: the completion of the run names no task, so that no rule sees that one is open."""
    play = forge.play
    play.proven("One")
    open_ = play.task("Two")
    run = play.state(open_).id
    forge.landed()
    forge.event(run, "completed", sees=[])
    assert play.status(run) == "completed"
    assert f"{open_} is pending" in forge.caught("P004")


def test_a_run_completed_by_hand_past_a_failed_gate_is_found(forge: Forge) -> None:
    """Way: the completion of the run does not name its failed gate."""
    play = forge.play
    run = play.state(play.proven("One")).id
    play.gate("quality_review", "failed", reason="No.")
    forge.landed()
    forge.event(run, "completed", sees=[])
    assert "gate quality_review has failed" in forge.caught("P004")


@pytest.mark.parametrize("landed", [True, False])
def test_a_forged_void_of_a_failure_is_found(forge: Forge, *, landed: bool) -> None:
    """Way: a void that names a failure as if what it follows had been absent, which takes a legal verdict out."""
    play = forge.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "passed")
    play.gate("quality_review", "failed", reason="No.")
    if landed:
        forge.landed()
    failed = forge.last(run, "failed")
    forge.refused("event_is_legal", "settle", "--void", failed, "--reason", "I want to.")
    event = play.state(run).event(failed)
    assert event is not None
    absent = [str(ref) for ref in event.after]
    forge.event(run, "voided", sees=[], target=failed, absent=absent, reason="It was not there.")
    assert forge.gate(run, "quality_review") == "passed"
    assert failed in forge.caught("D009" if landed else "T007")


def test_a_redaction_that_rewrites_what_it_keeps_is_found(forge: Forge) -> None:
    """Way: a failed verdict is redacted, and what is kept of it says that it passed."""
    play = forge.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "failed", reason="No.")
    forge.landed()
    failed = forge.last(run, "failed")
    event = play.state(run).event(failed)
    assert event is not None
    kept = {**{key: value for key, value in event.data.items() if key != "reason"}, "do": "passed", "after": []}
    path = forge.path(failed)
    forge.event(run, "redacted", target=str(event.ref), kept=kept, reason="A name.")
    forge.remove(path)
    assert forge.gate(run, "quality_review") == "passed"
    assert failed in forge.caught("D009")
    forge.landed()
    git(forge.root, "branch", "-qf", MAIN, f"{MAIN}~3")
    assert failed in forge.caught("D010", but="squash")


def test_a_redaction_that_keeps_nothing_of_a_verdict_is_found(forge: Forge) -> None:
    """Way: the same, with nothing kept, so that the verdict never was."""
    play = forge.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "failed", reason="No.")
    forge.landed()
    failed = forge.last(run, "failed")
    event = play.state(run).event(failed)
    assert event is not None
    path = forge.path(failed)
    forge.event(run, "redacted", sees=[], target=str(event.ref), reason="A name.")
    forge.remove(path)
    assert failed in forge.caught("D009")


def test_a_hand_out_without_a_plan_is_found(forge: Forge) -> None:
    """Way: the hand-out says that it is a spike's, in a run that is none, so that no plan is asked."""
    play = forge.play
    run = play.run("No plan")
    task = play.task("One", run=run)
    forge.landed()
    forge.refused("canonical_plan_required", "dispatch", "create", task, "--executor", "agent")
    event = forge.event(task, "dispatched", executor="agent", spike=True)
    dispatch = event.replace("event", "dispatch")
    play.do(batch.ACTIONS["dispatch claim"], dispatch)
    play.complete(dispatch, play.evidence(task))
    assert play.is_proven(task)
    assert "which is no spike" in forge.caught("P006")


def test_evidence_swapped_after_the_completion_is_found(forge: Forge) -> None:
    """Way: what failed is overwritten with what passed, kept output and all."""
    play = forge.play
    task = play.task("One")
    claim = play.claimed(task)
    bad = play.evidence(task, code=1)
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    forge.landed()
    path = forge.path(bad)
    text = (forge.root / path).read_text()
    forge.write(path, text.replace("exit: 1", "exit: 0").replace("outcome: failed", "outcome: passed"))
    assert bad in forge.caught("D003", "L003")
    forge.unproven(task, "is not the file that was cited")


def test_a_chain_rewritten_as_a_whole_is_found_against_the_base(forge: Forge) -> None:
    """Way: the same, with every digest that names it, and every one that names those, computed anew."""
    play = forge.play
    task = play.task("One")
    claim = play.claimed(task)
    bad = play.evidence(task, code=1)
    forge.event(task, "completed", **forge.completion(task, bad, dispatch=claim))
    run = play.state(task).id
    forge.landed()

    def better(data: bytes) -> bytes:
        return data.replace(b"exit: 1", b"exit: 0").replace(b"outcome: failed", b"outcome: passed")

    rewritten(forge.root, run, {forge.path(bad): better})
    play.commit_all("rewritten")
    assert play.is_proven(task)
    code, found = forge.check("--no-base")
    assert (code, [row for row in found if row["severity"] == "error"]) == (0, [])
    told = forge.caught("D001", "D003")
    assert bad in told
    assert forge.last(task, "completed") in told


def test_a_claim_completed_in_its_holders_name_is_told_by_the_commits_author(forge: Forge) -> None:
    """Way: `by` is typed: somebody completes what another holds. Names are not identities; who committed is told."""
    play = forge.play
    task = play.task("One")
    bob = play.as_("Bob")
    dispatch = bob.claimed(task)
    evidence = bob.evidence(task)
    forge.landed()
    keys = forge.completion(task, evidence, dispatch=dispatch)
    forge.event(task, "completed", by="Eve", **keys)
    assert "not by Eve" in forge.caught("T002")
    assert play.status(task) == "in_progress"
    git(forge.root, "reset", "-q", "--hard", MAIN)
    forge.event(task, "completed", by="Bob", **keys)
    assert "by Bob were committed by Ada" in forge.warned("C002")
