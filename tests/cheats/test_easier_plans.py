"""What the canonical plan of the base asks is edited away, or another plan that asks less takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memento_git.work.actions import dispatches, plans, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA, GRACE
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

WORDS = "python3 check.py"
ASKED: dict[str, Any] = {"commands": [WORDS]}
WHOLE = "  commands:\n  - run:\n    - python3\n    - check.py\n"
TERMS = "    reports:\n    - junit.xml\n    timeout: 1m\n"
LESS = "asks less: before, the plan asks for"


@pytest.fixture
def strict(doors: Doors) -> str:
    """A canonical plan of the main branch on which a task is handed out; it asks for a command with its report."""
    run = run_of(doors)
    plan = str(doors.play.do(plans.draft_plan, "Strict", "Do it.", run=run, **ASKED))
    doors.edit(plan, WHOLE, WHOLE + TERMS)
    approve(doors, plan)
    doors.play.claimed(doors.play.task())
    doors.landed()
    return plan


def approve(doors: Doors, plan: str) -> None:
    doors.play.do(plans.approve_plan, plan)


def lax(doors: Doors, of: str, **asks: Any) -> str:
    """Let another plan take the place of one; return it."""
    plan = str(doors.play.do(plans.draft_plan, "Lax", "Do it.", run=doors.play.state(of).id, **asks))
    approve(doors, plan)
    return plan


def emptied(doors: Doors, plan: str) -> None:
    doors.edit(plan, f"verify:\n{WHOLE}{TERMS}", "")


def test_a_plan_that_is_made_easier_and_approved_again(doors: Doors, strict: str) -> None:
    emptied(doors, strict)
    approve(doors, strict)
    assert f"{strict} changed, and {LESS} `{WORDS}`" in doors.warned("D007")
    assert {row["path"] for row in doors.check("--base", "main")[1]} == {doors.path(strict)}


def test_a_plan_that_is_made_easier_before_an_easy_one_takes_its_place(doors: Doors, strict: str) -> None:
    emptied(doors, strict)
    easy = lax(doors, strict)
    assert f"{easy} took the place of {strict}, and {LESS} `{WORDS}`" in doors.warned("D007")
    paths = [row["path"] for row in doors.check("--base", "main")[1] if "took the place" in row["message"]]
    assert ["-approved-" in path for path in paths] == [True], "that is what the branch did"


def test_a_plan_that_is_made_easier_after_it_was_rejected(doors: Doors, strict: str) -> None:
    """Way: between a rejection and the next approval no plan holds, so that nobody compares it with one."""
    doors.play.do(plans.reject_plan, strict, reason="Too much.")
    doors.landed()
    emptied(doors, strict)
    assert f"{strict} changed, and {LESS} `{WORDS}`" in doors.warned("D007")


def test_a_plan_in_the_place_of_one_that_was_rejected_before(doors: Doors, strict: str) -> None:
    doors.play.do(plans.reject_plan, strict, reason="Too much.")
    doors.landed()
    assert LESS in (lax(doors, strict) and doors.warned("D007"))


def test_a_plan_that_asks_the_same_in_the_place_of_one_that_somebody_else_rejected(doors: Doors) -> None:
    """Way: what was done on the rejected plan is proven again, though it asks for nothing that was not done."""
    task, run = doors.play.proven(), run_of(doors)
    unproven = doors.play.task("Another one")
    doors.completed(unproven, doors.play.evidence(unproven, code=1))
    plan = doors.play.state(run).canonical
    doors.play.as_(GRACE).do(plans.reject_plan, plan, reason="The wrong way.")
    doors.landed()
    assert not doors.play.is_proven(task)
    other = lax(doors, plan)
    assert doors.play.is_proven(task)
    told = f"approves {other} in the place of {plan}, which {GRACE} rejected, so that what was done before counts again"
    said = doors.warned("P009")
    assert f"the branch {told}: {task}" in said
    assert unproven not in said


def test_another_plan_of_who_rejected_one_or_of_an_approver(doors: Doors) -> None:
    """The honest way: whoever said no says what to do instead, or one does whom policy names for that."""
    plan = doors.play.state(doors.play.proven()).canonical
    grace = doors.play.as_(GRACE)
    grace.do(plans.reject_plan, plan, reason="The wrong way.")
    doors.landed()
    git(doors.root, "branch", "before")
    grace.do(plans.approve_plan, grace.do(plans.draft_plan, "Anew", "Do it.", run=doors.play.state(plan).id))
    doors.sound()
    git(doors.root, "reset", "-q", "--hard", "before")
    doors.policy(f"  plan: {{approvers: ['{ADA}', '{GRACE}']}}\n")
    ada = doors.play.as_(ADA)
    ada.do(plans.approve_plan, ada.do(plans.draft_plan, "Anew", "Do it.", run=doors.play.state(plan).id))
    doors.sound()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    reports:\n    - junit.xml\n", ""),
        ("    timeout: 1m\n", "    timeout: 1h\n"),
        ("    timeout: 1m\n", ""),
        ("    timeout: 1m\n", "    timeout: 1m\n    kind: lint\n"),
    ],
)
def test_a_plan_that_asks_for_the_same_command_on_easier_terms(doors: Doors, strict: str, old: str, new: str) -> None:
    easy = str(doors.play.do(plans.draft_plan, "Lax", "Do it.", run=doors.play.state(strict).id, **ASKED))
    doors.edit(easy, WHOLE, WHOLE + TERMS)
    doors.edit(easy, old, new)
    approve(doors, easy)
    told = f"{LESS} `{WORDS}` as test evidence, with junit.xml, within 60 s"
    assert f"{easy} took the place of {strict}, and {told}" in doors.warned("D007")


def test_a_plan_that_asks_what_policy_asks_of_some_tasks_alone(doors: Doors) -> None:
    """Way: an entry of policy for other tasks asks the same."""
    doors.policy("  verify: [{when: {risks: [medium]}, evidence: [lint]}]\n")
    strict = lax(doors, run_of(doors), require=["lint"])
    doors.landed()
    assert f"took the place of {strict}, and {LESS} lint evidence" in (lax(doors, strict) and doors.warned("D007"))


def test_a_plan_that_asks_as_much_or_more(doors: Doors, strict: str) -> None:
    """The honest way: a plan is worded anew, and another one asks what policy does not ask of everybody already."""
    doors.policy("  verify: [{evidence: [lint]}]\n")
    doors.edit(strict, "Do it.", "Do it well.")
    doors.edit(strict, "timeout: 1m\n", "timeout: 30s\n  evidence: [lint]\n")
    approve(doors, strict)
    doors.sound()
    doors.landed()
    more = str(doors.play.do(plans.draft_plan, "More", "Do it.", run=doors.play.state(strict).id, **ASKED))
    doors.edit(more, WHOLE, f"{WHOLE}    reports: [junit.xml, more.xml]\n    timeout: 10s\n")
    approve(doors, more)
    doors.sound()


def begun(doors: Doors, *, done: bool = True) -> tuple[str, str, str, str]:
    """Return a plan that asks for a check, a task that is handed out on it, its claim, and evidence of another one."""
    run = run_of(doors)
    plan = str(doors.play.do(plans.draft_plan, "Strict", "Do it.", run=run, **ASKED))
    approve(doors, plan)
    task = doors.play.task()
    claim, proof = doors.play.claimed(task), doors.play.evidence(task)
    if done:
        doors.play.complete(claim, proof)
    return plan, task, claim, proof


@pytest.mark.parametrize("done", [True, False])
def test_a_plan_of_the_branch_in_whose_place_an_easier_one_comes_after_the_hand_out(
    doors: Doors, *, done: bool
) -> None:
    """Way: with verbs alone, and all on one branch, so that the base has neither of both plans."""
    plan, task, claim, proof = begun(doors, done=done)
    easy = lax(doors, plan)
    if not done:
        doors.sound()  # nothing is done by it yet
        doors.play.complete(claim, proof)
    assert doors.play.is_proven(task)
    assert f"{easy} took the place of {plan}, and {LESS} `{WORDS}`" in doors.warned("D007")


def test_an_easier_plan_in_the_request_before_the_completion(doors: Doors) -> None:
    plan, _, claim, proof = begun(doors, done=False)
    lax(doors, plan)
    doors.landed()
    doors.play.complete(claim, proof)
    assert f"took the place of {plan}, and {LESS} `{WORDS}`" in doors.warned("D007")


@pytest.mark.parametrize("other", [True, False])
def test_a_plan_of_the_branch_that_is_made_easier_after_the_hand_out(doors: Doors, *, other: bool) -> None:
    """Way: it is approved again, or another easy one, so that only history has what it asked, or nothing has."""
    plan, task, *_ = begun(doors)
    doors.edit(plan, f"verify:\n{WHOLE}", "")
    lax(doors, plan) if other else approve(doors, plan)
    assert doors.play.is_proven(task)
    told = doors.warned("D007")
    assert f"{task} was handed out on other words of {plan}" in told  # staged, or squashed
    assert f"{LESS} `{WORDS}`" in told


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("way", ["recovered", "reopened", "repaired"])
def test_an_easier_plan_after_the_work_on_another_was_taken_back(doors: Doors, way: str, *, landed: bool) -> None:
    """Way: what was handed out on the plan is not done by that hand-out any more."""
    plan, task, claim, _ = begun(doors, done=way != "recovered")
    if way == "recovered":
        doors.play.do(dispatches.recover_dispatch, claim, force=True, reason="Again.")
    if way == "repaired":
        doors.play.do(verifying.verify_task, task)
        repair = str(doors.play.do(verifying.repair_task, task))
    if way != "recovered":
        doors.play.do(tasks.reopen_task, task, reason="Again.")
    if way == "repaired":
        doors.play.do(tasks.cancel_task, task, reason=f"{repair} repairs it")
        task = repair
    easy = lax(doors, plan)
    if landed:
        doors.landed()
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert doors.play.is_proven(task)
    assert f"{easy} took the place of {plan}, and {LESS} `{WORDS}`" in doors.warned("D007")


def test_an_easier_plan_before_anything_is_handed_out_on_anothers(doors: Doors) -> None:
    """Way: what somebody else approved on the branch is replaced before it binds anybody."""
    run = run_of(doors)
    grace = doors.play.as_("Grace")
    plan = str(grace.do(plans.draft_plan, "Strict", "Do it.", run=run, **ASKED))
    grace.do(plans.approve_plan, plan)
    easy = lax(doors, plan)
    assert f"{easy} took the place of {plan}, and {LESS} `{WORDS}`" in doors.warned("D007")
    doors.landed()
    lax(doors, plan)
    doors.sound()  # that less is asked is the base's


def test_a_plan_of_ones_own_that_is_eased_before_anything_is_done_by_it_is_no_cheat(doors: Doors) -> None:
    """The honest way: whoever drafts a plan finds out what can be asked."""
    run = run_of(doors)
    plan = lax(doors, run, **ASKED)
    doors.edit(plan, "Do it.", "Do it well.")
    approve(doors, plan)
    lax(doors, plan)
    doors.play.proven()
    doors.sound()


def test_a_plan_that_asks_more_after_the_hand_out_is_no_cheat(doors: Doors) -> None:
    plan, task, claim, _ = begun(doors, done=False)
    lax(doors, plan, commands=[WORDS], require=["test"])
    doors.play.complete(claim, doors.witness(task))
    assert doors.play.is_proven(task)
    doors.sound()


def test_words_of_the_bases_plan_that_are_mended_after_the_hand_out_are_no_cheat(doors: Doors) -> None:
    plan, task, claim, _ = begun(doors, done=False)
    doors.landed()
    doors.edit(plan, "Do it.", "Do it well.")
    approve(doors, plan)
    doors.play.complete(claim, doors.witness(task))
    doors.sound()


def test_a_typo_of_a_plan_that_is_mended_in_the_request_before_is_no_cheat(doors: Doors) -> None:
    """The honest way: history has the words that the task was handed out on, and they asked the same."""
    plan, task, claim, _ = begun(doors, done=False)
    doors.edit(plan, "Do it.", "Do it well.")
    approve(doors, plan)
    doors.landed()
    doors.play.complete(claim, doors.witness(task))
    doors.sound()
