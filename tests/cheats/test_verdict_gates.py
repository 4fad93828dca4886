"""Verdicts of gates and releases that no one gave, that came in another order, or that rest on nothing any more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git.folding.fold import plans_of
from memento_git.work import codestate
from memento_git.work.actions import dispatches, evidence_checks, evidences, exporting, releases, runs, tasks, verifying
from memento_git.work.check_payloads import Check
from memento_git.work.refusals import GateFallen
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, GATE, GRACE, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors
    from tests.play import Play

REQUIRED = f"  gates: {{required: [{GATE}]}}\n"
RELEASE = "  release: {approvals: 1, not_author: true}\n"


def repaired(play: Play, task: str) -> str:
    """Have a task rejected, and do its repair."""
    assert play.do(verifying.verify_task, task).unmet
    return mended(play, task)


def mended(play: Play, task: str) -> str:
    """Do the repair of a rejected task."""
    repair: str = play.do(verifying.repair_task, task)
    play.complete(play.claimed(repair), play.evidence(repair))
    return repair


def failed_by_grace(doors: Doors) -> tuple[Play, str, str]:
    """Let Grace, who alone passes it, fail the gate of a task that is done; return the player, its run and the task."""
    doors.policy(f"  gates: {{verdicts: {{{GATE}: ['{GRACE}']}}}}\n")
    task = doors.play.proven()
    doors.play.as_(GRACE).gate(GATE, "failed", task=task)
    return doors.play, run_of(doors), task


def test_a_pass_that_did_not_see_the_failure(doors: Doors) -> None:
    """A failed verdict that lies beside a pass counts, whatever the clock says of the two."""
    doors.policy(REQUIRED)
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(GATE, "failed")
    doors.landed()
    doors.forge(run, "passed", sees=[], gate=GATE, at="2099-01-01T00:00:00.000Z")
    assert doors.gate(GATE) == "failed"
    assert doors.missing() == [f"gate {GATE} of {run} has failed"]
    assert doors.play.is_proven(task)
    doors.unfinished("review_gate_blocking", run, f"gate {GATE} of {run} has failed")


def test_two_verdicts_apart_of_which_one_failed(doors: Doors) -> None:
    """Two branches judge one gate; the merge has the worse verdict, whichever is merged into which."""
    doors.policy(REQUIRED)
    doors.play.proven()
    doors.landed()
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    git(doors.root, "switch", "-qc", "other", "main")
    doors.play.gate(GATE, "failed")
    git(doors.root, "switch", "-q", "work")
    for into, other in (("other", "work"), ("work", "other")):
        with doors.away():
            git(doors.root, "merge", "-q", "--no-edit", into)
            git(doors.root, "merge", "-q", "--no-edit", other)
            assert doors.gate(GATE) == "failed"
            assert doors.missing() == [f"gate {GATE} of {run} has failed"]
    git(doors.root, "merge", "-q", "--no-edit", "other")
    doors.sound()
    doors.refused("review_gate_blocking", "run complete", run=run)


def test_a_failure_after_a_pass(doors: Doors) -> None:
    doors.policy(REQUIRED)
    doors.play.proven()
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    doors.play.gate(GATE, "failed", note="It leaks.")
    doors.play.gate(GATE, "requested")
    assert doors.gate(GATE) == "failed"
    assert doors.missing() == [f"gate {GATE} of {run} has failed"]
    doors.unfinished("review_gate_blocking", run, f"gate {GATE} of {run} has failed")


def test_a_failure_that_is_voided_by_hand(doors: Doors) -> None:
    run = run_of(doors)
    doors.play.gate(GATE, "failed")
    doors.landed()
    failed = doors.last(run, "failed")
    doors.refused("event_is_legal", "settle void", event=failed, reason="I see it otherwise.")
    doors.forge(run, "voided", target=failed, reason="I see it otherwise.")
    assert doors.gate(GATE) == "failed"
    doors.caught("T002")


def test_a_failure_that_is_voided_by_one_who_says_he_did_not_see_it(doors: Doors) -> None:
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    doors.play.gate(GATE, "failed")
    doors.landed()
    passed, failed = doors.last(run, "passed"), doors.last(run, "failed")
    doors.refused("event_is_legal", "settle void", event=failed, reason="Not for me.")
    doors.forge(run, "voided", sees=[], target=failed, reason="Not for me.", absent=[str(doors.ref(passed))])
    assert failed in doors.caught("D009")


def test_a_failure_that_is_redacted_into_a_pass(doors: Doors) -> None:
    run = run_of(doors)
    doors.play.gate(GATE, "failed")
    doors.landed()
    failed = doors.last(run, "failed")
    event, path = doors.play.state(run).event(failed), doors.path(failed)
    assert event is not None
    for _ in doors.accepted("evidence redact", target=failed, reason="It names a customer."):
        assert doors.gate(GATE) == "failed"
    redacted = doors.last(run, "redacted")
    doors.edit(redacted, "  do: failed", "  do: passed")
    assert failed in doors.caught("D009")
    assert not (doors.root / path).exists()


def test_a_failure_that_is_redacted_without_a_word_of_what_it_said(doors: Doors) -> None:
    run = run_of(doors)
    doors.play.gate(GATE, "passed")
    passed = doors.last(run, "passed")
    doors.play.gate(GATE, "failed")
    doors.landed()
    failed = doors.last(run, "failed")
    ref = doors.ref(failed)
    git(doors.root, "rm", "-q", doors.path(failed))
    doors.forge(run, "redacted", sees=[passed], target=str(ref), reason="It names a customer.")
    assert failed in doors.caught("D009")


def test_a_failure_that_is_removed(doors: Doors) -> None:
    doors.play.gate(GATE, "failed")
    doors.landed()
    failed = doors.last(run_of(doors), "failed")
    doors.remove(failed)
    assert failed in doors.caught("D002")


def test_a_waiver_without_a_reason_or_a_name(doors: Doors) -> None:
    run = run_of(doors)
    doors.play.gate(GATE, "failed")
    for reason in ("", "  \n", "\u200b \u3164"):
        doors.refused("reason_required", "gate waive", gate=GATE, reason=reason)
    doors.forge(run, "waived", gate=GATE)
    assert doors.gate(GATE) == "failed"
    doors.caught("F002")
    doors.forge(run, "waived", gate=GATE, reason="\u2060\u2800")
    assert doors.gate(GATE) == "failed"
    doors.caught("F002")
    doors.forge(run, "waived", gate=GATE, reason="No time.", by="")
    assert doors.gate(GATE) == "failed"
    doors.caught("F002")


def test_a_waiver_by_somebody_who_may_not(doors: Doors) -> None:
    doors.policy("  gates: {waivers: [Grace]}\n")
    doors.play.gate(GATE, "failed")
    doors.refused("approver_refused", "gate waive", gate=GATE, reason="No time.")
    doors.forge(run_of(doors), "waived", gate=GATE, reason="No time.")
    doors.caught("G002")


def test_a_waiver_by_somebody_who_may_not_judge(doors: Doors) -> None:
    doors.policy(f"  gates: {{verdicts: {{{GATE}: ['{GRACE}']}}}}\n")
    doors.play.as_(GRACE).gate(GATE, "failed")
    doors.refused("approver_refused", "gate waive", gate=GATE, reason="No time.")
    doors.play.as_(GRACE).gate(GATE, "waived", reason="It is a draft.")
    doors.landed()
    doors.sound()
    doors.play.as_(GRACE).gate(GATE, "failed")
    doors.landed()
    doors.forge(run_of(doors), "waived", gate=GATE, reason="No time.")
    doors.caught("G002")


def test_a_verdict_by_somebody_who_may_not(doors: Doors) -> None:
    doors.policy(f"  gates: {{verdicts: {{{GATE}: [Grace]}}}}\n")
    doors.refused("approver_refused", "gate record", gate=GATE, verdict="passed")
    doors.forge(run_of(doors), "passed", gate=GATE)
    doors.caught("G002")


def test_a_pass_on_evidence_that_failed_or_was_taken_back(doors: Doors) -> None:
    task = doors.play.task()
    bad, gone = doors.play.evidence(task, code=1), doors.play.evidence(task)
    told = doors.refused("gate_unfounded", "gate record", gate=GATE, verdict="passed", evidence=[bad])
    assert f"{bad} failed" in told
    doors.forge(run_of(doors), "passed", gate=GATE, evidence=[str(doors.ref(bad))])
    assert "failed" in doors.caught("G001")
    doors.play.gate(GATE, "passed", evidence=[gone])
    doors.play.do(evidences.retract, gone, reason="It ran something else.")
    assert f"{gone} is retracted" in doors.caught("G001")
    doors.refused("gate_unfounded", "gate record", gate=GATE, verdict="passed", evidence=[gone])


def test_a_gate_of_another_task_as_ones_own(doors: Doors) -> None:
    one, two = doors.play.task("One"), doors.play.task("Two")
    evidence = doors.play.evidence(two)
    doors.refused("evidence_foreign", "gate record", gate=GATE, verdict="passed", task=one, evidence=[evidence])
    doors.forge(one, "passed", gate=GATE, evidence=[str(doors.ref(evidence))])
    assert "is evidence for another task" in doors.caught("G001")


def test_a_run_that_is_completed_by_hand_over_work_that_is_not_done(doors: Doors) -> None:
    play = doors.play
    play.proven("Done")
    open_, run = play.task("Open"), run_of(doors)
    doors.refused("task_unsettled", "run complete", run=run)
    doors.landed()
    doors.forge(run, "completed")
    assert doors.answer("status")["run"]["status"] == "completed"
    assert f"{open_} is pending" in doors.caught("P004")


@pytest.mark.parametrize("sees", [None, []])
def test_a_run_that_is_completed_by_hand_over_work_that_is_not_proven(doors: Doors, sees: list[str] | None) -> None:
    play = doors.play
    task, run = play.proven(), run_of(doors)
    play.do(evidences.retract, play.state(task).ids("evidence")[0], reason="It ran something else.")
    doors.landed()
    doors.refused("task_unproven", "run complete", run=run)
    doors.forge(run, "completed", sees=sees)
    assert f"{task} is not proven" in doors.caught("P004")


def test_a_run_that_is_completed_by_hand_without_the_gates_that_policy_requires(doors: Doors) -> None:
    doors.policy(REQUIRED)
    doors.play.proven()
    run = run_of(doors)
    doors.refused("gates_missing", "run complete", run=run)
    doors.forge(run, "completed")
    assert GATE in doors.caught("P004")


def test_a_run_with_nothing_in_it(doors: Doors) -> None:
    run = run_of(doors)
    doors.refused("run_empty", "run complete", run=run)
    assert doors.missing() == ["the run is empty: no task of it is completed"]
    doors.forge(run, "completed")
    assert "no task of it is completed" in doors.caught("P004")


def test_a_release_that_is_written_by_hand(doors: Doors) -> None:
    doors.policy(RELEASE)
    doors.play.proven()
    run = run_of(doors)
    assert doors.missing() == ["approvals: 0 of 1, not by who did the work"]
    doors.refused("release_refused", "gate record", gate="release", verdict="passed", run=run)
    doors.refused("release_refused", "gate release", run=run)
    doors.forge(run, "passed", gate="release")
    assert doors.gate("release") == "passed"
    assert "approvals: 0 of 1, not by who did the work" in doors.caught("G004")


@pytest.mark.parametrize(("policy", "gate", "code"), [
    (RELEASE, "release", "G004"), ("  gates: {verdicts: {quality_review: [Cleo]}}\n", "quality_review", "G002"),
])  # fmt: skip
def test_a_verdict_by_hand_in_a_run_that_is_ended_by_hand(doors: Doors, policy: str, gate: str, code: str) -> None:
    """Way: of a run that has ended it is not asked what policy takes by now, so the comment showed it as passed."""
    doors.policy(policy)
    doors.play.proven()
    run = run_of(doors)
    doors.forge(run, "passed", gate=gate)
    doors.forge(run, "completed")
    doors.caught(code)
    (change,) = doors.answer("diff", f"{MAIN}...{WORK}")["runs"]
    assert ([one["to"] for one in change["gates"]], change["doubts"]) == (["fallen"], [f"gate {gate} has fallen"])


@pytest.mark.parametrize(("gate", "why"), [("final_acceptance", "was completed"), ("plan_review", "was approved")])
def test_a_verdict_that_tells_nothing_of_what_it_saw_in_a_run_that_is_ended_by_hand(
    doors: Doors, gate: str, why: str
) -> None:
    """Way: a verdict by hand names the run alone, and in one that has ended nobody asked what it had not seen."""
    doors.policy(f"  gates: {{required: [{gate}]}}\n")
    run, task = run_of(doors), doors.play.task()
    doors.forge(run, "passed", gate=gate, sees=[])
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.forge(run, "completed")
    assert why in doors.caught("P004")
    (change,) = doors.answer("diff", f"{MAIN}...{WORK}")["runs"]
    assert change["doubts"] == [f"gate {gate} has fallen"]
    assert [(one["to"], why in one["reason"]) for one in change["gates"]] == [("fallen", True)]


def test_a_release_of_a_task_alone(doors: Doors) -> None:
    """Way: policy's approvals are asked of the run; the verdict on its task looks like its release."""
    task = doors.play.proven()
    doors.policy(RELEASE)
    doors.refused("release_refused", "gate record", gate="release", verdict="passed", task=task)
    doors.forge(task, "passed", gate="release")
    assert f"the release of {task} passed, but" in doors.caught("G004")


