"""What a reviewer gave counts again in less plain ways than by words or a plan put back, or came from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import dispatches, evidences, plans, selections, settling, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, GRACE, MAIN, WORK
from tests.cheats.test_candidates_chosen import shown, tried
from tests.cheats.test_given_before import (
    ASKED,
    BY_GRACE,
    CHECKED,
    EXCEPTION,
    FINAL,
    accepted,
    approved,
    excepted,
    more,
    worked,
)
from tests.play import git, merge_into

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

QUALITY = "quality_review"


def test_an_acceptance_that_is_redacted_while_its_run_has_the_words_of_then_again(doors: Doors) -> None:
    """Way: it has other bytes than at the base, and what is left of it counts as it did."""
    run = accepted(doors)
    given = doors.last(run, "passed")
    excepted(doors, run)
    for _ in doors.accepted("evidence redact", target=given, reason="It names a customer."):
        assert doors.gate(FINAL) == "passed"
    assert f"gate {FINAL} of {run} holds again by {given}" in doors.caught("P009")


def test_an_acceptance_with_the_candidate_of_then_that_is_chosen_again(doors: Doors) -> None:
    doors.policy(BY_GRACE)
    task, run = doors.play.task(), run_of(doors)
    first, second = (doors.play.dispatch(task, candidate=True, executor=name) for name in ("one", "two"))
    for claim in (first, second):
        doors.play.complete(claim, tried(doors, claim))
    for claim in (first, second):
        doors.play.as_(GRACE).do(selections.select_candidate, task, dispatch=claim, reason="This.")
        if claim == first:
            doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    doors.landed()
    doors.refused("gate_fallen", "run complete", run=run)
    doors.play.do(selections.select_candidate, task, dispatch=first, reason="No, this.")
    told = doors.caught("P009")
    assert f"gate {FINAL} of {run} holds again" in told
    assert f"the branch chooses {first} for {task}" in told
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    doors.sound()


def reviewed(doors: Doors) -> tuple[str, str]:
    """Let Grace pass a gate on her approval of a plan, and change the plan; return the run and the plan."""
    doors.policy(f"  gates: {{required: [{QUALITY}], verdicts: {{{QUALITY}: ['{GRACE}']}}, waivers: ['{GRACE}']}}\n")
    run = run_of(doors)
    plan = doors.play.state(run).canonical
    doors.play.proven()
    grace = doors.play.as_(GRACE)
    grace.gate(QUALITY, "passed", run=run, evidence=[grace.do(evidences.approve, plan)])
    doors.edit(plan, "Do it, show it.", "Do it, hash it, show it.")
    grace.do(plans.approve_plan, plan)
    doors.landed()
    doors.refused("gate_fallen", "run complete", run=run)
    doors.edit(plan, "Do it, hash it, show it.", "Do it, show it.")
    return run, plan


def test_a_gate_on_the_approval_of_a_plan_that_has_the_words_of_then_again(doors: Doors) -> None:
    run, plan = reviewed(doors)
    doors.play.do(plans.approve_plan, plan)
    told = doors.caught("P009")
    assert f"gate {QUALITY} of {run} holds again" in told
    assert f"the branch puts back the words of {plan}" in told


def disputed(doors: Doors) -> list[str]:
    """Let two plans that ask more be approved, each as if the other were not known, on main; return them."""
    both = [str(doors.play.do(plans.draft_plan, name, "Do it.", run=run_of(doors), **CHECKED)) for name in "AB"]
    git(doors.root, "switch", "-qc", "side")
    doors.play.do(plans.approve_plan, both[0])
    git(doors.root, "switch", "-q", WORK)
    doors.play.do(plans.approve_plan, both[1])
    git(doors.root, "merge", "-q", "--no-edit", "side")
    doors.landed()
    return both


def test_what_was_given_with_the_plan_before_two_that_were_contested(doors: Doors) -> None:
    """Way: the dispute is settled, and the plan from before it approved once more."""
    doors.policy(BY_GRACE)
    run, plan, task = run_of(doors), doors.play.state(run_of(doors)).canonical, doors.play.proven()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    other = disputed(doors)[1]
    kept = next(one.id for one in doors.play.state(run).approvals() if one.of == other)
    doors.play.do(settling.settle_record, other, kept, reason="The second.")
    doors.play.do(plans.approve_plan, plan)
    told = doors.caught("P009")
    assert f"gate {FINAL} of {run} holds again" in told
    assert f"{task} is proven again" in told


def test_a_completion_whose_evidence_is_doubted_while_its_task_has_the_words_of_then_again(doors: Doors) -> None:
    """Way: a bad second run in one request, the words in the next, and in the third the second run is withdrawn."""
    task = doors.play.task()
    shown = doors.play.evidence(task)
    doors.play.complete(doors.play.claimed(task), shown)
    doors.play.do(tasks.revise_task, task, criteria=["Short ones are refused."])
    argv = doors.answer("evidence", "show", shown)["evidence"]["command"]
    ran = {"argv": argv, "exit": 1}
    doors.witness(task, command=ran, outcome="failed", reproduces=str(doors.ref(shown)))
    doors.landed()
    git(doors.root, "revert", "--no-edit", "HEAD^")
    assert any("ran it again" in why for why in doors.task(task)["unproven_because"])
    assert f"{task} is proven again by {doors.last(task, 'completed')}" in doors.caught("P009")


def outdone(doors: Doors, *others: str) -> tuple[str, str, list[str]]:
    """Choose the second of two candidates that are done, beside open ones; return the task, its words and all."""
    task = doors.play.task()
    tries = [doors.play.dispatch(task, candidate=True, executor=name) for name in ("one", "two", *others)]
    for claim in tries[2:]:
        doors.play.do(dispatches.claim_dispatch, claim)
    for claim in tries[:2]:
        test = tried(doors, claim)
        doors.play.complete(claim, test)
    doors.play.do(selections.select_candidate, task, dispatch=tries[1], reason="This.")
    doors.play.do(evidences.retract, test, reason="It tested nothing.")
    return task, doors.file(task).read_text(), tries


def there_and_back(doors: Doors, what: str, task: str, words: str, plan: str) -> None:
    """Have the base ask something else of a task, by its words or the plan; on the branch put back what was asked."""
    if what == "words":
        doors.play.do(tasks.revise_task, task, criteria=["Short ones are refused."])
    else:
        more(doors, **CHECKED)
    doors.landed()
    if what == "words":
        doors.write(doors.path(task), words)
    else:
        doors.play.do(plans.approve_plan, plan)


@pytest.mark.parametrize("what", ["words", "plan"])
def test_a_completion_of_a_candidate_that_a_further_request_chooses(doors: Doors, what: str) -> None:
    """Way: words or plan of then in one request, while another candidate is chosen; that one in the next."""
    plan, (task, words, tries) = doors.play.state(run_of(doors)).canonical, outdone(doors)
    there_and_back(doors, what, task, words, plan)
    assert not doors.play.is_proven(task)
    done = next(one for one in doors.play.state(task).completions(task) if one.dispatch == tries[0])
    assert f"{task} is proven again by {done.id}" in doors.caught("P009")


@pytest.mark.parametrize("how", ["verified", "by hand"])
@pytest.mark.parametrize("what", ["words", "plan"])
def test_a_completion_that_is_accepted_on_what_it_was_done_with(doors: Doors, what: str, how: str) -> None:
    """Way: the task is accepted, but nothing is shown for it but what had been shown then."""
    plan, task = doors.play.state(run_of(doors)).canonical, doors.play.proven()
    words = doors.file(task).read_text()
    there_and_back(doors, what, task, words, plan)
    if how == "verified":
        assert doors.play.do(verifying.verify_task, task).accepted
    else:
        doors.forge(task, "accepted", text=doors.ref(task).digest)
    assert f"{task} is proven again" in doors.caught("P009")


@pytest.mark.parametrize("was_done", [False, True])
def test_an_approval_that_a_no_to_a_task_hides(doors: Doors, *, was_done: bool) -> None:
    """Way: the words of then come beside it; in a further request that task is called off, or agreed to."""
    run, answer = approved(doors)
    task = doors.play.proven("Another") if was_done else doors.play.task("Another")
    doors.play.as_(GRACE).do(evidences.approve, task, prompt="Is it good?", response="no")
    excepted(doors, run)
    assert doors.missing(run)[-1] == f"approvals: 0 of 1, by {GRACE}"
    assert f"the approval of {run} by {GRACE} counts again by {answer}" in doors.caught("P009")


def test_an_acceptance_beside_other_words_that_were_merged_after_it(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Way: they were written before it, on a branch of their own."""
    run = worked(doors, BY_GRACE)
    doors.landed()
    git(doors.root, "switch", "-qc", "side")
    doors.edit(run, EXCEPTION, "")
    git(doors.root, "switch", "-q", WORK)
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    git(doors.root, "switch", "-q", MAIN)
    with monkeypatch.context() as later:
        later.setenv("GIT_COMMITTER_DATE", "@4000000000 +0000")
        git(doors.root, "merge", "-q", "--no-ff", "--no-edit", "side")
    merge_into(doors.root, WORK, MAIN)
    excepted(doors, run)
    assert f"gate {FINAL} of {run} holds again" in doors.caught("P009")


