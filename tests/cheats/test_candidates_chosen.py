"""Candidates that are chosen although their latest test failed, or after the release had seen another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import dispatches, evidences, runs, selections, tasks
from tests.play import git

if TYPE_CHECKING:
    from tests.cheats.doors import Doors


def tried(doors: Doors, claim: str) -> str:
    """Claim a candidate and let it change something; return its test, which passed."""
    doors.play.do(dispatches.claim_dispatch, claim)
    return shown(doors, claim)


def shown(doors: Doors, claim: str) -> str:
    """Let a claimed candidate change something; return its test, which passed."""
    doors.write("app.py", f"good {claim}\n")
    head = git(doors.root, "rev-parse", "HEAD")
    doors.play.do(evidences.add_evidence, "diff", diff=f"{head}^..{head}", dispatch=claim)
    return checked(doors, claim)


def checked(doors: Doors, claim: str, word: str = "good") -> str:
    """Run a test for a hand-off, which passes where the code has a word; return the evidence."""
    code = f"raise SystemExit({word!r} not in open('app.py').read())"
    draft = evidences.witness(doors.play.ledger, ["python3", "-c", code], kind="test", quiet=True)
    return str(doors.play.do(evidences.record_draft, draft, dispatch=claim))


def released(doors: Doors) -> tuple[str, str, list[str]]:
    """Return a run that is released, its task and two tries at it, of which the first was chosen."""
    doors.policy("  release: {approvals: 1}\n")
    play, task = doors.play, doors.play.task()
    run = play.state(task).id
    tries = [play.dispatch(task, candidate=True, executor=name) for name in ("one", "two")]
    for claim in tries:
        play.complete(claim, tried(doors, claim))
    play.do(selections.select_candidate, task, dispatch=tries[0], reason="This one.")
    play.as_("Grace").do(evidences.approve, run)
    assert doors.missing(run) == []
    doors.landed()
    return run, task, tries


def test_another_candidate_that_is_chosen_after_the_release(doors: Doors) -> None:
    """Way: the release had seen one try, and the other one is what the run is completed with."""
    run, task, tries = released(doors)
    for _ in doors.accepted("dispatch select", task=task, dispatch=tries[1], reason="Rather this."):
        assert doors.denied("run_not_released", "evidence", "export", "--run", run)
    doors.unfinished("gate_fallen", run, f"it had not seen that {tries[1]} was chosen for {task}")
    git(doors.root, "reset", "-q", "--hard", "HEAD^")
    assert doors.missing(run) == []
    doors.play.do(runs.complete_run, run)
    doors.sound()


def test_the_same_candidate_that_is_chosen_again_after_the_release(doors: Doors) -> None:
    """The honest way: somebody chose another one and thought better of it."""
    run, task, tries = released(doors)
    doors.play.do(selections.select_candidate, task, dispatch=tries[1], reason="Rather this.")
    for _ in doors.accepted("dispatch select", task=task, dispatch=tries[0], reason="No, this."):
        assert doors.gate("release", run) == "passed"
    doors.play.do(runs.complete_run, run)
    doors.sound()


def test_a_choice_that_a_reopening_for_show_takes_back(doors: Doors) -> None:
    """Way: the chosen try proves nothing any more, and a reopening that is settled away lets the other one prove."""
    run, task, _ = released(doors)
    chosen = doors.play.state(task).selected(task)
    cited = next(one for one in doors.play.state(task).completions(task) if one.get("dispatch") == chosen)
    doors.play.do(evidences.retract, cited.data["evidence"][0].partition("@")[0], reason="It lied.")
    doors.landed()
    heads = list(doors.play.state(task).folded(task).heads)
    again = doors.forge(task, "reopened", sees=heads, reason="for show")
    kept = doors.forge(task, "accepted", sees=heads, text=doors.play.state(task).prose(task).digest)
    doors.forge(task, "settled", sees=[again, kept], keep=kept, reason="mine")
    assert doors.play.state(task).selected(task) == chosen
    doors.unfinished("task_unproven", run, task)


def test_a_choice_that_was_reopened_is_none(doors: Doors) -> None:
    _, task, _ = released(doors)
    doors.play.do(tasks.reopen_task, task, reason="Not good enough.")
    assert doors.play.state(task).selected(task) == ""
    doors.sound("G004")  # the release fell


@pytest.mark.parametrize("how", ["retract", "supersede"])
def test_a_failed_test_of_a_candidate_that_is_taken_back(doors: Doors, how: str) -> None:
    """Way: the pass before it, on the same code, would be the latest."""
    doors.policy("  require: [test]\n")
    task = doors.play.task()
    claim = doors.play.dispatch(task, candidate=True)
    good = tried(doors, claim)
    bad = checked(doors, claim, "broken")
    doors.play.complete(claim, good)
    doors.landed()
    told = {"old": bad, "new": good} if how == "supersede" else {"evidence": bad}
    for _ in doors.accepted(f"evidence {how}", reason="It is flaky.", **told):
        assert "failed and was withdrawn" in doors.refused(
            "candidate_refused", "dispatch select", task=task, dispatch=claim
        )
        doors.refused("no_candidate", "dispatch select", task=task)
    checked(doors, claim)
    for _ in doors.accepted("dispatch select", task=task, dispatch=claim):
        assert doors.task(task)["proven"] is True


def test_a_pass_of_a_candidate_that_is_dated_after_its_failure(doors: Doors) -> None:
    """Way: it proves nothing yet, and is the latest test of the candidate, which failed since it had passed."""
    doors.policy("  require: [test]\n")
    task = doors.play.task()
    claim = doors.play.dispatch(task, candidate=True)
    good = tried(doors, claim)
    checked(doors, claim, "broken")
    doors.play.complete(claim, good)
    doors.witness(task, at="2099-01-01T00:00:00.000Z", dispatch=claim)
    assert "failed in its latest run for this code" in doors.refused(
        "candidate_refused", "dispatch select", task=task, dispatch=claim
    )


def test_a_later_pass_of_another_test_of_a_candidate(doors: Doors) -> None:
    """Way: its test failed, and another command of that kind passes after that."""
    doors.policy("  require: [test]\n")
    task = doors.play.task()
    claim = doors.play.dispatch(task, candidate=True)
    good = tried(doors, claim)
    bad = checked(doors, claim, "broken")
    checked(doors, claim)
    doors.play.complete(claim, good)
    assert f"failed in its latest run for this code: {bad}" in doors.refused(
        "candidate_refused", "dispatch select", task=task, dispatch=claim
    )


def test_a_pass_of_a_candidate_that_is_taken_back(doors: Doors) -> None:
    """The honest way: one of two passes was of another machine; the other one is as good as it was."""
    doors.policy("  require: [test]\n")
    task = doors.play.task()
    claim = doors.play.dispatch(task, candidate=True)
    good = tried(doors, claim)
    again = checked(doors, claim)
    doors.play.complete(claim, good)
    doors.play.do(evidences.retract, again, reason="Another machine's.")
    for _ in doors.accepted("dispatch select", task=task, dispatch=claim):
        assert doors.task(task)["proven"] is True
