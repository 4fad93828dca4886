"""What a reviewer gave, and took the ground from by asking more, counts again: its words or its plan are put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import evidences, plans, runs, settling, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

FINAL, TASK = "final_acceptance", "implementation_review"
BY_GRACE = (
    f"  gates: {{required: [{FINAL}], verdicts: {{{FINAL}: ['{GRACE}'], {TASK}: ['{GRACE}']}}, waivers: ['{GRACE}']}}\n"
)
ASKED = f"  gates: {{required: [release]}}\n  release: {{approvals: 1, approvers: ['{GRACE}'], graph: ignore}}\n"
EXCEPTION = "\nPasswords that are there already are left as they are.\n"
CHECKED: dict[str, Any] = {"commands": ["python3 check.py"]}


def excepted(doors: Doors, record: str) -> None:
    """Let a text say once more what is excepted, as it did when something was given on it."""
    doors.write(doors.path(record), doors.file(record).read_text() + EXCEPTION)


def worked(doors: Doors, policy: str) -> str:
    """Let a run with a proven task have an exception; return it."""
    doors.policy(policy)
    run = run_of(doors)
    doors.play.proven()
    excepted(doors, run)
    return run


def strict(doors: Doors, record: str) -> None:
    """Let the reviewer take the exception out of a text, on main."""
    doors.edit(record, EXCEPTION, "")
    doors.landed()


def accepted(doors: Doors, verdict: str = "passed") -> str:
    """Let Grace accept a run with an exception, and take that out; return the run."""
    run = worked(doors, BY_GRACE)
    reason = {"reason": "Looked at by phone."} if verdict == "waived" else {}
    doors.play.as_(GRACE).gate(FINAL, verdict, run=run, **reason)
    strict(doors, run)
    return run


def approved(doors: Doors) -> tuple[str, str]:
    """Let Grace approve a run with an exception, and take that out; return the run and her answer."""
    run = worked(doors, ASKED)
    answer = doors.play.as_(GRACE).do(evidences.approve, run, response="yes")
    strict(doors, run)
    assert doors.missing(run) == [f"approvals: 0 of 1, by {GRACE}"]
    return run, str(answer)


def more(doors: Doors, title: str = "More", **asks: Any) -> str:
    """Let a plan be drafted and approved; return it."""
    plan = str(doors.play.do(plans.draft_plan, title, "Do it, and hash it.", run=run_of(doors), **asks))
    doors.play.do(plans.approve_plan, plan)
    return plan


@pytest.mark.parametrize("verdict", ["passed", "waived"])
def test_an_acceptance_whose_run_has_the_words_of_then_again(doors: Doors, verdict: str) -> None:
    run = accepted(doors, verdict)
    doors.refused("gate_fallen", "run complete", run=run)
    excepted(doors, run)
    told = doors.caught("P009")
    given = doors.last(run, verdict)
    assert f"gate {FINAL} of {run} holds again by {given} of {GRACE}, which did not count at the base" in told
    assert f"the branch puts back the words of {run}" in told


def test_an_acceptance_that_counts_again_in_a_run_which_the_branch_completes(doors: Doors) -> None:
    run = accepted(doors)
    excepted(doors, run)
    assert [*doors.accepted("run complete", run=run)]
    doors.caught("P009")
    rows = [row for row in doors.check("--base", MAIN)[1] if row["code"] == "P009"]
    assert rows[0]["fix"].startswith(f"{run} is completed for good; leave out the commit")


def test_an_approval_whose_run_has_the_words_of_then_again(doors: Doors) -> None:
    run, answer = approved(doors)
    excepted(doors, run)
    assert doors.missing(run) == []
    assert f"the approval of {run} by {GRACE} counts again by {answer}" in doors.caught("P009")


def test_a_review_of_a_task_that_has_the_words_of_then_again(doors: Doors) -> None:
    doors.policy(BY_GRACE)
    task = doors.play.task()
    excepted(doors, task)
    doors.play.as_(GRACE).gate(TASK, "passed", task=task)
    strict(doors, task)
    excepted(doors, task)
    assert f"gate {TASK} of {task} holds again" in doors.caught("P009")


def test_a_completion_whose_task_has_the_words_of_then_again(doors: Doors) -> None:
    task = doors.play.proven()
    doors.play.do(tasks.revise_task, task, criteria=["Short ones are refused."])
    doors.landed()
    assert not doors.play.is_proven(task)
    git(doors.root, "revert", "--no-edit", "HEAD")
    done = doors.last(task, "completed")
    assert f"{task} is proven again by {done} of " in doors.caught("P009")


def test_an_acceptance_with_the_plan_of_before_that_came_after_it(doors: Doors) -> None:
    doors.policy(BY_GRACE)
    run, plan = run_of(doors), doors.play.state(run_of(doors)).canonical
    doors.play.proven()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    other = more(doors)
    doors.landed()
    doors.play.do(plans.approve_plan, plan)
    told = doors.caught("P009")
    assert f"gate {FINAL} of {run} holds again" in told
    assert f"the branch approves {plan} in the place of {other}" in told


def test_an_acceptance_with_another_text_of_its_plan_that_came_after_it(doors: Doors) -> None:
    doors.policy(BY_GRACE)
    run, plan = run_of(doors), doors.play.state(run_of(doors)).canonical
    doors.play.proven()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    doors.edit(plan, "Do it, show it.", "Do it, hash it, show it.")
    doors.play.do(plans.approve_plan, plan)
    doors.landed()
    doors.edit(plan, "Do it, hash it, show it.", "Do it, show it.")
    doors.play.do(plans.approve_plan, plan)
    assert f"the branch approves another text of {plan}" in doors.caught("P009")


@pytest.mark.parametrize("was_rejected", [False, True])
def test_a_completion_with_another_plan_that_asks_no_more_than_then(doors: Doors, *, was_rejected: bool) -> None:
    """Way: the plan of before, or where that which asks more was rejected in a request of its own, a new one."""
    plan, task = doors.play.state(run_of(doors)).canonical, doors.play.proven()
    other = more(doors, **CHECKED)
    doors.landed()
    if was_rejected:
        doors.play.do(plans.reject_plan, other, reason="No.")
        doors.landed()
        plan = more(doors, "Less")
    else:
        doors.play.do(plans.approve_plan, plan)
    assert doors.play.is_proven(task)
    told = doors.caught("P009")
    assert f"{task} is proven again" in told
    assert f"the branch approves {plan} in the place of {other}" in told


def test_words_are_put_back_while_no_plan_is_agreed(doors: Doors) -> None:
    """Way: so that the task is not proven yet, which the next request makes good."""
    plan, task = doors.play.state(run_of(doors)).canonical, doors.play.proven()
    doors.play.do(tasks.revise_task, task, criteria=["Short ones are refused."])
    doors.landed()
    git(doors.root, "revert", "--no-edit", "HEAD")
    doors.play.do(plans.reject_plan, plan, reason="No.")
    assert not doors.play.is_proven(task)
    assert f"{task} is proven again" in doors.caught("P009")


# No ways: it is given again, nothing had fallen, or nobody else's words went.


def test_an_acceptance_that_is_given_again_on_the_words_of_then(doors: Doors) -> None:
    run = accepted(doors)
    excepted(doors, run)
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    doors.sound()


def test_an_approval_that_is_given_again_on_the_words_of_then(doors: Doors) -> None:
    run, _ = approved(doors)
    excepted(doors, run)
    doors.play.as_(GRACE).do(evidences.approve, run, response="yes")
    doors.sound()


def test_a_task_that_is_proven_anew_on_the_words_of_then(doors: Doors) -> None:
    task = doors.play.proven()
    doors.play.do(tasks.revise_task, task, criteria=["Short ones are refused."])
    doors.landed()
    git(doors.root, "revert", "--no-edit", "HEAD")
    doors.play.do(tasks.reopen_task, task, reason="Again.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound("D007")


def test_a_task_that_is_verified_by_a_plan_which_asks_no_more_than_then(doors: Doors) -> None:
    plan, task = doors.play.state(run_of(doors)).canonical, doors.play.proven()
    more(doors, commands=["python3 check.py --all"])
    doors.landed()
    doors.play.do(plans.approve_plan, plan)
    doors.play.evidence(task)
    assert doors.play.do(verifying.verify_task, task).accepted
    doors.warned("D007")


def test_words_that_were_wrapped_otherwise_and_are_as_they_were(doors: Doors) -> None:
    task = doors.play.proven(body="All of them are refused,\nand it is said why.")
    doors.edit(task, "refused,\nand", "refused, and")
    doors.landed()
    assert not doors.play.is_proven(task)
    git(doors.root, "revert", "--no-edit", "HEAD")
    doors.sound("D007")


def test_a_gate_that_anybody_may_pass_on_the_words_of_then(doors: Doors) -> None:
    run = run_of(doors)
    excepted(doors, run)
    doors.play.gate(FINAL, "passed", run=run)
    strict(doors, run)
    excepted(doors, run)
    doors.sound()


def test_a_plan_that_is_again_as_it_was_approved(doors: Doors) -> None:
    plan, task = doors.play.state(run_of(doors)).canonical, doors.play.proven()
    doors.edit(plan, "show it", "show all of it")
    doors.landed()
    assert not doors.play.is_proven(task)
    doors.edit(plan, "show all of it", "show it")
    doors.sound()


def test_evidence_that_is_restored(doors: Doors) -> None:
    task = doors.play.task()
    shown = doors.play.evidence(task)
    doors.play.complete(doors.play.claimed(task), shown)
    doors.remove(shown)
    doors.landed()
    assert not doors.play.is_proven(task)
    git(doors.root, "revert", "--no-edit", "HEAD")
    assert doors.play.is_proven(task)
    doors.sound()


def test_plans_that_were_contested_and_are_settled(doors: Doors) -> None:
    run, task = run_of(doors), doors.play.proven()
    first, second = (
        str(doors.play.do(plans.draft_plan, title, "Do it.", run=run, **asks))
        for title, asks in (("A", CHECKED), ("B", {}))
    )
    git(doors.root, "switch", "-qc", "side")
    doors.play.do(plans.approve_plan, first)
    git(doors.root, "switch", "-q", WORK)
    doors.play.do(plans.approve_plan, second)
    git(doors.root, "merge", "-q", "--no-edit", "side")
    doors.landed()
    assert not doors.play.is_proven(task)
    kept = next(one.id for one in doors.play.state(run).approvals() if one.of == second)
    assert [*doors.accepted("settle", record=second, keep=kept, reason="The second.")]
    assert doors.play.is_proven(task)
    doors.sound()


def test_a_run_that_has_ended_has_the_words_of_then_again(doors: Doors) -> None:
    """No way: that they were others was an error of whoever changed them."""
    run = accepted(doors)
    excepted(doors, run)
    doors.play.do(runs.complete_run, run)
    doors.landed()
    doors.edit(run, EXCEPTION, "")
    doors.landed()
    excepted(doors, run)
    doors.caught("D007")
    assert "P009" not in {row["code"] for row in doors.check("--base", MAIN)[1]}


def test_a_task_of_a_run_that_has_ended_has_the_words_of_then_again(doors: Doors) -> None:
    """A limit: nothing can be given again there, so it is told and no more."""
    run, task = run_of(doors), doors.play.proven()
    doors.play.do(runs.complete_run, run)
    words = doors.file(task).read_text()
    doors.write(doors.path(task), f"{words}\nAnd show it.\n")
    doors.landed()
    assert not doors.play.is_proven(task)

    doors.write(doors.path(task), words)

    assert doors.play.is_proven(task)
    assert f"{task} was completed when its text changed" in doors.warned("D007")


def test_a_contested_task_that_is_settled_while_its_plan_is_approved_once_more(doors: Doors) -> None:
    """No way: the acceptance had fallen for the task, and holds again by what settles that."""
    doors.policy(BY_GRACE)
    run, plan, task = run_of(doors), doors.play.state(run_of(doors)).canonical, doors.play.proven()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run)
    done = doors.last(task, "completed")
    doors.forge(task, "reopened", sees=[done], reason="It is not.")
    doors.forge(task, "rejected", sees=[done], unmet=["All of it."])
    kept = doors.forge(task, "accepted", sees=[done], text=doors.ref(task).digest)
    doors.landed()
    doors.play.do(settling.settle_record, task, kept, reason="It is.")
    doors.play.as_(GRACE).do(plans.approve_plan, plan)
    doors.sound("P005")


def test_a_gate_that_does_not_ask_for_the_plan_when_another_one_is_approved(doors: Doors) -> None:
    """No way: it had not fallen."""
    doors.policy("  gates: {fresh: [quality_review]}\n")
    task = doors.play.proven()
    doors.play.gate("quality_review", "passed", evidence=[doors.play.evidence(task)])
    more(doors)
    doors.landed()
    more(doors, "Another")
    doors.sound()