@pytest.mark.parametrize("given", ["acceptance", "approval"])
def test_what_the_branch_brings_from_before_the_base_had_other_words(
    doors: Doors, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """Way: Grace gave it on the branch; main changes the words after that, and the branch puts them back."""
    doors.policy(BY_GRACE if given == "acceptance" else ASKED)
    run, grace = run_of(doors), doors.play.as_(GRACE)
    doors.play.proven()
    excepted(doors, run)
    doors.landed()
    if given == "acceptance":
        grace.gate(FINAL, "passed", run=run)
    else:
        grace.do(evidences.approve, run)
    git(doors.root, "switch", "-q", MAIN)
    with monkeypatch.context() as later:
        later.setenv("GIT_COMMITTER_DATE", "@4000000000 +0000")
        doors.edit(run, EXCEPTION, "")
    merge_into(doors.root, WORK, MAIN)
    excepted(doors, run)
    told = doors.caught("P009")
    assert f"the branch puts back the words of {run}" in told
    assert ("holds again" if given == "acceptance" else "counts again") in told


def test_an_acceptance_on_the_branch_that_had_not_seen_the_plan_of_the_base(doors: Doors) -> None:
    """Way: the branch brings it, and approves the plan of then once more after that of the base is merged."""
    doors.policy(BY_GRACE)
    run, plan = run_of(doors), doors.play.state(run_of(doors)).canonical
    doors.play.proven()
    doors.landed()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    git(doors.root, "switch", "-q", MAIN)
    other = more(doors)
    merge_into(doors.root, WORK, MAIN)
    doors.refused("gate_fallen", "run complete", run=run)
    doors.play.do(plans.approve_plan, plan)
    told = doors.caught("P009")
    assert f"gate {FINAL} of {run} holds again" in told
    assert f"the branch approves {plan} in the place of {other}" in told
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    doors.sound()


# No way: it is given again, or proven by what did not fall.


def test_an_approval_of_a_plan_that_is_given_again_on_the_words_of_then(doors: Doors) -> None:
    _, plan = reviewed(doors)
    grace = doors.play.as_(GRACE)
    grace.do(plans.approve_plan, plan)
    grace.do(evidences.approve, plan)
    doors.sound("D007")


@pytest.mark.parametrize("what", ["words", "plan"])
def test_a_candidate_that_counts_again_beside_a_new_one(doors: Doors, what: str) -> None:
    """Way: words or plan of then come with a new candidate that is chosen; a further request chooses the old one."""
    plan, (task, words, tries) = doors.play.state(run_of(doors)).canonical, outdone(doors, "three")
    there_and_back(doors, what, task, words, plan)
    doors.play.complete(tries[2], shown(doors, tries[2]))
    doors.play.do(selections.select_candidate, task, dispatch=tries[2], reason="Rather this.")
    assert doors.play.is_proven(task)
    old = next(one for one in doors.play.state(task).completions(task) if one.dispatch == tries[0])
    told = doors.caught("D007", told="P009") if what == "words" else doors.warned("P009")
    assert f"{task} is proven again by {old.id} of {ADA}, should it be chosen" in told


def test_a_candidate_that_is_chosen_and_done_again_on_the_words_of_then(doors: Doors) -> None:
    """No way: the other one is not chosen, and what counts is new."""
    task, words, _ = outdone(doors)
    doors.play.do(tasks.revise_task, task, criteria=["Short ones are refused."])
    doors.landed()
    doors.write(doors.path(task), words)
    doors.play.do(tasks.reopen_task, task, reason="Again.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound("D007")


def test_a_candidate_that_is_chosen_and_proven_by_either_plan(doors: Doors) -> None:
    """What is chosen did not fall; of the other one, which a further request might choose, is warned."""
    plan, task = doors.play.state(run_of(doors)).canonical, doors.play.task()
    tries = [doors.play.dispatch(task, candidate=True, executor=name) for name in ("one", "two")]
    doors.play.complete(tries[0], tried(doors, tries[0]))
    test = tried(doors, tries[1])
    draft = evidences.witness(doors.play.ledger, ["python3", "check.py"], kind="test", quiet=True)
    more_shown = str(doors.play.do(evidences.record_draft, draft, dispatch=tries[1]))
    doors.play.complete(tries[1], test, more_shown)
    doors.play.do(selections.select_candidate, task, dispatch=tries[1], reason="This.")
    more(doors, **CHECKED)
    doors.landed()
    assert doors.play.is_proven(task)
    doors.play.do(plans.approve_plan, plan)
    assert "should it be chosen" in doors.warned("P009")


def test_an_approval_that_is_taken_back_on_the_words_of_then(doors: Doors) -> None:
    """No way: it counts once more only by a new yes to the same."""
    run, _ = approved(doors)
    excepted(doors, run)
    doors.play.as_(GRACE).do(evidences.approve, run, prompt="Is it good?", response="no")
    doors.sound("G004")
