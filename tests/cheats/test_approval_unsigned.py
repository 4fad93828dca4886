"""Approvals of one's own work, by one person under several names, or that say no: they do not count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memento_git.ledger import codec, layout
from memento_git.work.actions import dispatches, evidences, plans, runs, settling, tasks, verifying
from tests.cheats.doors import run_of
from tests.cheats.forging import ADA
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

RELEASE = "  release: {approvals: 2, not_author: true}\n"
SPELLINGS = (
    "Ada", "ada", "ADA", "ada@example.invalid", "Ada Lovelace <ADA@example.invalid>", "\uff21da",
)  # fmt: skip
NO = (
    "no", "I do not approve", "not approved", "Approved? No.", "yes, but not yet", "approve?", "yes\u200b no",
    "\u0443es", "nein", "nicht genehmigt", "kein Ja", "non", "je n'approuve pas", "no apruebo", "não",
    "non approvo", "niet akkoord", "nie", "нет", "не одобряю", "hay\u0131r", "아니요", "승인하지 않습니다", "いいえ",
    "承認しません", "不同意", "不批准",
)  # fmt: skip
TYPED = ("no", "yes, but not yet", "нет", "不批准")


def released(doors: Doors, policy: str = RELEASE) -> str:
    """Return a run whose work is done by Ada, and whose release needs what a policy says."""
    doors.policy(policy)
    doors.play.proven()
    return run_of(doors)


def approval(doors: Doors, about: str, by: str, **changes: Any) -> str:
    """Write an approval by hand; return its id."""
    state = doors.play.state(about)
    name = doors.play.ledger.new_id("evidence")
    told = {
        "id": name, "kind": "approval", "at": doors.play.ledger.now(), "by": by, "outcome": "passed",
        "approves": about, "text": state.prose(about).digest, **changes,
    }  # fmt: skip
    doors.write(layout.evidence_path(state.id, name), codec.encode(told))
    return name


def done_on_a_yes(doors: Doors, policy: str, by: str) -> tuple[str, str]:
    """Return a task that Ada completes on an approval that is written by hand, and that approval."""
    doors.policy(policy)
    task = doors.play.task()
    yes = approval(doors, task, by)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task), yes)
    return task, yes


def approvers(doors: Doors) -> list[str]:
    code, out, _ = doors.cli("gate", "release", "-C", str(doors.root), "--json")
    answer = json.loads(out)
    assert (code, answer["ok"]) == (1, False), answer
    found: list[str] = answer["approvers"]
    return found


def test_an_approval_of_ones_own_work(doors: Doors) -> None:
    run = released(doors)
    doors.play.do(evidences.approve, run)
    for actor in SPELLINGS:
        approval(doors, run, actor)
        doors.play.as_(actor).do(evidences.approve, run)
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 2")


@pytest.mark.parametrize("by", [ADA, "Ada Lovelace <ADA@example.invalid>"])
def test_a_task_that_asks_for_an_approval_on_that_of_who_did_it(doors: Doors, by: str) -> None:
    """Way: policy asks that somebody approves each task, and whoever does it says yes."""
    task, _ = done_on_a_yes(doors, "  require: [test, approval]\n", by)
    assert f"{task} asks for an approval, and has that of {by} alone, who did the work" in doors.warned("P003")
    doors.play.as_("Grace").do(evidences.approve, task)
    doors.play.do(verifying.verify_task, task)
    doors.sound()


def test_a_yes_to_ones_own_work_where_none_is_asked(doors: Doors) -> None:
    """No way: the work is proven by its test."""
    task, _ = done_on_a_yes(doors, "  require: [test]\n", ADA)
    assert doors.play.is_proven(task)
    doors.sound()


def test_a_yes_to_ones_own_work_beside_what_somebody_else_ran(doors: Doors) -> None:
    """Way: say yes to one's own work, and cite a test of somebody else's beside it."""
    doors.policy("  require: [test, approval]\n")
    task = doors.play.task()
    yes = approval(doors, task, ADA)
    doors.play.complete(doors.play.claimed(task), doors.play.as_("Grace").evidence(task), yes)
    assert f"has that of {ADA} alone, who did the work" in doors.warned("P003")


@pytest.mark.parametrize("by", [ADA, "Ada Lovelace <ADA@example.invalid>", "\uff21da"])
def test_an_approval_by_who_did_the_task_where_policy_asks_for_anothers(doors: Doors, by: str) -> None:
    """Way: policy asks that somebody else approves each task, and whoever does it says yes, in whatever spelling."""
    task, yes = done_on_a_yes(doors, "  require: [test, approval]\n  approvals: {not_author: true}\n", by)
    assert f"{yes} is by {by}, and policy asks for another than who did the work" in doors.caught("P001")
    assert not doors.play.do(verifying.verify_task, task).accepted


def test_an_approval_by_who_gave_the_task_up(doors: Doors) -> None:
    """Way: claim a task and give it back, so that somebody else completes it on the first one's yes."""
    doors.policy("  require: [test, approval]\n  approvals: {not_author: true}\n")
    task = doors.play.task()
    grace = doors.play.as_("Grace")
    grace.do(dispatches.fail_dispatch, grace.claimed(task), reason="No time.")
    doors.play.do(tasks.reopen_task, task, reason="Goes on.")
    yes = grace.do(evidences.approve, task)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task), yes)
    assert f"{yes} is by Grace, and policy asks for another than who did the work" in doors.caught("P001")