def test_a_release_that_is_written_by_hand_in_a_run_that_is_cancelled(doors: Doors) -> None:
    """Way: nothing counts in the run any more, and whoever reads of it is shown a release that nobody gave."""
    doors.policy(RELEASE)
    doors.play.proven()
    run = run_of(doors)
    doors.forge(run, "passed", gate="release")
    for _ in doors.accepted("run cancel", run=run, reason="Merged elsewhere."):
        assert doors.gate("release", run) == "passed"
        assert "approvals: 0 of 1, not by who did the work" in doors.caught("G004")
    git(doors.root, "reset", "-q", "--hard", "main")
    doors.forge(empty := doors.play.planned("Nothing was done"), "passed", gate="release")
    doors.play.do(runs.cancel_run, empty, reason="No.")
    assert "the run is empty" in doors.caught("G004")
    fixes = [row["fix"] for row in doors.check("--base", "main")[1] if row["code"] == "G004"]
    assert "is cancelled for good" in fixes[0]


@pytest.mark.parametrize("landed", [True, False])
def test_a_run_that_was_released_and_is_cancelled(doors: Doors, *, landed: bool) -> None:
    """No way: the release was given, then somebody wanted more, or took work up again, and let all of it be."""
    doors.policy(RELEASE)
    task, run = doors.play.proven(), run_of(doors)
    doors.play.as_("Grace").do(evidences.approve, run)
    assert doors.play.do(releases.release_run).event
    if landed:
        doors.landed()
        doors.play.do(tasks.reopen_task, task, reason="It is slow.")
    doors.play.task("More")
    doors.play.do(runs.cancel_run, run, reason="Another way was found.")
    doors.sound()


