"""Cheats with events: renamed, copied, back-dated, inserted, voided, redacted, rewritten with all that names them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from memento_git.ledger import codec, layout
from memento_git.verbs import batch
from memento_git.work.actions import runs, tasks
from tests.cheats.forging import MAIN, rewritten
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors


def failing(doors: Doors) -> tuple[str, str]:
    """Land a run whose gate has failed; return the run, and the event that says so."""
    run = doors.play.state(doors.play.task("One")).id
    doors.play.gate("quality_review", "failed", reason="No.")
    doors.landed()
    return run, doors.last(run, "failed")


def test_a_task_moved_to_another_run_is_found_as_removed(doors: Doors) -> None:
    """Way: a task that failed there is carried, with all its files, to a run whose gates have passed."""
    play = doors.play
    run = play.state(play.proven("One")).id
    other = play.run("Another")
    doors.landed()
    task = play.state(run).tasks()[0]
    old, new = (f"{layout.folder_of(one, task)}" for one in (run, other))
    (doors.root / new).parent.mkdir(parents=True)
    shutil.move(doors.root / old, doors.root / new)
    play.commit_all("moved")
    told = doors.caught("D002", "D006", "E002")
    assert f"the text of {task} was in the ledger at the base" in told
    assert not play.is_proven(task)


def test_a_record_renamed_in_name_and_content_is_found_as_removed(doors: Doors) -> None:
    """Way: file names, ids and all that names them get new letters, so that nothing looks changed in itself."""
    play = doors.play
    task = play.proven("One")
    run = play.state(task).id
    doors.landed()
    fresh = "task_" + task[5] + "0" * 11
    for path in sorted((doors.root / layout.RUNS).rglob("*"), reverse=True):
        if path.is_file() and task in path.read_text():
            path.write_text(path.read_text().replace(task, fresh))
    shutil.move(doors.root / layout.folder_of(run, task), doors.root / layout.folder_of(run, fresh))
    play.commit_all("renamed")
    told = doors.caught("D002", "D003", "D006", "E003")
    assert f"the text of {task} was in the ledger at the base" in told


def test_a_proven_task_copied_to_another_run_is_found_as_a_copy(doors: Doors) -> None:
    """Way: a run is filled with the proof of another run's task, under the same ids."""
    play = doors.play
    task = play.proven("One")
    run, other = play.state(task).id, play.run("Another")
    doors.landed()
    folder = doors.root / layout.RUNS
    for source in ("tasks", "evidence"):
        shutil.copytree(folder / run / source, folder / other / source)
    play.commit_all("copied")
    assert f"{task} is in" in doors.caught("F008")


def test_a_proven_task_copied_out_of_an_archive_is_found_as_a_copy(doors: Doors) -> None:
    """Way: the files of a run that is archived by now, read from history, are those of another run."""
    play = doors.play
    task = play.proven("One")
    run, other = play.state(task).id, play.run("Another")
    play.do(runs.cancel_run, run, reason="Over.")
    kept = doors.root.parent / "kept"
    shutil.copytree(doors.root / layout.RUNS / run, kept)
    play.do(runs.archive_run, run)
    doors.landed()
    for source in ("plans", "tasks", "evidence"):
        shutil.copytree(kept / source, doors.root / layout.RUNS / other / source)
    play.commit_all("copied")
    assert f"{task} is in {layout.ARCHIVE}/{run}/" in doors.caught("F008")


def test_a_record_that_names_one_of_an_archived_run_is_no_copy(doors: Doors) -> None:
    """No way: a task says what it goes on with, and the archived run is taken out of its archive again."""
    play = doors.play
    task, later = play.proven("One"), play.run("Another")
    run = play.state(task).id
    play.do(runs.cancel_run, run, reason="Over.")
    play.do(runs.archive_run, run)
    doors.landed()
    play.task(f"Go on with {task}", run=later)
    doors.sound()
    git(doors.root, "revert", "--no-edit", MAIN)
    doors.sound()