def test_an_approval_by_somebody_whom_policy_does_not_name(doors: Doors) -> None:
    doors.policy("  require: [test, approval]\n  approvals: {approvers: [Cleo]}\n")
    task = doors.play.task()
    grace = doors.play.as_("Grace")
    yes = grace.do(evidences.approve, task)
    assert grace.ledger.warnings == [f"{yes} does not count for {task}: it is by Grace, and policy names Cleo"]
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task), yes)
    assert f"{yes} is by Grace, and policy names Cleo" in doors.caught("P001")


@pytest.mark.parametrize("whose", ["", "  approvals: {approvers: [Grace], not_author: true}\n"])
def test_an_approval_of_anothers_work_is_what_is_asked(doors: Doors, whose: str) -> None:
    doors.policy(f"  require: [test, approval]\n{whose}")
    task = doors.play.task()
    yes = doors.play.as_("Grace").do(evidences.approve, task)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task), yes)
    doors.sound()


def test_one_person_under_two_spellings(doors: Doors) -> None:
    run = released(doors)
    for actor in (
        "Grace <grace@example.invalid>",
        "grace",
        "GRACE",
        "grace@example.invalid",
        "G. <Grace@Example.invalid>",
    ):
        approval(doors, run, actor)
    assert len(approvers(doors)) == 1
    doors.unreleased(run, "approvals: 1 of 2")
    doors.remove(doors.last(run, "passed"))
    approval(doors, run, "Bob")
    assert doors.missing() == []


def test_a_yes_that_is_given_twice(doors: Doors) -> None:
    run = released(doors)
    doors.play.as_("Grace").do(evidences.approve, run)
    for _ in doors.accepted("evidence approve", actor="Grace", about=run):
        assert approvers(doors) == ["Grace"]
    approval(doors, run, "Grace")
    assert approvers(doors) == ["Grace"]
    doors.unreleased(run, "approvals: 1 of 2")


def test_somebody_whom_policy_does_not_name(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1, approvers: [Grace]}\n")
    for actor in ("Bob", "grace", "Grace Hopper", "Gr\u0430ce"):
        approval(doors, run, actor)
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 1, by Grace")