def test_a_release_before_the_checks_that_policy_names(doors: Doors) -> None:
    doors.policy("  release: {checks: [test]}\n")
    doors.play.proven()
    run = run_of(doors)
    assert doors.missing() == ["check test: there is none"]
    doors.refused("release_refused", "gate record", gate="release", verdict="passed", run=run)
    doors.forge(run, "passed", gate="release")
    assert "check test: there is none" in doors.caught("G004")


def test_a_check_whose_word_for_its_end_is_no_success(doors: Doors) -> None:
    """The provider's own word counts, and a typed outcome beside it does not."""
    doors.policy("  release: {checks: [test]}\n")
    task, run = doors.play.proven(), run_of(doors)
    head = git(doors.root, "rev-parse", "HEAD")
    for conclusion in ("failure", "cancelled", "skipped", "neutral", "SUCCESS!", "not success"):
        check = {"provider": "github", "name": "test", "conclusion": conclusion, "commit": head}
        doors.witness(task, kind="ci", command=None, check=check, drop=["command"])
        assert any(one.startswith("check test: ") for one in doors.missing()), conclusion
    doors.caught("V002")
    doors.refused("release_refused", "gate release", run=run)


def test_a_release_whose_proof_was_taken_back_afterwards(doors: Doors) -> None:
    play = doors.play
    task, run = play.proven(), run_of(doors)
    assert play.do(releases.release_run).event
    doors.landed()
    evidence = play.state(task).ids("evidence")[0]
    play.do(evidences.retract, evidence, reason="It ran something else.")
    assert any(f"{evidence} is retracted" in one for one in doors.missing())
    doors.refused("release_refused", "gate release", run=run)
    doors.refused("task_unproven", "run complete", run=run)
    code, out, _ = doors.cli("evidence", "export", "--run", run, "-C", str(doors.root), "--json")
    assert (code, "run_not_released" in out) == (1, True)
    assert f"gate release of {run} passed, but {evidence} is retracted" in doors.caught("G001")


