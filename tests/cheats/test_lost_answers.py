"""A no that would count for nothing, because of what it is about or what became of that; and a yes that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from memento_git.work.actions import evidences, plans, settling, tasks
from tests.cheats.forging import ADA
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

BOTH = "  require: [test, approval]\n  release: {approvals: 1}\n"
WHY = "It names a customer."


class Work(NamedTuple):
    """A run with one task, which Grace said yes to and which was completed on that; and diffs of both."""

    run: str
    task: str
    yes: str
    diff: str
    whole: str


@pytest.fixture
def work(doors: Doors) -> Work:
    doors.policy(BOTH)
    play, task = doors.play, doors.play.task()
    run, claim = play.state(task).id, play.claimed(task)
    doors.write("app.py", "good\n# better\n")
    span = "{0}^..{0}".format(git(doors.root, "rev-parse", "HEAD"))
    diff, whole = (
        str(play.do(evidences.add_evidence, "diff", diff=span, **options))
        for options in ({"tasks": [task]}, {"run": run})
    )
    yes = str(play.as_("Grace").do(evidences.approve, run))
    play.complete(claim, play.evidence(task), yes)
    return Work(run, task, yes, diff, whole)


def said(doors: Doors, about: str, response: str = "no") -> str:
    """Let Grace answer."""
    return str(doors.play.as_("Grace").do(evidences.approve, about, prompt="Is it good?", response=response))


def refused(doors: Doors, work: Work, no: str) -> None:
    """Assert that the no counts for task and release, until Grace says yes to the run again."""
    doors.unproven(work.task, f"in {no}")
    doors.unreleased(work.run, "approvals: 0 of 1")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    said(doors, work.run, "yes")
    assert doors.missing(work.run) == []
    doors.sound()


@pytest.mark.parametrize("what", ["diff", "whole", "plan"])
def test_a_no_to_what_shows_the_work(doors: Doors, work: Work, what: str) -> None:
    """Way: the yes was to the run, and the no is to the diff of a task, to that of the whole run, or to its plan."""
    about = {"diff": work.diff, "whole": work.whole, "plan": doors.play.state(work.run).canonical}[what]
    no = said(doors, about)
    doors.landed()
    refused(doors, work, no)


def test_a_no_to_a_plan_that_is_approved_once_more_as_another(doors: Doors, work: Work) -> None:
    """Way: the plan that the no is about holds no more; another one of the same text does."""
    plan = doors.play.state(work.run).canonical
    text = doors.play.state(work.run).prose(plan)
    no = said(doors, plan)
    doors.landed()
    same = str(doors.play.do(plans.draft_plan, text.title, text.body, run=work.run))
    for _ in doors.accepted("plan approve", plan=same):
        assert doors.missing(work.run)[-1] == "approvals: 0 of 1"
    doors.unproven(work.task, f"in {no}")


@pytest.mark.parametrize("how", ["retract", "redact"])
def test_a_no_of_a_clock_that_is_ahead_and_is_taken_back(doors: Doors, work: Work, how: str) -> None:
    """Way: it counts for now, and as if it did not yet once somebody has withdrawn it."""
    no = doors.shown(
        work.whole, by="Grace", approves=work.whole, kind="approval", at="2999-01-01T00:00:00.000Z", outcome="failed",
        prompt="Is it good?", response="no",
    )  # fmt: skip
    doors.landed()
    for _ in doors.accepted(f"evidence {how}", reason=WHY, **{"evidence" if how == "retract" else "target": no}):
        assert doors.missing(work.run)[-1] == "approvals: 0 of 1"


@pytest.mark.parametrize("what", ["diff", "whole"])
@pytest.mark.parametrize("gone", ["the diff", "the no", "both"])
def test_a_no_to_a_diff_of_which_something_is_redacted(doors: Doors, work: Work, what: str, gone: str) -> None:
    """Way: nothing says any more of which task the diff was, or that there was a no."""
    about = work.diff if what == "diff" else work.whole
    no = said(doors, about)
    if gone == "both":
        doors.play.do(settling.redact_record, no, reason=WHY)
    doors.landed()
    for _ in doors.accepted("evidence redact", target=no if gone == "the no" else about, reason=WHY):
        assert f"task {work.task} is not proven" in doors.missing(work.run)[0]
        assert doors.missing(work.run)[-1] == "approvals: 0 of 1"
    refused(doors, work, no)


@pytest.mark.parametrize("how", ["retract", "supersede"])
def test_a_no_to_a_diff_that_is_withdrawn(doors: Doors, work: Work, how: str) -> None:
    """Way: what the no was about counts no more, and so would the no."""
    no = said(doors, work.whole)
    told = {"old": work.whole, "new": work.diff} if how == "supersede" else {"evidence": work.whole}
    for _ in doors.accepted(f"evidence {how}", reason="Another one shows more.", **told):
        assert doors.missing(work.run)[-1] == "approvals: 0 of 1"
    refused(doors, work, no)


@pytest.mark.parametrize("kept", [{}, {"for": ["task_000000000000"]}])
def test_a_redaction_that_names_no_task_or_another(doors: Doors, work: Work, kept: dict[str, list[str]]) -> None:
    no = said(doors, work.diff)
    doors.landed()
    told: dict[str, Any] = {"kept": kept} if kept else {}
    path, data = doors.drafted(work.diff, "redacted", target=str(doors.ref(work.diff)), reason=WHY, **told)
    doors.remove(work.diff)
    doors.write(path, data)
    assert work.diff in doors.caught("D009")
    if not kept:
        refused_at_least(doors, work, no)


def refused_at_least(doors: Doors, work: Work, no: str) -> None:
    doors.unproven(work.task, f"in {no}")
    assert doors.missing(work.run)[-1] == "approvals: 0 of 1"


def test_a_redaction_of_old_that_a_second_one_narrows(doors: Doors, work: Work) -> None:
    """Way: a redaction that tells of no task is followed by one that tells of another one."""
    no = said(doors, work.diff)
    other = doors.play.task("Another")
    target = str(doors.ref(work.diff))
    path, data = doors.drafted(work.diff, "redacted", target=target, reason=WHY)
    doors.remove(work.diff)
    doors.write(path, data)
    doors.landed()
    doors.refused("already_redacted", "evidence redact", target=work.diff, reason=WHY)
    doors.forge(work.diff, "redacted", target=target, reason=WHY, kept={"for": [other]})
    refused_at_least(doors, work, no)


def test_a_no_to_a_diff_that_a_gate_rests_on_a_yes_beside(doors: Doors, work: Work) -> None:
    """Way: a gate of the run passed on a yes to the run; the no is to a task's diff."""
    doors.play.gate("quality_review", "passed", evidence=[work.yes])
    no = said(doors, work.diff)
    doors.refused("gate_unfounded", "gate record", gate="quality_review", verdict="passed", evidence=[work.yes])
    assert no in doors.caught("G001", "P001")