def test_an_answer_that_says_no(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    for words in TYPED:
        for _ in doors.accepted("evidence approve", actor="Grace", about=run, response=words):
            assert approvers(doors) == [], words
    lies = [approval(doors, run, "Grace", prompt="May it go out?", response=words) for words in NO]
    assert approvers(doors) == []
    told = doors.caught("V002")
    assert [lie for lie in lies if f"{lie} says passed" not in told] == []


def test_a_question_that_nobody_answered(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    doors.refused("text_invalid", "evidence approve", about=run, prompt="May it go out?")
    lie = approval(doors, run, "Grace", prompt="May it go out?")
    assert approvers(doors) == []
    assert f"{lie} says passed" in doors.caught("V002")


def test_a_yes_that_was_taken_back(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    grace = doors.play.as_("Grace")
    yes = grace.do(evidences.approve, run)
    no = grace.do(evidences.approve, run, response="no")
    assert approvers(doors) == []
    doors.landed()
    doors.remove(no)
    assert no in doors.caught("D004")
    git(doors.root, "reset", "-q", "--hard", "main")
    doors.play.do(evidences.retract, yes, reason="Too early.")
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 1")


def test_a_no_that_somebody_retracts(doors: Doors) -> None:
    """A no that is withdrawn is not a yes: who said it has to say yes."""
    run = released(doors, "  release: {approvals: 1}\n")
    grace = doors.play.as_("Grace")
    grace.do(evidences.approve, run)
    no = grace.do(evidences.approve, run, response="no")
    doors.play.do(evidences.retract, no, reason="He did not mean it.")
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 1")


def test_an_approval_of_something_else(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    plan = doors.play.state(run).canonical
    other = doors.play.run("Something else")
    for about in (plan, other):
        doors.play.as_("Grace").do(evidences.approve, about)
    doors.unreleased(run, "approvals: 0 of 1")


def test_an_approval_of_some_of_the_tasks(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    second = doors.play.proven("Two")
    doors.play.as_("Grace").do(evidences.approve, second)
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 1")


@pytest.mark.parametrize("text", [None, "ab" * 16])
def test_an_approval_of_another_text_or_of_none(doors: Doors, text: str | None) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    approval(doors, run, "Grace", text=text)
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 1")


def test_an_approval_of_a_goal_that_was_changed_afterwards(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    doors.play.as_("Grace").do(evidences.approve, run)
    doors.edit(run, "Make it work", "Make it look as if it worked")
    assert approvers(doors) == []
    doors.unreleased(run, "approvals: 0 of 1")


def test_a_task_on_the_approval_of_its_easier_text(doors: Doors) -> None:
    """Approved were other criteria than those that the task is completed with."""
    doors.policy("  require: [approval]\n")
    play = doors.play
    task = play.task(criteria=["It refuses empty passwords."])
    yes = play.as_("Grace").do(evidences.approve, task)
    doors.edit(task, "It refuses empty passwords.", "It runs.")
    claim, evidence = play.claimed(task), play.evidence(task)
    doors.refused("evidence_required", "dispatch complete", dispatch=claim, evidence=[evidence, yes])
    doors.completed(task, evidence, yes, dispatch=claim)
    doors.unproven(task, f"{task} is not, as it is now, what was approved")
    doors.caught("P001")


@pytest.mark.parametrize("of", ["task", "plan"])
def test_a_task_on_the_approval_of_another_task_or_of_a_plan(doors: Doors, of: str) -> None:
    doors.policy("  require: [approval]\n")
    play = doors.play
    task, other = play.task("One"), play.task("Two")
    about = other if of == "task" else play.state(task).canonical
    doors.completed(task, play.evidence(task), approval(doors, about, "Grace"))
    doors.unproven(task, f"approves {about}, which is not this task")
    doors.caught("P001")


@pytest.mark.parametrize("actor", [ADA, *SPELLINGS])
def test_a_plan_that_its_author_approves(doors: Doors, actor: str) -> None:
    doors.policy("  plan: {not_author: true}\n")
    run = doors.play.run("Another")
    plan = doors.play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    doors.refused("approver_refused", "plan approve", actor=actor, plan=plan)
    doors.forge(plan, "approved", by=" ".join(actor.split()), text=doors.ref(plan).digest)
    assert "policy asks for another than its author" in doors.caught("P003")


def test_a_plan_that_somebody_approves_whom_policy_does_not_name(doors: Doors) -> None:
    doors.policy("  plan: {approvers: [Grace]}\n")
    run = doors.play.run("Another")
    plan = doors.play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    doors.refused("approver_refused", "plan approve", actor="grace", plan=plan)
    doors.forge(plan, "approved", by="grace", text=doors.ref(plan).digest)
    assert "policy names Grace" in doors.caught("P003")


def test_a_plan_that_was_rejected(doors: Doors) -> None:
    run = doors.play.run("Another")
    plan = doors.play.do(plans.draft_plan, "Plan", "Do it.", run=run)
    doors.play.do(plans.reject_plan, plan, reason="Too risky.")
    doors.landed()
    doors.refused("plan_rejected", "plan approve", plan=plan)
    doors.forge(plan, "approved", text=doors.ref(plan).digest)
    doors.caught("T002")
    doors.remove(doors.last(plan, "approved"))
    doors.forge(plan, "approved", sees=[], text=doors.ref(plan).digest)
    doors.caught("T001")


def test_an_approval_by_nobody(doors: Doors) -> None:
    run = released(doors, "  release: {approvals: 1}\n")
    doors.refused("actor_invalid", "evidence approve", actor=" ", about=run)
    approval(doors, run, "")
    assert approvers(doors) == []
    doors.caught("F002")


def test_a_task_on_the_approval_of_another_tasks_evidence(doors: Doors) -> None:
    doors.policy("  require: [test, approval]\n")
    harmless, task = doors.play.task(), doors.play.task()
    proof = doors.play.evidence(harmless)
    yes = doors.play.as_("Grace").do(evidences.approve, proof, response="yes")
    claim = doors.play.as_(ADA).claimed(task)
    doors.play.complete(claim, doors.play.evidence(task), yes)
    doors.unproven(task, f"{yes} approves {proof}, which is not this task")
    doors.caught("P001")


def test_a_task_on_the_approval_of_something_that_shows_nothing_of_it(doors: Doors) -> None:
    """Way: evidence of the whole run is evidence of each of its tasks, also of those that come later."""
    doors.policy("  require: [test, approval]\n")
    doors.write("logo.png", "a new logo\n")
    run = run_of(doors)
    shot = doors.play.do(evidences.add_evidence, "screenshot", run=run, files=["logo.png"])
    yes = doors.play.as_("Grace").do(evidences.approve, shot, prompt="Is this the new logo?", response="yes")
    task = doors.play.as_(ADA).task("Rewrite the payments")
    claim = doors.play.claimed(task)
    doors.play.complete(claim, doors.play.evidence(task), yes)
    doors.unproven(task, f"{yes} approves {shot}, which is not this task")
    doors.caught("P001")


@pytest.mark.parametrize("task", [True, False])
def test_a_task_on_an_approval_of_nothing(doors: Doors, *, task: bool) -> None:
    """Way: what is about nothing is not changed, and no answer takes it back."""
    doors.policy("  require: [test, approval]\n")
    done = doors.play.task()
    told = {"for": [done]} if task else {}
    yes = doors.shown(done, kind="approval", by="Grace", uri="https://example.invalid/ok", **told)
    doors.completed(done, doors.play.evidence(done), yes)
    doors.play.as_("Grace").do(evidences.approve, done, response="no")
    doors.unproven(done, f"{yes} does not say what it approves")
    doors.caught("P001")


@pytest.mark.parametrize("away", ["", "redacted", "retracted"])
def test_a_task_on_a_yes_that_was_taken_back(doors: Doors, away: str) -> None:
    doors.policy("  require: [test, approval]\n")
    task = doors.play.task()
    grace = doors.play.as_("Grace <grace@example.invalid>")
    yes = grace.do(evidences.approve, task, response="yes")
    no = doors.play.as_("grace").do(evidences.approve, task, response="no, it loses data")
    if away == "redacted":
        doors.play.do(settling.redact_record, no, reason="It names a customer.")
    elif away:
        doors.play.do(evidences.retract, no, reason="Not valid.")
    claim = doors.play.as_(ADA).claimed(task)
    doors.completed(task, doors.play.evidence(task), yes, dispatch=claim)
    doors.unproven(task, f"answered no to {task} since, in {no}")
    doors.caught("P001")


@pytest.mark.parametrize("about", ["run", "task"])
@pytest.mark.parametrize("how", ["retracted", "redacted"])
def test_a_yes_before_one_that_was_withdrawn(doors: Doors, how: str, about: str) -> None:
    """Way: who approves twice, and withdraws the later yes, seems to have left the earlier one."""
    doors.policy("  require: [test, approval]\n  release: {approvals: 2}\n")
    task = doors.play.task()
    run, grace = doors.play.state(task).id, doors.play.as_("Grace")
    given = {"run": run, "task": task}[about]
    first, later = grace.do(evidences.approve, task), doors.play.as_("grace").do(evidences.approve, given)
    if how == "redacted":
        doors.play.do(settling.redact_record, later, reason="It names a customer.")
    else:
        doors.play.do(evidences.retract, later, reason="Not sure.")
    doors.completed(task, doors.play.evidence(task), first, dispatch=doors.play.as_(ADA).claimed(task))
    doors.unproven(task, f"Grace said yes to {given} again in {later}, which was withdrawn; a new yes would count")
    doors.caught("P001")
    assert approvers(doors) == []
    grace.do(evidences.approve, given)
    assert (doors.play.is_proven(task), approvers(doors)) == (True, ["Grace"])


@pytest.mark.parametrize("gone", [False, True])
def test_a_no_before_a_yes_that_was_withdrawn(doors: Doors, *, gone: bool) -> None:
    """Way: a yes to the evidence, which is withdrawn at once, takes the no to it out of what was said."""
    doors.policy("  require: [test, approval]\n")
    task = doors.play.task()
    proof, grace = doors.play.evidence(task), doors.play.as_("Grace")
    yes = grace.do(evidences.approve, task)
    no = grace.do(evidences.approve, proof, response="no")
    if gone:
        doors.play.do(evidences.retract, grace.do(evidences.approve, proof), reason="Not sure.")
    doors.completed(task, proof, yes, dispatch=doors.play.as_(ADA).claimed(task))
    doors.unproven(task, f"Grace answered no to {proof} since, in {no}")
    doors.caught("P001")


@pytest.mark.parametrize(("yes", "no"), [("run", "task"), ("proof", "task"), ("task", "run"), ("run", "proof")])
def test_a_task_on_a_yes_beside_a_later_no_of_what_it_is_part_of(doors: Doors, yes: str, no: str) -> None:
    doors.policy("  require: [test, approval]\n")
    task = doors.play.task()
    about = {"run": run_of(doors), "task": task, "proof": doors.play.evidence(task)}
    grace = doors.play.as_("Grace")
    given = [grace.do(evidences.approve, about[one], response=word) for one, word in ((yes, "yes"), (no, "no"))]
    claim = doors.play.as_(ADA).claimed(task)
    doors.completed(task, about["proof"], given[0], dispatch=claim)
    doors.unproven(task, f"Grace answered no to {about[no]} since, in {given[1]}")
    doors.caught("P001")


def test_the_goal_of_a_run_that_was_completed(doors: Doors) -> None:
    doors.play.proven()
    run = run_of(doors)
    doors.play.do(runs.complete_run, run)
    doors.landed()
    doors.edit(run, "goal: ", "goal: Audited, and ")
    assert "was completed when its goal changed" in doors.caught("D007")


@pytest.mark.parametrize("completed", [True, False])
def test_the_goal_of_a_run_under_way_that_the_branch_completes(doors: Doors, *, completed: bool) -> None:
    """Way: what the run is for becomes something that is quickly done, and nobody reads what it was."""
    run = doors.play.state(doors.play.proven()).id
    doors.landed()
    doors.edit(run, "goal: Make it work", "goal: Tidy the readme")
    if completed:
        doors.play.do(runs.complete_run, run)
    said = doors.caught("D007") if completed else doors.warned("D007")
    assert f"{run} was active when its goal changed" in said


@pytest.mark.parametrize("completed", [True, False])
def test_the_text_of_a_run_under_way_that_the_branch_completes(doors: Doors, *, completed: bool) -> None:
    """It is words alone, and told; another wrapping of them is nothing, nor is more of it, as of constraints."""
    run = doors.play.run("Ship the login", body="No password is ever logged.\n\n- It is\n  right.", spike=True)
    doors.play.proven(run=run)
    doors.landed()
    doors.edit(run, "- It is\n  right.", "- It is fast.\n- It is right.\n\nIt is small.")
    doors.sound()
    doors.edit(run, "No password is ever logged.", "No password, it is said, is ever logged.")
    if completed:
        doors.play.do(runs.complete_run, run)
    assert f"{run} was active when its text changed" in doors.warned("D007")


@pytest.mark.parametrize("told", [True, False])
def test_lines_that_take_back_the_text_of_a_run_that_the_branch_completes(doors: Doors, *, told: bool) -> None:
    """Way: the text stays as it is, in a comment; lines that are only wrapped anew are told nowhere."""
    run = doors.play.run("Ship the login", body="No password\nis ever logged.", spike=True)
    doors.play.proven(run=run)
    doors.landed()
    new = "<!--\n\nNo password\nis ever logged.\n\n-->" if told else "No password is ever\nlogged."
    doors.edit(run, "No password\nis ever logged.", new)
    doors.sound()
    doors.play.do(runs.complete_run, run)
    if told:
        assert f"{run} was active when its text changed" in doors.warned("D007")
    else:
        doors.sound()


def test_the_constraints_of_a_run_under_way(doors: Doors) -> None:
    """More of them is no way: what is done is held against all that there were."""
    run = doors.play.state(doors.play.proven()).id
    doors.edit(run, "goal: Make it work\n", "goal: Make it work\nconstraints:\n- An audit has seen it.\n")
    doors.landed()
    doors.edit(run, "- An audit has seen it.\n", "- An audit has seen it.\n- It is fast.\n")
    doors.sound()
    doors.edit(run, "- An audit has seen it.\n", "")
    doors.play.do(runs.complete_run, run)
    assert f"{run} was active when its constraints changed" in doors.caught("D007")