def test_a_release_of_a_task_whose_criteria_changed_afterwards(doors: Doors) -> None:
    play = doors.play
    task, run = play.proven(criteria=["It refuses empty passwords."]), run_of(doors)
    assert play.do(releases.release_run).event
    doors.landed()
    doors.edit(task, "It refuses empty passwords.", "It runs.")
    doors.unproven(task, "the task's text changed after it was completed")
    doors.refused("release_refused", "gate release", run=run)
    code, out, _ = doors.cli("evidence", "export", "--run", run, "-C", str(doors.root), "--json")
    assert (code, "run_not_released" in out) == (1, True)
    assert "unproven by it" in doors.warned("D007")


def test_a_verdict_in_a_run_that_has_ended(doors: Doors) -> None:
    doors.play.proven()
    run = run_of(doors)
    doors.play.gate(GATE, "failed")
    doors.play.do(runs.cancel_run, run, reason="Over.")
    doors.refused("run_final", "gate record", gate=GATE, verdict="passed", run=run)
    doors.forge(run, "passed", gate=GATE)
    assert doors.gate(GATE) == "failed"
    doors.caught("T002")


def test_a_failure_of_a_gate_on_a_task_that_is_hidden_by_the_runs_own_pass(doors: Doors) -> None:
    task = doors.play.proven()
    run = run_of(doors)
    doors.play.gate(GATE, "failed", task=task)
    doors.play.gate(GATE, "passed")
    assert doors.missing() == [f"gate {GATE} of {task} has failed"]
    doors.unfinished("review_gate_blocking", run, f"gate {GATE} of {task} has failed")