def test_a_verdict_dated_back_does_not_come_before_a_failure(doors: Doors) -> None:
    """Way: a pass that is dated after the failure, and one dated before it, both without having seen it."""
    run, failed = failing(doors)
    for at in ("2020-01-01T00:00:00.000Z", "2029-01-01T00:00:00.000Z"):
        doors.forge(run, "passed", sees=[], at=at, gate="quality_review")
    assert doors.gate("quality_review", run) == "failed"
    assert doors.play.state(run).event(failed) is not None
    doors.warned("T004")
    doors.refused("review_gate_blocking", "dispatch create", task=doors.play.state(run).tasks()[0], executor="agent")


def test_an_event_that_claims_to_be_seen_by_a_later_one_changes_that_one(doors: Doors) -> None:
    """Way: a pass is inserted before a failure, by naming it in the failure's own `after`."""
    run, failed = failing(doors)
    path = doors.path(failed)
    text = (doors.root / path).read_text()
    passed, data = doors.drafted(run, "passed", sees=[], at="2020-01-01T00:00:00.000Z", gate="quality_review")
    doors.write(passed, data)
    ref = f"event_{passed[-17:-5]}@{codec.digest_of(data)}"
    doors.write(path, text.replace("after: []", f"after: [{ref}]").replace("do: failed", "do: passed"))
    assert failed in doors.caught("D001")


def test_a_completion_that_skips_a_failed_verdict_does_not_lift_it(doors: Doors) -> None:
    """Way: the completion names the events before the failure, as if it had been written first."""
    play = doors.play
    task = play.task("One")
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    before = doors.last(task, "claimed")
    play.gate("implementation_review", "failed", task=task, reason="No.")
    doors.landed()
    doors.forge(task, "completed", sees=[before], **doors.completion(task, evidence, dispatch=dispatch))
    assert doors.gate("implementation_review", task) == "failed"
    assert "its gate implementation_review has failed" in doors.caught("T006")
    doors.refused("review_gate_blocking", "run complete", run=play.state(task).id)
    assert not play.state(task).is_done(task)


def test_a_completion_that_skips_a_block_is_contested(doors: Doors) -> None:
    """Way: the same with a task that somebody blocked."""
    play = doors.play
    task = play.task("One")
    dispatch = play.claimed(task)
    evidence = play.evidence(task)
    before = doors.last(task, "claimed")
    play.do(tasks.block_task, task, reason="Wait.")
    doors.landed()
    doors.forge(task, "completed", sees=[before], **doors.completion(task, evidence, dispatch=dispatch))
    assert play.status(task) == "contested"
    assert f"{task} is contested on {dispatch}, its state: " in doors.caught("T001")


def test_a_run_completed_by_hand_without_its_tasks_is_found(doors: Doors) -> None:
    """Way: the completion of the run names no task, so that no rule sees that one is open."""
    play = doors.play
    play.proven("One")
    open_ = play.task("Two")
    run = play.state(open_).id
    doors.landed()
    doors.forge(run, "completed", sees=[])
    assert play.status(run) == "completed"
    assert f"{open_} is pending" in doors.caught("P004")


def test_a_run_completed_by_hand_past_a_failed_gate_is_found(doors: Doors) -> None:
    """Way: the completion of the run does not name its failed gate."""
    play = doors.play
    run = play.state(play.proven("One")).id
    play.gate("quality_review", "failed", reason="No.")
    doors.landed()
    doors.forge(run, "completed", sees=[])
    assert f"gate quality_review of {run} has failed" in doors.caught("P004")


@pytest.mark.parametrize("landed", [True, False])
def test_a_forged_void_of_a_failure_is_found(doors: Doors, *, landed: bool) -> None:
    """Way: a void that names a failure as if what it follows had been absent, which takes a legal verdict out."""
    play = doors.play
    run = play.state(play.task("One")).id
    play.gate("quality_review", "passed")
    play.gate("quality_review", "failed", reason="No.")
    if landed:
        doors.landed()
    failed = doors.last(run, "failed")
    doors.refused("event_is_legal", "settle void", event=failed, reason="I want to.")
    event = play.state(run).event(failed)
    assert event is not None
    absent = [str(ref) for ref in event.after]
    doors.forge(run, "voided", sees=[], target=failed, absent=absent, reason="It was not there.")
    assert doors.gate("quality_review", run) == "passed"
    assert failed in doors.caught("D009" if landed else "T007")


