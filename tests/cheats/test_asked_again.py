"""Failed gates that a pass lifts which nobody may give, and that are asked for again at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from memento_git.work.actions import evidences, runs
from tests.cheats.doors import run_of
from tests.cheats.forging import GATE, MAIN, WORK
from tests.play import git, merge_into
from tests.test_signatures import Office

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cheats.doors import Doors

FRESH = f"  gates: {{fresh: [{GATE}]}}\n"
RELEASE = "  release: {approvals: 1, not_author: true}\n"


class Way(NamedTuple):
    """What policy asks of which gate, how a pass that it forbids is found, and whether that names a failed command."""

    policy: str
    gate: str
    code: str
    is_cited: bool = False


WAYS = {
    "without fresh evidence": Way(FRESH, GATE, "G003"),
    "on evidence that failed": Way("  gates: {}\n", GATE, "G001", is_cited=True),
    "without approvals": Way(RELEASE, "release", "G004"),
}


def asked_again(doors: Doors, gate: str, scope: str) -> None:
    """Ask for a gate again at each door of the verb; it is open then."""
    for _ in doors.accepted("gate record", gate=gate, verdict="requested", **{scope.partition("_")[0]: scope}):
        assert doors.gate(gate, scope) == "pending"


def fresh(doors: Doors, task: str) -> None:
    """Pass the gate as policy asks."""
    doors.play.gate(GATE, "passed", evidence=[doors.play.evidence(task)])


def grown(doors: Doors) -> None:
    """Commit code that nothing in the ledger has seen."""
    (doors.root / "more.py").write_text("good\n")
    doors.play.commit_all("more")


@pytest.mark.parametrize("landed", [False, True], ids=["failed on the branch", "failed at the base"])
@pytest.mark.parametrize("how", WAYS)
def test_a_failure_that_a_pass_lifts_which_nobody_may_give(doors: Doors, how: str, *, landed: bool) -> None:
    way = WAYS[how]
    doors.policy(way.policy)
    task, run = doors.play.proven(), run_of(doors)
    bad = [doors.play.evidence(task, code=1)] if way.is_cited else []
    doors.play.as_("Grace").gate(way.gate, "failed", reason="It leaks passwords.")
    if landed:
        doors.landed()
    doors.refused("review_gate_blocking", "run complete", run=run)
    doors.forge(run, "passed", gate=way.gate, evidence=[str(doors.ref(one)) for one in bad])
    told = doors.caught(way.code)
    asked_again(doors, way.gate, run)
    assert doors.caught(way.code) == told
    doors.play.do(runs.complete_run, run)
    assert doors.caught(way.code) == told
    assert way.code in {row["code"] for row in doors.check("--no-base")[1]}


def test_a_failed_gate_of_a_task(doors: Doors) -> None:
    doors.policy(FRESH)
    task = doors.play.proven()
    doors.play.as_("Grace").gate(GATE, "failed", task=task)
    doors.landed()
    doors.forge(task, "passed", gate=GATE)
    asked_again(doors, GATE, task)
    assert GATE in doors.caught("G003")


def test_a_hand_out_behind_a_failed_review_of_the_plan(doors: Doors) -> None:
    doors.policy("  gates: {fresh: [plan_review]}\n")
    task, run = doors.play.task(), run_of(doors)
    doors.play.as_("Grace").gate("plan_review", "failed", reason="No threat model.")
    doors.refused("review_gate_blocking", "dispatch create", task=task, executor="agent")
    doors.forge(run, "passed", gate="plan_review")
    asked_again(doors, "plan_review", run)
    doors.play.complete(doors.play.claimed(task), doors.play.evidence(task))
    assert "plan_review" in doors.caught("G003")


def test_a_pass_without_its_signature_that_is_redacted_besides(doors: Doors, tmp_path: Path) -> None:
    git(doors.root, "switch", "-q", MAIN)
    Office(doors.play, tmp_path)
    merge_into(doors.root, WORK, MAIN)
    run = run_of(doors)
    doors.play.gate("final_acceptance", "failed")
    doors.landed()
    passed = doors.forge(run, "passed", gate="final_acceptance")
    asked_again(doors, "final_acceptance", run)
    for _ in doors.accepted("evidence redact", target=passed, reason="A typo."):
        assert "not signed" in doors.caught("K001")


@pytest.mark.parametrize("landed", [False, True])
@pytest.mark.parametrize("lifted", ["passed", "waived"])
def test_a_failure_that_was_lifted_as_policy_asks(doors: Doors, lifted: str, *, landed: bool) -> None:
    """Not a way: the gate failed, passed or was waived, and is asked for again; policy does not require it."""
    doors.policy(FRESH)
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(GATE, "failed")
    if lifted == "passed":
        fresh(doors, task)
    else:
        doors.play.gate(GATE, "waived", reason="No time.")
    if landed:
        doors.landed()
    asked_again(doors, GATE, run)
    doors.sound()
    doors.play.do(runs.complete_run, run)
    doors.sound()


def test_a_pass_that_lifted_nothing_is_withdrawn_by_a_request(doors: Doors) -> None:
    """Not a way: a gate that never failed is open, whatever became of the code since it passed."""
    doors.policy(FRESH)
    task, run = doors.play.proven(), run_of(doors)
    fresh(doors, task)
    grown(doors)
    assert GATE in doors.caught("G003")
    asked_again(doors, GATE, run)
    doors.sound("C001")


@pytest.mark.parametrize("then", ["passed", "failed"])
def test_a_request_in_the_place_of_a_pass_that_fell(doors: Doors, then: str) -> None:
    """The failure is not lifted for the code as it is: the gate passes anew, or has failed as before."""
    doors.policy(FRESH)
    task, run = doors.play.proven(), run_of(doors)
    doors.play.gate(GATE, "failed")
    fresh(doors, task)
    grown(doors)
    asked_again(doors, GATE, run)
    assert GATE in doors.caught("G003")
    if then == "passed":
        fresh(doors, task)
    else:
        doors.play.gate(GATE, "failed", reason="More has come.")
    doors.sound()


def test_a_request_at_the_base_is_not_the_branchs(doors: Doors) -> None:
    """Not a way: code went on where the gate was asked for again, and another branch works in the run."""
    doors.policy(FRESH)
    task = doors.play.proven()
    doors.play.gate(GATE, "failed")
    fresh(doors, task)
    grown(doors)
    doors.play.gate(GATE, "requested")
    doors.landed()
    for _ in doors.accepted("gate record", gate="plan_review", verdict="requested"):
        doors.sound()


def test_work_after_a_release_that_is_asked_for_again(doors: Doors) -> None:
    """Not a way: what is not done yet came after the release that lifted the failure."""
    doors.policy(RELEASE)
    doors.play.proven()
    run = run_of(doors)
    doors.play.gate("release", "failed")
    doors.play.as_("Grace").do(evidences.approve, run)
    doors.play.gate("release", "passed")
    doors.play.task("More")
    assert "is pending" in doors.caught("G004")
    asked_again(doors, "release", run)
    doors.sound()