@pytest.mark.parametrize(
    ("gate", "policy"),
    [
        (GATE, f"  gates: {{verdicts: {{{GATE}: ['{GRACE}']}}, waivers: ['{GRACE}']}}\n"),
        (GATE, f"  gates: {{fresh: [{GATE}], waivers: ['{GRACE}']}}\n"),
        ("final_acceptance", "  signatures: {allowed_signers: .memento/signers, require: {final_acceptance: []}}\n"),
    ],
)
def test_a_failure_that_goes_with_the_task_when_it_is_repaired(doors: Doors, gate: str, policy: str) -> None:
    """Way: with verbs alone a verdict that not everybody may lift is left at a cancelled task."""
    doors.policy(policy)
    play, run = doors.play, run_of(doors)
    task = play.proven()
    play.as_(GRACE).gate(gate, "failed", task=task)
    first = repaired(play, task)
    play.do(tasks.revise_task, first, body="It is short.")
    repair = repaired(play, first)
    why = f"gate {gate} of {task}, which {repair} repairs, has failed"
    assert doors.missing() == [why]
    steps = play.overview(run)["next"]
    assert [step["why"] for step in steps if gate in step["why"]] == [why]
    doors.unfinished("review_gate_blocking", run, why)


def test_a_failure_that_is_lifted_at_a_repair_which_is_rejected_after_that(doors: Doors) -> None:
    """Way: what the reviewer passed is not what takes the place of the task in the end."""
    play, run, task = failed_by_grace(doors)
    first = repaired(play, task)
    play.as_(GRACE).gate(GATE, "passed", task=first)
    play.do(tasks.revise_task, first, body="It is short.")
    repair = repaired(play, first)
    doors.unfinished("review_gate_blocking", run, f"gate {GATE} of {task}, which {repair} repairs, has failed")


def test_a_failure_that_is_lifted_at_a_repair_which_had_been_rejected(doors: Doors) -> None:
    """Way: what the reviewer passed then is no work, and something else repairs it."""
    play, run, task = failed_by_grace(doors)
    first = repaired(play, task)
    play.do(tasks.revise_task, first, body="It is short.")
    assert play.do(verifying.verify_task, first).unmet
    play.as_(GRACE).gate(GATE, "passed", task=first)
    repair = mended(play, first)
    doors.unfinished("review_gate_blocking", run, f"gate {GATE} of {task}, which {repair} repairs, has failed")


@pytest.mark.parametrize("again", [False, True])
def test_a_failure_that_is_lifted_at_a_repair_which_nobody_finished(doors: Doors, *, again: bool) -> None:
    """Way: what the reviewer passed while it was under way is called off, and something else repairs that."""
    play, run, task = failed_by_grace(doors)
    assert play.do(verifying.verify_task, task).unmet
    first = play.do(verifying.repair_task, task)
    if again:
        play.complete(play.claimed(first), play.evidence(first))
        play.do(tasks.reopen_task, first, reason="Once more.")
    claim = play.claimed(first)
    play.as_(GRACE).gate(GATE, "passed", task=first)
    play.do(dispatches.recover_dispatch, claim, force=True, reason="Again.")
    repair = play.task("Another way")
    doors.edit(repair, "title: ", f"repairs: {first}\ntitle: ")
    play.do(tasks.cancel_task, first, reason="Another way.")
    play.complete(play.claimed(repair), play.evidence(repair))
    doors.unfinished("review_gate_blocking", run, f"gate {GATE} of {task}, which {repair} repairs, has failed")


def test_a_failure_that_the_reviewer_lifts_at_the_repair_is_no_cheat(doors: Doors) -> None:
    play, run, task = failed_by_grace(doors)
    repair = repaired(play, task)
    play.as_(GRACE).gate(GATE, "passed", task=repair)
    play.do(runs.complete_run, run)
    doors.sound()