def test_a_no_to_one_task_and_a_yes_to_another(doors: Doors, work: Work) -> None:
    """Way: her latest answer is a yes, and it is about something else."""
    other = doors.play.as_(ADA).task("Another")
    doors.play.gate("quality_review", "passed", evidence=[work.yes])
    no = said(doors, work.task)
    said(doors, other, "yes")
    assert no in doors.caught("G001", "P001")


@pytest.mark.parametrize("what", ["diff", "whole"])
def test_a_no_that_is_followed_by_a_yes_to_the_same(doors: Doors, work: Work, what: str) -> None:
    """The honest way: she asked for something, looked at it again, and says yes."""
    about = work.diff if what == "diff" else work.whole
    said(doors, about)
    assert doors.missing(work.run)[-1] == "approvals: 0 of 1"
    for _ in doors.accepted("evidence approve", actor="Grace", about=about, response="yes"):
        assert doors.missing(work.run) == []
    doors.sound()


def test_a_no_that_somebody_else_answers(doors: Doors, work: Work) -> None:
    no = said(doors, work.diff)
    for _ in doors.accepted("evidence approve", actor="Bob", about=work.diff, response="yes"):
        doors.unproven(work.task, f"in {no}")


def test_a_redaction_of_what_nobody_answered_to(doors: Doors, work: Work) -> None:
    """The honest way: a diff held a secret, and all that was said is about something else."""
    for _ in doors.accepted("evidence redact", target=work.diff, reason=WHY):
        assert doors.missing(work.run) == []
    doors.sound()


