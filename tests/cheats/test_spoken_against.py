"""What somebody said against work is done away with by a legal event; that the branch does so is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memento_git.work.actions import evidences, reproducing, settling, tasks
from tests.cheats.doors import run_of
from tests.cheats.forging import GRACE, MAIN, WORK
from tests.cheats.test_given_before import BY_GRACE, FINAL
from tests.play import git, merge_into

if TYPE_CHECKING:
    from tests.cheats.doors import Doors

CI = "CI <ci@example.invalid>"


def contradicted(doors: Doors, *, lands: bool = True) -> tuple[str, str, str]:
    """Let CI run a task's evidence again with another end, on main by default; return the task and both runs."""
    task = doors.play.task()
    shown = doors.play.evidence(task)
    doors.play.complete(doors.play.claimed(task), shown)
    argv = doors.answer("evidence", "show", shown)["evidence"]["command"]
    ran = {"argv": argv, "exit": 1}
    again = doors.witness(task, command=ran, outcome="failed", reproduces=str(doors.ref(shown)), by=CI)
    if lands:
        doors.landed()
    assert not doors.play.is_proven(task)
    return task, shown, again


@pytest.mark.parametrize("how", ["retract", "supersede", "redact"])
def test_a_second_run_that_came_to_something_else_is_taken_away(doors: Doors, how: str) -> None:
    task, shown, again = contradicted(doors)
    other = doors.play.evidence(task)
    told = {"retract": {"evidence": again}, "supersede": {"old": again, "new": other}, "redact": {"target": again}}[how]
    for _ in doors.accepted(f"evidence {how}", reason="It was a bad day.", **told):
        assert doors.play.is_proven(task)
    assert f"{shown} counts again: {again} by {CI} speaks against it" in doors.warned("P009")


def test_what_a_second_run_spoke_against_is_run_once_more_where_that_is_taken_away(doors: Doors) -> None:
    """Way: the completion lies at the base, so that nothing of it seems to be the branch's."""
    doors.policy("  reproduce: {commands: [[python3, check.py]]}\n")
    doors.write("app.py", "worse\n")
    task = doors.play.task()
    shown = doors.witness(task)
    doors.completed(task, shown)
    doors.witness(task, command={"exit": 3}, outcome="failed", reproduces=str(doors.ref(shown)), by=CI)
    doors.landed()
    doors.play.task("Another one")
    assert reproducing.reproduce(doors.play.ledger, base=MAIN) == [], "it does not count on the branch either"
    (other,) = doors.play.state(task).seen_again(doors.play.state(task).pieces([shown])[0]).differ
    doors.forge(other, "retracted", reason="It was a bad day.")
    assert f"{shown} counts again" in doors.warned("P009")
    assert [(one.evidence.id, one.status) for one in reproducing.reproduce(doors.play.ledger, base=MAIN)] == [
        (shown, "differs")
    ]


@pytest.mark.parametrize("where", ["base", "branch"])
def test_a_new_pass_of_what_failed_in_a_second_run(doors: Doors, where: str) -> None:
    """Way: nobody takes the second run away; the same is said again, in evidence that it does not name."""
    task, _, again = contradicted(doors, lands=where == "base")
    doors.play.do(tasks.reopen_task, task, reason="Once more.")
    other = doors.play.evidence(task)
    doors.play.complete(doors.play.claimed(task), other)
    assert doors.play.is_proven(task)
    told = doors.warned("P009")
    assert f"{other} passes what failed on the same code when {CI} ran it again, in {again}" in told
    doors.play.do(evidences.retract, again, reason="The machine was full.")
    assert other not in "".join(row["message"] for row in doors.check("--base", MAIN)[1] if row["code"] == "P009")


def test_a_gate_that_passes_on_a_new_pass_of_what_failed_in_a_second_run(doors: Doors) -> None:
    task, _, again = contradicted(doors)
    other = doors.play.evidence(task)
    doors.play.gate(FINAL, "passed", run=run_of(doors), evidence=[other])
    assert f"{other} passes what failed on the same code when {CI} ran it again, in {again}" in doors.warned("P009")


def test_what_failed_is_not_told_as_a_pass_beside_a_second_run_that_passed(doors: Doors) -> None:
    """No way: two runs that ended otherwise, and the work is cited on the one that failed."""
    task = doors.play.task()
    shown = doors.play.evidence(task, code=1)
    argv = doors.answer("evidence", "show", shown)["evidence"]["command"]
    doors.witness(task, command={"argv": argv}, reproduces=str(doors.ref(shown)), by=CI)
    doors.landed()
    doors.completed(task, doors.play.evidence(task, code=1))
    doors.caught("P001")
    assert "P009" not in {row["code"] for row in doors.check("--base", MAIN)[1]}


def test_a_pass_on_code_that_was_mended_since_a_second_run_failed(doors: Doors) -> None:
    """No way: that is what a failure asks for."""
    task, _, _ = contradicted(doors)
    doors.write("app.py", "good, and mended\n")
    doors.play.do(tasks.reopen_task, task, reason="It is mended.")
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    doors.sound()


def test_a_second_run_that_agrees_is_taken_away(doors: Doors) -> None:
    """No way: it did not speak against anything."""
    task = doors.play.task()
    shown = doors.play.evidence(task)
    doors.play.complete(doors.play.claimed(task), shown)
    argv = doors.answer("evidence", "show", shown)["evidence"]["command"]
    again = doors.witness(task, command={"argv": argv}, reproduces=str(doors.ref(shown)), by=CI)
    doors.landed()
    assert [*doors.accepted("evidence retract", evidence=again, reason="Once is enough.")]
    doors.sound()


def disputed(doors: Doors) -> tuple[str, str]:
    """Let a branch from before Grace's rejection accept a task, and land unseen; return the task and the acceptance."""
    doors.policy(BY_GRACE)
    task = doors.play.proven()
    doors.play.as_(GRACE).gate(FINAL, "passed", run=run_of(doors))
    doors.landed()
    git(doors.root, "switch", "-qc", "side")
    accepted = doors.forge(task, "accepted", text=doors.ref(task).digest)
    git(doors.root, "switch", "-q", MAIN)
    doors.forge(task, "rejected", by=GRACE, unmet=["All of it."])
    git(doors.root, "merge", "-q", "--no-ff", "--no-edit", "side")
    merge_into(doors.root, WORK, MAIN)
    assert doors.play.status(task) == "contested"
    return task, accepted


def test_a_rejection_that_was_made_contested_is_settled_against(doors: Doors) -> None:
    """Way: a request that was not up to date disagrees with it, and a second one settles that."""
    task, accepted = disputed(doors)
    rejected = doors.last(task, "rejected")
    for _ in doors.accepted("settle", record=task, keep=accepted, reason="It is done."):
        assert doors.play.is_proven(task)
    assert f"settles against {rejected} (rejected by {GRACE}), which was contested" in doors.warned("D011")


def test_what_one_said_oneself_is_settled_against(doors: Doors) -> None:
    """No way: nobody else's word goes."""
    task, _ = disputed(doors)
    doors.play.do(settling.settle_record, task, doors.last(task, "rejected"), reason="It is not.")
    doors.sound()