def test_work_that_is_called_off_so_that_nothing_is_left(doors: Doors) -> None:
    play = doors.play
    task, run = play.task(), run_of(doors)
    play.do(tasks.cancel_task, task, reason="Too hard.")
    assert doors.missing() == ["the run is empty: no task of it is completed"]
    doors.unfinished("run_empty", run, "no task of it is completed")


def test_a_run_that_is_completed_by_hand_over_a_gate_whose_code_is_another_by_now(doors: Doors) -> None:
    """Way: that the gate holds no more is known of the base, where nobody had completed anything on it."""
    doors.policy(f"  gates: {{required: [{GATE}], fresh: [{GATE}]}}\n")
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(GATE, "passed", evidence=doors.play.state(task).ids("evidence"))
    (doors.root / "app.py").write_text("answer = 41\n")
    doors.play.commit_all()
    doors.landed()
    doors.unfinished("gate_fallen", run, "nothing that it rests on saw the code of this commit")


def test_a_run_that_is_completed_by_hand_over_a_gate_of_a_task_whose_code_is_another_by_now(doors: Doors) -> None:
    doors.policy(f"  gates: {{fresh: [{GATE}]}}\n")
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(GATE, "passed", task=task, evidence=doors.play.state(task).ids("evidence"))
    (doors.root / "app.py").write_text("answer = 41\n")
    doors.play.commit_all()
    doors.landed()
    doors.unfinished("gate_fallen", run, f"of {task} has passed, but nothing that it rests on saw the code")


@pytest.mark.parametrize("required", ["", "  gates: {required: [release]}\n"])
def test_a_run_that_is_completed_by_hand_over_a_no_to_its_release(doors: Doors, required: str) -> None:
    """Way: the release was right on its day, and whoever approved it has taken that back since."""
    doors.policy(RELEASE + required)
    doors.play.proven()
    run, grace = run_of(doors), doors.play.as_("Grace")
    grace.do(evidences.approve, run, response="yes")
    doors.play.do(releases.release_run, run=run)
    grace.do(evidences.approve, run, response="no")
    doors.landed()
    with pytest.raises(GateFallen) as told:
        doors.play.do(runs.complete_run, run)
    assert told.value.hint.endswith(f"memento gate release --run {run}")
    doors.forge(run, "completed")
    assert "approvals: 0 of 1" in doors.caught("G004")


def test_a_run_that_is_completed_by_hand_over_work_that_its_release_had_not_seen(doors: Doors) -> None:
    """Way: policy asks for no release, so that nobody would look whether the one that was given holds."""
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(releases.release_run, run=run)
    doors.play.proven("More")
    doors.landed()
    doors.unfinished("gate_fallen", run, "it had not seen that")


def test_a_release_that_is_written_by_hand_over_a_gate_whose_code_is_another_by_now(doors: Doors) -> None:
    doors.policy(f"  gates: {{required: [{GATE}], fresh: [{GATE}]}}\n{RELEASE}")
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(GATE, "passed", evidence=doors.play.state(task).ids("evidence"))
    doors.play.as_("Grace").do(evidences.approve, run, response="yes")
    (doors.root / "app.py").write_text("answer = 41\n")
    doors.play.commit_all()
    doors.landed()
    doors.unreleased(run, "nothing that it rests on saw the code of this commit")


@pytest.mark.parametrize("gate", ["final_acceptance", "release"])
def test_a_run_that_is_completed_by_hand_on_a_verdict_that_must_be_signed_by_now(doors: Doors, gate: str) -> None:
    """Way: nothing that the branch adds needs a signature; what it rests on does, since policy demands it."""
    doors.play.proven()
    run = run_of(doors)
    doors.forge(run, "passed", gate=gate)
    doors.landed()
    doors.policy(f"  signatures: {{allowed_signers: .memento/signers, require: {{{gate}: [ada@example.invalid]}}}}\n")
    doors.unfinished("signature_required", run, f"gate {gate} of {run} has passed without the signature it needs")


def _ended(doors: Doors) -> tuple[str, str, list[str]]:
    """Complete a run without its release, by the verb, on main; return its task, the run, and what there was before."""
    task, run = doors.play.proven(), run_of(doors)
    state = doors.play.state(run)
    heads = [head for key in (run, plans_of(run), task) for head in state.folded(key).heads]
    doors.play.do(runs.complete_run, run)
    doors.landed()
    return task, run, heads