def test_a_no_to_another_task_whose_diff_is_redacted(doors: Doors, work: Work) -> None:
    """The honest way: the diff of one task held a secret, which is why she said no; the other stays as it was."""
    other = doors.play.as_(ADA).task("Another")
    diff = doors.play.do(evidences.add_evidence, "diff", diff="main..HEAD", tasks=[other])
    said(doors, diff)
    for _ in doors.accepted("evidence redact", target=diff, reason=WHY):
        assert doors.task(work.task)["proven"] is True
        assert doors.task(other)["status"] == "pending"
    doors.sound()


def test_a_no_to_a_plan_that_does_not_hold(doors: Doors, work: Work) -> None:
    """The honest way: a draft of more is turned down; what was approved stays so."""
    draft = doors.play.as_(ADA).do(plans.draft_plan, "More", "Do more.", run=work.run)
    for _ in doors.accepted("evidence approve", actor="Grace", about=draft, response="no"):
        assert doors.missing(work.run) == []
    doors.sound()


def test_a_no_to_work_that_is_called_off(doors: Doors, work: Work) -> None:
    """Way: the no was to a task that is done; it is reopened and cancelled, so that the yes of before is the latest."""
    other = doors.play.task("Another")
    doors.play.complete(doors.play.claimed(other), doors.play.evidence(other), work.yes)
    doors.play.gate("quality_review", "passed", evidence=[work.yes])
    no = said(doors, other)
    doors.landed()
    doors.play.do(tasks.reopen_task, other, reason="Not needed.")
    doors.play.do(tasks.cancel_task, other, reason="Not needed.")
    assert doors.missing(work.run)[-1] == "approvals: 0 of 1"
    doors.refused("gate_unfounded", "gate record", gate="quality_review", verdict="passed", evidence=[work.yes])
    doors.unreleased(work.run, "approvals: 0 of 1")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    doors.play.gate("quality_review", "requested")
    assert no
    said(doors, work.run, "yes")
    assert doors.missing(work.run) == []
    doors.sound()


def test_work_that_nobody_approved_and_that_is_called_off(doors: Doors) -> None:
    """Way: who approved the other tasks, each by itself, seems to have approved all that is left."""
    doors.policy("  release: {approvals: 1}\n")
    task, other = doors.play.proven(), doors.play.proven("Another")
    run = doors.play.state(task).id
    said(doors, task, "yes")
    doors.landed()
    assert doors.missing(run) == ["approvals: 0 of 1"]
    doors.play.do(tasks.reopen_task, other, reason="Not needed.")
    doors.play.do(tasks.cancel_task, other, reason="Not needed.")
    doors.unreleased(run, "approvals: 0 of 1")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    said(doors, run, "yes")
    assert doors.missing(run) == []
    doors.sound()


def test_a_task_that_nobody_approved_and_that_was_never_done_is_called_off(doors: Doors) -> None:
    """No way: there is nothing of it."""
    doors.policy("  release: {approvals: 1}\n")
    task, other = doors.play.proven(), doors.play.task("Another")
    said(doors, task, "yes")
    doors.landed()
    doors.play.do(tasks.cancel_task, other, reason="Not needed.")
    assert doors.missing(doors.play.state(task).id) == []
    doors.sound()


def test_a_no_to_a_task_that_was_never_done_and_is_called_off(doors: Doors, work: Work) -> None:
    """No way: what was not wanted is not done."""
    other = doors.play.task("Another")
    said(doors, other)
    doors.landed()
    doors.play.do(tasks.cancel_task, other, reason="Not wanted.")
    assert doors.missing(work.run) == []
    doors.sound()
