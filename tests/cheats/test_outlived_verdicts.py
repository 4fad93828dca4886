"""Verdicts that only one person may give, and that count for work and plans which came after them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import dispatches, plans, runs, selections, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.cheats.test_candidates_chosen import tried
from tests.play import git, merge_into
from tests.test_signatures import make_key, public

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

FINAL, PLAN, TASK, RELEASE = "final_acceptance", "plan_review", "implementation_review", "release"
BY_GRACE = f"verdicts: {{{FINAL}: ['{GRACE}'], {PLAN}: ['{GRACE}'], {TASK}: ['{GRACE}']}}, waivers: ['{GRACE}']"
BOTH = pytest.mark.parametrize("verdict", ["passed", "waived"])
SAID = {"passed": "has passed", "waived": "was waived"}


def judged(doors: Doors, gate: str, verdict: str, task: str = "", **options: str) -> None:
    """Let Grace pass or waive a gate on main."""
    judged_there(doors, gate, verdict, **({"task": task} if task else {"run": run_of(doors)}), **options)
    doors.landed()


def judged_there(doors: Doors, gate: str, verdict: str, **options: str) -> None:
    """Let Grace pass or waive a gate on the branch."""
    told = {"reason": "Looked at by phone."} if verdict == "waived" else {}
    doors.play.as_(GRACE).gate(gate, verdict, **told, **options)


def candidates(doors: Doors, *, done: int) -> tuple[str, str, list[str]]:
    """Hand a task out as two candidates, and do some of them; return its run, the task and both hand-outs."""
    doors.policy(f"  gates: {{{BY_GRACE}}}\n")
    run, task = run_of(doors), doors.play.task()
    tries = [doors.play.dispatch(task, candidate=True, executor=name) for name in ("one", "two")]
    for claim in tries[:done]:
        doors.play.complete(claim, tried(doors, claim))
    return run, task, tries


def again(doors: Doors, task: str) -> None:
    """Take a task up again, and do it otherwise."""
    (doors.root / "more.py").write_text("print(1)\n")
    doors.play.commit_all()
    doors.play.do(tasks.reopen_task, task, reason="Again.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))


def shown(doors: Doors, gate: str) -> str:
    """Return how a gate does not hold, as status, report and diff of the branch tell it."""
    row = next(row for row in doors.answer("status")["gates"] if row["kind"] == gate)
    told = str(row["fallen"])
    changed = [
        one for run in doors.answer("diff", f"{MAIN}..{WORK}")["runs"] for one in run["gates"] if one["kind"] == gate
    ]
    assert [(one["way"][-1], one["reason"], one["by"]) for one in changed] == [("fallen", told, [])]
    for command in (("status",), ("report",), ("diff", f"{MAIN}..{WORK}")):
        assert told.rpartition(" was ")[2] in doors.cli(*command, "-C", str(doors.root))[1]
    return told


def worked_on(doors: Doors, gate: str, verdict: str) -> tuple[str, str]:
    """Have a gate of the run judged, and work on after that; return the run, and how it is told."""
    doors.play.proven()
    run = run_of(doors)
    judged(doors, gate, verdict)
    told = f"it had not seen that {doors.play.proven('Log all passwords')} was completed"
    assert shown(doors, gate) == told
    return run, told


def advised(doors: Doors) -> list[str]:
    """Return the commands that status says come next."""
    return [step["command"] for step in doors.answer("status")["next"]]


@BOTH
def test_a_task_that_was_open_to_an_acceptance_and_never_was(doors: Doors, verdict: str) -> None:
    """Way: the commit of the verdict alone is taken over, and not the one that brought the task."""
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    play, run = doors.play, run_of(doors)
    play.proven()
    before = git(doors.root, "rev-parse", "HEAD")
    review = play.task("Review the security of it")
    judged_there(doors, FINAL, verdict, run=run)
    given = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "reset", "-q", "--hard", before)
    git(doors.root, "cherry-pick", given)
    assert f"names {review} as open, which is not in this run" in doors.caught("L004")
    doors.unfinished("gate_fallen", run, f"it had not seen that {review} is gone")


@BOTH
def test_a_task_that_was_open_to_an_acceptance_and_never_came_is_done_with_by_another_one(
    doors: Doors, verdict: str
) -> None:
    """No way: who judges anew has seen that it is gone."""
    run = run_of(doors)
    doors.play.proven()
    before = git(doors.root, "rev-parse", "HEAD")
    doors.play.task("Review the security of it")
    judged_there(doors, FINAL, verdict, run=run)
    given = git(doors.root, "rev-parse", "HEAD")
    git(doors.root, "reset", "-q", "--hard", before)
    git(doors.root, "cherry-pick", given)
    assert "judge again" in doors.check("--base", MAIN)[1][0]["fix"]
    judged_there(doors, FINAL, verdict, run=run)
    doors.play.do(runs.complete_run, run)
    doors.sound()


@BOTH
def test_another_plan_than_the_one_that_was_reviewed(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{required: [{PLAN}], {BY_GRACE}}}\n")
    run = run_of(doors)
    judged(doors, PLAN, verdict)
    plan = doors.play.do(plans.draft_plan, "MD5", "Log the passwords.")
    doors.play.do(plans.approve_plan, plan)
    doors.play.proven()
    assert shown(doors, PLAN) == f"it had not seen that {plan} was approved"
    assert advised(doors) == [f"memento gate record {PLAN} passed --run {run}"]
    doors.unfinished("gate_fallen", run, f"gate {PLAN} {SAID[verdict]}, but it had not seen that {plan} was approved")


def test_another_text_of_the_plan_that_was_reviewed(doors: Doors) -> None:
    doors.policy(f"  gates: {{required: [{PLAN}], {BY_GRACE}}}\n")
    run, plan = run_of(doors), doors.play.state(run_of(doors)).canonical
    judged(doors, PLAN, "passed")
    doors.edit(plan, "Do it", "Log the passwords")
    doors.play.do(plans.approve_plan, plan)
    doors.play.proven()
    doors.unfinished("gate_fallen", run, f"it had not seen that {plan} was approved")


@BOTH
def test_work_that_an_acceptance_had_not_seen(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    run, told = worked_on(doors, FINAL, verdict)
    assert doors.missing() == [f"gate {FINAL} {SAID[verdict]}, but {told}"]
    doors.unfinished("gate_fallen", run, told)


def test_work_that_was_done_again_after_a_signed_acceptance(doors: Doors, tmp_path: Path) -> None:
    """Way: policy does not even require the gate; that it was signed is shown in every view."""
    key = make_key(tmp_path, "grace")
    git(doors.root, "switch", "-q", MAIN)
    doors.write(".memento/allowed_signers", f"grace@example.invalid {public(key)}\n")
    git(doors.root, "switch", "-q", WORK)
    signed = f"require: {{{FINAL}: [grace@example.invalid], waivers: [grace@example.invalid]}}"
    doors.policy(f"  signatures: {{allowed_signers: .memento/allowed_signers, ledger: ada/shop, {signed}}}\n")
    task, run = doors.play.proven(), run_of(doors)
    judged(doors, FINAL, "passed", key=str(key))
    again(doors, task)
    told = f"gate {FINAL} has passed, but it had not seen that {task} was completed once more, on dispatch_"
    doors.unfinished("gate_fallen", run, told)


@BOTH
@pytest.mark.parametrize("gate", [FINAL, RELEASE])
def test_work_beside_a_verdict_that_had_not_seen_it(doors: Doors, gate: str, verdict: str) -> None:
    """Way: neither side had seen the other, and both are merged."""
    doors.policy(f"  gates: {{required: [{gate}], {BY_GRACE}}}\n")
    doors.play.proven()
    doors.landed()
    more, run = doors.play.proven("Log all passwords"), run_of(doors)
    git(doors.root, "switch", "-q", MAIN)
    told = {"reason": "Looked at by phone."} if verdict == "waived" else {}
    doors.play.as_(GRACE).gate(gate, verdict, **told)
    merge_into(doors.root, WORK, MAIN)
    doors.unfinished("gate_fallen", run, f"gate {gate} {SAID[verdict]}, but it had not seen that {more} was completed")


def test_work_that_one_of_two_verdicts_had_not_seen(doors: Doors) -> None:
    """Way: the other one, beside it, had seen all."""
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    doors.play.proven()
    doors.landed()
    more, run = doors.play.proven("Log all passwords"), run_of(doors)
    judged_there(doors, FINAL, "passed")
    git(doors.root, "switch", "-q", MAIN)
    judged_there(doors, FINAL, "passed")
    merge_into(doors.root, WORK, MAIN)
    doors.unfinished("gate_fallen", run, f"gate {FINAL} has passed, but it had not seen that {more} was completed")


@BOTH
def test_work_after_a_release_that_was_waived_or_passed(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{waivers: ['{GRACE}']}}\n")
    run, told = worked_on(doors, RELEASE, verdict)
    doors.unfinished("gate_fallen", run, told)


@BOTH
def test_a_task_that_is_done_again_after_its_review(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{{BY_GRACE}}}\n")
    task, run = doors.play.proven(), run_of(doors)
    judged(doors, TASK, verdict, task)
    again(doors, task)
    told = f"it had not seen that {task} was reopened"
    assert shown(doors, TASK) == told
    assert advised(doors) == [f"memento gate record {TASK} passed --task {task}"]
    assert doors.missing() == [f"gate {TASK} of {task} {SAID[verdict]}, but {told}"]
    doors.unfinished("gate_fallen", run, f"gate {TASK} of {task} {SAID[verdict]}, but {told}")


def test_a_task_that_is_done_again_as_if_its_review_had_not_been_seen(doors: Doors) -> None:
    """Way: the reopening names what was there before the pass, so that it looks older."""
    doors.policy(f"  gates: {{{BY_GRACE}}}\n")
    task, run = doors.play.proven(), run_of(doors)
    before = doors.play.state(task).folded(task).heads
    judged(doors, TASK, "passed", task)
    doors.forge(task, "reopened", sees=before, reason="Again.", at="2020-01-01T00:00:00.000Z")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.unfinished("gate_fallen", run, f"it had not seen that {task} was reopened")


def test_another_candidate_than_the_one_that_was_reviewed(doors: Doors) -> None:
    run, task, tries = candidates(doors, done=2)
    play = doors.play
    play.do(selections.select_candidate, task, dispatch=tries[0], reason="This one.")
    judged(doors, TASK, "passed", task)
    play.do(selections.select_candidate, task, dispatch=tries[1], reason="Rather this.")
    doors.unfinished("gate_fallen", run, f"it had not seen that {tries[1]} was chosen for {task}")


def test_a_candidate_that_is_chosen_after_the_review_of_another(doors: Doors) -> None:
    """Way: no choice was there before the verdict, so it looked like the first one."""
    run, task, tries = candidates(doors, done=2)
    play = doors.play
    judged(doors, TASK, "passed", task)
    play.do(selections.select_candidate, task, dispatch=tries[1], reason="This one.")
    doors.unfinished("gate_fallen", run, f"it had not seen that {tries[1]} was chosen for {task}")


def test_a_candidate_that_is_completed_after_the_review_of_another(doors: Doors) -> None:
    """The giver had seen a completion; so it is said which one they had not."""
    run, task, tries = candidates(doors, done=1)
    play = doors.play
    judged(doors, TASK, "passed", task)
    play.complete(tries[1], tried(doors, tries[1]))
    doors.unfinished("gate_fallen", run, f"it had not seen that {task} was completed once more, on {tries[1]}")


@BOTH
def test_a_task_that_asks_something_else_than_the_one_that_was_reviewed(doors: Doors, verdict: str) -> None:
    """Way: it is judged while somebody works on it, taken back, and handed out anew with other words."""
    doors.policy(f"  gates: {{{BY_GRACE}}}\n")
    play, run = doors.play, run_of(doors)
    task = play.task("Hash all passwords")
    claim = play.claimed(task)
    judged(doors, TASK, verdict, task)
    play.do(dispatches.recover_dispatch, claim, force=True, reason="Stuck.")
    play.do(tasks.revise_task, task, title="Log all passwords")
    play.complete(play.claimed(task), play.evidence(task))
    doors.unfinished("gate_fallen", run, f"it had not seen that {task} asks something else")


def own_run(doors: Doors) -> str:
    """Return a run that came with the branch, all of whose work is done."""
    play = doors.play
    run = play.run("Try argon2 in a sandbox", constraints=["touch no production data"])
    play.do(plans.approve_plan, play.do(plans.draft_plan, "Do it", "Do it.", run=run))
    play.proven("Try it", run=run)
    return run


@BOTH
def test_a_run_that_is_for_something_else_than_was_accepted(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    run = own_run(doors)
    judged_there(doors, FINAL, verdict, run=run)
    doors.edit(run, "Try argon2 in a sandbox", "Hash all passwords")
    doors.unfinished("gate_fallen", run, f"it had not seen that {run} is for something else")


def test_an_acceptance_without_one_of_its_constraints(doors: Doors) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    run = own_run(doors)
    judged_there(doors, FINAL, "passed", run=run)
    doors.edit(run, "touch no production data", "be quick")
    doors.unfinished("gate_fallen", run, f"it had not seen that {run} is for something else")


@pytest.mark.parametrize("gate", [FINAL, "preflight_safety"])
def test_a_run_that_is_completed_and_then_for_something_else(doors: Doors, gate: str) -> None:
    doors.policy(f"  gates: {{required: [{gate}]}}\n")
    run = own_run(doors)
    judged_there(doors, gate, "passed", run=run)
    doors.play.do(runs.complete_run, run)
    doors.sound()
    doors.edit(run, "Try argon2 in a sandbox", "Hash all passwords")
    told = f"it had not seen that {run} is for something else"
    assert told in doors.caught("P004")
    assert [row["fallen"] for row in doors.answer("status", "--run", run)["gates"]] == [told]


@BOTH
def test_a_task_that_was_judged_before_it_asked_something_else(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{{BY_GRACE}}}\n")
    play, run = doors.play, run_of(doors)
    task = play.task("Hash all passwords")
    judged(doors, TASK, verdict, task)
    play.do(tasks.revise_task, task, title="Log all passwords")
    play.complete(play.claimed(task), play.evidence(task))
    doors.unfinished("gate_fallen", run, f"it had not seen that {task} asks something else")


@BOTH
def test_a_task_that_was_open_to_an_acceptance_and_is_called_off(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    play, run = doors.play, run_of(doors)
    play.proven()
    review = play.task("Review the security of it")
    judged(doors, FINAL, verdict)
    play.do(tasks.cancel_task, review, reason="No time.")
    doors.unfinished("gate_fallen", run, f"it had not seen that {review} was cancelled")


@BOTH
def test_another_plan_than_the_one_that_the_work_was_accepted_with(doors: Doors, verdict: str) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    play, run = doors.play, run_of(doors)
    play.proven()
    judged(doors, FINAL, verdict)
    plan = play.state(run).canonical
    doors.edit(plan, "Do it", "Log the passwords")
    play.do(plans.approve_plan, plan)
    doors.unfinished("gate_fallen", run, f"it had not seen that {plan} was approved")


def test_a_text_that_is_rewrapped_after_it_was_judged_is_no_cheat(doors: Doors) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    play = doors.play
    run = play.run("Try it", body="It is for all users,\nand for tests.\n\n- one\n- two")
    play.do(plans.approve_plan, play.do(plans.draft_plan, "Do it", "Do it.", run=run))
    play.proven("Try it", run=run)
    judged_there(doors, FINAL, "passed", run=run)
    doors.edit(run, "It is for all users,\nand for", "It is for\nall users, and for")
    assert play.do(runs.complete_run, run)
    doors.sound()


def test_a_task_that_came_after_an_acceptance_and_is_called_off_is_no_cheat(doors: Doors) -> None:
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    play = doors.play
    play.proven()
    judged(doors, FINAL, "passed")
    play.do(tasks.cancel_task, play.task("A slip"), reason="Not meant.")
    play.do(runs.complete_run, run_of(doors))
    doors.sound()


def test_a_verdict_that_is_given_again_and_one_before_the_work_are_no_cheat(doors: Doors) -> None:
    doors.policy(f"  gates: {{required: [{PLAN}, {FINAL}], {BY_GRACE}}}\n")
    play, run = doors.play, run_of(doors)
    judged(doors, PLAN, "passed")
    early, task = play.task("Early"), play.proven()
    judged(doors, TASK, "passed", early)
    judged(doors, TASK, "passed", task)
    judged(doors, FINAL, "passed")
    play.complete(play.claimed(early), play.evidence(early))
    again(doors, task)
    assert play.do(verifying.verify_task, task).unmet == ()
    judged(doors, TASK, "passed", task)
    judged(doors, FINAL, "passed")
    play.do(runs.complete_run, run)
    doors.sound()
    assert [row["fallen"] for row in doors.answer("status")["gates"]] == [None] * 4


def test_a_review_that_anybody_may_give_holds_nothing_up(doors: Doors) -> None:
    """No way: the same hand would pass it once more; that it fell is told all the same."""
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(TASK, "passed", task=task)
    doors.landed()
    again(doors, task)
    doors.sound()
    ledger = doors.play.ledger
    ledger.warnings.clear()
    doors.play.do(runs.complete_run, run)
    told = f"gate {TASK} of {task} has passed, but it had not seen that {task} was reopened"
    assert [one.partition(": ")[0] for one in ledger.warnings] == [told]
    assert told in doors.warned("P004")


def test_a_verdict_that_does_not_tell_what_it_had_seen(doors: Doors) -> None:
    """Way: it is written by hand. A run that ended on one stays as it is; none is ended on one."""
    doors.policy(f"  gates: {{required: [{FINAL}], {BY_GRACE}}}\n")
    task, run = doors.play.proven(), run_of(doors)
    doors.forge(run, "passed", sees=[], gate=FINAL, by=GRACE)
    doors.landed()
    told = f"it had not seen that {task} was completed"
    assert told in doors.refused("gate_fallen", "run complete", run=run)
    doors.forge(run, "completed")
    assert told in doors.caught("P004")
    doors.landed()
    code, rows = doors.check("--no-base")
    assert (code, [row["code"] for row in rows if row["code"] == "P004"]) == (0, [])
    assert doors.answer("status")["gates"][0]["fallen"] is None
    assert (
        json.loads(doors.cli("check", "-C", str(doors.root), "--base", MAIN, "--format", "json")[1])["findings"] == []
    )


@pytest.mark.parametrize(("gate", "names"), [(RELEASE, ""), (TASK, ""), (FINAL, "plans:")])
def test_a_verdict_that_tells_what_it_had_seen_and_by_which_a_run_has_ended(
    doors: Doors, gate: str, names: str
) -> None:
    """Way: it is written by hand. It is about more than the run, or names more, so that it stays told for good."""
    doors.policy(f"  gates: {{{BY_GRACE}}}\n")
    task, run = doors.play.proven(), run_of(doors)
    sees = doors.play.state(run).folded(f"{names}{run}").heads if names else ()
    doors.forge(task if gate == TASK else run, "passed", sees=sees, gate=gate, by=GRACE)
    again(doors, task)
    doors.forge(run, "completed")
    told = f"it had not seen that {task} was {'reopened' if gate == TASK else 'completed'}"
    assert told in doors.caught("P004")
    doors.landed()
    assert [row["fallen"] for row in doors.answer("status")["gates"] if row["kind"] == gate] == [told]