def _was_not_released(doors: Doors, run: str) -> None:
    told = "had not passed before that"
    assert any(told in one for one in doors.missing(run))
    assert "release gate is pending" in doors.denied("run_not_released", "evidence", "export", "--run", run)
    (row,) = doors.answer("status", "--run", run)["gates"]
    assert (row["kind"], row["late"]) == ("release", True)
    assert "passed, late" in doors.cli("gate", "list", "--run", run, "-C", str(doors.root))[1]
    assert told in doors.caught("P004")


@pytest.mark.parametrize("policy", ["  gates: {fresh: [release]}\n", RELEASE, "  gates: {required: [release]}\n"])
def test_a_release_of_a_run_that_was_completed_without_it(doors: Doors, policy: str) -> None:
    """Way: the release names what was there before the completion, and rests on the code of today."""
    task, run, heads = _ended(doors)
    doors.policy(policy)
    (doors.root / "app.py").write_text("bad\n")
    doors.play.commit_all()
    doors.refused("release_refused", "gate release", run=run)
    doors.shown(run, kind="approval", approves=run, text=doors.ref(run).digest, by="Grace")
    shown = doors.witness(task)
    doors.forge(run, "passed", sees=heads, gate="release", evidence=[str(doors.ref(shown))])
    _was_not_released(doors, run)


def test_a_release_that_a_second_completion_had_seen(doors: Doors) -> None:
    task, run, heads = _ended(doors)
    passed = doors.forge(run, "passed", sees=heads, gate="release", evidence=[str(doors.ref(doors.witness(task)))])
    doors.forge(run, "completed", sees=[passed, *heads])
    _was_not_released(doors, run)


@pytest.mark.parametrize("do", ["passed", "waived"])
def test_a_gate_that_a_completed_run_lacked_and_that_comes_afterwards(doors: Doors, do: str) -> None:
    """Way: that the gate is missing was told while the run was completed, and is not said any more."""
    doors.policy(REQUIRED)
    doors.play.proven()
    run = run_of(doors)
    doors.forge(run, "completed")
    doors.landed()
    doors.forge(run, do, sees=[], gate=GATE, **({"reason": "No time."} if do == "waived" else {}))
    assert f"{GATE}, which policy requires, had not passed before that" in doors.caught("P004")


def test_a_completion_that_had_not_seen_the_release(doors: Doors) -> None:
    """Way: a second completion by hand, so that a run which was released is so no more."""
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(releases.release_run, run=run)
    before = [head for head in doors.play.state(run).folded(run).heads if head != doors.last(run, "passed")]
    doors.play.do(runs.complete_run, run)
    doors.landed()
    assert doors.missing(run) == []
    doors.forge(run, "completed", sees=before)
    assert "gate release had not passed before that" in doors.caught("P004")


def test_a_release_after_the_end_in_the_place_of_an_earlier_one(doors: Doors) -> None:
    """Way: the run was released, so that nothing is wrong with that; what is exported is to be other code."""
    task, run = doors.play.proven(), run_of(doors)
    doors.play.do(releases.release_run, run=run)
    first = doors.last(run, "passed")
    doors.play.do(runs.complete_run, run)
    doors.landed()
    code = codestate.code_at(doors.play.ledger.git, "HEAD")["tree"]
    (doors.root / "app.py").write_text("bad\n")
    doors.play.commit_all()
    doors.forge(run, "passed", sees=[first], gate="release", evidence=[str(doors.ref(doors.witness(task)))])
    doors.sound()
    told = json.loads(exporting.run_statement(doors.play.ledger.view(), run))
    assert told["subject"][0]["digest"] == {"gitTree": code}


def _called_off(doors: Doors, task: str) -> None:
    doors.play.do(tasks.reopen_task, task, reason="It is in the way.")
    doors.play.do(tasks.cancel_task, task, reason="Not needed.")


def test_work_that_was_released_and_is_called_off_before_the_end(doors: Doors) -> None:
    doors.policy("  gates: {required: [release]}\n")
    doors.play.proven("Feature")
    task, run = doors.play.proven("Security fix"), run_of(doors)
    doors.play.do(releases.release_run, run=run)
    doors.landed()
    _called_off(doors, task)
    doors.denied("run_not_released", "evidence", "export", "--run", run)
    doors.unfinished("gate_fallen", run, f"it had not seen that {task} is cancelled, which was completed before")


def test_work_that_a_release_by_hand_does_not_name_and_that_is_called_off(doors: Doors) -> None:
    """Way: what the release had not seen at all was not done when it was given, and is not done now."""
    feature = doors.play.proven("Feature")
    task, run = doors.play.proven("Security fix"), run_of(doors)
    seen = doors.play.state(run).folded(feature).heads
    doors.forge(run, "passed", sees=seen, gate="release", evidence=[str(doors.ref(doors.witness(task)))])
    _called_off(doors, task)
    doors.unfinished("gate_fallen", run, f"it had not seen that {task} is cancelled, which was completed before")