def test_a_redaction_that_rewrites_what_it_keeps_is_found(doors: Doors) -> None:
    """Way: a failed verdict is redacted, and what is kept of it says that it passed."""
    run, failed = failing(doors)
    event = doors.play.state(run).event(failed)
    assert event is not None
    kept = {**{key: value for key, value in event.data.items() if key != "reason"}, "do": "passed", "after": []}
    path = doors.path(failed)
    doors.forge(run, "redacted", target=str(event.ref), kept=kept, reason="A name.")
    doors.remove(path)
    assert doors.gate("quality_review", run) == "passed"
    assert failed in doors.caught("D009")
    doors.landed()
    git(doors.root, "branch", "-qf", MAIN, f"{MAIN}~3")
    assert failed in doors.caught("D010")


def test_a_redaction_that_keeps_nothing_of_a_verdict_is_found(doors: Doors) -> None:
    """Way: the same, with nothing kept, so that the verdict never was."""
    run, failed = failing(doors)
    event = doors.play.state(run).event(failed)
    assert event is not None
    path = doors.path(failed)
    doors.forge(run, "redacted", sees=[], target=str(event.ref), reason="A name.")
    doors.remove(path)
    assert failed in doors.caught("D009")


def test_a_hand_out_without_a_plan_is_found(doors: Doors) -> None:
    """Way: the hand-out says that it is a spike's, in a run that is none, so that no plan is asked."""
    play = doors.play
    run = play.run("No plan")
    task = play.task("One", run=run)
    doors.landed()
    doors.refused("canonical_plan_required", "dispatch create", task=task, executor="agent")
    event = doors.forge(task, "dispatched", executor="agent", spike=True)
    dispatch = event.replace("event", "dispatch")
    play.do(batch.ACTIONS["dispatch claim"], dispatch)
    play.complete(dispatch, play.evidence(task))
    assert play.is_proven(task)
    assert "which is no spike" in doors.caught("P006")


def test_evidence_swapped_after_the_completion_is_found(doors: Doors) -> None:
    """Way: what failed is overwritten with what passed, kept output and all."""
    play = doors.play
    task = play.task("One")
    claim = play.claimed(task)
    bad = play.evidence(task, code=1)
    doors.forge(task, "completed", **doors.completion(task, bad, dispatch=claim))
    doors.landed()
    path = doors.path(bad)
    text = (doors.root / path).read_text()
    doors.write(path, text.replace("exit: 1", "exit: 0").replace("outcome: failed", "outcome: passed"))
    assert bad in doors.caught("D003", "L003")
    doors.unproven(task, "is not the file that was cited")


def test_a_chain_rewritten_as_a_whole_is_found_against_the_base(doors: Doors) -> None:
    """Way: the same, with every digest that names it, and every one that names those, computed anew."""
    play = doors.play
    task = play.task("One")
    claim = play.claimed(task)
    bad = play.evidence(task, code=1)
    doors.forge(task, "completed", **doors.completion(task, bad, dispatch=claim))
    run = play.state(task).id
    doors.landed()

    def better(data: bytes) -> bytes:
        return data.replace(b"exit: 1", b"exit: 0").replace(b"outcome: failed", b"outcome: passed")

    rewritten(doors.root, run, {doors.path(bad): better})
    play.commit_all("rewritten")
    assert play.is_proven(task)
    code, found = doors.check("--no-base")
    assert (code, [row for row in found if row["severity"] == "error"]) == (0, [])
    told = doors.caught("D001", "D003")
    assert bad in told
    assert doors.last(task, "completed") in told


def test_a_claim_completed_in_its_holders_name_is_told_by_the_commits_author(doors: Doors) -> None:
    """Way: `by` is typed: somebody completes what another holds. Names are not identities; who committed is told."""
    play = doors.play
    task = play.task("One")
    bob = play.as_("Bob")
    dispatch = bob.claimed(task)
    evidence = bob.evidence(task)
    doors.landed()
    keys = doors.completion(task, evidence, dispatch=dispatch)
    doors.forge(task, "completed", by="Eve", **keys)
    assert "not by Eve" in doors.caught("T002")
    assert play.status(task) == "in_progress"
    git(doors.root, "reset", "-q", "--hard", MAIN)
    doors.forge(task, "completed", by="Bob", **keys)
    assert "by Bob was committed by Ada" in doors.warned("C002")