def test_work_that_was_called_off_before_the_release_is_no_part_of_it(doors: Doors) -> None:
    doors.play.proven("Feature")
    task, run = doors.play.proven("Security fix"), run_of(doors)
    doors.play.do(releases.release_run, run=run)
    _called_off(doors, task)
    assert doors.play.do(releases.release_run, run=run).event
    doors.landed()
    doors.play.do(runs.complete_run, run)
    doors.sound()
    assert exporting.run_statement(doors.play.ledger.view(), run)


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (f"gates: {{verdicts: {{release: ['{GRACE}']}}}}", f"gate release has passed, but it is by {ADA}, and policy"),
        ("signatures: {require: {release: []}}", "has passed without the signature it needs: it is not signed"),
    ],
)
def test_a_release_by_hand_of_a_run_that_is_completed_on_it(doors: Doors, policy: str, why: str) -> None:
    """Way: once the run has ended, nobody would be asked any more who gave its release, or whether it is signed."""
    doors.policy(f"  {policy}\n")
    task, run = doors.play.proven(), run_of(doors)
    doors.landed()
    doors.forge(run, "passed", gate="release", evidence=[str(doors.ref(doors.witness(task)))])
    doors.forge(run, "completed")
    assert why in doors.caught("P004")
    assert why in doors.denied("run_not_released", "evidence", "export", "--run", run)
    assert [one for one in doors.missing(run) if why in one]


def test_a_run_that_is_ended_with_work_on_what_was_called_off(doors: Doors) -> None:
    """Way: what was done and proven stays so, whatever became of the work that it was done on."""
    doors.policy("  gates: {required: [release]}\n")
    first, run = doors.play.proven("The check"), run_of(doors)
    second = doors.play.proven("What is checked", depends_on=[first])
    _called_off(doors, first)
    doors.landed()
    why = f"{second} depends on {first}, which is cancelled"
    assert doors.missing(run) == [f"task {why}"]
    steps = [row["why"] for row in doors.answer("status", "--run", run)["next"]]
    assert "“What is checked” is done, and depends on “The check”, which is cancelled" in steps
    doors.forge(run, "passed", gate="release")
    assert why in doors.denied("run_not_released", "evidence", "export", "--run", run)
    doors.unfinished("dependency_open", run, why)


def test_a_release_that_is_exported_while_its_run_is_paused(doors: Doors) -> None:
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(releases.release_run, run=run)
    doors.landed()
    for _ in doors.accepted("run pause", run=run, reason="A hole was found."):
        assert doors.missing(run) == ["the run is paused"]
        assert "the run is paused" in doors.denied("run_not_released", "evidence", "export", "--run", run)
    doors.sound()


def test_a_release_whose_failure_is_not_folded(doors: Doors) -> None:
    """Way: what the failure names is taken away, so that the release seems to have passed."""
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(releases.release_run, run=run)
    asked = doors.forge(run, "requested", gate="release")
    doors.forge(run, "failed", gate="release", sees=[asked], reason="It leaks.", by=GRACE)
    doors.remove(asked)
    doors.landed()
    why = f"ledger is incomplete: {asked}, which it names, is absent"
    assert doors.gate("release") == "passed"
    assert doors.missing(run) == [f"the {why}"]
    doors.refused("record_incomplete", "run complete", run=run)
    assert why in doors.denied("run_not_released", "evidence", "export", "--run", run)


def test_a_failed_check_on_which_something_is_not_folded(doors: Doors) -> None:
    """Way: it is neither withdrawn nor whole, so that the success before it would be the latest verdict."""
    doors.policy("  gates: {required: [release]}\n  release: {checks: [build]}\n")
    doors.play.proven()
    run = run_of(doors)
    for hour, word in enumerate(("success", "failure"), 10):
        told = Check("github", "build", str(hour), word, doors.play.ledger.git.commit_of("HEAD"), "", "")
        ((shown,), _) = doors.play.do(evidence_checks.add_checks, [told], run=run)
    gone = doors.forge(shown, "superseded", successor=shown)
    doors.forge(shown, "retracted", sees=[gone], reason="It is flaky.")
    doors.remove(gone)
    doors.landed()
    why = "check build: its latest verdict, of github, is incomplete"
    assert doors.missing(run) == [why]
    doors.denied("evidence_withdrawn", "evidence", "export", shown)
    doors.unreleased(run, why)
